// SPDX-License-Identifier: BSD-3-Clause
// Network coding of host memory, the packets shared out to GPU and CPU by hand.
#include <cstring>
#include <thread>

#include "cases/cpu.h"
#include "nuclei/rows.h"

namespace {

struct SplitCase {
    size_t n, bytes, packets;
    unsigned percent; // of the packets for the GPU; above 100: each takes what it can
    std::string name() const {
        return "rlnc_encode_host/" + std::to_string(packets) + "x" + std::to_string(n) + "/" +
               size_text(bytes) + (percent > 100 ? "/both" : "/gpu=" + std::to_string(percent));
    }
};

struct SplitWork : Work {
    SplitWork(const Library &, const SplitCase &c) : case_(c) {
        const gfk_field field = field_of(8);
        gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
        desc.device = GFK_CPU; // only its vectors count
        GFK_CHECK(code_.make(gfk_rlnc_create, gfk_rlnc_destroy, &field, c.n, c.bytes, &desc));
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

void add_split(const SplitCase &c, Rows *rows) {
    Row row(c.name(), shape_facts("probe", "encode_host", c.percent ? "gpu" : "cpu",
                                  "rlnc_encode_host", {8, c.n, c.packets}));
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

void add_rlnc_split_rows(const Options &options, Rows *rows) {
    const size_t n = options.sizes.empty() ? 1024 : 32; // fewer for a test
    for (unsigned percent : {0u, 25u, 50u, 54u, 75u, 90u, 100u, 101u})
        if (percent == 0 || options.device)
            add_split({n, 2048, 7 * n, percent}, rows);
}
