// SPDX-License-Identifier: BSD-3-Clause
// The layout of the ring kernels on the CPU: the MMA is emulated, with its operand in shared memory
// read through the descriptor; what lanes do before and after it is the kernels' own code.
#include "layout_check.h"
#include "mma_emulation.h"

#include "kernels/product/bmma/fragment_ring.h"

using namespace gfk::bmma;

namespace {

template <class T>
size_t first_word(int warp, int lane) { // of a lane's vector
    return warp * (T::warp_bytes / 4) + lane / T::lanes * 4;
}

// What the four warps of a warpgroup take of a stage, as the kernel computes it. The table lies
// behind some other bytes of shared memory.
template <class T>
void run_stage(const std::vector<uint32_t> &table, const Regions &in, Regions &out) {
    constexpr size_t start = 1024;
    std::vector<uint32_t> shared(start / 4, 0x5a5a5a5a);
    shared.insert(shared.end(), table.begin(), table.end());
    for (int word = 0; word < 4; word += 2) {
        static uint32_t words[4][32][2];
        for (int turn = 0; turn < 2; turn++) {
            static uint32_t a[4][32][T::chains][T::steps][2], c[4][32][T::chains][T::accumulators];
            for (int warp = 0; warp < 4; warp++)
                for (int lane = 0; lane < 32; lane++) {
                    uint32_t x[T::slots][2];
                    for (int s = 0; s < T::slots; s++) {
                        // A missing input is loaded from some other region: it must not matter.
                        const size_t i = s * T::lanes + lane % T::lanes;
                        for (int n = 0; n < 2; n++)
                            x[s][n] =
                                in[i < in.size() ? i : 0][first_word<T>(warp, lane) + word + n];
                    }
                    rows_of<T>(x, turn, a[warp][lane]);
                }
            for (int chain = 0; chain < T::chains; chain++) {
                Accumulators d;
                for (auto &warp : d)
                    for (auto &lane : warp)
                        lane.assign(T::accumulators, 0);
                for (int s = 0; s < T::steps; s += 2) {
                    std::array<Fragment, 4> fragments;
                    for (int warp = 0; warp < 4; warp++)
                        for (int lane = 0; lane < 32; lane++) {
                            const auto &rows = a[warp][lane][chain];
                            fragments[warp][lane] = {rows[s][0], rows[s][1], rows[s + 1][0],
                                                     rows[s + 1][1]};
                        }
                    wgmma(d, fragments, shared,
                          descriptor<T>(start) +
                              (turn * T::turn_bytes + s / 2 * T::step_bytes) / 16);
                }
                for (int warp = 0; warp < 4; warp++)
                    for (int lane = 0; lane < 32; lane++)
                        for (int i = 0; i < T::accumulators; i++)
                            c[warp][lane][chain][i] = d[warp][lane][i];
            }
            for (int warp = 0; warp < 4; warp++)
                for (int lane = 0; lane < 32; lane++) {
                    if (turn == 0)
                        words[warp][lane][0] = words[warp][lane][1] = 0;
                    add_parities<T>(c[warp][lane], turn, words[warp][lane]);
                }
        }
        for (int warp = 0; warp < 4; warp++)
            for (int lane = 0; lane < 32; lane++)
                for (int n = 0; n < 2 && (size_t)lane % T::lanes < out.size(); n++)
                    out[lane % T::lanes][first_word<T>(warp, lane) + word + n] =
                        words[warp][lane][n];
    }
}

template <class T>
void check(size_t rows, size_t cols, uint64_t polynomial, bool ones = false) {
    SCOPED_TRACE(testing::Message()
                 << "w " << T::w << ", lanes " << T::lanes << ", slots " << T::slots << ", " << cols
                 << " -> " << rows << (ones ? ", all ones" : ""));
    check_unit<T, T::warp_bytes>(rows, cols, polynomial, ones, run_stage<T>);
}

// The largest counts there can be, whatever the matrix: all columns and all rows are ones. One
// count is odd at a time, and makes one bit of two words: each bit once.
template <class T>
void check_full_counts() {
    uint64_t seen = 0;
    for (int turn = 0; turn < 2; turn++)
        for (int chain = 0; chain < T::chains; chain++)
            for (int at = 0; at < T::accumulators; at++) {
                uint32_t c[T::chains][T::accumulators], words[2] = {};
                for (auto &counts : c)
                    for (uint32_t &count : counts)
                        count = T::most_count;
                c[chain][at]--;
                add_parities<T>(c, turn, words);
                const uint64_t bits = (uint64_t)words[1] << 32 | words[0];
                ASSERT_TRUE(bits != 0 && (bits & (bits - 1)) == 0) << "count " << at;
                ASSERT_EQ(seen & bits, 0u) << "count " << at;
                seen |= bits;
                count_checked();
            }
    ASSERT_EQ(seen, ~UINT64_C(0));
}

template <class T>
void check_layout() {
    static_assert(T::most_count % 2 == 0, "");
    check<T>(T::lanes, T::inputs, 0);
    check<T>(T::lanes, T::inputs, 0, true);
    check<T>(1, T::inputs, T::w == 8 ? 0x11b : T::w == 16 ? 0x1002d : 0x1000000af);
    check<T>(T::lanes - 1, T::inputs - T::lanes + 1, 0);
    check_full_counts<T>();
}

template <int W, int Lanes, int... Slots>
void check_all() {
    (check_layout<RingLayout<W, Lanes, Slots>>(), ...);
}

TEST(BmmaRingLayout, FourLanes) {
    check_all<8, 4, 1, 2, 3, 4, 5, 6, 7, 8>();
    check_all<16, 4, 1, 2, 3, 4, 5, 6, 7, 8>();
    check_all<32, 4, 1, 2, 3, 4, 5, 6, 7, 8>();
}

TEST(BmmaRingLayout, TwoLanes) {
    check_all<8, 2, 1, 2, 3, 4, 5, 6, 7, 8>();
    check_all<16, 2, 1, 2, 3, 4, 5, 6, 7, 8>();
    check_all<32, 2, 1, 2, 3, 4, 5, 6, 7, 8>();
}

} // namespace
