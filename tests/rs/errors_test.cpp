// SPDX-License-Identifier: BSD-3-Clause
// What codes refuse beyond what all calls do (tests/calls): descriptors, matrices, lists of losses; nothing changes.
#include <algorithm>
#include <cstring>

#include "fixture.h"

namespace {

class RsErrors : public RsTest {
  protected:
    static constexpr size_t K = 5, M = 3, BYTES = 96;
    RsCode good_code() { return make_code({GFK_RS_CAUCHY, K, M}); }
    gfk_rs_desc good_desc() {
        gfk_rs_desc desc = GFK_RS_DESC_INIT;
        desc.product = product_desc();
        return desc;
    }
    // The other side than the code's.
    gfk_product_desc foreign() const {
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.family = host() ? GFK_ENGINE_PEROP : GFK_ENGINE_HOST;
        return desc;
    }
    std::string foreign_engine() const {
        return (host() ? "perop_split_w" : "host_w") + std::to_string(w());
    }
};

TEST_P(RsErrors, Create) {
    const gfk_field field = make_field(w());
    const auto refused = [&](gfk_status status, const gfk_field *f, size_t k, size_t m,
                             const gfk_rs_desc *desc, const char *what) {
        gfk_rs_t untouched = reinterpret_cast<gfk_rs_t>(this), code = untouched;
        EXPECT_STATUS(status, gfk_rs_create(&code, f, k, m, desc)) << what;
        EXPECT_EQ(untouched, code) << what;
        count_checked();
    };
    const auto spoiled = [&](gfk_status status, const char *what, auto spoil) {
        gfk_rs_desc desc = good_desc();
        spoil(desc);
        refused(status, &field, K, M, &desc, what);
    };
    const gfk_rs_desc desc = good_desc();
    EXPECT_STATUS(INVALID, gfk_rs_create(nullptr, &field, K, M, &desc));
    refused(INVALID, &field, 0, M, &desc, "no data");
    refused(INVALID, &field, K, 0, &desc, "no parity");
    refused(GFK_STATUS_INVALID_SIZE, &field, SIZE_MAX, 1, &desc, "far too large");
    refused(GFK_STATUS_INVALID_SIZE, &field, 1, SIZE_MAX, &desc, "far too large");
    refused(GFK_STATUS_INVALID_SIZE, &field, SIZE_MAX / 2 + 2, SIZE_MAX / 2 + 2, &desc, "wraps");
    if (w() < 32)
        refused(GFK_STATUS_INVALID_SIZE, &field, (size_t(1) << w()) - 2, 3, &desc, "too large");

    spoiled(INVALID, "flags", [](gfk_rs_desc &d) { d.flags = 2; });
    for (int wrong : {-1, 7})
        spoiled(INVALID, "matrix",
                [=](gfk_rs_desc &d) { std::memcpy(&d.matrix, &wrong, sizeof wrong); });
    spoiled(INVALID, "custom without elements", [](gfk_rs_desc &d) { d.matrix = GFK_RS_CUSTOM; });
    const std::vector<uint32_t> ones(K * M, 1);
    spoiled(INVALID, "elements of a named one", [&](gfk_rs_desc &d) { d.custom = ones.data(); });
    const auto custom = [&](gfk_status status, const std::vector<uint32_t> &elements) {
        spoiled(status, "custom", [&](gfk_rs_desc &d) {
            d.matrix = GFK_RS_CUSTOM;
            d.custom = elements.data();
        });
    };
    custom(GFK_STATUS_SINGULAR, ones);
    Elements matrix = matrix_of(field, GFK_RS_CAUCHY, K, M);
    matrix[7] = 0;
    custom(GFK_STATUS_SINGULAR, matrix);
    if (w() < 32) {
        matrix[7] = 1u << w();
        custom(GFK_STATUS_INVALID_CONSTANT, matrix);
    }

    gfk_rs_desc gen = good_desc();
    gen.matrix = GFK_RS_GEN_RS;
    refused(w() == 8 ? GFK_STATUS_SINGULAR : GFK_STATUS_NOT_SUPPORTED, &field, 6, 5, &gen,
            "GEN_RS");
    if (w() == 8)
        refused(GFK_STATUS_NOT_SUPPORTED, &field, 100, 100, &gen, "too large to check");
    const gfk_field other = make_field(w(), polynomials(w())[w() == 8 ? 2 : 1]);
    for (gfk_rs_matrix named : {GFK_RS_REED_SOL_VAN, GFK_RS_CAUCHY_GOOD, GFK_RS_GEN_CAUCHY1}) {
        gfk_rs_desc theirs = good_desc();
        theirs.matrix = named;
        refused(GFK_STATUS_NOT_SUPPORTED, &other, K, M, &theirs, "another polynomial");
    }
    spoiled(INVALID, "the product's size", [](gfk_rs_desc &d) { d.product.size = 8; });
    spoiled(GFK_STATUS_UNKNOWN_METHOD, "no such engine",
            [](gfk_rs_desc &d) { d.product.engine = "abacus_w8"; });
    spoiled(INVALID, "an engine of another width", [&](gfk_rs_desc &d) {
        d.product.family = GFK_ENGINE_AUTO;
        d.product.engine = w() == 8 ? "host_w16" : "host_w8";
    });
    count_checked();
}

TEST_P(RsErrors, NoObject) {
    const RsCode code = good_code();
    gfk_rs_info info;
    uint32_t element;
    size_t index = 0;
    gfk_rs_decoder_t decoder = nullptr;
    gfk_rs_updater_t updater = nullptr;
    const gfk_status statuses[] = {
        gfk_rs_get_info(nullptr, &info),
        gfk_rs_get_info(code.get(), nullptr),
        gfk_rs_get_matrix(nullptr, &element),
        gfk_rs_get_matrix(code.get(), nullptr),
        gfk_rs_decoder_create(nullptr, code.get(), &index, 1, nullptr, 0, nullptr),
        gfk_rs_decoder_create(&decoder, nullptr, &index, 1, nullptr, 0, nullptr),
        gfk_rs_decoder_get_info(nullptr, nullptr, nullptr),
        gfk_rs_updater_create(nullptr, code.get(), 0, nullptr),
        gfk_rs_updater_create(&updater, nullptr, 0, nullptr)};
    for (size_t i = 0; i < std::size(statuses); i++)
        EXPECT_STATUS(INVALID, statuses[i]) << "call " << i;
    EXPECT_EQ(nullptr, decoder);
    EXPECT_EQ(nullptr, updater);
    gfk_rs_destroy(nullptr);
    gfk_rs_decoder_destroy(nullptr);
    gfk_rs_updater_destroy(nullptr);
    count_checked(std::size(statuses));
}

TEST_P(RsErrors, Lists) {
    const RsCode code = good_code();
    Random random;
    Stripe stripe(host(), code.get(), BYTES, Layout::PHASES, random);
    const auto refused = [&](gfk_status status, const size_t *lost, size_t lost_count,
                             const size_t *wanted, size_t wanted_count, const char *what) {
        gfk_rs_decoder_t untouched = reinterpret_cast<gfk_rs_decoder_t>(this), decoder = untouched;
        for (int twice = 0; twice < 2; twice++) { // a mistake is not kept as if it were none
            EXPECT_STATUS(status, gfk_rs_decoder_create(&decoder, code.get(), lost, lost_count,
                                                        wanted, wanted_count, nullptr))
                << what;
            EXPECT_EQ(untouched, decoder) << what;
            EXPECT_STATUS(status, gfk_rs_decode(code.get(), lost, lost_count, wanted, wanted_count,
                                                stripe.data(), stripe.parity(), BYTES, nullptr))
                << what;
            EXPECT_TRUE(stripe.is_whole()) << what;
        }
        count_checked();
    };
    const size_t good[] = {0, 6, 2}, beyond[] = {0, K + M}, far[] = {SIZE_MAX}, twice[] = {1, 3, 1};
    const size_t four[] = {0, 1, 2, 3}, all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const size_t four_twice[] = {0, 1, 2, 0}, many[] = {0, 1, 2, 3, 4, 5, 6, 7, 0};
    refused(INVALID, nullptr, 1, nullptr, 0, "no list");
    refused(INVALID, beyond, 2, nullptr, 0, "beyond the last");
    refused(INVALID, far, 1, nullptr, 0, "far beyond the last");
    refused(INVALID, twice, 3, nullptr, 0, "twice");
    refused(INVALID, four_twice, 4, nullptr, 0, "one of too many twice");
    refused(INVALID, many, 9, nullptr, 0, "more than there are");
    refused(GFK_STATUS_TOO_MANY_ERASURES, four, 4, nullptr, 0, "one too many");
    refused(GFK_STATUS_TOO_MANY_ERASURES, four, 4, four, 1, "one too many, one wanted");
    refused(GFK_STATUS_TOO_MANY_ERASURES, all, K + M, nullptr, 0, "all");
    refused(INVALID, good, 3, nullptr, 1, "no list of the wanted");
    refused(INVALID, good, 3, four, 2, "wanted, not lost");
    refused(INVALID, good, 3, beyond, 2, "wanted beyond the last");
    refused(INVALID, good, 3, good, 4, "more wanted than lost");
    const size_t same[] = {6, 6};
    refused(INVALID, good, 3, same, 2, "wanted twice");
    refused(INVALID, nullptr, 0, good, 1, "wanted where nothing is lost");

    for (size_t index : {K, K + M, SIZE_MAX}) {
        gfk_rs_updater_t updater = nullptr;
        EXPECT_STATUS(INVALID, gfk_rs_updater_create(&updater, code.get(), index, nullptr));
        EXPECT_EQ(nullptr, updater);
        EXPECT_STATUS(INVALID, gfk_rs_update(code.get(), index, stripe.at(0), stripe.at(1),
                                             stripe.parity(), BYTES, nullptr));
        EXPECT_STATUS(INVALID, gfk_rs_apply_delta(code.get(), index, stripe.at(0), stripe.parity(),
                                                  BYTES, nullptr));
        count_checked(3);
    }
    EXPECT_TRUE(stripe.is_whole());
}

TEST_P(RsErrors, Descriptors) {
    const RsCode code = good_code();
    const size_t lost = 1;
    const auto refused = [&](gfk_status status, const gfk_product_desc &desc, const char *what) {
        gfk_rs_decoder_t decoder = nullptr;
        gfk_rs_updater_t updater = nullptr;
        EXPECT_STATUS(status,
                      gfk_rs_decoder_create(&decoder, code.get(), &lost, 1, nullptr, 0, &desc))
            << what;
        EXPECT_STATUS(status, gfk_rs_updater_create(&updater, code.get(), 1, &desc)) << what;
        EXPECT_EQ(nullptr, decoder) << what;
        EXPECT_EQ(nullptr, updater) << what;
        count_checked(2);
    };
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.size = 8;
    refused(INVALID, desc, "size");
    desc = GFK_PRODUCT_DESC_INIT;
    desc.device = info_of(code.get()).device + 1;
    refused(INVALID, desc, "another device");
    refused(INVALID, foreign(), "a family of the other side");
    const std::string engine = foreign_engine();
    desc = GFK_PRODUCT_DESC_INIT;
    desc.engine = engine.c_str();
    refused(INVALID, desc, "an engine of the other side");
    desc.engine = "abacus_w8";
    refused(GFK_STATUS_UNKNOWN_METHOD, desc, "no such engine");
    desc = product_desc();
    desc.size = sizeof desc;
    gfk_rs_decoder_t decoder = nullptr;
    ASSERT_OK(gfk_rs_decoder_create(&decoder, code.get(), &lost, 1, nullptr, 0, &desc));
    gfk_rs_decoder_destroy(decoder);
}

PER_PLACE(RsErrors);

} // namespace
