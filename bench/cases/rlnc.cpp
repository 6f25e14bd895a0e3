// SPDX-License-Identifier: BSD-3-Clause
// Network coding in device memory. Every payload and every vector is compared: with vectors that the CPU
// makes, and sums by shifts.
#include <cstring>

#include "rlnc.h"

#include "core/device.h"

namespace {

constexpr uint64_t kSourceSeed = 30, kPoisonSeed = 31, kVectorSeed = 32;
constexpr int kPacketsPerPass = 32;

// The regions of a case, with gaps of less than 128 bytes, in as many sets as caches cannot hold.
class RlncRegions {
  public:
    explicit RlncRegions(const RlncCase &c) : case_(c) {
        const size_t footprint = 4 * (size_t)gpu().properties.l2CacheSize;
        sets_ = (long)std::min<size_t>(footprint / (in_bytes() + out_bytes()) + 1, 1024);
    }
    long sets() const { return sets_; }
    size_t in_bytes() const { return std::max<size_t>(case_.sources() * case_.stride(), 512); }
    size_t out_bytes() const { return std::max<size_t>(case_.outputs() * case_.stride(), 512); }
    size_t memory_needed() const { return (in_bytes() + 2 * out_bytes()) * (size_t)sets_; }
    char *in(long j) const {
        return (char *)gpu_slot(Slot::Inputs, 0) + in_bytes() * (size_t)(j % sets_);
    }
    char *out(long j) const {
        return (char *)gpu_slot(Slot::Outputs, 0) + out_bytes() * (size_t)(j % sets_);
    }
    void allocate() const {
        const size_t bytes = in_bytes() * (size_t)sets_;
        fill_random(gpu_slot(Slot::Inputs, bytes), bytes, kSourceSeed, 0, gpu().stream);
        gpu_slot(Slot::Outputs, out_bytes() * (size_t)sets_);
        gpu_slot(Slot::Expected, out_bytes());
    }

  private:
    RlncCase case_;
    long sets_;
};

// `count` sums of `n` regions; sums and regions are as long, a multiple of 16 bytes.
void combine(const RlncCase &c, const char *rows, size_t count, const char *in, size_t in_stride,
             char *out, size_t out_stride, size_t bytes) {
    combine_by_shifts({rows, c.row_bytes(), in, in_stride, out, out_stride, bytes, (unsigned)c.n,
                       (unsigned)count, c.w,
                       (uint32_t)(field_of(c.w).polynomial ^ UINT64_C(1) << c.w)},
                      gpu().stream);
}

// Vectors, encoders, recoders, and the product that encoders stand beside.
struct RlncWork : DeviceWork {
    RlncWork(const Library &library, const RlncCase &c)
        : library_(library), case_(c), regions_(c) {}
    gfk_status start() override {
        regions_.allocate();
        desc_.kernel = named_matmul(case_.w);
        const gfk_field field = field_of(case_.w);
        const gfk_rlnc_range range = case_.range();
        const gfk_status status = make_rlnc(library_, case_, case_.n, true, 0, &code_);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        if (case_.operation == RlncCase::Matmul)
            GFK_CHECK(library_.gfk_matmul_workspace(&field, case_.packets, case_.n, case_.bytes,
                                                    &desc_, &space_));
        else if (case_.operation == RlncCase::Recode)
            GFK_CHECK(library_.gfk_rlnc_recode_workspace(code_, &range, case_.n, &space_));
        else
            GFK_CHECK(library_.gfk_rlnc_encode_workspace(code_, &range, &space_));
        workspace_ = gpu_workspace(library_, space_);
        facts.add("workspace_bytes", space_);
        // Rows that a call reads, rows that a call writes, and the rows that are expected.
        const size_t read = case_.sources() * case_.row_bytes();
        const size_t made = case_.outputs() * case_.row_bytes();
        read_ = (char *)gpu_slot(Slot::Kept, read + 2 * made + 1024);
        made_ = read_ + (read + 511) / 512 * 512;
        rows_ = made_ + (made + 511) / 512 * 512;
        fill_random(read_, read / 32 * 32, kVectorSeed, 0, gpu().stream);
        const std::vector<unsigned char> rows = rlnc_rows(case_);
        GPU_CHECK(cudaMemcpy(rows_, rows.data(), rows.size(), cudaMemcpyHostToDevice));
        return DeviceWork::start();
    }
    void launch(long j, cudaStream_t stream) const override {
        const gfk_rlnc_range range = case_.range();
        const gfk_regions in = {nullptr, regions_.in(j), case_.stride()};
        const gfk_regions out = {nullptr, regions_.out(j), case_.stride()};
        const gfk_field field = field_of(case_.w);
        const gfk_matrix a = GFK_MATRIX_DENSE_INIT(rows_, case_.packets, case_.n, case_.n);
        switch (case_.operation) {
        case RlncCase::Vectors:
            return GFK_CHECK(library_.gfk_rlnc_vectors(code_, &range, made_, case_.n, stream));
        case RlncCase::Matmul:
            return GFK_CHECK(library_.gfk_matmul(&field, &a, &in, &out, case_.bytes, GFK_SET,
                                                 &desc_, workspace_, space_, stream));
        case RlncCase::Recode:
            return GFK_CHECK(library_.gfk_rlnc_recode(code_, &range, kRecodeSeed, case_.n, read_,
                                                      case_.n, &in, made_, case_.n, &out,
                                                      workspace_, space_, stream));
        default:
            return GFK_CHECK(library_.gfk_rlnc_encode(code_, &range, &in, &out, nullptr, 0,
                                                      workspace_, space_, stream));
        }
    }
    std::string check(bool after) override {
        const size_t stride = case_.stride(), bytes = (case_.bytes + 15) / 16 * 16;
        const size_t made = case_.outputs() * case_.row_bytes();
        if (!after) {
            const size_t all = regions_.out_bytes() * (size_t)sets();
            fill_random(regions_.out(0), all, kPoisonSeed, 0, gpu().stream);
            fill_random(made_, made / 32 * 32, kPoisonSeed, 0, gpu().stream);
            for (long j = 0; j < sets(); j++)
                launch(j, gpu().stream);
        }
        Checker checker;
        char *const expected = (char *)gpu_slot(Slot::Expected, 0);
        if (case_.operation == RlncCase::Vectors) {
            checker.check(rows_, made_, made, 0);
        } else if (case_.operation == RlncCase::Recode) {
            char *const sums = (char *)gpu_slot(Slot::Sums, made);
            const size_t row = case_.row_bytes();
            for (size_t g = 0; g < case_.generations; g++)
                combine(case_, rows_ + g * case_.packets * row, case_.packets,
                        read_ + g * case_.n * row, row, sums + g * case_.packets * row, row, row);
            checker.check(sums, made_, made, 0);
        }
        for (long j = 0; j < sets() && case_.bytes != 0; j++) {
            for (size_t g = 0; g < case_.generations; g++)
                combine(case_, rows_ + g * case_.packets * case_.row_bytes(), case_.packets,
                        regions_.in(j) + g * case_.n * stride, stride,
                        expected + g * case_.packets * stride, stride, bytes);
            // Gaps are not compared.
            if (stride > case_.bytes)
                GPU_CHECK(cudaMemcpy2DAsync(
                    expected + case_.bytes, stride, regions_.out(j) + case_.bytes, stride,
                    stride - case_.bytes, case_.outputs(), cudaMemcpyDeviceToDevice, gpu().stream));
            checker.check(expected, regions_.out(j), case_.outputs() * stride, j);
        }
        return checker.verdict();
    }
    long sets() const override { return regions_.sets(); }
    void make_cold() const override { flush_cache(); }

  protected:
    gfk_matmul_desc desc_ = GFK_MATMUL_DESC_INIT;
    const Library &library_;
    RlncCase case_;
    RlncRegions regions_;
    Object<gfk_rlnc_t> code_;
    char *read_ = nullptr, *made_ = nullptr, *rows_ = nullptr;
    void *workspace_ = nullptr;
    size_t space_ = 0;
};

// One packet: a call, and the wait for its end, as a caller sees them.
struct PacketWork : RlncWork {
    using RlncWork::RlncWork;
    void warm_up() override { pass(0); }
    double pass(long) override {
        gpu_synchronize();
        const Stopwatch watch;
        for (int i = 0; i < kPacketsPerPass; i++) {
            launch(i, gpu().stream);
            gpu_synchronize();
        }
        return watch.us() / kPacketsPerPass;
    }
    Sustained sustain() override { return {}; }
};

// From packets in device memory to the sources. A decoder takes no new packets once it has all, so each
// pass has a new one, which is made before the clock starts.
struct DecodeWork : RlncWork {
    using RlncWork::RlncWork;
    gfk_status start() override {
        const gfk_status status = RlncWork::start(); // the payloads
        decoded_ = (char *)gpu_slot(Slot::Expected, regions_.in_bytes());
        headers_ = case_.headers();
        return status;
    }
    std::string check(bool after) override {
        const std::string wrong = after ? "" : RlncWork::check(false);
        if (!wrong.empty())
            return wrong;
        const size_t stride = case_.stride(), all = case_.sources() * stride;
        decoded_ = (char *)gpu_slot(Slot::Expected, regions_.in_bytes());
        fill_random(decoded_, all, kPoisonSeed, 0, gpu().stream);
        pass(0);
        if (stride > case_.bytes)
            GPU_CHECK(cudaMemcpy2DAsync(decoded_ + case_.bytes, stride,
                                        regions_.in(0) + case_.bytes, stride, stride - case_.bytes,
                                        case_.sources(), cudaMemcpyDeviceToDevice, gpu().stream));
        Checker checker;
        checker.check(regions_.in(0), decoded_, all, 0);
        return checker.verdict();
    }
    void warm_up() override { pass(0); }
    double pass(long) override {
        Object<gfk_rlnc_decoder_t> decoder;
        const gfk_rlnc_range range = case_.range();
        GFK_CHECK(decoder.make(library_.gfk_rlnc_decoder_create, library_.gfk_rlnc_decoder_destroy,
                               code_, range.generation, range.generations, size_t{0}));
        flush_cache();
        gpu_synchronize();
        const Stopwatch watch;
        GFK_CHECK(decode_packets(library_, case_, decoder, headers_, regions_.out(0), decoded_,
                                 gpu().stream));
        return watch.us();
    }
    Sustained sustain() override { return {}; }

  private:
    char *decoded_ = nullptr;
    std::vector<gfk_rlnc_header> headers_;
};

// What a row is compared with: the product of its shape, or the encode of its generations.
std::string other_of(RlncCase c) {
    if (c.decodes()) {
        c.operation = RlncCase::Encode;
        c.packets = c.n;
        return c.name();
    }
    c.operation = c.operation == RlncCase::Recode ? RlncCase::Encode : RlncCase::Matmul;
    return c.name();
}

} // namespace

void add_rlnc_rows(const Options &options, Rows *rows) {
    name_matmuls(options);
    rlnc_rows(rlnc_cases(options), rows);
}

void rlnc_rows(const std::vector<RlncCase> &cases, Rows *rows) {
    for (const RlncCase &c : cases) {
        Row row = rlnc_row(c, c.id(), "gpu", 0);
        if (named_matmul(c.w) != nullptr)
            row.facts.add("family", std::strchr(named_matmul(c.w), '/') + 1);
        row.passes = c.operation == RlncCase::Packet ? 31 : 9;
        row.missing = [=] { return too_little_memory(RlncRegions(c).memory_needed()); };
        row.make = makes<RlncWork>(c);
        if (c.operation == RlncCase::Packet)
            row.make = makes<PacketWork>(c);
        if (c.decodes())
            row.make = makes<DecodeWork>(c);
        const bool has_other = c.operation == RlncCase::Decode || c.operation == RlncCase::Recode ||
                               (c.operation == RlncCase::Encode && c.packets > c.n);
        if (has_other)
            row.finish = percent_of(other_of(c));
        rows->push_back(row);
    }
}
