// SPDX-License-Identifier: BSD-3-Clause
// The programs of the xor engine: right by the field's own arithmetic, and as short as they were.
#include <algorithm>

#include "matrices.h"
extern "C" {
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

// Runs a program on one word of every input.
std::vector<uint32_t> interpret(const Matrix &m, const gfk_jit_program &p,
                                std::vector<uint32_t> values) {
    const auto value = [&](uint32_t i) { return i == GFK_JIT_NONE ? 0 : values[i]; };
    for (size_t i = 0; i < p.count; i++) {
        const gfk_jit_op &op = p.ops[i];
        const uint32_t a = value(op.a), b = value(op.b), c = value(op.c);
        values.push_back(op.kind == GFK_JIT_SUM           ? a ^ b ^ c
                         : op.kind == GFK_JIT_DOUBLE      ? multiply_word(m.field, 2, a) ^ b
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

void check_word(const Matrix &m, const Program &program, const std::vector<uint32_t> &in) {
    const std::vector<uint32_t> out = interpret(m, program.p, in);
    for (size_t j = 0; j < m.rows; j++)
        ASSERT_EQ(out[j], expected_word(m, j, in.data())) << "output " << j;
    count_checked();
}

void check(const Matrix &m, const Program &program, int words) {
    SCOPED_TRACE(m.text());
    ASSERT_OK(program.status);
    uint64_t state = 1;
    std::vector<uint32_t> in(m.cols, UINT32_MAX);
    for (int n = 0; n < words; n++) {
        ASSERT_NO_FATAL_FAILURE(check_word(m, program, in));
        for (uint32_t &x : in)
            x = static_cast<uint32_t>(next_random(state));
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
const std::vector<gfk_field> fields = {make_field(8),           make_field(8, 0x11b),
                                       make_field(8, 0x1f3),    make_field(16),
                                       make_field(16, 0x1002b), make_field(16, 0x1a011),
                                       make_field(32),          make_field(32, 0x1000000af),
                                       make_field(16, 0x1ffed), make_field(32, 0x1a8a526f5)};

// Sanitizers see a third of the shapes of each field, in which all numbers of rows and of columns are.
bool is_left_out(const gfk_field &field, size_t rows, size_t cols) {
    return options.reduced && (rows + cols + field.polynomial / 2) % 3 != 0;
}

TEST(XorProgram, EveryShapeUpToTwelve) {
    for (const gfk_field &field : fields) {
        ASSERT_NE(field.w, 0u);
        for (size_t rows = 1; rows <= 12; rows++)
            for (size_t cols = 1; cols <= 12; cols++)
                if (!is_left_out(field, rows, cols))
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
    check(make_matrix("random", make_field(8), 32, 64), 4);
    check(make_matrix("cauchy", make_field(8), 42, 96), 2);
    check(make_matrix("random", make_field(16), 20, 96), 2);
    check(make_matrix("random", make_field(32), 24, 40), 2);
}

TEST(XorProgram, EveryConstant) { // of w = 8: all that Horner's rule can meet
    for (uint32_t c = 0; c < 256; c++) {
        Matrix m = make_matrix("random", make_field(8), 1, 2);
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
                    if (is_left_out(field, rows, cols))
                        continue;
                    const Matrix m = make_matrix(kind, field, rows, cols);
                    check(m, Program(m, gfk_jit_lower_transposed), 3);
                }
    check(make_matrix("random", make_field(8), 64, 16), 3);
    check(make_matrix("random", make_field(32), 64, 4), 3);
    check(make_matrix("equal", make_field(16), 42, 96), 3);
}

// Codes, whose inputs are not fewer than their outputs, are done by Horner's rule; changes of one
// input by the dual.
TEST(XorProgram, Choice) {
    for (const unsigned w : {8u, 16u, 32u}) {
        for (const auto &[rows, cols] :
             {std::pair<size_t, size_t>{2, 4}, {4, 4}, {4, 10}, {3, 30}}) {
            const Matrix m = make_matrix("random", make_field(w), rows, cols);
            EXPECT_TRUE(same_operations(Program(m).p, Program(m, gfk_jit_lower_horner).p))
                << m.text();
        }
        for (const size_t rows : {3, 4, 8})
            for (const auto &[kind, cols] :
                 {std::pair<const char *, size_t>{"equal", 2}, {"random", 1}, {"random", 2}}) {
                const Matrix m = make_matrix(kind, make_field(w), rows, cols);
                EXPECT_TRUE(same_operations(Program(m).p, Program(m, gfk_jit_lower_transposed).p))
                    << m.text();
            }
    }
}

// Each row of the field's 32 basis words: by linearity these are all products.
TEST(XorProgram, BasisOfW32) {
    for (const Matrix &m : {make_matrix("random", make_field(32), 4, 10),
                            make_matrix("random", make_field(32, 0x1a8a526f5), 5, 2)}) {
        const Program program(m);
        ASSERT_OK(program.status);
        for (size_t i = 0; i < m.cols; i++)
            for (unsigned bit = 0; bit < 32; bit++) {
                std::vector<uint32_t> in(m.cols);
                in[i] = UINT32_C(1) << bit;
                ASSERT_NO_FATAL_FAILURE(check_word(m, program, in));
            }
    }
}

struct Most { // instructions on the two pipes for a word of every region
    unsigned w;
    size_t cols, rows, alu, fma;
};

void expect_at_most(const Most &most, const char *kind) {
    const Matrix m = make_matrix(kind, make_field(most.w), most.rows, most.cols);
    const Program program(m);
    ASSERT_OK(program.status);
    const gfk_jit_cost cost = gfk_jit_program_cost(&program.p);
    EXPECT_LE(cost.alu, most.alu) << m.text();
    EXPECT_LE(cost.fma, most.fma) << m.text();
    count_checked();
}

// Committed maxima. More is a step back.
TEST(XorProgram, Costs) {
    const Most list[] = {
        {8, 4, 2, 50, 14},     {8, 6, 3, 85, 21},     {8, 8, 3, 91, 21},      {8, 10, 4, 126, 28},
        {8, 12, 4, 133, 28},   {8, 16, 4, 148, 28},   {8, 17, 3, 116, 21},    {8, 30, 3, 153, 21},
        {8, 50, 10, 646, 70},  {8, 32, 16, 653, 448}, {8, 64, 32, 2172, 896}, {16, 10, 4, 204, 201},
        {16, 16, 4, 240, 237}, {16, 30, 3, 305, 45},  {32, 10, 4, 287, 286},  {32, 16, 4, 360, 358},
        {32, 30, 3, 391, 372},
    };
    for (const Most &most : list)
        for (const char *kind : {"random", "cauchy"})
            expect_at_most(most, kind);
}

// The same for changes of one input: before and after, or their sum.
TEST(XorProgram, CostsOfUpdates) {
    const Most list[] = {
        {8, 2, 2, 23, 7},   {8, 1, 2, 25, 7},   {8, 2, 3, 26, 7},    {8, 1, 3, 25, 7},
        {8, 2, 4, 28, 7},   {8, 1, 4, 26, 7},   {8, 2, 8, 30, 7},    {8, 1, 8, 31, 7},
        {16, 2, 2, 44, 39}, {16, 1, 2, 42, 42}, {16, 2, 3, 55, 15},  {16, 1, 3, 45, 45},
        {16, 2, 4, 56, 15}, {16, 1, 4, 55, 18}, {16, 2, 8, 67, 15},  {16, 1, 8, 65, 15},
        {32, 2, 2, 64, 61}, {32, 1, 2, 63, 60}, {32, 2, 3, 67, 67},  {32, 1, 3, 66, 64},
        {32, 2, 4, 70, 67}, {32, 1, 4, 70, 67}, {32, 2, 8, 101, 31}, {32, 1, 8, 99, 37},
    };
    for (const Most &most : list)
        expect_at_most(most, most.cols == 2 ? "equal" : "random");
}

} // namespace
