// SPDX-License-Identifier: BSD-3-Clause
// GF-Complete's method strings: the ones it has, the ones it has and we do not, and nonsense.
#include <cstring>

#include "support/harness.h"

namespace {

gfk_multiplier_desc parsed(const char *text) {
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    EXPECT_OK(gfk_multiplier_desc_parse(&desc, text)) << text;
    count_checked();
    return desc;
}

void expect_error(gfk_status status, const char *text) {
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.method = GFK_METHOD_LOG;
    desc.arg1 = 5;
    desc.table_limit = 77;
    const gfk_multiplier_desc before = desc;
    EXPECT_STATUS(status, gfk_multiplier_desc_parse(&desc, text)) << '"' << text << '"';
    EXPECT_EQ(0, std::memcmp(&before, &desc, sizeof desc)) << "written in spite of the error";
    count_checked();
}

TEST(MethodString, Methods) {
    const struct {
        const char *word;
        gfk_method method;
    } methods[] = {
        {"DEFAULT", GFK_METHOD_AUTO},          {"SHIFT", GFK_METHOD_SHIFT},
        {"BYTWO_p", GFK_METHOD_BYTWO_P},       {"BYTWO_b", GFK_METHOD_BYTWO_B},
        {"TABLE", GFK_METHOD_TABLE},           {"LOG", GFK_METHOD_LOG},
        {"CARRY_FREE", GFK_METHOD_CARRY_FREE},
    };
    for (const auto &m : methods)
        for (const char *form : {"%", "% -", "% - -", "-m %", "-m % - -", "  %\t-   - ", "%  "}) {
            std::string text = form;
            text.replace(text.find('%'), 1, m.word);
            const gfk_multiplier_desc desc = parsed(text.c_str());
            EXPECT_EQ(m.method, desc.method) << text;
            EXPECT_EQ(0u, desc.arg1);
            EXPECT_EQ(0u, desc.arg2);
        }
}

TEST(MethodString, Numbers) {
    const gfk_multiplier_desc split = parsed("SPLIT 8 4 - -");
    EXPECT_EQ(GFK_METHOD_SPLIT, split.method);
    EXPECT_EQ(8u, split.arg1);
    EXPECT_EQ(4u, split.arg2);
    const gfk_multiplier_desc group = parsed("-m GROUP 4 8 - -");
    EXPECT_EQ(GFK_METHOD_GROUP, group.method);
    EXPECT_EQ(4u, group.arg1);
    EXPECT_EQ(8u, group.arg2);
    for (const char *text : {"SPLIT 16 4", "SPLIT 16 8 -", "SPLIT 32 4 - -", "SPLIT 32 8 - -",
                             "SPLIT 8 8 - -", "GROUP 2 2", "GROUP 8 8 - -", "SPLIT 4 32 - -"})
        parsed(text);
}

// Only method, arg1 and arg2 are the parser's.
TEST(MethodString, LeavesTheRestAlone) {
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.kernel = "some id";
    desc.implementation = GFK_IMPLEMENTATION_NAIVE;
    desc.device = 3;
    desc.table_limit = 99;
    desc.arg1 = desc.arg2 = 7;
    ASSERT_OK(gfk_multiplier_desc_parse(&desc, "SHIFT - -"));
    EXPECT_STREQ("some id", desc.kernel);
    EXPECT_EQ(GFK_IMPLEMENTATION_NAIVE, desc.implementation);
    EXPECT_EQ(3, desc.device);
    EXPECT_EQ(99u, desc.table_limit);
    EXPECT_EQ(sizeof desc, desc.size);
    EXPECT_EQ(0u, desc.arg1);
    EXPECT_EQ(0u, desc.arg2);
}

TEST(MethodString, NotOfferedHere) {
    for (const char *text :
         {"CARRY_FREE_GK - -", "CARRY_FREE ALTMAP -", "LOG_ZERO - -", "LOG_ZERO_EXT - -",
          "COMPOSITE 2 - - -", "TABLE CAUCHY -", "SPLIT 8 4 ALTMAP -", "SPLIT 16 4 SIMD -",
          "SPLIT 8 4 NOSIMD -", "BYTWO_p SSE -", "BYTWO_b NOSSE -", "TABLE DOUBLE -",
          "TABLE QUAD -", "TABLE - LAZY", "-m CARRY_FREE_GK - -"})
        expect_error(GFK_STATUS_NOT_SUPPORTED, text);
}

TEST(MethodString, Nonsense) {
    for (const char *text :
         {"",          " ",         "-",       "- -",       "-m",        "-m -m LOG", "log",
          "Log - -",   "LOGG",      "LO",      "SPLIT8 4",  "SPLIT 8",   "SPLIT - 8", "SPLIT 0 4",
          "SPLIT 8 0", "SPLIT 8 x", "GROUP 4", "LOG 4 - -", "BYTWO - -", "LOG\n",     "\xff\xfe"})
        expect_error(GFK_STATUS_UNKNOWN_METHOD, text);
    for (const char *text :
         {"SPLIT 8 - -", "SPLIT 8 4 2", "SPLIT 8 4 - - -", "SPLIT -8 4", "SPLIT +8 4",
          "SPLIT 8.0 4", "SPLIT 0x8 4", "SHIFT 1 1 - -", "TABLE - - -", "LOG - - garbage",
          "BYTWO_P - -", "CARRY_FREE 8 4 - -", "carry_free - -", "SPLIT 100000000000000000000 4",
          "SPLIT 4294967304 4"})
        expect_error(GFK_STATUS_UNKNOWN_METHOD, text);
}

TEST(MethodString, Null) {
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    EXPECT_STATUS(INVALID, gfk_multiplier_desc_parse(nullptr, "LOG - -"));
    EXPECT_STATUS(INVALID, gfk_multiplier_desc_parse(&desc, nullptr));
}

} // namespace
