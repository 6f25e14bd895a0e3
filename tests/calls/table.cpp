// SPDX-License-Identifier: BSD-3-Clause
// table.h.
#include "table.h"

namespace {

using A = const Arguments &;
using Report = gfk_pipeline_report;
const Operand in = {BYTES}, out = {BYTES, WRITTEN}, unused = {BYTES, UNUSED};
const Operand report = {sizeof(Report), REPORT, alignof(Report)};
const size_t first_is_lost = 0;

gfk_matrix dense(A a, size_t operand, size_t cols) {
    return GFK_MATRIX_DENSE_INIT(a.at[operand], 2, cols, cols);
}

} // namespace

const gfk_regions *Arguments::regions(size_t first, size_t count) const {
    const size_t which = sets.empty() ? 0 : 1;
    sets.emplace_back(first, count);
    made_[which] = {at.data() + first, nullptr, 0};
    return first == spoiled ? description : &made_[which];
}

gfk_stream_t Arguments::stream() const {
    takes_stream = true;
    return given;
}

Table::Table(bool host, unsigned w) : host_(host), symbol_(w / 8), field_(make_field(w)) {
    const int place = host ? GFK_CPU : GFK_CURRENT_DEVICE;
    const std::string row = "split_w" + std::to_string(w) + (host ? "_host" : "_naive");
    gfk_multiplier_desc multiplier = GFK_MULTIPLIER_DESC_INIT;
    multiplier.kernel = row.c_str();
    require_success(gfk_multiplier_create(&multiplier_, &field_, &multiplier), "multiplier");
    gfk_product_desc product = GFK_PRODUCT_DESC_INIT;
    product.device = place;
    require_success(gfk_product_create(&product_, &field_, 2, 3, matrix_, &product), "product");
    gfk_rs_desc rs = GFK_RS_DESC_INIT;
    rs.product.device = place;
    require_success(gfk_rs_create(&rs_, &field_, 3, 2, &rs), "code");
    require_success(
        gfk_rs_decoder_create(&rs_decoder_, rs_, &first_is_lost, 1, nullptr, 0, nullptr),
        "decoder");
    require_success(gfk_rs_updater_create(&rs_updater_, rs_, 1, nullptr), "updater");
    gfk_rlnc_desc rlnc = GFK_RLNC_DESC_INIT;
    rlnc.device = place;
    require_success(gfk_rlnc_create(&rlnc_, &field_, 2, BYTES, &rlnc), "code");
    require_success(gfk_rlnc_decoder_create(&decoder_, rlnc_, 0, 1, 1), "decoder");
    matmul_.device = place;
    add(region_calls());
    add(product_calls());
    add(matrix_calls());
    add(rs_calls());
    add(rs_object_calls());
    add(rlnc_calls());
    add(decoder_calls());
    if (!host)
        return;
    gfk_pipeline_desc pipeline = GFK_PIPELINE_DESC_INIT;
    pipeline.path = GFK_PATH_CPU;
    require_success(gfk_pipeline_create(&pipeline_, &pipeline), "pipeline");
    add(host_calls());
    add(host_rlnc_calls());
}

Table::~Table() {
    gfk_pipeline_destroy(pipeline_);
    gfk_rlnc_decoder_destroy(decoder_);
    gfk_rlnc_destroy(rlnc_);
    gfk_rs_updater_destroy(rs_updater_);
    gfk_rs_decoder_destroy(rs_decoder_);
    gfk_rs_destroy(rs_);
    gfk_product_destroy(product_);
    gfk_multiplier_destroy(multiplier_);
}

void Table::add(const std::vector<Call> &calls) {
    calls_.insert(calls_.end(), calls.begin(), calls.end());
}

std::vector<Call> Table::region_calls() {
    gfk_multiplier_info info;
    require_success(gfk_multiplier_get_info(multiplier_, &info), "info");
    const Operand workspace = {static_cast<size_t>(info.workspace_bytes), WORKSPACE, 16};
    EXPECT_LT(0u, workspace.bytes);
    return {
        {"gfk_region_multiply",
         {workspace, in, out},
         [=](A a) {
             return gfk_region_multiply(multiplier_, 5, a.at[1], a.at[2], a.bytes, GFK_XOR, a.at[0],
                                        a.workspace_bytes, a.stream());
         },
         {1}},
        {"gfk_region_prepare",
         {workspace},
         [=](A a) {
             return gfk_region_prepare(multiplier_, 5, a.at[0], a.workspace_bytes, a.stream());
         }},
        {"gfk_region_multiply_prepared",
         {workspace, in, out},
         [=](A a) {
             return gfk_region_multiply_prepared(multiplier_, 5, a.at[1], a.at[2], a.bytes, GFK_SET,
                                                 a.at[0], a.workspace_bytes, a.stream());
         },
         {1}},
    };
}

std::vector<Call> Table::product_calls() {
    size_t space;
    require_success(gfk_matmul_workspace(&field_, 2, 3, BYTES, &matmul_, &space), "workspace");
    return {
        {"gfk_product_run",
         {in, in, in, out, out},
         [=](A a) {
             return gfk_product_run(product_, a.regions(0, 3), a.regions(3, 2), a.bytes, GFK_SET,
                                    a.stream());
         }},
        {"gfk_matmul",
         {in, in, in, out, out, {6 * symbol_, READ, symbol_}, {space, WORKSPACE, 256}},
         [=](A a) {
             const gfk_matrix matrix = dense(a, 5, 3);
             return gfk_matmul(&field_, &matrix, a.regions(0, 3), a.regions(3, 2), a.bytes, GFK_XOR,
                               &matmul_, a.at[6], a.workspace_bytes, a.stream());
         }},
    };
}

std::vector<Call> Table::matrix_calls() {
    size_t invert, solve, rank;
    require_success(gfk_matrix_invert_workspace(&field_, 2, &matmul_, &invert), "workspace");
    require_success(gfk_matrix_solve_workspace(&field_, 2, BYTES, &matmul_, &solve), "workspace");
    require_success(gfk_matrix_rank_workspace(&field_, 2, 3, &matmul_, &rank), "workspace");
    const Operand square = {4 * symbol_, READ, symbol_}, inverse = {4 * symbol_, WRITTEN, symbol_};
    const Operand record = {sizeof(gfk_matrix_record), WRITTEN, 4}, pivots = {8, OPTIONAL, 4};
    using Record = gfk_matrix_record;
    return {
        {"gfk_matrix_invert",
         {square, record, pivots, {invert, WORKSPACE, 256}, inverse},
         [=](A a) {
             const gfk_matrix matrix = dense(a, 0, 2);
             return gfk_matrix_invert(&field_, &matrix, a.at[4], 2, a.as<Record>(1),
                                      a.as<uint32_t>(2), &matmul_, a.at[3], a.workspace_bytes,
                                      a.stream());
         },
         {0}},
        {"gfk_matrix_solve",
         {square, record, pivots, {solve, WORKSPACE, 256}, in, in, out, out},
         [=](A a) {
             const gfk_matrix matrix = dense(a, 0, 2);
             return gfk_matrix_solve(&field_, &matrix, a.regions(4, 2), a.regions(6, 2), a.bytes,
                                     a.as<Record>(1), a.as<uint32_t>(2), &matmul_, a.at[3],
                                     a.workspace_bytes, a.stream());
         }},
        {"gfk_matrix_rank",
         {{6 * symbol_, READ, symbol_}, record, pivots, {rank, WORKSPACE, 256}},
         [=](A a) {
             const gfk_matrix matrix = dense(a, 0, 3);
             return gfk_matrix_rank(&field_, &matrix, a.as<Record>(1), a.as<uint32_t>(2), &matmul_,
                                    a.at[3], a.workspace_bytes, a.stream());
         }},
    };
}

std::vector<Call> Table::rs_calls() {
    std::vector<Call> calls = {
        {"gfk_rs_encode",
         {in, in, in, out, out},
         [=](A a) {
             return gfk_rs_encode(rs_, a.regions(0, 3), a.regions(3, 2), a.bytes, a.stream());
         }},
        {"gfk_rs_verify",
         {in, in, in, in, in, {4, WRITTEN, 4}},
         [=](A a) {
             return gfk_rs_verify(rs_, a.regions(0, 3), a.regions(3, 2), a.bytes, a.as<uint32_t>(5),
                                  a.stream());
         }},
        {"gfk_rs_decode",
         {out, in, in, in, unused},
         [=](A a) {
             return gfk_rs_decode(rs_, &first_is_lost, 1, nullptr, 0, a.regions(0, 3),
                                  a.regions(3, 2), a.bytes, a.stream());
         }},
        {"gfk_rs_update",
         {in, in, out, out},
         [=](A a) {
             return gfk_rs_update(rs_, 1, a.at[0], a.at[1], a.regions(2, 2), a.bytes, a.stream());
         }},
        {"gfk_rs_apply_delta",
         {in, out, out},
         [=](A a) {
             return gfk_rs_apply_delta(rs_, 1, a.at[0], a.regions(1, 2), a.bytes, a.stream());
         }},
        {"gfk_rs_delta",
         {in, in, out},
         [=](A a) { return gfk_rs_delta(rs_, a.at[0], a.at[1], a.at[2], a.bytes, a.stream()); },
         {0, 1}},
    };
    size_t space;
    require_success(gfk_rs_locate_workspace(rs_, BYTES, &space), "workspace");
    const Operand verdict = {sizeof(gfk_rs_verdict), WRITTEN, 8}, counts = {40, WRITTEN, 8};
    const Operand workspace = {space, WORKSPACE, 256};
    for (const gfk_rs_repair repair : {GFK_RS_REPORT, GFK_RS_REPAIR}) {
        const Operand region = repair == GFK_RS_REPAIR ? out : in;
        calls.push_back(
            {repair == GFK_RS_REPAIR ? "gfk_rs_locate, REPAIR" : "gfk_rs_locate, REPORT",
             {region, region, region, region, region, verdict, counts, workspace},
             [=](A a) {
                 return gfk_rs_locate(rs_, a.regions(0, 3), a.regions(3, 2), a.bytes, repair,
                                      a.as<gfk_rs_verdict>(5), a.as<uint64_t>(6), a.at[7],
                                      a.workspace_bytes, a.stream());
             }});
    }
    return calls;
}

std::vector<Call> Table::rs_object_calls() {
    return {
        {"gfk_rs_decoder_run",
         {out, in, in, in, unused},
         [=](A a) {
             return gfk_rs_decoder_run(rs_decoder_, a.regions(0, 3), a.regions(3, 2), a.bytes,
                                       a.stream());
         }},
        {"gfk_rs_updater_run",
         {in, in, out, out},
         [=](A a) {
             return gfk_rs_updater_run(rs_updater_, a.at[0], a.at[1], a.regions(2, 2), a.bytes,
                                       a.stream());
         }},
        {"gfk_rs_updater_apply",
         {in, out, out},
         [=](A a) {
             return gfk_rs_updater_apply(rs_updater_, a.at[0], a.regions(1, 2), a.bytes,
                                         a.stream());
         }},
        {"gfk_rs_batch_create",
         {out, in, in, in, unused},
         [=](A a) {
             const gfk_regions *const data = a.regions(0, 3), *const parity = a.regions(3, 2);
             if (data == nullptr || parity == nullptr)
                 return INVALID; // a stripe has its regions inside
             const gfk_rs_stripe stripe = {*data, *parity, a.bytes, &first_is_lost, 1};
             gfk_rs_batch_t batch = nullptr;
             const gfk_status status = gfk_rs_batch_create(&batch, rs_, &stripe, 1, nullptr);
             gfk_rs_batch_destroy(batch);
             return status;
         },
         {SIZE_MAX, SIZE_MAX},
         GFK_STATUS_SUCCESS,
         true,
         false},
    };
}

// Codes of 2 sources, whose vectors have 2 symbols.
std::vector<Call> Table::rlnc_calls() {
    size_t encode, recode;
    require_success(gfk_rlnc_encode_workspace(rlnc_, &range_, &encode), "workspace");
    require_success(gfk_rlnc_recode_workspace(rlnc_, &range_, 2, &recode), "workspace");
    const Operand received = {4 * symbol_, READ, symbol_},
                  vectors = {6 * symbol_, WRITTEN, symbol_};
    return {
        {"gfk_rlnc_vectors",
         {vectors},
         [=](A a) { return gfk_rlnc_vectors(rlnc_, &range_, a.at[0], 2, a.stream()); }},
        {"gfk_rlnc_encode",
         {in, in, out, out, out, {6 * symbol_, OPTIONAL, symbol_}, {encode, WORKSPACE, 256}},
         [=](A a) {
             return gfk_rlnc_encode(rlnc_, &range_, a.regions(0, 2), a.regions(2, 3), a.at[5], 2,
                                    a.at[6], a.workspace_bytes, a.stream());
         }},
        {"gfk_rlnc_recode",
         {in, in, out, out, out, received, vectors, {recode, WORKSPACE, 256}},
         [=](A a) {
             return gfk_rlnc_recode(rlnc_, &range_, 7, 2, a.at[5], 2, a.regions(0, 2), a.at[6], 2,
                                    a.regions(2, 3), a.at[7], a.workspace_bytes, a.stream());
         }},
    };
}

// The decoder belongs to one thread at a time.
std::vector<Call> Table::decoder_calls() {
    using Header = gfk_rlnc_header;
    const Operand headers = {2 * sizeof(Header), READ, 1, true};
    std::vector<Call> calls = {
        {"gfk_rlnc_decoder_add",
         {in, in, headers, {2, OPTIONAL}},
         [=](A a) {
             return gfk_rlnc_decoder_add(decoder_, a.as<Header>(2), 2, nullptr, 0, a.regions(0, 2),
                                         a.as<uint8_t>(3), a.stream());
         }},
        {"gfk_rlnc_decoder_add, with vectors",
         {in,
          in,
          headers,
          {2, OPTIONAL},
          {4 * symbol_, READ_OR_NULL, symbol_}}, // NULL: the call above
         [=](A a) {
             return gfk_rlnc_decoder_add(decoder_, a.as<Header>(2), 2, a.at[4], 2, a.regions(0, 2),
                                         a.as<uint8_t>(3), a.stream());
         }},
        {"gfk_rlnc_decoder_decode",
         {out, out, {2, OPTIONAL}},
         [=](A a) {
             return gfk_rlnc_decoder_decode(decoder_, a.regions(0, 2), a.as<uint8_t>(2),
                                            a.stream());
         }},
    };
    for (Call &call : calls)
        call.is_shared = call.is_captured = false;
    return calls;
}

std::vector<Call> Table::host_calls() {
    return {
        {"gfk_region_multiply_host",
         {report, in, out},
         [=](A a) {
             return gfk_region_multiply_host(pipeline_, &field_, 5, a.at[1], a.at[2], a.bytes,
                                             GFK_XOR, a.as<Report>(0));
         },
         {1}},
        {"gfk_product_host",
         {in, in, in, out, out, report},
         [=](A a) {
             return gfk_product_host(pipeline_, &field_, 2, 3, matrix_, a.regions(0, 3),
                                     a.regions(3, 2), a.bytes, GFK_SET, a.as<Report>(5));
         }},
        {"gfk_matmul_host",
         {in, in, in, out, out, report, {6 * symbol_, READ, symbol_}},
         [=](A a) {
             const gfk_matrix matrix = dense(a, 6, 3);
             return gfk_matmul_host(pipeline_, &field_, &matrix, a.regions(0, 3), a.regions(3, 2),
                                    a.bytes, GFK_SET, a.as<Report>(5));
         }},
        {"gfk_rs_encode_host",
         {in, in, in, out, out, report},
         [=](A a) {
             return gfk_rs_encode_host(pipeline_, rs_, a.regions(0, 3), a.regions(3, 2), a.bytes,
                                       a.as<Report>(5));
         }},
        {"gfk_rs_verify_host",
         {in, in, in, in, in, report, {4, WRITTEN, 4}},
         [=](A a) {
             return gfk_rs_verify_host(pipeline_, rs_, a.regions(0, 3), a.regions(3, 2), a.bytes,
                                       a.as<uint32_t>(6), a.as<Report>(5));
         }},
        {"gfk_rs_decode_host",
         {out, in, in, in, unused, report},
         [=](A a) {
             return gfk_rs_decode_host(pipeline_, rs_, &first_is_lost, 1, nullptr, 0,
                                       a.regions(0, 3), a.regions(3, 2), a.bytes, a.as<Report>(5));
         }},
    };
}

std::vector<Call> Table::host_rlnc_calls() {
    using Header = gfk_rlnc_header;
    using Record = gfk_rlnc_record;
    const Operand received = {4 * symbol_, READ, symbol_},
                  vectors = {6 * symbol_, WRITTEN, symbol_};
    const Operand headers = {2 * sizeof(Header), READ, alignof(Header)};
    const Operand record = {sizeof(Record), OPTIONAL, alignof(Record)};
    return {
        {"gfk_rlnc_encode_host",
         {in, in, out, out, out, report},
         [=](A a) {
             return gfk_rlnc_encode_host(pipeline_, rlnc_, 0, 0, 3, a.regions(0, 2),
                                         a.regions(2, 3), a.as<Report>(5));
         }},
        {"gfk_rlnc_recode_host",
         {in, in, out, out, out, report, received, vectors},
         [=](A a) {
             return gfk_rlnc_recode_host(pipeline_, rlnc_, 0, 0, 3, 7, 2, a.at[6], 2,
                                         a.regions(0, 2), a.at[7], 2, a.regions(2, 3),
                                         a.as<Report>(5));
         }},
        {"gfk_rlnc_decode_host",
         {in, in, out, out, headers, {2, OPTIONAL}, record, report},
         [=](A a) {
             return gfk_rlnc_decode_host(pipeline_, rlnc_, 0, a.as<Header>(4), 2, nullptr, 0,
                                         a.regions(0, 2), a.regions(2, 2), a.as<uint8_t>(5),
                                         a.as<Record>(6), a.as<Report>(7));
         },
         {SIZE_MAX, SIZE_MAX},
         GFK_STATUS_SINGULAR}, // both packets have number 0
    };
}

// ---- functions with a descriptor ----------------------------------------------------------------

namespace {

// A copy of the descriptor whose size is wrong.
template <class Desc>
Desc cut(Desc desc, size_t by) {
    desc.size -= by;
    return desc;
}

} // namespace

std::vector<Making> makings(bool host) {
    static const uint32_t ones[4] = {1, 1, 1, 1};
    gfk_multiplier_desc row = GFK_MULTIPLIER_DESC_INIT;
    gfk_product_desc product = GFK_PRODUCT_DESC_INIT;
    gfk_rs_desc rs = GFK_RS_DESC_INIT;
    gfk_rlnc_desc rlnc = GFK_RLNC_DESC_INIT;
    gfk_matmul_desc matmul = GFK_MATMUL_DESC_INIT;
    row.kernel = host ? "split_w8_host" : "split_w8_naive";
    product.device = rs.product.device = rlnc.device = matmul.device =
        host ? GFK_CPU : GFK_CURRENT_DEVICE;
    using Field = const gfk_field *;
    return {
        {"gfk_multiplier_query",
         [=](Field f, size_t by) {
             const auto desc = cut(row, by);
             gfk_multiplier_info info;
             return gfk_multiplier_query(f, &desc, &info);
         }},
        {"gfk_multiplier_create",
         [=](Field f, size_t by) {
             const auto desc = cut(row, by);
             gfk_multiplier_t made = nullptr;
             const gfk_status status = gfk_multiplier_create(&made, f, &desc);
             gfk_multiplier_destroy(made);
             return status;
         }},
        {"gfk_product_query",
         [=](Field f, size_t by) {
             const auto desc = cut(product, by);
             gfk_product_info info;
             return gfk_product_query(f, 2, 2, &desc, &info);
         }},
        {"gfk_product_create",
         [=](Field f, size_t by) {
             const auto desc = cut(product, by);
             gfk_product_t made = nullptr;
             const gfk_status status = gfk_product_create(&made, f, 2, 2, ones, &desc);
             gfk_product_destroy(made);
             return status;
         }},
        {"gfk_rs_create",
         [=](Field f, size_t by) {
             const auto desc = cut(rs, by);
             gfk_rs_t made = nullptr;
             const gfk_status status = gfk_rs_create(&made, f, 3, 2, &desc);
             gfk_rs_destroy(made);
             return status;
         }},
        {"gfk_rlnc_create",
         [=](Field f, size_t by) {
             const auto desc = cut(rlnc, by);
             gfk_rlnc_t made = nullptr;
             const gfk_status status = gfk_rlnc_create(&made, f, 2, BYTES, &desc);
             gfk_rlnc_destroy(made);
             return status;
         }},
        {"gfk_matmul_workspace",
         [=](Field f, size_t by) {
             const auto desc = cut(matmul, by);
             size_t space;
             return gfk_matmul_workspace(f, 2, 2, BYTES, &desc, &space);
         }},
        {"gfk_matrix_invert_workspace",
         [=](Field f, size_t by) {
             const auto desc = cut(matmul, by);
             size_t space;
             return gfk_matrix_invert_workspace(f, 2, &desc, &space);
         }},
        {"gfk_matrix_solve_workspace",
         [=](Field f, size_t by) {
             const auto desc = cut(matmul, by);
             size_t space;
             return gfk_matrix_solve_workspace(f, 2, BYTES, &desc, &space);
         }},
        {"gfk_matrix_rank_workspace",
         [=](Field f, size_t by) {
             const auto desc = cut(matmul, by);
             size_t space;
             return gfk_matrix_rank_workspace(f, 2, 2, &desc, &space);
         }},
    };
}
