// SPDX-License-Identifier: BSD-3-Clause
// Matrices for the tests of the xor engine, and what they should give.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gfk/field.h>

extern "C" {
#include "host/base/cauchy.h"
}

struct Matrix {
    std::string name;
    gfk_field field;
    size_t rows, cols;
    std::vector<uint32_t> elements;
};

inline uint64_t next_random(uint64_t &state) { // splitmix64
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

inline gfk_field field_of(unsigned w, uint64_t polynomial = 0) {
    gfk_field field{};
    gfk_field_init(&field, w, polynomial);
    return field;
}

// kind: random, cauchy, identity, zero (every second row), ones, sparse, same (equal rows), top
// (coefficients with the top bit alone)
inline Matrix make_matrix(const std::string &kind, const gfk_field &field, size_t rows,
                          size_t cols) {
    Matrix m{kind, field, rows, cols, std::vector<uint32_t>(rows * cols)};
    uint64_t state = rows * 1000 + cols * 10 + field.w;
    for (size_t j = 0; j < rows; j++) {
        for (size_t i = 0; i < cols; i++) {
            uint32_t &c = m.elements[j * cols + i];
            c = static_cast<uint32_t>(next_random(state)) & (UINT32_MAX >> (32 - field.w));
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
        }
    }
    if (kind == "cauchy")
        gfk_cauchy_matrix(&field, cols, rows, m.elements.data());
    for (size_t j = 0; j < rows; j++)
        for (size_t i = 1; i < cols; i++)
            if (kind == "equal" || (kind == "pairs" && i % 2 == 1))
                m.elements[j * cols + i] = m.elements[j * cols + i - 1];
    return m;
}

// Output j of one word of packed symbols, symbol by symbol.
inline uint32_t expected_word(const Matrix &m, size_t j, const uint32_t *in) {
    const unsigned w = m.field.w;
    uint32_t word = 0;
    for (unsigned at = 0; at < 32; at += w) {
        for (size_t i = 0; i < m.cols; i++) {
            uint32_t product = 0;
            gfk_field_multiply(&m.field, m.elements[j * m.cols + i],
                               in[i] >> at & (UINT32_MAX >> (32 - w)), &product);
            word ^= product << at;
        }
    }
    return word;
}
