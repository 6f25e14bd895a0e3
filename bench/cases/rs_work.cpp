// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <random>

#include "core/buffers.h"
#include "core/host.h"
#include "core/kernels.h"
#include "product.h"
#include "rs.h"

namespace {

// A code on the device, and regions of data and parity for every launch.
class CodeWork : public MatrixWork {
  public:
    CodeWork(const Library &library, const RsCase &c, const Layout &layout,
             gfk_accumulate mode = GFK_SET)
        : MatrixWork(c.shape.w, layout, mode), library_(library), case_(c) {}
    CodeWork(const Library &library, const RsCase &c)
        : CodeWork(library, c, {c.shape.k, c.shape.m, c.region}) {}
    ~CodeWork() override { library_.gfk_rs_destroy(code_); }
    gfk_status start() override {
        const gfk_status status = make_code();
        if (status != GFK_STATUS_SUCCESS)
            return status;
        encode_all();
        return make();
    }
    void describe(Fields *fields) const override {
        MatrixWork::describe(fields);
        fields->add(product_facts(product_));
        fields->set("workspace_bytes", workspace_bytes_);
        fields->set("setup", "create");
        fields->set("setup_us", create_us_);
    }

  protected:
    const uint32_t *matrix(long) const override { return matrix_.data(); }
    virtual size_t code_k() const { return case_.shape.k; }
    virtual void encode_all() const {
        buffers_.poison_outputs();
        for (long j = 0; j < buffers_.sets(); j++)
            encode(inputs(j), outputs(j));
        gpu_synchronize();
    }
    // What the launches need besides the code; launches once.
    virtual gfk_status make() { return GFK_STATUS_SUCCESS; }
    void encode(const gfk_regions &in, const gfk_regions &out) const {
        gfk_check(library_.gfk_rs_encode(code_, &in, &out, case_.region, gpu().stream),
                  "gfk_rs_encode");
    }
    gfk_status launched(gfk_status status) const {
        if (status == GFK_STATUS_SUCCESS) {
            launch(0, gpu().stream);
            gpu_synchronize();
        }
        return status;
    }

    const Library &library_;
    RsCase case_;
    gfk_rs_t code_ = nullptr;
    std::vector<uint32_t> matrix_;
    gfk_product_info product_ = {}; // of what the launches use
    size_t workspace_bytes_ = 0;
    double create_us_ = 0; // of the object that the launches use

  private:
    gfk_status make_code() {
        const gfk_field field = field_of(w_);
        gfk_rs_desc desc = GFK_RS_DESC_INIT;
        desc.product.device = gpu().device;
        desc.product.compile = case_.compile;
        desc.product.bytes = buffers_.bytes();
        const Stopwatch watch;
        const gfk_status status =
            library_.gfk_rs_create(&code_, &field, code_k(), case_.shape.m, &desc);
        create_us_ = watch.us();
        if (status != GFK_STATUS_SUCCESS)
            return status;
        gfk_rs_info info;
        matrix_.resize(code_k() * case_.shape.m);
        gfk_check(library_.gfk_rs_get_matrix(code_, matrix_.data()), "gfk_rs_get_matrix");
        gfk_check(library_.gfk_rs_get_info(code_, &info), "gfk_rs_get_info");
        product_ = info.product;
        return status;
    }
};

class Encode : public CodeWork {
  public:
    using CodeWork::CodeWork;
    void launch(long j, cudaStream_t stream) const override {
        const gfk_regions in = inputs(j), out = outputs(j);
        gfk_check(library_.gfk_rs_encode(code_, &in, &out, buffers_.bytes(), stream),
                  "gfk_rs_encode");
    }

  protected:
    std::string tag() const override { return "rs"; }
};

class Decode : public CodeWork {
  public:
    Decode(const Library &library, const RsCase &c) : CodeWork(library, c) {
        const size_t k = c.shape.k;
        for (size_t i = 0; i < c.lost; i++)
            lost_.push_back(c.which == RsLost::Data              ? i * k / c.lost
                            : c.which == RsLost::Parity || i % 2 ? k + i
                                                                 : i * k / c.lost);
    }
    ~Decode() override { library_.gfk_rs_decoder_destroy(decoder_); }
    gfk_status make() override {
        const Stopwatch watch;
        const gfk_status status = library_.gfk_rs_decoder_create(&decoder_, code_, lost_.data(),
                                                                 lost_.size(), nullptr, 0, nullptr);
        create_us_ = watch.us();
        if (status == GFK_STATUS_SUCCESS)
            gfk_check(library_.gfk_rs_decoder_get_info(decoder_, &product_, nullptr),
                      "gfk_rs_decoder_get_info");
        return launched(status);
    }
    void launch(long j, cudaStream_t stream) const override {
        const gfk_regions in = inputs(j), out = outputs(j);
        gfk_check(library_.gfk_rs_decoder_run(decoder_, &in, &out, buffers_.bytes(), stream),
                  "gfk_rs_decoder_run");
    }
    // Set 0: what is lost is kept, poisoned, rebuilt and compared.
    std::string check(bool) override {
        const size_t bytes = buffers_.bytes();
        auto *kept = (char *)gpu_slot(Slot::Kept, bytes * lost_.size());
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
        const size_t k = case_.shape.k;
        return index < k ? buffers_.in(0, index) : buffers_.out(0, index - k);
    }
    std::vector<size_t> lost_;
    gfk_rs_decoder_t decoder_ = nullptr;
};

// Verdicts and workspaces live in the library's workspace slot.
class Verify : public CodeWork {
  public:
    using CodeWork::CodeWork;
    gfk_status make() override {
        result_ = (char *)gpu_workspace(library_, 256);
        return launched(GFK_STATUS_SUCCESS);
    }
    void launch(long j, cudaStream_t stream) const override {
        const gfk_regions in = inputs(j), out = outputs(j);
        gfk_check(
            library_.gfk_rs_verify(code_, &in, &out, buffers_.bytes(), (uint32_t *)result_, stream),
            "gfk_rs_verify");
    }
    // Right parity must pass, and one wrong byte must be found.
    std::string check(bool) override {
        char *at = buffers_.out(0, case_.shape.m - 1) + buffers_.bytes() / 2;
        const bool called_wrong = finds();
        flip(at);
        const bool found = finds();
        flip(at);
        return called_wrong ? "right parity was called wrong"
               : found      ? ""
                            : "a wrong byte was not found";
    }

  protected:
    virtual bool found() const {
        uint32_t differs;
        GPU_CHECK(cudaMemcpy(&differs, result_, sizeof differs, cudaMemcpyDeviceToHost));
        return differs != 0;
    }
    char *result_ = nullptr;

  private:
    static void flip(char *at) {
        unsigned char byte;
        GPU_CHECK(cudaMemcpy(&byte, at, 1, cudaMemcpyDeviceToHost));
        byte ^= 0x10;
        GPU_CHECK(cudaMemcpy(at, &byte, 1, cudaMemcpyHostToDevice));
    }
    bool finds() const {
        gpu_synchronize();
        launch(0, gpu().stream);
        gpu_synchronize();
        return found();
    }
};

class Locate : public Verify {
  public:
    using Verify::Verify;
    gfk_status make() override {
        gfk_check(library_.gfk_rs_locate_workspace(code_, buffers_.bytes(), &workspace_bytes_),
                  "gfk_rs_locate_workspace");
        result_ = (char *)gpu_workspace(library_, counts_end() + workspace_bytes_);
        return launched(GFK_STATUS_SUCCESS);
    }
    void launch(long j, cudaStream_t stream) const override {
        const gfk_regions in = inputs(j), out = outputs(j);
        gfk_check(library_.gfk_rs_locate(code_, &in, &out, buffers_.bytes(), GFK_RS_REPORT,
                                         (gfk_rs_verdict *)result_, (uint64_t *)(result_ + 256),
                                         result_ + counts_end(), workspace_bytes_, stream),
                  "gfk_rs_locate");
    }

  protected:
    bool found() const override {
        gfk_rs_verdict verdict;
        GPU_CHECK(cudaMemcpy(&verdict, result_, sizeof verdict, cudaMemcpyDeviceToHost));
        return verdict.located == 1;
    }

  private:
    size_t counts_end() const {
        return (256 + 8 * (case_.shape.k + case_.shape.m) + 255) / 256 * 256;
    }
};

// The two inputs are a region before and after; the outputs are the parity of a code of k.
class Update : public CodeWork {
  public:
    Update(const Library &library, const RsCase &c)
        : CodeWork(library, c, {2, c.shape.m, c.region}, GFK_XOR) {}
    ~Update() override { library_.gfk_rs_updater_destroy(updater_); }
    gfk_status make() override {
        for (size_t j = 0; j < case_.shape.m; j++)
            twice_.insert(twice_.end(), 2, matrix_[j * code_k() + kIndex]);
        const Stopwatch watch;
        const gfk_status status = library_.gfk_rs_updater_create(&updater_, code_, kIndex, nullptr);
        create_us_ = watch.us();
        return launched(status);
    }
    void launch(long j, cudaStream_t stream) const override {
        const gfk_regions out = outputs(j);
        gfk_check(library_.gfk_rs_updater_run(updater_, buffers_.in(j, 0), buffers_.in(j, 1), &out,
                                              buffers_.bytes(), stream),
                  "gfk_rs_updater_run");
    }
    std::string check(bool) override { return CodeWork::check(false); }

  protected:
    void encode_all() const override {} // any parity will do
    const uint32_t *matrix(long) const override { return twice_.data(); }
    std::string tag() const override { return "rs update"; }

  private:
    static constexpr size_t kIndex = 3;
    std::vector<uint32_t> twice_;
    gfk_rs_updater_t updater_ = nullptr;
};

// Stripe s has its k + m regions behind those of stripe s - 1. What is lost is drawn anew for each.
class Batch : public CodeWork {
  public:
    Batch(const Library &library, const RsCase &c)
        : CodeWork(library, c, {c.shape.k, c.shape.m, 512}), n_(c.shape.k + c.shape.m),
          lost_(c.stripes) {
        memory_ = (char *)gpu_slot(Slot::Inputs, bytes());
        fill_random(memory_, bytes(), 5, 0, gpu().stream);
        std::mt19937 random(9);
        std::vector<size_t> all(n_);
        std::iota(all.begin(), all.end(), 0);
        for (auto &lost : lost_) {
            std::shuffle(all.begin(), all.end(), random);
            lost.assign(all.begin(), all.begin() + (long)c.lost);
        }
    }
    ~Batch() override { library_.gfk_rs_batch_destroy(batch_); }
    long sets() const override { return 1; }
    void make_cold() const override { flush_cache(); }
    gfk_status make() override {
        std::vector<gfk_rs_stripe> list;
        for (size_t s = 0; s < case_.stripes; s++)
            list.push_back({regions(s, 0), regions(s, case_.shape.k), case_.region, lost_[s].data(),
                            lost_[s].size()});
        const Stopwatch watch;
        const gfk_status status =
            library_.gfk_rs_batch_create(&batch_, code_, list.data(), list.size(), nullptr);
        create_us_ = watch.us();
        product_.kernel = nullptr; // a batch's kernels are its own
        return launched(status);
    }
    void launch(long, cudaStream_t stream) const override {
        gfk_check(library_.gfk_rs_batch_run(batch_, stream), "gfk_rs_batch_run");
    }
    // All regions of all stripes, behind what the batch rebuilds having been overwritten.
    std::string check(bool) override {
        auto *kept = (char *)gpu_slot(Slot::Kept, bytes());
        GPU_CHECK(cudaMemcpyAsync(kept, memory_, bytes(), cudaMemcpyDeviceToDevice, gpu().stream));
        for (size_t s = 0; s < case_.stripes; s++)
            for (size_t i = 0; i < (lost_[s].empty() ? case_.shape.m : lost_[s].size()); i++)
                GPU_CHECK(cudaMemsetAsync(at(s, lost_[s].empty() ? case_.shape.k + i : lost_[s][i]),
                                          0x5a, case_.region, gpu().stream));
        launch(0, gpu().stream);
        Checker checker;
        checker.check(kept, memory_, bytes(), 0);
        return checker.verdict();
    }
    void describe(Fields *fields) const override {
        CodeWork::describe(fields);
        fields->set("engine", "batch"); // of its own
    }

  protected:
    void encode_all() const override {
        for (size_t s = 0; s < case_.stripes; s++)
            encode(regions(s, 0), regions(s, case_.shape.k));
    }

  private:
    size_t bytes() const { return case_.stripes * n_ * case_.region; }
    char *at(size_t stripe, size_t i) const { return memory_ + (stripe * n_ + i) * case_.region; }
    gfk_regions regions(size_t stripe, size_t i) const {
        return {nullptr, at(stripe, i), case_.region};
    }

    size_t n_; // regions of a stripe
    std::vector<std::vector<size_t>> lost_;
    char *memory_;
    gfk_rs_batch_t batch_ = nullptr;
};

} // namespace

std::unique_ptr<DeviceWork> make_rs_work(const Library &library, const RsCase &c) {
    switch (c.operation) {
    case RsCase::Encode:
        return std::make_unique<Encode>(library, c);
    case RsCase::Decode:
        return std::make_unique<Decode>(library, c);
    case RsCase::Verify:
        return std::make_unique<Verify>(library, c);
    case RsCase::Locate:
        return std::make_unique<Locate>(library, c);
    case RsCase::Update:
        return std::make_unique<Update>(library, c);
    default:
        return std::make_unique<Batch>(library, c);
    }
}
