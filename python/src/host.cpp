// SPDX-License-Identifier: BSD-3-Clause
// The class Pipeline (calls on arrays in the CPU's memory, of any size), pinned memory, calibrations.
#include <gfk/host.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "array.h"
#include "field.h"
#include "matrix.h"
#include "rlnc.h"
#include "rs.h"
#include "status.h"

namespace gfk {
namespace {
// ---- arguments ----------------------------------------------------------------------------------

// A path of a file for the library; none for None.
class FilePath {
  public:
    explicit FilePath(nb::handle path) {
        if (path.is_none())
            return;
        PyObject *bytes = nullptr;
        if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0)
            throw nb::python_error();
        bytes_ = nb::steal<nb::bytes>(bytes);
    }
    const char *get() const { return bytes_.is_valid() ? bytes_.c_str() : nullptr; }

  private:
    nb::bytes bytes_ = nb::steal<nb::bytes>(nullptr);
};

using Devices = std::optional<std::vector<Integer>>;

// A descriptor, and what its pointers point to.
class Description {
  public:
    Description(const std::string &path, const Devices &devices, Integer device_memory,
                Integer pinned_memory, Integer chunk, Integer streams, Integer threads,
                nb::handle calibration_file)
        : file_(calibration_file) {
        desc_.path = named(path);
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
    const gfk_pipeline_desc *get() const { return &desc_; }

  private:
    void take_devices(const std::vector<Integer> &devices) {
        if (devices.empty())
            raise(GFK_STATUS_INVALID_ARGUMENT, "devices: the list is empty; None is the current "
                                               "device, and path=\"cpu\" uses none");
        if (desc_.path == GFK_PATH_CPU)
            raise(GFK_STATUS_INVALID_ARGUMENT, "devices: path=\"cpu\" uses none");
        if (devices.size() > GFK_MOST_DEVICES)
            raise(GFK_STATUS_INVALID_ARGUMENT, "devices: the length is %zu, and can be %d at most",
                  devices.size(), GFK_MOST_DEVICES);
        for (const Integer &device : devices) {
            const int number = static_cast<int>(device.in("devices", 0, INT_MAX));
            if (std::find(devices_.begin(), devices_.end(), number) != devices_.end())
                raise(GFK_STATUS_INVALID_ARGUMENT, "devices: %d is in the list twice", number);
            devices_.push_back(number);
        }
    }

    static gfk_path named(const std::string &name) {
        check_text(name, "path");
        for (int i = GFK_PATH_AUTO; i <= GFK_PATH_BOTH; i++)
            if (name == gfk_path_name(static_cast<gfk_path>(i)))
                return static_cast<gfk_path>(i);
        raise(GFK_STATUS_INVALID_ARGUMENT, "path: %s is none of auto, cpu, gpu, both",
              name.c_str());
    }

    gfk_pipeline_desc desc_ = GFK_PIPELINE_DESC_INIT;
    std::vector<int> devices_;
    FilePath file_;
};

// A status as text; None for SUCCESS.
nb::object failure(gfk_status status) {
    return status == GFK_STATUS_SUCCESS ? nb::none() : nb::object(nb::str(gfk_status_name(status)));
}

// ---- pipelines ----------------------------------------------------------------------------------

class Pipeline {
  public:
    Pipeline(const std::string &path, const Devices &devices, Integer device_memory,
             Integer pinned_memory, Integer chunk, Integer streams, Integer threads,
             nb::handle calibration_file)
        : last_(nb::module_::import_("threading").attr("local")()) {
        const Description description(path, devices, device_memory, pinned_memory, chunk, streams,
                                      threads, calibration_file);
        gfk_pipeline_t made = nullptr;
        gfk_status status;
        {
            const Unlocked unlocked;
            status = gfk_pipeline_create(&made, description.get());
        }
        check(status);
        handle_.reset(made, gfk_pipeline_destroy);
        check(gfk_pipeline_get_info(made, &info_));
    }

    // Calls in progress in other threads end before the pipeline does.
    void close() {
        std::shared_ptr<gfk_pipeline> handle = std::move(handle_);
        handle_.reset();
        const Unlocked unlocked;
        handle.reset();
    }

    nb::dict info() const {
        nb::dict made;
        nb::list devices;
        for (size_t i = 0; i < info_.device_count; i++)
            devices.append(info_.devices[i]);
        made["path"] = gfk_path_name(info_.path);
        made["devices"] = devices;
        made["device_memory"] = info_.device_memory;
        made["pinned_memory"] = info_.pinned_memory;
        made["chunk"] = info_.chunk;
        made["streams"] = info_.streams;
        made["threads"] = info_.threads;
        made["calibrated"] = info_.calibrated;
        made["calibration"] = failure(info_.calibration);
        return made;
    }

    nb::object report() const { return nb::getattr(last_, "report", nb::none()); }

    nb::object multiply(nb::handle c, nb::handle x, nb::handle w, nb::handle out, bool accumulate) {
        Call call;
        const Field field = field_of(w);
        const uint32_t constant = element_of(field, c, "c");
        const Array from = symbols_of(call, x, Use::Read, "x", field.w);
        need_cpu(call, "multiply");
        const gfk_accumulate mode = mode_of(out, accumulate);
        const SymbolsOutput to(call, out, from, field.w);
        if (to.array.bytes() != from.bytes())
            raise_value("x has %zu bytes, and out %zu", from.bytes(), to.array.bytes());
        run(call, [&](gfk_pipeline_t pipeline, gfk_pipeline_report *report) {
            return gfk_region_multiply_host(pipeline, &field, constant, from.data(),
                                            to.array.data(), from.bytes(), mode, report);
        });
        return to.object;
    }

    nb::object product(nb::handle matrix, nb::handle x, nb::handle w, nb::handle out,
                       bool accumulate) {
        Call call;
        const Field field = field_of(w);
        const Words words = words_of(field, matrix, "matrix");
        const Regions in(call, x, words.cols, field.w, Use::Read, "x");
        need_cpu(call, "product");
        const gfk_accumulate mode = mode_of(out, accumulate);
        const Output output(call, out, in, words.rows, field.w);
        run(call, [&](gfk_pipeline_t pipeline, gfk_pipeline_report *report) {
            return gfk_product_host(pipeline, &field, words.rows, words.cols, words.elements.data(),
                                    in.get(), output.regions.get(), in.bytes(), mode, report);
        });
        return output.object;
    }

    nb::object matmul(nb::handle a, nb::handle b, nb::handle w, nb::handle out, bool accumulate) {
        Call call;
        const Field field = field_of(w);
        const MatrixArgument matrix(call, a, field.w, "a");
        const Regions in(call, b, matrix.get()->cols, field.w, Use::Read, "b");
        need_cpu(call, "matmul");
        const gfk_accumulate mode = mode_of(out, accumulate);
        const Output output(call, out, in, matrix.get()->rows, field.w);
        const gfk_status status =
            try_run(call, [&](gfk_pipeline_t pipeline, gfk_pipeline_report *report) {
                return gfk_matmul_host(pipeline, &field, matrix.get(), in.get(),
                                       output.regions.get(), in.bytes(), mode, report);
            });
        matrix.check(field, status);
        return output.object;
    }

    nb::object encode(const RS &rs, nb::handle data, nb::handle out) {
        Call call;
        const Regions in(call, data, rs.k(), rs.field().w, Use::Read, "data");
        need_cpu(call, "RS.encode");
        const Output output(call, out, in, rs.m(), rs.field().w);
        run(call, [&](gfk_pipeline_t pipeline, gfk_pipeline_report *report) {
            return gfk_rs_encode_host(pipeline, rs.model(), in.get(), output.regions.get(),
                                      in.bytes(), report);
        });
        return output.object;
    }

    nb::object decode(const RS &rs, nb::handle data, nb::handle parity, nb::handle lost,
                      nb::handle wanted, nb::handle out) {
        Call call;
        std::vector<size_t> gone = indices_of(lost, rs.n(), "lost");
        const std::vector<size_t> rebuilt =
            wanted.is_none() ? gone : indices_of(wanted, rs.n(), "wanted");
        Codeword codeword(call, rs, data, parity);
        need_cpu(call, "RS.decode");
        for (size_t i = 0; i < rs.n(); i++)
            if (codeword.is_missing(i) && std::find(gone.begin(), gone.end(), i) == gone.end())
                gone.push_back(i);
        nb::object result = codeword.rebuild_into(call, out, gone, rebuilt);
        const gfk_regions data_regions = codeword.data(), parity_regions = codeword.parity();
        run(call, [&](gfk_pipeline_t pipeline, gfk_pipeline_report *report) {
            return gfk_rs_decode_host(pipeline, rs.model(), address_of(gone), gone.size(),
                                      address_of(rebuilt), rebuilt.size(), &data_regions,
                                      &parity_regions, codeword.bytes(), report);
        });
        return result;
    }

    bool verify(const RS &rs, nb::handle data, nb::handle parity) {
        Call call;
        const Regions from(call, data, rs.k(), rs.field().w, Use::Read, "data");
        const Regions others(call, parity, rs.m(), rs.field().w, Use::Read, "parity");
        need_cpu(call, "RS.verify");
        others.check_bytes(from.bytes());
        uint32_t differs = 0;
        run(call, [&](gfk_pipeline_t pipeline, gfk_pipeline_report *report) {
            return gfk_rs_verify_host(pipeline, rs.model(), from.get(), others.get(), from.bytes(),
                                      &differs, report);
        });
        return differs == 0;
    }

    nb::object rlnc_encode(nb::handle rlnc, nb::handle sources, Integer first, Integer count,
                           Integer generation, nb::handle out) {
        const NetworkCode code(rlnc);
        const gfk_rlnc_range range = rlnc_range(generation, first, count);
        Call call;
        const Regions from(call, sources, code.n, code.field.w, Use::Read, "sources");
        need_cpu(call, "RLNC.encode");
        code.check_payloads(from, "sources");
        const Output to(call, out, from, range.count, code.field.w);
        run(call, [&](gfk_pipeline_t pipeline, gfk_pipeline_report *report) {
            return gfk_rlnc_encode_host(pipeline, code.handle, range.generation, range.first,
                                        range.count, from.get(), to.regions.get(), report);
        });
        return to.object;
    }

    nb::tuple rlnc_recode(nb::handle rlnc, nb::handle payloads, nb::handle vectors, Integer first,
                          Integer packets, Integer seed_of_recoder, Integer generation,
                          nb::handle out) {
        const NetworkCode code(rlnc);
        const gfk_rlnc_range range = rlnc_range(generation, first, packets);
        const size_t count = range.count;
        const uint64_t seed = seed_of_recoder.word64("seed");
        const unsigned w = code.field.w;
        if (!out.is_none() && (!PyTuple_Check(out.ptr()) || nb::len(out) != 2))
            raise_type("out: a tuple (payloads, vectors) is needed");
        Call call;
        const Elements rows(call, vectors, w, Use::Read, "vectors");
        rows.check_shape(rows.rows(), code.n);
        check_received(rows.rows());
        const Regions from(call, payloads, rows.rows(), w, Use::Read, "payloads");
        need_cpu(call, "RLNC.recode");
        code.check_payloads(from, "payloads");
        const Output to(call, out.is_none() ? nb::none() : nb::object(out[0]), from, count, w);
        nb::object made =
            out.is_none() ? call.empty({count, code.n}, nullptr, vectors) : nb::object(out[1]);
        const Elements made_rows(call, made, w, out.is_none() ? Use::New : Use::Write, "out");
        made_rows.check_shape(count, code.n);
        run(call, [&](gfk_pipeline_t pipeline, gfk_pipeline_report *report) {
            return gfk_rlnc_recode_host(pipeline, code.handle, range.generation, range.first, count,
                                        seed, rows.rows(), rows.data(), rows.stride(), from.get(),
                                        made_rows.data(), made_rows.stride(), to.regions.get(),
                                        report);
        });
        return nb::make_tuple(to.object, made);
    }

    nb::tuple rlnc_decode(nb::handle rlnc, nb::handle packets, nb::handle payloads,
                          nb::handle vectors, Integer number, nb::handle generations,
                          nb::handle out, bool is_checked) {
        const NetworkCode code(rlnc);
        const uint64_t generation = number.word64("generation");
        const unsigned w = code.field.w;
        Call call;
        std::optional<Elements> rows;
        if (!vectors.is_none())
            rows.emplace(call, vectors, w, Use::Read, "vectors");
        const std::vector<gfk_rlnc_header> headers =
            rlnc_headers(packets, generations, generation, rows ? &*rows : nullptr).first;
        const size_t count = headers.size();
        if (rows)
            rows->check_shape(count, code.n);
        const Regions from(call, payloads, count, w, Use::Read, "payloads");
        need_cpu(call, "RLNCDecoder");
        code.check_payloads(from, "payloads");
        const Output to(call, out, from, code.n, w);
        code.check_payloads(to.regions, "out");
        nb::object decoded = call.empty({code.n}, "bool");
        const Array mask(call, decoded, Use::New, "decoded");
        const gfk_rlnc_header none = {};
        gfk_rlnc_record record = {};
        run(call, [&](gfk_pipeline_t pipeline, gfk_pipeline_report *report) {
            const gfk_status status = gfk_rlnc_decode_host(
                pipeline, code.handle, generation, count != 0 ? headers.data() : &none, count,
                rows ? rows->data() : nullptr, rows ? rows->stride() : 0, from.get(),
                to.regions.get(), mask.data(), &record, report);
            return status == GFK_STATUS_SINGULAR || status == GFK_STATUS_CORRUPT
                       ? GFK_STATUS_SUCCESS
                       : status;
        });
        if (is_checked && record.status == GFK_STATUS_CORRUPT)
            raise_corrupt(generation);
        return nb::make_tuple(to.object, decoded, rlnc_record(generation, record));
    }

  private:
    // What calls need of a gfk.RLNC, which lives until they end.
    struct NetworkCode {
        gfk_rlnc_t handle;
        Field field;
        size_t n, bytes;
        explicit NetworkCode(nb::handle rlnc)
            : handle(rlnc_at_cpu(rlnc)), field(field_of(rlnc.attr("field"))),
              n(nb::cast<size_t>(rlnc.attr("n"))), bytes(nb::cast<size_t>(rlnc.attr("bytes"))) {}
        void check_payloads(const Regions &regions, const char *name) const {
            if (regions.count() != 0 && regions.bytes() != bytes)
                raise_value("%s: a region of this code has %zu bytes, and there are regions of %zu",
                            name, bytes, regions.bytes());
        }
    };

    static void need_cpu(const Call &call, const char *name) {
        if (call.device() != GFK_CPU)
            raise(
                GFK_STATUS_WRONG_DEVICE,
                "a pipeline takes arrays in the CPU's memory; for arrays on a GPU there is gfk.%s",
                name);
    }

    static gfk_accumulate mode_of(nb::handle out, bool accumulate) {
        if (out.is_none() && accumulate)
            raise_value("accumulate adds to out, so out is needed");
        return accumulate ? GFK_XOR : GFK_SET;
    }

    template <class Work>
    void run(const Call &call, Work &&work) {
        check(try_run(call, work));
    }

    template <class Work>
    gfk_status try_run(const Call &call, Work &&work) {
        const std::shared_ptr<gfk_pipeline> handle = handle_;
        gfk_pipeline_report report;
        gfk_status status = GFK_STATUS_SUCCESS;
        if (handle == nullptr)
            raise_value("the pipeline is closed");
        call.run([&] {
            status = work(handle.get(), &report);
            return GFK_STATUS_SUCCESS;
        });
        if (status == GFK_STATUS_SUCCESS || status == GFK_STATUS_CUDA)
            last_.attr("report") = made_of(report);
        return status;
    }

    nb::object made_of(const gfk_pipeline_report &report) const {
        nb::list device_bytes;
        for (size_t i = 0; i < info_.device_count; i++)
            device_bytes.append(report.device_bytes[i]);
        return nb::module_::import_("gfk._host")
            .attr("Report")(gfk_path_name(report.path), report.reason, report.cpu_bytes,
                            report.gpu_bytes, nb::tuple(device_bytes), report.redone_bytes,
                            failure(report.device_status), report.staged_regions, report.chunk,
                            report.seconds);
    }

    std::shared_ptr<gfk_pipeline> handle_; // NULL: closed. Each call in progress has a share
    gfk_pipeline_info info_;
    nb::object last_; // threading.local(), so that each thread has its report
};

// ---- pinned memory ------------------------------------------------------------------------------

nb::object pinned_bytes(Integer length) {
    const size_t bytes = length.size("shape: the bytes");
    void *memory = nullptr;
    gfk_status status;
    {
        const Unlocked unlocked;
        status = gfk_pinned_alloc(&memory, bytes);
    }
    check(status);
    const nb::capsule owner(memory, [](void *p) noexcept { gfk_pinned_free(p); });
    return nb::cast(nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>(memory, {bytes}, owner));
}

// ---- calibrations -------------------------------------------------------------------------------

const char *const where_names[] = {"pageable", "pinned"};

nb::object text_of(const char *name) {
    return nb::steal(
        PyUnicode_DecodeUTF8(name, static_cast<Py_ssize_t>(strlen(name)), "surrogateescape"));
}

template <size_t N>
nb::list list_of(const double (&values)[N]) {
    nb::list made;
    for (const double value : values)
        made.append(value);
    return made;
}

template <size_t N, size_t M>
nb::list list_of(const double (&rows)[N][M]) {
    nb::list made;
    for (const auto &row : rows)
        made.append(list_of(row));
    return made;
}

nb::dict dict_of(const gfk_calibration &c) {
    nb::dict made;
    nb::list devices;
    for (size_t i = 0; i < c.device_count; i++)
        devices.append(text_of(c.devices[i]));
    made["host"] = text_of(c.host);
    made["processor"] = text_of(c.processor);
    made["threads"] = c.threads;
    made["devices"] = devices;
    made["cpu"] = list_of(c.cpu);
    made["bus"] = list_of(c.bus);
    made["kernel"] = list_of(c.kernel);
    made["cpu_call"] = c.cpu_call;
    made["gpu_call"] = c.gpu_call;
    made["both"] = list_of(c.both);
    return made;
}

template <size_t N>
void read_name(nb::handle value, const char *key, char (&name)[N]) {
    if (!PyUnicode_Check(value.ptr()))
        raise_type("calibration: %s: a string is needed, not %s", key,
                   Py_TYPE(value.ptr())->tp_name);
    const nb::bytes bytes =
        nb::cast<nb::bytes>(nb::borrow(value).attr("encode")("utf-8", "surrogateescape"));
    const std::string text(bytes.c_str(), bytes.size());
    check_text(text, key);
    if (text.size() >= N)
        raise_value("calibration: %s: a name is longer than %zu bytes", key, N - 1);
    memcpy(name, text.data(), text.size());
}

template <class T>
void read_rates(nb::handle value, const char *key, T &rate) {
    if (nb::try_cast<T>(nb::borrow(value), rate))
        return;
    if (PyIndex_Check(value.ptr()))
        raise_value("calibration: %s: the number is out of range", key);
    raise_type("calibration: %s: %s is needed, not %s", key,
               std::is_integral_v<T> ? "an integer" : "a number", Py_TYPE(value.ptr())->tp_name);
}

// The length of a list or another sequence.
size_t length_of(nb::handle values, const char *key) {
    if (!PySequence_Check(values.ptr()) || PyUnicode_Check(values.ptr()))
        raise_type("calibration: %s: a list is needed, not %s", key,
                   Py_TYPE(values.ptr())->tp_name);
    return nb::len(values);
}

template <class T, size_t N>
void read_rates(nb::handle values, const char *key, T (&rates)[N]) {
    const size_t length = length_of(values, key);
    if (length != N)
        raise_value("calibration: %s: a list of %zu numbers or lists has %zu", key, N, length);
    for (size_t i = 0; i < N; i++)
        read_rates(values[i], key, rates[i]);
}

// Refuses numbers that no measurement gives.
template <class T>
void check_rates(const T &rates, const char *key, double least, double most) {
    const auto *numbers = reinterpret_cast<const double *>(&rates);
    for (size_t i = 0; i < sizeof rates / sizeof *numbers; i++)
        if (!(numbers[i] >= least && numbers[i] <= most))
            raise(GFK_STATUS_INVALID_ARGUMENT, "calibration: %s: %g is not from %g to %g", key,
                  numbers[i], least, most);
}

// The library's bounds; those of devices count where there are devices.
void check_rates(const gfk_calibration &c) {
    if (c.threads == 0)
        raise(GFK_STATUS_INVALID_ARGUMENT, "calibration: threads: 0 is not from 1 to 2^32 - 1");
    check_rates(c.cpu, "cpu", 1, 1e18);
    check_rates(c.cpu_call, "cpu_call", 1e-9, 1e6);
    if (c.device_count == 0)
        return;
    check_rates(c.bus, "bus", 1, 1e18);
    check_rates(c.kernel, "kernel", 1, 1e18);
    check_rates(c.gpu_call, "gpu_call", 1e-9, 1e6);
    check_rates(c.both, "both", 1e-3, 1e3);
}

// Refuses a name that a file cannot have.
void check_name(const char *name, const char *key) {
    if (*name == '\0' || strchr(name, '\n') != nullptr)
        raise(GFK_STATUS_INVALID_ARGUMENT, "calibration: %s: a name of one line is needed", key);
}

gfk_calibration calibration_of(const nb::dict &from) {
    gfk_calibration c = {};
    const nb::object devices = from["devices"];
    c.device_count = length_of(devices, "devices");
    if (c.device_count > GFK_MOST_DEVICES)
        raise_value("calibration: there are more than %d devices", GFK_MOST_DEVICES);
    for (size_t i = 0; i < c.device_count; i++)
        read_name(devices[i], "devices", c.devices[i]);
    read_name(from["host"], "host", c.host);
    read_name(from["processor"], "processor", c.processor);
    read_rates(from["threads"], "threads", c.threads);
    read_rates(from["cpu"], "cpu", c.cpu);
    read_rates(from["bus"], "bus", c.bus);
    read_rates(from["kernel"], "kernel", c.kernel);
    read_rates(from["cpu_call"], "cpu_call", c.cpu_call);
    read_rates(from["gpu_call"], "gpu_call", c.gpu_call);
    read_rates(from["both"], "both", c.both);
    check_rates(c);
    return c;
}

void check_file(gfk_status status, const FilePath &path) {
    if (status == GFK_STATUS_IO || status == GFK_STATUS_CORRUPT)
        raise(status, "%s: %s", path.get(), description_of(status));
    check(status);
}

nb::dict calibrate(nb::handle file, const Devices &devices, Integer device_memory,
                   Integer pinned_memory, Integer threads) {
    const Integer zero{nb::int_(0)};
    const Description description("auto", devices, device_memory, pinned_memory, zero, zero,
                                  threads, nb::none());
    const FilePath path(file);
    gfk_calibration calibration;
    gfk_status status;
    {
        const Unlocked unlocked;
        status = gfk_calibrate(description.get(), path.get(), &calibration);
    }
    check_file(status, path);
    return dict_of(calibration);
}

nb::dict load_calibration(nb::handle file) {
    const FilePath path(file);
    gfk_calibration calibration;
    check_file(gfk_calibration_load(&calibration, path.get()), path);
    return dict_of(calibration);
}

void save_calibration(const nb::dict &calibration, nb::handle file) {
    const FilePath path(file);
    const gfk_calibration from = calibration_of(calibration);
    check_name(from.host, "host");
    check_name(from.processor, "processor");
    for (size_t i = 0; i < from.device_count; i++)
        check_name(from.devices[i], "devices");
    check_file(gfk_calibration_save(&from, path.get()), path);
}

// None for a path that does not exist.
nb::object seconds(double value) {
    return value < 0 ? nb::none() : nb::object(nb::float_(value));
}

nb::dict advise(const nb::dict &calibration, Integer k, Integer m, Integer bytes, nb::handle w,
                const std::string &where) {
    const gfk_calibration from = calibration_of(calibration);
    const Field field = field_of(w);
    gfk_advice advice;
    check_text(where, "where");
    if (where != where_names[GFK_PAGEABLE] && where != where_names[GFK_PINNED])
        raise(GFK_STATUS_INVALID_ARGUMENT, "where: %s is neither pageable nor pinned",
              where.c_str());
    check(gfk_advise(&from, &field, k.size("k", 1), m.size("m", 1), bytes.size("bytes"),
                     where == where_names[GFK_PINNED] ? GFK_PINNED : GFK_PAGEABLE, &advice));
    nb::dict made;
    made["path"] = gfk_path_name(advice.path);
    made["why"] = advice.why;
    made["cpu_seconds"] = seconds(advice.cpu_seconds);
    made["gpu_seconds"] = seconds(advice.gpu_seconds);
    made["both_seconds"] = seconds(advice.both_seconds);
    made["crossover"] = advice.crossover == 0 ? nb::none() : nb::object(nb::int_(advice.crossover));
    return made;
}
} // namespace

// ---- names for Python ---------------------------------------------------------------------------

void bind_host(nb::module_ &module) {
    using namespace nb::literals;
    nb::class_<Pipeline>(
        module, "Pipeline",
        R"(Products and codes over arrays in the CPU's memory, of any size. The work goes over the bus to one or
several GPUs, to all cores of the CPU, or to both. Without a GPU the CPU does all of it.

path: "auto" (the shortest predicted time, chosen for each call), "cpu", "gpu", "both". devices: numbers
of CUDA devices; None: the current one, if there is one. device_memory, pinned_memory: limits in bytes
for buffers; 0: 1 GiB for each device, 256 MiB for all together. chunk: bytes of one chunk; streams:
chunks in flight for each device; threads: of the CPU; 0: the library chooses. calibration_file: written
by gfk.calibrate. A file that is missing, damaged or of another machine is ignored, and so is a path that
is no file, such as a folder: info()["calibration"] tells.
Raises NoDevice ("gpu", "both" or a device that does not exist), InvalidArgument, OutOfMemory, Cuda.

The calls take arrays of any framework, pinned (gfk.pinned_empty) or not, and refuse those on a GPU. The
results are the same bytes for every path. After a call, `report` tells what was done. A pipeline is a
context manager, and closes itself when it is no longer used. Any thread; calls on one pipeline run one
after the other.)")
        .def(nb::init<const std::string &, const Devices &, Integer, Integer, Integer, Integer,
                      Integer, nb::handle>(),
             nb::kw_only(), "path"_a = "auto", "devices"_a = nb::none(), "device_memory"_a = 0,
             "pinned_memory"_a = 0, "chunk"_a = 0, "streams"_a = 0, "threads"_a = 0,
             "calibration_file"_a = nb::none())
        .def(
            "__enter__", [](nb::handle self) { return nb::borrow(self); },
            nb::sig("def __enter__(self) -> Pipeline"))
        .def("__exit__", [](Pipeline &self, nb::args) { self.close(); })
        .def(
            "close", &Pipeline::close,
            R"(Frees streams, buffers and threads, when the calls in progress have ended. Later calls raise ValueError.)")
        .def(
            "info", &Pipeline::info,
            R"(What the arguments resolved to, a dict: path ("cpu" if "auto" finds no device), devices, device_memory,
pinned_memory, chunk, streams (0: chosen for each call), threads, calibrated, and calibration: None, or
the status for which the file is not used (GFK_STATUS_IO, GFK_STATUS_CORRUPT, GFK_STATUS_WRONG_DEVICE).)")
        .def_prop_ro(
            "report", &Pipeline::report,
            "The gfk.Report of the calling thread's last call that gave a result; None before.")
        .def(
            "multiply", &Pipeline::multiply, "c"_a, "x"_a, nb::kw_only(), "w"_a = 8,
            "out"_a = nb::none(), "accumulate"_a = false,
            R"(c * x for every symbol of an array, or out ^= c * x with accumulate; as gfk.multiply.

c: an integer below 2^w. x: a contiguous array of bytes or of w-bit integers. out: an array of as many
bytes; x itself works in place. Returns out, or a new array.)")
        .def("product", &Pipeline::product, "matrix"_a, "x"_a, nb::kw_only(), "w"_a = 8,
             "out"_a = nb::none(), "accumulate"_a = false,
             R"(matrix times regions, or out ^= that with accumulate; as gfk.Product.run.

matrix: rows of integers below 2^w; the pipeline keeps what it derives of the last 8. x: an array of one
row for each column of the matrix, or a list of arrays. out: the same for the rows of the matrix; it
overlaps no other region. Returns out, or a new array.)")
        .def("matmul", &Pipeline::matmul, "a"_a, "b"_a, nb::kw_only(), "w"_a = 8,
             "out"_a = nb::none(), "accumulate"_a = false,
             R"(a times b, or out ^= that with accumulate, for matrices of any size; as gfk.matmul.

a: an array (rows, cols) of integers of w bits, or a gfk.Matrix. b: cols regions. out: rows regions, which
overlap nothing else. Returns out, or a new array. Only GPUs that gfk.matmul supports take part.)")
        .def("encode", &Pipeline::encode, "rs"_a, "data"_a, "out"_a = nb::none(),
             "The parity of the data, as rs.encode(data, out). rs: a gfk.RS.")
        .def("decode", &Pipeline::decode, "rs"_a, "data"_a, "parity"_a, "lost"_a,
             "wanted"_a = nb::none(), "out"_a = nb::none(),
             "Rebuilds lost regions, as rs.decode(data, parity, lost, wanted, out). rs: a gfk.RS.")
        .def("verify", &Pipeline::verify, "rs"_a, "data"_a, "parity"_a,
             "Does the parity match the data? True or False. rs: a gfk.RS.")
        .def("rlnc_encode", &Pipeline::rlnc_encode, "rlnc"_a, "sources"_a, "first"_a, "count"_a,
             "generation"_a = 0, nb::kw_only(), "out"_a = nb::none(),
             "The payloads of packets of a generation, as rlnc.encode. rlnc: a gfk.RLNC.")
        .def("rlnc_recode", &Pipeline::rlnc_recode, "rlnc"_a, "payloads"_a, "vectors"_a, "first"_a,
             "count"_a, "seed"_a, "generation"_a = 0, nb::kw_only(), "out"_a = nb::none(),
             "New packets of received ones of a generation, as rlnc.recode. rlnc: a gfk.RLNC. "
             "Returns (payloads, vectors).")
        .def(
            "rlnc_decode", &Pipeline::rlnc_decode, "rlnc"_a, "packets"_a.none(), "payloads"_a,
            "vectors"_a = nb::none(), "generation"_a = 0, nb::kw_only(),
            "generations"_a = nb::none(), "out"_a = nb::none(), "check"_a = true,
            R"(The sources of a generation, from all packets of it that have come; an RLNCDecoder takes them as they come.

rlnc: a gfk.RLNC. packets, payloads, vectors, generations: as of RLNCDecoder.add; packets of other
generations are left out. out: n regions; None: a new array like the payloads. check: raise Corrupt if
packets contradict each other; from exactly n packets a changed packet cannot be noticed.

Returns (out, decoded, record): decoded is an array of bool, True where a source has been written, the
others are as they were; record is a dict as of RLNCDecoder.records, whose status is gfk.Singular.status
where not all sources are determined, and where kept counts all dependent packets.)");
    module.def("_pinned_bytes", pinned_bytes, "bytes"_a);
    module.def(
        "calibrate", calibrate, "file"_a = nb::none(), nb::kw_only(), "devices"_a = nb::none(),
        "device_memory"_a = 0, "pinned_memory"_a = 0, "threads"_a = 0,
        R"(Measures the rates of this machine, which should be idle, in about two seconds. The other arguments are those of Pipeline.

file: where to write them, replaced as a whole; None: nowhere. Returns a dict, in bytes per second and
seconds: host, processor, threads, devices (names), cpu (w = 8 with 0x11d, w = 8 with another polynomial,
w = 16, w = 32; each for 1 input and 1 output, and for 8 inputs and 1, 2, 4, 8 outputs), bus (pageable,
pinned; each to the devices, from the devices, both together), kernel, cpu_call, gpu_call, both. Raises
Io, NoDevice, OutOfMemory.)");
    module.def("load_calibration", load_calibration, "file"_a,
               "The dict of a calibration file, also of another machine's. Raises Io, Corrupt.");
    module.def(
        "save_calibration", save_calibration, "calibration"_a, "file"_a,
        R"(Writes a calibration file. Raises Io, InvalidArgument (an impossible rate), KeyError, TypeError, ValueError.)");
    module.def(
        "advise", advise, "calibration"_a, "k"_a, "m"_a, "bytes"_a, "w"_a = 8,
        "where"_a = "pageable",
        R"(Predicts the time of every path for a product of k inputs and m outputs of `bytes` bytes each.

calibration: of gfk.calibrate or gfk.load_calibration. where: the memory of the arrays, "pageable" or
"pinned". Returns a dict: path (the fastest), why, cpu_seconds, gpu_seconds, both_seconds (None: there is
no such path), crossover (the bytes from which the GPU is faster than the CPU; None: never).)");
}
} // namespace gfk
