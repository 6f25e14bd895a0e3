// SPDX-License-Identifier: BSD-3-Clause
// Matrices on the host whose rank is known, and the memory of one call on a matrix.
#pragma once

#include "support/guarded_regions.h"
#include "support/places.h"

// A matrix on the host.
struct DenseMatrix {
    size_t rows, cols;
    std::vector<uint32_t> elements;

    DenseMatrix(size_t m, size_t n) : rows(m), cols(n), elements(m * n) {}
    uint32_t *row(size_t i) { return &elements[i * cols]; }
    const uint32_t *row(size_t i) const { return &elements[i * cols]; }
    Bytes packed(unsigned w, size_t stride) const {
        Bytes bytes(rows * stride * w / 8, 0x5a);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++)
                set_symbol(bytes.data(), i * stride + j, w, row(i)[j]);
        return bytes;
    }
};

// to += c * from.
void add_row(const gfk_field &field, uint32_t c, const uint32_t *from, uint32_t *to, size_t n);
uint32_t nonzero(unsigned w, Random &random);

DenseMatrix permutation(const gfk_field &field, size_t n, Random &random);
// A regular matrix without zeros in special places: a triangle, with the columns in any order, and
// row operations from top to bottom and back.
DenseMatrix regular(const gfk_field &field, size_t n, Random &random);
// All blocks that a panel sees first are zero: (0 A; B 0).
DenseMatrix zero_blocks(const gfk_field &field, size_t n, Random &random);
// m x n, where exactly the marked rows are sums of multiples of rows before them: zero rows, copies,
// and sums. The others are rows of a regular matrix.
DenseMatrix with_dependent_rows(const gfk_field &field, const std::vector<bool> &dependent,
                                size_t n, Random &random);
std::vector<bool> choose(size_t rows, size_t count, Random &random); // marks so many rows

// a * b = 1: every element of small matrices; a (b v) = v for random v, whose failure to notice a
// difference has the probability 2^-64.
testing::AssertionResult are_inverse(const gfk_field &field, const DenseMatrix &a,
                                     const DenseMatrix &b, Random &random);

// One call's memory and arguments.
class Job {
  public:
    Job(bool host, const gfk_field &field, const DenseMatrix &a, size_t gap)
        : host_(host), field_(field), rows_(a.rows), cols_(a.cols), stride_(a.cols + gap),
          content_(a.packed(field.w, stride_)), matrix_(host, content_), record_(host, 8),
          pivots_(host, 4 * a.rows) {
        desc_.device = host ? GFK_CPU : GFK_CURRENT_DEVICE;
        desc_.threads = 2;
        desc_.kernel = named_matmul;
        record_.set(0, 0xee);
    }
    gfk_matrix matrix() const {
        return GFK_MATRIX_DENSE_INIT(matrix_.data(), rows_, cols_, stride_);
    }
    gfk_matrix_record *record() const {
        return reinterpret_cast<gfk_matrix_record *>(record_.data());
    }
    uint32_t *pivots() const { return reinterpret_cast<uint32_t *>(pivots_.data()); }
    const gfk_matmul_desc *desc() const { return &desc_; }
    size_t stride() const { return stride_; }
    Memory &memory() { return matrix_; }
    const Bytes &content() const { return content_; }
    void make_workspace(size_t bytes, Random &random); // with random content
    Memory &workspace() { return *workspace_; }

    gfk_status wait(gfk_stream_t stream, gfk_matrix_record &result) {
        return gfk_matrix_wait(record(), &desc_, stream, &result);
    }
    // Does the list have a column for each row, and none for the dependent ones? The columns are
    // different ones. An element that is alone in its row and its column is the row's pivot.
    testing::AssertionResult has_pivots(const std::vector<bool> &dependent);

  protected:
    bool host_;
    gfk_field field_;
    size_t rows_, cols_, stride_;
    Bytes content_;
    Memory matrix_, record_, pivots_;
    std::unique_ptr<Memory> workspace_;
    gfk_matmul_desc desc_ = GFK_MATMUL_DESC_INIT;
};
