// SPDX-License-Identifier: BSD-3-Clause
// What a row of the presets host and host-streams does: regions in host memory, calls, and ISA-L.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gfk/gfk.h>
#include <gfk/host.h>

#include "pipeline_ceilings.h"
#include "product_plan.h"

enum class Deed { Encode, Decode, Multiply }; // decode: the first m regions of data are lost

struct PipelineRow {
    Deed deed;
    Shape shape;
    size_t data;
    gfk_where where = GFK_PAGEABLE;
    gfk_path path = GFK_PATH_CPU;
    unsigned streams = 0; // 0: the default
    size_t devices = 1;   // of the paths with one

    std::string id() const;
    std::string name() const; // <id>/<k>+<m>/<bytes of data>/<where>/<path>[/...]
};

// One row's objects. The regions are the bench's host memory; only one is in use at a time.
class PipelineWork {
  public:
    explicit PipelineWork(const PipelineRow &row);
    ~PipelineWork();
    PipelineWork(const PipelineWork &) = delete;
    PipelineWork &operator=(const PipelineWork &) = delete;

    const Mix &mix() const { return mix_; }
    const std::vector<uint32_t> &matrix() const { return matrix_; }
    const gfk_pipeline_report &report() const { return report_; } // of the last call
    void poison() const;
    gfk_status call();  // through the pipeline
    bool right() const; // the first and the last bytes of every output
    bool direct_available() const;
    double direct_seconds(); // one pass of ISA-L over the same regions, as many threads

  private:
    gfk_status encode_parity();
    void remember_outputs();

    PipelineRow row_;
    gfk_rs_t code_ = nullptr;
    gfk_pipeline_t pipeline_ = nullptr;
    std::vector<uint32_t> matrix_;
    std::vector<void *> data_, parity_;
    Mix mix_;
    std::vector<std::vector<unsigned char>> expected_; // two for each output
    void *isal_ = nullptr;
    gfk_pipeline_report report_ = {};
};

// Unpins what the last rows pinned.
void release_pipeline_memory();
