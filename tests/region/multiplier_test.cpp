// SPDX-License-Identifier: BSD-3-Clause
// Descriptors and what they resolve to: rows, parameters, AUTO, limits and refusals.
#include <algorithm>
#include <cstring>
#include <set>

#include "support/row_fixture.h"

namespace {

const unsigned WIDTHS[] = {8, 16, 32};

gfk_multiplier_desc description(gfk_method method = GFK_METHOD_AUTO,
                                gfk_implementation implementation = GFK_IMPLEMENTATION_AUTO,
                                unsigned arg1 = 0, unsigned arg2 = 0) {
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.method = method;
    desc.implementation = implementation;
    desc.arg1 = arg1;
    desc.arg2 = arg2;
    return desc;
}

gfk_multiplier_desc on_cpu() {
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.device = GFK_CPU;
    return desc;
}

// query and create must say the same; create must not write to its output when it refuses.
gfk_status resolve(unsigned w, const gfk_multiplier_desc &desc, gfk_multiplier_info *info) {
    const gfk_field field = make_field(w);
    const gfk_status status = gfk_multiplier_query(&field, &desc, info);
    int place = 0;
    const auto untouched = reinterpret_cast<gfk_multiplier_t>(&place);
    gfk_multiplier_t m = untouched;
    const gfk_status created = gfk_multiplier_create(&m, &field, &desc);
    if (status != GFK_STATUS_SUCCESS || created != GFK_STATUS_TABLE_LIMIT) {
        EXPECT_STATUS(status, created);
    }
    if (created != GFK_STATUS_SUCCESS) {
        EXPECT_EQ(untouched, m);
    } else {
        const gfk_multiplier_info made = info_of(m);
        EXPECT_EQ(info->kernel, made.kernel);
        EXPECT_EQ(info->arg1, made.arg1);
        EXPECT_EQ(info->arg2, made.arg2);
        EXPECT_EQ(info->device, made.device);
        EXPECT_EQ(info->table_bytes, made.table_bytes);
        EXPECT_EQ(info->workspace_bytes, made.workspace_bytes);
        EXPECT_EQ(field.polynomial, made.field.polynomial);
        gfk_multiplier_destroy(m);
    }
    count_checked();
    return status;
}

TEST(Multiplier, BadArguments) {
    const gfk_field f = make_field(8);
    const gfk_multiplier_desc good = description();
    gfk_multiplier_info info;
    EXPECT_STATUS(INVALID, gfk_multiplier_create(nullptr, &f, &good));
    EXPECT_STATUS(INVALID, gfk_multiplier_query(&f, &good, nullptr));
    EXPECT_STATUS(INVALID, gfk_multiplier_get_info(nullptr, &info));
    const auto bad = [&](auto change) {
        gfk_multiplier_desc desc = good;
        change(desc);
        return resolve(8, desc, &info);
    };
    for (int value : {9, 99, -1}) {
        const auto method = [&](auto &d) { d.method = static_cast<gfk_method>(value); };
        const auto implementation = [&](auto &d) {
            d.implementation = static_cast<gfk_implementation>(value);
        };
        EXPECT_STATUS(INVALID, bad(method));
        EXPECT_STATUS(INVALID, bad(implementation));
    }
    for (const char *id : {"", "split_w8", "split_w8_hos", "SPLIT_W8_HOST", "split_w8_host "})
        EXPECT_STATUS(GFK_STATUS_UNKNOWN_METHOD, bad([&](auto &d) { d.kernel = id; }));
    gfk_multiplier_destroy(nullptr); // allowed
}

// A field that gfk_field_init did not make.
TEST(Multiplier, ForgedField) {
    gfk_multiplier_info info;
    const auto query = [&](auto change) {
        gfk_field f = make_field(8);
        change(f);
        const gfk_multiplier_desc desc = on_cpu();
        return gfk_multiplier_query(&f, &desc, &info);
    };
    EXPECT_OK(query([](gfk_field &) {}));
    EXPECT_STATUS(INVALID, query([](gfk_field &f) { f.w = 16; }));
    EXPECT_STATUS(INVALID, query([](gfk_field &f) { f.w = 7; }));
    EXPECT_STATUS(INVALID, query([](gfk_field &f) { f.polynomial = 0x101; }));
    EXPECT_STATUS(INVALID, query([](gfk_field &f) { f.polynomial = 0; }));
    EXPECT_STATUS(INVALID, query([](gfk_field &f) { f.generator = 1; }));
}

// With nothing asked for but a place: a row that can run there, of this width, a row of the library, within
// the limit. The library never takes the CPU for a device.
TEST(Multiplier, AutoChoice) {
    for (unsigned w : WIDTHS) {
        const gfk_field f = make_field(w);
        gfk_multiplier_info by_null, info;
        const gfk_status status = device::count() ? GFK_STATUS_SUCCESS : GFK_STATUS_NO_DEVICE;
        EXPECT_STATUS(status, gfk_multiplier_query(&f, nullptr, &by_null));
        EXPECT_STATUS(status, resolve(w, description(), &info));
        if (device::count()) {
            EXPECT_EQ(by_null.kernel, info.kernel);
            EXPECT_EQ(device::current(), info.device);
        }
        for (const bool cpu : {true, false}) {
            if (cpu)
                ASSERT_OK(resolve(w, on_cpu(), &info));
            else if (device::count())
                ASSERT_OK(resolve(w, description(), &info));
            else
                continue;
            EXPECT_EQ(w, info.kernel->w);
            EXPECT_EQ(0u, info.kernel->labels) << info.kernel->id;
            EXPECT_OK(gfk_kernel_available(info.kernel, info.device, nullptr));
            EXPECT_EQ(cpu, on_host(info.kernel)) << info.kernel->id;
            EXPECT_EQ(cpu, info.device == GFK_CPU);
            EXPECT_EQ(std::string::npos, std::string(info.kernel->id).find("faulty"));
        }
        // So is the best row of each method and implementation.
        for (int method = 1; method <= GFK_METHOD_CARRY_FREE; method++)
            for (int impl = 1; impl <= GFK_IMPLEMENTATION_OPT; impl++) {
                const gfk_status found = resolve(w,
                                                 description(static_cast<gfk_method>(method),
                                                             static_cast<gfk_implementation>(impl)),
                                                 &info);
                if (found != GFK_STATUS_SUCCESS)
                    continue;
                EXPECT_EQ(method, info.kernel->method);
                EXPECT_EQ(impl, info.kernel->implementation);
                EXPECT_EQ(0u, info.kernel->labels & ~GFK_LABEL_GIANT) << info.kernel->id;
            }
    }
}

// A method alone, of which preference.def may have no row: on a device its optimized row.
TEST(Multiplier, MethodAlone) {
    gfk_multiplier_info info;
    for (unsigned w : WIDTHS) {
        const std::string id = "carry_free_w" + std::to_string(w);
        const Row opt = gfk_kernel_find((id + "_opt").c_str());
        if (gfk_kernel_available(opt, GFK_CURRENT_DEVICE, nullptr) == GFK_STATUS_SUCCESS) {
            ASSERT_OK(resolve(w, description(GFK_METHOD_CARRY_FREE), &info));
            EXPECT_EQ(opt, info.kernel) << info.kernel->id;
        }
        gfk_multiplier_desc desc = on_cpu();
        desc.method = GFK_METHOD_CARRY_FREE;
        ASSERT_OK(resolve(w, desc, &info));
        EXPECT_EQ(id + "_host", info.kernel->id);
    }
}

// What becomes of each number with nothing named, a kernel of the CPU, and one of a device.
TEST(Multiplier, Places) {
    gfk_multiplier_info info;
    const auto of = [&](gfk_implementation implementation, int number, unsigned w) {
        gfk_multiplier_desc desc = description(GFK_METHOD_SHIFT, implementation);
        desc.device = number;
        return resolve(w, desc, &info);
    };
    const auto any = GFK_IMPLEMENTATION_AUTO, host = GFK_IMPLEMENTATION_HOST,
               opt = GFK_IMPLEMENTATION_OPT;
    for (unsigned w : WIDTHS) {
        for (int number : {device::count(), 1000, INT32_MAX}) {
            EXPECT_STATUS(GFK_STATUS_NO_DEVICE, of(any, number, w)) << number;
            const gfk_status status = of(opt, number, w);
            EXPECT_TRUE(status == GFK_STATUS_NO_DEVICE ||
                        (status == GFK_STATUS_NOT_SUPPORTED && device::count() == 0));
        }
        for (int number : {0, 1000, GFK_CPU, GFK_CURRENT_DEVICE}) {
            EXPECT_OK(of(host, number, w));
            EXPECT_EQ(GFK_CPU, info.device);
        }
        EXPECT_OK(of(any, GFK_CPU, w));
        EXPECT_TRUE(on_host(info.kernel));
        EXPECT_STATUS(INVALID, of(opt, GFK_CPU, w));
        EXPECT_STATUS(INVALID, of(GFK_IMPLEMENTATION_NAIVE, GFK_CPU, w));
        for (int number : {-3, INT32_MIN})
            for (auto implementation : {any, host, opt})
                EXPECT_STATUS(INVALID, of(implementation, number, w)) << number;
    }
    gfk_multiplier_desc desc = on_cpu();
    desc.kernel = "shift_w8_naive";
    EXPECT_STATUS(INVALID, resolve(8, desc, &info));
    desc = on_cpu();
    desc.method = GFK_METHOD_GROUP;
    desc.arg1 = 9;
    EXPECT_STATUS(GFK_STATUS_UNKNOWN_METHOD, resolve(8, desc, &info));
    desc.device = 1000;
    EXPECT_STATUS(GFK_STATUS_UNKNOWN_METHOD, resolve(8, desc, &info));
    EXPECT_FALSE(device::error_pending());
}

// Either number of SPLIT may be left out.
TEST(Multiplier, OneNumberOfSplit) {
    gfk_multiplier_info info;
    for (const auto &given : {std::pair<unsigned, unsigned>{4, 0}, {0, 4}, {8, 0}, {0, 8}}) {
        gfk_multiplier_desc desc = description(GFK_METHOD_SPLIT, GFK_IMPLEMENTATION_HOST);
        desc.arg1 = given.first;
        desc.arg2 = given.second;
        ASSERT_OK(resolve(8, desc, &info));
        EXPECT_STREQ("split_w8_host", info.kernel->id);
    }
}

// "SPLIT 8 4" and "SPLIT 4 8" are the same row; parameters nobody has are refused.
TEST(Multiplier, Parameters) {
    gfk_multiplier_info info;
    const gfk_implementation host = GFK_IMPLEMENTATION_HOST;
    const struct {
        unsigned w, arg1, arg2;
    } splits[] = {{8, 8, 4},   {16, 16, 4}, {16, 16, 8}, {16, 8, 8},
                  {32, 32, 4}, {32, 32, 8}, {32, 8, 8}};
    for (const auto &s : splits) {
        ASSERT_OK(resolve(s.w, description(GFK_METHOD_SPLIT, host, s.arg1, s.arg2), &info));
        EXPECT_EQ(s.arg1, info.arg1);
        EXPECT_EQ(s.arg2, info.arg2);
        const Row row = info.kernel;
        ASSERT_OK(resolve(s.w, description(GFK_METHOD_SPLIT, host, s.arg2, s.arg1), &info));
        EXPECT_EQ(row, info.kernel);
    }
    for (unsigned w : WIDTHS) {
        for (unsigned arg : {1u, 2u, 3u, 5u, 64u, 0xffffffffu}) {
            EXPECT_STATUS(GFK_STATUS_UNKNOWN_METHOD,
                          resolve(w, description(GFK_METHOD_SPLIT, host, w, arg), &info));
            EXPECT_STATUS(GFK_STATUS_UNKNOWN_METHOD,
                          resolve(w, description(GFK_METHOD_SHIFT, host, arg, arg), &info));
        }
        for (unsigned arg : {1u, 9u, 32u, 0xffffffffu}) {
            EXPECT_STATUS(GFK_STATUS_UNKNOWN_METHOD,
                          resolve(w, description(GFK_METHOD_GROUP, host, arg, 4), &info));
            EXPECT_STATUS(GFK_STATUS_UNKNOWN_METHOD,
                          resolve(w, description(GFK_METHOD_GROUP, host, 4, arg), &info));
        }
    }
}

// GFK_LABEL_GIANT: refused within the default limit, with the number of bytes to be had by query.
class Giants : public RowTest {};

TEST_P(Giants, AreRefusedByTheTableLimit) {
    const gfk_field f = field();
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    gfk_multiplier_info info;
    desc.kernel = row()->id;
    ASSERT_OK(gfk_multiplier_query(&f, &desc, &info));
    if (row()->method == GFK_METHOD_TABLE) {
        EXPECT_GE(info.workspace_bytes, UINT64_C(16) << 30);
    } else {
        EXPECT_GE(info.table_bytes, UINT64_C(32) << 30);
    }
    const uint64_t needed = info.table_bytes + info.workspace_bytes;
    for (uint64_t limit : {UINT64_C(0), UINT64_C(1), GFK_DEFAULT_TABLE_LIMIT, needed - 1}) {
        desc.table_limit = limit;
        gfk_multiplier_t m = nullptr;
        EXPECT_STATUS(GFK_STATUS_TABLE_LIMIT, gfk_multiplier_create(&m, &f, &desc));
        EXPECT_EQ(nullptr, m);
        EXPECT_OK(gfk_multiplier_query(&f, &desc, &info));
        EXPECT_EQ(needed, info.table_bytes + info.workspace_bytes);
        count_checked();
    }
    // By method and implementation it is the same row, and the same answer.
    gfk_multiplier_desc cell = description(row()->method, row()->implementation);
    if (*row()->variant == '\0') {
        ASSERT_OK(gfk_multiplier_query(&f, &cell, &info));
        EXPECT_EQ(row(), info.kernel);
        gfk_multiplier_t m = nullptr;
        EXPECT_STATUS(GFK_STATUS_TABLE_LIMIT, gfk_multiplier_create(&m, &f, &cell));
    }
}

PER_ROW(Giants, giant_rows());

class Descriptor : public RowTest {};

TEST_P(Descriptor, NamesTheRow) {
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    gfk_multiplier_info info;
    desc.kernel = row()->id;
    ASSERT_OK(resolve(w(), desc, &info));
    EXPECT_EQ(row(), info.kernel);
    EXPECT_EQ(row()->arg1, info.arg1);
    EXPECT_EQ(row()->arg2, info.arg2);
    EXPECT_EQ(row()->table_bytes, info.table_bytes);
    EXPECT_EQ(row()->workspace_bytes, info.workspace_bytes);
    EXPECT_EQ(on_host(row()) ? GFK_CPU : device::current(), info.device);
    desc.method = row()->method; // agreeing is allowed
    desc.implementation = row()->implementation;
    desc.arg1 = row()->arg1;
    desc.arg2 = row()->arg2;
    ASSERT_OK(resolve(w(), desc, &info));
    EXPECT_EQ(row(), info.kernel);
}

TEST_P(Descriptor, MustNotContradictTheRow) {
    gfk_multiplier_info info;
    const auto with = [&](auto change) {
        gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
        desc.kernel = row()->id;
        change(desc);
        return resolve(w(), desc, &info);
    };
    for (int other = 1; other <= GFK_METHOD_CARRY_FREE; other++)
        if (other != row()->method) {
            const auto change = [&](auto &d) { d.method = static_cast<gfk_method>(other); };
            EXPECT_STATUS(INVALID, with(change));
        }
    for (int other = 1; other <= GFK_IMPLEMENTATION_OPT; other++)
        if (other != row()->implementation) {
            const auto change = [&](auto &d) {
                d.implementation = static_cast<gfk_implementation>(other);
            };
            EXPECT_STATUS(INVALID, with(change));
        }
    EXPECT_STATUS(INVALID, with([](auto &d) { d.arg1 = 99; }));
    EXPECT_STATUS(INVALID, with([](auto &d) { d.arg2 = 99; }));
    for (unsigned other : WIDTHS) {
        if (other == w())
            continue;
        gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
        desc.kernel = row()->id;
        EXPECT_STATUS(INVALID, resolve(other, desc, &info));
    }
}

TEST_P(Descriptor, TableLimitIsExact) {
    const uint64_t needed = row()->table_bytes + row()->workspace_bytes;
    if (needed < 2)
        return;
    const gfk_field f = field();
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.kernel = row()->id;
    desc.table_limit = needed - 1;
    gfk_multiplier_t m = nullptr;
    EXPECT_STATUS(GFK_STATUS_TABLE_LIMIT, gfk_multiplier_create(&m, &f, &desc));
    EXPECT_EQ(nullptr, m);
    desc.table_limit = needed;
    ASSERT_OK(gfk_multiplier_create(&m, &f, &desc));
    gfk_multiplier_destroy(m);
    count_checked(2);
}

PER_ROW(Descriptor, rows());

} // namespace
