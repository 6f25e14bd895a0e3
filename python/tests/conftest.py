# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share. `arrays` is the fixture that most tests want: they run once for each framework that
is installed, in the CPU's memory, and on a machine with a GPU once more for each framework on the GPU.

  GFK_REQUIRE_FRAMEWORKS="numpy jax"   these must be installed
  GFK_REQUIRE_GPU=N                    there must be N GPUs that gfk can use: tests that need as many fail
                                       where they would be skipped
"""

import ctypes
import importlib.util
import os

import gfk
import numpy
import pytest
from hypothesis import settings

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # jax takes most of a GPU's memory otherwise
settings.register_profile("gfk", deadline=None, derandomize=True, database=None, max_examples=50)
settings.load_profile("gfk")

REQUIRED_GPUS = int(os.environ.get("GFK_REQUIRE_GPU") or 0)
CPU, CUDA = "cpu", "cuda"


def count_gpus():
    """The GPUs that this build of gfk has kernels for."""
    count = 0
    while any(k.available and k.implementation == "opt" for k in gfk.kernels(f"cuda:{count}")):
        count += 1
    return count


def is_installed(framework):
    return importlib.util.find_spec(framework) is not None


GPUS = count_gpus()
INSTALLED = [name for name in ("numpy", "jax", "torch", "cupy") if is_installed(name)]


# ---- arrays of a framework at a place ------------------------------------------------------------
class Arrays:
    """Makes and reads the arrays of one framework in one place."""

    def __init__(self, name, place):
        self.name, self.place = name, place
        self.module = importlib.import_module(name)
        self.is_immutable = name == "jax"
        if name == "jax" and place == CUDA and not any(d.platform == "gpu" for d in self.module.devices()):
            pytest.skip("this jax has no CUDA")
        if name == "torch" and place == CUDA and not self.module.cuda.is_available():
            pytest.skip("this torch has no CUDA")

    def array(self, x, device=0):
        """A new array with the contents of a numpy array. device: the number of the GPU."""
        x = numpy.array(x, order="C")
        if self.name == "numpy":
            return x
        if self.name == "torch":
            return self.module.from_numpy(x).to("cpu" if self.place == CPU else f"cuda:{device}")
        if self.name == "cupy":
            with self.module.cuda.Device(device):
                return self.module.asarray(x)
        devices = self.module.devices("cpu" if self.place == CPU else "gpu")
        return self.module.device_put(x, devices[device]).block_until_ready()

    def numpy(self, x):
        """The contents of an array as a new numpy array; waits for the work on the current stream."""
        assert self.owns(x), f"an array of {type(x).__module__}, not of {self.name}, or in another place"
        if self.name == "torch":
            return x.cpu().numpy().copy()
        return x.get() if self.name == "cupy" else numpy.array(x)

    def owns(self, x):
        """Is this an array of the framework, in the place?"""
        if self.name == "numpy":
            return isinstance(x, numpy.ndarray)
        if self.name == "cupy":
            return isinstance(x, self.module.ndarray)
        if self.name == "torch":
            return isinstance(x, self.module.Tensor) and x.device.type == self.place
        platform = "cpu" if self.place == CPU else "gpu"
        return isinstance(x, self.module.Array) and all(d.platform == platform for d in x.devices())

    def __repr__(self):
        return self.name if self.place == CPU else f"{self.name}-{self.place}"


CPU_ARRAYS = [pytest.param((name, CPU), id=name) for name in INSTALLED if name != "cupy"]
GPU_ARRAYS = [pytest.param((name, CUDA), id=f"{name}-cuda", marks=pytest.mark.gpu)
              for name in INSTALLED if name != "numpy"]


@pytest.fixture(scope="session", params=CPU_ARRAYS + (GPU_ARRAYS if GPUS or REQUIRED_GPUS else []))
def arrays(request):
    """The arrays of each framework, in each place that there is."""
    return Arrays(*request.param)


@pytest.fixture(scope="session", params=CPU_ARRAYS)
def cpu_arrays(request):
    """The arrays of each framework in the CPU's memory."""
    return Arrays(*request.param)


@pytest.fixture(scope="session", params=GPU_ARRAYS or [pytest.param(None, marks=pytest.mark.gpu)])
def gpu_arrays(request):
    """The arrays of each framework on the GPU."""
    if request.param is None:
        pytest.skip("no framework with arrays on a GPU is installed")
    return Arrays(*request.param)


@pytest.fixture(scope="session")
def make_arrays():
    """The class Arrays: make_arrays("torch", "cuda") are those of torch on the GPU."""
    return Arrays


@pytest.fixture
def random():
    """numpy's generator, with the same seed in every test."""
    return numpy.random.default_rng(2026)


# ---- arrays that no framework has made --------------------------------------------------------------
class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("number", ctypes.c_int32)]


class Dtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("dimensions", ctypes.c_int32),
                ("dtype", Dtype), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):  # DLPack before 1.0
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, Destructor]
KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}  # of DLPack


class Exporter:
    """A numpy array that is known by DLPack alone. It may say that it is on any device: a test that a call
    refuses the array never reads its memory.

    device: DLPack's (type, number); (1, 0) is the CPU, (2, 0) the first CUDA device.
    version: (major, minor); None: a capsule of DLPack before 1.0, whose method knows no max_version.
    byte_offset, lanes, no_strides: what is in the tensor. `calls` has the arguments of each export, `alive`
    counts the capsules that were not destroyed.
    """

    def __init__(self, array, device=(1, 0), version=(1, 1), read_only=False, byte_offset=0, lanes=1,
                 no_strides=False):
        self.array, self.device, self.version = array, device, version
        self.read_only, self.byte_offset, self.lanes = read_only, byte_offset, lanes
        self.no_strides = no_strides
        self.calls, self.alive, self.kept = [], 0, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **arguments):
        if self.version is None and "max_version" in arguments:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.calls.append(arguments)
        array, n = self.array, self.array.ndim
        shape = (ctypes.c_int64 * n)(*array.shape)
        strides = (ctypes.c_int64 * n)(*(s // array.itemsize for s in array.strides))
        dtype = Dtype(KINDS[array.dtype.kind], 8 * array.itemsize, self.lanes)
        tensor = Tensor(array.ctypes.data - self.byte_offset, Device(*self.device), n, dtype, shape,
                        None if self.no_strides else strides, self.byte_offset)
        if self.version is None:
            managed, name = Managed(tensor, None, None), b"dltensor"
        else:
            managed = ManagedVersioned(*self.version, None, None, int(self.read_only), tensor)
            name = b"dltensor_versioned"
        destructor = Destructor(self._destroyed)
        self.kept.append((shape, strides, managed, destructor))
        self.alive += 1
        return new_capsule(ctypes.addressof(managed), name, destructor)

    def _destroyed(self, _):
        self.alive -= 1


class ExportsCudaInterface:
    """A numpy array that says it is on a CUDA device, by __cuda_array_interface__ alone."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.array.shape, "typestr": self.array.dtype.str, "version": 3, "strides": None,
                "data": (self.array.ctypes.data, False), "stream": 1}


@pytest.fixture(scope="session")
def exporter():
    """The class Exporter."""
    return Exporter


@pytest.fixture(scope="session")
def fake_cuda():
    """A function that makes an array which claims to be on a CUDA device; by="cuda": by
    __cuda_array_interface__ instead of DLPack. Its memory is the CPU's: nothing may follow its address."""
    return lambda array, by="dlpack", number=0: (
        Exporter(array, device=(2, number)) if by == "dlpack" else ExportsCudaInterface(array))


@pytest.fixture(scope="session")
def no_cuda():
    """Skips tests of what only a build without CUDA answers."""
    if not any("no CUDA kernels" in k.reason for k in gfk.kernels()):
        pytest.skip("this build of gfk has CUDA")


# ---- GPUs ---------------------------------------------------------------------------------------
def needed_gpus(item):
    """The GPUs that a test needs: @pytest.mark.gpu, or @pytest.mark.gpu(2). Those in gpu/ need one."""
    marked = [marker.args[0] if marker.args else 1 for marker in item.iter_markers("gpu")]
    return max(marked, default=int(item.path.parent.name == "gpu"))


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu(count=1): needs so many GPUs that gfk can use")
    missing = set(os.environ.get("GFK_REQUIRE_FRAMEWORKS", "").split()) - set(INSTALLED)
    if missing:
        raise pytest.UsageError(f"GFK_REQUIRE_FRAMEWORKS: not installed: {' '.join(sorted(missing))}")


def pytest_report_header():
    return f"gfk {gfk.__version__}: {gfk.__file__}; {' '.join(INSTALLED)}; GPUs: {GPUS or 'none'}"


def pytest_runtest_setup(item):
    if needed_gpus(item) > GPUS:
        pytest.skip(f"*** needs {needed_gpus(item)} GPU that gfk can use, and there are {GPUS or 'none'}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.skipped and 0 < needed_gpus(item) <= REQUIRED_GPUS and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"GFK_REQUIRE_GPU={REQUIRED_GPUS}, and this test was skipped: {report.longrepr[2]}"
    return report


def pytest_terminal_summary(terminalreporter):
    skipped = [r for r in terminalreporter.stats.get("skipped", []) if "*** needs" in str(r.longrepr)]
    if skipped:
        terminalreporter.write_line(f"*** NO GPU: {len(skipped)} tests were skipped; GFK_REQUIRE_GPU=1 makes "
                                    "them fail instead")
