// SPDX-License-Identifier: BSD-3-Clause
// Products on the CPU: this library's engines there, ISA-L and Jerasure; and GF-Complete, whose
// region multiply is the product of a 1 x 1 matrix.
#include <algorithm>
#include <cstring>

#include "baseline_coders.h"
#include "core/host.h"
#include "product.h"
#include "region.h"

namespace {

constexpr size_t kCold = 128 * kMiB;     // from here on caches do not matter
constexpr size_t kReferenceData = kMiB;  // the reference would take minutes for more
constexpr size_t kPerThread = 64 * kMiB; // of GF-Complete: beyond what caches hold
constexpr size_t kProbe = 256 * kKiB, kChecked = 64 * kKiB;
constexpr double kLongestPass = 0.05; // seconds; slow methods of GF-Complete get fewer bytes

std::vector<const coder *> coders() {
    return {
#ifdef HAVE_ISAL
        &isal_coder,
#endif
#ifdef HAVE_JERASURE
        &jerasure_coder,
#endif
    };
}

std::vector<const coder *> gf_complete() {
    std::vector<const coder *> all;
#ifdef HAVE_GF_COMPLETE
    for (size_t i = 0; i < gf_complete_count(); i++)
        all.push_back(gf_complete_at(i));
#endif
    return all;
}

struct CpuCase {
    const gfk_engine_info *engine; // or
    const coder *other;
    Shape shape;
    size_t region;
    unsigned threads;
    std::vector<uint32_t> matrix;
    bool shorten = false; // slow methods

    // Parts of threads and shortened passes are multiples of it.
    size_t unit() const { return shape.k == 1 ? 4096 : 512; }
};

using Regions = std::vector<unsigned char *>;

Regions shifted(Regions regions, size_t by) {
    for (unsigned char *&p : regions)
        p += by;
    return regions;
}

gfk_product_t create(const Library &library, const CpuCase &c, const std::string &engine) {
    const gfk_field field = field_of(c.shape.w);
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    gfk_product_t product = nullptr;
    desc.engine = engine.c_str();
    gfk_check(
        library.gfk_product_create(&product, &field, c.shape.m, c.shape.k, c.matrix.data(), &desc),
        engine.c_str());
    return product;
}

void run_product(const Library &library, gfk_product_t product, const Regions &in,
                 const Regions &out, size_t bytes) {
    const gfk_regions inputs = {(void *const *)in.data(), nullptr, 0};
    const gfk_regions outputs = {(void *const *)out.data(), nullptr, 0};
    gfk_check(
        library.gfk_product_run(product, &inputs, &outputs, bytes, GFK_SET, nullptr, 0, nullptr),
        "gfk_product_run");
}

class CpuWork : public Work {
  public:
    CpuWork(const Library &library, const CpuCase &c) : library_(library), case_(c) {
        const auto [w, k, m] = c.shape;
        used_ = c.region;
        const HostBuffers buffers = host_buffers(std::max(c.region * std::max(k, m), kProbe));
        for (size_t i = 0; i < k; i++)
            in_.push_back(buffers.src + i * c.region);
        for (size_t j = 0; j < m; j++)
            out_.push_back(buffers.dst + j * c.region);
    }
    ~CpuWork() override {
        library_.gfk_product_destroy(product_);
        for (void *object : objects_)
            case_.other->destroy(object);
    }
    gfk_status start() override {
        const Stopwatch watch;
        if (case_.engine != nullptr) {
            product_ = create(library_, case_, case_.engine->id);
            create_us_ = watch.us();
            return GFK_STATUS_SUCCESS;
        }
        const unsigned count = case_.other->threads == OBJECT_PER_THREAD ? case_.threads : 1;
        for (unsigned t = 0; t < count; t++) {
            void *object = case_.other->create(case_.other, (int)case_.shape.k, (int)case_.shape.m,
                                               case_.matrix.data());
            if (object == nullptr)
                return GFK_STATUS_OUT_OF_MEMORY;
            objects_.push_back(object);
        }
        create_us_ = watch.us() / count;
        team_ = std::make_unique<Team>(case_.threads);
        return GFK_STATUS_SUCCESS;
    }
    // The first and the last bytes of every output against the reference engine.
    std::string check(bool after) override {
        if (after)
            return "";
        if (case_.shorten)
            shorten();
        for (unsigned char *out : out_)
            std::memset(out, 0xa5, used_);
        pass(0);
        const Library &mine = linked_library();
        const auto reference = create(mine, case_, "host_w" + std::to_string(case_.shape.w));
        const size_t length = std::min(used_, kChecked);
        std::vector<unsigned char> memory(length * out_.size());
        Regions expected;
        for (size_t j = 0; j < out_.size(); j++)
            expected.push_back(memory.data() + j * length);
        bool same = true;
        for (size_t from : {size_t{0}, used_ - length}) {
            run_product(mine, reference, shifted(in_, from), expected, length);
            for (size_t j = 0; j < out_.size(); j++)
                same = same && std::memcmp(out_[j] + from, expected[j], length) == 0;
        }
        mine.gfk_product_destroy(reference);
        return same ? "" : "differs from the host engine";
    }
    double pass(long) override {
        if (product_ != nullptr) {
            const Stopwatch watch;
            run_product(library_, product_, in_, out_, used_);
            return watch.us();
        }
        const Team::Job job = [this](unsigned t) {
            const auto [from, to] = slice_of(used_, t, case_.threads, case_.unit());
            Regions in = shifted(in_, from), out = shifted(out_, from);
            if (to > from)
                case_.other->encode(objects_[t % objects_.size()], in.data(), out.data(),
                                    to - from);
        };
        return 1e6 * team_->run(&job);
    }
    double data_bytes() const override { return (double)(used_ * case_.shape.k); }
    void describe(Fields *fields) const override {
        fields->set("setup", "create");
        fields->set("setup_us", create_us_);
        if (used_ != case_.region)
            fields->set("note", "slow: " + size_text(used_) + " a pass");
    }

  private:
    void shorten() {
        const Stopwatch watch;
        case_.other->encode(objects_[0], in_.data(), out_.data(), kProbe);
        const auto fitting = (size_t)(kLongestPass / watch.seconds() * kProbe);
        const size_t each = std::max(fitting / case_.unit() * case_.unit(), case_.unit());
        used_ = std::min(case_.region, each * case_.threads);
    }

    const Library &library_;
    CpuCase case_;
    size_t used_; // bytes of each region
    Regions in_, out_;
    gfk_product_t product_ = nullptr;
    std::vector<void *> objects_;
    std::unique_ptr<Team> team_;
    double create_us_ = 0;
};

Row cpu_row(const CpuCase &c, const std::string &name, const std::string &id, size_t nominal) {
    Row row;
    row.name = name;
    row.facts = Fields("kind", c.engine ? "product" : "baseline", "operation",
                       c.engine ? "product" : "encode", "where", "cpu", "id", id, "w", c.shape.w,
                       "mode", "set", "threads", c.threads, "nominal_bytes", nominal);
    if (c.engine != nullptr) {
        row.facts.set("way", "engine");
        row.facts.add(engine_facts(c.engine->id));
    } else {
        row.facts.set("implementation", c.other->library);
    }
    row.data_bytes = (double)(c.region * c.shape.k);
    row.moved = product_moved(c.shape, GFK_SET);
    row.compared = c.engine != nullptr;
    row.make = [=](const Library &library) { return std::make_unique<CpuWork>(library, c); };
    return row;
}

// sweep: buffers of 1 MiB, all cores. A decoder is an encoder with another matrix, so these rows
// stand for both.
void add_product(Rows *rows, const gfk_engine_info *engine, const coder *other, const Shape &shape,
                 size_t data, unsigned threads, uint64_t seed, bool sweep = false) {
    const CpuCase c = {engine,  other,
                       shape,   data / shape.k / 512 * 512,
                       threads, matrix_of(shape, MatrixKind::Random, seed)};
    const bool cold = c.region * shape.k >= kCold;
    const std::string id = engine ? engine->id : other->library;
    Row row = cpu_row(c,
                      id + "/" + shape_text(shape) + "/" + size_text(data) + "/set/" +
                          (cold ? "cold" : "hot") + "/threads=" + std::to_string(threads) +
                          (sweep ? "/sweep" : ""),
                      id, data);
    row.facts.add("k", shape.k, "m", shape.m, "cold", cold, "matrix", "random", "region_bytes",
                  c.region);
    row.facts.set_true("sweep", sweep);
    row.passes = 5;
    rows->push_back(row);
}

// data: over all threads; 0: kPerThread each, or less for slow methods. constant: 0 for a random
// one.
void add_region(Rows *rows, const coder *other, unsigned threads, size_t data, uint32_t constant,
                uint64_t seed) {
    CpuCase c = {nullptr, other, {other->w, 1, 1}, data ? data : kPerThread * threads, threads, {}};
    c.matrix = {constant ? constant : random_constants(other->w, 1, seed)[0]};
    c.shorten = data == 0;
    const std::string id = "gf_complete_w" + std::to_string(other->w) + "_" + other->variant;
    Row row = cpu_row(c,
                      id + "/" + size_text(c.region) + "/threads=" + std::to_string(threads) +
                          (constant ? "/c=" + std::to_string(constant) : ""),
                      id, c.region);
    row.facts.add("operation", "multiply", "method", other->method, "variant", other->variant,
                  "cold", true, "constants", constant ? "fixed" : "rotating", "constant_count", 1);
    if (constant)
        row.facts.set("constant", constant);
    row.passes = 7;
    row.missing = [=] {
        void *object = other->create(other, 1, 1, c.matrix.data());
        if (object != nullptr)
            other->destroy(object);
        return std::string(object ? "" : "GF-Complete does not offer it");
    };
    rows->push_back(row);
}

} // namespace

void add_product_cpu_rows(const Options &options, Rows *rows) {
    const unsigned cores = cpu_cores();
    if (options.is("rs-sweep"))
        for (const Shape &shape : rs_sweep_shapes())
            for (const coder *c : coders())
                add_product(rows, nullptr, c, shape, shape.k * kMiB,
                            c->threads == ONE_THREAD ? 1 : cores, options.seed, true);
    if (!options.is("product"))
        return;
    const size_t data = options.size_or(kGiB);
    for (const Shape &shape : cpu_shapes()) {
        for (size_t i = 0; i < gfk_engine_count(); i++) {
            const gfk_engine_info *engine = gfk_engine_at(i);
            const bool reference = engine->family == GFK_ENGINE_HOST;
            if (engine->w == shape.w && (reference || engine->family == GFK_ENGINE_ISAL) &&
                gfk_engine_available(engine, -1, nullptr) == GFK_STATUS_SUCCESS)
                add_product(rows, engine, nullptr, shape,
                            reference ? std::min(data, kReferenceData) : data,
                            reference ? 1 : cores, options.seed);
        }
        for (const coder *c : coders()) {
            add_product(rows, nullptr, c, shape, data, 1, options.seed);
            if (c->threads != ONE_THREAD && cores > 1)
                add_product(rows, nullptr, c, shape, data, cores, options.seed);
        }
    }
}

void add_gf_complete_rows(const Options &options, Rows *rows) {
    const bool s2 = options.is("s2");
    if ((!options.is("default") && !s2) || options.shard != 1 || !options.sizes.empty())
        return;
    std::vector<unsigned> thread_counts = {1};
    if (cpu_cores() > 1)
        thread_counts.push_back(cpu_cores());
    for (const coder *c : gf_complete())
        for (unsigned threads : thread_counts) {
            if (s2)
                add_region(rows, c, threads, kS2Bytes, kS2Constant, options.seed);
            add_region(rows, c, threads, s2 ? kS2Bytes : 0, 0, options.seed);
        }
}

void describe_baselines(Fields *context) {
    if (!gf_complete().empty())
        context->set("gf_complete_simd", gf_complete()[0]->simd());
    context->set("isa_l", "not found");
    context->set("jerasure", "not found");
    for (const coder *c : coders()) {
        const std::string key = std::strcmp(c->library, "isa-l") == 0 ? "isa_l" : c->library;
        context->set(key, c->version());
        context->set(key + "_simd", c->simd());
    }
}
