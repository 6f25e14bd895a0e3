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

// Vectors, encoders, recoders, and the product that encoders stand beside.
struct RlncWork : DeviceWork {
    RlncWork(const Library &library, const RlncCase &c)
        : library_(library), case_(c), calls_(library, c), regions_(c) {}
    gfk_status start() override {
        regions_.allocate();
        calls_.desc.kernel = named_matmul(case_.w);
        const gfk_status status = make_rlnc(library_, case_, case_.n, true, 0, &calls_.code);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        calls_.space = gpu_workspace(library_, calls_.workspace());
        facts.add("workspace_bytes", calls_.bytes);
        // Rows that a call reads, rows that a call writes, and the rows that are expected.
        const size_t read = case_.sources() * case_.row_bytes();
        const size_t made = case_.outputs() * case_.row_bytes();
        read_ = (char *)gpu_slot(Slot::Kept, read + 2 * made + 1024);
        made_ = read_ + (read + 511) / 512 * 512;
        rows_ = made_ + (made + 511) / 512 * 512;
        calls_.read = read_, calls_.made = made_, calls_.rows = rows_;
        fill_random(read_, read / 32 * 32, kVectorSeed, 0, gpu().stream);
        const std::vector<unsigned char> rows = rlnc_rows(case_);
        GPU_CHECK(cudaMemcpy(rows_, rows.data(), rows.size(), cudaMemcpyHostToDevice));
        if (case_.decodes()) {
            decoded_ = (char *)gpu_slot(Slot::Expected, regions_.in_bytes());
            headers_ = case_.headers();
        }
        return DeviceWork::start();
    }
    void launch(long j, cudaStream_t stream) const override {
        GFK_CHECK(calls_.run(regions_.in(j), regions_.out(j), stream));
    }
    std::string check(bool after) override {
        const std::string wrong = after && case_.decodes() ? "" : check_outputs(after);
        return wrong.empty() && case_.decodes() ? check_sources() : wrong;
    }
    // Single packets and decoders are timed by the host's clock.
    void warm_up() override { by_host() ? (void)pass(0) : DeviceWork::warm_up(); }
    double pass(long number) override {
        return case_.decodes()                       ? decode()
               : case_.operation == RlncCase::Packet ? make_packets()
                                                     : DeviceWork::pass(number);
    }
    Sustained sustain() override { return by_host() ? Sustained() : DeviceWork::sustain(); }
    long sets() const override { return regions_.sets(); }
    void make_cold() const override { flush_cache(); }

  private:
    bool by_host() const { return case_.decodes() || case_.operation == RlncCase::Packet; }
    // A call, and the wait for its end, as a caller sees them.
    double make_packets() const {
        gpu_synchronize();
        const Stopwatch watch;
        for (int i = 0; i < kPacketsPerPass; i++) {
            launch(i, gpu().stream);
            gpu_synchronize();
        }
        return watch.us() / kPacketsPerPass;
    }
    // From packets in device memory to the sources. A decoder takes no new packets once it has all, so
    // each pass has a new one, which is made before the clock starts.
    double decode() const {
        Object<gfk_rlnc_decoder_t> decoder;
        GFK_CHECK(calls_.make_decoder(&decoder));
        flush_cache();
        gpu_synchronize();
        const Stopwatch watch;
        GFK_CHECK(decode_packets(library_, case_, decoder, headers_, regions_.out(0), decoded_,
                                 gpu().stream));
        return watch.us();
    }
    // Gaps are not compared.
    void copy_gaps(const char *from, char *to, size_t count) const {
        const size_t stride = case_.stride(), bytes = case_.bytes;
        if (stride > bytes)
            GPU_CHECK(cudaMemcpy2DAsync(to + bytes, stride, from + bytes, stride, stride - bytes,
                                        count, cudaMemcpyDeviceToDevice, gpu().stream));
    }
    std::string check_sources() {
        const size_t all = case_.sources() * case_.stride();
        decoded_ = (char *)gpu_slot(Slot::Expected, regions_.in_bytes());
        fill_random(decoded_, all, kPoisonSeed, 0, gpu().stream);
        pass(0);
        copy_gaps(regions_.in(0), decoded_, case_.sources());
        Checker checker;
        checker.check(regions_.in(0), decoded_, all, 0);
        return checker.verdict();
    }
    std::string check_outputs(bool after) {
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
                combine(case_.w, rows_ + g * case_.packets * row, case_.n, case_.packets,
                        {read_ + g * case_.n * row, row, row},
                        {sums + g * case_.packets * row, row, row});
            checker.check(sums, made_, made, 0);
        }
        for (long j = 0; j < sets() && case_.bytes != 0; j++) {
            for (size_t g = 0; g < case_.generations; g++)
                combine(case_.w, rows_ + g * case_.packets * case_.row_bytes(), case_.n,
                        case_.packets, {regions_.in(j) + g * case_.n * stride, stride, bytes},
                        {expected + g * case_.packets * stride, stride, bytes});
            copy_gaps(regions_.out(j), expected, case_.outputs());
            checker.check(expected, regions_.out(j), case_.outputs() * stride, j);
        }
        return checker.verdict();
    }

    const Library &library_;
    RlncCase case_;
    RlncCalls calls_;
    RlncRegions regions_;
    char *read_ = nullptr, *made_ = nullptr, *rows_ = nullptr;
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
        const bool has_other = c.operation == RlncCase::Decode || c.operation == RlncCase::Recode ||
                               (c.operation == RlncCase::Encode && c.packets > c.n);
        if (has_other)
            row.finish = percent_of(other_of(c));
        rows->push_back(row);
    }
}
