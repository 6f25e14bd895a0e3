// SPDX-License-Identifier: BSD-3-Clause
// Rows on the CPU: this library's region multiplies, engines and codes; and ISA-L, Jerasure and
// GF-Complete, whose region multiply is the product of a 1 x 1 matrix.
#include "cpu.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <tuple>

namespace {

constexpr size_t kCold = 128 * kMiB;     // from here on caches do not matter
constexpr size_t kPerThread = 64 * kMiB; // of GF-Complete: beyond what caches hold
constexpr size_t kProbe = 256 * kKiB, kChecked = 64 * kKiB;
constexpr size_t kConstants = 8;
constexpr double kLongestRegionPass = 0.2; // seconds; sizes stop growing there
constexpr double kLongestPass = 0.05;      // slow methods and engines get fewer bytes

// ---- region multiplies of this library, one thread -------------------------------------------
// c * src by the host reference of the width; made once and kept.
const unsigned char *reference_product(unsigned w, uint32_t c, size_t bytes) {
    static std::map<std::tuple<unsigned, uint32_t, size_t>, std::vector<unsigned char>> known;
    std::vector<unsigned char> &expected = known[{w, c, bytes}];
    if (expected.empty()) {
        const Multiplier &m = multiplier_of(linked_library(), reference_of(w));
        std::vector<unsigned char> workspace(m.workspace_bytes + 16);
        unsigned char *aligned = workspace.data() + 15 - ((uintptr_t)workspace.data() + 15) % 16;
        expected.resize(bytes);
        gfk_check(gfk_region_multiply(m.handle, c, host_buffers(bytes).src, expected.data(), bytes,
                                      GFK_SET, aligned, m.workspace_bytes, nullptr),
                  "the host reference");
    }
    return expected.data();
}

// A host row with a prepared workspace per constant.
struct CpuRegion : Work {
    CpuRegion(const Library &library, const RegionCase &c, uint64_t seed)
        : library_(library), case_(c), multiplier_(multiplier_of(library, c.kernel)),
          constants_(random_constants(c.kernel->w, kConstants, seed)),
          stride_((multiplier_.workspace_bytes + 15) / 16 * 16), buffers_(host_buffers(c.bytes)),
          memory_(stride_ * kConstants + 16) {}
    gfk_status start() override {
        gfk_status status = multiplier_.status;
        const Stopwatch watch;
        for (size_t k = 0; k < kConstants && status == GFK_STATUS_SUCCESS; k++)
            status = library_.gfk_region_prepare(multiplier_.handle, constants_[k], workspace(k),
                                                 stride_, nullptr);
        const double us = watch.us() / kConstants;
        facts = multiplier_facts(multiplier_, case_.kernel, [us] { return us; });
        facts.add("threads", 1);
        return status;
    }
    std::string check(bool after) override {
        if (after)
            return "";
        std::memset(buffers_.dst, 0xa5, case_.bytes);
        pass(0);
        const auto *expected = reference_product(case_.kernel->w, constants_[0], case_.bytes);
        return std::memcmp(buffers_.dst, expected, case_.bytes) == 0
                   ? ""
                   : "differs from the host reference";
    }
    double pass(long number) override {
        const size_t k = (size_t)number % kConstants;
        const Stopwatch watch;
        gfk_check(library_.gfk_region_multiply_prepared(multiplier_.handle, constants_[k],
                                                        buffers_.src, buffers_.dst, case_.bytes,
                                                        GFK_SET, workspace(k), stride_, nullptr),
                  case_.kernel->id);
        return watch.us();
    }
    unsigned char *workspace(size_t k) {
        unsigned char *p = memory_.data();
        return p + (16 - (uintptr_t)p % 16) % 16 + k * stride_;
    }

    const Library &library_;
    RegionCase case_;
    const Multiplier &multiplier_;
    std::vector<uint32_t> constants_;
    size_t stride_;
    HostBuffers buffers_;
    std::vector<unsigned char> memory_;
};

// ---- products --------------------------------------------------------------------------------
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
    ~CpuProduct() override {
        for (void *object : objects_)
            case_.other->library->destroy(object);
    }
    gfk_status start() override {
        const auto [w, k, m] = case_.shape;
        if (case_.engine != nullptr) {
            product_ = product_of(library_, case_.engine->id, case_.shape, case_.matrix);
            facts.add("setup_us", product_.create_us);
            return GFK_STATUS_SUCCESS;
        }
        const unsigned count =
            case_.other->library->threads == OBJECT_PER_THREAD ? case_.threads : 1;
        const Stopwatch watch;
        for (unsigned t = 0; t < count; t++) {
            objects_.push_back(
                case_.other->library->create(case_.other, (int)k, (int)m, case_.matrix.data()));
            if (objects_.back() == nullptr) {
                objects_.pop_back();
                return GFK_STATUS_OUT_OF_MEMORY;
            }
        }
        facts.add("setup_us", watch.us() / count);
        team_ = std::make_unique<Team>(case_.threads);
        return GFK_STATUS_SUCCESS;
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
        if (case_.engine != nullptr) {
            const gfk_regions in = list_of(in_), out = list_of(out_);
            const Stopwatch watch;
            GFK_CHECK(library_.gfk_product_run(product_, &in, &out, used_, GFK_SET, nullptr));
            return watch.us();
        }
        return 1e6 * team_->run(used_, case_.unit(), [this](unsigned t, size_t from, size_t to) {
            Regions in = shifted(in_, from), out = shifted(out_, from);
            case_.other->library->encode(objects_[t % objects_.size()], in.data(), out.data(),
                                         to - from);
        });
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
    std::vector<void *> objects_;
    std::unique_ptr<Team> team_;
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

// ---- what making a code and a decode matrix takes on one core --------------------------------
struct CodeCreate : Work {
    CodeCreate(const Library &library, const Shape &shape, bool decoder)
        : library_(library), shape_(shape), decoder_(decoder) {
        for (size_t i = 0; i < shape.m; i++)
            lost_.push_back(i * shape.k / shape.m);
    }
    gfk_status start() override {
        code_ = create();
        return GFK_STATUS_SUCCESS;
    }
    double pass(long) override {
        const Stopwatch watch;
        if (!decoder_) {
            const auto made = create();
            return watch.us();
        }
        Object<gfk_rs_decoder_t> made;
        GFK_CHECK(made.make(library_.gfk_rs_decoder_create, library_.gfk_rs_decoder_destroy, code_,
                            lost_.data(), lost_.size(), nullptr, 0, nullptr));
        return watch.us();
    }
    Object<gfk_rs_t> create() const {
        const gfk_field field = field_of(shape_.w);
        gfk_rs_desc desc = GFK_RS_DESC_INIT;
        Object<gfk_rs_t> code;
        desc.product.family = GFK_ENGINE_HOST; // makes no tables: what is left is the code itself
        GFK_CHECK(code.make(library_.gfk_rs_create, library_.gfk_rs_destroy, &field, shape_.k,
                            shape_.m, &desc));
        return code;
    }

    const Library &library_;
    Shape shape_;
    bool decoder_;
    std::vector<size_t> lost_;
    Object<gfk_rs_t> code_;
};

// ---- verifying and locating, with damage at every position -----------------------------------
struct CpuDamage {
    const char *operation, *damage; // "": none
    size_t errors;                  // symbols at a position
    bool anywhere;                  // other regions at each position
};

// Regions of data and parity one behind the other.
struct CpuLocate : Work {
    CpuLocate(const Library &library, const Shape &shape, size_t region, const CpuDamage &damage)
        : library_(library), shape_(shape), damage_(damage), bytes_(region) {}
    gfk_status start() override {
        const auto [w, k, m] = shape_;
        const size_t n = k + m, size = w / 8;
        const gfk_field field = field_of(w);
        gfk_rs_desc desc = GFK_RS_DESC_INIT;
        desc.product.device = GFK_CPU;
        GFK_CHECK(code_.make(library_.gfk_rs_create, library_.gfk_rs_destroy, &field, k, m, &desc));
        gfk_rs_info info;
        GFK_CHECK(library_.gfk_rs_get_info(code_, &info));
        facts.add("engine", info.product.engine->id, "setup_us", code_.create_us);
        const HostBuffers buffers = host_buffers(bytes_ * n);
        memory_ = buffers.dst;
        std::memcpy(memory_, buffers.src, bytes_ * k);
        GFK_CHECK(library_.gfk_rs_encode(code_, &data(), &parity(), bytes_, nullptr));
        std::mt19937_64 random(7);
        for (size_t at = 0; at < bytes_; at += size) {
            const size_t first = damage_.anywhere ? random() % n : k - (damage_.errors + 1) / 2;
            for (size_t e = 0; e < damage_.errors; e++) {
                const uint64_t value = random() | 1;
                for (size_t b = 0; b < size; b++)
                    memory_[(first + e) % n * bytes_ + at + b] ^= (unsigned char)(value >> (8 * b));
            }
        }
        size_t needed = 0;
        GFK_CHECK(library_.gfk_rs_locate_workspace(code_, bytes_, &needed));
        workspace_.resize(needed + 256);
        counts_.resize(n);
        return GFK_STATUS_SUCCESS;
    }
    std::string check(bool) override {
        pass(0);
        const size_t positions = damage_.errors ? bytes_ / (shape_.w / 8) : 0;
        if (!locates())
            return differs_ == 0 ? "" : "right parity was called wrong";
        return located_everywhere(verdict_, counts_, positions, damage_.errors)
                   ? ""
                   : "the damage was not located";
    }
    double pass(long) override {
        unsigned char *workspace =
            workspace_.data() + 255 - ((uintptr_t)workspace_.data() + 255) % 256;
        const Stopwatch watch;
        if (locates())
            GFK_CHECK(library_.gfk_rs_locate(code_, &data(), &parity(), bytes_, GFK_RS_REPORT,
                                             &verdict_, counts_.data(), workspace,
                                             workspace_.size() - 255, nullptr));
        else
            GFK_CHECK(
                library_.gfk_rs_verify(code_, &data(), &parity(), bytes_, &differs_, nullptr));
        return watch.us();
    }

  private:
    bool locates() const { return std::strcmp(damage_.operation, "locate") == 0; }
    const gfk_regions &data() { return data_ = {nullptr, memory_, bytes_}; }
    const gfk_regions &parity() { return parity_ = {nullptr, memory_ + shape_.k * bytes_, bytes_}; }

    const Library &library_;
    Shape shape_;
    CpuDamage damage_;
    size_t bytes_;
    unsigned char *memory_ = nullptr;
    gfk_regions data_ = {}, parity_ = {};
    Object<gfk_rs_t> code_;
    std::vector<unsigned char> workspace_;
    std::vector<uint64_t> counts_;
    gfk_rs_verdict verdict_ = {};
    uint32_t differs_ = 0;
};

} // namespace

// ---- shared with calls on host memory --------------------------------------------------------
const coder *coder_of(const std::string &library) {
    const coder *c = coders;
    while (c->library != nullptr && library != c->library->name)
        c++;
    return c->library ? c : nullptr;
}

gfk_regions list_of(const Regions &regions) {
    return {(void *const *)regions.data(), nullptr, 0};
}

Object<gfk_product_t> product_of(const Library &library, const std::string &engine,
                                 const Shape &shape, const std::vector<uint32_t> &matrix) {
    const gfk_field field = field_of(shape.w);
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    Object<gfk_product_t> product;
    desc.engine = engine.c_str();
    gfk_check(product.make(library.gfk_product_create, library.gfk_product_destroy, &field, shape.m,
                           shape.k, matrix.data(), &desc),
              engine.c_str());
    return product;
}

std::vector<unsigned char> packed(const std::vector<uint32_t> &matrix, unsigned w) {
    std::vector<unsigned char> elements;
    for (uint32_t element : matrix)
        for (unsigned bit = 0; bit < w; bit += 8)
            elements.push_back((unsigned char)(element >> bit));
    return elements;
}

Ends::Ends(size_t bytes) : bytes_(bytes), length_(std::min(bytes, kChecked)) {}

void Ends::take(const Regions &regions) {
    for (size_t from : {size_t{0}, bytes_ - length_})
        for (const unsigned char *region : regions)
            expected_.emplace_back(region + from, region + from + length_);
}

void Ends::compute(const Shape &shape, const std::vector<uint32_t> &matrix, const Regions &in) {
    const auto product =
        product_of(linked_library(), "host_w" + std::to_string(shape.w), shape, matrix);
    for (size_t from : {size_t{0}, bytes_ - length_}) {
        const Regions part = shifted(in, from);
        Regions out;
        for (size_t j = 0; j < shape.m; j++) {
            expected_.emplace_back(length_);
            out.push_back(expected_.back().data());
        }
        const gfk_regions inputs = list_of(part), outputs = list_of(out);
        GFK_CHECK(gfk_product_run(product, &inputs, &outputs, length_, GFK_SET, nullptr));
    }
}

bool Ends::match(const Regions &out) const {
    const size_t n = out.size();
    for (size_t i = 0; i < expected_.size(); i++)
        if (std::memcmp(out[i % n] + (i < n ? 0 : bytes_ - length_), expected_[i].data(),
                        length_) != 0)
            return false;
    return true;
}

// ---- rows ------------------------------------------------------------------------------------
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

void region_cpu_rows(const std::vector<size_t> &sizes, const Options &options, Rows *rows) {
    std::map<std::string, double> us_per_byte;
    for (size_t bytes : options.sizes.empty() ? sizes : options.sizes)
        for (const gfk_kernel_info *k :
             kernels([](const gfk_kernel_info *k) { return !on_device(k) && !is_giant(k); })) {
            double &rate = us_per_byte[k->id];
            if (rate == 0 && !options.list && !options.quick()) {
                const RegionCase probe = {k, 64 * kKiB, GFK_SET, false};
                CpuRegion work(linked_library(), probe, options.seed);
                gfk_check(work.start(), k->id);
                work.pass(0);
                rate = work.pass(0) / (double)probe.bytes;
            }
            if (rate * (double)bytes > 1e6 * kLongestRegionPass)
                continue;
            const RegionCase c = {k, bytes, GFK_SET, false};
            Row row = region_row(c);
            row.passes = 0;
            row.make = makes<CpuRegion>(c, options.seed);
            rows->push_back(row);
        }
}

void add_region_cpu_rows(const Options &options, Rows *rows) {
    if (!options.is("region:sizes"))
        return;
    region_cpu_rows(options.quick() ? std::vector<size_t>{kMiB} : default_sizes(), options, rows);
    // The library's fastest way to multiply on all cores: a product of one by one.
    for (unsigned w :
         options.quick() ? std::vector<unsigned>{8, 16, 32} : std::vector<unsigned>()) {
        const gfk_field field = field_of(w);
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        gfk_product_info info;
        desc.device = GFK_CPU;
        gfk_check(gfk_product_query(&field, 1, 1, &desc, &info), "gfk_product_query");
        add_cpu_product(rows, info.engine, nullptr, {w, 1, 1}, options.size_or(64 * kMiB),
                        cpu_cores(), options.seed);
    }
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

void add_rs_create_rows(const Options &options, Rows *rows) {
    if (!options.is("rs:codes") || options.quick())
        return;
    for (const Shape &shape : {Shape{8, 10, 4}, Shape{8, 128, 128}, Shape{16, 10, 4},
                               Shape{16, 128, 128}, Shape{32, 10, 4}})
        for (const bool decoder : {false, true}) {
            const std::string what = decoder ? "rs_decoder_create" : "rs_create";
            Row row(what + "_w" + std::to_string(shape.w) + "/" + shape_text(shape),
                    shape_facts("create", what, "cpu", what, shape));
            row.facts.set("threads", 1);
            row.passes = 21;
            row.make = makes<CodeCreate>(shape, decoder);
            rows->push_back(row);
        }
    for (const Shape &shape : {Shape{8, 10, 4}, Shape{16, 10, 4}, Shape{32, 10, 4},
                               Shape{8, 100, 24}, Shape{16, 100, 24}, Shape{32, 100, 24}}) {
        const size_t t = shape.m / 2, region = 64 * kMiB / shape.k / 512 * 512;
        std::string verify;
        for (const CpuDamage &damage :
             {CpuDamage{"verify", "", 0, false}, CpuDamage{"locate", "", 0, false},
              CpuDamage{"locate", "1 region", 1, false}, CpuDamage{"locate", "t regions", t, false},
              CpuDamage{"locate", "1 symbol anywhere", 1, true},
              CpuDamage{"locate", "t symbols anywhere", t, true}}) {
            const std::string operation = damage.operation, text = damage.damage;
            const std::string id = "rs_" + operation + "_w" + std::to_string(shape.w);
            Row row(id + "/" + shape_text(shape) + "/" + size_text(region) + "/cpu" +
                        (text.empty() ? "" : "/" + text),
                    shape_facts("rs", operation, "cpu", id, shape));
            row.facts.add("threads", cpu_cores(), "mode", "set", "region_bytes", region, "stripes",
                          1, "damage", given(text));
            if (verify.empty())
                verify = row.name;
            row.data_bytes = (double)(region * shape.k);
            row.moved = (double)(shape.k + shape.m) / (double)shape.k;
            row.passes = 3;
            row.make = makes<CpuLocate>(shape, region, damage);
            row.finish = percent_of(verify);
            rows->push_back(row);
        }
    }
}

Fields baseline_facts() {
    const coder *gf = coder_of("gf-complete");
    Fields f;
    f.add("gf_complete_simd", given(gf ? gf->library->simd() : ""), "isa_l", "not found",
          "jerasure", "not found");
    for_coders(false, [&](const coder *c) {
        if (c->library->version == nullptr)
            return;
        const std::string key = c == coder_of("isa-l") ? "isa_l" : c->library->name;
        f.set(key, c->library->version());
        f.set(key + "_simd", c->library->simd());
    });
    return f;
}
