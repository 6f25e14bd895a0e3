// SPDX-License-Identifier: BSD-3-Clause
// pipeline_work.h.
#include "pipeline_work.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "baseline_coders.h"
#include "host_buffers.h"
#include "multipliers.h"
#include "results.h"
#include "team.h"

namespace {

constexpr size_t kUnit = 512, kChecked = size_t{1} << 16;
constexpr size_t kLongest = size_t{1} << 30; // that ISA-L is given at once
constexpr uint32_t kConstant = 0x8e;

const coder *isal() {
#ifdef HAVE_ISAL
    return &isal_coder;
#else
    return nullptr;
#endif
}

// The memory that is pinned: all of the bench's, or nothing.
void *g_pinned[2] = {};

void pin(const HostBuffers &buffers, size_t bytes) {
    if (g_pinned[0] != nullptr)
        return;
    g_pinned[0] = (void *)(uintptr_t)buffers.src;
    g_pinned[1] = buffers.dst;
    for (void *memory : g_pinned)
        gfk_check(gfk_pinned_register(memory, bytes), "gfk_pinned_register");
}

// Measured once, in a file that nobody else reads.
const char *calibration_file() {
    static char name[] = "/tmp/gfk_bench_calibration_XXXXXX";
    static bool made = false;
    if (made)
        return name;
    const int fd = mkstemp(name);
    gfk_check(fd >= 0 ? GFK_STATUS_SUCCESS : GFK_STATUS_IO, "mkstemp");
    close(fd);
    gfk_pipeline_desc desc = GFK_PIPELINE_DESC_INIT;
    desc.threads = usable_cores();
    gfk_check(gfk_calibrate(&desc, name, nullptr), "gfk_calibrate");
    made = true;
    std::atexit([] { std::remove(name); });
    return name;
}

gfk_pipeline_t open(const PipelineRow &row) {
    std::vector<int> devices(row.devices);
    for (size_t i = 0; i < devices.size(); i++)
        devices[i] = (int)i;
    gfk_pipeline_desc desc = GFK_PIPELINE_DESC_INIT;
    desc.path = row.path;
    desc.streams = row.streams;
    desc.threads = usable_cores();
    if (row.devices > 1) {
        desc.devices = devices.data();
        desc.device_count = devices.size();
    }
    if (row.path == GFK_PATH_AUTO)
        desc.calibration_file = calibration_file();
    gfk_pipeline_t pipeline = nullptr;
    gfk_check(gfk_pipeline_create(&pipeline, &desc), "gfk_pipeline_create");
    return pipeline;
}

gfk_regions list(const std::vector<void *> &regions) {
    return {regions.data(), nullptr, 0};
}

std::vector<size_t> first(size_t count) {
    std::vector<size_t> all(count);
    for (size_t i = 0; i < count; i++)
        all[i] = i;
    return all;
}

// The product of a part of the regions, by the reference.
void reference(const Shape &shape, const std::vector<uint32_t> &matrix, const Mix &mix, size_t at,
               size_t length, std::vector<std::vector<unsigned char>> *made) {
    gfk_field field;
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    gfk_product_t product = nullptr;
    desc.family = GFK_ENGINE_HOST;
    gfk_check(gfk_field_init(&field, shape.w, 0), "gfk_field_init");
    gfk_check(gfk_product_create(&product, &field, shape.m, shape.k, matrix.data(), &desc),
              "the reference");
    std::vector<void *> in, out;
    for (unsigned char *region : mix.in)
        in.push_back(region + at);
    for (size_t j = 0; j < shape.m; j++) {
        made->emplace_back(length);
        out.push_back(made->back().data());
    }
    const gfk_regions inputs = list(in), outputs = list(out);
    gfk_check(gfk_product_run(product, &inputs, &outputs, length, GFK_SET, nullptr, 0, nullptr),
              "the reference");
    gfk_product_destroy(product);
}

} // namespace

// ---- rows ---------------------------------------------------------------------------------------

std::string PipelineRow::id() const {
    static const char *const names[] = {"host_encode", "host_decode", "host_multiply"};
    return names[(int)deed] + std::string("_w") + std::to_string(shape.w);
}

std::string PipelineRow::name() const {
    std::string name = id() + "/" + shape_text(shape) + "/" + size_text(data) +
                       (where == GFK_PINNED ? "/pinned/" : "/pageable/") + gfk_path_name(path);
    if (streams != 0)
        name += "/streams=" + std::to_string(streams);
    if (devices > 1)
        name += "/gpus=" + std::to_string(devices);
    return name;
}

// ---- one row's objects --------------------------------------------------------------------------

PipelineWork::PipelineWork(const PipelineRow &row) : row_(row) {
    const auto [w, k, m] = row.shape;
    mix_.bytes = row.data / k / kUnit * kUnit;
    // At least what other rows with as much data need: pinned memory is pinned once.
    const size_t all = std::max(row.data, mix_.bytes * std::max(k, m));
    const HostBuffers buffers = host_buffers(all);
    if (row.where == GFK_PINNED)
        pin(buffers, all);
    for (size_t i = 0; i < k; i++)
        data_.push_back((unsigned char *)(uintptr_t)buffers.src + i * mix_.bytes);
    for (size_t j = 0; j < m; j++)
        parity_.push_back(buffers.dst + j * mix_.bytes);
    gfk_field field;
    gfk_check(gfk_field_init(&field, w, 0), "gfk_field_init");
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.family = GFK_ENGINE_HOST; // only its matrix counts
    gfk_check(gfk_rs_create(&code_, &field, k, m, &desc), "gfk_rs_create");
    matrix_.resize(k * m);
    gfk_check(gfk_rs_get_matrix(code_, matrix_.data()), "gfk_rs_get_matrix");
    if (row.deed == Deed::Multiply)
        matrix_ = {kConstant};
    const size_t lost = row.deed == Deed::Decode ? m : 0;
    for (size_t i = lost; i < k; i++)
        mix_.in.push_back((unsigned char *)data_[i]);
    for (size_t j = 0; j < lost; j++)
        mix_.in.push_back((unsigned char *)parity_[j]);
    for (size_t j = 0; j < m; j++)
        mix_.out.push_back((unsigned char *)(lost ? data_[j] : parity_[j]));
    pipeline_ = open(row);
    if (row.deed == Deed::Decode)
        gfk_check(encode_parity(), "gfk_rs_encode_host");
    remember_outputs();
    if (isal() != nullptr && w == 8)
        isal_ = isal()->create((int)k, (int)m, matrix_.data());
}

PipelineWork::~PipelineWork() {
    if (isal_ != nullptr)
        isal()->destroy(isal_);
    gfk_pipeline_destroy(pipeline_);
    gfk_rs_destroy(code_);
}

gfk_status PipelineWork::encode_parity() {
    const gfk_regions data = list(data_), parity = list(parity_);
    return gfk_rs_encode_host(pipeline_, code_, &data, &parity, mix_.bytes, &report_);
}

void PipelineWork::remember_outputs() {
    const size_t length = std::min(mix_.bytes, kChecked);
    for (size_t at : {size_t{0}, mix_.bytes - length})
        if (row_.deed == Deed::Decode)
            for (const unsigned char *out : mix_.out)
                expected_.emplace_back(out + at, out + at + length);
        else
            reference(row_.shape, matrix_, mix_, at, length, &expected_);
}

// By all cores: there are gigabytes of outputs, and device time is dear.
void PipelineWork::poison() const {
    const unsigned threads = usable_cores();
    const size_t slice = mix_.bytes / threads + 1;
    const Team::Job job = [&](unsigned t) {
        const size_t at = std::min(mix_.bytes, t * slice);
        for (unsigned char *out : mix_.out)
            std::memset(out + at, 0xa5, std::min(slice, mix_.bytes - at));
    };
    Team(threads).run(&job);
}

gfk_status PipelineWork::call() {
    if (row_.deed == Deed::Encode)
        return encode_parity();
    gfk_field field;
    gfk_check(gfk_field_init(&field, row_.shape.w, 0), "gfk_field_init");
    if (row_.deed == Deed::Multiply)
        return gfk_region_multiply_host(pipeline_, &field, kConstant, mix_.in[0], mix_.out[0],
                                        mix_.bytes, GFK_SET, &report_);
    const std::vector<size_t> lost = first(row_.shape.m);
    const gfk_regions data = list(data_), parity = list(parity_);
    return gfk_rs_decode_host(pipeline_, code_, lost.data(), lost.size(), nullptr, 0, &data,
                              &parity, mix_.bytes, &report_);
}

bool PipelineWork::right() const {
    const size_t length = std::min(mix_.bytes, kChecked);
    const unsigned char *const *out = mix_.out.data();
    for (size_t n = 0; n < expected_.size(); n++) {
        const size_t at = n < mix_.out.size() ? 0 : mix_.bytes - length;
        if (std::memcmp(out[n % mix_.out.size()] + at, expected_[n].data(), length) != 0)
            return false;
    }
    return true;
}

bool PipelineWork::direct_available() const {
    return isal_ != nullptr;
}

// Of a decoder's time the matrix does not matter: it is the encoder's.
double PipelineWork::direct_seconds() {
    const unsigned threads = usable_cores();
    const size_t slice = (mix_.bytes / threads + kUnit - 1) / kUnit * kUnit;
    const Team::Job job = [&](unsigned t) {
        const size_t end = std::min(mix_.bytes, (t + 1) * slice);
        for (size_t at = std::min(mix_.bytes, t * slice); at < end; at += kLongest) {
            std::vector<unsigned char *> in, out;
            for (unsigned char *p : mix_.in)
                in.push_back(p + at);
            for (unsigned char *p : mix_.out)
                out.push_back(p + at);
            isal()->encode(isal_, in.data(), out.data(), std::min(kLongest, end - at));
        }
    };
    Team team(threads);
    return team.run(&job);
}

void release_pipeline_memory() {
    for (void *&memory : g_pinned) {
        if (memory != nullptr)
            gfk_check(gfk_pinned_unregister(memory), "gfk_pinned_unregister");
        memory = nullptr;
    }
}
