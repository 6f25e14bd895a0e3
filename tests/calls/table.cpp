// SPDX-License-Identifier: BSD-3-Clause
// table.h.
#include "table.h"

#include <algorithm>
#include <cstring>

namespace {

using A = const Arguments &;
using Report = gfk_pipeline_report;
const Operand report = {sizeof(Report), REPORT, alignof(Report)};
const size_t first_is_lost = 0;
const uint32_t ones[4] = {1, 1, 1, 1};

// The size that a function says a workspace must have.
template <class... Parameters, class... Given>
Operand workspace(gfk_status (*size_of)(Parameters...), Given... given) {
    size_t bytes = 0;
    require_success(size_of(given..., &bytes), "workspace");
    return {bytes, WORKSPACE, 256};
}

} // namespace

const gfk_regions *Arguments::regions(size_t first, size_t count) const {
    const size_t which = sets.empty() ? 0 : 1;
    sets.emplace_back(first, count);
    made_[which] = {at.data() + first, nullptr, 0};
    return first == spoiled ? description : &made_[which];
}

size_t Arguments::bytes() const {
    takes_bytes = true;
    return given_bytes;
}

gfk_accumulate Arguments::mode(gfk_accumulate good) const {
    takes_mode = true;
    const bool is_wrong = wrong_mode != GFK_SET && wrong_mode != GFK_XOR;
    return is_wrong ? static_cast<gfk_accumulate>(wrong_mode) : good;
}

gfk_stream_t Arguments::stream() const {
    takes_stream = true;
    return given;
}

Table::Table(bool host, unsigned w, const Shape &shape, bool check_pointers, int device)
    : host_(host), symbol_(w / 8), shape_(shape), k_(shape.ins), m_(shape.outs), in_({shape.bytes}),
      out_({shape.bytes, WRITTEN}), unused_({shape.bytes, UNUSED}), field_(make_field(w)),
      range_({0, shape.generations, 0, shape.outs}) {
    const int place = host ? GFK_CPU : device;
    for (size_t i = 0; i < k_ * m_; i++)
        matrix_.push_back(static_cast<uint32_t>(i % 250 + 1));
    own_.field = &field_;
    const std::string row = "split_w" + std::to_string(w) + (host ? "_host" : "_naive");
    gfk_multiplier_desc multiplier = GFK_MULTIPLIER_DESC_INIT;
    multiplier.kernel = row.c_str();
    multiplier.device = place;
    multiplier.check_pointers = check_pointers;
    require_success(gfk_multiplier_create(&own_.multiplier, &field_, &multiplier), "multiplier");
    gfk_product_desc product = GFK_PRODUCT_DESC_INIT;
    product.device = place;
    product.check_pointers = check_pointers;
    require_success(gfk_product_create(&own_.product, &field_, m_, k_, matrix_.data(), &product),
                    "product");
    gfk_rs_desc rs = GFK_RS_DESC_INIT;
    rs.product = product;
    require_success(gfk_rs_create(&own_.rs, &field_, k_, m_, &rs), "code");
    require_success(
        gfk_rs_decoder_create(&own_.rs_decoder, own_.rs, &first_is_lost, 1, nullptr, 0, nullptr),
        "decoder");
    require_success(gfk_rs_updater_create(&own_.rs_updater, own_.rs, 1, nullptr), "updater");
    gfk_rlnc_desc rlnc = GFK_RLNC_DESC_INIT;
    rlnc.device = place;
    rlnc.kernel = named_matmul;
    rlnc.check_pointers = check_pointers;
    require_success(gfk_rlnc_create(&own_.rlnc, &field_, k_, shape.bytes, &rlnc), "code");
    require_success(gfk_rlnc_decoder_create(&own_.decoder, own_.rlnc, 0, 1, 1), "decoder");
    matmul_.device = place;
    matmul_.kernel = named_matmul;
    matmul_.check_pointers = check_pointers;
    take_away(OBJECTS);
    add(region_calls());
    add(product_calls());
    add(matrix_calls());
    add(rs_calls());
    add(rs_object_calls());
    add(rlnc_calls());
    add(decoder_calls());
    if (!host)
        add(device_calls());
    gfk_pipeline_desc pipeline = GFK_PIPELINE_DESC_INIT;
    pipeline.path = host ? GFK_PATH_CPU : GFK_PATH_BOTH;
    require_success(gfk_pipeline_create(&own_.pipeline, &pipeline), "pipeline");
    take_away(OBJECTS);
    add(host_calls());
    add(host_rlnc_calls());
    for (Call &call : calls_)
        for (Operand &operand : call.operands)
            operand.on_host = operand.on_host || call.is_on_host_memory();
}

Table::~Table() {
    gfk_pipeline_destroy(own_.pipeline);
    gfk_rlnc_decoder_destroy(own_.decoder);
    gfk_rlnc_destroy(own_.rlnc);
    gfk_rs_updater_destroy(own_.rs_updater);
    gfk_rs_decoder_destroy(own_.rs_decoder);
    gfk_rs_destroy(own_.rs);
    gfk_product_destroy(own_.product);
    gfk_multiplier_destroy(own_.multiplier);
}

void Table::take_away(size_t object) {
    use_ = own_;
    if (object < OBJECTS)
        std::memset(reinterpret_cast<char *>(&use_) + object * sizeof(void *), 0, sizeof(void *));
}

void Table::add(const std::vector<Call> &calls) {
    calls_.insert(calls_.end(), calls.begin(), calls.end());
}

std::vector<Operand> Table::regions(size_t ins, size_t outs,
                                    const std::vector<Operand> &others) const {
    std::vector<Operand> operands(ins, in_);
    operands.insert(operands.end(), outs, out_);
    operands.insert(operands.end(), others.begin(), others.end());
    return operands;
}

std::vector<Call> Table::region_calls() {
    gfk_multiplier_info info;
    require_success(gfk_multiplier_get_info(own_.multiplier, &info), "info");
    const Operand tables = {static_cast<size_t>(info.workspace_bytes), WORKSPACE, 16};
    EXPECT_LT(0u, tables.bytes);
    return {
        {"gfk_region_multiply",
         {tables, in_, out_},
         [=](A a) {
             return gfk_region_multiply(use_.multiplier, 5, a.at[1], a.at[2], a.bytes(),
                                        a.mode(GFK_XOR), a.at[0], a.workspace_bytes, a.stream());
         },
         {1}},
        {"gfk_region_prepare",
         {tables},
         [=](A a) {
             return gfk_region_prepare(use_.multiplier, 5, a.at[0], a.workspace_bytes, a.stream());
         }},
        {"gfk_region_multiply_prepared",
         {tables, in_, out_},
         [=](A a) {
             return gfk_region_multiply_prepared(use_.multiplier, 5, a.at[1], a.at[2], a.bytes(),
                                                 a.mode(GFK_SET), a.at[0], a.workspace_bytes,
                                                 a.stream());
         },
         {1}},
    };
}

std::vector<Call> Table::product_calls() {
    const Operand space = workspace(gfk_matmul_workspace, &field_, m_, k_, shape_.bytes, &matmul_);
    const size_t more = k_ + m_;
    return {
        {"gfk_product_run", regions(k_, m_),
         [=](A a) {
             return gfk_product_run(use_.product, a.regions(0, k_), a.regions(k_, m_), a.bytes(),
                                    a.mode(GFK_SET), a.stream());
         }},
        {"gfk_matmul", regions(k_, m_, {symbols(k_ * m_), space}),
         [=](A a) {
             const gfk_matrix matrix = GFK_MATRIX_DENSE_INIT(a.at[more], m_, k_, k_);
             return gfk_matmul(use_.field, &matrix, a.regions(0, k_), a.regions(k_, m_), a.bytes(),
                               a.mode(GFK_XOR), &matmul_, a.at[more + 1], a.workspace_bytes,
                               a.stream());
         }},
    };
}

std::vector<Call> Table::matrix_calls() {
    using Record = gfk_matrix_record;
    const size_t n = shape_.n, more = 2 * n;
    const Operand square = symbols(n * n), inverse = symbols(n * n, WRITTEN);
    const Operand record = {sizeof(Record), WRITTEN, 4}, pivots = {4 * n, OPTIONAL, 4};
    return {
        {"gfk_matrix_invert",
         {square, record, pivots, workspace(gfk_matrix_invert_workspace, &field_, n, &matmul_),
          inverse},
         [=](A a) {
             const gfk_matrix matrix = GFK_MATRIX_DENSE_INIT(a.at[0], n, n, n);
             return gfk_matrix_invert(use_.field, &matrix, a.at[4], n, a.as<Record>(1),
                                      a.as<uint32_t>(2), &matmul_, a.at[3], a.workspace_bytes,
                                      a.stream());
         },
         {0}},
        {"gfk_matrix_solve",
         regions(n, n,
                 {square, record, pivots,
                  workspace(gfk_matrix_solve_workspace, &field_, n, shape_.bytes, &matmul_)}),
         [=](A a) {
             const gfk_matrix matrix = GFK_MATRIX_DENSE_INIT(a.at[more], n, n, n);
             return gfk_matrix_solve(use_.field, &matrix, a.regions(0, n), a.regions(n, n),
                                     a.bytes(), a.as<Record>(more + 1), a.as<uint32_t>(more + 2),
                                     &matmul_, a.at[more + 3], a.workspace_bytes, a.stream());
         }},
        {"gfk_matrix_rank",
         {symbols(n * (n + 1)), record, pivots,
          workspace(gfk_matrix_rank_workspace, &field_, n, n + 1, &matmul_)},
         [=](A a) {
             const gfk_matrix matrix = GFK_MATRIX_DENSE_INIT(a.at[0], n, n + 1, n + 1);
             return gfk_matrix_rank(use_.field, &matrix, a.as<Record>(1), a.as<uint32_t>(2),
                                    &matmul_, a.at[3], a.workspace_bytes, a.stream());
         }},
    };
}

std::vector<Call> Table::device_calls() {
    using Record = gfk_matrix_record;
    const size_t n = std::min<size_t>(shape_.n, 100), count = 5;
    const Operand records = {count * sizeof(Record), WRITTEN, 4},
                  pivots = {4 * count * n, OPTIONAL, 4};
    gfk_matmul_desc desc = matmul_;
    desc.kernel = nullptr;
    return {{"gfk_matrix_invert_batch",
             {symbols(count * n * n), records, pivots, symbols(count * n * n, WRITTEN)},
             [=](A a) {
                 return gfk_matrix_invert_batch(use_.field, n, count, a.at[0], n * n, a.at[3],
                                                n * n, a.as<Record>(1), a.as<uint32_t>(2), &desc,
                                                a.stream());
             },
             {0}}};
}

std::vector<Call> Table::rs_calls() {
    const size_t all = k_ + m_;
    std::vector<Operand> losing =
        regions(k_ + 1, 0); // the first region is lost, one of parity is read
    losing[0] = out_;
    losing.resize(all, unused_);
    std::vector<Call> calls = {
        {"gfk_rs_encode", regions(k_, m_),
         [=](A a) {
             return gfk_rs_encode(use_.rs, a.regions(0, k_), a.regions(k_, m_), a.bytes(),
                                  a.stream());
         }},
        {"gfk_rs_verify", regions(all, 0, {{4, WRITTEN, 4}}),
         [=](A a) {
             return gfk_rs_verify(use_.rs, a.regions(0, k_), a.regions(k_, m_), a.bytes(),
                                  a.as<uint32_t>(all), a.stream());
         }},
        {"gfk_rs_decode", losing,
         [=](A a) {
             return gfk_rs_decode(use_.rs, &first_is_lost, 1, nullptr, 0, a.regions(0, k_),
                                  a.regions(k_, m_), a.bytes(), a.stream());
         }},
        {"gfk_rs_decoder_run", losing,
         [=](A a) {
             return gfk_rs_decoder_run(use_.rs_decoder, a.regions(0, k_), a.regions(k_, m_),
                                       a.bytes(), a.stream());
         }},
        {"gfk_rs_batch_create, gfk_rs_batch_run",
         losing,
         [=](A a) {
             const gfk_regions *const data = a.regions(0, k_), *const parity = a.regions(k_, m_);
             if (data == nullptr || parity == nullptr)
                 return INVALID; // a stripe has its regions inside
             const gfk_rs_stripe stripe = {*data, *parity, a.bytes(), &first_is_lost, 1};
             gfk_rs_batch_t batch = nullptr;
             const gfk_status made = gfk_rs_batch_create(&batch, use_.rs, &stripe, 1, nullptr);
             const gfk_status run =
                 made == GFK_STATUS_SUCCESS ? gfk_rs_batch_run(batch, a.stream()) : made;
             if (!host_ && run == GFK_STATUS_SUCCESS)
                 device::synchronize(a.stream());
             gfk_rs_batch_destroy(batch);
             return run;
         },
         {SIZE_MAX, SIZE_MAX},
         GFK_STATUS_SUCCESS,
         true,
         false},
    };
    const Operand verdict = {sizeof(gfk_rs_verdict), WRITTEN, 8}, counts = {8 * all, WRITTEN, 8};
    const Operand space = workspace(gfk_rs_locate_workspace, own_.rs, shape_.bytes);
    for (const gfk_rs_repair repair : {GFK_RS_REPORT, GFK_RS_REPAIR}) {
        const bool repairs = repair == GFK_RS_REPAIR;
        calls.push_back(
            {repairs ? "gfk_rs_locate, REPAIR" : "gfk_rs_locate, REPORT",
             regions(repairs ? 0 : all, repairs ? all : 0, {verdict, counts, space}), [=](A a) {
                 return gfk_rs_locate(use_.rs, a.regions(0, k_), a.regions(k_, m_), a.bytes(),
                                      repair, a.as<gfk_rs_verdict>(all), a.as<uint64_t>(all + 1),
                                      a.at[all + 2], a.workspace_bytes, a.stream());
             }});
    }
    return calls;
}

// Updates of a code.
std::vector<Call> Table::rs_object_calls() {
    return {
        {"gfk_rs_update", regions(2, m_),
         [=](A a) {
             return gfk_rs_update(use_.rs, 1, a.at[0], a.at[1], a.regions(2, m_), a.bytes(),
                                  a.stream());
         }},
        {"gfk_rs_apply_delta", regions(1, m_),
         [=](A a) {
             return gfk_rs_apply_delta(use_.rs, 1, a.at[0], a.regions(1, m_), a.bytes(),
                                       a.stream());
         }},
        {"gfk_rs_delta",
         regions(2, 1),
         [=](A a) {
             return gfk_rs_delta(use_.rs, a.at[0], a.at[1], a.at[2], a.bytes(), a.stream());
         },
         {0, 1}},
        {"gfk_rs_updater_run", regions(2, m_),
         [=](A a) {
             return gfk_rs_updater_run(use_.rs_updater, a.at[0], a.at[1], a.regions(2, m_),
                                       a.bytes(), a.stream());
         }},
        {"gfk_rs_updater_apply", regions(1, m_),
         [=](A a) {
             return gfk_rs_updater_apply(use_.rs_updater, a.at[0], a.regions(1, m_), a.bytes(),
                                         a.stream());
         }},
    };
}

std::vector<Call> Table::rlnc_calls() {
    const size_t ins = shape_.generations * k_, outs = shape_.generations * m_, more = ins + outs;
    return {
        {"gfk_rlnc_vectors",
         {symbols(outs * k_, WRITTEN)},
         [=](A a) { return gfk_rlnc_vectors(use_.rlnc, &range_, a.at[0], k_, a.stream()); }},
        {"gfk_rlnc_encode",
         regions(ins, outs,
                 {symbols(outs * k_, OPTIONAL),
                  workspace(gfk_rlnc_encode_workspace, own_.rlnc, &range_)}),
         [=](A a) {
             return gfk_rlnc_encode(use_.rlnc, &range_, a.regions(0, ins), a.regions(ins, outs),
                                    a.at[more], k_, a.at[more + 1], a.workspace_bytes, a.stream());
         }},
        {"gfk_rlnc_recode",
         regions(ins, outs,
                 {symbols(ins * k_), symbols(outs * k_, WRITTEN),
                  workspace(gfk_rlnc_recode_workspace, own_.rlnc, &range_, k_)}),
         [=](A a) {
             return gfk_rlnc_recode(use_.rlnc, &range_, 7, k_, a.at[more], k_, a.regions(0, ins),
                                    a.at[more + 1], k_, a.regions(ins, outs), a.at[more + 2],
                                    a.workspace_bytes, a.stream());
         }},
    };
}

// The decoder belongs to one thread at a time.
std::vector<Call> Table::decoder_calls() {
    using Header = gfk_rlnc_header;
    const Operand headers = {2 * sizeof(Header), READ, 1, true}, outcomes = {2, OPTIONAL};
    const Operand vectors = symbols(2 * k_, READ_OR_NULL); // NULL: the call without
    std::vector<Call> calls = {
        {"gfk_rlnc_decoder_add", regions(2, 0, {headers, outcomes}),
         [=](A a) {
             return gfk_rlnc_decoder_add(use_.decoder, a.as<Header>(2), 2, nullptr, 0,
                                         a.regions(0, 2), a.as<uint8_t>(3), a.stream());
         }},
        {"gfk_rlnc_decoder_add, with vectors", regions(2, 0, {headers, outcomes, vectors}),
         [=](A a) {
             return gfk_rlnc_decoder_add(use_.decoder, a.as<Header>(2), 2, a.at[4], k_,
                                         a.regions(0, 2), a.as<uint8_t>(3), a.stream());
         }},
        {"gfk_rlnc_decoder_decode", regions(0, k_, {{k_, OPTIONAL}}),
         [=](A a) {
             return gfk_rlnc_decoder_decode(use_.decoder, a.regions(0, k_), a.as<uint8_t>(k_),
                                            a.stream());
         }},
    };
    for (Call &call : calls)
        call.is_shared = call.is_captured = false;
    return calls;
}

std::vector<Call> Table::host_calls() {
    const size_t all = k_ + m_;
    std::vector<Operand> losing = regions(k_ + 1, 0);
    losing[0] = out_;
    losing.resize(all, unused_);
    losing.push_back(report);
    return {
        {"gfk_region_multiply_host",
         {report, in_, out_},
         [=](A a) {
             return gfk_region_multiply_host(use_.pipeline, use_.field, 5, a.at[1], a.at[2],
                                             a.bytes(), a.mode(GFK_XOR), a.as<Report>(0));
         },
         {1}},
        {"gfk_product_host", regions(k_, m_, {report}),
         [=](A a) {
             return gfk_product_host(use_.pipeline, use_.field, m_, k_, matrix_.data(),
                                     a.regions(0, k_), a.regions(k_, m_), a.bytes(),
                                     a.mode(GFK_SET), a.as<Report>(all));
         }},
        {"gfk_matmul_host", regions(k_, m_, {report, symbols(k_ * m_)}),
         [=](A a) {
             const gfk_matrix matrix = GFK_MATRIX_DENSE_INIT(a.at[all + 1], m_, k_, k_);
             return gfk_matmul_host(use_.pipeline, use_.field, &matrix, a.regions(0, k_),
                                    a.regions(k_, m_), a.bytes(), a.mode(GFK_SET),
                                    a.as<Report>(all));
         }},
        {"gfk_rs_encode_host", regions(k_, m_, {report}),
         [=](A a) {
             return gfk_rs_encode_host(use_.pipeline, use_.rs, a.regions(0, k_), a.regions(k_, m_),
                                       a.bytes(), a.as<Report>(all));
         }},
        {"gfk_rs_verify_host", regions(all, 0, {report, {4, WRITTEN, 4}}),
         [=](A a) {
             return gfk_rs_verify_host(use_.pipeline, use_.rs, a.regions(0, k_), a.regions(k_, m_),
                                       a.bytes(), a.as<uint32_t>(all + 1), a.as<Report>(all));
         }},
        {"gfk_rs_decode_host", losing,
         [=](A a) {
             return gfk_rs_decode_host(use_.pipeline, use_.rs, &first_is_lost, 1, nullptr, 0,
                                       a.regions(0, k_), a.regions(k_, m_), a.bytes(),
                                       a.as<Report>(all));
         }},
    };
}

std::vector<Call> Table::host_rlnc_calls() {
    using Header = gfk_rlnc_header;
    using Record = gfk_rlnc_record;
    const size_t all = k_ + m_;
    const Operand headers = {2 * sizeof(Header), READ, alignof(Header)};
    const Operand record = {sizeof(Record), OPTIONAL, alignof(Record)};
    return {
        {"gfk_rlnc_encode_host", regions(k_, m_, {report}),
         [=](A a) {
             return gfk_rlnc_encode_host(use_.pipeline, use_.rlnc, 0, 0, m_, a.regions(0, k_),
                                         a.regions(k_, m_), a.as<Report>(all));
         }},
        {"gfk_rlnc_recode_host",
         regions(k_, m_, {report, symbols(k_ * k_), symbols(m_ * k_, WRITTEN)}),
         [=](A a) {
             return gfk_rlnc_recode_host(use_.pipeline, use_.rlnc, 0, 0, m_, 7, k_, a.at[all + 1],
                                         k_, a.regions(0, k_), a.at[all + 2], k_, a.regions(k_, m_),
                                         a.as<Report>(all));
         }},
        {"gfk_rlnc_decode_host",
         regions(2, k_, {headers, {k_, OPTIONAL}, record, report}),
         [=](A a) {
             return gfk_rlnc_decode_host(use_.pipeline, use_.rlnc, 0, a.as<Header>(k_ + 2), 2,
                                         nullptr, 0, a.regions(0, 2), a.regions(2, k_),
                                         a.as<uint8_t>(k_ + 3), a.as<Record>(k_ + 4),
                                         a.as<Report>(k_ + 5));
         },
         {SIZE_MAX, SIZE_MAX},
         GFK_STATUS_SINGULAR}, // two packets
    };
}

// ---- functions with a descriptor ----------------------------------------------------------------

namespace {

// A call of `function` with a copy of the descriptor whose size is wrong.
template <class Desc, class Function>
Making making(const char *name, const Desc &good, const Function &function) {
    return {name, [=](const gfk_field *field, size_t by) {
                Desc desc = good;
                desc.size -= by;
                return function(field, &desc);
            }};
}

template <class Object, class Create, class Destroy, class... Given>
gfk_status made(Create create, Destroy destroy, Given... given) {
    Object object = nullptr;
    const gfk_status status = create(&object, given...);
    destroy(object);
    return status;
}

} // namespace

std::vector<Making> makings(int device) {
    gfk_multiplier_desc row = GFK_MULTIPLIER_DESC_INIT;
    gfk_product_desc product = GFK_PRODUCT_DESC_INIT;
    gfk_rs_desc rs = GFK_RS_DESC_INIT;
    gfk_rlnc_desc rlnc = GFK_RLNC_DESC_INIT;
    gfk_matmul_desc matmul = GFK_MATMUL_DESC_INIT;
    row.kernel = device == GFK_CPU ? "split_w8_host" : "split_w8_naive";
    row.device = product.device = rs.product.device = rlnc.device = matmul.device = device;
    static size_t space;
    static gfk_multiplier_info multiplier_info;
    static gfk_product_info product_info;
    return {
        making("gfk_multiplier_query", row,
               [](auto f, auto d) { return gfk_multiplier_query(f, d, &multiplier_info); }),
        making("gfk_multiplier_create", row,
               [](auto f, auto d) {
                   return made<gfk_multiplier_t>(gfk_multiplier_create, gfk_multiplier_destroy, f,
                                                 d);
               }),
        making("gfk_product_query", product,
               [](auto f, auto d) { return gfk_product_query(f, 2, 2, d, &product_info); }),
        making("gfk_product_create", product,
               [](auto f, auto d) {
                   return made<gfk_product_t>(gfk_product_create, gfk_product_destroy, f, 2, 2,
                                              ones, d);
               }),
        making("gfk_rs_create", rs,
               [](auto f, auto d) {
                   return made<gfk_rs_t>(gfk_rs_create, gfk_rs_destroy, f, 3, 2, d);
               }),
        making("gfk_rlnc_create", rlnc,
               [](auto f, auto d) {
                   return made<gfk_rlnc_t>(gfk_rlnc_create, gfk_rlnc_destroy, f, 2, 512, d);
               }),
        making("gfk_matmul_workspace", matmul,
               [](auto f, auto d) { return gfk_matmul_workspace(f, 2, 2, 512, d, &space); }),
        making("gfk_matrix_invert_workspace", matmul,
               [](auto f, auto d) { return gfk_matrix_invert_workspace(f, 2, d, &space); }),
        making("gfk_matrix_solve_workspace", matmul,
               [](auto f, auto d) { return gfk_matrix_solve_workspace(f, 2, 512, d, &space); }),
        making("gfk_matrix_rank_workspace", matmul,
               [](auto f, auto d) { return gfk_matrix_rank_workspace(f, 2, 2, d, &space); }),
    };
}
