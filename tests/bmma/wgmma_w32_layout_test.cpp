// SPDX-License-Identifier: BSD-3-Clause
// The layout of the warpgroup kernel of w = 32 on the CPU: the MMA is emulated, with its operand in
// shared memory read through the descriptor; what lanes do before and after it is the kernel's own
// code.
#include "layout_check.h"
#include "mma_emulation.h"

#include "kernels/product/bmma/fragment_wgmma_w32.h"

using namespace gfk::bmma;

namespace {

template <class T>
size_t cell_of(int warp, int lane) {
    return (size_t)(warp * T::vectors + lane / 4) * 4; // in words
}

// One unit of a warpgroup, as the kernel does it. The table lies behind some other bytes of shared
// memory.
template <class T>
void run_unit(const std::vector<uint32_t> &table, const Regions &in, Regions &out) {
    constexpr size_t start = 1024;
    std::vector<uint32_t> shared(start / 4, 0x5a5a5a5a);
    shared.insert(shared.end(), table.begin(), table.end());
    static uint32_t x[4][32][T::slots][4], y[4][32][4]; // of every lane: its cells of the inputs,
                                                        // its output's
    for (int warp = 0; warp < 4; warp++)
        for (int lane = 0; lane < 32; lane++)
            for (int s = 0; s < T::slots; s++) {
                // A missing input is loaded from some other region: it must not matter.
                const size_t i = s * 4 + lane % 4;
                for (int word = 0; word < 4; word++)
                    x[warp][lane][s][word] =
                        in[i < in.size() ? i : lane % 4][cell_of<T>(warp, lane) + word];
            }
    for (int row = 0; row < 4; row += 2)
        for (int part = 0; part < T::instructions; part++) {
            Accumulators d;
            for (auto &warp : d)
                for (auto &lane : warp)
                    lane.assign(T::accumulators, 0);
            for (int s = 0; s < T::slots; s += 2) {
                const int other = s + 1 < T::slots ? s + 1 : s;
                std::array<Fragment, 4> fragments;
                for (int warp = 0; warp < 4; warp++)
                    for (int lane = 0; lane < 32; lane++) {
                        const auto &p = x[warp][lane][s], &q = x[warp][lane][other];
                        fragments[warp][lane] = {p[row], p[row + 1], q[row], q[row + 1]};
                    }
                wgmma(d, fragments, shared,
                      descriptor<T>(start) + part * (T::instruction_bytes / 16) +
                          s / 2 * (T::step_bytes / 16));
            }
            for (int warp = 0; warp < 4; warp++)
                for (int lane = 0; lane < 32; lane++) {
                    uint32_t c[T::accumulators];
                    for (int i = 0; i < T::accumulators; i++)
                        c[i] = d[warp][lane][i];
                    uint32_t(&words)[4] = y[warp][lane];
                    if (part == 0)
                        words[row] = words[row + 1] = 0;
                    parities<T>(c, part, words[row], words[row + 1]);
                }
        }
    for (int warp = 0; warp < 4; warp++)
        for (int lane = 0; lane < 32; lane++)
            for (int word = 0; word < 4 && (size_t)lane % 4 < out.size(); word++)
                out[lane % 4][cell_of<T>(warp, lane) + word] = y[warp][lane][word];
}

template <class T>
void check(size_t rows, size_t cols, uint64_t polynomial, bool ones = false) {
    SCOPED_TRACE(testing::Message() << "slots " << T::slots << ", " << cols << " -> " << rows
                                    << (ones ? ", all ones" : ""));
    check_unit<T>(rows, cols, polynomial, ones, run_unit<T>);
}

// The largest counts there can be, whatever the matrix: all columns and all rows are ones.
template <class T>
void check_full_counts() {
    const uint32_t all = 128 * T::slots;
    for (int n = 0; n < 32; n++)
        for (int row = 0; row < 2; row++) {
            uint32_t c[T::accumulators], words[2] = {};
            const int at = n % T::instruction_counts;
            for (uint32_t &count : c)
                count = all - all % 2;
            c[at / 2 * 4 + at % 2 + 2 * row]--;
            parities<T>(c, n / T::instruction_counts, words[0], words[1]);
            ASSERT_EQ(words[row], 1u << T::bit(n)) << "count " << n;
            ASSERT_EQ(words[1 - row], 0u) << "count " << n;
            count_checked();
        }
}

template <int... Slots>
void check_all() {
    const auto check_one = [](auto layout) {
        using T = decltype(layout);
        check<T>(4, T::inputs, 0);
        check<T>(4, T::inputs, 0, true);
        check<T>(1, T::inputs, 0x1000000af);
        if (T::slots > 1)
            check<T>(3, T::inputs - 3, 0);
        check_full_counts<T>();
    };
    (check_one(WgmmaLayoutW32<Slots>()), ...);
}

TEST(BmmaWgmmaW32Layout, Slots) {
    check_all<1, 2, 3, 4, 5, 6, 7, 8>();
}

} // namespace
