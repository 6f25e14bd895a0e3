// SPDX-License-Identifier: BSD-3-Clause
#include "rs_work.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "device_kernels.h"
#include "multipliers.h"

namespace {

double microseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
        .count();
}

void synchronize() {
    GPU_CHECK(cudaStreamSynchronize(gpu().stream));
}

struct CodeDeleter {
    void operator()(gfk_rs_t code) const { gfk_rs_destroy(code); }
};
using Code = std::unique_ptr<struct gfk_rs, CodeDeleter>;

// A code on the device, and k data and m parity regions for every launch.
class OnRegions : public RsWork {
  public:
    OnRegions(const RsCode &code, size_t region)
        : shape_(code.shape), prepared_(code.prepared), buffers_(code.shape, region) {}
    long sets() const override { return buffers_.sets(); }
    void make_cold() const override { buffers_.make_cold(); }

  protected:
    gfk_status make_code(size_t k) {
        gfk_field field;
        gfk_check(gfk_field_init(&field, shape_.w, 0), "gfk_field_init");
        gfk_rs_desc desc = GFK_RS_DESC_INIT;
        gfk_rs_t code = nullptr;
        desc.product.device = gpu().device;
        desc.product.compile = prepared_;
        desc.product.bytes = buffers_.bytes();
        const auto start = std::chrono::steady_clock::now();
        const gfk_status status = gfk_rs_create(&code, &field, k, shape_.m, &desc);
        create_us = microseconds_since(start);
        code_.reset(code);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        matrix_.resize(k * shape_.m);
        gfk_check(gfk_rs_get_matrix(code, matrix_.data()), "gfk_rs_get_matrix");
        gfk_rs_info info;
        gfk_check(gfk_rs_get_info(code, &info), "gfk_rs_get_info");
        chosen = info.product.engine->id;
        return status;
    }
    gfk_regions data(long j) const { return {nullptr, buffers_.in(j), buffers_.stride()}; }
    gfk_regions parity(long j) const { return {nullptr, buffers_.out(j), buffers_.stride()}; }
    void encode(long j, cudaStream_t stream) const {
        const gfk_regions in = data(j), out = parity(j);
        gfk_check(gfk_rs_encode(code_.get(), &in, &out, buffers_.bytes(), stream), "gfk_rs_encode");
    }
    void encode_all() const {
        buffers_.poison_outputs();
        for (long j = 0; j < buffers_.sets(); j++)
            encode(j, gpu().stream);
        synchronize();
    }
    std::string compare_with(const std::vector<uint32_t> &matrix, gfk_accumulate mode,
                             const char *tag) const {
        const ProductReference reference(shape_, matrix, mode, tag);
        buffers_.poison_outputs();
        for (long j = 0; j < buffers_.sets(); j++)
            launch(j, gpu().stream);
        return reference.check(buffers_, buffers_.sets());
    }

    Shape shape_;
    bool prepared_;
    ProductBuffers buffers_;
    Code code_;
    std::vector<uint32_t> matrix_;
};

class Encode : public OnRegions {
  public:
    using OnRegions::OnRegions;
    gfk_status start() override {
        const gfk_status status = make_code(shape_.k);
        if (status == GFK_STATUS_SUCCESS)
            encode_all();
        return status;
    }
    void launch(long j, cudaStream_t stream) const override { encode(j, stream); }
    std::string check() const override { return compare_with(matrix_, GFK_SET, "rs"); }
};

class Decode : public OnRegions {
  public:
    Decode(const RsCode &code, size_t region, size_t e, RsLost which) : OnRegions(code, region) {
        const size_t k = shape_.k;
        for (size_t i = 0; i < e; i++)
            lost_.push_back(which == RsLost::Data              ? i * k / e
                            : which == RsLost::Parity || i % 2 ? k + i
                                                               : i * k / e);
    }
    ~Decode() override { gfk_rs_decoder_destroy(decoder_); }
    gfk_status start() override {
        gfk_status status = make_code(shape_.k);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        encode_all();
        const auto start = std::chrono::steady_clock::now();
        status = gfk_rs_decoder_create(&decoder_, code_.get(), lost_.data(), lost_.size(), nullptr,
                                       0, nullptr);
        create_us = microseconds_since(start);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        gfk_product_info info;
        gfk_check(gfk_rs_decoder_get_info(decoder_, &info, nullptr), "gfk_rs_decoder_get_info");
        chosen = info.engine->id;
        launch(0, gpu().stream);
        synchronize();
        return status;
    }
    void launch(long j, cudaStream_t stream) const override {
        const gfk_regions in = data(j), out = parity(j);
        gfk_check(gfk_rs_decoder_run(decoder_, &in, &out, buffers_.bytes(), stream),
                  "gfk_rs_decoder_run");
    }
    // Set 0: what is lost is kept, poisoned, rebuilt and compared.
    std::string check() const override {
        const size_t bytes = buffers_.bytes();
        auto *kept = (char *)gpu_slot(Slot::Flush, bytes * lost_.size());
        for (size_t i = 0; i < lost_.size(); i++) {
            GPU_CHECK(cudaMemcpyAsync(kept + i * bytes, region(lost_[i]), bytes,
                                      cudaMemcpyDeviceToDevice, gpu().stream));
            fill_random(region(lost_[i]), bytes, 77 + i, 0, gpu().stream);
        }
        launch(0, gpu().stream);
        Checker checker;
        for (size_t i = 0; i < lost_.size(); i++)
            checker.check(kept + i * bytes, region(lost_[i]), bytes, (long)i);
        return checker.verdict();
    }

  private:
    char *region(size_t index) const {
        return index < shape_.k ? buffers_.in(0, index) : buffers_.out(0, index - shape_.k);
    }
    std::vector<size_t> lost_;
    gfk_rs_decoder_t decoder_ = nullptr;
};

// Verdicts and workspaces in the slot Workspaces.
class Verify : public OnRegions {
  public:
    using OnRegions::OnRegions;
    gfk_status start() override {
        const gfk_status status = make_code(shape_.k);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        prepare();
        encode_all();
        launch(0, gpu().stream);
        synchronize();
        return status;
    }
    void launch(long j, cudaStream_t stream) const override {
        const gfk_regions in = data(j), out = parity(j);
        gfk_check(
            gfk_rs_verify(code_.get(), &in, &out, buffers_.bytes(), (uint32_t *)result_, stream),
            "gfk_rs_verify");
    }
    std::string check() const override {
        for (const bool wrong : {false, true}) {
            char *at = buffers_.out(0, shape_.m - 1) + buffers_.bytes() / 2;
            unsigned char byte;
            GPU_CHECK(cudaMemcpy(&byte, at, 1, cudaMemcpyDeviceToHost));
            byte ^= 0x10;
            if (wrong)
                GPU_CHECK(cudaMemcpy(at, &byte, 1, cudaMemcpyHostToDevice));
            launch(0, gpu().stream);
            synchronize();
            const bool found = finds();
            byte ^= 0x10;
            if (wrong)
                GPU_CHECK(cudaMemcpy(at, &byte, 1, cudaMemcpyHostToDevice));
            if (found != wrong)
                return wrong ? "a wrong byte was not found" : "right parity was called wrong";
        }
        return "";
    }

  protected:
    virtual void prepare() { result_ = (char *)gpu_slot(Slot::Workspaces, 256); }
    virtual bool finds() const {
        uint32_t differs;
        GPU_CHECK(cudaMemcpy(&differs, result_, sizeof differs, cudaMemcpyDeviceToHost));
        return differs != 0;
    }
    char *result_ = nullptr;
};

class Locate : public Verify {
  public:
    using Verify::Verify;
    void launch(long j, cudaStream_t stream) const override {
        const gfk_regions in = data(j), out = parity(j);
        gfk_check(gfk_rs_locate(code_.get(), &in, &out, buffers_.bytes(), GFK_RS_REPORT,
                                (gfk_rs_verdict *)result_, (uint64_t *)(result_ + 256),
                                result_ + counts_end(), workspace_bytes_, stream),
                  "gfk_rs_locate");
    }

  protected:
    size_t counts_end() const { return (256 + 8 * (shape_.k + shape_.m) + 255) / 256 * 256; }
    void prepare() override {
        gfk_check(gfk_rs_locate_workspace(code_.get(), buffers_.bytes(), &workspace_bytes_),
                  "gfk_rs_locate_workspace");
        result_ = (char *)gpu_slot(Slot::Workspaces, counts_end() + workspace_bytes_);
    }
    bool finds() const override {
        gfk_rs_verdict verdict;
        GPU_CHECK(cudaMemcpy(&verdict, result_, sizeof verdict, cudaMemcpyDeviceToHost));
        return verdict.located == 1;
    }

  private:
    size_t workspace_bytes_ = 0;
};

// The two inputs are a region before and after; the outputs are the parity of a code of ten.
class Update : public OnRegions {
  public:
    Update(const RsCode &code, size_t region)
        : OnRegions({{code.shape.w, 2, code.shape.m}, code.prepared}, region) {}
    ~Update() override { gfk_rs_updater_destroy(updater_); }
    gfk_status start() override {
        gfk_status status = make_code(kData);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        const auto start = std::chrono::steady_clock::now();
        status = gfk_rs_updater_create(&updater_, code_.get(), kIndex, nullptr);
        create_us = microseconds_since(start);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        launch(0, gpu().stream);
        synchronize();
        return status;
    }
    void launch(long j, cudaStream_t stream) const override {
        const gfk_regions out = parity(j);
        gfk_check(gfk_rs_updater_run(updater_, buffers_.in(j, 0), buffers_.in(j, 1), &out,
                                     buffers_.bytes(), stream),
                  "gfk_rs_updater_run");
    }
    std::string check() const override {
        std::vector<uint32_t> twice(2 * shape_.m);
        for (size_t j = 0; j < shape_.m; j++)
            twice[2 * j] = twice[2 * j + 1] = matrix_[j * kData + kIndex];
        return compare_with(twice, GFK_XOR, "rs update");
    }

  private:
    static constexpr size_t kData = 10, kIndex = 3;
    gfk_rs_updater_t updater_ = nullptr;
};

// Stripe s has its k + m regions behind those of stripe s - 1.
class Batch : public OnRegions {
  public:
    Batch(const RsCode &code, size_t region, size_t stripes, size_t e)
        : OnRegions(code, 512), region_(region), stripes_(stripes), lost_(stripes) {
        const size_t n = shape_.k + shape_.m, bytes = stripes * n * region;
        memory_ = (char *)gpu_slot(Slot::Inputs, bytes);
        fill_random(memory_, bytes, 5, 0, gpu().stream);
        std::mt19937 random(9);
        std::vector<size_t> all(n);
        std::iota(all.begin(), all.end(), 0);
        for (auto &lost : lost_) {
            std::shuffle(all.begin(), all.end(), random);
            lost.assign(all.begin(), all.begin() + (long)e);
        }
    }
    ~Batch() override { gfk_rs_batch_destroy(batch_); }
    long sets() const override { return 1; }
    void make_cold() const override { flush_cache(); }
    gfk_status start() override {
        gfk_status status = make_code(shape_.k);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        for (size_t s = 0; s < stripes_; s++) {
            const gfk_regions in = regions(s, 0), out = regions(s, shape_.k);
            gfk_check(gfk_rs_encode(code_.get(), &in, &out, region_, gpu().stream),
                      "gfk_rs_encode");
        }
        std::vector<gfk_rs_stripe> list(stripes_);
        for (size_t s = 0; s < stripes_; s++)
            list[s] = {regions(s, 0), regions(s, shape_.k), region_, lost_[s].data(),
                       lost_[s].size()};
        const auto start = std::chrono::steady_clock::now();
        status = gfk_rs_batch_create(&batch_, code_.get(), list.data(), stripes_, nullptr);
        create_us = microseconds_since(start);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        chosen = "batch";
        launch(0, gpu().stream);
        synchronize();
        return status;
    }
    void launch(long, cudaStream_t stream) const override {
        gfk_check(gfk_rs_batch_run(batch_, stream), "gfk_rs_batch_run");
    }
    std::string check() const override {
        const size_t n = shape_.k + shape_.m, bytes = stripes_ * n * region_;
        auto *kept = (char *)gpu_slot(Slot::Outputs, bytes);
        GPU_CHECK(cudaMemcpyAsync(kept, memory_, bytes, cudaMemcpyDeviceToDevice, gpu().stream));
        for (size_t s = 0; s < stripes_; s++)
            for (size_t i = 0; i < (lost_[s].empty() ? shape_.m : lost_[s].size()); i++)
                GPU_CHECK(cudaMemsetAsync(at(s, lost_[s].empty() ? shape_.k + i : lost_[s][i]),
                                          0x5a, region_, gpu().stream));
        launch(0, gpu().stream);
        Checker checker;
        checker.check(kept, memory_, bytes, 0);
        return checker.verdict();
    }

  private:
    char *at(size_t stripe, size_t i) const {
        return memory_ + (stripe * (shape_.k + shape_.m) + i) * region_;
    }
    gfk_regions regions(size_t stripe, size_t i) const { return {nullptr, at(stripe, i), region_}; }

    size_t region_, stripes_;
    std::vector<std::vector<size_t>> lost_;
    char *memory_;
    gfk_rs_batch_t batch_ = nullptr;
};

} // namespace

std::unique_ptr<RsWork> rs_encode(const RsCode &code, size_t region) {
    return std::make_unique<Encode>(code, region);
}
std::unique_ptr<RsWork> rs_decode(const RsCode &code, size_t region, size_t e, RsLost which) {
    return std::make_unique<Decode>(code, region, e, which);
}
std::unique_ptr<RsWork> rs_verify(const RsCode &code, size_t region) {
    return std::make_unique<Verify>(code, region);
}
std::unique_ptr<RsWork> rs_locate(const RsCode &code, size_t region) {
    return std::make_unique<Locate>(code, region);
}
std::unique_ptr<RsWork> rs_update(const RsCode &code, size_t region) {
    return std::make_unique<Update>(code, region);
}
std::unique_ptr<RsWork> rs_batch(const RsCode &code, size_t region, size_t stripes, size_t e) {
    return std::make_unique<Batch>(code, region, stripes, e);
}
