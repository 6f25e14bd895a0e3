// SPDX-License-Identifier: BSD-3-Clause
// Statuses as text, and allocations that fail.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <set>

#include "support/row_fixture.h"

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

gfk_multiplier_desc unlimited(Row row) {
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.kernel = row->id;
    desc.table_limit = UINT64_MAX;
    return desc;
}

// The status of creating the row's multiplier in a process that may use little address space.
gfk_status create_with_little_memory(Row row) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit = {rlim_t(1) << 30, rlim_t(1) << 30};
        if (setrlimit(RLIMIT_AS, &limit) != 0)
            _exit(255);
        const gfk_field field = make_field(row->w);
        const gfk_multiplier_desc desc = unlimited(row);
        rlimit there = limit;
        const auto untouched = reinterpret_cast<gfk_multiplier_t>(&there);
        gfk_multiplier_t m = untouched;
        const gfk_status status = gfk_multiplier_create(&m, &field, &desc);
        _exit(m == untouched ? status : 254);
    }
    int result = 0;
    EXPECT_EQ(child, waitpid(child, &result, 0));
    EXPECT_TRUE(WIFEXITED(result));
    return static_cast<gfk_status>(WEXITSTATUS(result));
}

class OutOfMemory : public RowTest {};

TEST_P(OutOfMemory, IsAStatus) {
    if (row()->table_bytes <= uint64_t(1) << 30)
        return; // its tables are the caller's workspace
    if (on_host(row())) {
        if (SANITIZED)
            GTEST_SKIP() << "no memory limits under a sanitizer";
        EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY, create_with_little_memory(row()));
        count_checked();
        return;
    }
    // Leave half of what the tables need.
    std::vector<void *> blocks;
    for (size_t block = size_t(1) << 36; block >= size_t(1) << 30; block /= 2)
        while (device::free_bytes() > block + row()->table_bytes / 2)
            if (void *memory = device::allocate(block))
                blocks.push_back(memory);
            else
                break;
    const gfk_field f = field();
    const gfk_multiplier_desc desc = unlimited(row());
    const auto untouched = reinterpret_cast<gfk_multiplier_t>(&blocks);
    gfk_multiplier_t m = untouched;
    EXPECT_STATUS(GFK_STATUS_OUT_OF_MEMORY, gfk_multiplier_create(&m, &f, &desc));
    EXPECT_EQ(untouched, m);
    EXPECT_FALSE(device::error_pending());
    for (void *memory : blocks)
        device::release(memory);
    count_checked();
}

PER_ROW(OutOfMemory, giant_rows());

} // namespace
