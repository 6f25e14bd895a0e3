// SPDX-License-Identifier: BSD-3-Clause
// The programs of the xor engine: right by the field's own arithmetic, and as short as they were.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "matrices.h"
extern "C" {
#include "host/base/poly.h"
#include "host/product/xor/ir.h"
}

namespace {

struct Program {
    gfk_jit_program p{};
    gfk_status status;
    explicit Program(const Matrix &m)
        : status(gfk_jit_program_create(&p, &m.field, m.rows, m.cols, m.elements.data())) {}
    Program(const Matrix &m, bool (*way)(gfk_jit_program *, const uint32_t *)) {
        p.w = m.field.w;
        p.polynomial = m.field.polynomial;
        p.rows = m.rows;
        p.cols = m.cols;
        p.outputs = static_cast<uint32_t *>(std::calloc(m.rows, sizeof *p.outputs));
        status = way(&p, m.elements.data()) ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
    }
    Program(const Program &) = delete;
    ~Program() { gfk_jit_program_free(&p); }
};

// Symbol by symbol, as the field does it.
uint32_t doubled(uint32_t x, const gfk_jit_program &p) {
    uint32_t result = 0;
    for (unsigned at = 0; at < 32; at += p.w)
        result |= gfk_poly_double(x >> at & (UINT32_MAX >> (32 - p.w)), p.w, p.polynomial) << at;
    return result;
}

// Runs a program on one word of every input.
std::vector<uint32_t> interpret(const gfk_jit_program &p, std::vector<uint32_t> values) {
    const auto value = [&](uint32_t i) { return i == GFK_JIT_NONE ? 0 : values[i]; };
    for (size_t i = 0; i < p.count; i++) {
        const gfk_jit_op &op = p.ops[i];
        const uint32_t a = value(op.a), b = value(op.b), c = value(op.c);
        values.push_back(op.kind == GFK_JIT_SUM           ? a ^ b ^ c
                         : op.kind == GFK_JIT_DOUBLE      ? doubled(a, p) ^ b
                         : op.kind == GFK_JIT_SHIFT_LEFT  ? a << op.immediate
                         : op.kind == GFK_JIT_SHIFT_RIGHT ? a >> op.immediate
                         : op.kind == GFK_JIT_CARRY       ? b << 1 | a >> 31
                                                          : 0);
    }
    std::vector<uint32_t> out;
    for (size_t j = 0; j < p.rows; j++)
        out.push_back(values[p.outputs[j]]);
    return out;
}

std::string describe(const Matrix &m) {
    return m.name + " w=" + std::to_string(m.field.w) + " " + std::to_string(m.rows) + "x" +
           std::to_string(m.cols);
}

void check(const Matrix &m, const Program &program, int words) {
    SCOPED_TRACE(describe(m));
    ASSERT_EQ(program.status, GFK_STATUS_SUCCESS);
    uint64_t state = 1;
    std::vector<uint32_t> in(m.cols);
    for (int n = 0; n < words; n++) {
        for (uint32_t &x : in)
            x = n == 0 ? UINT32_MAX : static_cast<uint32_t>(next_random(state));
        const std::vector<uint32_t> out = interpret(program.p, in);
        for (size_t j = 0; j < m.rows; j++)
            ASSERT_EQ(out[j], expected_word(m, j, in.data())) << "output " << j;
    }
}

void check(const Matrix &m, int words) {
    check(m, Program(m), words);
}

bool same_operations(const gfk_jit_program &a, const gfk_jit_program &b) {
    bool same = a.count == b.count && std::equal(a.outputs, a.outputs + a.rows, b.outputs);
    for (size_t i = 0; same && i < a.count; i++)
        same = a.ops[i].kind == b.ops[i].kind && a.ops[i].a == b.ops[i].a &&
               a.ops[i].b == b.ops[i].b && a.ops[i].c == b.ops[i].c;
    return same;
}

const char *const kinds[] = {"random", "cauchy", "identity", "zero",  "ones",
                             "sparse", "same",   "top",      "equal", "pairs"};

// Polynomials with few and with many terms, with and without the term below the leading one, which
// decides whether doublings may be multiplications.
const std::vector<gfk_field> fields = {
    field_of(8),           field_of(8, 0x11b),       field_of(8, 0x1f3), field_of(16),
    field_of(16, 0x1002b), field_of(16, 0x1a011),    field_of(32),       field_of(32, 0x1000000af),
    field_of(16, 0x1ffed), field_of(32, 0x1a8a526f5)};

TEST(XorProgram, EveryShapeUpToTwelve) {
    for (const gfk_field &field : fields) {
        ASSERT_NE(field.w, 0u);
        for (size_t rows = 1; rows <= 12; rows++)
            for (size_t cols = 1; cols <= 12; cols++)
                check(make_matrix("random", field, rows, cols), 3);
    }
}

TEST(XorProgram, Structured) {
    for (const gfk_field &field : fields)
        for (const char *kind : kinds)
            for (const auto &[rows, cols] :
                 {std::pair<size_t, size_t>{1, 1}, {4, 10}, {3, 17}, {9, 2}})
                check(make_matrix(kind, field, rows, cols), 4);
}

TEST(XorProgram, Wide) {
    check(make_matrix("random", field_of(8), 32, 64), 4);
    check(make_matrix("cauchy", field_of(8), 42, 96), 2);
    check(make_matrix("random", field_of(16), 20, 96), 2);
    check(make_matrix("random", field_of(32), 24, 40), 2);
}

TEST(XorProgram, EveryConstant) { // of w = 8: all that Horner's rule can meet
    for (uint32_t c = 0; c < 256; c++) {
        Matrix m = make_matrix("random", field_of(8), 1, 2);
        m.elements[0] = c;
        check(m, 2);
    }
}

// The dual by itself, whether or not it would have been chosen.
TEST(XorProgram, Dual) {
    for (const gfk_field &field : fields)
        for (const char *kind : kinds)
            for (size_t rows = 1; rows <= 9; rows++)
                for (size_t cols = 1; cols * field.w <= 128 && cols <= 5; cols++) {
                    const Matrix m = make_matrix(kind, field, rows, cols);
                    check(m, Program(m, gfk_jit_lower_transposed), 3);
                }
    check(make_matrix("random", field_of(8), 64, 16), 3);
    check(make_matrix("random", field_of(32), 64, 4), 3);
    check(make_matrix("equal", field_of(16), 42, 96), 3);
}

// Codes, whose inputs are not fewer than their outputs, are done by Horner's rule; changes of one
// input by the dual.
TEST(XorProgram, Choice) {
    for (const unsigned w : {8u, 16u, 32u}) {
        for (const auto &[rows, cols] :
             {std::pair<size_t, size_t>{2, 4}, {4, 4}, {4, 10}, {3, 30}}) {
            const Matrix m = make_matrix("random", field_of(w), rows, cols);
            EXPECT_TRUE(same_operations(Program(m).p, Program(m, gfk_jit_lower_horner).p))
                << describe(m);
        }
        for (const size_t rows : {3, 4, 8})
            for (const auto &[kind, cols] :
                 {std::pair<const char *, size_t>{"equal", 2}, {"random", 1}, {"random", 2}}) {
                const Matrix m = make_matrix(kind, field_of(w), rows, cols);
                EXPECT_TRUE(same_operations(Program(m).p, Program(m, gfk_jit_lower_transposed).p))
                    << describe(m);
            }
    }
}

// Each row of the field's 32 basis words: by linearity these are all products.
TEST(XorProgram, BasisOfW32) {
    for (const Matrix &m : {make_matrix("random", field_of(32), 4, 10),
                            make_matrix("random", field_of(32, 0x1a8a526f5), 5, 2)}) {
        const Program program(m);
        ASSERT_EQ(program.status, GFK_STATUS_SUCCESS);
        for (size_t i = 0; i < m.cols; i++) {
            for (unsigned bit = 0; bit < 32; bit++) {
                std::vector<uint32_t> in(m.cols);
                in[i] = UINT32_C(1) << bit;
                const std::vector<uint32_t> out = interpret(program.p, in);
                for (size_t j = 0; j < m.rows; j++)
                    ASSERT_EQ(out[j], expected_word(m, j, in.data()));
            }
        }
    }
}

void expect_at_most(const Matrix &m, size_t alu, size_t fma) {
    const Program program(m);
    ASSERT_EQ(program.status, GFK_STATUS_SUCCESS);
    const gfk_jit_cost cost = gfk_jit_program_cost(&program.p);
    EXPECT_LE(cost.alu, alu) << describe(m);
    EXPECT_LE(cost.fma, fma) << describe(m);
}

// Committed maxima: instructions on the two pipes for a word of every region. More is a step back.
TEST(XorProgram, Costs) {
    static const struct {
        unsigned w;
        size_t cols, rows, alu, fma;
    } most[] = {
        {8, 4, 2, 50, 14},     {8, 6, 3, 85, 21},     {8, 8, 3, 91, 21},      {8, 10, 4, 126, 28},
        {8, 12, 4, 133, 28},   {8, 16, 4, 148, 28},   {8, 17, 3, 116, 21},    {8, 30, 3, 153, 21},
        {8, 50, 10, 646, 70},  {8, 32, 16, 653, 448}, {8, 64, 32, 2172, 896}, {16, 10, 4, 204, 201},
        {16, 16, 4, 240, 237}, {16, 30, 3, 305, 45},  {32, 10, 4, 287, 286},  {32, 16, 4, 360, 358},
        {32, 30, 3, 391, 372},
    };
    for (const auto &e : most)
        for (const char *kind : {"random", "cauchy"}) {
            SCOPED_TRACE(kind);
            ASSERT_NO_FATAL_FAILURE(
                expect_at_most(make_matrix(kind, field_of(e.w), e.rows, e.cols), e.alu, e.fma));
        }
}

// The same for changes of one input: before and after, or their sum.
TEST(XorProgram, CostsOfUpdates) {
    static const struct {
        unsigned w;
        size_t rows, cols, alu, fma;
    } most[] = {
        {8, 2, 2, 23, 7},   {8, 2, 1, 25, 7},   {8, 3, 2, 26, 7},    {8, 3, 1, 25, 7},
        {8, 4, 2, 28, 7},   {8, 4, 1, 26, 7},   {8, 8, 2, 30, 7},    {8, 8, 1, 31, 7},
        {16, 2, 2, 44, 39}, {16, 2, 1, 42, 42}, {16, 3, 2, 55, 15},  {16, 3, 1, 45, 45},
        {16, 4, 2, 56, 15}, {16, 4, 1, 55, 18}, {16, 8, 2, 67, 15},  {16, 8, 1, 65, 15},
        {32, 2, 2, 64, 61}, {32, 2, 1, 63, 60}, {32, 3, 2, 67, 67},  {32, 3, 1, 66, 64},
        {32, 4, 2, 70, 67}, {32, 4, 1, 70, 67}, {32, 8, 2, 101, 31}, {32, 8, 1, 99, 37},
    };
    for (const auto &e : most)
        ASSERT_NO_FATAL_FAILURE(expect_at_most(
            make_matrix(e.cols == 2 ? "equal" : "random", field_of(e.w), e.rows, e.cols), e.alu,
            e.fma));
}

} // namespace
