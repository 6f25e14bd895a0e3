// SPDX-License-Identifier: BSD-3-Clause
// The list of kernels: complete, consistent, and honest about rows that cannot run here.
#include <cctype>
#include <cstring>

#include "support/list_check.h"
#include "support/row_fixture.h"

namespace {

TEST(Registry, IdsAreUniqueAndFound) {
    expect_a_list(gfk_kernel_count(), gfk_kernel_at, gfk_kernel_find, "split_w8");
}

// The id is <method>_w<W>_<implementation>[_<variant>] of the row's own fields.
TEST(Registry, IdsSayWhatTheRowIs) {
    for (Row row : every_row()) {
        std::string id = gfk_method_name(row->method);
        for (char &letter : id)
            letter = static_cast<char>(std::tolower(letter));
        id += "_w" + std::to_string(row->w) + "_" + gfk_implementation_name(row->implementation);
        if (*row->variant != '\0')
            id += std::string("_") + row->variant;
        EXPECT_EQ(id, row->id);
        // "16 4", or GF-Complete's first number and then how the parts really are.
        const std::string parameters = row->parameters;
        EXPECT_EQ(row->arg1 != 0, !parameters.empty()) << row->id;
        if (row->arg1 != 0) {
            EXPECT_EQ(0u, parameters.find(std::to_string(row->arg1))) << row->id;
        }
        if (parameters.find(' ') != std::string::npos) {
            EXPECT_EQ(std::to_string(row->arg1) + " " + std::to_string(row->arg2), parameters);
        }
        EXPECT_EQ(row->arg1 != 0,
                  row->method == GFK_METHOD_SPLIT || row->method == GFK_METHOD_GROUP)
            << row->id;
        EXPECT_GT(row->tile_bytes, 0u) << row->id;
        EXPECT_EQ(0u, row->tile_bytes % (row->w / 8)) << row->id;
        const bool giant = (row->labels & GFK_LABEL_GIANT) != 0;
        EXPECT_EQ(giant, row->table_bytes > GFK_DEFAULT_TABLE_LIMIT ||
                             row->workspace_bytes > GFK_DEFAULT_TABLE_LIMIT)
            << row->id;
    }
}

TEST(Registry, HasEveryCell) {
    for (int implementation = 1; implementation <= GFK_IMPLEMENTATION_OPT; implementation++)
        for (int method = 1; method <= GFK_METHOD_CARRY_FREE; method++)
            for (unsigned w : {8u, 16u, 32u}) {
                unsigned plain = 0;
                for (Row row : every_row())
                    plain += row->implementation == implementation && row->method == method &&
                             row->w == w && *row->variant == '\0';
                EXPECT_EQ(1u, plain)
                    << gfk_method_name(static_cast<gfk_method>(method)) << " w=" << w << ' '
                    << gfk_implementation_name(static_cast<gfk_implementation>(implementation));
                count_checked();
            }
}

TEST(Registry, AbsentRowsSayWhy) {
    expect_reasons<gfk_kernel_info>(gfk_kernel_count(), gfk_kernel_at, gfk_kernel_available,
                                    on_host);
}

TEST(Registry, Names) {
    EXPECT_STREQ("AUTO", gfk_method_name(GFK_METHOD_AUTO));
    EXPECT_STREQ("BYTWO_p", gfk_method_name(GFK_METHOD_BYTWO_P));
    EXPECT_STREQ("CARRY_FREE", gfk_method_name(GFK_METHOD_CARRY_FREE));
    EXPECT_STREQ("auto", gfk_implementation_name(GFK_IMPLEMENTATION_AUTO));
    for (int i : {-1, 9, 1000}) {
        EXPECT_NE(nullptr, gfk_method_name(static_cast<gfk_method>(i)));
        EXPECT_NE(nullptr, gfk_implementation_name(static_cast<gfk_implementation>(i)));
    }
    const int version = gfk_version();
    EXPECT_EQ(GFK_VERSION_MAJOR * 10000 + GFK_VERSION_MINOR * 100 + GFK_VERSION_PATCH, version);
    EXPECT_EQ(GFK_PROJECT_VERSION, std::to_string(version / 10000) + "." +
                                       std::to_string(version / 100 % 100) + "." +
                                       std::to_string(version % 100));
}

// Rows that are wrong on purpose are for the fault tests' library alone.
TEST(Registry, HasNoFaultyRows) {
    for (Row row : every_row())
        EXPECT_EQ(nullptr, std::strstr(row->id, "faulty")) << row->id;
}

} // namespace
