// SPDX-License-Identifier: BSD-3-Clause
// The class Pipeline, for the calls that take one: pipeline=.
#pragma once
#include <gfk/host.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array.h"
#include "records.h"

namespace gfk {
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
    PipelineOptions(const std::string &path, const Devices &devices, Integer device_memory, Integer pinned_memory,
                    Integer chunk, Integer streams, Integer threads, nb::handle calibration_file);
    const gfk_pipeline_desc *get() const { return &desc_; }

  private:
    void take_devices(const std::vector<Device> &devices);

    gfk_pipeline_desc desc_ = GFK_PIPELINE_DESC_INIT;
    std::vector<int> devices_;
    FilePath file_;
};

class Pipeline {
  public:
    template <class... Arguments>
    explicit Pipeline(const Arguments &...arguments) {
        open(PipelineOptions(arguments...));
    }

    // Calls in progress in other threads end before the pipeline does.
    void close();
    PipelineInfo info() const;
    nb::object report() const { return nb::getattr(last_, "report", nb::none()); }

    // Runs function(pipeline, arguments..., report) without the GIL, keeps the report, and raises the status.
    template <class Function, class... Arguments>
    void run(const Call &call, Function &&function, const Arguments &...arguments) {
        check(try_run(call, function, arguments...));
    }
    // The same, and returns the status.
    template <class Function, class... Arguments>
    gfk_status try_run(const Call &call, Function &&function, const Arguments &...arguments) {
        const std::shared_ptr<gfk_pipeline> handle = handle_;
        gfk_pipeline_report report;
        if (handle == nullptr)
            raise_value("the pipeline is closed");
        const gfk_status status = call.try_run(function, handle.get(), arguments..., &report);
        if (status == GFK_STATUS_SUCCESS || status == GFK_STATUS_CUDA)
            keep(report);
        return status;
    }

  private:
    void open(const PipelineOptions &options);
    void keep(const gfk_pipeline_report &report) const;

    std::shared_ptr<gfk_pipeline> handle_; // NULL: closed. Each call in progress has a share
    gfk_pipeline_info info_;
    nb::object last_; // threading.local(), so that each thread has its report
};
} // namespace gfk
