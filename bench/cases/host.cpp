// SPDX-License-Identifier: BSD-3-Clause
// The presets host and host-streams: calls on host memory, each pass behind one of what bounds it,
// so that both see the same machine.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "baseline_coders.h"
#include "cases.h"
#include "core/host.h"
#include "host_bus.h"

namespace {

constexpr int kPasses = 5;
constexpr size_t kUnit = 512, kChecked = 64 * kKiB;
constexpr size_t kLongest = kGiB; // that ISA-L is given at once
constexpr uint32_t kConstant = 0x8e;

enum class Deed { Encode, Decode, Multiply }; // decode: the first m regions of data are lost
const char *const kDeeds[] = {"encode", "decode", "multiply"};

struct HostCase {
    Deed deed;
    Shape shape;
    size_t data;
    gfk_where where = GFK_PAGEABLE;
    gfk_path path = GFK_PATH_CPU;
    unsigned streams = 0; // 0: the default
    size_t devices = 1;   // of the paths with one

    size_t region_bytes() const { return data / shape.k / kUnit * kUnit; }
    const char *memory() const { return where == GFK_PINNED ? "pinned" : "pageable"; }
    std::string id() const {
        return std::string("host_") + kDeeds[(int)deed] + "_w" + std::to_string(shape.w);
    }
    std::string name() const { // <id>/<k>+<m>/<bytes of data>/<where>/<path>[/...]
        return id() + "/" + shape_text(shape) + "/" + size_text(data) + "/" + memory() + "/" +
               gfk_path_name(path) + (streams ? "/streams=" + std::to_string(streams) : "") +
               (devices > 1 ? "/gpus=" + std::to_string(devices) : "");
    }
};

const coder *isal() {
#ifdef HAVE_ISAL
    return &isal_coder;
#else
    return nullptr;
#endif
}

double cpu_seconds() {
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval &t) {
        return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// The memory that is pinned: all of the bench's, or nothing.
void *g_pinned[2] = {};

void pin(const HostBuffers &buffers, size_t bytes) {
    if (g_pinned[0] != nullptr)
        return;
    g_pinned[0] = buffers.src;
    g_pinned[1] = buffers.dst;
    for (void *memory : g_pinned)
        gfk_check(gfk_pinned_register(memory, bytes), "gfk_pinned_register");
}

void unpin() {
    for (void *&memory : g_pinned) {
        if (memory != nullptr)
            gfk_check(gfk_pinned_unregister(memory), "gfk_pinned_unregister");
        memory = nullptr;
    }
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
    gfk_check(gfk_calibrate(&desc, name, nullptr), "gfk_calibrate");
    made = true;
    std::atexit([] { std::remove(name); });
    return name;
}

gfk_pipeline_t open(const Library &library, const HostCase &c) {
    std::vector<int> devices(c.devices);
    for (size_t i = 0; i < devices.size(); i++)
        devices[i] = (int)i;
    gfk_pipeline_desc desc = GFK_PIPELINE_DESC_INIT;
    desc.path = c.path;
    desc.streams = c.streams;
    desc.threads = cpu_cores();
    if (c.devices > 1) {
        desc.devices = devices.data();
        desc.device_count = devices.size();
    }
    if (c.path == GFK_PATH_AUTO)
        desc.calibration_file = calibration_file();
    gfk_pipeline_t pipeline = nullptr;
    gfk_check(library.gfk_pipeline_create(&pipeline, &desc), "gfk_pipeline_create");
    return pipeline;
}

gfk_regions list(const std::vector<unsigned char *> &regions) {
    return {(void *const *)regions.data(), nullptr, 0};
}

// The regions are the bench's host memory.
class HostWork : public Work {
  public:
    HostWork(const Library &library, const HostCase &c) : library_(library), case_(c) {
        const auto [w, k, m] = c.shape;
        mix_.bytes = c.region_bytes();
        if (c.where == GFK_PAGEABLE)
            unpin();
        // At least what other rows with as much data need: pinned memory is pinned once.
        const size_t all = std::max(c.data, mix_.bytes * std::max(k, m));
        const HostBuffers buffers = host_buffers(all);
        if (c.where == GFK_PINNED)
            pin(buffers, all);
        for (size_t i = 0; i < k; i++)
            data_.push_back(buffers.src + i * mix_.bytes);
        for (size_t j = 0; j < m; j++)
            parity_.push_back(buffers.dst + j * mix_.bytes);
        const size_t lost = c.deed == Deed::Decode ? m : 0;
        for (size_t i = 0; i < lost; i++)
            lost_.push_back(i);
        mix_.in.assign(data_.begin() + (long)lost, data_.end());
        mix_.in.insert(mix_.in.end(), parity_.begin(), parity_.begin() + (long)lost);
        mix_.out.assign(lost ? data_.begin() : parity_.begin(),
                        lost ? data_.begin() + (long)lost : parity_.end());
    }
    ~HostWork() override {
        if (isal_ != nullptr)
            isal()->destroy(isal_);
        library_.gfk_pipeline_destroy(pipeline_);
        library_.gfk_rs_destroy(code_);
    }
    gfk_status start() override {
        const auto [w, k, m] = case_.shape;
        const gfk_field field = field_of(w);
        gfk_rs_desc desc = GFK_RS_DESC_INIT;
        desc.product.family = GFK_ENGINE_HOST; // only its matrix counts
        gfk_check(library_.gfk_rs_create(&code_, &field, k, m, &desc), "gfk_rs_create");
        matrix_.resize(k * m);
        gfk_check(library_.gfk_rs_get_matrix(code_, matrix_.data()), "gfk_rs_get_matrix");
        if (case_.deed == Deed::Multiply)
            matrix_ = {kConstant};
        pipeline_ = open(library_, case_);
        if (case_.deed == Deed::Decode)
            gfk_check(encode(), "gfk_rs_encode_host");
        remember_outputs();
        if (isal() != nullptr && w == 8)
            isal_ = isal()->create(isal(), (int)k, (int)m, matrix_.data());
        if (case_.path == GFK_PATH_AUTO && other_library() == nullptr)
            find_rival();
        poison();
        return call(); // buffers, products, pages
    }
    std::string check(bool) override {
        return failed_ || !right() || report_.device_status != GFK_STATUS_SUCCESS
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
    void describe(Fields *fields) const override {
        const double bytes = 1e-9 * (double)(mix_.bytes * case_.shape.k);
        const double rate = 1e6 * bytes / times_of(us_).median;
        fields->set("cpu_seconds", times_of(cpu_).median);
        fields->set("path_taken", gfk_path_name(report_.path));
        if (bounds_.empty())
            return;
        const double bound = bytes / times_of(bounds_).median;
        fields->set("bound", bound_name());
        fields->set("bound_GBps", bound);
        fields->set("percent_of_bound", 100 * rate / bound);
        char note[80];
        std::snprintf(note, sizeof note, "%.1f %% of %s", 100 * rate / bound, bound_name());
        fields->set("note", note);
#ifdef HAVE_CUDA
        if (case_.path == GFK_PATH_GPU && case_.where == GFK_PINNED)
            fields->set("kernel_GBps", 1e-9 * kernel_rate(case_.shape));
#endif
    }

  private:
    gfk_status encode() {
        const gfk_regions data = list(data_), parity = list(parity_);
        return library_.gfk_rs_encode_host(pipeline_, code_, &data, &parity, mix_.bytes, &report_);
    }
    gfk_status call() {
        if (case_.deed == Deed::Encode)
            return encode();
        const gfk_field field = field_of(case_.shape.w);
        if (case_.deed == Deed::Multiply)
            return library_.gfk_region_multiply_host(pipeline_, &field, kConstant, mix_.in[0],
                                                     mix_.out[0], mix_.bytes, GFK_SET, &report_);
        const gfk_regions data = list(data_), parity = list(parity_);
        return library_.gfk_rs_decode_host(pipeline_, code_, lost_.data(), lost_.size(), nullptr, 0,
                                           &data, &parity, mix_.bytes, &report_);
    }
    // By all cores: there are gigabytes of outputs, and device time is dear.
    void poison() const {
        const unsigned threads = cpu_cores();
        const Team::Job job = [&](unsigned t) {
            const auto [from, to] = slice_of(mix_.bytes, t, threads, 1);
            for (unsigned char *out : mix_.out)
                std::memset(out + from, 0xa5, to - from);
        };
        Team(threads).run(&job);
    }

    // ---- the first and the last bytes of every output ----------------------------------------
    void remember_outputs() {
        const size_t length = std::min(mix_.bytes, kChecked);
        for (size_t at : {size_t{0}, mix_.bytes - length})
            if (case_.deed == Deed::Decode)
                for (const unsigned char *out : mix_.out)
                    expected_.emplace_back(out + at, out + at + length);
            else
                add_reference(at, length);
    }
    void add_reference(size_t at, size_t length) {
        const gfk_field field = field_of(case_.shape.w);
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        gfk_product_t product = nullptr;
        desc.family = GFK_ENGINE_HOST;
        gfk_check(gfk_product_create(&product, &field, case_.shape.m, case_.shape.k, matrix_.data(),
                                     &desc),
                  "the reference");
        std::vector<unsigned char *> in, out;
        for (unsigned char *region : mix_.in)
            in.push_back(region + at);
        for (size_t j = 0; j < case_.shape.m; j++) {
            expected_.emplace_back(length);
            out.push_back(expected_.back().data());
        }
        const gfk_regions inputs = list(in), outputs = list(out);
        gfk_check(gfk_product_run(product, &inputs, &outputs, length, GFK_SET, nullptr, 0, nullptr),
                  "the reference");
        gfk_product_destroy(product);
    }
    bool right() const {
        const size_t length = std::min(mix_.bytes, kChecked), n = mix_.out.size();
        for (size_t i = 0; i < expected_.size(); i++)
            if (std::memcmp(mix_.out[i % n] + (i < n ? 0 : mix_.bytes - length),
                            expected_[i].data(), length) != 0)
                return false;
        return true;
    }

    // ---- what the row is measured against ----------------------------------------------------
    const char *bound_name() const {
        return case_.path == GFK_PATH_CPU    ? "ISA-L called directly"
               : case_.path == GFK_PATH_AUTO ? "the best of the other paths"
               : case_.where == GFK_PAGEABLE ? "a plain pageable copy"
                                             : "transfer only";
    }
    double bound_pass() { // seconds; 0: there is no bound
        if (case_.path == GFK_PATH_CPU)
            return isal_ ? isal_seconds() : 0;
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
    // One pass of ISA-L over the same regions, as many threads. Of a decoder's time the matrix does
    // not matter: it is the encoder's.
    double isal_seconds() {
        const unsigned threads = cpu_cores();
        const Team::Job job = [&](unsigned t) {
            const auto [from, to] = slice_of(mix_.bytes, t, threads, kUnit);
            for (size_t at = from; at < to; at += kLongest) {
                std::vector<unsigned char *> in, out;
                for (unsigned char *p : mix_.in)
                    in.push_back(p + at);
                for (unsigned char *p : mix_.out)
                    out.push_back(p + at);
                isal()->encode(isal_, in.data(), out.data(), std::min(kLongest, to - at));
            }
        };
        return Team(threads).run(&job);
    }
    // AUTO goes for the best of the others, as far as their rows were measured.
    void find_rival() {
        std::optional<HostCase> best;
        double rate = 0;
        for (gfk_path path : {GFK_PATH_CPU, GFK_PATH_GPU, GFK_PATH_BOTH}) {
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
        if (!best)
            return;
        rival_ = std::make_unique<HostWork>(library_, *best);
        gfk_check(rival_->start(), "another path");
    }

    const Library &library_;
    HostCase case_;
    Mix mix_;
    std::vector<unsigned char *> data_, parity_;
    std::vector<size_t> lost_;
    gfk_rs_t code_ = nullptr;
    gfk_pipeline_t pipeline_ = nullptr;
    std::vector<uint32_t> matrix_;
    std::vector<std::vector<unsigned char>> expected_; // two for each output
    void *isal_ = nullptr;
    std::unique_ptr<HostWork> rival_; // does what AUTO is measured against
    gfk_pipeline_report report_ = {}; // of the last call
    bool failed_ = false;
    std::vector<double> us_, bounds_, cpu_;
};

Row host_row(const HostCase &c) {
    Row row;
    row.name = c.name();
    row.facts = Fields("kind", "host", "operation", kDeeds[(int)c.deed], "where",
                       c.path == GFK_PATH_CPU ? "cpu" : "gpu", "id", c.id(), "w", c.shape.w, "k",
                       c.shape.k, "m", c.shape.m, "memory", c.memory(), "path",
                       gfk_path_name(c.path), "threads", cpu_cores(), "cold", true, "region_bytes",
                       c.region_bytes(), "nominal_bytes", c.data);
    if (c.path != GFK_PATH_CPU)
        row.facts.set("gpus", c.devices);
    if (c.streams != 0)
        row.facts.set("streams", c.streams);
    if (c.deed == Deed::Decode) {
        row.facts.set("lost", c.shape.m);
        row.facts.set("lost_kind", "data");
    }
    row.data_bytes = (double)(c.region_bytes() * c.shape.k);
    row.moved = (double)(c.shape.k + c.shape.m) / (double)c.shape.k;
    row.passes = kPasses;
    row.make = [=](const Library &library) { return std::make_unique<HostWork>(library, c); };
    return row;
}

// First all pageable ones, then those that have their memory pinned.
std::vector<HostCase> figures(const Options &options, int devices) {
    std::vector<HostCase> cases;
    const size_t data = options.size_or(8 * kGiB);
    const std::pair<Deed, Shape> calls[] = {
        {Deed::Encode, {8, 10, 4}}, {Deed::Decode, {8, 10, 4}}, {Deed::Multiply, {8, 1, 1}}};
    for (const auto &[deed, shape] : calls)
        if (options.host)
            cases.push_back({deed, shape, data});
    for (gfk_where where : {GFK_PAGEABLE, GFK_PINNED})
        for (const auto &[deed, shape] : calls)
            for (gfk_path path : {GFK_PATH_GPU, GFK_PATH_BOTH, GFK_PATH_AUTO})
                if (devices != 0)
                    cases.push_back({deed, shape, data, where, path});
    for (int n = 2; n <= devices; n *= 2)
        for (const auto &[deed, shape] : calls)
            cases.push_back({deed, shape, data, GFK_PINNED, GFK_PATH_GPU, 0, (size_t)n});
    return cases;
}

// Of 1.6 GB with k = 4, m = 2, and of 836.9 MB with 30 + 3.
std::vector<HostCase> streams(const Options &options, int devices) {
    std::vector<HostCase> cases;
    const std::pair<Shape, size_t> calls[] = {{{8, 4, 2}, 1600000000}, {{8, 30, 3}, 836900000}};
    for (gfk_where where : {GFK_PAGEABLE, GFK_PINNED})
        for (const auto &[shape, bytes] : calls)
            for (unsigned n : {1u, 2u, 4u, 8u, 16u})
                if (devices != 0)
                    cases.push_back(
                        {Deed::Encode, shape, options.size_or(bytes), where, GFK_PATH_GPU, n});
    return cases;
}

} // namespace

void add_host_rows(const Options &options, Rows *rows) {
    int devices = 0;
#ifdef HAVE_CUDA
    devices = options.device ? bus_devices() : 0;
#endif
    for (const HostCase &c :
         options.is("host") ? figures(options, devices) : streams(options, devices))
        rows->push_back(host_row(c));
}
