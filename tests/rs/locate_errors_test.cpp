// SPDX-License-Identifier: BSD-3-Clause
// Locating: bad input has its status and changes nothing.
#include <cstring>
#include <functional>

#include "corrupted_codeword.h"

namespace {

class RsLocateCall : public SideTest {};
PER_SIDE(RsLocateCall);

constexpr size_t K = 5, M = 4, BYTES = 4096;

struct Arguments {
    gfk_rs_t code;
    const gfk_regions *data, *parity;
    size_t bytes;
    int repair; // not the enumeration, which must not hold the wrong values tried here
    gfk_rs_verdict *verdict;
    uint64_t *counts;
    void *workspace;
    size_t workspace_bytes;
    gfk_stream_t stream;
};

TEST_P(RsLocateCall, Mistakes) {
    const gfk_field field = make_field(16);
    const RsCode code = make_rs_code(host(), field, {GFK_RS_CAUCHY, K, M});
    Random random;
    CorruptedCodeword codeword(host(), code.get(), BYTES, true, random);
    for (size_t symbol = 0; symbol < BYTES / 2; symbol += 100)
        codeword.damage_some(symbol, 2, random);
    const Arguments good = {code.get(),
                            codeword.data(),
                            codeword.parity(),
                            BYTES,
                            GFK_RS_REPAIR,
                            codeword.verdict_memory(),
                            codeword.counts_memory(),
                            codeword.workspace().data(),
                            codeword.workspace().size(),
                            nullptr};
    gfk_rs_verdict verdict;
    std::vector<uint64_t> counts;
    Bytes workspace;
    const auto locate = [&](const std::function<void(Arguments &)> &spoil) {
        Arguments a = good;
        spoil(a);
        codeword.put();
        codeword.take();
        verdict = codeword.verdict();
        counts = codeword.counts();
        workspace = codeword.workspace().read();
        return gfk_rs_locate(a.code, a.data, a.parity, a.bytes,
                             static_cast<gfk_rs_repair>(a.repair), a.verdict, a.counts, a.workspace,
                             a.workspace_bytes, a.stream);
    };
    const auto is_untouched = [&] {
        codeword.take();
        EXPECT_EQ(0, std::memcmp(&verdict, &codeword.verdict(), sizeof verdict));
        EXPECT_EQ(counts, codeword.counts());
        EXPECT_EQ(workspace, codeword.workspace().read());
        return codeword.is_untouched();
    };
    const auto refused = [&](gfk_status status, const char *what,
                             const std::function<void(Arguments &)> &spoil) {
        EXPECT_STATUS(status, locate(spoil)) << what;
        EXPECT_TRUE(is_untouched()) << what;
        count_checked();
    };
    refused(INVALID, "no code", [](Arguments &a) { a.code = nullptr; });
    for (int wrong : {-1, 2})
        refused(INVALID, "repair", [=](Arguments &a) { a.repair = wrong; });
    refused(GFK_STATUS_WORKSPACE_TOO_SMALL, "longer regions",
            [](Arguments &a) { a.bytes = size_t(1) << 30; });
    ASSERT_OK(codeword.locate(GFK_RS_REPAIR)); // the arguments were good
    ASSERT_TRUE(codeword.is_exact(GFK_RS_REPAIR));
}

// Nothing but the regions' overlap is different when they are only read.
TEST_P(RsLocateCall, ReportTakesOverlappingRegions) {
    const RsCode code = make_rs_code(host(), make_field(8), {GFK_RS_CAUCHY, 2, 2});
    Random random;
    CorruptedCodeword codeword(host(), code.get(), 64, true, random);
    codeword.put();
    void *pointers[] = {codeword.data()->pointers[0], codeword.data()->pointers[0]};
    const gfk_regions same = {pointers, nullptr, 0};
    for (gfk_rs_repair repair : {GFK_RS_REPORT, GFK_RS_REPAIR})
        EXPECT_STATUS(repair == GFK_RS_REPORT ? GFK_STATUS_SUCCESS : GFK_STATUS_OVERLAP,
                      gfk_rs_locate(code.get(), &same, codeword.parity(), 64, repair,
                                    codeword.verdict_memory(), codeword.counts_memory(),
                                    codeword.workspace().data(), codeword.workspace().size(),
                                    nullptr));
    codeword.take();
    EXPECT_TRUE(codeword.is_untouched());
    count_checked(2);
}

TEST_P(RsLocateCall, Workspace) {
    const RsCode code = make_rs_code(host(), make_field(8), {GFK_RS_CAUCHY, K, M});
    size_t workspace = 4711;
    EXPECT_STATUS(INVALID, gfk_rs_locate_workspace(nullptr, 64, &workspace));
    EXPECT_STATUS(INVALID, gfk_rs_locate_workspace(code.get(), 64, nullptr));
    EXPECT_EQ(4711u, workspace);
    const RsCode wide = make_rs_code(host(), make_field(32), {GFK_RS_CAUCHY, K, M});
    for (size_t bytes : {1, 2, 3, 4097})
        EXPECT_STATUS(GFK_STATUS_INVALID_SIZE,
                      gfk_rs_locate_workspace(wide.get(), bytes, &workspace));
    EXPECT_EQ(4711u, workspace);
    for (size_t bytes : {size_t(0), size_t(1), size_t(1) << 20, size_t(1) << 40, SIZE_MAX}) {
        ASSERT_OK(gfk_rs_locate_workspace(code.get(), bytes, &workspace));
        EXPECT_EQ(0u, workspace % 256);
        EXPECT_EQ(bytes != 0, workspace != 0);
        count_checked();
    }
}

} // namespace
