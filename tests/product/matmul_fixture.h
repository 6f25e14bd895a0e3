// SPDX-License-Identifier: BSD-3-Clause
// A matmul on the CPU or on the current device, and its results by scalar arithmetic.
#pragma once

#include <algorithm>

#include "support/guarded_regions.h"
#include "support/places.h"

inline gfk_matmul_desc desc_of(bool host, unsigned threads = 0) {
    gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
    desc.device = host ? GFK_CPU : GFK_CURRENT_DEVICE;
    desc.threads = threads;
    desc.kernel = named_matmul;
    return desc;
}

inline size_t workspace_of(const gfk_field &field, size_t rows, size_t cols, size_t bytes,
                           const gfk_matmul_desc &desc) {
    size_t workspace = 0;
    EXPECT_OK(gfk_matmul_workspace(&field, rows, cols, bytes, &desc, &workspace));
    return workspace;
}

// The first multiple of 256 bytes.
template <class T>
uint8_t *round_up(T &workspace) {
    return reinterpret_cast<uint8_t *>(
        ::round_up(reinterpret_cast<uintptr_t>(workspace.data()), 256));
}

// The elements of a generated matrix in memory, each row with a gap behind it.
inline Bytes elements_of(const gfk_field &field, const gfk_matrix &a, size_t stride) {
    std::vector<uint32_t> elements(a.rows * a.cols);
    require_success(gfk_matrix_fill(&field, &a, elements.data()), "gfk_matrix_fill");
    Bytes bytes(a.rows * stride * field.w / 8);
    for (size_t j = 0; j < a.rows; j++)
        for (size_t i = 0; i < a.cols; i++)
            set_symbol(bytes.data(), j * stride + i, field.w, elements[j * a.cols + i]);
    return bytes;
}

// A matrix, of random bytes or generated, and the regions of one call.
class Matmul {
  public:
    Matmul(const gfk_matmul_desc &desc, const gfk_field &field, size_t rows, size_t cols,
           size_t bytes, const Layout &layout, Random &random,
           const gfk_matrix *generated = nullptr)
        : field_(field), rows_(rows), cols_(cols), stride_(cols + 3), desc_(desc),
          elements_(generated ? elements_of(field, *generated, stride_)
                              : random.bytes(rows * stride_ * field.w / 8)),
          matrix_(is_on_host(), generated ? Bytes(16) : elements_),
          a_(generated ? *generated
                       : gfk_matrix GFK_MATRIX_DENSE_INIT(matrix_.data(), rows, cols, stride_)),
          regions_(is_on_host(), cols, rows, bytes, layout, random),
          space_(workspace_of(field, rows, cols, bytes, desc_)),
          workspace_(is_on_host(), random.bytes(space_ + 256)) {
        refill(random);
    }
    void refill(Random &random) {
        content_ = random.bytes(regions_.size());
        regions_.write(content_);
    }
    gfk_status run(gfk_accumulate mode, gfk_stream_t stream = nullptr) {
        return gfk_matmul(&field_, &a_, regions_.in(), regions_.out(), regions_.bytes(), mode,
                          &desc_, round_up(workspace_), space_, stream);
    }
    // By scalar arithmetic.
    testing::AssertionResult is_product(gfk_accumulate mode) {
        Bytes expected = content_;
        constexpr size_t GROUP = 16; // rows
        parallel((rows_ + GROUP - 1) / GROUP, [&](size_t group) {
            const Indices mine = indices(GROUP * group, std::min(GROUP * (group + 1), rows_));
            std::vector<uint8_t *> outs;
            for (size_t j : mine)
                outs.push_back(regions_.in_copy(expected, cols_ + j));
            for (size_t k = 0; mode == GFK_SET && k < mine.size(); k++)
                std::fill_n(outs[k], regions_.bytes(), uint8_t(0));
            std::vector<uint32_t> column(mine.size());
            for (size_t i = 0; i < cols_; i++) {
                for (size_t k = 0; k < mine.size(); k++)
                    column[k] = element(mine[k], i);
                add_multiples(field_, column, regions_.in_copy(content_, i), outs,
                              regions_.bytes());
            }
        });
        count_checked();
        return regions_.is(expected, "matmul, w = " + std::to_string(field_.w) +
                                         (mode == GFK_XOR ? ", xor" : ", set"));
    }
    // By an engine on the CPU, if there is one of this family.
    testing::AssertionResult is_product_of(gfk_engine_family family, gfk_accumulate mode) {
        std::vector<uint32_t> matrix;
        for (size_t j = 0; j < rows_; j++)
            for (size_t i = 0; i < cols_; i++)
                matrix.push_back(element(j, i));
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.device = GFK_CPU;
        desc.family = family;
        gfk_product_t made = nullptr;
        const gfk_status status =
            gfk_product_create(&made, &field_, rows_, cols_, matrix.data(), &desc);
        if (status == GFK_STATUS_NOT_SUPPORTED && family != GFK_ENGINE_HOST)
            return testing::AssertionSuccess();
        require_success(status, "gfk_product_create");
        const Owned<struct gfk_product, gfk_product_destroy> product(made);
        Bytes expected = content_;
        std::vector<void *> pointers;
        for (size_t i = 0; i < cols_ + rows_; i++)
            pointers.push_back(regions_.in_copy(expected, i));
        const gfk_regions in = {pointers.data(), nullptr, 0}, out = {&pointers[cols_], nullptr, 0};
        require_success(gfk_product_run(made, &in, &out, regions_.bytes(), mode, nullptr),
                        "gfk_product_run");
        count_checked();
        return regions_.is(expected, gfk_engine_family_name(family));
    }

    // In both modes.
    void check(Random &random) {
        for (gfk_accumulate mode : {GFK_SET, GFK_XOR}) {
            refill(random);
            ASSERT_OK(run(mode)) << rows_ << " x " << cols_;
            ASSERT_TRUE(is_product(mode)) << rows_ << " x " << cols_;
        }
    }

  private:
    bool is_on_host() const { return desc_.device == GFK_CPU; }
    uint32_t element(size_t j, size_t i) const {
        return get_symbol(elements_.data(), j * stride_ + i, field_.w);
    }

    gfk_field field_;
    size_t rows_, cols_, stride_;
    gfk_matmul_desc desc_;
    Bytes elements_, content_;
    Memory matrix_;
    gfk_matrix a_;
    GuardedRegions regions_;
    size_t space_;
    Memory workspace_;
};
