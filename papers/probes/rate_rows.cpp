// SPDX-License-Identifier: BSD-3-Clause
// Rows of multiplications in registers.
#include "multiply.h"
#include "probes/rows.h"

namespace {

// The published benchmark: 7168 x 1024 x 2048 bytes, four at a time.
constexpr uint64_t kPublishedWords = (uint64_t)7168 * 1024 * 2048 / 4;

struct RateWork : DeviceWork {
    RateWork(const Library &, const RateProbe &probe, uint64_t words) : probe_(probe) {
        blocks_ = 2048 / kRateThreads * (unsigned)gpu().properties.multiProcessorCount;
        rounds_ = (unsigned)((words + threads() - 1) / threads() + 7) / 8 * 8;
    }
    size_t threads() const { return (size_t)blocks_ * kRateThreads; }
    gfk_status start() override {
        std::vector<uint8_t> tables(probe_.table_bytes);
        probe_.fill(tables.data());
        tables_ = (char *)gpu_slot(Slot::Kept, tables.size());
        GPU_CHECK(cudaMemcpyAsync(tables_, tables.data(), tables.size(), cudaMemcpyHostToDevice,
                                  gpu().stream));
        out_ = (uint32_t *)gpu_slot(Slot::Outputs, threads() * 4 * 8);
        return DeviceWork::start();
    }
    double data_bytes() const override { return 4.0 * (double)threads() * rounds_; }
    void launch(long, cudaStream_t stream) const override { run(probe_, stream); }
    long sets() const override { return 1; }
    void make_cold() const override {}

    // The sum of the products is the product of the sum, which the probe without products gives.
    std::string check(bool after) override {
        if (!after) {
            fill_random(out_, threads() * 32, 4, 0, gpu().stream);
            launch(0, gpu().stream);
        }
        const std::vector<uint32_t> found = outputs();
        for (const RateProbe &other : rate_probes())
            if (other.identity && other.words == probe_.words)
                run(other, gpu().stream);
        const std::vector<uint32_t> sums = outputs();
        launch(0, gpu().stream); // the outputs again
        const size_t words = probe_.words;
        for (size_t i = 0; i < sums.size(); i++) {
            uint32_t expected = 0;
            for (unsigned bit = 0; bit < 8 && probe_.sliced; bit++)
                if (multiply_byte(kRateConstant, 1u << bit) >> (i % words) & 1)
                    expected ^= sums[i / words * words + bit];
            for (unsigned byte = 0; byte < 32 && !probe_.sliced; byte += 8)
                expected |= multiply_byte(kRateConstant, sums[i] >> byte & 255) << byte;
            if (found[i] != (probe_.identity ? sums[i] : expected))
                return "thread " + std::to_string(i / words) + " has another product";
        }
        return "";
    }

  private:
    void run(const RateProbe &probe, cudaStream_t stream) const {
        probe.run((const uint8_t *)tables_, kRateConstant, rounds_, out_, blocks_, stream);
    }
    std::vector<uint32_t> outputs() const {
        std::vector<uint32_t> words(threads() * probe_.words);
        GPU_CHECK(cudaMemcpyAsync(words.data(), out_, 4 * words.size(), cudaMemcpyDeviceToHost,
                                  gpu().stream));
        gpu_synchronize();
        return words;
    }

    const RateProbe &probe_;
    unsigned blocks_, rounds_;
    char *tables_ = nullptr;
    uint32_t *out_ = nullptr;
};

} // namespace

void add_rate_rows(const Options &options, Rows *rows) {
    const uint64_t words = options.sizes.empty() ? kPublishedWords : options.sizes[0] / 4;
    for (const RateProbe &probe : rate_probes()) {
        Row row("probe_rate/" + probe.id, Fields("kind", "probe", "operation", "multiply", "where",
                                                 "gpu", "id", "rate_" + probe.id, "w", 8));
        row.facts.add("constants", "fixed", "constant", kRateConstant, "table_bytes",
                      probe.table_bytes, "words", probe.words);
        row.passes = 3;
        row.compared = false;
        row.make = [&probe, words](const Library &library) -> std::unique_ptr<Work> {
            return std::make_unique<RateWork>(library, probe, words);
        };
        row.finish = [](Result *r) {
            Fields &f = r->fields;
            const double clocks = f.number("time_us_median") * f.number("sm_MHz") *
                                  gpu().properties.multiProcessorCount;
            f.set("symbols_per_clock", f.number("data_bytes") / clocks);
        };
        rows->push_back(row);
    }
}
