// SPDX-License-Identifier: BSD-3-Clause
// The rows of preset host: each pass behind one of what bounds it, so that both see the
// same machine.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <unistd.h>

#include "cpu.h"
#include "host.h"
#ifdef HAVE_CUDA
#include "core/device.h"
#endif

namespace {

constexpr uint32_t kConstant = 0x8e;

const char *const kOperations[] = {"encode", "decode", "multiply", "matmul"};

double cpu_seconds() {
    return (double)std::clock() / CLOCKS_PER_SEC;
}

// Measured once, in a file that nobody else reads.
const char *calibration_file() {
    static char name[] = "/tmp/gfk_bench_calibration_XXXXXX";
    static bool made = false;
    if (made)
        return name;
    const int fd = mkstemp(name);
    gfk_check(fd >= 0 ? GFK_STATUS_SUCCESS : GFK_STATUS_IO, "mkstemp");
    close(fd);
    gfk_pipeline_desc desc = GFK_PIPELINE_DESC_INIT;
    desc.threads = cpu_cores();
    GFK_CHECK(gfk_calibrate(&desc, name, nullptr));
    made = true;
    std::atexit([] { std::remove(name); });
    return name;
}

// The regions are the bench's host memory.
struct HostWork : Work {
    HostWork(const Library &library, const HostCase &c) : library_(library), case_(c) {
        const auto [w, k, m] = c.shape;
        mix_.bytes = c.region_bytes();
        if (c.where == GFK_PAGEABLE)
            pin({}, 0);
        // At least what other rows with as much data need: pinned memory is pinned once.
        const size_t all = std::max(c.data, mix_.bytes * std::max(k, m));
        const HostBuffers buffers = host_buffers(all);
        if (c.where == GFK_PINNED)
            pin({buffers.src, buffers.dst}, all);
        data_ = regions_at(buffers.src, k, mix_.bytes);
        parity_ = regions_at(buffers.dst, m, mix_.bytes);
        const auto lost = (long)(c.operation == HostCase::Decode ? m : 0);
        for (size_t i = 0; i < (size_t)lost; i++)
            lost_.push_back(i);
        mix_.in.assign(data_.begin() + lost, data_.end());
        mix_.in.insert(mix_.in.end(), parity_.begin(), parity_.begin() + lost);
        mix_.out = lost ? Regions(data_.begin(), data_.begin() + lost) : parity_;
    }
    gfk_status start() override {
        const auto [w, k, m] = case_.shape;
        const std::vector<uint32_t> matrix = make_matrix();
        open();
        if (case_.operation == HostCase::Decode) {
            GFK_CHECK(encode());
            ends_.take(mix_.out);
        } else {
            ends_.compute(case_.shape, matrix, mix_.in);
        }
        const coder *isal = coder_of("isa-l");
        if (isal != nullptr && w == 8 && case_.path == GFK_PATH_CPU &&
            case_.operation != HostCase::Matmul)
            isal_ = std::make_unique<CoderTeam>(isal, case_.shape, matrix, cpu_cores());
        poison();
        return call(); // buffers, products, pages
    }
    std::string check(bool) override {
        return failed_ || !ends_.match(mix_.out) || report_.device_status != GFK_STATUS_SUCCESS
                   ? "differs from the host engine, or a device failed"
                   : "";
    }
    void warm_up() override {}
    double pass(long) override {
        if (const double seconds = other_library() ? 0 : bound_pass())
            bounds_.push_back(seconds);
        poison();
        const double before = cpu_seconds();
        gfk_check(call(), case_.name().c_str());
        cpu_.push_back(cpu_seconds() - before);
        failed_ = failed_ || !check(true).empty();
        us_.push_back(1e6 * report_.seconds);
        return us_.back();
    }
    void describe() override {
        const double bytes = 1e-9 * (double)(mix_.bytes * case_.shape.k);
        facts.add("cpu_seconds", times_of(cpu_).median, "path_taken", gfk_path_name(report_.path));
        if (bounds_.empty())
            return;
        const double bound = bytes / times_of(bounds_).median;
        const double percent = 100 * 1e6 * bytes / times_of(us_).median / bound;
        char note[80];
        std::snprintf(note, sizeof note, "%.1f %% of %s", percent, bound_name());
        facts.add("bound", bound_name(), "bound_GBps", bound, "percent_of_bound", percent, "note",
                  note);
#ifdef HAVE_CUDA
        if (case_.path == GFK_PATH_GPU && case_.where == GFK_PINNED &&
            case_.operation != HostCase::Matmul && case_.streams == 0)
            facts.set("kernel_GBps", 1e-9 * product_rate(case_.shape));
        if (case_.path == GFK_PATH_GPU && case_.where == GFK_PAGEABLE)
            facts.set("copies_GBps",
                      bytes / std::min({copy_seconds(), copy_seconds(), copy_seconds()}));
#endif
    }

  private:
    std::vector<uint32_t> make_matrix() {
        const auto [w, k, m] = case_.shape;
        if (case_.operation == HostCase::Multiply)
            return {kConstant};
        std::vector<uint32_t> matrix(k * m);
        if (case_.operation == HostCase::Matmul) {
            matrix = matrix_of(case_.shape, false, 1);
            elements_ = packed(matrix, w);
            return matrix;
        }
        const gfk_field field = field_of(w);
        gfk_rs_desc desc = GFK_RS_DESC_INIT;
        desc.product.device = case_.mapped ? GFK_CURRENT_DEVICE : GFK_CPU; // a pipeline has its own
        GFK_CHECK(code_.make(library_.gfk_rs_create, library_.gfk_rs_destroy, &field, k, m, &desc));
        GFK_CHECK(library_.gfk_rs_get_matrix(code_, matrix.data()));
        return matrix;
    }
    void open() {
        std::vector<int> devices(case_.devices);
        for (size_t i = 0; i < devices.size(); i++)
            devices[i] = (int)i;
        gfk_pipeline_desc desc = GFK_PIPELINE_DESC_INIT;
        desc.path = case_.path;
        desc.streams = case_.streams;
        desc.threads = cpu_cores();
        if (case_.devices > 1) {
            desc.devices = devices.data();
            desc.device_count = devices.size();
        }
        if (case_.path == GFK_PATH_AUTO)
            desc.calibration_file = calibration_file();
        GFK_CHECK(
            pipeline_.make(library_.gfk_pipeline_create, library_.gfk_pipeline_destroy, &desc));
    }
    gfk_status encode() {
        const gfk_regions data = list_of(data_), parity = list_of(parity_);
#ifdef HAVE_CUDA
        if (case_.mapped) {
            const Stopwatch watch;
            const gfk_status status =
                library_.gfk_rs_encode(code_, &data, &parity, mix_.bytes, gpu().stream);
            gpu_synchronize();
            report_.seconds = watch.seconds();
            report_.path = GFK_PATH_GPU;
            return status;
        }
#endif
        return library_.gfk_rs_encode_host(pipeline_, code_, &data, &parity, mix_.bytes, &report_);
    }
    gfk_status call() {
        if (case_.operation == HostCase::Encode)
            return encode();
        const gfk_field field = field_of(case_.shape.w);
        if (case_.operation == HostCase::Multiply)
            return library_.gfk_region_multiply_host(pipeline_, &field, kConstant, mix_.in[0],
                                                     mix_.out[0], mix_.bytes, GFK_SET, &report_);
        const gfk_regions data = list_of(data_), parity = list_of(parity_);
        if (case_.operation == HostCase::Matmul) {
            const auto [w, k, m] = case_.shape;
            const gfk_matrix a = GFK_MATRIX_DENSE_INIT(elements_.data(), m, k, k);
            return library_.gfk_matmul_host(pipeline_, &field, &a, &data, &parity, mix_.bytes,
                                            GFK_SET, &report_);
        }
        return library_.gfk_rs_decode_host(pipeline_, code_, lost_.data(), lost_.size(), nullptr, 0,
                                           &data, &parity, mix_.bytes, &report_);
    }
    // All cores poison the outputs, which have gigabytes.
    void poison() const {
        Team(cpu_cores()).run(mix_.bytes, 1, [this](unsigned, size_t from, size_t to) {
            for (unsigned char *out : mix_.out)
                std::memset(out + from, 0xa5, to - from);
        });
    }

    // ---- what the row is measured against ----------------------------------------------------
    const char *bound_name() const {
        return case_.path == GFK_PATH_CPU    ? "ISA-L"
               : case_.path == GFK_PATH_AUTO ? "the best of the other paths"
               : case_.path == GFK_PATH_BOTH ? "the better of GPU and CPU alone"
               : case_.where == GFK_PAGEABLE ? "a plain pageable copy"
                                             : "transfer only";
    }
    double bound_pass() { // seconds; 0: there is no bound
        // Of a decoder's time the matrix does not matter: it is the encoder's.
        if (case_.path == GFK_PATH_CPU)
            return isal_ ? 1e-6 * isal_->encode(mix_.in, mix_.out, mix_.bytes, HostCase::kUnit) : 0;
        if (case_.path != GFK_PATH_GPU && rival_ == nullptr)
            find_rival();
        if (rival_ != nullptr) {
            rival_->poison();
            gfk_check(rival_->call(), "another path");
            return rival_->report_.seconds;
        }
#ifdef HAVE_CUDA
        if (case_.path == GFK_PATH_GPU)
            return case_.where == GFK_PAGEABLE ? plain_copy_seconds(mix_)
                                               : transfer_seconds(mix_, (int)case_.devices);
#endif
        return 0;
    }
    // What the threads that copy for the devices could do without any device: they copy the inputs
    // to buffers that stay in their caches, and as much from there to the outputs.
    double copy_seconds() const {
        constexpr size_t kPart = 256 * kKiB, kBuffer = kMiB;
        const auto threads = (unsigned)std::min<size_t>(8 * case_.devices, cpu_cores());
        std::vector<std::vector<unsigned char>> buffers(threads);
        for (auto &buffer : buffers)
            buffer.assign(kBuffer, 1);
        return Team(threads).run(
            mix_.bytes, HostCase::kUnit, [&](unsigned thread, size_t from, size_t to) {
                size_t place = 0;
                const auto copy = [&](const Regions &regions, size_t at, bool back) {
                    for (unsigned char *region : regions) {
                        unsigned char *buffer = buffers[thread].data() + place;
                        const size_t length = std::min(kPart, to - at);
                        std::memcpy(back ? region + at : buffer, back ? buffer : region + at,
                                    length);
                        place = (place + kPart) % kBuffer;
                    }
                };
                for (size_t at = from; at < to; at += kPart) {
                    copy(mix_.in, at, false);
                    copy(mix_.out, at, true);
                }
            });
    }
    // AUTO goes for the best of the others, as far as their rows were measured, and BOTH for the
    // better of GPU and CPU.
    void find_rival() {
        HostCase best = case_;
        double rate = 0;
        for (gfk_path path : {GFK_PATH_CPU, GFK_PATH_GPU, GFK_PATH_BOTH}) {
            if (path == case_.path)
                continue;
            HostCase other = case_;
            other.path = path;
            HostCase measured = other;
            if (path == GFK_PATH_CPU) // to which all memory is the same
                measured.where = GFK_PAGEABLE;
            const Result *found = find_result(measured.name());
            if (found != nullptr && found->gbps() > rate) {
                rate = found->gbps();
                best = other;
            }
        }
        if (rate == 0)
            return;
        rival_ = std::make_unique<HostWork>(library_, best);
        gfk_check(rival_->start(), "another path");
    }

    const Library &library_;
    HostCase case_;
    Mix mix_;
    Regions data_, parity_;
    std::vector<size_t> lost_;
    Ends ends_{case_.region_bytes()};
    Object<gfk_rs_t> code_;
    std::vector<unsigned char> elements_; // of a matmul's matrix
    Object<gfk_pipeline_t> pipeline_;
    std::unique_ptr<CoderTeam> isal_;
    std::unique_ptr<HostWork> rival_; // does what AUTO is measured against
    gfk_pipeline_report report_ = {}; // of the last call
    bool failed_ = false;
    std::vector<double> us_, bounds_, cpu_;
};

Row host_row(const HostCase &c) {
    const bool device = c.path != GFK_PATH_CPU, decode = c.operation == HostCase::Decode;
    Row row(c.name(),
            shape_facts("host", kOperations[c.operation], device ? "gpu" : "cpu", c.id(), c.shape));
    row.facts.add("memory", c.memory(), "path", gfk_path_name(c.path), "threads", cpu_cores(),
                  "cold", true, "region_bytes", c.region_bytes(), "nominal_bytes", c.data, "gpus",
                  when(device, c.devices), "streams", when(c.streams != 0, c.streams), "lost",
                  when(decode, c.shape.m), "lost_kind", when(decode, "data"));
    const double row_bytes = (double)(c.region_bytes() * c.shape.k);
    row.data_bytes = row_bytes;
    row.moved = product_moved(c.shape, GFK_SET);
    row.passes = c.operation == HostCase::Matmul && !device ? 3 : 5;
    row.make = makes<HostWork>(c);
    if (c.operation == HostCase::Matmul)
        row.finish = [=](Result *r) {
            r->fields.set("tmuladds_per_s",
                          row_bytes * (double)c.shape.m / r->fields.number("time_us_median") / 1e6);
        };
    return row;
}

// Pageable ones, those that have their memory pinned, and with several devices both again.
std::vector<HostCase> figures(const Options &options, int devices) {
    std::vector<HostCase> cases;
    const size_t data = options.size_or(options.quick() ? 512 * kMiB : 8 * kGiB);
    const std::pair<HostCase::Operation, Shape> calls[] = {{HostCase::Encode, {8, 10, 4}},
                                                           {HostCase::Decode, {8, 10, 4}},
                                                           {HostCase::Multiply, {8, 1, 1}}};
    for (const auto &[operation, shape] : calls)
        if (options.host)
            cases.push_back({operation, shape, data});
    for (gfk_where where : {GFK_PAGEABLE, GFK_PINNED})
        for (const auto &[operation, shape] : calls)
            for (gfk_path path : {GFK_PATH_GPU, GFK_PATH_BOTH, GFK_PATH_AUTO})
                if (devices != 0 && (path == GFK_PATH_GPU || !options.quick()))
                    cases.push_back({operation, shape, data, where, path});
    for (gfk_where where : {GFK_PINNED, GFK_PAGEABLE})
        for (int n = 2; n <= devices && !options.quick(); n *= 2)
            for (const auto &[operation, shape] : calls)
                cases.push_back({operation, shape, data, where, GFK_PATH_GPU, 0, (size_t)n});
    if (options.quick())
        return cases;
    const size_t part = options.size_or(kGiB);
    const std::pair<Shape, size_t> matmuls[] = {
        {{8, 256, 256}, part}, {{8, 1024, 1024}, part}, {{16, 1024, 256}, 2 * part}};
    for (const auto &[shape, bytes] : matmuls)
        if (options.host)
            cases.push_back({HostCase::Matmul, shape, bytes});
    for (const auto &[shape, bytes] : matmuls)
        for (int n = 1; n <= devices; n *= 2)
            cases.push_back(
                {HostCase::Matmul, shape, bytes, GFK_PINNED, GFK_PATH_GPU, 0, (size_t)n});
    for (const auto &[shape, bytes] : matmuls)
        if (devices != 0)
            cases.push_back({HostCase::Matmul, shape, bytes, GFK_PINNED, GFK_PATH_AUTO});
    return cases;
}

std::vector<HostCase> streams(const Options &options, int devices) {
    std::vector<HostCase> cases;
    const std::pair<Shape, size_t> calls[] = {{{8, 4, 2}, 1600000000}, {{8, 30, 3}, 836900000}};
    for (gfk_where where : {GFK_PAGEABLE, GFK_PINNED})
        for (const auto &[shape, bytes] : calls)
            for (unsigned n : {1u, 2u, 4u, 8u, 16u})
                if (devices != 0 && options.is("host:streams"))
                    cases.push_back(
                        {HostCase::Encode, shape, options.size_or(bytes), where, GFK_PATH_GPU, n});
    return cases;
}

} // namespace

std::string HostCase::id() const {
    return std::string("host_") + kOperations[operation] + "_w" + std::to_string(shape.w);
}

std::string HostCase::name() const {
    return id() + "/" + shape_text(shape) + "/" + size_text(data) + "/" + memory() + "/" +
           gfk_path_name(path) + (streams ? "/streams=" + std::to_string(streams) : "") +
           (devices > 1 ? "/gpus=" + std::to_string(devices) : "");
}

void pin(const std::vector<void *> &memory, size_t bytes) {
    static std::vector<void *> pinned;
    static size_t length = 0;
    if (memory == pinned && bytes <= length)
        return;
    for (void *p : pinned)
        GFK_CHECK(gfk_pinned_unregister(p));
    for (void *p : memory)
        GFK_CHECK(gfk_pinned_register(p, bytes));
    pinned = memory;
    length = bytes;
}

int devices_of(const Options &options) {
#ifdef HAVE_CUDA
    return options.device ? bus_devices() : 0;
#else
    (void)options;
    return 0;
#endif
}

void host_rows(const std::vector<HostCase> &cases, Rows *rows) {
    for (const HostCase &c : cases)
        rows->push_back(host_row(c));
}

void add_host_rows(const Options &options, Rows *rows) {
    const int devices = devices_of(options);
    host_rows(options.is("host:paths") ? figures(options, devices) : streams(options, devices),
              rows);
}
