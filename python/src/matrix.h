// SPDX-License-Identifier: BSD-3-Clause
// Matrices as arguments: elements in an array, small matrices in the words of the C API, and matrices that
// the library generates.
#pragma once
#include <gfk/matmul.h>

#include <cstring>
#include <optional>
#include <string>

#include "array.h"
#include "field.h"

namespace gfk {
// The contents of a contiguous array in the CPU's memory.
template <class T>
std::vector<T> vector_of(nb::handle object) {
    Call call;
    const Array array(call, object, Use::Read, "array");
    std::vector<T> made(array.bytes() / sizeof(T));
    if (!made.empty())
        memcpy(made.data(), array.data(), array.bytes());
    return made;
}

// A new numpy array of rows x cols words, uint32.
struct NewWords {
    Call call;
    nb::object object;
    uint32_t *data;
    NewWords(size_t rows, size_t cols) : object(call.empty({rows, cols}, "uint32")) {
        data = reinterpret_cast<uint32_t *>(Array(call, object, Use::New, "words").data());
    }
};

// A matrix in words of the host, row after row, as gfk_product_create takes it.
struct Words {
    std::vector<uint32_t> elements;
    size_t rows, cols;
};

// As a numpy array, uint32.
nb::object array_of(const Words &words);
// From nested sequences, from an array of integers of any width, or from a gfk.Matrix. At least one row and
// one column; an element outside the field raises InvalidConstant.
Words words_of(const Field &field, nb::handle object, const char *name);

// Rows of elements of w bits: an array of two dimensions, whose rows may have gaps between them. With
// `groups`, also an array of the shape (groups, rows / groups, cols).
class Elements {
  public:
    Elements(Call &call, nb::handle object, unsigned w, Use use, const char *name, size_t groups = 0);
    uint8_t *data() const { return array_.data(); }
    size_t rows() const { return array_.size(0); }
    size_t cols() const { return array_.size(1); }
    size_t stride() const { return stride_; } // in elements
    size_t groups() const { return groups_; } // of the array's shape; 0: it has none
    // Refuses a matrix without rows or columns.
    void check_not_empty() const;
    // Refuses another number of rows or columns.
    void check_shape(size_t rows, size_t cols) const;

  private:
    const char *name_;
    Array array_;
    size_t groups_ = 0, stride_;
};

// The id of a kernel of products for a gfk_matmul_desc or gfk_rlnc_desc; NULL for none. Raises UnknownMethod,
// InvalidArgument (another width, or the device is GFK_CPU) or ValueError. The result points into `kernel`.
const char *kernel_id(const std::optional<std::string> &kernel, const Field &field, int device);

// What matmul multiplies by: an array of elements at the call's place, or a gfk.Matrix, which has no place.
class MatrixArgument {
  public:
    MatrixArgument(Call &call, nb::handle object, unsigned w, const char *name);
    const gfk_matrix *get() const { return &matrix_; }
    // Raises the status of a call with the matrix.
    void check(const Field &field, gfk_status status) const;

  private:
    std::optional<Elements> elements_;
    nb::object generated_; // a gfk.Matrix
    gfk_matrix matrix_;
};
} // namespace gfk
