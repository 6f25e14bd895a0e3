// SPDX-License-Identifier: BSD-3-Clause
// Statuses as text.
#include <cstring>
#include <set>

#include "support/harness.h"

namespace {

TEST(Status, HasANameAndASentence) {
    std::set<std::string> names, sentences;
    for (int i = 0; i <= GFK_STATUS_IO; i++) {
        const auto status = static_cast<gfk_status>(i);
        ASSERT_NE(nullptr, gfk_status_name(status));
        ASSERT_NE(nullptr, gfk_status_description(status));
        EXPECT_EQ(0, std::strncmp("GFK_STATUS_", gfk_status_name(status), 11));
        EXPECT_STRNE("GFK_STATUS_UNKNOWN", gfk_status_name(status));
        const std::string sentence = gfk_status_description(status);
        EXPECT_GT(sentence.size(), 10u);
        EXPECT_EQ('.', sentence.back());
        EXPECT_TRUE(names.insert(gfk_status_name(status)).second) << "twice: " << i;
        EXPECT_TRUE(sentences.insert(sentence).second) << "twice: " << sentence;
        count_checked();
    }
    EXPECT_STREQ("GFK_STATUS_SUCCESS", gfk_status_name(GFK_STATUS_SUCCESS));
    EXPECT_EQ(0, GFK_STATUS_SUCCESS);
}

TEST(Status, NumbersThatAreNone) {
    for (int i : {-1, int(GFK_STATUS_IO) + 1, 255, INT32_MAX, INT32_MIN}) {
        EXPECT_STREQ("GFK_STATUS_UNKNOWN", gfk_status_name(static_cast<gfk_status>(i)));
        ASSERT_NE(nullptr, gfk_status_description(static_cast<gfk_status>(i)));
        EXPECT_STRNE("", gfk_status_description(static_cast<gfk_status>(i)));
        count_checked();
    }
}

} // namespace
