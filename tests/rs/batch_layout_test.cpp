// SPDX-License-Identifier: BSD-3-Clause
// The batch kernels on the CPU: the image, what lanes do between loads, MMAs and stores, and every
// address are the library's own code; the MMA is emulated. All of the memory is compared with the
// field's arithmetic.
#include <algorithm>
#include <cstring>

#include "bmma/mma_emulation.h"
#include "support/harness.h"

#include "kernels/product/bmma/operand.h"
#include "kernels/rs/batch_layout.h"

using namespace gfk::batch;
using gfk::load_partial;
using gfk::store_partial;
using gfk::bmma::Pack;

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
void load_cell(const Batch &b, const gfk_batch_stripe &stripe, size_t input, const Place &place,
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
    if (place.record.aligned) {
        ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % 16, 0u);
    }
    std::memcpy(x, p, 16);
}

const gfk_batch_stripe &stripe_of(const Batch &b, const gfk_batch_image &image,
                                  const Place &place) {
    const size_t i =
        static_cast<size_t>(place.in_image - image.job.records) / image.job.record_bytes;
    EXPECT_LT(i, b.stripes.size());
    return b.stripes[i];
}

// A task of the kernel `bits`.
template <class T, int Units, Pack P>
void run_bits(const Batch &b, const gfk_batch_image &image, uint32_t task) {
    const Place place = find(image.job, task, Units * T::vectors);
    const gfk_batch_stripe &stripe = stripe_of(b, image, place);
    const bool simple = place.simple(Units * T::vectors);
    static uint32_t a[Units][32][T::symbols][T::steps];
    for (int lane = 0; lane < 32; lane++)
        for (int u = 0; u < Units; u++) {
            const uint32_t mine = place.vector + u * T::vectors + lane / T::lanes;
            const uint32_t cell = std::min(mine, place.record.vectors - 1);
            uint32_t x[T::slots][4];
            for (int s = 0; s < T::slots; s++) {
                const size_t input = s * T::lanes + lane % T::lanes;
                const uint8_t *cell0 = load_address(place.in_image, input);
                if (simple) {
                    ASSERT_TRUE(place.whole(cell) && place.record.aligned);
                }
                if (input < b.k)
                    load_cell(b, stripe, input, place, cell0, cell, x[s]);
                else
                    std::memset(x[s], 0xa5, sizeof x[s]);
            }
            gfk::bmma::arrange<T>(x, a[u][lane]);
        }
    const uint32_t *panel = image.job.matrices + place.record.matrix;
    for (size_t first = 0; first < place.record.rows;
         first += T::outputs, panel += T::panel_registers * 32)
        for (int u = 0; u < Units; u++) {
            uint32_t words[32][T::words] = {};
            run_panel<T, P>(a[u], panel, words);
            for (int lane = 0; lane < 32; lane++) {
                const size_t output = T::w == 32 ? first : first + lane % T::lanes;
                const uint32_t cell = place.vector + u * T::vectors + lane / T::lanes;
                const unsigned part = T::w == 32 ? 4 * (lane % 4) : 0;
                if (output >= place.record.rows || cell >= place.record.vectors)
                    continue;
                uint8_t *p = load_address(place.in_image, T::inputs + output) +
                             16 * static_cast<uint64_t>(cell);
                if (simple) { // a store of the whole cell
                    ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % 16, 0u);
                    ASSERT_TRUE(place.first(cell) == 0 && place.last(cell) == 16);
                }
                store_partial(p, place.first(cell), place.last(cell), part, words[lane]);
            }
        }
}

// A task of the kernel `words`.
template <int W>
void run_words(const Batch &b, const gfk_batch_image &image, uint32_t task) {
    const Place place = find(image.job, task, 32);
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

using Task = void (*)(const Batch &, const gfk_batch_image &, uint32_t);

void check(unsigned w, const gfk_batch_kernel &kernel, Task task, const Choice &c) {
    SCOPED_TRACE(testing::Message()
                 << "w " << w << ", " << c.k << " -> " << c.most_rows << ", " << c.stripes
                 << " stripes of " << c.most_bytes << ", shape " << static_cast<int>(c.shape));
    Random random(w * 1000 + c.k * 10 + static_cast<unsigned>(c.shape));
    Batch b = make_batch(w, c, random);
    const gfk_batch_plan plan = b.plan();
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
    for (uint32_t i = 0; i < image.job.tasks; i++)
        task(b, image, i);
    std::free(image.data);
    const size_t at = first_difference(b.expected.data(), b.memory.data(), b.memory.size());
    EXPECT_EQ(at, b.memory.size());
    count_checked(c.stripes);
}

template <class T, int Units, Pack P = Pack::permute>
void check_bits(size_t k, size_t rows) {
    const gfk_batch_kernel kernel = {"test",
                                     static_cast<size_t>(T::inputs),
                                     static_cast<size_t>(T::outputs),
                                     static_cast<size_t>(Units * T::vectors),
                                     gfk::bmma::matrix_words<T>,
                                     gfk::bmma::build_matrix<T>,
                                     nullptr};
    const Task task = run_bits<T, Units, P>;
    check(T::w, kernel, task, {k, rows, 5, 512, true, Shape::ALIGNED});
    for (Shape shape : {Shape::ALIGNED, Shape::PHASES, Shape::MISALIGNED, Shape::ONE})
        check(T::w, kernel, task, {k, rows, 6, 384, false, shape});
    check(T::w, kernel, task, {k, rows, 30, 48, false, Shape::MIXED});
}

size_t coefficient_words(size_t rows, size_t cols) {
    return rows * cols;
}
void copy_coefficients(uint32_t *to, uint64_t, size_t rows, size_t cols, const uint32_t *from) {
    std::memcpy(to, from, sizeof *to * rows * cols);
}

template <int W>
void check_words() {
    for (size_t k : {1, 5, 40}) {
        const gfk_batch_kernel kernel = {"test", k, 1, 32, coefficient_words, copy_coefficients,
                                         nullptr};
        check(W, kernel, run_words<W>, {k, 5, 4, 1024, true, Shape::ALIGNED});
        for (Shape shape : {Shape::PHASES, Shape::MISALIGNED, Shape::MIXED})
            check(W, kernel, run_words<W>, {k, 5, 20, 800, false, shape});
    }
}

template <int W, int Slots>
using Layout = gfk::bmma::Layout<W, 4, Slots>;

TEST(BatchLayout, W8) {
    check_bits<Layout<8, 1>, 2>(3, 2);
    check_bits<Layout<8, 2>, 1>(8, 4);
    check_bits<Layout<8, 3>, 2, Pack::fma>(10, 4);
    check_bits<gfk::bmma::Layout<8, 2, 5>, 1, Pack::fma>(10, 4);
    check_bits<Layout<8, 4>, 2, Pack::fma>(13, 6);
    check_bits<Layout<8, 6>, 1>(17, 9);
    check_bits<Layout<8, 8>, 1>(32, 3);
}
TEST(BatchLayout, W16) {
    check_bits<Layout<16, 1>, 2>(4, 3);
    check_bits<Layout<16, 2>, 2>(5, 4);
    check_bits<Layout<16, 4>, 2>(10, 4);
    check_bits<Layout<16, 6>, 1>(21, 5);
    check_bits<Layout<16, 8>, 1>(32, 1);
}
TEST(BatchLayout, W32) {
    check_bits<Layout<32, 1>, 2>(4, 3);
    check_bits<Layout<32, 2>, 2>(6, 2);
    check_bits<Layout<32, 3>, 2>(10, 4);
    check_bits<Layout<32, 4>, 1>(16, 2);
    check_bits<Layout<32, 6>, 1>(22, 3);
    check_bits<Layout<32, 8>, 1>(29, 2);
}
TEST(BatchLayout, Words) {
    check_words<8>();
    check_words<16>();
    check_words<32>();
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
    Batch b = make_batch(8, {10, 4, 5, 4096, true, Shape::ALIGNED}, random);
    for (void *&address : b.addresses) // all regions at another phase
        address = static_cast<uint8_t *>(address) + 4;
    const gfk_batch_plan plan = b.plan();
    EXPECT_FALSE(gfk_batch_is_whole(&plan));
}

// The division of find, for every number of tasks that a stripe may have.
TEST(BatchLayout, Division) {
    Random random;
    const gfk_batch_kernel kernel = {"test", 4, 4, 1, coefficient_words, copy_coefficients,
                                     nullptr};
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
