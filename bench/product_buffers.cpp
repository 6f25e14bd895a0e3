// SPDX-License-Identifier: BSD-3-Clause
#include "product_buffers.h"

#include <algorithm>
#include <utility>

#include "device_kernels.h"
#include "multipliers.h"

namespace {

constexpr size_t kGap = 8192;
constexpr long kMaxSets = 4096; // and so no graph gets much larger
constexpr uint64_t kInputSeed = 3, kPoisonSeed = 4;

size_t stride_of(size_t region_bytes) {
    return region_bytes + kGap;
}

size_t set_bytes(const Shape &shape, size_t region_bytes) {
    return stride_of(region_bytes) * (shape.k + shape.m);
}

long sets_for(const Shape &shape, size_t region_bytes) {
    const size_t set = set_bytes(shape, region_bytes);
    return (long)std::min<size_t>((cold_footprint() + set - 1) / set, kMaxSets);
}

// Which outputs the slot Expected holds; "" for none.
std::string &expected_now() {
    static std::string now;
    return now;
}

} // namespace

ProductBuffers::ProductBuffers(const Shape &shape, size_t region_bytes)
    : shape_(shape), bytes_(region_bytes), stride_(stride_of(region_bytes)),
      sets_(sets_for(shape, region_bytes)) {
    const size_t inputs = stride_ * shape_.k * (size_t)sets_;
    fill_random(gpu_slot(Slot::Inputs, inputs), inputs, kInputSeed, 0, gpu().stream);
    gpu_slot(Slot::Outputs, output_bytes() * (size_t)sets_);
    static size_t room = 0;
    if (output_bytes() > room) { // the slot moves
        room = output_bytes();
        expected_now().clear();
    }
    gpu_slot(Slot::Expected, output_bytes());
}

char *ProductBuffers::in(long j, size_t i) const {
    char *base = (char *)gpu_slot(Slot::Inputs, 0);
    return base + stride_ * (shape_.k * (size_t)(j % sets_) + i);
}

char *ProductBuffers::out(long j, size_t i) const {
    char *base = (char *)gpu_slot(Slot::Outputs, 0);
    return base + stride_ * (shape_.m * (size_t)(j % sets_) + i);
}

char *ProductBuffers::expected(size_t i) const {
    return (char *)gpu_slot(Slot::Expected, 0) + stride_ * i;
}

void ProductBuffers::poison_outputs() const {
    fill_random(out(0), output_bytes() * (size_t)sets_, kPoisonSeed, 0, gpu().stream);
}

void ProductBuffers::poison_expected(long j) const {
    const uint64_t first_word = output_bytes() / 8 * (size_t)(j % sets_);
    fill_random(expected(), output_bytes(), kPoisonSeed, first_word, gpu().stream);
}

void ProductBuffers::make_cold() const {
    if (set_bytes(shape_, bytes_) * (size_t)sets_ < cold_footprint())
        flush_cache();
}

size_t ProductBuffers::memory_needed(const Shape &shape, size_t region_bytes) {
    return set_bytes(shape, region_bytes) * (size_t)sets_for(shape, region_bytes) +
           stride_of(region_bytes) * shape.m;
}

ProductReference::ProductReference(const Shape &shape, std::vector<uint32_t> matrix,
                                   gfk_accumulate mode, const std::string &tag)
    : shape_(shape), matrix_(std::move(matrix)), mode_(mode),
      tag_(tag + "/" + std::to_string(shape.w) + "/" + shape_text(shape) +
           (mode == GFK_SET ? "/set" : "/xor")) {}

void ProductReference::expect(const ProductBuffers &buffers, long j) const {
    // The engines of a shape are checked one after the other against the same outputs.
    const std::string wanted =
        tag_ + "/" + std::to_string(buffers.bytes()) + "/" + std::to_string(j % buffers.sets());
    if (expected_now() == wanted)
        return;
    expected_now() = wanted;
    buffers.poison_expected(j);
    const Multiplier &m = multiplier_of(reference_of(shape_.w, true));
    gfk_check(m.status, "the reference row");
    void *workspace = gpu_slot(Slot::ReferenceWorkspace, m.workspace_bytes);
    for (size_t row = 0; row < shape_.m; row++) {
        gfk_accumulate mode = mode_;
        for (size_t i = 0; i < shape_.k; i++) {
            const uint32_t c = matrix_[row * shape_.k + i];
            if (c == 0 && (mode == GFK_XOR || i + 1 < shape_.k))
                continue;
            gfk_check(gfk_region_multiply(m.handle, c, buffers.in(j, i), buffers.expected(row),
                                          buffers.bytes(), mode, workspace, m.workspace_bytes,
                                          gpu().stream),
                      "the reference row");
            mode = GFK_XOR;
        }
    }
}

std::string ProductReference::check(const ProductBuffers &buffers, long n) const {
    Checker checker;
    for (long j = 0; j < std::min(n, buffers.sets()); j++) {
        expect(buffers, j);
        checker.check(buffers.expected(), buffers.out(j), buffers.output_bytes(), j);
    }
    return checker.verdict();
}
