// SPDX-License-Identifier: BSD-3-Clause
// Preset energy: what operations cost over two seconds, by their operands, above a board that sleeps.
#include "cases/cases.h"
#include "energy.h"

namespace {

constexpr uint64_t kOperandSeed = 7;
const char *const kSleep = "energy/sleep/random";

// Bits of the operands: how many are 1, and whether neighbouring operands differ.
enum class Bits { Random, Same, Half, Quarter, Ones, Zeros };
constexpr const char *kBits[] = {"random", "same", "half", "quarter", "ones", "zeros"};

// Same: 4 KiB again and again, so that a loop has the same operands each time. Half and quarter: of
// the bits of a word the same ones are always 0, in rows and columns.
void fill(char *p, size_t bytes, Bits bits) {
    const cudaStream_t stream = gpu().stream;
    fill_random(p, bytes, kOperandSeed, 0, stream);
    if (bits == Bits::Ones || bits == Bits::Zeros)
        GPU_CHECK(cudaMemsetAsync(p, bits == Bits::Ones ? 0xff : 0, bytes, stream));
    if (bits == Bits::Same)
        for (size_t at = 4 * kKiB; at < bytes; at += 4 * kKiB)
            GPU_CHECK(cudaMemcpyAsync(p + at, p, 4 * kKiB, cudaMemcpyDeviceToDevice, stream));
    if (bits != Bits::Half && bits != Bits::Quarter)
        return;
    std::vector<uint32_t> words(bytes / 4);
    GPU_CHECK(cudaMemcpyAsync(words.data(), p, bytes, cudaMemcpyDeviceToHost, stream));
    gpu_synchronize();
    for (uint32_t &word : words)
        word &= bits == Bits::Half ? 0x55555555 : 0x11111111;
    GPU_CHECK(cudaMemcpyAsync(p, words.data(), bytes, cudaMemcpyHostToDevice, stream));
    gpu_synchronize();
}

struct EnergyWork : DeviceWork {
    EnergyWork(const Library &, const EnergyProbe &probe, Bits bits) : probe_(probe), bits_(bits) {}
    gfk_status start() override {
        operands_ = (char *)gpu_slot(Slot::Inputs, probe_.bytes);
        fill(operands_, probe_.bytes, bits_);
        const double operations = run(probe_.rounds, gpu().stream);
        facts.add("operations", operations);
        return operations > 0 ? DeviceWork::start() : GFK_STATUS_NOT_SUPPORTED;
    }
    std::string check(bool) override {
        const uint32_t once = sum_of(1);
        const bool some = once != 0 || bits_ == Bits::Zeros;
        return some && sum_of(probe_.rounds) == probe_.rounds * once ? "" : "rounds were left out";
    }
    void launch(long, cudaStream_t stream) const override { run(probe_.rounds, stream); }
    long sets() const override { return 1; }
    void make_cold() const override {}

  private:
    double run(unsigned rounds, cudaStream_t stream) const {
        return probe_.run(operands_, rounds, device_object<uint32_t>(), stream);
    }
    uint32_t sum_of(unsigned rounds) const {
        auto *sum = device_object<uint32_t>();
        uint32_t found = 0;
        GPU_CHECK(cudaMemsetAsync(sum, 0, sizeof *sum, gpu().stream));
        run(rounds, gpu().stream);
        GPU_CHECK(cudaMemcpyAsync(&found, sum, sizeof found, cudaMemcpyDeviceToHost, gpu().stream));
        gpu_synchronize();
        return found;
    }
    const EnergyProbe &probe_;
    Bits bits_;
    char *operands_ = nullptr;
};

// Products of an engine. Light: the matrix has zeros and ones, whose bits are an eighth of the ones
// that random elements have. Zeros: the inputs.
constexpr Shape kShape = {8, 10, 4};
struct EnergyProduct : MatrixWork {
    EnergyProduct(const Library &library, const std::string &engine, const std::string &operands,
                  size_t data, uint64_t seed)
        : MatrixWork(8, {kShape.k, kShape.m, data / kShape.k / 512 * 512}, GFK_SET),
          library_(library), engine_(engine), operands_(operands) {
        matrix_ = matrix_of(kShape, false, seed);
        for (uint32_t &element : matrix_)
            element = operands == "light" ? element & 1 : element;
    }
    gfk_status start() override {
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.engine = engine_.c_str();
        desc.device = gpu().device;
        desc.compile = desc.sustained = 1;
        desc.bytes = layout_.bytes;
        const gfk_status status =
            make_product(library_, kShape, matrix_, desc, &product_, &workspace_bytes_, &facts);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        workspace_ = gpu_workspace(library_, workspace_bytes_);
        if (operands_ == "zeros")
            GPU_CHECK(cudaMemsetAsync(layout_.in(0), 0,
                                      layout_.stride() * kShape.k * (size_t)sets(), gpu().stream));
        facts.add("operations", layout_.bytes * kShape.k);
        return MatrixWork::start();
    }
    void launch(long j, cudaStream_t stream) const override {
        run(library_.gfk_product_run, product_, j, mode_, workspace_, workspace_bytes_, stream);
    }
    std::string tag() const override { return "energy/" + operands_; }

  private:
    const Library &library_;
    std::string engine_, operands_;
    Object<gfk_product_t> product_;
    void *workspace_ = nullptr;
    size_t workspace_bytes_ = 0;
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

bool is_measured(const EnergyProbe &probe, Bits bits) {
    const std::string id = probe.id;
    return bits == Bits::Random || id.find("mma_") == 0 || (bits == Bits::Zeros && id != "sleep");
}

} // namespace

void add_energy_rows(const Options &options, Rows *rows) {
    if (!options.is("energy"))
        return;
    for (const EnergyProbe &probe : energy_probes())
        for (Bits bits :
             {Bits::Random, Bits::Same, Bits::Half, Bits::Quarter, Bits::Ones, Bits::Zeros}) {
            Row row = energy_row(probe.id, probe.unit, kBits[(int)bits]);
            row.missing = [&probe] { return too_little_memory(probe.bytes); };
            row.make = [&probe, bits](const Library &library) -> std::unique_ptr<Work> {
                return std::make_unique<EnergyWork>(library, probe, bits);
            };
            if (is_measured(probe, bits))
                rows->push_back(row);
        }
    for (const std::string engine : {"xor_w8", "prmt_w8", "bmma_w8"})
        for (const std::string operands : {"random", "light", "zeros"}) {
            if (engine == "xor_w8" && operands == "light")
                continue; // another program
            Row row = energy_row(engine, "byte of data", operands);
            row.facts.add(engine_facts(engine));
            row.make =
                makes<EnergyProduct>(engine, operands, options.size_or(3 * kGiB), options.seed);
            rows->push_back(row);
        }
}
