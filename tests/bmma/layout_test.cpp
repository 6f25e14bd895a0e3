// SPDX-License-Identifier: BSD-3-Clause
// The BMMA engines' layout on the CPU: the MMA is emulated with the fragments that the PTX ISA
// documents, what lanes do before and after it is the kernels' own code, and the result is compared
// with the field's arithmetic.
#include "mma_emulation.h"

using namespace gfk::bmma;

namespace {

// One unit of cells through all passes and panels, as the kernels do it.
template <class T>
void run(const std::vector<uint32_t> &table, const Regions &in, Regions &out) {
    const size_t rows = out.size(), cols = in.size();
    for (auto &region : out)
        std::fill(region.begin(), region.end(), 0); // passes add to it
    const size_t panels = gfk_divide_up(rows, T::outputs), passes = gfk_divide_up(cols, T::inputs);
    for (size_t pass = 0; pass < passes; pass++) {
        static uint32_t a[32][T::symbols][T::steps];
        for (int lane = 0; lane < 32; lane++) {
            uint32_t x[T::slots][T::lane_words];
            for (int s = 0; s < T::slots; s++) {
                // A missing input is loaded from some other region: it must not matter.
                size_t i = pass * T::inputs + s * T::lanes + lane % T::lanes;
                i = i < cols ? i : 0;
                for (int word = 0; word < T::lane_words; word++)
                    x[s][word] = in[i][T::lane_words * (lane / T::lanes) + word];
            }
            arrange<T>(x, a[lane]);
        }
        for (size_t j = 0; j < panels; j++) {
            const uint32_t *b = table.data() + (pass * panels + j) * panel_words<T>();
            uint32_t words[32][T::words] = {};
            run_panel<T>(a, b, words);
            for (int lane = 0; lane < 32; lane++)
                for (int word = 0; word < T::words; word++) {
                    const int share = lane % T::lanes;
                    const size_t output = T::w == 32 ? j : j * T::outputs + share;
                    const int at = T::lane_words * (lane / T::lanes) + (T::w == 32 ? share : word);
                    if (output < rows)
                        out[output][at] ^= words[lane][word];
                }
        }
    }
}

// Full and partial passes and panels, more than one of each, and the largest counts there are.
template <class T>
void check_all(uint64_t other_polynomial) {
    const Unit unit = make_unit<T>(T::vectors * T::lane_words, run<T>);
    check_unit(unit, T::outputs, T::inputs, 0, false);
    check_unit(unit, T::outputs, T::inputs, 0, true);
    check_unit(unit, 1, 1, 0, false);
    check_unit(unit, T::outputs + 1, T::inputs - (T::inputs > 1), other_polynomial, false);
    check_unit(unit, 2 * T::outputs + 1, T::inputs + 1, 0, false);
}

template <int W, int... Slots>
void check_slots(uint64_t other_polynomial) {
    (check_all<Layout<W, Slots>>(other_polynomial), ...);
}

TEST(BmmaLayout, W8) {
    check_slots<8, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32>(0x11b);
}
TEST(BmmaLayout, W16) {
    check_slots<16, 1, 2, 3, 4, 5, 6, 8, 16>(0x1002d);
}
TEST(BmmaLayout, W32) {
    check_slots<32, 1, 2, 3, 4, 5, 8, 16>(0x1000000af);
}

} // namespace
