// SPDX-License-Identifier: BSD-3-Clause
// The class Pipeline, which calls on arrays in the CPU's memory take as pipeline=, and pinned memory.
#include "host.h"

#include <algorithm>

namespace gfk {
// ---- arguments ----------------------------------------------------------------------------------

FilePath::FilePath(nb::handle path) {
    if (path.is_none())
        return;
    PyObject *bytes = nullptr;
    if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0)
        throw nb::python_error();
    bytes_ = nb::steal<nb::bytes>(bytes);
}

PipelineOptions::PipelineOptions(const std::string &path, const Devices &devices, Integer device_memory,
                                 Integer pinned_memory, Integer chunk, Integer streams, Integer threads,
                                 nb::handle calibration_file)
    : file_(calibration_file) {
    desc_.path = named(path, "path", GFK_PATH_AUTO, GFK_PATH_BOTH, gfk_path_name);
    if (devices)
        take_devices(*devices);
    desc_.devices = devices ? devices_.data() : nullptr;
    desc_.device_count = devices_.size();
    desc_.device_memory = device_memory.size("device_memory");
    desc_.pinned_memory = pinned_memory.size("pinned_memory");
    desc_.chunk = chunk.size("chunk");
    desc_.streams = static_cast<unsigned>(streams.in("streams", 0, GFK_MOST_STREAMS));
    desc_.threads = static_cast<unsigned>(threads.in("threads", 0, GFK_MOST_THREADS));
    desc_.calibration_file = file_.get();
}

void PipelineOptions::take_devices(const std::vector<Device> &devices) {
    if (devices.empty())
        raise(GFK_STATUS_INVALID_ARGUMENT,
              "devices: the list is empty; None is the current device, and path=\"cpu\" uses none");
    if (desc_.path == GFK_PATH_CPU)
        raise(GFK_STATUS_INVALID_ARGUMENT, "devices: path=\"cpu\" uses none");
    if (devices.size() > GFK_MOST_DEVICES)
        raise(GFK_STATUS_INVALID_ARGUMENT, "devices: the length is %zu, and can be %d at most", devices.size(),
              GFK_MOST_DEVICES);
    for (const Device &device : devices) {
        const int number = device.number("devices");
        if (number == GFK_CPU)
            raise(GFK_STATUS_INVALID_ARGUMENT, "devices: CUDA devices are needed, not \"cpu\"; path=\"cpu\" uses none");
        if (std::find(devices_.begin(), devices_.end(), number) != devices_.end())
            raise(GFK_STATUS_INVALID_ARGUMENT, "devices: cuda:%d is in the list twice", number);
        devices_.push_back(number);
    }
}

// ---- pipelines ----------------------------------------------------------------------------------

void Pipeline::open(const PipelineOptions &options) {
    last_ = nb::module_::import_("threading").attr("local")();
    gfk_pipeline_t made = nullptr;
    check(unlocked([&] { return gfk_pipeline_create(&made, options.get()); }));
    handle_.reset(made, gfk_pipeline_destroy);
    check(gfk_pipeline_get_info(made, &info_));
}

void Pipeline::close() {
    std::shared_ptr<gfk_pipeline> handle = std::move(handle_);
    handle_.reset();
    const Unlocked unlocked;
    handle.reset();
}

PipelineInfo Pipeline::info() const {
    std::string devices[GFK_MOST_DEVICES];
    for (size_t i = 0; i < info_.device_count; i++)
        devices[i] = name_of_device(info_.devices[i]);
    return PipelineInfo::of(gfk_path_name(info_.path), tuple_of(devices, info_.device_count), info_.device_memory,
                            info_.pinned_memory, info_.chunk, info_.streams, info_.threads, info_.calibrated,
                            info_.calibration);
}

void Pipeline::keep(const gfk_pipeline_report &report) const {
    last_.attr("report") = Report::of(gfk_path_name(report.path), report.reason, report.cpu_bytes, report.gpu_bytes,
                                      tuple_of(report.device_bytes, info_.device_count), report.redone_bytes,
                                      report.device_status, report.staged_regions, report.chunk, report.seconds);
}

static nb::object pinned_bytes(Integer length) {
    const size_t bytes = length.size("shape: the bytes");
    void *memory = nullptr;
    check(unlocked([&] { return gfk_pinned_alloc(&memory, bytes); }));
    const nb::capsule owner(memory, [](void *p) noexcept { gfk_pinned_free(p); });
    return nb::cast(nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>(memory, {bytes}, owner));
}

// ---- names for Python ---------------------------------------------------------------------------

void bind_host(nb::module_ &module) {
    nb::class_<Pipeline>(
        module, "Pipeline",
        R"(The way of large arrays in the CPU's memory: calls that take pipeline= send the work over the bus to one or several
GPUs, to all cores of the CPU, or to both. Without a GPU the CPU does all of it.

path: "auto" (the shortest predicted time, chosen for each call), "cpu", "gpu", "both". devices: a list such as
["cuda:0", "cuda:1"]; None: the current one, if there is one. device_memory, pinned_memory: limits in bytes for
buffers; 0: 1 GiB for each device, 256 MiB for all together. chunk: bytes of one chunk; streams: chunks in flight
for each device; threads: of the CPU; 0: the library chooses. calibration_file: of Calibration.save. A file that is
missing, damaged or of another machine is ignored, and so is a path that is no file, such as a folder:
info().calibration tells.
Raises NoDevice ("gpu", "both" or a device that does not exist), InvalidArgument, OutOfMemory, Cuda.

pipeline= is an argument of multiply, Multiplier.multiply, product, Product.run, matmul, RS.encode, decode, repair
and verify, RLNC.encode, recode and decode. They then take arrays of any framework, pinned (gfk.pinned_empty) or
not, and refuse those on a GPU. The results are the same bytes for every path. After a call, `report` tells what was
done. A pipeline is a context manager, and closes itself when it is no longer used. Any thread; calls on one
pipeline run one after the other.)")
        .def(nb::init<const std::string &, const Devices &, Integer, Integer, Integer, Integer, Integer, nb::handle>(),
             nb::kw_only(), "path"_a = "auto", "devices"_a = nb::none(), "device_memory"_a = 0, "pinned_memory"_a = 0,
             "chunk"_a = 0, "streams"_a = 0, "threads"_a = 0, "calibration_file"_a = nb::none())
        .def(
            "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Pipeline"))
        .def("__exit__", [](Pipeline &self, nb::args) { self.close(); })
        .def(
            "close", &Pipeline::close,
            R"(Frees streams, buffers and threads when the calls in progress have ended. Later calls raise ValueError.)")
        .def("info", &Pipeline::info, "What the arguments resolved to.")
        .def_prop_ro("report", &Pipeline::report,
                     "The gfk.Report of the calling thread's last call that gave a result; None before.");
    module.def("_pinned_bytes", pinned_bytes, "bytes"_a);
}
} // namespace gfk
