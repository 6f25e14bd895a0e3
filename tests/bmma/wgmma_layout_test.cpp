// SPDX-License-Identifier: BSD-3-Clause
// The layout of the BMMA engine's warpgroup kernel on the CPU: the MMA is emulated, with its
// operand in shared memory read through the descriptor; what lanes do before and after it is the
// kernel's own code.
#include "layout_check.h"
#include "mma_emulation.h"

#include "kernels/product/bmma/fragment_wgmma_w8.h"

using namespace gfk::bmma;

namespace {

// A lane's word of a panel's output, from its counts in both chains.
template <class T>
uint32_t word_of(const std::vector<uint32_t> &first, const std::vector<uint32_t> &second,
                 int panel) {
    uint32_t c[2][T::accumulators], halves[2][8];
    for (int i = 0; i < T::accumulators; i++) {
        c[0][i] = first[i];
        c[1][i] = second[i];
    }
    for (int chain = 0; chain < 2; chain++)
        join_rows(c[chain], panel, halves[chain]);
    return parities(halves[0], halves[1]);
}

// One unit of a warpgroup through all tiles, as the kernel does it. The table lies behind some
// other bytes of shared memory; a last tile's missing panels are garbage.
template <class T>
void run_unit(const std::vector<uint32_t> &table, const Regions &in, Regions &out) {
    constexpr size_t start = 1024;
    const size_t tiles = divide_up(out.size(), T::instruction_outputs);
    std::vector<uint32_t> shared(start / 4, 0x5a5a5a5a);
    shared.insert(shared.end(), table.begin(), table.end());
    shared.resize((start + tiles * T::instruction_bytes) / 4, 0xa5a5a5a5);

    static uint32_t a[4][32][T::symbols][T::steps];
    for (int warp = 0; warp < 4; warp++)
        for (int lane = 0; lane < 32; lane++) {
            uint32_t x[T::slots][T::lane_words];
            for (int s = 0; s < T::slots; s++) {
                // A missing input is loaded from some other region: it must not matter.
                const size_t i = s * T::lanes + lane % T::lanes;
                for (int word = 0; word < T::lane_words; word++)
                    x[s][word] = in[i < in.size() ? i : i % 4]
                                   [(warp * T::vectors + lane / T::lanes) * T::lane_words + word];
            }
            arrange<T>(x, a[warp][lane]);
        }
    for (size_t tile = 0; tile < tiles; tile++) {
        std::array<Accumulators, 2> d; // of the two chains of a word
        for (int chain = 0; chain < T::chains; chain++) {
            for (auto &warp : d[chain % 2])
                for (auto &lane : warp)
                    lane.assign(T::accumulators, 0);
            for (int s = 0; s < T::mmas; s++) {
                std::array<Fragment, 4> fragments;
                for (int warp = 0; warp < 4; warp++)
                    for (int lane = 0; lane < 32; lane++) {
                        const auto &p = a[warp][lane][2 * chain], &q = a[warp][lane][2 * chain + 1];
                        fragments[warp][lane] = {p[2 * s], q[2 * s], p[2 * s + 1], q[2 * s + 1]};
                    }
                wgmma(d[chain % 2], fragments, shared,
                      descriptor<T>(start) + tile * (T::instruction_bytes / 16) +
                          s * (T::step_bytes / 16));
            }
            if (chain % 2 == 0)
                continue;
            for (int warp = 0; warp < 4; warp++)
                for (int lane = 0; lane < 32; lane++)
                    for (int panel = 0; panel < T::instruction_panels; panel++) {
                        const size_t output =
                            tile * T::instruction_outputs + panel * T::outputs + lane % T::lanes;
                        if (output < out.size())
                            out[output]
                               [(warp * T::vectors + lane / T::lanes) * T::lane_words + chain / 2] =
                                   word_of<T>(d[0][warp][lane], d[1][warp][lane], panel);
                    }
        }
    }
}

template <class T>
void check(size_t rows, size_t cols, uint64_t polynomial, bool ones = false) {
    SCOPED_TRACE(testing::Message() << "steps " << T::mmas << " words " << T::lane_words << ", "
                                    << cols << " -> " << rows << (ones ? ", all ones" : ""));
    check_unit<T>(rows, cols, polynomial, ones, run_unit<T>);
}

// Full and partial steps, panels and tiles, and the largest counts there are.
template <int Steps, int Words, int Panels>
void check_all() {
    using T = WgmmaLayoutW8<Steps, Words, Panels>;
    check<T>(T::instruction_outputs, T::inputs, 0);
    check<T>(3, T::inputs, 0, true);
    check<T>(T::instruction_outputs + 5, T::inputs - 3, 0x11b);
    check<T>(1, T::inputs - 28, 0);
}

TEST(BmmaWgmmaLayout, SixteenBytes) {
    check_all<1, 4, 2>();
    check_all<2, 4, 2>();
}
TEST(BmmaWgmmaLayout, EightBytes) {
    check_all<1, 2, 4>();
    check_all<2, 2, 2>();
    check_all<3, 2, 2>();
    check_all<4, 2, 2>();
}
TEST(BmmaWgmmaLayout, FourBytes) {
    check_all<4, 1, 8>();
    check_all<5, 1, 2>();
    check_all<7, 1, 1>();
    check_all<8, 1, 2>();
}

} // namespace
