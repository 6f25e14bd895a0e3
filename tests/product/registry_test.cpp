// SPDX-License-Identifier: BSD-3-Clause
// The list of engines, and the choice among them.
#include <cctype>

#include "support/engine_fixture.h"
#include "support/list_check.h"

namespace {

TEST(EngineList, IdsAreUniqueAndFound) {
    expect_a_list(gfk_engine_count(), gfk_engine_at, gfk_engine_find, "host");
    for (Engine engine : engines())
        EXPECT_EQ(nullptr, gfk_kernel_find(engine->id)) << engine->id;
}

// <family>_w<W>, <family>_<method>_w<W>, and perhaps a variant.
TEST(EngineList, IdsSayWhatTheEngineIs) {
    for (Engine engine : engines()) {
        std::string id = gfk_engine_family_name(engine->family);
        EXPECT_EQ(engine->family == GFK_ENGINE_PEROP, engine->method != GFK_METHOD_AUTO);
        if (engine->method != GFK_METHOD_AUTO) {
            id += std::string("_") + gfk_method_name(engine->method);
            for (char &letter : id)
                letter = static_cast<char>(std::tolower(letter));
        }
        id += "_w" + std::to_string(engine->w);
        const std::string actual = engine->id;
        EXPECT_EQ(id, actual.substr(0, id.size()));
        EXPECT_TRUE(actual.size() == id.size() || actual[id.size()] == '_') << actual;
        EXPECT_GT(engine->tile_bytes, 0u) << actual;
        EXPECT_EQ(0u, engine->tile_bytes % (engine->w / 8)) << actual;
        count_checked();
    }
}

// Every method and width has a per-op engine, the giants and CARRY_FREE apart, and every width a
// reference.
TEST(EngineList, HasEveryCell) {
    for (unsigned w : {8u, 16u, 32u}) {
        EXPECT_NE(nullptr, gfk_engine_find(("host_w" + std::to_string(w)).c_str()));
        for (int method = 1; method <= GFK_METHOD_CARRY_FREE; method++) {
            const bool giant = w == 32 && (method == GFK_METHOD_TABLE || method == GFK_METHOD_LOG);
            unsigned found = 0;
            for (Engine engine : engines())
                found += engine->family == GFK_ENGINE_PEROP && engine->method == method &&
                         engine->w == w && !is_extra(engine);
            const bool none = giant || method == GFK_METHOD_CARRY_FREE;
            EXPECT_EQ(none ? 0u : 1u, found) << method << " w=" << w;
            count_checked();
        }
    }
}

TEST(EngineList, AbsentEnginesSayWhy) {
    expect_reasons<gfk_engine_info>(
        gfk_engine_count(), gfk_engine_at, gfk_engine_available,
        [](Engine engine) { return engine->family == GFK_ENGINE_HOST; });
}

TEST(EngineList, FamilyNames) {
    for (int i : {-1, 7, 1000})
        EXPECT_NE(nullptr, gfk_engine_family_name(static_cast<gfk_engine_family>(i)));
    EXPECT_STREQ("auto", gfk_engine_family_name(GFK_ENGINE_AUTO));
    EXPECT_STREQ("clmad", gfk_engine_family_name(GFK_ENGINE_CLMAD));
    for (int i : {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 1000}) {
        const bool expected =
            i == GFK_ENGINE_HOST || i == GFK_ENGINE_ISAL || i == GFK_ENGINE_GFCOMPLETE;
        EXPECT_EQ(expected, gfk_engine_family_on_cpu(static_cast<gfk_engine_family>(i))) << i;
    }
}

// ---- the choice ---------------------------------------------------------------------------------

Engine chosen(const gfk_field &field, size_t rows, size_t cols, const gfk_product_desc &desc) {
    gfk_product_info info;
    require_success(gfk_product_query(&field, rows, cols, &desc, &info), "gfk_product_query");
    return info.engine;
}

TEST(ProductChoice, AutoFindsOneForEveryShape) {
    for (unsigned w : {8u, 16u, 32u})
        for (size_t rows : {1, 2, 4, 16, 128, 5000})
            for (size_t cols : {1, 4, 10, 30, 128, 5000})
                for (size_t bytes : {size_t(0), size_t(4), size_t(65536)})
                    for (int place : {GFK_CPU, GFK_CURRENT_DEVICE}) {
                        if (place != GFK_CPU && device::count() == 0)
                            continue;
                        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
                        desc.bytes = bytes;
                        desc.device = place;
                        const Engine engine = chosen(make_field(w), rows, cols, desc);
                        EXPECT_EQ(w, engine->w);
                        EXPECT_FALSE(is_extra(engine)) << engine->id;
                        EXPECT_EQ(place == GFK_CPU, on_host(engine)) << engine->id;
                        EXPECT_OK(gfk_engine_available(engine, place, nullptr));
                        count_checked();
                    }
}

// The place is the descriptor's on every machine.
TEST(ProductChoice, ThePlace) {
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    const gfk_field field = make_field(8);
    gfk_product_info info;
    for (int place : {GFK_CURRENT_DEVICE, 0}) {
        desc.device = place;
        EXPECT_STATUS(device::count() ? GFK_STATUS_SUCCESS : GFK_STATUS_NO_DEVICE,
                      gfk_product_query(&field, 4, 10, &desc, &info));
        if (device::count()) {
            EXPECT_FALSE(on_host(info.engine));
            EXPECT_EQ(place == 0 ? 0 : device::current(), info.device);
        }
    }
    desc.device = GFK_CPU;
    ASSERT_OK(gfk_product_query(&field, 4, 10, &desc, &info));
    const Engine isal = gfk_engine_find("isal_w8");
    const bool fast = gfk_engine_available(isal, GFK_CPU, nullptr) == GFK_STATUS_SUCCESS;
    EXPECT_EQ(fast ? isal : gfk_engine_find("host_w8"), info.engine);
    EXPECT_EQ(GFK_CPU, info.device);
    desc.family = GFK_ENGINE_HOST; // the CPU, whatever the number
    for (int place : {GFK_CPU, GFK_CURRENT_DEVICE, 0, 1000}) {
        desc.device = place;
        ASSERT_OK(gfk_product_query(&field, 4, 10, &desc, &info));
        EXPECT_STREQ("host_w8", info.engine->id);
        EXPECT_EQ(GFK_CPU, info.device);
        count_checked();
    }
}

TEST(ProductChoice, ByFamilyMethodAndId) {
    for (Engine engine : engines()) {
        if (gfk_engine_available(engine, GFK_CURRENT_DEVICE, nullptr) != GFK_STATUS_SUCCESS)
            continue;
        gfk_product_desc desc = product_desc(engine);
        EXPECT_EQ(engine, chosen(make_field(engine->w), 4, 10, desc)) << engine->id;
        desc.engine = nullptr;
        desc.family = engine->family;
        desc.method = engine->method;
        const Engine found = chosen(make_field(engine->w), 4, 10, desc);
        EXPECT_EQ(engine->family, found->family);
        EXPECT_EQ(engine->method, found->method);
        EXPECT_FALSE(is_extra(found));
        count_checked();
    }
}

// An engine that does not take the field gives way to the next.
TEST(ProductChoice, OtherPolynomials) {
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.family = GFK_ENGINE_ISAL;
    gfk_product_info info;
    const gfk_field field = make_field(8, 0x11b);
    EXPECT_STATUS(GFK_STATUS_NOT_SUPPORTED, gfk_product_query(&field, 4, 10, &desc, &info));
    desc.family = GFK_ENGINE_AUTO;
    desc.device = GFK_CPU;
    EXPECT_NE(GFK_ENGINE_ISAL, chosen(field, 4, 10, desc)->family);
    count_checked();
}

// For these GF-Complete reports success without the functions; AUTO takes another engine.
TEST(ProductChoice, FieldsThatGfCompleteLacks) {
    for (const gfk_field &field : {make_field(16, 0x1dd69), make_field(32, 0x104c11db7)}) {
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.device = GFK_CPU;
        desc.family = GFK_ENGINE_GFCOMPLETE;
        gfk_product_info info;
        EXPECT_STATUS(GFK_STATUS_NOT_SUPPORTED, gfk_product_query(&field, 4, 10, &desc, &info));
        desc.family = GFK_ENGINE_AUTO;
        EXPECT_NE(GFK_ENGINE_GFCOMPLETE, chosen(field, 4, 10, desc)->family);
        count_checked();
    }
}

TEST(ProductChoice, InfoSaysWhatCreateMakes) {
    Random random;
    for (Engine engine : engines()) {
        const gfk_field field = make_field(engine->w);
        const gfk_product_desc desc = product_desc(engine);
        gfk_product_info query;
        if (gfk_product_query(&field, 3, 5, &desc, &query) != GFK_STATUS_SUCCESS)
            continue;
        const Product product = make_product(field, engine, random_matrix(engine->w, 3, 5, random));
        const gfk_product_info info = info_of(product.get());
        EXPECT_EQ(engine, info.engine);
        EXPECT_EQ(query.table_bytes, info.table_bytes) << engine->id;
        EXPECT_EQ(3u, info.rows);
        EXPECT_EQ(5u, info.cols);
        EXPECT_EQ(field.polynomial, info.field.polynomial);
        EXPECT_EQ(on_host(engine), info.device == GFK_CPU) << engine->id;
        count_checked();
    }
}

} // namespace
