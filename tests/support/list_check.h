// SPDX-License-Identifier: BSD-3-Clause
// What holds for the lists of kernels and of engines alike.
#pragma once

#include <cstring>
#include <set>

#include "harness.h"

// All entries have an id of their own, by which they are found; other ids and indices give nothing.
template <class Info>
void expect_a_list(size_t count, const Info *(*at)(size_t), const Info *(*find)(const char *),
                   const char *no_id) {
    std::set<std::string> ids;
    for (size_t i = 0; i < count; i++) {
        EXPECT_TRUE(ids.insert(at(i)->id).second) << "twice: " << at(i)->id;
        EXPECT_EQ(at(i), find(at(i)->id));
        count_checked();
    }
    for (size_t none : {count, SIZE_MAX})
        EXPECT_EQ(nullptr, at(none));
    for (const char *none : {static_cast<const char *>(nullptr), "", no_id})
        EXPECT_EQ(nullptr, find(none));
}

// An entry can run here or says why not; of those on the host all can. A copy is no entry.
template <class Info>
void expect_reasons(size_t count, const Info *(*at)(size_t),
                    gfk_status (*available)(const Info *, int, const char **),
                    bool (*always)(const Info *)) {
    for (size_t i = 0; i < count; i++) {
        const char *reason = "not set";
        const gfk_status status = available(at(i), GFK_CURRENT_DEVICE, &reason);
        if (status == GFK_STATUS_SUCCESS) {
            EXPECT_EQ(nullptr, reason) << at(i)->id;
        } else {
            EXPECT_FALSE(always(at(i))) << at(i)->id;
            EXPECT_TRUE(status == GFK_STATUS_NOT_SUPPORTED || status == GFK_STATUS_NO_DEVICE);
            ASSERT_NE(nullptr, reason) << at(i)->id;
            EXPECT_GT(std::strlen(reason), 10u);
        }
        EXPECT_STATUS(status, available(at(i), GFK_CURRENT_DEVICE, nullptr));
        count_checked();
    }
    const Info copy = *at(0);
    EXPECT_STATUS(INVALID, available(&copy, GFK_CURRENT_DEVICE, nullptr));
    EXPECT_STATUS(INVALID, available(nullptr, GFK_CURRENT_DEVICE, nullptr));
}
