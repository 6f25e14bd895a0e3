// SPDX-License-Identifier: BSD-3-Clause
// How often calls prove that a polynomial is irreducible; the list of fields that need no proof.
#include <atomic>

#include "host/base/field.h"
#include "pipeline/fixture.h"

namespace {

std::atomic<int> proofs{0};

} // namespace

extern "C" {
uint32_t __real_gfk_poly_generator(unsigned w, uint64_t polynomial);
uint32_t __wrap_gfk_poly_generator(unsigned w, uint64_t polynomial) {
    proofs++;
    return __real_gfk_poly_generator(w, polynomial);
}
}

namespace {

bool divides(uint64_t divisor, uint64_t polynomial, unsigned w) {
    const int degree = 63 - __builtin_clzll(divisor);
    for (int shift = static_cast<int>(w) - degree; shift >= 0; shift--)
        if (polynomial >> (degree + shift) & 1)
            polynomial ^= divisor << shift;
    return polynomial == 0;
}

// g generates the group iff no power of g by (2^w - 1) / prime is 1.
bool generates(const gfk_field &f, uint32_t g) {
    for (uint32_t prime : {3u, 5u, 17u, 257u, 65537u})
        if (largest(f.w) % prime == 0 && power(f, g, largest(f.w) / prime) == 1)
            return false;
    return power(f, g, largest(f.w)) == 1;
}

// By division by every polynomial of at most half the degree.
TEST(KnownFields, AreFields) {
    for (const gfk_field &f : gfk_known_fields) {
        ASSERT_EQ(1u, f.polynomial >> f.w) << std::hex << f.polynomial;
        for (uint64_t divisor = 2; divisor < UINT64_C(2) << f.w / 2; divisor++)
            ASSERT_FALSE(divides(divisor, f.polynomial, f.w)) << std::hex << f.polynomial;
        for (uint32_t g = 2; g <= f.generator; g++)
            ASSERT_EQ(g == f.generator, generates(f, g)) << std::hex << f.polynomial;
        proofs = 0;
        const gfk_field made = make_field(f.w, f.polynomial);
        EXPECT_EQ(f.generator, made.generator);
        EXPECT_EQ(0, proofs);
        EXPECT_EQ(f.generator, __real_gfk_poly_generator(f.w, f.polynomial));
        count_checked();
    }
}

class Proofs : public testing::TestWithParam<unsigned> {
  protected:
    static constexpr size_t N = 40, BYTES = 64;

    Proofs() {
        desc.device = product_desc.device = rs_desc.product.device = rlnc_desc.device =
            multiplier_desc.device = GFK_CPU;
        generated.kind = GFK_MATRIX_RANDOM;
        generated.rows = generated.cols = N;
        for (size_t i = 0; i < N; i++)
            set_symbol(matrix.data(), i * N + (N - 1 - i), w, 2); // regular, and not sorted
    }
    // Every public function that is given a field, with right arguments.
    std::vector<std::pair<const char *, std::function<gfk_status(const gfk_field *)>>> calls() {
        return {
            {"multiplier_query",
             [&](auto f) { return gfk_multiplier_query(f, &multiplier_desc, &multiplier_info); }},
            {"multiplier_create",
             [&](auto f) {
                 gfk_multiplier_t made = nullptr;
                 const gfk_status status = gfk_multiplier_create(&made, f, &multiplier_desc);
                 gfk_multiplier_destroy(made);
                 return status;
             }},
            {"product_query",
             [&](auto f) { return gfk_product_query(f, 2, 2, &product_desc, &product_info); }},
            {"product_create",
             [&](auto f) {
                 gfk_product_t made = nullptr;
                 const gfk_status status =
                     gfk_product_create(&made, f, 2, 2, elements, &product_desc);
                 gfk_product_destroy(made);
                 return status;
             }},
            {"rs_fill_matrix",
             [&](auto f) { return gfk_rs_fill_matrix(f, GFK_RS_CAUCHY, 4, 2, filled); }},
            {"rs_create", [&](auto f) { return create_rs(f); }},
            {"rlnc_create", [&](auto f) { return create_rlnc(f); }},
            {"matrix_fill", [&](auto f) { return gfk_matrix_fill(f, &generated, filled); }},
            {"matmul_workspace",
             [&](auto f) { return gfk_matmul_workspace(f, N, N, BYTES, &desc, &space); }},
            {"matmul_kernel_id",
             [&](auto f) { return gfk_matmul_kernel_id(f, N, N, BYTES, &desc, &id); }},
            {"matmul",
             [&](auto f) {
                 return gfk_matmul(f, &a, &in, &out, BYTES, GFK_SET, &desc, workspace.get(), MIB,
                                   nullptr);
             }},
            {"matmul, generated",
             [&](auto f) {
                 return gfk_matmul(f, &generated, &in, &out, BYTES, GFK_SET, &desc, workspace.get(),
                                   MIB, nullptr);
             }},
            {"matrix_invert_workspace",
             [&](auto f) { return gfk_matrix_invert_workspace(f, N, &desc, &space); }},
            {"matrix_solve_workspace",
             [&](auto f) { return gfk_matrix_solve_workspace(f, N, BYTES, &desc, &space); }},
            {"matrix_rank_workspace",
             [&](auto f) { return gfk_matrix_rank_workspace(f, N, N, &desc, &space); }},
            {"matrix_invert",
             [&](auto f) {
                 return gfk_matrix_invert(f, &a, inverse.data(), N, &record, nullptr, &desc,
                                          workspace.get(), MIB, nullptr);
             }},
            {"matrix_solve",
             [&](auto f) {
                 return gfk_matrix_solve(f, &a, &in, &out, BYTES, &record, nullptr, &desc,
                                         workspace.get(), MIB, nullptr);
             }},
            {"matrix_rank",
             [&](auto f) {
                 return gfk_matrix_rank(f, &a, &record, nullptr, &desc, workspace.get(), MIB,
                                        nullptr);
             }},
            {"product_host",
             [&](auto f) {
                 return gfk_product_host(make_pipeline(pipeline_desc()).get(), f, 2, 2, elements,
                                         &in, &out, BYTES, GFK_SET, nullptr);
             }},
            {"matmul_host",
             [&](auto f) {
                 return gfk_matmul_host(pipeline.get(), f, &generated, &in, &out, BYTES, GFK_SET,
                                        nullptr);
             }},
            {"region_multiply_host",
             [&](auto f) {
                 return gfk_region_multiply_host(make_pipeline(pipeline_desc()).get(), f, 2,
                                                 from.data(), to.data(), BYTES, GFK_SET, nullptr);
             }},
            {"advise",
             [&](auto f) {
                 return gfk_advise(&calibration, f, 4, 2, BYTES, GFK_PAGEABLE, &advice);
             }},
        };
    }
    gfk_status create_rs(const gfk_field *f) {
        gfk_rs_t made = nullptr;
        const gfk_status status = gfk_rs_create(&made, f, 4, 2, &rs_desc);
        rs.reset(made);
        return status;
    }
    gfk_status create_rlnc(const gfk_field *f) {
        gfk_rlnc_t made = nullptr;
        const gfk_status status = gfk_rlnc_create(&made, f, N, BYTES, &rlnc_desc);
        rlnc.reset(made);
        return status;
    }
    // Calls with objects that hold a field.
    void use_objects() {
        const size_t lost = 1;
        gfk_rs_updater_t updater = nullptr;
        EXPECT_OK(gfk_rs_encode_host(pipeline.get(), rs.get(), &in, &out, BYTES, nullptr));
        EXPECT_OK(gfk_rs_decode(rs.get(), &lost, 1, nullptr, 0, &in, &out, BYTES, nullptr));
        EXPECT_OK(gfk_rs_decode_host(pipeline.get(), rs.get(), &lost, 1, nullptr, 0, &in, &out,
                                     BYTES, nullptr));
        EXPECT_OK(gfk_rs_updater_create(&updater, rs.get(), 1, nullptr));
        gfk_rs_updater_destroy(updater);

        const gfk_rlnc_range range = {0, 1, 0, N};
        std::vector<gfk_rlnc_header> headers;
        for (uint32_t i = 0; i < N; i++)
            headers.push_back({0, i, 0});
        gfk_rlnc_decoder_t decoder = nullptr;
        EXPECT_OK(gfk_rlnc_encode(rlnc.get(), &range, &in, &out, nullptr, 0, workspace.get(), MIB,
                                  nullptr));
        EXPECT_OK(gfk_rlnc_encode_host(pipeline.get(), rlnc.get(), 0, 0, N, &in, &out, nullptr));
        ASSERT_OK(gfk_rlnc_decoder_create(&decoder, rlnc.get(), 0, 1, 2));
        EXPECT_OK(
            gfk_rlnc_decoder_add(decoder, headers.data(), N, nullptr, 0, &out, nullptr, nullptr));
        EXPECT_OK(gfk_rlnc_decoder_decode(decoder, &in, nullptr, nullptr));
        gfk_rlnc_decoder_destroy(decoder);
        EXPECT_OK(gfk_rlnc_decode_host(pipeline.get(), rlnc.get(), 0, headers.data(), N, nullptr, 0,
                                       &out, &in, nullptr, nullptr, nullptr));
    }

    const unsigned w = GetParam();
    gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
    gfk_product_desc product_desc = GFK_PRODUCT_DESC_INIT;
    gfk_multiplier_desc multiplier_desc = GFK_MULTIPLIER_DESC_INIT;
    gfk_rs_desc rs_desc = GFK_RS_DESC_INIT;
    gfk_rlnc_desc rlnc_desc = GFK_RLNC_DESC_INIT;
    gfk_multiplier_info multiplier_info;
    gfk_product_info product_info;
    gfk_advice advice;
    gfk_matrix_record record;
    const gfk_calibration calibration = round_machine();
    const Pipeline pipeline = make_pipeline(pipeline_desc());
    Owned<struct gfk_rs, gfk_rs_destroy> rs;
    Owned<struct gfk_rlnc, gfk_rlnc_destroy> rlnc;
    const Pinned workspace = make_pinned(MIB);
    const uint32_t elements[4] = {1, 2, 3, 4};
    uint32_t filled[N * N];
    size_t space;
    const char *id;
    Bytes matrix = Bytes(N * N * (w / 8)), inverse = matrix;
    Bytes from = Bytes(N * BYTES, 1), to = from;
    const gfk_matrix a = GFK_MATRIX_DENSE_INIT(matrix.data(), N, N, N);
    gfk_matrix generated = {};
    const gfk_regions in = {nullptr, from.data(), BYTES}, out = {nullptr, to.data(), BYTES};
};

INSTANTIATE_TEST_SUITE_P(Widths, Proofs, testing::Values(8, 16, 32));

TEST_P(Proofs, OnceWhereTheFieldEnters) {
    const uint64_t unknown = w == 8 ? 0x12b : w == 16 ? 0x1002b : 0x1000000c5;
    for (uint64_t polynomial : {UINT64_C(0), unknown}) {
        const gfk_field f = make_field(w, polynomial);
        for (const auto &[name, call] : calls()) {
            proofs = 0;
            EXPECT_OK(call(&f)) << name;
            EXPECT_EQ(polynomial == 0 ? 0 : 1, proofs) << name;
            count_checked();
        }
        proofs = 0;
        use_objects();
        EXPECT_EQ(0, proofs) << "of objects";
    }
}

// The polynomial is reducible, or the generator is another one.
TEST_P(Proofs, ForgedFieldsAreRefused) {
    gfk_field other = make_field(w);
    other.generator = 7;
    for (const gfk_field &f : {gfk_field{w, 2, UINT64_C(1) << w | 1}, other})
        for (const auto &[name, call] : calls()) {
            EXPECT_STATUS(INVALID, call(&f)) << name;
            EXPECT_STATUS(INVALID, call(nullptr)) << name;
            count_checked();
        }
}

} // namespace
