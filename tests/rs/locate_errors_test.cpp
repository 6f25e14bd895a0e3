// SPDX-License-Identifier: BSD-3-Clause
// What locating refuses beyond what all calls do (tests/calls), and its workspace.
#include "corrupted_codeword.h"

namespace {

class RsLocateCall : public SideTest {
  protected:
    static constexpr size_t K = 5, M = 4;
};
PER_SIDE(RsLocateCall);

TEST_P(RsLocateCall, WrongRepair) {
    const RsCode code = make_rs_code(host(), make_field(16), {GFK_RS_CAUCHY, K, M});
    Random random;
    CorruptedCodeword codeword(host(), code.get(), 4096, true, random);
    codeword.damage_some(100, 2, random);
    for (int wrong : {-1, 2}) {
        EXPECT_STATUS(INVALID, codeword.locate(static_cast<gfk_rs_repair>(wrong)));
        EXPECT_TRUE(codeword.is_untouched());
        count_checked();
    }
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
