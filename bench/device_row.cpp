// SPDX-License-Identifier: BSD-3-Clause
// Launching and verifying one CUDA row.
#include "device_row.h"

#include <algorithm>
#include <map>

namespace {

constexpr size_t kRotatingConstants = 64;

std::vector<uint32_t> constants_of(const Row &row, uint64_t seed) {
    if (row.constants == Row::Fixed)
        return {row.c};
    if (row.constants == Row::Rotating)
        return random_constants(row.kernel->w, kRotatingConstants, seed);
    if (row.c != 255)
        return random_constants(row.kernel->w, row.c, seed);
    std::vector<uint32_t> all;
    for (uint32_t c = 1; c <= 255; c++)
        all.push_back(c);
    return all;
}

} // namespace

void set_timing(Result *result, const Timing &timing) {
    result->median_us = timing.median_us;
    result->min_us = timing.min_us;
    result->max_us = timing.max_us;
    result->launches = timing.launches;
    result->replays = timing.replays;
}

DeviceRow::DeviceRow(const Row &row, uint64_t seed)
    : row_(row), rotation_(row.bytes + (row.misaligned() ? 512 : 0), row.cold),
      multiplier_(multiplier_of(row.kernel)),
      reference_(multiplier_of(reference_of(row.kernel->w, true))),
      constants_(constants_of(row, seed)),
      workspace_stride_((multiplier_.workspace_bytes + 255) / 256 * 256),
      workspaces_((char *)gpu_slot(Slot::Workspaces, workspace_stride_ * constants_.size())) {
    gpu_slot(Slot::ReferenceWorkspace, reference_.workspace_bytes);
}

gfk_status DeviceRow::start() {
    if (multiplier_.status != GFK_STATUS_SUCCESS)
        return multiplier_.status;
    const cudaStream_t stream = gpu().stream;
    for (size_t k = 0; k < constants_.size(); k++) {
        const gfk_status status = gfk_region_prepare(multiplier_.handle, constants_[k],
                                                     workspace(k), workspace_stride_, stream);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    gfk_status status = GFK_STATUS_SUCCESS;
    for (size_t k : {size_t{0}, constants_.size() - 1}) // c = 1, which copies, may be the first
        if (status == GFK_STATUS_SUCCESS)
            status = gfk_region_multiply_prepared(multiplier_.handle, constants_[k], src(0), dst(0),
                                                  row_.bytes, row_.mode, workspace(k),
                                                  workspace_stride_, stream);
    GPU_CHECK(cudaStreamSynchronize(stream));
    return status;
}

void DeviceRow::launch(long j, size_t constant, cudaStream_t stream) const {
    gfk_check(gfk_region_multiply_prepared(multiplier_.handle, constants_[constant], src(j), dst(j),
                                           row_.bytes, row_.mode, workspace(constant),
                                           workspace_stride_, stream),
              row_.kernel->id);
}

void DeviceRow::expect(long j, size_t constant) const {
    if (row_.mode == GFK_XOR || row_.misaligned()) /* then what is around dst is compared too */
        rotation_.poison_scratch(j);
    gfk_check(gfk_region_multiply(reference_.handle, constants_[constant], src(j),
                                  (char *)rotation_.scratch() + row_.dst_offset, row_.bytes,
                                  row_.mode,
                                  gpu_slot(Slot::ReferenceWorkspace, reference_.workspace_bytes),
                                  reference_.workspace_bytes, gpu().stream),
              "the reference row");
}

std::string DeviceRow::verify(long n) const {
    Checker checker;
    const long sets = rotation_.sets();
    for (long first = 0; first < n; first += sets) {
        const long end = std::min(n, first + sets);
        rotation_.poison();
        for (long j = first; j < end; j++)
            launch(j, (size_t)j % constants_.size(), gpu().stream);
        for (long j = first; j < end; j++) {
            expect(j, (size_t)j % constants_.size());
            checker.check(rotation_.scratch(), rotation_.dst(j), rotation_.bytes(), j);
        }
    }
    return checker.verdict();
}

std::string DeviceRow::verify_left_behind(long n, long first) const {
    if (row_.mode != GFK_SET)
        return "";
    Checker checker;
    for (long j = n - rotation_.sets(); j < n; j++) {
        expect(j, (size_t)(first + j) % constants_.size());
        checker.check(rotation_.scratch(), rotation_.dst(j), rotation_.bytes(), j);
    }
    return checker.verdict();
}

std::string DeviceRow::constants_text() const {
    switch (row_.constants) {
    case Row::Fixed:
        return "c=" + std::to_string(row_.c);
    case Row::Rotating:
        return std::to_string(constants_.size()) + " random in turn";
    default:
        return row_.c == 255 ? "all 255" : std::to_string(row_.c) + " random one by one";
    }
}

double DeviceRow::setup_us(std::string *kind) const {
    static std::map<const gfk_kernel_info *, double> prepare_us;
    if (multiplier_.workspace_bytes == 0) {
        *kind = row_.kernel->table_bytes ? "create" : "";
        return row_.kernel->table_bytes ? multiplier_.create_us : 0;
    }
    *kind = "prepare";
    const auto found = prepare_us.find(row_.kernel);
    if (found != prepare_us.end())
        return found->second;
    const bool giant = row_.kernel->labels & GFK_LABEL_GIANT;
    const Graph graph(giant ? 1 : 256, [&](long j, cudaStream_t stream) {
        const size_t k = (size_t)j % constants_.size();
        gfk_check(gfk_region_prepare(multiplier_.handle, constants_[k], workspace(k),
                                     workspace_stride_, stream),
                  row_.kernel->id);
    });
    std::vector<double> us;
    for (int i = 0; i < (giant ? 2 : 6); i++) {
        const double t = graph.replay_us();
        if (i > 0)
            us.push_back(t);
    }
    return prepare_us[row_.kernel] = timing_of(us, graph.launches()).median_us;
}
