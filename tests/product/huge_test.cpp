// SPDX-License-Identifier: BSD-3-Clause
// Products beyond 4 GiB, where 32-bit arithmetic would wrap.
#include <algorithm>
#include <cstring>

#include "support/engine_fixture.h"

namespace {

class ProductHuge : public EngineTest {};

// Two inputs and an output, each of more than 4 GiB; checked against region multiplies in pieces so
// short that nothing can wrap.
TEST_P(ProductHuge, BeyondFourGiB) {
    const bool host = on_host(engine());
    const size_t bytes = (options.reduced ? 16 * MIB : 4096 * MIB + 17 * MIB) + 3 * symbol_bytes();
    const size_t room = round_up(bytes, 4096), piece = 64 * MIB;
    SKIP_UNLESS_TAKES(1, 2);
    HostMemory on_host_free(host ? 3 * room + 1024 * MIB : 0);
    if (!on_host_free.is_there())
        GTEST_SKIP() << "the machine has too little free memory";
    if (!host && device::free_bytes() < 3 * room + 1024 * MIB)
        SKIP_WITHOUT_GPU("the device has too little free memory");
    Random random;
    const Matrix matrix = {1, 2, {random.symbol(w()) | 2, random.symbol(w()) | 2}};
    const Product product = make_product(field(), engine(), matrix);
    Memory memory(host, 3 * room + 16), expected(host, piece);
    if (host)
        fill_in_parallel(memory.data(), 3 * room);
    else
        device::fill_random(memory.data(), 3 * room + 16, options.seed);
    on_host_free.release();
    Runner plain(field(), reference_row(w(), host));
    // One phase, and phases that differ. The CPU, which takes its time, has one run, compared at
    // its beginning, around 4 GiB and at its end.
    const std::vector<size_t> shifts = host ? std::vector<size_t>{0} : std::vector<size_t>{0, 3};
    const std::vector<gfk_accumulate> modes =
        host ? std::vector<gfk_accumulate>{GFK_SET} : std::vector<gfk_accumulate>{GFK_SET, GFK_XOR};
    for (size_t shift : shifts) {
        uint8_t *in = memory.data(), *out = in + 2 * room + shift;
        const gfk_regions ins = {nullptr, in, room}, outs = {nullptr, out, room};
        for (gfk_accumulate mode : modes) {
            ASSERT_OK(gfk_product_run(product.get(), &ins, &outs, bytes, mode, nullptr));
            for (size_t done = 0; done < bytes; done += piece) {
                if (host && done != 0 && done + 2 * piece <= 4096 * MIB)
                    continue;
                const size_t n = std::min(piece, bytes - done);
                // Adding the same product once more leaves zero.
                plain.run(mode == GFK_SET ? matrix.at(0, 0) : 0, in + done, expected.data(), n);
                plain.run(mode == GFK_SET ? matrix.at(0, 1) : 0, in + room + done, expected.data(),
                          n, GFK_XOR);
                const size_t at = host ? first_difference(expected.data(), out + done, n)
                                       : device::first_difference(expected.data(), out + done, n);
                ASSERT_EQ(n, at) << "engine " << engine()->id << ", mode " << mode << ", shift "
                                 << shift << ": byte " << done + at;
            }
            count_checked();
        }
    }
}

std::vector<Engine> engines_of_the_library() {
    std::vector<Engine> list = engines();
    list.erase(std::remove_if(list.begin(), list.end(), [](Engine e) { return is_extra(e); }),
               list.end());
    return list;
}

PER_ENGINE(ProductHuge, engines_of_the_library());

} // namespace
