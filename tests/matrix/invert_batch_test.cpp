// SPDX-License-Identifier: BSD-3-Clause
// Batches of inversions on the current device, against scalar arithmetic.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "support/compiled_kernels.h"
#include "support/guarded_regions.h"
#include "support/places.h"

namespace {

// Matrices that do and do not have an inverse.
enum Kind { RANDOM, DEPENDENT, PERMUTED, ZERO, TRIANGULAR, KINDS };

// One batch: the matrices, its results, and what both must be.
class Batch {
  public:
    Batch(const gfk_field &field, size_t n, size_t count, size_t gap, size_t offset, bool in_place,
          Random &random)
        : field_(field), n_(n), count_(count), step_(n * n + gap), offset_(offset),
          in_place_(in_place), matrices_(false, room()), inverses_(false, room()),
          records_(false, count * sizeof(gfk_matrix_record)), pivots_(false, count * n * 4) {
        refill(random);
    }
    void refill(Random &random) {
        content_ = random.bytes(room());
        for (size_t i = 0; i < count_; i++)
            make(i, static_cast<Kind>(i % KINDS), random);
        before_ = in_place_ ? content_ : random.bytes(room());
        matrices_.write(0, content_.data(), content_.size());
        inverses_.write(0, before_.data(), before_.size());
        records_.set(0, 0xee);
        device::synchronize(nullptr);
    }
    gfk_status run(bool with_pivots = true, gfk_stream_t stream = nullptr) {
        uint8_t *const from = (in_place_ ? inverses_ : matrices_).data() + offset_;
        return gfk_matrix_invert_batch(
            &field_, n_, count_, from, step_, inverses_.data() + offset_, step_,
            reinterpret_cast<gfk_matrix_record *>(records_.data()),
            with_pivots ? reinterpret_cast<uint32_t *>(pivots_.data()) : nullptr, nullptr, stream);
    }
    // Every matrix: the record, the pivots, and A * inverse = 1 or an inverse that is as before.
    testing::AssertionResult is_inverted() {
        const Bytes inverses = inverses_.read(), records = records_.read(), pivots = pivots_.read();
        std::vector<std::string> wrong(count_);
        parallel(count_, [&](size_t i) {
            gfk_matrix_record record;
            std::memcpy(&record, &records[i * sizeof record], sizeof record);
            std::vector<bool> dependent(n_);
            const size_t rank = eliminate(i, dependent);
            if (record.rank != rank ||
                record.status != (rank == n_ ? GFK_STATUS_SUCCESS : GFK_STATUS_SINGULAR))
                wrong[i] = "rank " + std::to_string(record.rank) + ", not " + std::to_string(rank);
            std::vector<bool> taken(n_);
            for (size_t r = 0; r < n_; r++) {
                const uint32_t c = get_symbol(&pivots[i * n_ * 4], r, 32);
                const bool is_zero = i % KINDS == PERMUTED && c < n_ &&
                                     get_symbol(&content_[at(i)], r * n_ + c, field_.w) == 0;
                if (dependent[r] ? c != GFK_MATRIX_DEPENDENT : c >= n_ || taken[c] || is_zero)
                    wrong[i] = "the pivot of row " + std::to_string(r);
                else if (!dependent[r])
                    taken[c] = true;
            }
            if (rank == n_ && !is_inverse(i, inverses))
                wrong[i] = "the inverse";
        });
        for (size_t i = 0; i < count_; i++)
            if (!wrong[i].empty())
                return testing::AssertionFailure() << "w = " << field_.w << ", n = " << n_
                                                   << ", matrix " << i << ": " << wrong[i];
        // What belongs to no inverse has not changed.
        Bytes expected = before_;
        for (size_t i = 0; i < count_; i++) {
            gfk_matrix_record record;
            std::memcpy(&record, &records[i * sizeof record], sizeof record);
            if (record.rank == n_)
                std::copy_n(&inverses[at(i)], n_ * n_ * symbol(), &expected[at(i)]);
        }
        if (inverses != expected)
            return testing::AssertionFailure() << "bytes beside an inverse have changed";
        count_checked(count_);
        return testing::AssertionSuccess();
    }

  private:
    size_t symbol() const { return field_.w / 8; }
    size_t room() const { return offset_ + count_ * step_ * symbol(); }
    size_t at(size_t i) const { return offset_ + i * step_ * symbol(); }

    void make(size_t i, Kind kind, Random &random) {
        uint8_t *const m = &content_[at(i)];
        const size_t bytes = n_ * n_ * symbol(), row = n_ * symbol();
        if (kind == PERMUTED || kind == ZERO)
            std::fill_n(m, bytes, uint8_t(0));
        if (kind == PERMUTED) {
            std::vector<size_t> order(n_);
            std::iota(order.begin(), order.end(), size_t(0));
            for (size_t j = n_; j > 1; j--)
                std::swap(order[j - 1], order[random.below(j)]);
            for (size_t j = 0; j < n_; j++)
                set_symbol(m, j * n_ + order[j], field_.w, random.symbol(field_.w) | 1);
        }
        for (size_t r = 0; kind == TRIANGULAR && r < n_; r++) { // pivots at the rows' ends
            set_symbol(m, r * n_ + n_ - 1 - r, field_.w, random.symbol(field_.w) | 1);
            std::fill_n(m + r * row, (n_ - 1 - r) * symbol(), uint8_t(0));
        }
        if (kind == DEPENDENT) // some rows, also the first ones, are sums of others
            for (size_t many = 1 + random.below(n_); many != 0; many--) {
                const size_t to = random.below(n_), from = random.below(n_);
                std::fill_n(m + to * row, row, uint8_t(0));
                for (size_t source : {from, random.below(n_)})
                    if (source != to)
                        Times(field_, random.symbol(field_.w))
                            .add(m + source * row, m + to * row, row);
            }
    }
    // The rank; which rows depend on the rows before them.
    size_t eliminate(size_t i, std::vector<bool> &dependent) const {
        const size_t row = n_ * symbol();
        Bytes m(content_.begin() + at(i), content_.begin() + at(i) + n_ * row);
        size_t rank = 0;
        for (size_t r = 0; r < n_; r++) {
            size_t c = 0;
            while (c < n_ && get_symbol(m.data(), r * n_ + c, field_.w) == 0)
                c++;
            dependent[r] = c == n_;
            if (c == n_)
                continue;
            rank++;
            for (size_t below = r + 1; below < n_; below++) {
                const uint32_t x = get_symbol(m.data(), below * n_ + c, field_.w);
                uint32_t factor;
                EXPECT_OK(gfk_field_divide(&field_, x, get_symbol(m.data(), r * n_ + c, field_.w),
                                           &factor));
                if (factor != 0)
                    Times(field_, factor).add(&m[r * row], &m[below * row], row);
            }
        }
        return rank;
    }
    bool is_inverse(size_t i, const Bytes &inverses) const {
        const size_t row = n_ * symbol();
        for (size_t r = 0; r < n_; r++) {
            Bytes sum(row);
            for (size_t k = 0; k < n_; k++)
                Times(field_, get_symbol(&content_[at(i)], r * n_ + k, field_.w))
                    .add(&inverses[at(i) + k * row], sum.data(), row);
            for (size_t c = 0; c < n_; c++)
                if (get_symbol(sum.data(), c, field_.w) != (r == c))
                    return false;
        }
        return true;
    }

    gfk_field field_;
    size_t n_, count_, step_, offset_;
    bool in_place_;
    Memory matrices_, inverses_, records_, pivots_;
    Bytes content_, before_;
};

class InvertBatch : public PlaceTest {
  protected:
    InvertBatch() : PlaceTest(false) {}
    size_t most() const { return w() == 32 ? 128 : 256; }
    void check(const gfk_field &field, size_t n, size_t count, size_t gap, size_t offset,
               bool in_place, Random &random) {
        Batch batch(field, n, count, gap, offset, in_place, random);
        ASSERT_OK(batch.run());
        ASSERT_TRUE(batch.is_inverted());
    }
};

// Sizes around the borders of the kernels, and counts around those of their warps.
TEST_P(InvertBatch, Sizes) {
    Random random;
    for (size_t n :
         {1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 20, 31, 32, 33, 40, 41, 48, 63, 64, 65})
        for (size_t count : {1, 7, 70, 257})
            if (!options.reduced || count < 10)
                check(make_field(w()), n, count, 0, 0, false, random);
    for (size_t n : {96, 100, 127, 128, 129, 191, 255, 256})
        if (n <= most())
            check(make_field(w()), n, options.reduced ? 2 : 10, 0, 0, false, random);
}

// Addresses of one element, gaps between matrices, in place.
TEST_P(InvertBatch, Places) {
    Random random;
    for (size_t n : {6, 21, 50, 64, 101})
        for (size_t offset = 0; offset < 8; offset += w() / 8)
            for (bool in_place : {false, true})
                check(make_field(w()), n, 11, offset, offset, in_place, random);
}

TEST_P(InvertBatch, Polynomials) {
    Random random;
    for (uint64_t polynomial : polynomials(w()))
        for (size_t n : {12, 40})
            check(make_field(w(), polynomial), n, 10, 0, 0, false, random);
}

TEST_P(InvertBatch, ManyMatrices) {
    Random random;
    check(make_field(w()), 8, options.reduced ? 100 : 50000, 0, 0, false, random);
    check(make_field(w()), 32, options.reduced ? 20 : 2000, 0, 0, false, random);
}

TEST_P(InvertBatch, Graph) {
    Random random;
    const Stream stream(false);
    for (size_t n : {10, 70}) {
        Batch batch(make_field(w()), n, 30, 0, 0, false, random);
        ASSERT_OK(batch.run()); // CUDA loads the code now
        device::Graph graph(stream.get());
        ASSERT_OK(batch.run(true, stream.get()));
        graph.end();
        for (int replay = 0; replay < 10; replay++) {
            batch.refill(random);
            graph.launch(stream.get());
            stream.finish();
            ASSERT_TRUE(batch.is_inverted());
        }
    }
}

// Threads launch the same kernels, with as much shared memory as their matrices need. Many launches
// follow each other, since a limit that one thread sets for another one is in force for microseconds.
TEST_P(InvertBatch, Threads) {
    on_threads(8, [&](int thread) {
        Random random(static_cast<uint64_t>(thread));
        const Stream stream(false);
        Batch batch(make_field(w()), 9 + 11 * static_cast<size_t>(thread), 28, 0, 0, false, random);
        testing::AssertionResult result = testing::AssertionSuccess();
        for (int again = 0; again < 4 && result; again++) {
            batch.refill(random);
            for (int launch = 0; launch < (options.reduced ? 1 : 100); launch++)
                require_success(batch.run(true, stream.get()), "gfk_matrix_invert_batch");
            stream.finish();
            result = batch.is_inverted();
        }
        return result;
    });
}

struct Call {
    const gfk_field *field;
    size_t n, count;
    const uint8_t *a;
    size_t a_step;
    uint8_t *inverses;
    size_t inverse_step;
    uint8_t *records, *pivots;
    gfk_matmul_desc desc;

    gfk_status operator()() const {
        return gfk_matrix_invert_batch(field, n, count, a, a_step, inverses, inverse_step,
                                       reinterpret_cast<gfk_matrix_record *>(records),
                                       reinterpret_cast<uint32_t *>(pivots), &desc, nullptr);
    }
};

// What is refused beyond what all calls do (tests/calls).
TEST_P(InvertBatch, Errors) {
    Random random;
    const gfk_field field = make_field(w());
    const size_t n = 9, count = 5;
    const Bytes content = random.bytes(16384);
    Memory memory(false, content);
    uint8_t *const p = memory.data();
    const Call good = {&field,   n,     count,    p,         n * n,
                       p + 4096, n * n, p + 8192, p + 12288, GFK_MATMUL_DESC_INIT};
    const auto refused = [&](gfk_status status, const std::function<void(Call &)> &spoil) {
        Call bad = good;
        spoil(bad);
        EXPECT_EQ(status, bad());
        EXPECT_TRUE(content == memory.read()) << "a refused call has written";
        count_checked();
    };
    const gfk_status overlap = GFK_STATUS_OVERLAP, size = GFK_STATUS_INVALID_SIZE;
    refused(INVALID, [](Call &x) { x.n = 0; });
    refused(INVALID, [](Call &x) { x.a_step--; });
    refused(INVALID, [](Call &x) { x.inverse_step--; });
    refused(INVALID, [](Call &x) { x.desc.size--; });
    refused(INVALID, [](Call &x) { x.desc.kernel = "invert_batch_w8/warp_8"; });
    refused(INVALID, [](Call &x) { x.desc.device = GFK_CURRENT_DEVICE - 1; });
    refused(size, [](Call &x) { x.a_step = SIZE_MAX / 4; });
    refused(size, [](Call &x) { x.inverse_step = SIZE_MAX / 4; });
    refused(size, [](Call &x) { x.count = size_t(GFK_MATRIX_BATCH_MOST) + 1; });
    refused(GFK_STATUS_NOT_SUPPORTED, [&](Call &x) { x.n = most() + 1; });
    refused(GFK_STATUS_NOT_SUPPORTED, [](Call &x) { x.desc.device = GFK_CPU; });
    refused(GFK_STATUS_NO_DEVICE, [](Call &x) { x.desc.device = 1000; });
    refused(overlap, [&](Call &x) {
        x.inverses = p; // another step than a's
        x.inverse_step++;
    });
    Call nothing = good; // not an error
    nothing.count = 0;
    EXPECT_OK(nothing());
    Call without_pivots = good;
    without_pivots.pivots = nullptr;
    EXPECT_OK(without_pivots());
}

INSTANTIATE_AT(InvertBatch, test_places(false));

// Each compiled kernel, with matrices as small and as large as it gets.
class InvertBatchKernels : public testing::TestWithParam<CompiledKernel> {};

TEST_P(InvertBatchKernels, SmallestAndLargest) {
    if (device::count() == 0)
        SKIP_WITHOUT_GPU("there is no GPU");
    size_t smallest = 1;
    for (CompiledKernel before : compiled_kernels("invert_batch", GetParam()->w))
        if (before->inputs.max < GetParam()->inputs.max)
            smallest = before->inputs.max + 1;
    Random random;
    for (size_t n : {smallest, GetParam()->inputs.max}) {
        Batch batch(make_field(GetParam()->w), n, 6, 0, 0, false, random);
        ASSERT_OK(batch.run());
        ASSERT_TRUE(batch.is_inverted()) << GetParam()->id;
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, InvertBatchKernels,
                         testing::ValuesIn(compiled_kernels("invert_batch")), compiled_kernel_name);

TEST(InvertBatchChecks, NoDevice) {
    const gfk_field field = make_field(8);
    Bytes memory(4096);
    const Call call = {&field,  4,
                       3,       &memory[0],
                       16,      &memory[1024],
                       16,      &memory[2048],
                       nullptr, GFK_MATMUL_DESC_INIT};
    Call bad = call;
    bad.n = 0;
    EXPECT_EQ(INVALID, bad());
    bad.n = 257;
    EXPECT_EQ(GFK_STATUS_NOT_SUPPORTED, bad());
    if (device::count() == 0) {
        EXPECT_EQ(GFK_STATUS_NO_DEVICE, call());
    }
    EXPECT_TRUE(memory == Bytes(4096));
    count_checked(3);
}

} // namespace
