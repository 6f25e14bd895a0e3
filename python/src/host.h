// SPDX-License-Identifier: BSD-3-Clause
// The class Pipeline, for the calls that take one: pipeline=.
#pragma once
#include <gfk/host.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array.h"
#include "device.h"
#include "integer.h"
#include "records.h"
#include "status.h"

namespace gfk {
namespace nb = nanobind;

// A path of a file for the library; none for None.
class FilePath {
  public:
    explicit FilePath(nb::handle path);
    const char *get() const { return bytes_.is_valid() ? bytes_.c_str() : nullptr; }

  private:
    nb::bytes bytes_ = nb::steal<nb::bytes>(nullptr);
};

using Devices = std::optional<std::vector<Device>>;

// A descriptor, and what its pointers point to.
class PipelineOptions {
  public:
    PipelineOptions(const std::string &path, const Devices &devices, Integer device_memory,
                    Integer pinned_memory, Integer chunk, Integer streams, Integer threads,
                    nb::handle calibration_file);
    const gfk_pipeline_desc *get() const { return &desc_; }

  private:
    void take_devices(const std::vector<Device> &devices);

    gfk_pipeline_desc desc_ = GFK_PIPELINE_DESC_INIT;
    std::vector<int> devices_;
    FilePath file_;
};

class Pipeline {
  public:
    explicit Pipeline(const PipelineOptions &options);

    // Calls in progress in other threads end before the pipeline does.
    void close();
    PipelineInfo info() const;
    nb::object report() const { return nb::getattr(last_, "report", nb::none()); }

    // Runs `work(pipeline, report)` without the GIL, keeps the report, and raises the status.
    template <class Work>
    void run(const Call &call, Work &&work) {
        check(try_run(call, work));
    }
    // The same, and returns the status.
    template <class Work>
    gfk_status try_run(const Call &call, Work &&work) {
        const std::shared_ptr<gfk_pipeline> handle = handle_;
        gfk_pipeline_report report;
        gfk_status status = GFK_STATUS_SUCCESS;
        if (handle == nullptr)
            raise_value("the pipeline is closed");
        call.run([&] {
            status = work(handle.get(), &report);
            return GFK_STATUS_SUCCESS;
        });
        if (status == GFK_STATUS_SUCCESS || status == GFK_STATUS_CUDA)
            keep(report);
        return status;
    }

  private:
    void keep(const gfk_pipeline_report &report) const;

    std::shared_ptr<gfk_pipeline> handle_; // NULL: closed. Each call in progress has a share
    gfk_pipeline_info info_;
    nb::object last_; // threading.local(), so that each thread has its report
};
} // namespace gfk
