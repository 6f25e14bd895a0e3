// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "fixture.h"

void add_row(const gfk_field &field, uint32_t c, const uint32_t *from, uint32_t *to, size_t n) {
    const Times times(field, c);
    for (size_t i = 0; i < n; i++)
        to[i] ^= times(from[i]);
}

static std::vector<size_t> shuffled(size_t n, Random &random) {
    std::vector<size_t> order = indices(0, n);
    for (size_t i = n; i > 1; i--)
        std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

uint32_t nonzero(unsigned w, Random &random) {
    return 1 + static_cast<uint32_t>(random.below(largest(w)));
}

DenseMatrix permutation(const gfk_field &field, size_t n, Random &random) {
    DenseMatrix a(n, n);
    const std::vector<size_t> order = shuffled(n, random);
    for (size_t i = 0; i < n; i++)
        a.row(i)[order[i]] = nonzero(field.w, random);
    return a;
}

DenseMatrix regular(const gfk_field &field, size_t n, Random &random) {
    DenseMatrix a(n, n);
    const std::vector<size_t> order = shuffled(n, random);
    for (size_t i = 0; i < n; i++) {
        a.row(i)[order[i]] = nonzero(field.w, random);
        for (size_t j = i + 1; j < n; j++)
            a.row(i)[order[j]] = random.symbol(field.w);
    }
    for (size_t i = 1; i < n; i++)
        add_row(field, nonzero(field.w, random), a.row(i - 1), a.row(i), n);
    for (size_t i = n - 1; i-- > 0;)
        add_row(field, nonzero(field.w, random), a.row(i + 1), a.row(i), n);
    return a;
}

DenseMatrix zero_blocks(const gfk_field &field, size_t n, Random &random) {
    DenseMatrix a(n, n);
    const size_t half = n / 2;
    const DenseMatrix upper = regular(field, half, random),
                      lower = regular(field, n - half, random);
    for (size_t i = 0; i < half; i++)
        std::copy_n(upper.row(i), half, a.row(i) + n - half);
    for (size_t i = half; i < n; i++)
        std::copy_n(lower.row(i - half), n - half, a.row(i));
    return a;
}

DenseMatrix with_dependent_rows(const gfk_field &field, const std::vector<bool> &dependent,
                                size_t n, Random &random) {
    DenseMatrix a(dependent.size(), n);
    const DenseMatrix source = regular(field, n, random);
    size_t taken = 0;
    for (size_t i = 0; i < a.rows; i++) {
        if (!dependent[i]) {
            std::copy_n(source.row(taken++), n, a.row(i));
            continue;
        }
        for (size_t parts = i == 0 ? 0 : random.below(4); parts > 0; parts--)
            add_row(field, nonzero(field.w, random), a.row(random.below(i)), a.row(i), n);
    }
    return a;
}

std::vector<bool> choose(size_t rows, size_t count, Random &random) {
    std::vector<bool> chosen(rows);
    const std::vector<size_t> order = shuffled(rows, random);
    for (size_t i = 0; i < count; i++)
        chosen[order[i]] = true;
    return chosen;
}

static std::vector<uint32_t> times_vector(const gfk_field &field, const DenseMatrix &a,
                                          const std::vector<uint32_t> &v) {
    std::vector<uint32_t> sum(a.rows);
    for (size_t j = 0; j < a.cols; j++) {
        const Times times(field, v[j]);
        for (size_t i = 0; i < a.rows; i++)
            sum[i] ^= times(a.row(i)[j]);
    }
    return sum;
}

testing::AssertionResult are_inverse(const gfk_field &field, const DenseMatrix &a,
                                     const DenseMatrix &b, Random &random) {
    const bool is_small = a.rows <= 130;
    for (size_t i = 0; i < (is_small ? a.rows : 64 / field.w); i++) {
        std::vector<uint32_t> v(a.cols);
        for (size_t j = 0; j < a.cols; j++)
            v[j] = is_small ? i == j : random.symbol(field.w);
        if (times_vector(field, a, times_vector(field, b, v)) != v)
            return testing::AssertionFailure()
                   << "not the inverse, n = " << a.rows << ", w = " << field.w << ", vector " << i;
    }
    count_checked();
    return testing::AssertionSuccess();
}

// Random bytes, so that nothing depends on what they are.
void Job::make_workspace(size_t bytes, Random &random) {
    const Bytes content = random.bytes(std::min<size_t>(bytes, 1 << 20));
    workspace_ = std::make_unique<Memory>(host_, bytes);
    for (size_t at = 0; at < bytes; at += content.size())
        workspace_->write(at, content.data(), std::min(content.size(), bytes - at));
}

testing::AssertionResult Job::has_pivots(const std::vector<bool> &dependent) {
    const Bytes bytes = pivots_.read();
    std::vector<size_t> in_row(rows_), in_column(cols_), last(rows_);
    for (size_t i = 0; i < rows_; i++)
        for (size_t j = 0; j < cols_; j++)
            if (get_symbol(content_.data(), i * stride_ + j, field_.w) != 0) {
                in_row[i]++;
                in_column[j]++;
                last[i] = j;
            }
    std::vector<bool> used(cols_);
    for (size_t i = 0; i < rows_; i++) {
        const uint32_t pivot = get_symbol(bytes.data(), i, 32);
        const bool is_alone = in_row[i] == 1 && in_column[last[i]] == 1;
        if ((pivot == GFK_MATRIX_DEPENDENT) != dependent[i] || (is_alone && pivot != last[i]))
            return testing::AssertionFailure()
                   << "row " << i << " of " << rows_ << " has the pivot " << pivot;
        if (dependent[i])
            continue;
        if (pivot >= cols_ || used[pivot])
            return testing::AssertionFailure() << "pivot " << pivot << " twice, or too far";
        used[pivot] = true;
    }
    return testing::AssertionSuccess();
}
