// SPDX-License-Identifier: BSD-3-Clause
#include "nuclei/rows.h"
#include "cases/rlnc.h"
#include "papers.h"
#ifdef HAVE_CUDA
#include "probes/rows.h"
#endif

namespace {

constexpr size_t kSpare = 2; // packets

// 7168 packets of 1024 sources of 2048 bytes; decoders of these sources and of segments of a stream.
std::vector<RlncCase> codes(const Options &options) {
    using C = RlncCase;
    const bool small = !options.sizes.empty(); // for a test
    const size_t n = small ? 32 : 1024, packets = 7 * n;
    std::vector<C> cases;
    for (C::Operation operation : {C::Vectors, C::Matmul, C::Encode})
        cases.push_back({operation, 8, n, packets, size_t{operation == C::Vectors ? 0u : 2048u}});
    for (C::Operation operation : {C::Decode, C::Progressive}) {
        for (size_t segment : {128, 256, 512})
            if (!small || segment == 128)
                cases.push_back({operation, 8, segment, segment + kSpare, 4096});
        if (!small)
            cases.push_back({operation, 8, n, n + kSpare, 2048});
    }
    return cases;
}

#ifdef HAVE_CUDA
std::vector<EncodeCase> encoders(const Options &options) {
    std::vector<EncodeCase> cases;
    const bool small = !options.sizes.empty(); // for a test
    const Shape published = {8, small ? 64u : 1024u, small ? 128u : 7168u};
    const char *const bytes = "loop_multiply_b4", *const words = "loop_multiply_b4_words";
    cases.push_back({bytes, published, 2048, Cut::Coarse, true});
    for (const char *probe :
         {"peasant_b1", bytes, words, "loop_sign_b4_words", "loop_sign_b16_words"})
        cases.push_back({probe, published, 2048, Cut::Naive, true});
    for (const char *probe : {words, "loop_sign_b16_words", "matmul"})
        cases.push_back({probe, published, 2048});
    for (size_t n : {128, 256, 512})
        for (size_t block : {128, 512, 1024, 4096, 16384})
            for (const char *probe : {words, "loop_sign_b16_words", "matmul"})
                if (!small || n == 128)
                    cases.push_back({probe, {8, n, small ? 128u : 7168u}, block});
    for (size_t m : {128, 512, 2048, 7168})
        for (const char *probe :
             {words, "log_double_b4_shared_words", "log_prepared_b4_shared_words", "matmul"})
            if (!small || m == 128)
                cases.push_back({probe, {8, 128, m}, 4096});
    for (EncodeCase &c : cases)
        c.hot = true;
    return cases;
}

void add_device_rows(const Options &options, Rows *rows) {
    rlnc_rows(codes(options), rows);
    add_product("clmad_w8", {8, 128, 128}, kGiB, options, rows);
    for (const EncodeCase &c : encoders(options))
        rows->push_back(encode_row(c, true, rows));
    add_rate_rows(options, rows);
}
#endif

} // namespace

void add_nuclei_rows(const Options &options, Rows *rows) {
#ifdef HAVE_CUDA
    if (options.device)
        add_device_rows(options, rows);
#endif
    if (options.host) {
        rlnc_cpu_rows(codes(options), rows);
        add_rlnc_split_rows(options, rows);
    }
}
