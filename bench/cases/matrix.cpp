// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices in device memory, beside products of gfk/product.h and beside what binary
// tensor cores give at most.
#include <cstdio>
#include <cstring>

#include "cases.h"
#include "core/device.h"

namespace {

constexpr uint64_t kMatrixSeed = 5, kRowSeed = 6;
constexpr double kAllChecked = 1e13;      // multiply-adds up to which every byte is computed again
constexpr double kSustainedSeconds = 7.0; // of the tensor cores, as long as the long rows
constexpr char kMmas[] = "bit_mmas";

struct MatmulCase {
    Shape shape;   // k columns, m rows
    size_t region; // Invert: bytes of a row, as of a product of two n x n matrices
    enum Kind { Burst, Long, Product, Invert, Kernel } kind = Burst;
    int count = 1; // Long: calls one behind the other, as the only pass; Invert: of a batch
    const gfk_compiled_kernel_info *kernel = nullptr; // of a batch; Kernel: of the matmul

    const char *operation() const {
        return kind == Product  ? "product"
               : kind == Invert ? "invert"
               : kind == Kernel ? "kernel"
                                : "matmul";
    }
    std::string id() const {
        return (kind == Kernel ? "matmul" : operation()) + ("_w" + std::to_string(shape.w));
    }
    std::string name() const {
        return id() + "/" + shape_text(shape) + "/" + size_text(region) +
               (kind == Long                  ? "/long"
                : kind == Kernel              ? std::strchr(kernel->id, '/')
                : kind == Invert && count > 1 ? "/x" + std::to_string(count)
                                              : "");
    }
    gfk_matmul_desc desc() const {
        gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
        desc.kernel = kind == Kernel ? kernel->id : count > 1 ? nullptr : named_matmul(shape.w);
        return desc;
    }
    Layout layout() const { return {shape.k, shape.m, region}; }
    size_t row_bytes() const { return shape.k * shape.w / 8; } // of the matrix
    size_t matrix_bytes() const { return row_bytes() * shape.m; }
    double matrices() const { return kind == Invert ? count : 1; }
    double multiply_adds() const { // of bytes
        return matrices() * (double)shape.k * (double)shape.m * (double)region;
    }
    // The same of bits, with the inputs' bits rounded up to what MMAs take.
    double bit_multiply_adds() const {
        const size_t depth = (shape.k * shape.w + 255) / 256 * 256;
        return matrices() * (double)(shape.m * shape.w) * (double)depth *
               (double)(region * 8 / shape.w);
    }
};

// Whether (R A) B = R C for 32 / w random rows R, over all bytes: a wrong byte shows but for one
// case in 2^32. A is m x k. C null: the unit matrix.
void check_product(unsigned w, size_t k, size_t m, char *a, const Strided &b, const Strided *c,
                   long j, Checker *checker) {
    const size_t rows = 32 / w, row_bytes = k * w / 8;
    const Strided ra = {(char *)gpu_slot(Slot::Sums, rows * (2 * b.bytes + row_bytes) + 4 * m),
                        row_bytes, row_bytes};
    const Strided rab = {ra.at + rows * row_bytes, b.bytes, b.bytes};
    const Strided rc = {rab.at + rows * b.bytes, b.bytes, b.bytes};
    char *r = rc.at + rows * b.bytes;
    fill_random(r, 4 * m, kRowSeed, 0, gpu().stream);
    combine(w, r, m, rows, {a, row_bytes, row_bytes}, ra);
    combine(w, ra.at, k, rows, b, rab);
    if (c != nullptr)
        combine(w, r, m, rows, *c, rc);
    checker->check(rab.at, c ? rc.at : r, rows * b.bytes, j);
}

struct MatmulWork : MatrixWork {
    MatmulWork(const Library &library, const MatmulCase &c)
        : MatrixWork(c.shape.w, c.layout(), GFK_SET), library_(library), case_(c) {}
    gfk_status start() override {
        const gfk_field field = field_of(w_);
        const auto [w, k, m] = case_.shape;
        const size_t bytes = case_.matrix_bytes();
        elements_ = (char *)gpu_slot(Slot::Kept, bytes);
        fill_random(elements_, bytes, kMatrixSeed, 0, gpu().stream);
        if (case_.kind == MatmulCase::Product) {
            const gfk_status status = create(bytes);
            if (status != GFK_STATUS_SUCCESS)
                return status;
        } else {
            const gfk_matmul_desc desc = case_.desc();
            GFK_CHECK(library_.gfk_matmul_workspace(&field, m, k, case_.region, &desc,
                                                    &workspace_bytes_));
            facts.add("workspace_bytes", workspace_bytes_);
            if (library_.gfk_matmul_kernel_id != nullptr) {
                const char *kernel;
                GFK_CHECK(
                    library_.gfk_matmul_kernel_id(&field, m, k, case_.region, &desc, &kernel));
                facts.add("kernel", kernel);
            }
        }
        // The slot grows here, not while a graph is captured.
        workspace_ = gpu_workspace(library_, workspace_bytes_);
        multiply(0, std::min<size_t>(m, 128), gpu().stream); // loads the kernels
        gpu_synchronize();
        return GFK_STATUS_SUCCESS;
    }
    void launch(long j, cudaStream_t stream) const override { multiply(j, case_.shape.m, stream); }

    // Before the passes by random sums, behind them by every byte, where that takes seconds at most.
    std::string check(bool after) override {
        if (!after && is_long())
            return "";
        if (!after) {
            layout_.poison_outputs();
            for (long j = 0; j < sets(); j++)
                launch(j, gpu().stream);
        }
        Checker checker;
        for (long j = 0; j < sets(); j++)
            if (after && case_.multiply_adds() < kAllChecked) {
                layout_.poison_expected(j);
                combine(w_, elements_, case_.shape.k, case_.shape.m, part(layout_.in(j)),
                        part(layout_.expected()));
                checker.check(layout_.expected(), layout_.out(j), layout_.output_bytes(), j);
            } else {
                check_some(j, &checker);
            }
        return checker.verdict();
    }
    void warm_up() override { is_long() ? layout_.poison_outputs() : MatrixWork::warm_up(); }
    // Long: seconds of calls one behind the other, as one pass: a rate under the power limit.
    double pass(long number) override {
        if (!is_long())
            return MatrixWork::pass(number);
        gpu_synchronize();
        const Stopwatch watch;
        for (int i = 0; i < case_.count; i++)
            launch(0, gpu().stream);
        PowerMeter meter;
        while (cudaStreamQuery(gpu().stream) == cudaErrorNotReady) {
            meter.sample(watch.seconds());
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        gpu_synchronize();
        pass_ = {watch.us() / case_.count, meter.sm_mhz(), meter.watts()};
        return pass_.launch_us;
    }
    Sustained sustain() override { return pass_; } // only long rows ask

  private:
    bool is_long() const { return case_.kind == MatmulCase::Long; }
    gfk_status create(size_t bytes) {
        std::vector<unsigned char> elements(bytes);
        GPU_CHECK(cudaMemcpyAsync(elements.data(), elements_, bytes, cudaMemcpyDeviceToHost,
                                  gpu().stream));
        gpu_synchronize();
        matrix_.assign(case_.shape.k * case_.shape.m, 0);
        for (size_t i = 0; i < bytes; i++)
            matrix_[i * 8 / w_] |= (uint32_t)elements[i] << i * 8 % w_;
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.device = gpu().device;
        desc.bytes = case_.region;
        return make_product(library_, case_.shape, matrix_, desc, &product_, &facts);
    }
    void multiply(long j, size_t rows, cudaStream_t stream) const {
        if (case_.kind == MatmulCase::Product)
            return run(library_.gfk_product_run, product_, j, mode_, stream);
        const gfk_field field = field_of(w_);
        const gfk_regions in = inputs(j), out = outputs(j);
        const gfk_matrix a = GFK_MATRIX_DENSE_INIT(elements_, rows, case_.shape.k, case_.shape.k);
        const gfk_matmul_desc desc = case_.desc();
        gfk_check(library_.gfk_matmul(&field, &a, &in, &out, case_.region, mode_, &desc, workspace_,
                                      workspace_bytes_, stream),
                  "gfk_matmul");
    }
    Strided part(char *at) const { return {at, layout_.stride(), case_.region}; }
    // All bytes by sums; and three rows of C.
    void check_some(long j, Checker *checker) const {
        const auto [w, k, m] = case_.shape;
        const Strided in = part(layout_.in(j)), out = part(layout_.out(j));
        check_product(w, k, m, elements_, in, &out, j, checker);
        const Strided row = {(char *)gpu_slot(Slot::Sums, case_.region), case_.region,
                             case_.region};
        for (size_t i : {size_t{0}, m / 2 + 1, m - 1}) {
            combine(w, elements_ + i * case_.row_bytes(), k, 1, in, row);
            checker->check(row.at, layout_.out(j, i), case_.region, j);
        }
    }

    const Library &library_;
    Object<gfk_product_t> product_;
    char *elements_ = nullptr;
    void *workspace_ = nullptr;
    size_t workspace_bytes_ = 0;
    MatmulCase case_;
    Sustained pass_; // of a long row
};

// ---- inverses --------------------------------------------------------------------------------
// Of one matrix, or of a batch, of which one matrix in 250 has no inverse at w = 8.
struct InvertWork : DeviceWork {
    InvertWork(const Library &library, const MatmulCase &c)
        : library_(library), case_(c), count_((size_t)c.count), matrix_bytes_(c.matrix_bytes()) {}
    gfk_status start() override {
        const gfk_field field = field_of(case_.shape.w);
        const size_t bytes = matrix_bytes_ * count_;
        elements_ = (char *)gpu_slot(Slot::Inputs, bytes);
        inverse_ = (char *)gpu_slot(Slot::Outputs, bytes);
        records_ = (gfk_matrix_record *)gpu_slot(Slot::Kept, count_ * sizeof *records_);
        const gfk_matmul_desc desc = case_.desc();
        if (count_ == 1)
            GFK_CHECK(library_.gfk_matrix_invert_workspace(&field, case_.shape.k, &desc,
                                                           &workspace_bytes_));
        workspace_ = gpu_workspace(library_, workspace_bytes_);
        facts.add("workspace_bytes", workspace_bytes_);
        gfk_status status = GFK_STATUS_SINGULAR;
        for (uint64_t seed = kMatrixSeed; status == GFK_STATUS_SINGULAR; seed++) {
            fill_random(elements_, bytes, seed, 0, gpu().stream);
            launch(0, gpu().stream);
            gfk_matrix_record record;
            status = library_.gfk_matrix_wait(records_, nullptr, gpu().stream, &record);
        }
        return status;
    }
    void launch(long, cudaStream_t stream) const override {
        const gfk_field field = field_of(case_.shape.w);
        const size_t n = case_.shape.k;
        const gfk_matrix a = GFK_MATRIX_DENSE_INIT(elements_, n, n, n);
        const gfk_matmul_desc desc = case_.desc();
        gfk_check(count_ > 1
                      ? library_.gfk_matrix_invert_batch(&field, n, count_, elements_, n * n,
                                                         inverse_, n * n, records_, nullptr,
                                                         nullptr, stream)
                      : library_.gfk_matrix_invert(&field, &a, inverse_, n, records_, nullptr,
                                                   &desc, workspace_, workspace_bytes_, stream),
                  "an inversion");
    }
    std::string check(bool after) override {
        const auto [w, n, m] = case_.shape;
        if (!after) {
            fill_random(inverse_, matrix_bytes_ * count_, kRowSeed, 0, gpu().stream);
            launch(0, gpu().stream);
        }
        std::vector<gfk_matrix_record> records(count_);
        GPU_CHECK(cudaMemcpyAsync(records.data(), records_, count_ * sizeof records[0],
                                  cudaMemcpyDeviceToHost, gpu().stream));
        gpu_synchronize();
        Checker checker;
        size_t regular = 0;
        for (size_t i = 0; i < count_; i++) {
            if (records[i].rank != n)
                continue;
            regular++;
            if (i % ((count_ - 1) / 1024 + 1) != 0)
                continue;
            const size_t at = matrix_bytes_ * i, row = case_.row_bytes();
            check_product(w, n, n, elements_ + at, {inverse_ + at, row, row}, nullptr, (long)i,
                          &checker);
        }
        return regular < count_ - count_ / 50 ? "too many matrices were called singular"
                                              : checker.verdict();
    }
    long sets() const override { return 1; }
    void make_cold() const override {}

  private:
    const Library &library_;
    MatmulCase case_;
    size_t count_, matrix_bytes_;
    char *elements_ = nullptr, *inverse_ = nullptr;
    gfk_matrix_record *records_ = nullptr;
    void *workspace_ = nullptr;
    size_t workspace_bytes_ = 0;
};

// ---- the bound -------------------------------------------------------------------------------
struct BitMmas : DeviceWork {
    explicit BitMmas(const Library &) { sustained_seconds_ = kSustainedSeconds; }
    gfk_status start() override {
        fill_random(gpu_slot(Slot::Inputs, kMmaOperands), kMmaOperands, kMatrixSeed, 0,
                    gpu().stream);
        const double operations = run(kRounds);
        facts.add("bit_multiply_adds", operations);
        return operations > 0 ? GFK_STATUS_SUCCESS : GFK_STATUS_NOT_SUPPORTED;
    }
    void launch(long, cudaStream_t) const override { run(kRounds); }
    long sets() const override { return 1; }
    void make_cold() const override {}
    // All rounds against one.
    std::string check(bool) override {
        const uint32_t once = sum_of(1);
        const bool right = once != 0 && sum_of(kRounds) == kRounds * once &&
                           sum_of(2 * kRounds) == 2 * kRounds * once;
        return right ? "" : "rounds were left out";
    }

    static void finish(Result *r) {
        const double products = r->fields.number("bit_multiply_adds");
        for (const std::string when : {"time_us_median", "sustained_time_us"})
            if (const double us = r->fields.number(when); us > 0)
                r->fields.set(when[0] == 's' ? "sustained_pbits_per_s" : "pbits_per_s",
                              products / us / 1e9);
        r->fields.set("note", std::to_string(r->fields.number("pbits_per_s")) +
                                  "e15 multiply-adds of bits per second");
    }

  private:
    static constexpr unsigned kRounds = 1024;
    static double run(unsigned rounds) {
        return run_bit_mmas(gpu_slot(Slot::Inputs, 0), rounds, device_object<uint32_t>(),
                            gpu().stream);
    }
    static uint32_t sum_of(unsigned rounds) {
        auto *sum = device_object<uint32_t>();
        uint32_t found = 0;
        GPU_CHECK(cudaMemsetAsync(sum, 0, sizeof *sum, gpu().stream));
        run(rounds);
        GPU_CHECK(cudaMemcpyAsync(&found, sum, sizeof found, cudaMemcpyDeviceToHost, gpu().stream));
        gpu_synchronize();
        return found;
    }
};

// Multiply-adds per second, and the tensor cores' share of them.
void add_rates(const MatmulCase &c, Result *r) {
    const Result *mmas = find_result(kMmas);
    Fields &f = r->fields;
    for (const std::string prefix : {"", "sustained_"}) {
        const double us = f.number(prefix.empty() ? "time_us_median" : prefix + "time_us");
        const double pbits = mmas ? mmas->fields.number(prefix + "pbits_per_s") : 0;
        if (us == 0)
            continue;
        f.set(prefix + "tmuladds_per_s", c.multiply_adds() / us / 1e6);
        const double bound_us = pbits > 0 ? c.bit_multiply_adds() / pbits / 1e9 : 0;
        if (bound_us > 0)
            f.add("bound_tmuladds_per_s", when(prefix.empty(), c.multiply_adds() / bound_us / 1e6),
                  (prefix + "percent_of_bound").c_str(), 100 * bound_us / us);
    }
    char text[64];
    std::snprintf(text, sizeof text, "%.1f T, %.1f %% of the MMAs", f.number("tmuladds_per_s"),
                  f.number("percent_of_bound"));
    f.set("note", text);
}

// ---- rows ------------------------------------------------------------------------------------
std::vector<MatmulCase> matmul_cases() {
    std::vector<MatmulCase> cases = {{{8, 4096, 4096}, 2 * kKiB},  {{8, 4096, 4096}, 4 * kKiB},
                                     {{8, 1024, 7168}, 16 * kKiB}, {{8, 1024, 1024}, kMiB},
                                     {{16, 4096, 256}, kMiB},      {{32, 4096, 256}, kMiB}};
    for (unsigned w : {8u, 16u, 32u})
        for (size_t n = 64; n <= 16384; n *= 2) {
            cases.push_back({{w, n, n}, 16 * kKiB});
            if (n <= 256)
                cases.push_back({{w, n, n}, 16 * kKiB, MatmulCase::Product});
            if (n <= 4096)
                cases.push_back({{w, n, n}, n * w / 8, MatmulCase::Invert});
        }
    for (size_t i = 0; i < gfk_compiled_kernel_count("matmul"); i++) {
        const gfk_compiled_kernel_info *kernel = gfk_compiled_kernel_at("matmul", i);
        cases.push_back({{kernel->w, 4096, 4096}, 16 * kKiB, MatmulCase::Kernel, 1, kernel});
    }
    for (size_t i = 0; i < gfk_compiled_kernel_count("invert_batch"); i++) {
        const gfk_compiled_kernel_info *kernel = gfk_compiled_kernel_at("invert_batch", i);
        const size_t n = kernel->inputs.max;
        if (n * kernel->w >= 128) // the check takes rows of 16 bytes or more
            cases.push_back({{kernel->w, n, n},
                             n * kernel->w / 8,
                             MatmulCase::Invert,
                             (int)((1 << 24) / (n * n)),
                             kernel});
    }
    cases.push_back({{16, 32768, 20000}, 64 * kKiB, MatmulCase::Long, 18});
    cases.push_back({{16, 32768, 20000}, 1600000, MatmulCase::Long, 1});
    return cases;
}

Row matmul_row(const MatmulCase &c) {
    const bool is_long = c.kind == MatmulCase::Long;
    Row row(c.name(), shape_facts("matrix", c.operation(), "gpu", c.id(), c.shape));
    row.facts.add("mode", "set", "matrix", "random", "region_bytes", c.region, "long",
                  when(is_long, true), "stripes", when(c.matrices() > 1, c.matrices()));
    if (c.kind == MatmulCase::Invert && c.kernel != nullptr)
        row.facts.add("kernel", c.kernel->id);
    if (named_matmul(c.shape.w) != nullptr && c.kind != MatmulCase::Product && c.count == 1)
        row.facts.add("family", std::strchr(named_matmul(c.shape.w), '/') + 1);
    row.data_bytes = (double)(c.shape.k * c.region) * c.matrices();
    row.moved = product_moved(c.shape, GFK_SET);
    row.needs = kMmas;
    row.passes = is_long ? 1 : c.multiply_adds() > 1e12 ? 3 : 9;
    row.sustained = is_long;
    row.missing = [=] { return too_little_memory(c.layout().memory_needed() + c.matrix_bytes()); };
    row.make = makes<MatmulWork>(c);
    if (c.kind == MatmulCase::Invert)
        row.make = makes<InvertWork>(c);
    row.finish = [=](Result *r) { add_rates(c, r); };
    return row;
}

} // namespace

void add_matrix_rows(const Options &options, Rows *rows) {
    if (!options.is("matmul"))
        return;
    name_matmuls(options);
    Row mmas(kMmas, Fields("kind", "ceiling", "operation", kMmas, "where", "gpu", "id", kMmas));
    mmas.sustained = true;
    mmas.compared = false;
    mmas.make = makes<BitMmas>();
    mmas.finish = BitMmas::finish;
    rows->push_back(mmas);
    for (const MatmulCase &c : matmul_cases())
        rows->push_back(matmul_row(c));
}
