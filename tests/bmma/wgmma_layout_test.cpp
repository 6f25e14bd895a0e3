// SPDX-License-Identifier: BSD-3-Clause
// The layouts of the BMMA engine's warpgroup kernels on the CPU: the MMA is emulated, with its
// operand in shared memory read through the descriptor; what lanes do before and after it is the
// kernels' own code.
#include "mma_emulation.h"

#include <cstring>

#include "kernels/product/bmma/fragment_ring.h"

using namespace gfk::bmma;

namespace {

template <class Fn>
void for_lanes(const Fn &fn) { // of a warpgroup
    for (int warp = 0; warp < 4; warp++)
        for (int lane = 0; lane < 32; lane++)
            fn(warp, lane);
}

// The operand table lies behind some other bytes of shared memory; behind it there is garbage.
constexpr size_t START = 1024;
std::vector<uint32_t> shared_memory(const std::vector<uint32_t> &table, size_t bytes = 0) {
    std::vector<uint32_t> shared(START / 4, 0x5a5a5a5a);
    shared.insert(shared.end(), table.begin(), table.end());
    shared.resize(std::max(shared.size(), (START + bytes) / 4), 0xa5a5a5a5);
    return shared;
}

// The counts after some MMAs: rows(warp, lane, n) are a lane's registers of A for MMA n, whose part
// of the table begins at `offset` for the first.
template <class T, class Rows>
Accumulators count(int mmas, const std::vector<uint32_t> &shared, size_t offset, const Rows &rows) {
    Accumulators counts;
    for_lanes([&](int warp, int lane) { counts[warp][lane].assign(T::accumulators, 0); });
    for (int n = 0; n < mmas; n++) {
        std::array<Fragment, 4> a;
        for_lanes([&](int warp, int lane) { a[warp][lane] = rows(warp, lane, n); });
        wgmma(counts, a, shared, descriptor<T>(START) + (offset + n * T::step_bytes) / 16);
    }
    return counts;
}

// A missing input is loaded from some other region: it must not matter.
template <class T>
const std::vector<uint32_t> &input(const Regions &in, int slot, int lane) {
    const size_t i = slot * T::lanes + lane % T::lanes;
    return in[i < in.size() ? i : 0];
}

// ---- bytes, a table in shared memory ------------------------------------------------------------

// A lane's word of a panel's output, from its counts in both chains.
template <class T>
uint32_t word_of(const std::array<Accumulators, 2> &counts, int warp, int lane, int panel) {
    uint32_t c[2][T::accumulators], joined[8];
    for (int chain = 0; chain < 2; chain++)
        std::copy_n(counts[chain][warp][lane].begin(), T::accumulators, c[chain]);
    join_rows<T>(c[1], panel, joined);
    return parities<T>(c[0], panel, joined);
}

// One unit of a warpgroup through all tiles, as the kernel does it. A last tile's missing panels
// are garbage.
template <class T>
void run_unit(const std::vector<uint32_t> &table, const Regions &in, Regions &out) {
    const size_t tiles = gfk_divide_up(out.size(), T::instruction_outputs);
    const std::vector<uint32_t> shared = shared_memory(table, tiles * T::instruction_bytes);
    const auto first_word = [](int warp, int lane) {
        return (warp * T::vectors + lane / T::lanes) * T::lane_words;
    };
    static uint32_t a[4][32][T::symbols][T::steps];
    for_lanes([&](int warp, int lane) {
        uint32_t x[T::slots][T::lane_words];
        for (int s = 0; s < T::slots; s++)
            std::copy_n(&input<T>(in, s, lane)[first_word(warp, lane)], T::lane_words, x[s]);
        arrange<T>(x, a[warp][lane]);
    });
    for (size_t tile = 0; tile < tiles; tile++)
        for (int word = 0; word < T::chains / 2; word++) {
            std::array<Accumulators, 2> counts;
            for (int half = 0; half < 2; half++)
                counts[half] = count<T>(
                    T::mmas, shared, tile * T::instruction_bytes, [&](int warp, int lane, int n) {
                        const auto *symbols = a[warp][lane] + 2 * (2 * word + half);
                        const auto &p = symbols[0], &q = symbols[1];
                        return Registers{p[2 * n], q[2 * n], p[2 * n + 1], q[2 * n + 1]};
                    });
            for_lanes([&](int warp, int lane) {
                for (int panel = 0; panel < T::instruction_panels; panel++) {
                    const size_t output =
                        tile * T::instruction_outputs + panel * T::outputs + lane % T::lanes;
                    if (output < out.size())
                        out[output][first_word(warp, lane) + word] =
                            word_of<T>(counts, warp, lane, panel);
                }
            });
        }
}

// Full and partial steps, panels and tiles, and the largest counts there are.
template <int Steps, int Words, int Panels>
void check_bytes() {
    using T = WgmmaLayoutW8<Steps, Words, Panels>;
    const Unit unit = make_unit<T>(T::tile_bytes / 4, run_unit<T>);
    check_unit(unit, T::instruction_outputs, T::inputs, 0, false);
    check_unit(unit, 3, T::inputs, 0, true);
    check_unit(unit, T::instruction_outputs + 5, T::inputs - 3, 0x11b, false);
    check_unit(unit, 1, T::inputs - 28, 0, false);
}

// Counts that fit bytes: of a random matrix's columns, half are ones; and the largest such counts, all odd
// but one.
template <int Steps, int Words>
void check_light(size_t inputs) {
    using T = typename WgmmaLayoutW8<Steps, Words>::LightLayout;
    const Unit unit = make_unit<T>(T::tile_bytes / 4, run_unit<T>);
    check_unit(unit, T::instruction_outputs, inputs, 0, false);
    check_unit(unit, 3, inputs, 0, true);
    for (int at = 0; at < 2 * T::accumulators; at++) {
        std::array<Accumulators, 2> counts;
        for (Accumulators &c : counts)
            c[0][0].assign(T::accumulators, 255);
        counts[at / T::accumulators][0][0][at % T::accumulators] = 254;
        int zeros = 0;
        for (int panel = 0; panel < T::instruction_panels; panel++)
            zeros += __builtin_popcount(~word_of<T>(counts, 0, 0, panel));
        ASSERT_EQ(zeros, 1) << "count " << at;
        count_checked();
    }
}

TEST(BmmaWgmmaLayout, SixteenBytes) {
    check_bytes<1, 4, 2>();
    check_bytes<2, 4, 2>();
}
TEST(BmmaWgmmaLayout, EightBytes) {
    check_bytes<1, 2, 4>();
    check_bytes<2, 2, 2>();
    check_bytes<3, 2, 2>();
    check_bytes<4, 2, 2>();
}
TEST(BmmaWgmmaLayout, FourBytes) {
    check_bytes<4, 1, 8>();
    check_bytes<5, 1, 2>();
    check_bytes<7, 1, 1>();
    check_bytes<8, 1, 2>();
}

TEST(BmmaWgmmaLayout, Light) {
    check_light<1, 4>(30);
    check_light<2, 2>(48);
}

// ---- rings --------------------------------------------------------------------------------------

// The counts of turn Turn, of the instructions that the kernel starts.
template <class T>
using TurnCounts = uint32_t[4][32][T::chains][T::accumulators];
template <class T, int Turn>
void count_turn(const std::vector<uint32_t> &shared,
                const uint32_t (&a)[4][32][T::symbols][T::steps], TurnCounts<T> &c) {
    for (int chain = 0; chain < T::chains; chain++) {
        Accumulators counts;
        for_lanes([&](int warp, int lane) { counts[warp][lane].assign(T::accumulators, 0); });
        for (int n = 0; n < T::instructions; n++) {
            std::array<Fragment, 4> rows;
            for_lanes([&](int warp, int lane) {
                for (int i = 0; i < 4; i++) {
                    rows[warp][lane].push_back(
                        a[warp][lane][T::row(Turn, chain, n, i)][T::step(n, i)]);
                }
            });
            wgmma(counts, rows, shared, descriptor<T>(START) + T::offset(Turn, chain, n) / 16);
        }
        for_lanes([&](int warp, int lane) {
            std::copy_n(counts[warp][lane].begin(), T::accumulators, c[warp][lane][chain]);
        });
    }
}

// A turn's words. Kernels that pack one chain after the other must find the same.
template <class T, int Turn>
void add_turn(const uint32_t (&c)[T::chains][T::accumulators], uint32_t (&y)[T::turns]) {
    y[Turn] = parities_of<T>(c);
    if constexpr (T::one_by_one) {
        uint32_t packed[8];
        pack_second(c[1], packed);
        ASSERT_EQ(join_first(c[0], packed), y[Turn]);
    }
}

template <class T, int Turn>
void run_turn(const std::vector<uint32_t> &shared, const uint32_t (&a)[4][32][T::symbols][T::steps],
              uint32_t (&y)[4][32][T::turns]) {
    static TurnCounts<T> c;
    count_turn<T, Turn>(shared, a, c);
    for_lanes([&](int warp, int lane) { add_turn<T, Turn>(c[warp][lane], y[warp][lane]); });
    if constexpr (Turn + 1 < T::turns)
        run_turn<T, Turn + 1>(shared, a, y);
}

// The rows of the four warps' lanes: what a warpgroup takes of a stage.
template <class T>
size_t first_word(int warp, int lane) { // of a lane's
    return warp * (T::warp_bytes / 4) + lane / T::lanes * T::lane_words;
}
template <class T>
void load_stage(const Regions &in, uint32_t (&a)[4][32][T::symbols][T::steps]) {
    for_lanes([&](int warp, int lane) {
        uint32_t x[T::slots][T::lane_words];
        for (int s = 0; s < T::slots; s++)
            std::copy_n(&input<T>(in, s, lane)[first_word<T>(warp, lane)], T::lane_words, x[s]);
        arrange<T>(x, a[warp][lane]);
    });
}

// What the four warps of a warpgroup take of a stage, as the kernel computes it.
template <class T>
void run_stage(const std::vector<uint32_t> &table, const Regions &in, Regions &out) {
    const std::vector<uint32_t> shared = shared_memory(table);
    static uint32_t a[4][32][T::symbols][T::steps];
    load_stage<T>(in, a);
    uint32_t y[4][32][T::turns];
    run_turn<T, 0>(shared, a, y);
    for_lanes([&](int warp, int lane) {
        if (static_cast<size_t>(lane) % T::lanes < out.size())
            std::copy_n(y[warp][lane], T::turns, &out[lane % T::lanes][first_word<T>(warp, lane)]);
    });
}

// The largest counts there can be: all columns and all rows are ones, or as many as the layout
// bears. One count is odd at a time, and makes one bit of a vector: each bit once.
template <class T, int Turn>
void check_full_counts(uint32_t (&seen)[T::turns]) {
    static uint32_t even[T::chains][T::accumulators];
    constexpr uint32_t most = T::most_count / 2 * 2;
    for (auto &counts : even)
        std::fill_n(counts, T::accumulators, most);
    for (int chain = 0; chain < T::chains; chain++)
        for (int at = 0; at < T::accumulators; at++) {
            static uint32_t c[T::chains][T::accumulators];
            std::memcpy(c, even, sizeof c);
            c[chain][at] = most == T::most_count ? most - 1 : most + 1;
            uint32_t y[T::turns] = {};
            add_turn<T, Turn>(c, y);
            int bits = 0;
            for (int i = 0; i < T::turns; i++) {
                bits += __builtin_popcount(y[i]);
                ASSERT_EQ(seen[i] & y[i], 0u) << "count " << at;
                seen[i] |= y[i];
            }
            ASSERT_EQ(bits, 1) << "count " << at;
            count_checked();
        }
    if constexpr (Turn + 1 < T::turns)
        check_full_counts<T, Turn + 1>(seen);
}

// Half of a random matrix's bits are ones.
template <class T>
void check_ring(size_t inputs = T::inputs) {
    const Unit unit = make_unit<T>(T::warp_bytes, run_stage<T>);
    check_unit(unit, T::outputs, inputs, 0, false);
    check_unit(unit, T::outputs, inputs, 0, true);
    check_unit(unit, 1, inputs, T::w == 8 ? 0x11b : 0x1002d, false);
    check_unit(unit, T::outputs - 1, inputs - T::lanes + 1, 0, false);
    uint32_t seen[T::turns] = {};
    check_full_counts<T, 0>(seen);
    for (const uint32_t word : seen)
        ASSERT_EQ(word, 0xffffffff);
}

template <int... Slots>
void check_rings() {
    (check_ring<RingLayout<8, Slots>>(), ...);
    (check_ring<RingLayout<16, Slots>>(), ...);
}

TEST(BmmaRingLayout, Slots) {
    check_rings<1, 2, 3, 4, 5, 6, 7, 8, 9, 10>();
}
// Inputs so that no column has more than 255 ones.
TEST(BmmaRingLayout, Light) {
    check_ring<RingLayout<8, 8, true>>();
    check_ring<RingLayout<16, 5, true>>();
    check_ring<RingLayout<16, 8, true>>(24);
}

} // namespace
