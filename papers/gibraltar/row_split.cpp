// SPDX-License-Identifier: BSD-3-Clause
// A code's parity regions shared out to two GPUs: both have all data, each makes half of the parity.
#include <algorithm>

#include "cases/cpu.h"
#include "core/device.h"
#include "gibraltar/rows.h"

namespace {

constexpr size_t kParts = 2, kLaunches = 8, kCompared = 64 * kKiB;

struct RowSplit : Work {
    RowSplit(const Library &library, const Shape &shape, size_t region)
        : library_(library), shape_(shape), region_(region), matrix_(matrix_of(shape, true, 1)) {}
    ~RowSplit() override {
        for (Part &part : parts_)
            if (part.stream != nullptr) {
                GPU_CHECK(cudaSetDevice(part.device));
                GPU_CHECK(cudaFree(part.memory));
                GPU_CHECK(cudaStreamDestroy(part.stream));
            }
        GPU_CHECK(cudaSetDevice(gpu().device));
    }
    gfk_status start() override {
        const auto [w, k, m] = shape_;
        const Shape half = {w, k, m / kParts};
        gfk_status status = GFK_STATUS_SUCCESS;
        for (size_t p = 0; p < kParts && status == GFK_STATUS_SUCCESS; p++) {
            Part &part = parts_[p];
            part.device = (int)p;
            GPU_CHECK(cudaSetDevice(part.device));
            GPU_CHECK(cudaStreamCreateWithFlags(&part.stream, cudaStreamNonBlocking));
            GPU_CHECK(cudaMalloc((void **)&part.memory, region_ * (k + half.m)));
            fill_random(part.memory, region_ * k, 3, 0, part.stream);
            const auto from = matrix_.begin() + (long)(p * half.m * k);
            gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
            desc.device = part.device;
            desc.bytes = region_;
            status = make_product(library_, half, {from, from + (long)(half.m * k)}, desc,
                                  &part.product, &facts);
        }
        if (status == GFK_STATUS_SUCCESS)
            pass(0);
        return status;
    }
    std::string check(bool) override {
        const auto [w, k, m] = shape_;
        std::vector<unsigned char> in(kCompared * k), out(kCompared * m);
        for (size_t p = 0; p < kParts; p++) {
            GPU_CHECK(cudaSetDevice(parts_[p].device));
            const auto fetch = [&](unsigned char *to, size_t region) {
                GPU_CHECK(cudaMemcpy(to, parts_[p].memory + region * region_, kCompared,
                                     cudaMemcpyDeviceToHost));
            };
            for (size_t i = 0; i < k && p == 0; i++)
                fetch(in.data() + i * kCompared, i);
            for (size_t j = 0; j < m / kParts; j++)
                fetch(out.data() + (p * m / kParts + j) * kCompared, k + j);
        }
        GPU_CHECK(cudaSetDevice(gpu().device));
        Ends ends(kCompared);
        ends.compute(shape_, matrix_, regions_at(in.data(), k, kCompared));
        return ends.match(regions_at(out.data(), m, kCompared)) ? ""
                                                                : "differs from the host engine";
    }
    double pass(long) override {
        const Stopwatch watch;
        for (size_t n = 0; n < kLaunches; n++)
            for (const Part &part : parts_) {
                GPU_CHECK(cudaSetDevice(part.device));
                const gfk_regions in = {nullptr, part.memory, region_};
                const gfk_regions out = {nullptr, part.memory + shape_.k * region_, region_};
                GFK_CHECK(library_.gfk_product_run(part.product, &in, &out, region_, GFK_SET,
                                                   part.stream));
            }
        for (const Part &part : parts_) {
            GPU_CHECK(cudaSetDevice(part.device));
            GPU_CHECK(cudaStreamSynchronize(part.stream));
        }
        GPU_CHECK(cudaSetDevice(gpu().device));
        return watch.us() / kLaunches;
    }

  private:
    struct Part {
        int device = 0;
        cudaStream_t stream = nullptr;
        char *memory = nullptr;
        Object<gfk_product_t> product;
    };
    const Library &library_;
    Shape shape_;
    size_t region_;
    std::vector<uint32_t> matrix_;
    Part parts_[kParts];
};

} // namespace

void add_row_split_row(const Options &options, Rows *rows) {
    const Shape shape = {8, 16, 4};
    const size_t region = options.size_or(kGiB) / shape.k / 512 * 512;
    const std::string id = "row_split_w8";
    Row row(id + "/" + shape_text(shape) + "/" + size_text(region) + "/gpus=2",
            shape_facts("rs", "encode", "gpu", id, shape));
    row.facts.add("gpus", kParts, "mode", "set", "cold", true, "region_bytes", region, "stripes",
                  1);
    row.data_bytes = (double)(region * shape.k);
    row.moved = (double)(2 * shape.k + shape.m) / (double)shape.k;
    row.missing = [] { return std::string(bus_devices() < (int)kParts ? "only one GPU" : ""); };
    row.make = makes<RowSplit>(shape, region);
    rows->push_back(row);
}
