// SPDX-License-Identifier: BSD-3-Clause
#include "buffers.h"

#include <algorithm>
#include <cstdio>

#include "kernels.h"

namespace {

constexpr size_t kGap = 8192, kAlignment = 512;
constexpr long kMaxSets = 4096; // and so no graph gets much larger
constexpr uint64_t kInputSeed = 3, kPoisonSeed = 4;

// Which outputs the slot Expected holds; "" for none that is known.
std::string &expected_now() {
    static std::string now;
    return now;
}

} // namespace

size_t Layout::stride() const {
    return gaps ? bytes + kGap : (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

long Layout::sets() const {
    if (!cold)
        return 1;
    const size_t least = gaps ? 1 : 2;
    const size_t wanted = std::max((cold_footprint() + set_bytes() - 1) / set_bytes(), least);
    return (long)std::min<size_t>(wanted, kMaxSets);
}

Buffers::Buffers(const Layout &layout)
    : layout_(layout), stride_(layout.stride()), sets_(layout.sets()) {
    const size_t inputs = stride_ * layout.k * (size_t)sets_;
    fill_random(gpu_slot(Slot::Inputs, inputs), inputs / 32 * 32, kInputSeed, 0, gpu().stream);
    gpu_slot(Slot::Outputs, output_bytes() * (size_t)sets_);
    static const void *place = nullptr;
    if (gpu_slot(Slot::Expected, output_bytes()) != place) { // the slot has moved
        place = gpu_slot(Slot::Expected, 0);
        expected_now().clear();
    }
}

char *Buffers::in(long j, size_t i) const {
    return (char *)gpu_slot(Slot::Inputs, 0) + stride_ * (layout_.k * (size_t)(j % sets_) + i);
}

char *Buffers::out(long j, size_t i) const {
    return (char *)gpu_slot(Slot::Outputs, 0) + stride_ * (layout_.m * (size_t)(j % sets_) + i);
}

char *Buffers::expected(size_t i) const {
    return (char *)gpu_slot(Slot::Expected, 0) + stride_ * i;
}

void Buffers::poison_outputs() const {
    fill_random(out(0), output_bytes() * (size_t)sets_, kPoisonSeed, 0, gpu().stream);
}

void Buffers::poison_expected(long j) const {
    const uint64_t first_word = output_bytes() / 8 * (size_t)(j % sets_);
    fill_random(expected(), output_bytes(), kPoisonSeed, first_word, gpu().stream);
}

void Buffers::make_cold() const {
    // Too few launches to rotate through the whole footprint: read something else instead.
    if (layout_.cold && layout_.set_bytes() * (size_t)sets_ < cold_footprint())
        flush_cache();
}

// ---- check -----------------------------------------------------------------------------------
void MatrixWork::expect(long j) const {
    const Layout &layout = buffers_.layout();
    // The engines of a shape are checked one after the other against the same outputs.
    std::string wanted = tag();
    if (!wanted.empty())
        wanted += "/" + std::to_string(w_) + "/" + std::to_string(layout.k) + "+" +
                  std::to_string(layout.m) + "/" + std::to_string(layout.bytes) + "@" +
                  std::to_string(buffers_.stride()) + (mode_ == GFK_SET ? "/set/" : "/xor/") +
                  std::to_string(j % sets());
    if (!wanted.empty() && expected_now() == wanted)
        return;
    expected_now() = wanted;
    buffers_.poison_expected(j);
    const Multiplier &m = multiplier_of(linked_library(), reference_of(w_, true));
    gfk_check(m.status, "the reference row");
    void *workspace = gpu_slot(Slot::ReferenceWorkspace, m.workspace_bytes);
    const uint32_t *elements = matrix(j);
    const size_t length = length_ ? length_ : layout.bytes;
    for (size_t row = 0; row < layout.m; row++) {
        gfk_accumulate mode = mode_;
        for (size_t i = 0; i < layout.k; i++) {
            const uint32_t c = elements[row * layout.k + i];
            if (c == 0 && (mode == GFK_XOR || i + 1 < layout.k))
                continue;
            gfk_check(gfk_region_multiply(m.handle, c, buffers_.in(j, i) + in_offset_,
                                          buffers_.expected(row) + out_offset_, length, mode,
                                          workspace, m.workspace_bytes, gpu().stream),
                      "the reference row");
            mode = GFK_XOR;
        }
    }
}

// Before: launches over poisoned outputs, as many rounds of the sets as it takes. Behind: what the
// last launches of the replays left, where that can be known.
std::string MatrixWork::check(bool after) {
    if (after && mode_ != GFK_SET)
        return "";
    Checker checker;
    const long last = after ? launches() : checked();
    for (long first = after ? last - sets() : 0; first < last; first += sets()) {
        const long end = std::min(last, first + sets());
        if (!after) {
            buffers_.poison_outputs();
            for (long j = first; j < end; j++)
                launch(j, gpu().stream);
        }
        for (long j = first; j < end; j++) {
            expect(j);
            checker.check(buffers_.expected(), buffers_.out(j), buffers_.output_bytes(), j);
        }
    }
    return checker.verdict();
}
