// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the xor engine as text, run by an interpreter on host memory, at every alignment.
#include <algorithm>
#include <cstring>
#include <set>

#include "matrices.h"
#include "ptx_interpreter.h"

namespace {

template <class T>
Bytes bytes_of(const T *data, size_t count) {
    Bytes bytes(count * sizeof(T));
    std::memcpy(bytes.data(), data, bytes.size());
    return bytes;
}

// One region at a phase modulo 16, between bytes that must stay as they are.
struct Buffer {
    Bytes memory;
    uint8_t *data;
    Buffer(size_t bytes, size_t phase, Random &random) : memory(random.bytes(bytes + 64)) {
        data = memory.data() + 16;
        data += (16 + phase - reinterpret_cast<uintptr_t>(data) % 16) % 16;
    }
};

struct Case {
    size_t bytes;
    std::vector<size_t> phases; // of inputs and then outputs; repeated
    bool accumulate;
};

// The regions of a case, and the launch that its call makes.
struct Scene {
    const Matrix &m;
    const Case &c;
    Random random;
    std::vector<Buffer> buffers;
    std::vector<uint64_t> addresses;
    gfk_jit_shape shape;

    Scene(const Matrix &matrix, const gfk_jit_target &target, const Case &which)
        : m(matrix), c(which), random(c.bytes) {
        buffers.reserve(m.rows + m.cols);
        for (size_t i = 0; i < m.rows + m.cols; i++) {
            buffers.emplace_back(c.bytes, c.phases[i % c.phases.size()], random);
            addresses.push_back(reinterpret_cast<uintptr_t>(buffers[i].data));
        }
        shape = gfk_jit_make_shape(&target, m.field.w, addresses.data(), addresses.size(), c.bytes,
                                   c.accumulate);
    }
    PtxKernel::Launch launch(const gfk_jit_target &target, bool writes_outputs) const {
        PtxKernel::Launch launch{shape.blocks + (shape.edges != 0), target.threads, {}, {}};
        launch.parameters = {bytes_of(addresses.data(), addresses.size()), bytes_of(&shape, 1)};
        for (size_t i = 0; i < buffers.size(); i++)
            launch.regions.push_back(
                {buffers[i].data, buffers[i].data + c.bytes, writes_outputs && i >= m.cols});
        return launch;
    }
    // The symbol that output j must have at an offset, or that is to be added to it.
    uint32_t expected(size_t j, size_t at) const {
        std::vector<uint32_t> in(m.cols);
        for (size_t i = 0; i < m.cols; i++)
            std::memcpy(&in[i], buffers[i].data + at, m.field.w / 8);
        return expected_word(m, j, in.data());
    }
};

void run_case(const Matrix &m, const gfk_jit_target &target, const PtxKernel &kernel,
              const Case &c) {
    const Scene scene(m, target, c);
    ASSERT_LE(scene.shape.edges, target.threads);
    std::vector<Bytes> before;
    for (const Buffer &b : scene.buffers)
        before.push_back(b.memory);
    ASSERT_NO_THROW(kernel.run(scene.launch(target, true)));
    const size_t symbol = m.field.w / 8;
    for (size_t j = 0; j < m.rows; j++) {
        const Buffer &out = scene.buffers[m.cols + j];
        Bytes &expected = before[m.cols + j];
        uint8_t *const base = expected.data() + (out.data - out.memory.data());
        for (size_t at = 0; at < c.bytes; at += symbol) {
            uint32_t old = 0;
            std::memcpy(&old, base + at, symbol);
            const uint32_t value = scene.expected(j, at) ^ (c.accumulate ? old : 0);
            std::memcpy(base + at, &value, symbol);
        }
        ASSERT_EQ(out.memory, expected) << "output " << j;
    }
    count_checked();
}

// A check of right outputs marks nothing; of wrong ones, what is wrong and perhaps its neighbour.
void run_check(const Matrix &m, const gfk_jit_target &target, const PtxKernel &kernel,
               const Case &c) {
    constexpr unsigned shift = 4;
    Scene scene(m, target, c);
    for (size_t at = 0; at < c.bytes; at += m.field.w / 8)
        for (size_t j = 0; j < m.rows; j++) {
            const uint32_t value = scene.expected(j, at);
            std::memcpy(scene.buffers[m.cols + j].data + at, &value, m.field.w / 8);
        }
    std::vector<uint32_t> marks((c.bytes >> shift) + 1);
    scene.shape.mode = GFK_JIT_CHECK;
    scene.shape.mismatch_map = reinterpret_cast<uintptr_t>(marks.data());
    scene.shape.shift = shift;
    PtxKernel::Launch launch = scene.launch(target, false);
    auto *first = reinterpret_cast<uint8_t *>(marks.data());
    launch.regions.push_back({first, first + 4 * marks.size(), true});
    const auto run = [&] {
        std::fill(marks.begin(), marks.end(), 0);
        EXPECT_NO_THROW(kernel.run(launch));
    };
    run();
    ASSERT_EQ(std::count(marks.begin(), marks.end(), 0u), static_cast<long>(marks.size()));
    for (size_t n = 0; n < 4; n++) {
        const size_t at = n == 0 ? 0 : n == 1 ? c.bytes - 1 : scene.random.below(c.bytes);
        uint8_t &byte = scene.buffers[m.cols + scene.random.below(m.rows)].data[at];
        const uint8_t flip = static_cast<uint8_t>(1u << scene.random.below(8));
        byte ^= flip;
        run();
        byte ^= flip;
        EXPECT_EQ(marks[at >> shift], 1u) << "byte " << at;
        for (size_t i = 0; i < marks.size(); i++)
            EXPECT_TRUE(marks[i] == 0 || (i + 1 >= at >> shift && i <= (at >> shift) + 1))
                << "byte " << at << " mark " << i;
    }
}

constexpr unsigned THREADS = 32;
const unsigned all_words[] = {1, 2, 4};

void sweep(const Matrix &m, const std::vector<std::vector<size_t>> &phases,
           const std::vector<size_t> &lengths) {
    for (const unsigned words : all_words) {
        const gfk_jit_target target{90, words, THREADS, 0};
        const PtxKernel kernel(ptx_of(m, target));
        for (const auto &p : phases)
            for (const size_t bytes : lengths)
                for (const bool accumulate : {false, true}) {
                    SCOPED_TRACE(testing::Message()
                                 << m.text() << " words=" << words << " bytes=" << bytes
                                 << " phase=" << p[0] << " xor=" << accumulate);
                    run_case(m, target, kernel, {bytes, p, accumulate});
                    if (!accumulate)
                        run_check(m, target, kernel, {bytes, p, false});
                    if (testing::Test::HasFailure())
                        return;
                }
    }
}

class XorPtx : public testing::TestWithParam<unsigned> {
  protected:
    Matrix matrix(const char *kind, size_t rows, size_t cols) const {
        return make_matrix(kind, make_field(GetParam()), rows, cols);
    }
    std::vector<size_t> lengths(size_t last) const { // in bytes; a tenth of them in sanitizers
        std::vector<size_t> result;
        for (size_t n = GetParam() / 8; n <= last; n += GetParam() / 8 * (options.reduced ? 9 : 1))
            result.push_back(n);
        return result;
    }
};

TEST_P(XorPtx, OnePhase) {
    std::vector<std::vector<size_t>> phases;
    for (size_t phase = 0; phase < 16; phase += options.reduced ? 5 : 1)
        phases.push_back({phase});
    sweep(matrix("random", 2, 3), phases, lengths(70));
}

TEST_P(XorPtx, DifferentPhases) {
    sweep(matrix("random", 2, 3),
          {{0, 1, 2, 3, 4}, {4, 8, 12, 0, 4}, {15, 0, 7, 9, 1}, {2, 2, 2, 2, 6}, {0, 0, 0, 0, 1}},
          lengths(70));
}

TEST_P(XorPtx, SeveralBlocks) {
    const size_t block = THREADS * 16;
    sweep(matrix("cauchy", 2, 4), {{0}, {4}, {8, 3}},
          {block, block + 4, 3 * block - 4, 3 * block + 36});
}

TEST_P(XorPtx, Structured) { // values that are an input, zero, or the same for two outputs
    for (const char *kind : {"identity", "zero", "same", "ones", "top"})
        sweep(matrix(kind, 3, 4), {{0}, {4}, {1, 2}}, {4, 16, 100});
}

struct Kind {
    const char *kind;
    size_t rows, cols;
};

TEST_P(XorPtx, Polynomials) {
    for (const uint64_t low : {0x1bu, 0xf3u, 0x2bu, 0xa011u, 0xafu, 0xffedu, 0xa8a526f5u}) {
        gfk_field field;
        if (gfk_field_init(&field, GetParam(), UINT64_C(1) << GetParam() | low) ==
            GFK_STATUS_SUCCESS)
            for (const auto &[kind, rows, cols] :
                 {Kind{"random", 3, 5}, {"random", 3, 1}, {"equal", 8, 2}})
                sweep(make_matrix(kind, field, rows, cols), {{0}, {1}}, {64, 132});
    }
}

TEST_P(XorPtx, Updates) { // the doubling of inputs
    for (const auto &[kind, rows, cols] :
         {Kind{"equal", 4, 2}, {"random", 4, 1}, {"random", 5, 2}, {"pairs", 6, 4}})
        sweep(matrix(kind, rows, cols), {{0}, {4}, {1, 2}}, {4, 16, 100});
}

TEST_P(XorPtx, Wide) { // doublings by multiplications among them
    sweep(matrix("random", 12, 12), {{0}, {4, 5}}, {256});
    sweep(matrix("random", 18, 50), {{0}}, {64});
}

INSTANTIATE_TEST_SUITE_P(Widths, XorPtx, testing::Values(8u, 16u, 32u),
                         [](const auto &p) { return "w" + std::to_string(p.param); });

// The interpreter itself: a kernel that reaches beyond a region is found out.
TEST(XorPtxInterpreter, RefusesWhatIsOutside) {
    const PtxKernel kernel(ptx_of(make_matrix("random", make_field(8), 1, 1), {90, 4, THREADS, 0}));
    alignas(16) uint8_t in[32] = {}, out[32] = {};
    const uint64_t addresses[] = {reinterpret_cast<uintptr_t>(in),
                                  reinterpret_cast<uintptr_t>(out)};
    gfk_jit_shape shape{};
    shape.tail = 32;
    shape.tiles = 2;
    shape.blocks = 1;
    PtxKernel::Launch launch{1, THREADS, {bytes_of(addresses, 2), bytes_of(&shape, 1)}, {}};
    const auto run = [&](size_t readable, size_t there, bool writable) {
        launch.regions = {{in, in + readable, false}, {out, out + there, writable}};
        kernel.run(launch);
    };
    EXPECT_NO_THROW(run(32, 32, true));
    EXPECT_THROW(run(31, 32, true), std::runtime_error);
    EXPECT_THROW(run(32, 32, false), std::runtime_error);
    EXPECT_THROW(run(32, 16, true), std::runtime_error);
}

// ---- cutting -----------------------------------------------------------------------------------

TEST(XorCut, LongestRegionFitsIntoTheNumbers) {
    for (const unsigned words : all_words) {
        const gfk_jit_target target{90, words, 128, 0};
        for (const uint64_t phase : {0, 1}) {
            uint64_t regions[2] = {1 << 20, (1 << 20) + phase};
            const gfk_jit_shape s =
                gfk_jit_make_shape(&target, 8, regions, 2, GFK_JIT_LONGEST, false);
            const uint64_t unit = phase ? 4 : 4 * words;
            EXPECT_EQ(uint64_t{s.tiles} * unit + s.edges, GFK_JIT_LONGEST);
            EXPECT_EQ(s.unaligned, phase);
            EXPECT_LT(uint64_t{s.blocks} * target.threads, UINT64_C(1) << 32);
            EXPECT_LT(s.blocks, UINT32_C(1) << 31);
        }
    }
}

// ---- what identifies a kernel ------------------------------------------------------------------

TEST(XorKey, EverythingMatters) {
    std::set<std::string> keys;
    const auto add = [&](const Matrix &m, gfk_jit_target target, const char *compiler) {
        const gfk_bytes key =
            gfk_jit_key(&m.field, m.rows, m.cols, m.elements.data(), &target, compiler);
        ASSERT_NE(key.data, nullptr);
        EXPECT_TRUE(keys.emplace(static_cast<const char *>(key.data), key.size).second)
            << "after " << keys.size() << " others";
        std::free(key.data);
    };
    const Matrix m = make_matrix("random", make_field(8), 2, 3);
    Matrix turned = m, element = m, field = m;
    std::swap(turned.rows, turned.cols);
    element.elements[5] ^= 1;
    field.field = make_field(8, 0x11b);
    for (const Matrix &matrix : {m, turned, element, field})
        add(matrix, {90, 4, 128, 0}, "a");
    for (const gfk_jit_target &target :
         {gfk_jit_target{90, 4, 128, 5}, gfk_jit_target{80, 4, 128, 0},
          gfk_jit_target{90, 2, 128, 0}, gfk_jit_target{90, 4, 256, 0}})
        add(m, target, "a");
    add(m, {90, 4, 128, 0}, "b");
}

// A change of the generated text needs a new GFK_JIT_GENERATOR, or caches would go on giving the
// old kernels. Then the number here follows.
TEST(XorKey, GeneratorVersion) {
    const auto hash_of = [](const char *kind,
                            const std::vector<std::pair<size_t, size_t>> &shapes) {
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        for (const unsigned w : {8u, 16u, 32u})
            for (const auto &[rows, cols] : shapes) {
                const Matrix m = make_matrix(kind, make_field(w), rows, cols);
                for (const char c : ptx_of(m, gfk_jit_choose_target(w, rows, cols, 90)))
                    hash = (hash ^ static_cast<uint8_t>(c)) * UINT64_C(0x100000001b3);
            }
        return hash;
    };
    const uint64_t codes = hash_of("random", {{2, 4}, {4, 10}, {16, 32}});
    const uint64_t updates = hash_of("equal", {{2, 2}, {4, 2}, {4, 1}});
    EXPECT_EQ(GFK_JIT_GENERATOR, 7);
    EXPECT_EQ(codes, UINT64_C(0x069a7909d2fc2568)) << std::hex << "0x" << codes;
    EXPECT_EQ(updates, UINT64_C(0xbd5abed574417b83)) << std::hex << "0x" << updates;
}

} // namespace
