// SPDX-License-Identifier: BSD-3-Clause
// The batch kernel without clmad on the CPU: the image, the kernel's arithmetic, loads and stores of
// partial vectors, and every address are the library's own code. All of the memory is compared with
// the field's arithmetic.
#include <algorithm>
#include <cstring>

#include "support/harness.h"

#include "kernels/rs/batch/layout.h"

using namespace gfk::batch;
using gfk::load_partial;
using gfk::store_partial;

namespace {

// Stripes in one buffer, between random bytes: where they are, and what they should become.
struct Batch {
    gfk_field field;
    size_t k;
    Bytes memory, expected;
    std::vector<gfk_rs_rebuild> patterns;
    std::vector<std::vector<size_t>> indices; // of no interest to the image
    std::vector<std::vector<uint32_t>> matrices;
    std::vector<gfk_batch_stripe> stripes;
    std::vector<void *> addresses;

    gfk_batch_plan plan() {
        return {field,
                k,
                patterns.data(),
                patterns.size(),
                stripes.data(),
                stripes.size(),
                addresses.data(),
                nullptr};
    }
};

// ONE: only the last region, an output, is misaligned.
enum class Shape { ALIGNED, PHASES, MISALIGNED, ONE, MIXED };

struct Choice {
    size_t k, most_rows, stripes, most_bytes;
    bool same_length;
    Shape shape;
};

Batch make_batch(unsigned w, const Choice &c, Random &random) {
    Batch b{make_field(w), c.k, {}, {}, {}, {}, {}, {}, {}};
    const size_t symbol = w / 8;
    for (size_t p = 0; p < 3; p++) {
        const size_t rows = p == 0 ? c.most_rows : 1 + random.below(c.most_rows);
        b.matrices.emplace_back(rows * c.k);
        for (uint32_t &element : b.matrices.back())
            element = random.symbol(w);
        b.indices.emplace_back(c.k + rows, 0);
        b.patterns.push_back(
            {rows, b.indices[p].data(), b.indices[p].data(), b.matrices[p].data(), 0, nullptr});
    }
    const size_t room = round_up(c.most_bytes, 16) + 48;
    b.memory = random.bytes(c.stripes * (c.k + c.most_rows) * room + 64);
    // The image has addresses, so the buffer stays where it is from here on.
    size_t next = (16 - reinterpret_cast<uintptr_t>(b.memory.data()) % 16) % 16;
    for (size_t s = 0; s < c.stripes; s++) {
        const size_t p = s % 3;
        const Shape shape = c.shape == Shape::MIXED ? static_cast<Shape>(random.below(4)) : c.shape;
        const size_t phase = shape == Shape::PHASES ? random.below(16) / symbol * symbol : 0;
        const size_t symbols = s == 0 || c.same_length ? c.most_bytes / symbol
                               : s == 1                ? 1
                                                       : 1 + random.below(c.most_bytes / symbol);
        const size_t bytes = symbols * symbol;
        b.stripes.push_back({bytes, p, b.addresses.size()});
        for (size_t i = 0; i < c.k + b.patterns[p].rows; i++) {
            const bool last = i + 1 == c.k + b.patterns[p].rows;
            const size_t at = shape == Shape::MISALIGNED    ? random.below(16)
                              : shape == Shape::ONE && last ? 1 + random.below(15)
                                                            : phase;
            b.addresses.push_back(b.memory.data() + next + 16 + at);
            next += room;
        }
    }
    b.expected = b.memory;
    for (const gfk_batch_stripe &stripe : b.stripes) {
        const gfk_rs_rebuild &pattern = b.patterns[stripe.pattern];
        for (size_t j = 0; j < pattern.rows; j++) {
            const auto *out = static_cast<uint8_t *>(b.addresses[stripe.addresses + c.k + j]);
            uint8_t *expected = b.expected.data() + (out - b.memory.data());
            std::memset(expected, 0, stripe.bytes);
            for (size_t i = 0; i < c.k; i++)
                Times(b.field, pattern.matrix[j * c.k + i])
                    .add(b.addresses[stripe.addresses + i], expected, stripe.bytes);
        }
    }
    return b;
}

// Loads as the kernels' load functions do them. Words around a misaligned cell must be the
// region's, of which `first` is the first byte.
void load_cell(const Batch &b, const gfk_batch_stripe &stripe, size_t input, const TaskPlace &place,
               const uint8_t *cell0, uint32_t cell, uint32_t (&x)[4]) {
    const uint8_t *p = cell0 + 16 * static_cast<uint64_t>(cell);
    if (!place.whole(cell)) {
        load_partial(p, place.first(cell), place.last(cell), x);
        return;
    }
    const auto *begin = static_cast<uint8_t *>(b.addresses[stripe.addresses + input]);
    const uintptr_t shift = reinterpret_cast<uintptr_t>(p) % 4;
    ASSERT_GE(p - shift, begin);
    ASSERT_LE(p - shift + (shift ? 20 : 16), begin + stripe.bytes);
    std::memcpy(x, p, 16);
}

const gfk_batch_stripe &stripe_of(const Batch &b, const gfk_batch_image &image,
                                  const TaskPlace &place) {
    const size_t i =
        static_cast<size_t>(place.in_image - image.job.records) / image.job.record_bytes;
    EXPECT_LT(i, b.stripes.size());
    return b.stripes[i];
}

// A task of the kernel `multiples`.
template <int W>
void run_multiples(const Batch &b, const gfk_batch_image &image, uint32_t task) {
    const TaskPlace place = find(image.job, task, 32);
    const gfk_batch_stripe &stripe = stripe_of(b, image, place);
    const uint32_t *coefficients = image.job.matrices + place.record.matrix;
    for (uint32_t cell = place.vector; cell < std::min(place.vector + 32, place.record.vectors);
         cell++)
        for (size_t j = 0; j < place.record.rows; j++) {
            uint32_t sum[4] = {}, x[4];
            for (size_t i = 0; i < b.k; i++) {
                load_cell(b, stripe, i, place, load_address(place.in_image, i), cell, x);
                add_product<W>(sum, x, coefficients[j * b.k + i], image.job.polynomial);
            }
            store_partial(load_address(place.in_image, b.k + j) + 16 * static_cast<uint64_t>(cell),
                          place.first(cell), place.last(cell), 0, sum);
        }
}

size_t coefficient_words(size_t rows, size_t cols) {
    return rows * cols;
}
void copy_coefficients(uint32_t *to, size_t rows, size_t cols, const uint32_t *from) {
    std::memcpy(to, from, sizeof *to * rows * cols);
}

// Panel: the outputs of a record are a multiple of this, for kernels with panels.
template <int W>
void check(size_t panel, const Choice &c) {
    SCOPED_TRACE(testing::Message() << "w " << W << ", panel " << panel << ", " << c.k << " -> "
                                    << c.most_rows << ", " << c.stripes << " stripes of "
                                    << c.most_bytes << ", shape " << static_cast<int>(c.shape));
    Random random(W * 1000 + c.k * 10 + static_cast<unsigned>(c.shape));
    Batch b = make_batch(W, c, random);
    const gfk_batch_plan plan = b.plan();
    const gfk_batch_kernel kernel = {panel, 32, coefficient_words, copy_coefficients, nullptr};
    gfk_batch_image image;
    ASSERT_OK(gfk_batch_image_build(&plan, &kernel, &image));
    // As on a device: the image is used at another address than that of its making.
    std::vector<uint64_t> elsewhere(image.bytes / 8 + 33);
    void *copy =
        reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(elsewhere.data()) + 255) / 256 * 256);
    std::memcpy(copy, image.data, image.bytes);
    std::memset(image.data, 0, image.bytes);
    image.job = gfk_batch_job_at(&image, copy);
    EXPECT_EQ(image.job.index == nullptr,
              c.same_length || c.most_bytes <= 16 * kernel.task_vectors);
    EXPECT_GE(image.job.record_bytes,
              sizeof(gfk_batch_record) + 8 * (c.k + round_up(c.most_rows, panel)));
    for (uint32_t i = 0; i < image.job.tasks; i++)
        run_multiples<W>(b, image, i);
    std::free(image.data);
    const size_t at = first_difference(b.expected.data(), b.memory.data(), b.memory.size());
    EXPECT_EQ(at, b.memory.size());
    count_checked(c.stripes);
}

template <int W>
void check_all() {
    for (size_t k : {1, 5, 40})
        for (size_t panel : {1, 4, 8}) {
            check<W>(panel, {k, 5, 4, 1024, true, Shape::ALIGNED});
            for (Shape shape :
                 {Shape::ALIGNED, Shape::PHASES, Shape::MISALIGNED, Shape::ONE, Shape::MIXED})
                check<W>(panel, {k, 5, 20, 800, false, shape});
        }
}

TEST(BatchLayout, W8) {
    check_all<8>();
}
TEST(BatchLayout, W16) {
    check_all<16>();
}
TEST(BatchLayout, W32) {
    check_all<32>();
}

TEST(BatchLayout, Whole) {
    Random random;
    for (unsigned w : {8, 16, 32})
        for (Shape shape : {Shape::ALIGNED, Shape::MISALIGNED, Shape::ONE})
            for (size_t bytes : {size_t(16), size_t(4096), size_t(4096 - w / 8), size_t(4112)}) {
                Batch b = make_batch(w, {10, 4, 5, bytes, true, shape}, random);
                const gfk_batch_plan plan = b.plan();
                EXPECT_EQ(shape == Shape::ALIGNED && bytes % 16 == 0, gfk_batch_is_whole(&plan))
                    << bytes;
                count_checked();
            }
    // All regions at another phase: the first vector is cut, and the last one or not.
    for (size_t bytes : {4096, 4092}) {
        Batch b = make_batch(8, {10, 4, 5, bytes, true, Shape::ALIGNED}, random);
        for (void *&address : b.addresses)
            address = static_cast<uint8_t *>(address) + 4;
        const gfk_batch_plan plan = b.plan();
        EXPECT_FALSE(gfk_batch_is_whole(&plan)) << bytes;
    }
}

// The division of find, for every number of tasks that a stripe may have.
TEST(BatchLayout, Division) {
    Random random;
    const gfk_batch_kernel kernel = {4, 1, coefficient_words, copy_coefficients, nullptr};
    uint32_t matrix[4] = {1, 2, 3, 4};
    size_t none[5] = {};
    gfk_rs_rebuild pattern = {1, none, none, matrix, 0, nullptr};
    void *addresses[5];
    for (size_t i = 0; i < 5; i++)
        addresses[i] = reinterpret_cast<void *>((i + 1) << 40);
    std::vector<uint32_t> numbers;
    for (uint32_t each = 1; each < 300; each++)
        numbers.push_back(each);
    for (unsigned bit = 8; bit < 31; bit++)
        for (uint32_t near : {-1, 0, 1})
            numbers.push_back((UINT32_C(1) << bit) + near);
    for (uint32_t each : numbers) {
        std::vector<gfk_batch_stripe> stripes(each < (1u << 30) ? 2 : 1, {size_t(16) * each, 0, 0});
        const gfk_batch_plan plan = {make_field(8),  4,         &pattern, 1, stripes.data(),
                                     stripes.size(), addresses, nullptr};
        gfk_batch_image image;
        ASSERT_OK(gfk_batch_image_build(&plan, &kernel, &image));
        std::free(image.data);
        for (int i = 0; i < 100; i++) {
            const uint32_t quotient = static_cast<uint32_t>(random.below((1u << 31) / each));
            for (uint64_t task :
                 {uint64_t(quotient) * each, uint64_t(quotient) * each + each - 1}) {
                ASSERT_LT(task, UINT64_C(1) << 31);
                ASSERT_EQ(quotient, task * image.job.reciprocal >> image.job.shift)
                    << task << " / " << each;
                count_checked();
            }
        }
    }
    // One task too many.
    std::vector<gfk_batch_stripe> stripes(3, {size_t(16) << 30, 0, 0});
    const gfk_batch_plan plan = {make_field(8),  4,         &pattern, 1, stripes.data(),
                                 stripes.size(), addresses, nullptr};
    gfk_batch_image image;
    EXPECT_STATUS(GFK_STATUS_INVALID_SIZE, gfk_batch_image_build(&plan, &kernel, &image));
}

} // namespace
