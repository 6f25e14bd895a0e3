// SPDX-License-Identifier: BSD-3-Clause
// Tests of calls on host memory. They run on every path that there is: in gfk_tests with the GPUs
// of the machine, in gfk_host_tests with simulated devices (simulated_device.h).
#pragma once

#include "support/harness.h"

#include <gfk/host.h>

using Pipeline = Owned<struct gfk_pipeline, gfk_pipeline_destroy>;
gfk_pipeline_desc pipeline_desc(gfk_path path = GFK_PATH_AUTO);
Pipeline make_pipeline(const gfk_pipeline_desc &desc); // throws
gfk_pipeline_info info_of(gfk_pipeline_t pipeline);
int device_count(); // that pipelines can have

using Pinned = Owned<uint8_t, gfk_pinned_free>;
Pinned make_pinned(size_t bytes);

// Where the regions of a call are.
enum class Place { PAGEABLE, PINNED, MIXED, SPACED, SPACED_PINNED, LISTED_PINNED };
std::string place_name(Place place);
std::vector<Place> places();

// Inputs and outputs of a call, at odd addresses, random bytes between them and in the outputs.
class HostStage {
  public:
    HostStage(size_t ins, size_t outs, size_t bytes, Place place, Random &random);

    const gfk_regions *in() const { return &in_; }
    const gfk_regions *out() const { return &out_; }
    const std::vector<void *> &pointers() const { return pointers_; }
    uint8_t *at(size_t region) const { return static_cast<uint8_t *>(pointers_[region]); }
    uint8_t *in(size_t i) const { return at(i); }
    uint8_t *out(size_t j) const { return at(ins_ + j); }
    size_t bytes() const { return bytes_; }
    // What the outputs hold after a product, by the reference engine on whole regions and, at a few
    // places, by scalar arithmetic. To be taken before the call.
    void expect(const gfk_field &field, const std::vector<uint32_t> &matrix, gfk_accumulate mode,
                Random &random);
    // The given outputs; an output without bytes stays as it is.
    void expect(const std::vector<Bytes> &outputs);
    void expect_unchanged();
    // Is every byte, of inputs and between regions too, what was expected?
    testing::AssertionResult as_expected() const;

  private:
    Bytes snapshot() const;

    size_t ins_, outs_, bytes_, size_;
    Bytes pageable_;
    Pinned pinned_;
    std::vector<void *> pointers_;
    gfk_regions in_, out_;
    Bytes expected_; // of both buffers, one behind the other
    size_t offset_of(size_t region) const;
};

// One product of random regions by a random matrix.
struct HostRun {
    gfk_status status;
    testing::AssertionResult right; // are all bytes what they should be?
    gfk_pipeline_report report;
};
HostRun run_product(gfk_pipeline_t pipeline, const gfk_field &field, size_t rows, size_t cols,
                    size_t bytes, gfk_accumulate mode, Place place, Random &random);

// A calibration that tests can reckon with, of a machine of round numbers: each input byte costs the
// CPU 1 ns and each output byte of eight inputs another 1 ns; the bus does 50 GB/s one way and
// 80 GB/s both ways, half of it pageable.
gfk_calibration round_machine();
gfk_advice advise(const gfk_calibration &c, size_t k, size_t m, size_t bytes, gfk_where where,
                  unsigned w = 8);

// Once for each path; skips those that this machine lacks.
class HostTest : public testing::TestWithParam<gfk_path> {
  protected:
    void SetUp() override;
    virtual void set_up() {} // what SetUp does where the test can run
    gfk_path path() const { return GetParam(); }
    bool on_gpu() const { return path() == GFK_PATH_GPU || path() == GFK_PATH_BOTH; }
    gfk_pipeline_desc desc() const { return pipeline_desc(path()); }
    gfk_pipeline_desc desc_of_chunk(size_t chunk) const {
        gfk_pipeline_desc d = desc();
        d.chunk = chunk;
        return d;
    }
    // One product, compared in full; the report must add up.
    void check(gfk_pipeline_t pipeline, const gfk_field &field, size_t rows, size_t cols,
               size_t bytes, gfk_accumulate mode, Place place, uint64_t stream);
    // A multiplication from or to device memory, which a pipeline does not take.
    static void expect_refused(gfk_pipeline_t pipeline, void *there, size_t bytes);
    void expect_sound(const gfk_pipeline_report &report, gfk_pipeline_t pipeline, size_t bytes);
};
std::string path_name(const testing::TestParamInfo<gfk_path> &info);

#define PER_PATH(suite)                                                                            \
    INSTANTIATE_TEST_SUITE_P(                                                                      \
        Paths, suite, testing::Values(GFK_PATH_AUTO, GFK_PATH_CPU, GFK_PATH_GPU, GFK_PATH_BOTH),   \
        path_name)
