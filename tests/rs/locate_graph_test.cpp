// SPDX-License-Identifier: BSD-3-Clause
// Locating in a graph, and on a stream of its own.
#include "corrupted_codeword.h"

namespace {

class RsLocateGraph : public SideTest {}; // streams are for devices
INSTANTIATE_TEST_SUITE_P(Device, RsLocateGraph, testing::Values(false));

// In a graph and on a stream of its own, with other damage each time.
TEST_P(RsLocateGraph, Replays) {
    for (unsigned w : {8u, 16u, 32u}) {
        const size_t symbols = 40000;
        const RsCode code = make_rs_code(false, make_field(w), {GFK_RS_CAUCHY, 10, 4});
        Random random;
        CorruptedCodeword codeword(false, code.get(), symbols * (w / 8), true, random);
        const Stream stream(false);
        ASSERT_OK(codeword.locate(GFK_RS_REPORT, stream.get())); // CUDA loads the code now
        const auto enqueue = [&] {
            return gfk_rs_locate(code.get(), codeword.data(), codeword.parity(), codeword.bytes(),
                                 GFK_RS_REPAIR, codeword.verdict_memory(), codeword.counts_memory(),
                                 codeword.workspace().data(), codeword.workspace().size(),
                                 stream.get());
        };
        device::Graph graph(stream.get());
        const gfk_status status = enqueue();
        graph.end();
        ASSERT_OK(status);
        for (int replay = 0; replay < 10; replay++) {
            codeword.damage_some(random.below(symbols / 10) * 10 + static_cast<size_t>(replay),
                                 1 + random.below(2), random);
            codeword.put();
            graph.launch(stream.get());
            stream.finish();
            codeword.take();
            ASSERT_TRUE(codeword.is_exact(GFK_RS_REPAIR));
            count_checked();
        }
    }
}

} // namespace
