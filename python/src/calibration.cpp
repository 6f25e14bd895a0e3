// SPDX-License-Identifier: BSD-3-Clause
// Measured rates of a machine: the calls of the NamedTuple Calibration in gfk/_records.py.
#include "field.h"
#include "host.h"

namespace gfk {
namespace {
void check_file(gfk_status status, const FilePath &path) {
    if (status == GFK_STATUS_IO || status == GFK_STATUS_CORRUPT)
        raise(status, "%s: %s", path.get(), description_of(status));
    check(status);
}

nb::object text_of(const char *name) {
    return nb::steal(PyUnicode_DecodeUTF8(name, static_cast<Py_ssize_t>(strlen(name)), "surrogateescape"));
}

Calibration of(const gfk_calibration &c) {
    nb::list devices;
    for (size_t i = 0; i < c.device_count; i++)
        devices.append(text_of(c.devices[i]));
    return Calibration::of(text_of(c.host), text_of(c.processor), c.threads, nb::tuple(devices), tuple_of(c.cpu),
                           tuple_of(c.bus), tuple_of(c.kernel), c.cpu_call, c.gpu_call, tuple_of(c.both));
}

// read takes a field of a Calibration; false: it is something else.
template <class Number>
bool read(nb::handle from, Number &to) {
    return nb::try_cast(nb::borrow(from), to);
}

bool is_sequence(nb::handle from, size_t least, size_t most) {
    return (PyList_Check(from.ptr()) || PyTuple_Check(from.ptr())) && nb::len(from) >= least && nb::len(from) <= most;
}

template <class T, size_t N>
bool read(nb::handle from, T (&to)[N]) {
    bool good = is_sequence(from, N, N);
    for (size_t i = 0; good && i < N; i++)
        good = read(from[i], to[i]);
    return good;
}

template <size_t N>
bool read(nb::handle from, char (&to)[N]) {
    if (!PyUnicode_Check(from.ptr()))
        return false;
    const nb::object bytes = nb::borrow(from).attr("encode")("utf-8", "surrogateescape");
    const std::string text(nb::cast<nb::bytes>(bytes).c_str(), nb::len(bytes));
    if (text.size() >= N || text.find('\0') != std::string::npos)
        return false;
    memcpy(to, text.c_str(), text.size() + 1);
    return true;
}

gfk_calibration calibration_of(nb::handle from) {
    gfk_calibration c = {};
    const auto take = [&](const char *name, auto &to) {
        if (!read(from.attr(name), to))
            raise_type("calibration: %s is no field of gfk.Calibration with this name", name);
    };
    const nb::object devices = from.attr("devices");
    bool good = is_sequence(devices, 0, GFK_MOST_DEVICES);
    c.device_count = good ? nb::len(devices) : 0;
    for (size_t i = 0; good && i < c.device_count; i++)
        good = read(devices[i], c.devices[i]);
    if (!good)
        raise_type("calibration: devices is no tuple of at most %d names", GFK_MOST_DEVICES);
    take("host", c.host);
    take("processor", c.processor);
    take("threads", c.threads);
    take("cpu", c.cpu);
    take("bus", c.bus);
    take("kernel", c.kernel);
    take("cpu_call", c.cpu_call);
    take("gpu_call", c.gpu_call);
    take("both", c.both);
    return c;
}

void check_calibration(gfk_status status) {
    if (status == GFK_STATUS_INVALID_ARGUMENT)
        raise(status, "calibration: a rate or a time is no measured one, or a name is no line of text");
}

Calibration calibrate(const Devices &devices, Integer device_memory, Integer pinned_memory, Integer threads) {
    const Integer zero{nb::int_(0)};
    const PipelineOptions options("auto", devices, device_memory, pinned_memory, zero, zero, threads, nb::none());
    gfk_calibration calibration;
    check(unlocked([&] { return gfk_calibrate(options.get(), nullptr, &calibration); }));
    return of(calibration);
}

Calibration load(nb::handle file) {
    const FilePath path(file);
    gfk_calibration calibration;
    check_file(gfk_calibration_load(&calibration, path.get()), path);
    return of(calibration);
}

void save(nb::handle calibration, nb::handle file) {
    const FilePath path(file);
    const gfk_calibration from = calibration_of(calibration);
    const gfk_status status = gfk_calibration_save(&from, path.get());
    check_calibration(status);
    check_file(status, path);
}

// None for a path that does not exist.
std::optional<double> seconds(double value) {
    return value < 0 ? std::nullopt : std::optional(value);
}

Advice advise(nb::handle calibration, Integer k, Integer m, Integer bytes, AnyField any_field, bool pinned) {
    const gfk_calibration from = calibration_of(calibration);
    const Field field = any_field;
    gfk_advice advice;
    const gfk_status status = gfk_advise(&from, &field, k.size("k", 1), m.size("m", 1), bytes.size("bytes"),
                                         pinned ? GFK_PINNED : GFK_PAGEABLE, &advice);
    check_calibration(status);
    check(status);
    return Advice::of(gfk_path_name(advice.path), advice.why, seconds(advice.cpu_seconds), seconds(advice.gpu_seconds),
                      seconds(advice.both_seconds),
                      advice.crossover == 0 ? nb::none() : nb::object(nb::int_(advice.crossover)));
}
} // namespace

void bind_calibration(nb::module_ &module) {
    module.def("calibrate", calibrate, nb::kw_only(), "devices"_a = nb::none(), "device_memory"_a = 0,
               "pinned_memory"_a = 0, "threads"_a = 0,
               R"(Measures the rates of this machine, which should be idle, in about two seconds: a Calibration.

The arguments are those of Pipeline. Raises NoDevice, OutOfMemory.)");
    module.def("_load_calibration", load, "file"_a);
    module.def("_save_calibration", save, "calibration"_a, "file"_a);
    module.def("_advise", advise, "calibration"_a, "k"_a, "m"_a, "bytes"_a, "field"_a, "pinned"_a);
}
} // namespace gfk
