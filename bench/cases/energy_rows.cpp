// SPDX-License-Identifier: BSD-3-Clause
// Preset energy: what operations cost over two seconds, by their operands, above a board that sleeps.
#include "cases.h"
#include "energy.h"

namespace {

constexpr uint64_t kOperandSeed = 7;
const char *const kSleep = "energy/sleep/random";

// Operands of MMAs that are zeros in part, as kernels of w = 8 leave them (fragment_ring.h): which bytes
// of words 0 and 1 and of words 2 and 3 of the matrix's vectors are there, that is, which inputs; and
// whether the matrix is zero beside two blocks of half of the depth and half of the columns.
const struct Idle {
    const char *operands;
    uint32_t low, high;
    bool diagonal;
} kIdle[] = {
    {"half", 0xffff, 0xffff, false},
    {"quarter", 0xff, 0xff, false},
    {"diagonal", 0xffffffff, 0xffffffff, true},
    {"ring_12x4", 0xffffff, 0xffff, true}, // 10 inputs
    {"zero_matrix", 0, 0, false},
};

struct EnergyWork : LoopWork {
    EnergyWork(const Library &, const EnergyProbe &probe, const std::string &operands)
        : LoopWork(probe.run, probe.rounds), bytes_(probe.bytes), operands_(operands) {}
    gfk_status start() override {
        const cudaStream_t stream = gpu().stream;
        char *p = allocate(bytes_, kOperandSeed);
        if (operands_ == "ones" || operands_ == "zeros")
            GPU_CHECK(cudaMemsetAsync(p, operands_ == "ones" ? 0xff : 0, bytes_, stream));
        if (operands_ == "zero_data")
            GPU_CHECK(cudaMemsetAsync(p, 0, bytes_ / 2, stream));
        for (size_t at = kPeriod; operands_ == "same" && at < bytes_; at += kPeriod)
            GPU_CHECK(cudaMemcpyAsync(p + at, p, kPeriod, cudaMemcpyDeviceToDevice, stream));
        for (const Idle &idle : kIdle)
            if (operands_ == idle.operands)
                leave_idle(p + bytes_ / 2, idle);
        return start_loop("operations");
    }

  private:
    static constexpr size_t kPeriod = 2 * kKiB; // all that one MMA has of the matrix
    bool is_zero() const override { return operands_.rfind("zero", 0) == 0; }
    void leave_idle(char *matrix, const Idle &idle) const {
        std::vector<uint32_t> words(bytes_ / 8);
        GPU_CHECK(cudaMemcpyAsync(words.data(), matrix, bytes_ / 2, cudaMemcpyDeviceToHost,
                                  gpu().stream));
        gpu_synchronize();
        for (size_t i = 0; i < words.size(); i++) {
            const bool beside = idle.diagonal && i / 32 % 2 != i / 256 % 2;
            words[i] &= beside ? 0 : i % 4 < 2 ? idle.low : idle.high;
        }
        GPU_CHECK(cudaMemcpyAsync(matrix, words.data(), bytes_ / 2, cudaMemcpyHostToDevice,
                                  gpu().stream));
        gpu_synchronize();
    }

    size_t bytes_;
    std::string operands_;
};

Row energy_row(const std::string &id, const char *unit, const std::string &operands) {
    Row row("energy/" + id + "/" + operands,
            Fields("kind", "energy", "operation", id, "where", "gpu", "id", id, "w", 8, "unit",
                   unit, "operands", operands));
    row.passes = 3;
    row.sustained = true;
    row.compared = false;
    row.finish = [](Result *r) {
        Fields &f = r->fields;
        const double us = f.number("sustained_time_us"), watts = f.number("sustained_watts");
        if (us == 0 || watts == 0)
            return;
        const double operations = f.number("operations");
        f.add("toperations_per_s", operations / us / 1e6, "pJ", watts * us * 1e6 / operations);
        if (const Result *asleep = find_result(kSleep))
            f.set("pJ_above_sleep",
                  (watts - asleep->fields.number("sustained_watts")) * us * 1e6 / operations);
    };
    return row;
}

} // namespace

void add_energy_rows(const Options &options, Rows *rows) {
    if (!options.is("energy"))
        return;
    for (const EnergyProbe &probe : energy_probes())
        for (const std::string &operands : probe.operands) {
            Row row = energy_row(probe.id, probe.unit, operands);
            row.missing = [&probe] { return too_little_memory(probe.bytes); };
            row.make = makes<EnergyWork>(probe, operands);
            rows->push_back(row);
        }
    for (const std::string engine : {"xor_w8", "prmt_w8", "bmma_w8"})
        for (const std::string operands : {"random", "light", "zeros"}) {
            if (engine == "xor_w8" && operands == "light")
                continue; // another program
            ProductCase c = {{8, 10, 4}, options.size_or(3 * kGiB), Way::Engine, engine};
            c.sustained = true;
            c.operands = operands;
            Row row = energy_row(engine, "byte of data", operands);
            row.facts.add(engine_facts(engine));
            row.facts.add("operations", c.region_bytes() * c.shape.k);
            const Row product = product_row(c, options.seed);
            row.missing = product.missing;
            row.make = product.make;
            rows->push_back(row);
        }
}
