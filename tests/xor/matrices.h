// SPDX-License-Identifier: BSD-3-Clause
// Matrices for the tests of the xor engine, what they should give, and their kernels as text.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "support/harness.h"

extern "C" {
#include "host/base/cauchy.h"
#include "host/product/xor/specialize.h"
}

struct Matrix {
    std::string name;
    gfk_field field;
    size_t rows, cols;
    std::vector<uint32_t> elements;
    std::string text() const {
        return name + " w=" + std::to_string(field.w) + " " + std::to_string(rows) + "x" +
               std::to_string(cols);
    }
};

// Committed numbers belong to the matrices, so these do not depend on the seed or on the test.
inline uint64_t next_random(uint64_t &state) { // splitmix64
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

// kind: random, cauchy, identity, zero (every second row), ones, sparse, same (equal rows), top
// (coefficients with the top bit alone), equal (columns), pairs (of equal columns)
inline Matrix make_matrix(const std::string &kind, const gfk_field &field, size_t rows,
                          size_t cols) {
    Matrix m{kind, field, rows, cols, std::vector<uint32_t>(rows * cols)};
    uint64_t state = rows * 1000 + cols * 10 + field.w;
    for (size_t j = 0; j < rows; j++)
        for (size_t i = 0; i < cols; i++) {
            uint32_t &c = m.elements[j * cols + i];
            c = static_cast<uint32_t>(next_random(state)) & largest(field.w);
            if (kind == "identity")
                c = i == j;
            else if (kind == "zero")
                c = j % 2 ? c : 0;
            else if (kind == "ones")
                c = 1;
            else if (kind == "sparse")
                c = (i + j) % 3 ? 0 : c & 7;
            else if (kind == "same")
                c = j ? m.elements[i] : c;
            else if (kind == "top")
                c = UINT32_C(1) << (field.w - 1);
            else if (i != 0 && (kind == "equal" || (kind == "pairs" && i % 2 == 1)))
                c = (&c)[-1];
        }
    if (kind == "cauchy")
        gfk_cauchy_matrix(&field, cols, rows, m.elements.data());
    return m;
}

// Output j of one word of packed symbols.
inline uint32_t expected_word(const Matrix &m, size_t j, const uint32_t *in) {
    uint32_t word = 0;
    for (size_t i = 0; i < m.cols; i++)
        word ^= multiply_word(m.field, m.elements[j * m.cols + i], in[i]);
    return word;
}

inline std::string ptx_of(const Matrix &m, const gfk_jit_target &target) {
    char *text = nullptr;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    const gfk_status status =
        gfk_jit_write_ptx(out, &m.field, m.rows, m.cols, m.elements.data(), &target);
    std::fclose(out);
    std::string result = status == GFK_STATUS_SUCCESS ? text : "";
    std::free(text);
    return result;
}
