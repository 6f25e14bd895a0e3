/* SPDX-License-Identifier: BSD-3-Clause */
/* Locating on a device: functions without a width, and the choice of the width. A thread's work on
 * a position is in host/rs/locate/position.h. */
#include "tiles.cuh"

namespace {

using namespace gfk::locate;

struct Blank {
    gfk_rs_verdict *verdict;
    uint64_t *counts;
    uint32_t *mismatch_map;
    uint64_t count_words, mark_words;
};

__global__ void clear(const __grid_constant__ Blank blank) {
    const uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    if (first == 0) {
        *blank.verdict = {};
        blank.verdict->first_corrupt = UINT64_MAX;
    }
    for (uint64_t i = first; i < blank.count_words; i += step)
        blank.counts[i] = 0;
    for (uint64_t i = first; i < blank.mark_words; i += step)
        blank.mismatch_map[i] = 0;
}

size_t mark_bytes(const gfk_locate_call *call) {
    const size_t chunk = (size_t)1 << GFK_LOCATE_CHUNK_SHIFT;
    return gfk_divide_up(call->bytes, chunk) * sizeof *call->mismatch_map;
}

/* Returns f(the functions of width w). */
template <class F>
auto with_width(unsigned w, const F &f) {
    return w == 8 ? f(Width<8>()) : w == 16 ? f(Width<16>()) : f(Width<32>());
}

} // namespace

extern "C" gfk_status gfk_locate_device_clear(const gfk_locate_call *call) {
    const Blank blank = {call->verdict, call->counts, call->mismatch_map,
                         (uint64_t)call->locator->code.k + call->locator->code.m,
                         mark_bytes(call) / 4};
    return gfk::launch(clear, 64, 256, 0, call->stream, blank);
}

extern "C" gfk_status gfk_locate_device_mark(const gfk_locate_call *call) {
    return gfk::status_of(
        cudaMemsetAsync(call->mismatch_map, 0xff, mark_bytes(call), call->stream));
}

extern "C" gfk_status gfk_locate_device_sample(const gfk_locate_call *call,
                                               const uint32_t **verdict) {
    return with_width(call->locator->code.field.w,
                      [&](auto width) { return width.sample(call, verdict); });
}

extern "C" gfk_status gfk_locate_device_run(const gfk_locate_call *call) {
    return with_width(call->locator->code.field.w, [&](auto width) { return width.run(call); });
}

extern "C" size_t gfk_locate_slabs(const gfk_rs_locator *locator, size_t bytes) {
    return with_width(locator->code.field.w,
                      [&](auto width) { return width.workspace(locator, bytes); });
}
