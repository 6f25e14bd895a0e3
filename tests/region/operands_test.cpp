// SPDX-License-Identifier: BSD-3-Clause
// Every call on the CPU, every operand of it, every mistake: each has its status and changes nothing;
// of two mistakes the first one in the order of gfk/status.h has.
#include <cstdlib>
#include <cstring>

#include "support/harness.h"

namespace {

// The mistakes in the documented order of their statuses; MISALIGNED and NO_ADDRESS have the same one.
enum Mistake { MISALIGNED, NO_ADDRESS, WRAPS, TOO_SHORT, NO_WORKSPACE, MISTAKES };
constexpr gfk_status statuses[] = {INVALID, INVALID, GFK_STATUS_INVALID_SIZE,
                                   GFK_STATUS_WORKSPACE_TOO_SMALL, GFK_STATUS_WORKSPACE_TOO_SMALL};
constexpr uint8_t UNTOUCHED = 0x5a;
constexpr gfk_status OVERLAP = GFK_STATUS_OVERLAP;

enum Kind { READ, WRITTEN, WORKSPACE, OPTIONAL }; // OPTIONAL: written, or NULL

struct Operand {
    size_t bytes;
    Kind kind = READ;
    size_t alignment = 1;
};
using Addresses = std::vector<void *>;

struct Call {
    const char *name;
    std::vector<Operand> operands;
    std::function<gfk_status(void *const *at, size_t workspace_bytes)> run;
    size_t same_as[2] = {SIZE_MAX, SIZE_MAX}; // operands at whose address the last written may be
    gfk_status good = GFK_STATUS_SUCCESS;
};

uint8_t *bytes_at(void *address) {
    return static_cast<uint8_t *>(address);
}

// Operands one after the other in memory whose content is known.
class Stage {
  public:
    explicit Stage(const Call &call) : call_(call) {
        for (const Operand &o : call.operands) {
            offsets_.push_back(size_);
            size_ += round_up(o.bytes, 256) + 256;
        }
        memory_.reset(bytes_at(std::aligned_alloc(256, size_)));
        std::memset(memory_.get(), UNTOUCHED, size_);
        for (size_t i = 0; i < call.operands.size(); i++) {
            at.push_back(memory_.get() + offsets_[i]);
            workspace_bytes =
                call.operands[i].kind == WORKSPACE ? call.operands[i].bytes : workspace_bytes;
        }
    }
    // Makes the mistake; false if there is none of the kind for the operand.
    bool spoil(size_t i, Mistake mistake) {
        const auto [bytes, kind, alignment] = call_.operands[i];
        const bool is_workspace = kind == WORKSPACE;
        switch (mistake) {
        case MISALIGNED:
            at[i] = bytes_at(at[i]) + 1;
            return alignment > 1;
        case NO_ADDRESS:
            at[i] = nullptr;
            return kind == READ || kind == WRITTEN;
        case WRAPS:
            at[i] = reinterpret_cast<void *>(UINTPTR_MAX - alignment + 1);
            return true;
        case TOO_SHORT:
            workspace_bytes--;
            return is_workspace;
        default:
            at[i] = nullptr;
            return is_workspace;
        }
    }
    // Moves operand i so that it shares bytes with operand j: its first ones, or the last or first alone.
    bool overlap(size_t i, size_t j, int where) {
        const Operand &a = call_.operands[i], &b = call_.operands[j];
        const size_t unit = a.alignment, length = (a.bytes - 1) / unit * unit;
        if ((a.kind == READ && b.kind == READ) || i == j)
            return false;
        const size_t last = call_.operands.size() - 1;
        for (size_t same : call_.same_as) // in place
            if (where == 0 && ((i == last && j == same) || (j == last && i == same)))
                return false;
        at[i] = bytes_at(at[j]) +
                (where == 0  ? 0
                 : where > 0 ? (b.bytes - 1) / unit * unit
                             : 0) -
                (where < 0 ? length : 0);
        return true;
    }
    void refused(gfk_status status, const std::string &what) {
        EXPECT_STATUS(status, call_.run(at.data(), workspace_bytes)) << call_.name << ": " << what;
        for (size_t i = 0; i < size_; i++)
            ASSERT_EQ(UNTOUCHED, memory_.get()[i]) << call_.name << " has written: " << what;
        count_checked();
    }
    gfk_status run() { return call_.run(at.data(), workspace_bytes); }

    Addresses at;
    size_t workspace_bytes = 0;

  private:
    struct Free {
        void operator()(uint8_t *memory) const { std::free(memory); }
    };
    const Call &call_;
    std::vector<size_t> offsets_;
    size_t size_ = 0;
    std::unique_ptr<uint8_t, Free> memory_;
};

void expect_each_mistake(const Call &call) {
    const size_t count = call.operands.size();
    for (size_t i = 0; i < count; i++) {
        for (int mistake = 0; mistake < MISTAKES; mistake++) {
            Stage stage(call);
            if (stage.spoil(i, static_cast<Mistake>(mistake)))
                stage.refused(statuses[mistake], "operand " + std::to_string(i) + ", mistake " +
                                                     std::to_string(mistake));
        }
        for (size_t j = 0; j < count; j++)
            for (int where : {0, 1, -1}) {
                Stage stage(call);
                if (stage.overlap(i, j, where))
                    stage.refused(OVERLAP, "operand " + std::to_string(i) + " over operand " +
                                               std::to_string(j) + ", " + std::to_string(where));
            }
    }
}

void expect_order(const Call &call) {
    const size_t count = call.operands.size();
    const auto text = [](size_t i, int mistake) {
        return "operand " + std::to_string(i) + ", mistake " + std::to_string(mistake) + "; ";
    };
    for (size_t i = 0; i < count; i++)
        for (int first = 0; first < MISTAKES; first++)
            for (size_t j = 0; j < count; j++) {
                for (int second = first; second < MISTAKES; second++) {
                    Stage stage(call);
                    if (i != j && stage.spoil(i, static_cast<Mistake>(first)) &&
                        stage.spoil(j, static_cast<Mistake>(second)))
                        stage.refused(statuses[first], text(i, first) + text(j, second));
                }
                Stage stage(call);
                const size_t other = (j + 1) % count;
                if (i != j && i != other && stage.spoil(i, static_cast<Mistake>(first)) &&
                    stage.overlap(j, other, 0))
                    stage.refused(statuses[first], text(i, first) + "and an overlap");
            }
}

gfk_regions regions(void *const *at) {
    return {at, nullptr, 0};
}

constexpr size_t BYTES = 512;
constexpr size_t REPORT = sizeof(gfk_pipeline_report), RECORD = sizeof(gfk_rlnc_record);

class Operands : public testing::Test {
  protected:
    Operands() {
        gfk_multiplier_desc multiplier = GFK_MULTIPLIER_DESC_INIT;
        multiplier.kernel = "split_w16_host";
        require_success(gfk_multiplier_create(&multiplier_, &field_, &multiplier), "multiplier");
        gfk_product_desc product = GFK_PRODUCT_DESC_INIT;
        product.device = GFK_CPU;
        require_success(gfk_product_create(&product_, &field_, 2, 3, matrix_, &product), "product");
        gfk_rs_desc rs = GFK_RS_DESC_INIT;
        rs.product.device = GFK_CPU;
        require_success(gfk_rs_create(&rs_, &field_, 3, 2, &rs), "code");
        gfk_rlnc_desc rlnc = GFK_RLNC_DESC_INIT;
        rlnc.device = GFK_CPU;
        require_success(gfk_rlnc_create(&rlnc_, &field_, 2, BYTES, &rlnc), "code");
        require_success(gfk_rlnc_decoder_create(&decoder_, rlnc_, 0, 1, 1), "decoder");
        gfk_pipeline_desc pipeline = GFK_PIPELINE_DESC_INIT;
        pipeline.path = GFK_PATH_CPU;
        require_success(gfk_pipeline_create(&pipeline_, &pipeline), "pipeline");
        matmul_.device = GFK_CPU;
    }
    ~Operands() override {
        gfk_pipeline_destroy(pipeline_);
        gfk_rlnc_decoder_destroy(decoder_);
        gfk_rlnc_destroy(rlnc_);
        gfk_rs_destroy(rs_);
        gfk_product_destroy(product_);
        gfk_multiplier_destroy(multiplier_);
    }
    void check(const std::vector<Call> &calls) {
        for (const Call &call : calls) {
            expect_each_mistake(call);
            expect_order(call);
            Stage stage(call);
            EXPECT_STATUS(call.good, stage.run()) << call.name;
        }
    }
    std::vector<Call> region_calls();
    std::vector<Call> product_calls();
    std::vector<Call> matrix_calls();
    std::vector<Call> rs_calls();
    std::vector<Call> rlnc_calls();
    std::vector<Call> host_calls();
    std::vector<Call> host_rlnc_calls();

    gfk_field field_ = make_field(16);
    const uint32_t matrix_[6] = {1, 2, 3, 4, 5, 6};
    gfk_multiplier_t multiplier_ = nullptr;
    gfk_product_t product_ = nullptr;
    gfk_rs_t rs_ = nullptr;
    gfk_rlnc_t rlnc_ = nullptr;
    gfk_rlnc_decoder_t decoder_ = nullptr;
    gfk_pipeline_t pipeline_ = nullptr;
    gfk_matmul_desc matmul_ = GFK_MATMUL_DESC_INIT;
    gfk_rlnc_range range_ = {0, 1, 0, 3};
};

std::vector<Call> Operands::region_calls() {
    gfk_multiplier_info info;
    require_success(gfk_multiplier_get_info(multiplier_, &info), "info");
    const Operand workspace = {static_cast<size_t>(info.workspace_bytes), WORKSPACE, 16};
    EXPECT_LT(0u, workspace.bytes);
    return {
        {"gfk_region_multiply",
         {workspace, {BYTES}, {BYTES, WRITTEN}},
         [=](void *const *at, size_t bytes) {
             return gfk_region_multiply(multiplier_, 5, at[1], at[2], BYTES, GFK_XOR, at[0], bytes,
                                        nullptr);
         },
         {1}},
        {"gfk_region_prepare",
         {workspace},
         [=](void *const *at, size_t bytes) {
             return gfk_region_prepare(multiplier_, 5, at[0], bytes, nullptr);
         }},
        {"gfk_region_multiply_prepared",
         {workspace, {BYTES}, {BYTES, WRITTEN}},
         [=](void *const *at, size_t bytes) {
             return gfk_region_multiply_prepared(multiplier_, 5, at[1], at[2], BYTES, GFK_SET,
                                                 at[0], bytes, nullptr);
         },
         {1}},
    };
}

std::vector<Call> Operands::product_calls() {
    size_t space;
    require_success(gfk_matmul_workspace(&field_, 2, 3, BYTES, &matmul_, &space), "workspace");
    const Operand in = {BYTES}, out = {BYTES, WRITTEN};
    return {
        {"gfk_product_run",
         {in, in, in, out, out},
         [=](void *const *at, size_t) {
             const gfk_regions from = regions(at), to = regions(at + 3);
             return gfk_product_run(product_, &from, &to, BYTES, GFK_SET, nullptr);
         }},
        {"gfk_matmul",
         {in, in, in, out, out, {12, READ, 2}, {space, WORKSPACE, 256}},
         [=](void *const *at, size_t bytes) {
             const gfk_regions from = regions(at), to = regions(at + 3);
             const gfk_matrix a = GFK_MATRIX_DENSE_INIT(at[5], 2, 3, 3);
             return gfk_matmul(&field_, &a, &from, &to, BYTES, GFK_XOR, &matmul_, at[6], bytes,
                               nullptr);
         }},
    };
}

std::vector<Call> Operands::matrix_calls() {
    size_t invert, solve, rank;
    require_success(gfk_matrix_invert_workspace(&field_, 2, &matmul_, &invert), "workspace");
    require_success(gfk_matrix_solve_workspace(&field_, 2, BYTES, &matmul_, &solve), "workspace");
    require_success(gfk_matrix_rank_workspace(&field_, 2, 3, &matmul_, &rank), "workspace");
    const Operand record = {sizeof(gfk_matrix_record), WRITTEN, 4}, pivots = {8, OPTIONAL, 4};
    const auto record_at = [](void *at) { return static_cast<gfk_matrix_record *>(at); };
    const auto words_at = [](void *at) { return static_cast<uint32_t *>(at); };
    return {
        {"gfk_matrix_invert",
         {{8, READ, 2}, record, pivots, {invert, WORKSPACE, 256}, {8, WRITTEN, 2}},
         [=](void *const *at, size_t bytes) {
             const gfk_matrix a = GFK_MATRIX_DENSE_INIT(at[0], 2, 2, 2);
             return gfk_matrix_invert(&field_, &a, at[4], 2, record_at(at[1]), words_at(at[2]),
                                      &matmul_, at[3], bytes, nullptr);
         },
         {0}},
        {"gfk_matrix_solve",
         {{8, READ, 2},
          record,
          pivots,
          {solve, WORKSPACE, 256},
          {BYTES},
          {BYTES},
          {BYTES, WRITTEN},
          {BYTES, WRITTEN}},
         [=](void *const *at, size_t bytes) {
             const gfk_matrix a = GFK_MATRIX_DENSE_INIT(at[0], 2, 2, 2);
             const gfk_regions b = regions(at + 4), x = regions(at + 6);
             return gfk_matrix_solve(&field_, &a, &b, &x, BYTES, record_at(at[1]), words_at(at[2]),
                                     &matmul_, at[3], bytes, nullptr);
         }},
        {"gfk_matrix_rank",
         {{12, READ, 2}, record, pivots, {rank, WORKSPACE, 256}},
         [=](void *const *at, size_t bytes) {
             const gfk_matrix a = GFK_MATRIX_DENSE_INIT(at[0], 2, 3, 3);
             return gfk_matrix_rank(&field_, &a, record_at(at[1]), words_at(at[2]), &matmul_, at[3],
                                    bytes, nullptr);
         }},
    };
}

std::vector<Call> Operands::rs_calls() {
    size_t space;
    require_success(gfk_rs_locate_workspace(rs_, BYTES, &space), "workspace");
    const Operand in = {BYTES}, out = {BYTES, WRITTEN};
    std::vector<Call> calls = {
        {"gfk_rs_encode",
         {in, in, in, out, out},
         [=](void *const *at, size_t) {
             const gfk_regions data = regions(at), parity = regions(at + 3);
             return gfk_rs_encode(rs_, &data, &parity, BYTES, nullptr);
         }},
        {"gfk_rs_verify",
         {in, in, in, in, in, {4, WRITTEN, 4}},
         [=](void *const *at, size_t) {
             const gfk_regions data = regions(at), parity = regions(at + 3);
             return gfk_rs_verify(rs_, &data, &parity, BYTES, static_cast<uint32_t *>(at[5]),
                                  nullptr);
         }},
        {"gfk_rs_decode", // parity 1 is not read
         {out, in, in, in},
         [=](void *const *at, size_t) {
             void *const all[] = {at[0], at[1], at[2], at[3], nullptr};
             const gfk_regions data = regions(all), parity = regions(all + 3);
             const size_t lost = 0;
             return gfk_rs_decode(rs_, &lost, 1, nullptr, 0, &data, &parity, BYTES, nullptr);
         }},
        {"gfk_rs_batch_create",
         {out, in, in, in},
         [=](void *const *at, size_t) {
             void *const all[] = {at[0], at[1], at[2], at[3], nullptr};
             const size_t lost = 0;
             const gfk_rs_stripe stripe = {regions(all), regions(all + 3), BYTES, &lost, 1};
             gfk_rs_batch_t batch = nullptr;
             const gfk_status status = gfk_rs_batch_create(&batch, rs_, &stripe, 1, nullptr);
             gfk_rs_batch_destroy(batch);
             return status;
         }},
        {"gfk_rs_update",
         {in, in, out, out},
         [=](void *const *at, size_t) {
             const gfk_regions parity = regions(at + 2);
             return gfk_rs_update(rs_, 1, at[0], at[1], &parity, BYTES, nullptr);
         }},
        {"gfk_rs_apply_delta",
         {in, out, out},
         [=](void *const *at, size_t) {
             const gfk_regions parity = regions(at + 1);
             return gfk_rs_apply_delta(rs_, 1, at[0], &parity, BYTES, nullptr);
         }},
        {"gfk_rs_delta",
         {in, in, out},
         [=](void *const *at, size_t) {
             return gfk_rs_delta(rs_, at[0], at[1], at[2], BYTES, nullptr);
         },
         {0, 1}},
    };
    for (const bool repair : {false, true}) {
        const Operand region = repair ? out : in;
        calls.push_back({repair ? "gfk_rs_locate, REPAIR" : "gfk_rs_locate, REPORT",
                         {region,
                          region,
                          region,
                          region,
                          region,
                          {sizeof(gfk_rs_verdict), WRITTEN, 8},
                          {5 * sizeof(uint64_t), WRITTEN, 8},
                          {space, WORKSPACE, 256}},
                         [=](void *const *at, size_t bytes) {
                             const gfk_regions data = regions(at), parity = regions(at + 3);
                             return gfk_rs_locate(
                                 rs_, &data, &parity, BYTES, repair ? GFK_RS_REPAIR : GFK_RS_REPORT,
                                 static_cast<gfk_rs_verdict *>(at[5]),
                                 static_cast<uint64_t *>(at[6]), at[7], bytes, nullptr);
                         }});
    }
    return calls;
}

// Codes of 2 sources; vectors are 4 bytes long.
std::vector<Call> Operands::rlnc_calls() {
    size_t encode, recode;
    require_success(gfk_rlnc_encode_workspace(rlnc_, &range_, &encode), "workspace");
    require_success(gfk_rlnc_recode_workspace(rlnc_, &range_, 2, &recode), "workspace");
    const Operand in = {BYTES}, out = {BYTES, WRITTEN};
    return {
        {"gfk_rlnc_vectors",
         {{12, WRITTEN, 2}},
         [=](void *const *at, size_t) {
             return gfk_rlnc_vectors(rlnc_, &range_, at[0], 2, nullptr);
         }},
        {"gfk_rlnc_encode",
         {in, in, out, out, out, {12, OPTIONAL, 2}, {encode, WORKSPACE, 256}},
         [=](void *const *at, size_t bytes) {
             const gfk_regions sources = regions(at), payloads = regions(at + 2);
             return gfk_rlnc_encode(rlnc_, &range_, &sources, &payloads, at[5], 2, at[6], bytes,
                                    nullptr);
         }},
        {"gfk_rlnc_recode",
         {in, in, out, out, out, {8, READ, 2}, {12, WRITTEN, 2}, {recode, WORKSPACE, 256}},
         [=](void *const *at, size_t bytes) {
             const gfk_regions payloads = regions(at), made = regions(at + 2);
             return gfk_rlnc_recode(rlnc_, &range_, 7, 2, at[5], 2, &payloads, at[6], 2, &made,
                                    at[7], bytes, nullptr);
         }},
        {"gfk_rlnc_decoder_add",
         {in, in, {2 * sizeof(gfk_rlnc_header)}, {2, OPTIONAL}},
         [=](void *const *at, size_t) {
             const gfk_regions payloads = regions(at);
             return gfk_rlnc_decoder_add(decoder_, static_cast<gfk_rlnc_header *>(at[2]), 2,
                                         nullptr, 0, &payloads, static_cast<uint8_t *>(at[3]),
                                         nullptr);
         }},
        {"gfk_rlnc_decoder_add, with vectors",
         {in, in, {2 * sizeof(gfk_rlnc_header)}, {2, OPTIONAL}, {8, READ, 2}},
         [=](void *const *at, size_t) {
             const gfk_regions payloads = regions(at);
             // NULL would be the call above
             void *const vectors = at[4] != nullptr ? at[4] : reinterpret_cast<void *>(1);
             return gfk_rlnc_decoder_add(decoder_, static_cast<gfk_rlnc_header *>(at[2]), 2,
                                         vectors, 2, &payloads, static_cast<uint8_t *>(at[3]),
                                         nullptr);
         }},
        {"gfk_rlnc_decoder_decode",
         {out, out, {2, OPTIONAL}},
         [=](void *const *at, size_t) {
             const gfk_regions sources = regions(at);
             return gfk_rlnc_decoder_decode(decoder_, &sources, static_cast<uint8_t *>(at[2]),
                                            nullptr);
         }},
    };
}

std::vector<Call> Operands::host_calls() {
    const Operand in = {BYTES}, out = {BYTES, WRITTEN};
    const Operand report = {REPORT, OPTIONAL, alignof(gfk_pipeline_report)};
    const auto report_at = [](void *at) { return static_cast<gfk_pipeline_report *>(at); };
    return {
        {"gfk_region_multiply_host",
         {report, in, out},
         [=](void *const *at, size_t) {
             return gfk_region_multiply_host(pipeline_, &field_, 5, at[1], at[2], BYTES, GFK_XOR,
                                             report_at(at[0]));
         },
         {1}},
        {"gfk_product_host",
         {in, in, in, out, out, report},
         [=](void *const *at, size_t) {
             const gfk_regions from = regions(at), to = regions(at + 3);
             return gfk_product_host(pipeline_, &field_, 2, 3, matrix_, &from, &to, BYTES, GFK_SET,
                                     report_at(at[5]));
         }},
        {"gfk_matmul_host",
         {in, in, in, out, out, report, {12, READ, 2}},
         [=](void *const *at, size_t) {
             const gfk_regions from = regions(at), to = regions(at + 3);
             const gfk_matrix a = GFK_MATRIX_DENSE_INIT(at[6], 2, 3, 3);
             return gfk_matmul_host(pipeline_, &field_, &a, &from, &to, BYTES, GFK_SET,
                                    report_at(at[5]));
         }},
        {"gfk_rs_encode_host",
         {in, in, in, out, out, report},
         [=](void *const *at, size_t) {
             const gfk_regions data = regions(at), parity = regions(at + 3);
             return gfk_rs_encode_host(pipeline_, rs_, &data, &parity, BYTES, report_at(at[5]));
         }},
        {"gfk_rs_verify_host",
         {in, in, in, in, in, report, {4, WRITTEN, 4}},
         [=](void *const *at, size_t) {
             const gfk_regions data = regions(at), parity = regions(at + 3);
             return gfk_rs_verify_host(pipeline_, rs_, &data, &parity, BYTES,
                                       static_cast<uint32_t *>(at[6]), report_at(at[5]));
         }},
        {"gfk_rs_decode_host",
         {out, in, in, in, report},
         [=](void *const *at, size_t) {
             void *const all[] = {at[0], at[1], at[2], at[3], nullptr};
             const gfk_regions data = regions(all), parity = regions(all + 3);
             const size_t lost = 0;
             return gfk_rs_decode_host(pipeline_, rs_, &lost, 1, nullptr, 0, &data, &parity, BYTES,
                                       report_at(at[4]));
         }},
    };
}

std::vector<Call> Operands::host_rlnc_calls() {
    const Operand in = {BYTES}, out = {BYTES, WRITTEN};
    const Operand report = {REPORT, OPTIONAL, alignof(gfk_pipeline_report)};
    const auto report_at = [](void *at) { return static_cast<gfk_pipeline_report *>(at); };
    return {
        {"gfk_rlnc_encode_host",
         {in, in, out, out, out, report},
         [=](void *const *at, size_t) {
             const gfk_regions sources = regions(at), payloads = regions(at + 2);
             return gfk_rlnc_encode_host(pipeline_, rlnc_, 0, 0, 3, &sources, &payloads,
                                         report_at(at[5]));
         }},
        {"gfk_rlnc_recode_host",
         {in, in, out, out, out, report, {8, READ, 2}, {12, WRITTEN, 2}},
         [=](void *const *at, size_t) {
             const gfk_regions payloads = regions(at), made = regions(at + 2);
             return gfk_rlnc_recode_host(pipeline_, rlnc_, 0, 0, 3, 7, 2, at[6], 2, &payloads,
                                         at[7], 2, &made, report_at(at[5]));
         }},
        {"gfk_rlnc_decode_host",
         {in,
          in,
          out,
          out,
          {2 * sizeof(gfk_rlnc_header), READ, alignof(gfk_rlnc_header)},
          {2, OPTIONAL},
          {RECORD, OPTIONAL, alignof(gfk_rlnc_record)},
          report},
         [=](void *const *at, size_t) {
             const gfk_regions payloads = regions(at), sources = regions(at + 2);
             return gfk_rlnc_decode_host(pipeline_, rlnc_, 0, static_cast<gfk_rlnc_header *>(at[4]),
                                         2, nullptr, 0, &payloads, &sources,
                                         static_cast<uint8_t *>(at[5]),
                                         static_cast<gfk_rlnc_record *>(at[6]), report_at(at[7]));
         },
         {SIZE_MAX, SIZE_MAX},
         GFK_STATUS_SINGULAR}, // both packets have number 0
    };
}

TEST_F(Operands, OfRegionMultiply) {
    check(region_calls());
}
TEST_F(Operands, OfProducts) {
    check(product_calls());
}
TEST_F(Operands, OfMatrices) {
    check(matrix_calls());
}
TEST_F(Operands, OfCodes) {
    check(rs_calls());
}
TEST_F(Operands, OfNetworkCoding) {
    check(rlnc_calls());
}
TEST_F(Operands, OfPipelines) {
    check(host_calls());
}
TEST_F(Operands, OfNetworkCodingOnHostMemory) {
    check(host_rlnc_calls());
}

} // namespace
