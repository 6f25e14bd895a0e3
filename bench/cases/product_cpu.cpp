// SPDX-License-Identifier: BSD-3-Clause
// Products on the CPU: this library's engines; ISA-L, Jerasure and GF-Complete, whose region multiply is
// the product of a 1 x 1 matrix.
#include <algorithm>
#include <cstring>

#include "cpu.h"

namespace {

constexpr size_t kCold = 128 * kMiB;     // from here on caches do not matter
constexpr size_t kPerThread = 64 * kMiB; // of GF-Complete: beyond what caches hold
constexpr size_t kProbe = 256 * kKiB;
constexpr double kLongestPass = 0.05; // seconds; slow methods and engines get fewer bytes

struct CpuCase {
    const gfk_engine_info *engine; // or
    const coder *other;
    Shape shape;
    size_t region;
    unsigned threads;
    std::vector<uint32_t> matrix;
    double longest_pass = 0; // seconds, for what may be slow; 0: all bytes

    // Parts of threads and shortened passes are multiples of it.
    size_t unit() const { return shape.k == 1 ? 4096 : 512; }
};

struct CpuProduct : Work {
    CpuProduct(const Library &library, const CpuCase &c)
        : library_(library), case_(c), used_(c.region) {
        const auto [w, k, m] = c.shape;
        const HostBuffers buffers = host_buffers(std::max(c.region * std::max(k, m), kProbe));
        in_ = regions_at(buffers.src, k, c.region);
        out_ = regions_at(buffers.dst, m, c.region);
    }
    gfk_status start() override {
        if (case_.engine != nullptr)
            product_ = product_of(library_, case_.engine->id, case_.shape, case_.matrix);
        else
            team_ =
                std::make_unique<CoderTeam>(case_.other, case_.shape, case_.matrix, case_.threads);
        facts.add("setup_us", team_ ? team_->create_us() : product_.create_us);
        return team_ && !team_->made() ? GFK_STATUS_OUT_OF_MEMORY : GFK_STATUS_SUCCESS;
    }
    std::string check(bool after) override {
        if (after)
            return "";
        if (case_.longest_pass != 0)
            shorten();
        for (unsigned char *out : out_)
            std::memset(out, 0xa5, used_);
        pass(0);
        Ends ends(used_);
        ends.compute(case_.shape, case_.matrix, in_);
        return ends.match(out_) ? "" : "differs from the host engine";
    }
    void warm_up() override {} // check() has made a pass
    double pass(long) override {
        if (team_)
            return team_->encode(in_, out_, used_, case_.unit());
        const gfk_regions in = list_of(in_), out = list_of(out_);
        const Stopwatch watch;
        GFK_CHECK(library_.gfk_product_run(product_, &in, &out, used_, GFK_SET, nullptr));
        return watch.us();
    }
    double data_bytes() const override { return (double)(used_ * case_.shape.k); }

  private:
    void shorten() {
        used_ = std::min(case_.region, kProbe * case_.threads);
        // The first pass may fault pages, and a short one measures how long threads take to wake.
        const auto measure = [this] { return std::min(pass(0), pass(1)); };
        double us = measure();
        while (used_ < case_.region && us < 1e6 * case_.longest_pass / 4) {
            used_ = std::min(case_.region, 4 * used_);
            us = measure();
        }
        const auto fitting = (size_t)(1e6 * case_.longest_pass / us * (double)used_);
        const size_t unit = case_.unit() * case_.threads;
        used_ = std::min(case_.region, std::max(fitting / unit, size_t{1}) * unit);
        facts.set("note", when(used_ != case_.region, "slow: " + size_text(used_) + " a pass"));
    }

    const Library &library_;
    CpuCase case_;
    size_t used_; // bytes of each region
    Regions in_, out_;
    Object<gfk_product_t> product_;
    std::unique_ptr<CoderTeam> team_;
};

Row cpu_row(const CpuCase &c, const std::string &id, const std::string &rest, size_t nominal) {
    Row row(id + "/" + rest,
            Fields("kind", c.engine ? "product" : "baseline", "operation",
                   c.engine ? "product" : "encode", "where", "cpu", "id", id, "w", c.shape.w,
                   "mode", "set", "threads", c.threads, "nominal_bytes", nominal));
    if (c.engine != nullptr) {
        row.facts.set("way", "engine");
        row.facts.add(engine_facts(c.engine->id));
    } else {
        row.facts.set("implementation", c.other->library->name);
    }
    row.data_bytes = (double)(c.region * c.shape.k);
    row.moved = product_moved(c.shape, GFK_SET);
    row.compared = c.engine != nullptr;
    row.make = makes<CpuProduct>(c);
    return row;
}

} // namespace

void add_cpu_product(Rows *rows, const gfk_engine_info *engine, const coder *other,
                     const Shape &shape, size_t data, unsigned threads, uint64_t seed, bool sweep) {
    CpuCase c = {
        engine, other, shape, data / shape.k / 512 * 512, threads, matrix_of(shape, false, seed)};
    const bool cold = c.region * shape.k >= kCold;
    c.longest_pass = sweep ? kLongestPass : 0;
    std::string id = engine ? engine->id : other->library->name;
    if (other != nullptr && other->library->version == nullptr) // GF-Complete has all widths
        id += "_w" + std::to_string(shape.w);
    Row row =
        cpu_row(c, id,
                shape_text(shape) + "/" + size_text(data) + "/set/" + (cold ? "cold" : "hot") +
                    "/threads=" + std::to_string(threads) + (sweep ? "/sweep" : ""),
                data);
    row.facts.add("k", shape.k, "m", shape.m, "cold", cold, "matrix", "random", "region_bytes",
                  c.region, "sweep", when(sweep, true));
    row.passes = sweep || (other != nullptr && threads == 1) ? 3 : 5; // seconds a pass on one core
    rows->push_back(row);
}

// Slow methods take less than data.
static void add_gf_complete(Rows *rows, const coder *other, unsigned threads, size_t data,
                            uint32_t constant, uint64_t seed) {
    CpuCase c = {nullptr, other, {other->w, 1, 1}, data ? data : kPerThread * threads, threads, {}};
    c.matrix = {constant ? constant : random_constants(other->w, 1, seed)[0]};
    c.longest_pass = kLongestPass;
    Row row = cpu_row(c, "gf_complete_w" + std::to_string(other->w) + "_" + other->variant,
                      size_text(c.region) + "/threads=" + std::to_string(threads) +
                          (constant ? "/c=" + std::to_string(constant) : ""),
                      c.region);
    row.facts.add("operation", "multiply", "method", other->method, "variant", other->variant,
                  "cold", true, "constants", constant ? "fixed" : "rotating", "constant",
                  when(constant != 0, constant));
    row.passes = data ? 3 : 5;
    row.missing = [=] {
        void *object = other->library->create(other, 1, 1, c.matrix.data());
        if (object != nullptr)
            other->library->destroy(object);
        return std::string(object ? "" : "GF-Complete does not offer it");
    };
    rows->push_back(row);
}

void coder_sweep_rows(const std::vector<Shape> &shapes, const Options &options, Rows *rows) {
    for (const Shape &shape : shapes)
        for_coders(false, [&](const coder *c) {
            if (c->w == shape.w && c->library->version != nullptr) // not GF-Complete
                add_cpu_product(rows, nullptr, c, shape, options.size_or(shape.k * kMiB),
                                c->library->threads == ONE_THREAD ? 1 : cpu_cores(), options.seed,
                                true);
        });
}

void add_product_cpu_rows(const Options &options, Rows *rows) {
    coder_sweep_rows(rs_sweep_shapes(options), options, rows);
    if (!options.is("product:large"))
        return;
    const unsigned cores = cpu_cores();
    const size_t data = options.size_or(options.quick() ? 256 * kMiB : kGiB);
    for (const Shape &shape : few_shapes()) {
        for (size_t i = 0; i < gfk_engine_count(); i++) {
            const gfk_engine_info *engine = gfk_engine_at(i);
            if (engine->w == shape.w && gfk_engine_family_on_cpu(engine->family) &&
                gfk_engine_available(engine, GFK_CPU, nullptr) == GFK_STATUS_SUCCESS)
                add_cpu_product(rows, engine, nullptr, shape, data, cores, options.seed);
        }
        for_coders(false, [&](const coder *c) {
            if (c->w != shape.w)
                return;
            add_cpu_product(rows, nullptr, c, shape, data, 1, options.seed);
            if (c->library->threads != ONE_THREAD && cores > 1)
                add_cpu_product(rows, nullptr, c, shape, data, cores, options.seed);
        });
    }
}

void gf_complete_rows(size_t data, uint32_t constant, const Options &options, Rows *rows) {
    std::vector<unsigned> thread_counts = {1};
    if (cpu_cores() > 1)
        thread_counts.push_back(cpu_cores());
    for_coders(true, [&](const coder *c) {
        for (unsigned threads : thread_counts)
            add_gf_complete(rows, c, threads, data, constant, options.seed);
    });
}

void add_gf_complete_rows(const Options &options, Rows *rows) {
    if (options.is("region:sizes") && options.sizes.empty())
        gf_complete_rows(0, 0, options, rows);
}
