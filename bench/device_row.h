// SPDX-License-Identifier: BSD-3-Clause
// One CUDA row made ready to run: buffers, constants, prepared workspaces; and its verification.
#pragma once

#include "gpu.h"
#include "multipliers.h"
#include "plan.h"
#include "results.h"

// The times of a row that was timed as a whole.
void set_timing(Result *result, const Timing &timing);

class DeviceRow {
  public:
    DeviceRow(const Row &row, uint64_t seed);

    // Prepares the workspaces and launches outside any graph: what is loaded lazily is loaded now.
    // Returns the first status that is not success.
    gfk_status start();
    void launch(long j, size_t constant, cudaStream_t stream) const;

    // Launches 0 to n - 1, constants in turn, every byte against the reference. "" or a sentence.
    std::string verify(long n) const;
    // After a timed sequence of n launches (set mode): what is in the buffers now.
    std::string verify_left_behind(long n, long first) const;

    const Rotation &rotation() const { return rotation_; }
    size_t constant_count() const { return constants_.size(); }
    std::string constants_text() const;
    // Time of one prepare, else of create, else 0; *kind says which.
    double setup_us(std::string *kind) const;

  private:
    void expect(long j, size_t constant) const; // into scratch
    const char *src(long j) const { return (const char *)rotation_.src(j) + row_.src_offset; }
    char *dst(long j) const { return (char *)rotation_.dst(j) + row_.dst_offset; }

    Row row_;
    Rotation rotation_;
    const Multiplier &multiplier_, &reference_;
    std::vector<uint32_t> constants_;
    size_t workspace_stride_;
    char *workspaces_;
    void *workspace(size_t constant) const { return workspaces_ + constant * workspace_stride_; }
};
