// SPDX-License-Identifier: BSD-3-Clause
// Many decoders at once.
#include "fixture.h"

namespace {

class RlncThreads : public RlncTest {};

// Each of eight threads has decoders of its own, one of them destroyed while others work. They are of
// two codes, whose generations need different amounts of the shared memory of the same kernels.
TEST_P(RlncThreads, Decoders) {
    const size_t bytes = 40 * symbol(), generations = 6, sizes[] = {20, 110};
    const gfk_field field = make_field(w());
    gfk_rlnc_desc desc = this->desc();
    desc.threads = 3;
    const Rlnc codes[] = {make_rlnc(field, sizes[0], bytes, desc),
                          make_rlnc(field, sizes[1], bytes, desc)};
    on_threads(8, [&](int thread) {
        const size_t n = sizes[thread % 2], count = n + 2;
        const Rlnc &code = codes[thread % 2];
        Random random(static_cast<uint64_t>(thread));
        const Stream stream(host());
        for (int again = 0; again < (options.reduced ? 2 : 6); again++) {
            const gfk_rlnc_range range = {random.next() >> 1, generations,
                                          static_cast<uint32_t>(random.below(1000)), count};
            const Bytes content = random.bytes(generations * n * bytes);
            size_t space = 0;
            require_success(gfk_rlnc_encode_workspace(code.get(), &range, &space),
                            "gfk_rlnc_encode_workspace");
            Memory sources(host(), content), payloads(host(), generations * count * bytes);
            Memory workspace(host(), space), decoded(host(), content.size());
            const gfk_regions from = gfk_inputs_spaced(sources.data(), bytes);
            const gfk_regions sent = {nullptr, payloads.data(), bytes};
            const gfk_regions to = {nullptr, decoded.data(), bytes};
            const Decoder decoder = make_decoder(code, range.generation, generations, 2);
            const Headers headers = headers_of(range);
            std::vector<gfk_rlnc_record> records(generations);
            require_success(gfk_rlnc_encode(code.get(), &range, &from, &sent, nullptr, 0,
                                            workspace.data(), space, stream.get()),
                            "gfk_rlnc_encode");
            require_success(gfk_rlnc_decoder_add(decoder.get(), headers.data(), headers.size(),
                                                 nullptr, 0, &sent, nullptr, stream.get()),
                            "gfk_rlnc_decoder_add");
            require_success(gfk_rlnc_decoder_decode(decoder.get(), &to, nullptr, stream.get()),
                            "gfk_rlnc_decoder_decode");
            require_success(
                gfk_rlnc_decoder_wait(decoder.get(), stream.get(), 0, generations, records.data()),
                "gfk_rlnc_decoder_wait");
            if (decoded.read() != content)
                return testing::AssertionFailure() << "sources differ";
            count_checked(generations);
        }
        return testing::AssertionSuccess();
    });
}

INSTANTIATE_AT(RlncThreads, matmul_places());

} // namespace
