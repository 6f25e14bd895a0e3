/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepare: the tables of one constant, expanded from its basis into the caller's workspace. */
#include "kernels/common/basis.cuh"
#include "kernels/common/launch.cuh"

namespace {

/* Thread v makes entry v, counted through all parts. */
template <class Entry>
__global__ void expand(gfk::Basis basis, Entry *entries, unsigned bits, uint64_t count) {
    const uint64_t v = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= count)
        return;
    const unsigned part = (unsigned)(v >> bits);
    uint32_t entry = 0;
    for (unsigned bit = 0; bit < bits; bit++)
        if (v >> bit & 1)
            entry ^= basis.v[part * bits + bit];
    entries[v] = (Entry)entry;
}

} // namespace

extern "C" gfk_status gfk_prepare_device(const gfk_call *call) {
    const gfk_expansion e = gfk_expansion_of(call->multiplier);
    const uint64_t count = (uint64_t)e.parts << e.bits;
    const unsigned threads = 256;
    const uint64_t blocks = gfk_divide_up(count, threads);
    const gfk::Basis basis(call);
    void *workspace = call->workspace;
    switch (e.entry_bytes) {
    case 1:
        return gfk::launch(expand<uint8_t>, blocks, threads, 0, call->stream, basis,
                           (uint8_t *)workspace, e.bits, count);
    case 2:
        return gfk::launch(expand<uint16_t>, blocks, threads, 0, call->stream, basis,
                           (uint16_t *)workspace, e.bits, count);
    default:
        return gfk::launch(expand<uint32_t>, blocks, threads, 0, call->stream, basis,
                           (uint32_t *)workspace, e.bits, count);
    }
}
