# SPDX-License-Identifier: BSD-3-Clause
"""New arrays of the framework that an array belongs to."""

import re
import sys

import numpy

from . import _core


_FRAMEWORKS = {"numpy": "numpy", "torch": "torch", "cupy": "cupy", "jax": "jax", "jaxlib": "jax"}


def framework(kind):
    """The framework of a type of arrays, or of a base of the type; otherwise the type's package."""
    for base in kind.__mro__:
        name = base.__module__.partition(".")[0]
        if name in _FRAMEWORKS and _FRAMEWORKS[name] in sys.modules:
            return _FRAMEWORKS[name]
    return kind.__module__.partition(".")[0]


def _framework(array):
    return framework(type(array))


def _is_on_gpu(like):
    if hasattr(like, "__dlpack_device__"):
        return like.__dlpack_device__()[0] in (2, 13)  # CUDA, managed by CUDA
    return hasattr(like, "__cuda_array_interface__")


def _dtype(like):
    """The dtype of an array of integers in the CPU's memory that is of no framework, as numpy's."""
    try:
        view = memoryview(like)
    except TypeError:  # no buffer
        return numpy.from_dlpack(like).dtype
    kind = "i" if view.format[-1] in "bhilq" else "u"  # "c" is a byte
    return numpy.dtype(f"{kind}{view.itemsize}")


def is_traced(tensor):
    """Does a tensor of torch stand for others in torch.vmap, torch.func, or functionalization?"""
    torch = sys.modules["torch"]
    return torch._is_functional_tensor(tensor) or torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def advice(array):
    """What to pass in place of a tensor without an address; empty if there is nothing to say."""
    if _framework(array) != "torch":
        return ""
    torch = sys.modules["torch"]
    try:
        if is_traced(array):
            return "; call gfk outside of functions of torch.func and torch.vmap"
        if array.is_quantized:
            return "; pass x.int_repr(), the integers of the quantized tensor"
        if array.is_nested:
            return "; pass the parts of the nested tensor (x.unbind())"
        if array.layout is not torch.strided:
            return "; pass x.to_dense(), or the dense parts of the tensor"
    except Exception:  # a subclass may refuse any question
        pass
    return ""


def remedy(array):
    """What to do with an array that has elements and no memory."""
    if hasattr(array, "to_local"):
        return "a DTensor: pass x.to_local(), this rank's part"
    if hasattr(array, "fake_mode"):
        return "a FakeTensor has a shape and no contents: pass a real tensor"
    if getattr(array, "is_meta", False):
        return "a tensor on the device meta has a shape and no contents: pass a real tensor"
    if hasattr(array, "__tensor_flatten__"):
        names = ", ".join(f"x.{name}" for name in array.__tensor_flatten__()[0])
        return f"{type(array).__name__} wraps other tensors: pass those ({names}), or their values in a plain tensor"
    if _framework(array) == "torch" and sys.modules["torch"].nn.parameter.is_lazy(array):
        return "a parameter of a lazy module has no contents before the module's first call"
    if _framework(array) != "torch":
        return "its address is NULL: pass an array with contents"
    if getattr(array, "_is_zerotensor", bool)():
        return "it stands for zeros: pass torch.zeros(x.shape, dtype=x.dtype)"
    torch = sys.modules["torch"]
    if is_traced(array):
        return "a function of torch.func, torch.vmap or a compiler has it: call gfk outside of that function"
    if type(array) is not torch.Tensor and not isinstance(array, torch.nn.Parameter):
        return f"{type(array).__name__} wraps another tensor: pass that one"
    return ("its storage was freed or is too short (FSDP frees parameters between uses): pass it while its storage is "
            "there, or a copy (x.clone()) that was made then")


def _is_recorded(torch):
    """Does torch record its calls, to repeat them without gfk's?"""
    core = torch._C
    if core._len_torch_dispatch_stack() == 0:  # the fast way
        return core._is_tracing()
    return core._is_tracing() or core._get_dispatch_mode(core._TorchDispatchModeKey.PROXY) is not None


def empty(like, shape, dtype=None):
    """An array without contents, in the framework and at the place of `like`, of its dtype by default.
    numpy makes the arrays for objects that are no framework's, such as bytes."""
    framework = _framework(like)
    if framework == "torch":
        torch = sys.modules["torch"]
        if _is_recorded(torch):
            raise TypeError("out: torch.jit.trace and make_fx see nothing of what gfk writes: call gfk outside of the "
                            "traced function")
        return torch.empty(shape, dtype=getattr(torch, dtype) if dtype else like.dtype, device=like.device)
    if framework == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(like.device.id):
            return cupy.empty(shape, dtype or like.dtype)
    if framework == "jax":
        jax = sys.modules["jax"]
        # Not shared with another array: nobody sees that the call fills it.
        made = jax.numpy.empty(shape, dtype or like.dtype, device=like.device)
        return made.block_until_ready()
    if _is_on_gpu(like):
        raise TypeError(f"{type(like).__name__}: gfk knows no way to make an array of this kind: pass out=")
    return numpy.empty(shape, dtype or (like.dtype if framework == "numpy" else _dtype(like)))


def stream(name, device):
    """The address of a framework's current stream; None: no stream orders the framework's work."""
    if name == "torch":
        return sys.modules["torch"].cuda.current_stream(device).cuda_stream
    return sys.modules["cupy"].cuda.get_current_stream(device).ptr if name == "cupy" else None


def cuda_interface(array, name, is_written):
    """What an array says in __cuda_array_interface__: the address, the bits of an integer (0: the elements are none),
    the shape, the strides in elements (None: no gaps), and the stream (None: none)."""
    fields = array.__cuda_array_interface__
    address, is_read_only = fields["data"]
    if is_written and is_read_only:
        raise ValueError(f"{name}: the array is read-only")
    if fields.get("mask") is not None:
        raise TypeError(f"{name}: the array has a mask")
    integer = re.fullmatch("[|<=]?[ui]([1248])", fields["typestr"])
    size = int(integer[1]) if integer else 1
    shape, strides = tuple(fields["shape"]), fields.get("strides")
    if strides is not None and len(strides) != len(shape):
        raise ValueError(f"{name}: the interface has {len(strides)} strides for {len(shape)} dimensions")
    if any(stride % size for stride in strides or ()):
        raise ValueError(f"{name}: the array's elements are not a whole number of elements apart; pass a copy")
    return (address, 8 * size if integer else 0, shape, strides and [stride // size for stride in strides],
            fields.get("stream"))


def to_host(array):
    """A numpy array with the same contents; waits for the work of the current stream."""
    framework = _framework(array)
    if framework == "torch":
        return array.cpu().numpy()
    if framework == "cupy":
        return array.get()
    return numpy.asarray(array)


def _check_memory(values, name):
    """Refuses arrays without memory, also in nested lists, before numpy reads them."""
    if isinstance(values, (list, tuple)):
        for value in values:
            _check_memory(value, name)
    else:
        _core._check_memory(values, name)


def integers(values, most, dtype, error, name):
    """A new contiguous numpy array of integers from 0 to `most`. Raises `error` for an integer outside."""
    _check_memory(values, name)
    try:
        array = numpy.asarray(values)
    except ValueError as reason:
        raise ValueError(f"{name}: no array ({str(reason)[:200]})") from None
    except (TypeError, RuntimeError) as reason:
        raise TypeError(f"{name}: no array of integers ({str(reason)[:200]})") from None
    if array.size and array.dtype.kind not in "iu":
        array = numpy.asarray(values, "O")  # numpy makes floating point of lists with integers above 2^63
        if hasattr(values, "dtype") or not all(hasattr(item, "__index__") for item in array.flat):
            raise TypeError(f"{name}: integers are needed")
    if array.size and not 0 <= int(array.min()) <= int(array.max()) <= most:
        raise error(f"{name}: an integer is not from 0 to {most}")
    return array.astype(dtype, "C")


def packet_headers(packets, generations, shape):
    """gfk_rlnc_header for each packet, as bytes in an array of the shape that numpy gives packets and generations
    together; `packets` is None where their numbers do not matter, and `shape` is theirs."""
    if packets is None:
        packets = numpy.zeros(shape, "uint32")
    else:
        packets = integers(packets, 2**32 - 1, "uint32", _core.InvalidArgument, "packets")
    generations = integers(generations, 2**64 - 1, "uint64", _core.InvalidArgument, "generations")
    packets, generations = numpy.broadcast_arrays(packets, generations)
    headers = numpy.zeros((*numpy.atleast_1d(packets).shape, 2), "uint64")  # a row: the generation; the packet, zeros
    headers[..., 0], headers.view("uint32")[..., 2] = generations, packets
    return headers
