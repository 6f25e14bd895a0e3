// SPDX-License-Identifier: BSD-3-Clause
// Rows of Gibraltar's encoder: its rate, and what a kernel costs before its first byte.
#include "cases/cases.h"
#include "gibraltar/rows.h"
#include "nvrtc.h"

namespace {

constexpr unsigned kThreads = 256;
const char *const kId = "nvrtc_w8";

struct EncoderWork : MatrixWork {
    EncoderWork(const Library &, const Shape &shape, size_t region, uint64_t seed)
        : MatrixWork(8, {shape.k, shape.m, region}, GFK_SET), shape_(shape) {
        matrix_ = matrix_of(shape, false, seed);
    }
    gfk_status start() override {
        struct Tables {
            uint16_t log[256];
            uint8_t antilog[1024];
        } tables = {};
        const gfk_field field = field_of(8);
        uint32_t power = 1;
        for (unsigned i = 0; i < 509; i++) {
            tables.antilog[i] = (uint8_t)power;
            if (i < 255)
                tables.log[power] = (uint16_t)i;
            GFK_CHECK(gfk_field_multiply(&field, power, field.generator, &power));
        }
        tables.log[0] = 510;
        for (uint32_t c : matrix_)
            coefficients_.push_back(tables.log[c]);
        tables_ = gpu_slot(Slot::Kept, sizeof tables);
        GPU_CHECK(cudaMemcpy(tables_, &tables, sizeof tables, cudaMemcpyHostToDevice));
        kernel_ = &encoder_for(shape_);
        return MatrixWork::start();
    }
    void launch(long j, cudaStream_t stream) const override {
        const void *in = layout_.in(j), *tables = tables_;
        void *out = layout_.out(j);
        unsigned long long stride = layout_.stride() / 4, words = layout_.bytes / 4;
        void *arguments[] = {&in, &out, &stride, &words, &tables, (void *)coefficients_.data()};
        const auto blocks = (unsigned)((words + kThreads - 1) / kThreads);
        GPU_CHECK(cudaLaunchKernel((const void *)kernel_->kernel, dim3(blocks), dim3(kThreads),
                                   arguments, 0, stream));
    }
    std::string tag() const override { return "gibraltar"; }

  private:
    Shape shape_;
    std::vector<uint16_t> coefficients_; // their logarithms
    void *tables_ = nullptr;
    const CompiledKernel *kernel_ = nullptr;
};

// A kernel that is compiled in every pass, or found in memory.
struct CompileWork : Work {
    CompileWork(const Library &, const Shape &shape, bool kept) : shape_(shape), kept_(kept) {}
    gfk_status start() override {
        encoder_for(shape_);
        return GFK_STATUS_SUCCESS;
    }
    void warm_up() override {}
    double pass(long) override {
        const Stopwatch watch;
        if (kept_) {
            encoder_for(shape_);
            return watch.us();
        }
        const CompiledKernel made = compile_encoder(shape_);
        const double us = watch.us();
        GPU_CHECK(cudaLibraryUnload(made.library));
        return us;
    }

  private:
    Shape shape_;
    bool kept_;
};

} // namespace

void add_encoder_rows(const Options &options, Rows *rows) {
    for (const bool kept : {false, true}) {
        const Shape shape = {8, 10, 4};
        const char *operation = kept ? "cache_hit" : "specialise";
        Row row(std::string(operation) + "/" + kId + "/" + shape_text(shape),
                shape_facts("create", operation, "gpu", kId, shape));
        row.facts.add("matrix", "random");
        row.passes = 5;
        row.compared = false;
        row.missing = nvrtc_missing;
        row.make = makes<CompileWork>(shape, kept);
        rows->push_back(row);
    }
    for (size_t m : {2, 3, 4}) {
        const Shape shape = {8, 16, m};
        const size_t data = options.size_or(kGiB), region = data / shape.k / 512 * 512;
        const Layout layout = {shape.k, shape.m, region};
        Row row(std::string(kId) + "/" + shape_text(shape) + "/" + size_text(data) + "/set/cold",
                shape_facts("probe", "encode", "gpu", kId, shape));
        row.facts.add("method", "LOG", "mode", "set", "cold", true, "matrix", "random",
                      "region_bytes", region, "nominal_bytes", data, "bytes_per_thread", 4);
        row.data_bytes = (double)(shape.k * region);
        row.moved = product_moved(shape, GFK_SET);
        row.compared = false;
        row.missing = [=] {
            const std::string why = nvrtc_missing();
            return why.empty() ? too_little_memory(layout.memory_needed()) : why;
        };
        row.make = makes<EncoderWork>(shape, region, options.seed);
        add_ceiling("xor_only_few/" + shape_text(shape) + "/" + size_text(data) + "/set/cold",
                    {PlainKind::XorOnlyFew, layout, GFK_SET}, &row, rows);
        rows->push_back(row);
    }
}
