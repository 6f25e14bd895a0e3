// SPDX-License-Identifier: BSD-3-Clause
// Rows of random linear network coding by the library: coding vectors, encode, decode, and encode of
// host memory shared between CPU and GPU. On a GPU and on the CPU.
#include <cstring>
#include <random>
#include <thread>

#include "cases/cpu.h"
#ifdef HAVE_CUDA
#include "core/device.h"
#endif

namespace {

struct RlncCase {
    enum Operation { Vectors, Encode, Progressive, Batched } operation;
    bool device;
    size_t n, bytes, packets;

    bool decodes() const { return operation >= Progressive; }
    std::string name() const {
        static const char *const names[] = {"vectors", "encode", "decode_progressive",
                                            "decode_batched"};
        return std::string("rlnc_") + names[operation] + (device ? "" : "_cpu") + "/" +
               std::to_string(packets) + "x" + std::to_string(n) + "/" + size_text(bytes);
    }
};

// Memory of the case's place. The library sees addresses, whatever the place.
class Memory {
  public:
    Memory(bool device, size_t bytes) : bytes_(bytes) {
#ifdef HAVE_CUDA
        if (device) {
            GPU_CHECK(cudaMalloc((void **)&p_, bytes_));
            fill_random(p_, bytes_ / 32 * 32, 3, 0, gpu().stream);
            gpu_synchronize();
            return;
        }
#endif
        host_.resize(bytes / 8 + 1 + (device ? 1 : 0));
        p_ = (unsigned char *)host_.data();
        std::mt19937_64 random(3);
        for (uint64_t &word : host_)
            word = random();
    }
    ~Memory() {
#ifdef HAVE_CUDA
        if (host_.empty())
            GPU_CHECK(cudaFree(p_));
#endif
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    unsigned char *at() const { return p_; }
    std::vector<unsigned char> copy() const {
        std::vector<unsigned char> bytes(bytes_);
#ifdef HAVE_CUDA
        if (host_.empty()) {
            GPU_CHECK(
                cudaMemcpyAsync(bytes.data(), p_, bytes_, cudaMemcpyDeviceToHost, gpu().stream));
            gpu_synchronize();
            return bytes;
        }
#endif
        std::memcpy(bytes.data(), p_, bytes_);
        return bytes;
    }

  private:
    size_t bytes_;
    unsigned char *p_ = nullptr;
    std::vector<uint64_t> host_;
};

gfk_stream_t stream_of(bool device) {
#ifdef HAVE_CUDA
    if (device)
        return gpu().stream;
#endif
    return device ? nullptr : nullptr;
}

Object<gfk_rlnc_t> code_of(size_t n, size_t bytes, bool device) {
    const gfk_field field = field_of(8);
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    desc.device = device ? GFK_CURRENT_DEVICE : GFK_CPU;
    desc.threads = cpu_cores();
    Object<gfk_rlnc_t> code;
    GFK_CHECK(code.make(gfk_rlnc_create, gfk_rlnc_destroy, &field, n, bytes, &desc));
    return code;
}

struct RlncWork : Work {
    RlncWork(const Library &, const RlncCase &c)
        : case_(c), range_{0, 1, 0, c.packets}, code_(code_of(c.n, c.bytes, c.device)),
          stream_(stream_of(c.device)), sources_(c.device, c.n * c.bytes),
          decoded_(c.device, c.n * c.bytes), payloads_(c.device, c.packets * c.bytes),
          vectors_(c.device, c.packets * c.n) {
        GFK_CHECK(gfk_rlnc_encode_workspace(code_, &range_, &workspace_bytes_));
        workspace_ = std::make_unique<Memory>(c.device, workspace_bytes_ + 256);
        for (uint32_t i = 0; i < c.packets; i++)
            headers_.push_back({0, i, 0});
    }
    gfk_status start() override {
        encode();
        run();
        return GFK_STATUS_SUCCESS;
    }
    void warm_up() override { run(); }
    double pass(long) override { return run(); }
    // Vectors: those that the CPU makes. Payloads: their vectors times the sources, three of them
    // byte by byte. Decoded sources: the sources.
    std::string check(bool) override {
        if (case_.decodes())
            return decoded_.copy() == sources_.copy() ? "" : "other sources were decoded";
        const auto own = code_of(case_.n, case_.bytes, false);
        std::vector<unsigned char> expected(case_.packets * case_.n), found = vectors_.copy();
        GFK_CHECK(gfk_rlnc_vectors(own, &range_, expected.data(), case_.n, nullptr));
        if (case_.operation == RlncCase::Encode && found == expected)
            return check_payloads(expected);
        return found == expected ? "" : "other coding vectors than the CPU's";
    }

  private:
    double run() {
        sync();
        return case_.decodes() ? decode() : repeat();
    }
    void sync() const {
#ifdef HAVE_CUDA
        if (case_.device)
            gpu_synchronize();
#endif
    }
    // On a device several calls one behind the other.
    double repeat() const {
        const int calls = case_.device ? 20 : 1;
        const Stopwatch watch;
        for (int i = 0; i < calls; i++)
            if (case_.operation == RlncCase::Vectors)
                GFK_CHECK(gfk_rlnc_vectors(code_, &range_, vectors_.at(), case_.n, stream_));
            else
                encode();
        sync();
        return watch.us() / calls;
    }
    void encode() const {
        const gfk_regions in = {nullptr, sources_.at(), case_.bytes};
        const gfk_regions out = {nullptr, payloads_.at(), case_.bytes};
        auto *workspace = (unsigned char *)(((uintptr_t)workspace_->at() + 255) / 256 * 256);
        GFK_CHECK(gfk_rlnc_encode(code_, &range_, &in, &out, vectors_.at(), case_.n, workspace,
                                  workspace_bytes_, stream_));
    }
    // From the first packet to the last source.
    double decode() const {
        Object<gfk_rlnc_decoder_t> decoder;
        GFK_CHECK(decoder.make(gfk_rlnc_decoder_create, gfk_rlnc_decoder_destroy, (gfk_rlnc_t)code_,
                               (uint64_t)0, (size_t)1, (size_t)0));
        const size_t step = case_.operation == RlncCase::Progressive ? 1 : case_.packets;
        const gfk_regions out = {nullptr, decoded_.at(), case_.bytes};
        gfk_rlnc_record record;
        sync();
        const Stopwatch watch;
        for (size_t i = 0; i < case_.packets; i += step) {
            const gfk_regions in = {nullptr, payloads_.at() + i * case_.bytes, case_.bytes};
            GFK_CHECK(gfk_rlnc_decoder_add(decoder, &headers_[i], step, nullptr, 0, &in, nullptr,
                                           stream_));
        }
        GFK_CHECK(gfk_rlnc_decoder_decode(decoder, &out, nullptr, stream_));
        GFK_CHECK(gfk_rlnc_decoder_wait(decoder, stream_, 0, 1, &record));
        return watch.us();
    }
    std::string check_payloads(const std::vector<unsigned char> &vectors) const {
        const std::vector<unsigned char> sources = sources_.copy(), payloads = payloads_.copy();
        const gfk_field field = field_of(8);
        for (size_t j : {size_t{0}, case_.packets / 2, case_.packets - 1}) {
            std::vector<unsigned char> sum(case_.bytes);
            for (size_t i = 0; i < case_.n; i++) {
                unsigned char products[256];
                for (uint32_t x = 0; x < 256; x++) {
                    uint32_t product = 0;
                    GFK_CHECK(gfk_field_multiply(&field, vectors[j * case_.n + i], x, &product));
                    products[x] = (unsigned char)product;
                }
                for (size_t b = 0; b < case_.bytes; b++)
                    sum[b] ^= products[sources[i * case_.bytes + b]];
            }
            if (std::memcmp(sum.data(), payloads.data() + j * case_.bytes, case_.bytes) != 0)
                return "payload " + std::to_string(j) + " is wrong";
        }
        return "";
    }

    RlncCase case_;
    gfk_rlnc_range range_;
    Object<gfk_rlnc_t> code_;
    gfk_stream_t stream_;
    Memory sources_, decoded_, payloads_, vectors_;
    size_t workspace_bytes_ = 0;
    std::unique_ptr<Memory> workspace_;
    std::vector<gfk_rlnc_header> headers_;
};

// ---- both processors -------------------------------------------------------------------------
struct SplitCase {
    size_t n, bytes, packets;
    unsigned percent; // of the packets for the GPU; above 100: each takes what it can
    std::string name() const {
        return "rlnc_encode_host/" + std::to_string(packets) + "x" + std::to_string(n) + "/" +
               size_text(bytes) + (percent > 100 ? "/both" : "/gpu=" + std::to_string(percent));
    }
};

struct SplitWork : Work {
    SplitWork(const Library &, const SplitCase &c) : case_(c), code_(code_of(c.n, c.bytes, false)) {
        const size_t all = std::max(c.n, c.packets) * c.bytes;
        const HostBuffers buffers = host_buffers(all);
#ifdef HAVE_CUDA
        if (c.percent > 0)
            pin({buffers.src, buffers.dst}, all);
#endif
        sources_ = regions_at(buffers.src, c.n, c.bytes);
        payloads_ = regions_at(buffers.dst, c.packets, c.bytes);
        open(c.percent > 100 ? GFK_PATH_BOTH : GFK_PATH_GPU, c.percent > 0, &gpu_);
        open(GFK_PATH_CPU, true, &cpu_);
    }
    gfk_status start() override {
        encode(cpu_, 0, case_.packets);
        for (const unsigned char *payload : payloads_)
            expected_.insert(expected_.end(), payload, payload + case_.bytes);
        pass(0);
        return GFK_STATUS_SUCCESS;
    }
    void warm_up() override {}
    double pass(long) override {
        for (unsigned char *payload : payloads_)
            std::memset(payload, 0xa5, case_.bytes);
        const unsigned percent = std::min(case_.percent, 100u);
        const size_t first = case_.packets * percent / 100;
        const Stopwatch watch;
        std::thread other([&] { encode(gpu_, 0, first); });
        encode(cpu_, first, case_.packets - first);
        other.join();
        return watch.us();
    }
    // The same bytes, whatever the share.
    std::string check(bool) override {
        for (size_t j = 0; j < case_.packets; j++)
            if (std::memcmp(payloads_[j], &expected_[j * case_.bytes], case_.bytes) != 0)
                return "packet " + std::to_string(j) + " has other bytes than on the CPU";
        return "";
    }

  private:
    static void open(gfk_path path, bool needed, Object<gfk_pipeline_t> *pipeline) {
        gfk_pipeline_desc desc = GFK_PIPELINE_DESC_INIT;
        desc.path = path;
        desc.threads = cpu_cores();
        if (needed)
            GFK_CHECK(pipeline->make(gfk_pipeline_create, gfk_pipeline_destroy, &desc));
    }
    void encode(gfk_pipeline_t pipeline, size_t first, size_t count) const {
        if (count == 0)
            return;
        const gfk_regions in = list_of(sources_);
        const gfk_regions out = {nullptr, payloads_[first], case_.bytes};
        GFK_CHECK(
            gfk_rlnc_encode_host(pipeline, code_, 0, (uint32_t)first, count, &in, &out, nullptr));
    }

    SplitCase case_;
    Object<gfk_rlnc_t> code_;
    Object<gfk_pipeline_t> gpu_, cpu_;
    Regions sources_, payloads_;
    std::vector<unsigned char> expected_;
};

Fields facts_of(const std::string &name, const char *where, size_t n, size_t packets) {
    const std::string id = name.substr(0, name.find('/'));
    return shape_facts("probe", id.substr(5), where, id, {8, n, packets});
}

void add(const RlncCase &c, Rows *rows) {
    Row row(c.name(), facts_of(c.name(), c.device ? "gpu" : "cpu", c.n, c.packets));
    const size_t bytes = c.operation == RlncCase::Vectors ? c.n * c.packets
                         : c.decodes()                    ? c.n * c.bytes
                                                          : c.packets * c.bytes;
    row.facts.add("region_bytes", c.bytes, "nominal_bytes", bytes, "threads",
                  when(!c.device, cpu_cores()), "counted", c.decodes() ? "inputs" : "outputs");
    row.data_bytes = (double)bytes;
    row.passes = 3;
    row.compared = false;
    row.make = makes<RlncWork>(c);
    rows->push_back(row);
}

void add_split(const SplitCase &c, Rows *rows) {
    Row row(c.name(), facts_of(c.name(), c.percent ? "gpu" : "cpu", c.n, c.packets));
    row.facts.add("region_bytes", c.bytes, "nominal_bytes", c.packets * c.bytes, "memory",
                  c.percent ? "pinned" : "pageable", "threads", cpu_cores(), "gpu_percent",
                  when(c.percent <= 100, c.percent), "path",
                  c.percent == 0     ? "cpu"
                  : c.percent == 100 ? "gpu"
                                     : "both",
                  "counted", "outputs");
    row.data_bytes = (double)(c.packets * c.bytes);
    row.passes = 3;
    row.compared = false;
    row.make = makes<SplitWork>(c);
    rows->push_back(row);
}

} // namespace

void add_nuclei_rows(const Options &options, Rows *rows) {
    if (!options.is("nuclei"))
        return;
    const bool small = !options.sizes.empty(); // for a test
    const size_t packets = small ? 160 : 7168, n = small ? 32 : 1024;
    for (bool device : {true, false}) {
        if (!(device ? options.device : options.host))
            continue;
        add({RlncCase::Vectors, device, n, 2048, packets}, rows);
        add({RlncCase::Encode, device, n, 2048, packets}, rows);
        for (RlncCase::Operation operation : {RlncCase::Progressive, RlncCase::Batched})
            for (const auto &[sources, bytes] :
                 {std::pair<size_t, size_t>{128, 4096}, {1024, 2048}})
                if (!small || sources == 128)
                    add({operation, device, sources, bytes, sources + 4}, rows);
    }
    for (unsigned percent : {0u, 25u, 50u, 54u, 75u, 90u, 100u, 101u})
        if (options.host && (percent == 0 || options.device))
            add_split({n, 2048, packets, percent}, rows);
}
