// SPDX-License-Identifier: BSD-3-Clause
// The rule of a decoder: packets that are settled together, as on a device, and one by one, as on
// the CPU, have the same destinations and the same record.
#include <vector>

#include <gtest/gtest.h>

#include "host/rlnc/outcome.h"
#include "support/harness.h"

namespace {

struct Settled {
    std::vector<gfk_rlnc_destination> to;
    gfk_rlnc_record record;
};

// Settles the packets in groups of `group`.
Settled settle(const std::vector<gfk_rlnc_verdict> &verdicts, uint32_t spare, size_t group) {
    Settled s = {{}, {GFK_STATUS_SINGULAR, 0, 0, 0, 0, 0}};
    for (size_t first = 0; first < verdicts.size(); first += group) {
        const uint32_t room = spare - s.record.kept;
        gfk_rlnc_counts counts = {0, 0, 0};
        for (size_t i = first; i < verdicts.size() && i < first + group; i++) {
            const gfk_rlnc_vacancy free = {s.record.rank + counts.innovative, s.record.kept, room,
                                           counts.dependent};
            s.to.push_back(gfk_rlnc_destination_of(verdicts[i], free));
            counts.innovative += verdicts[i] == GFK_RLNC_HAS_PIVOT;
            counts.dependent += verdicts[i] == GFK_RLNC_NO_PIVOT;
            counts.all++;
        }
        gfk_rlnc_count(&s.record, counts, room);
    }
    return s;
}

TEST(RlncOutcome, GroupsAreSettledAsSinglePackets) {
    Random random;
    for (const uint32_t spare : {0u, 1u, 7u, 200u}) {
        std::vector<gfk_rlnc_verdict> verdicts(100);
        for (gfk_rlnc_verdict &v : verdicts)
            v = (gfk_rlnc_verdict)random.below(3);
        const Settled one = settle(verdicts, spare, 1);
        EXPECT_EQ(one.record.rank + one.record.kept + one.record.dropped + one.record.refused,
                  100u);
        EXPECT_LE(one.record.kept, spare);
        for (const size_t group : {2, 33, 100}) {
            count_checked();
            const Settled many = settle(verdicts, spare, group);
            EXPECT_EQ(many.record.rank, one.record.rank);
            EXPECT_EQ(many.record.kept, one.record.kept);
            EXPECT_EQ(many.record.dropped, one.record.dropped);
            EXPECT_EQ(many.record.refused, one.record.refused);
            for (size_t i = 0; i < verdicts.size(); i++) {
                EXPECT_EQ(many.to[i].slot, one.to[i].slot) << i;
                EXPECT_EQ(many.to[i].outcome, one.to[i].outcome) << i;
            }
        }
    }
}

TEST(RlncOutcome, EachVerdictHasItsDestination) {
    const gfk_rlnc_vacancy room = {5, 2, 4, 3}, full = {5, 2, 4, 4};
    const auto check = [](gfk_rlnc_destination to, uint32_t slot, gfk_rlnc_outcome outcome) {
        count_checked();
        EXPECT_EQ(to.slot, slot);
        EXPECT_EQ(to.outcome, (uint32_t)outcome);
    };
    check(gfk_rlnc_destination_of(GFK_RLNC_HAS_PIVOT, full), 5, GFK_RLNC_INNOVATIVE);
    check(gfk_rlnc_destination_of(GFK_RLNC_NO_PIVOT, room), 5, GFK_RLNC_DEPENDENT);
    check(gfk_rlnc_destination_of(GFK_RLNC_NO_PIVOT, full), GFK_MATRIX_DEPENDENT, GFK_RLNC_DROPPED);
    check(gfk_rlnc_destination_of(GFK_RLNC_ZERO_VECTOR, room), GFK_MATRIX_DEPENDENT,
          GFK_RLNC_REFUSED);
}

TEST(RlncOutcome, AContradictionStays) {
    count_checked();
    gfk_rlnc_record record = {GFK_STATUS_SINGULAR, 3, 0, 0, 0, 0};
    gfk_rlnc_note_rank(&record, 4);
    EXPECT_EQ(record.status, (uint32_t)GFK_STATUS_SINGULAR);
    gfk_rlnc_note_rank(&record, 3);
    EXPECT_EQ(record.status, (uint32_t)GFK_STATUS_SUCCESS);
    record.status = GFK_STATUS_CORRUPT;
    gfk_rlnc_note_rank(&record, 3);
    EXPECT_EQ(record.status, (uint32_t)GFK_STATUS_CORRUPT);
}

} // namespace
