// SPDX-License-Identifier: BSD-3-Clause
// What stands before the first byte: creating a product and its first run, compiling a matrix, and
// finding a compiled one in the cache folder.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/device.h"
#include "core/host.h"
#include "product.h"

namespace {

constexpr int kTimes = 5; // each with a matrix of its own
constexpr size_t kRegion = kMiB;
constexpr int kOthers = 80; // kernels; the engine keeps fewer in memory

// A folder for each library, removed with the process.
const std::string &cache_folder(const Library &library) {
    struct Folder {
        std::string path = (std::filesystem::temp_directory_path() / "gfk_bench.XXXXXX").string();
        Folder() {
            if (mkdtemp(path.data()) == nullptr)
                path.clear(); // rows say "not in the cache" then
        }
        ~Folder() {
            std::error_code ignored;
            if (!path.empty())
                std::filesystem::remove_all(path, ignored);
        }
    };
    static const Folder folders[2];
    return folders[library.number].path;
}

struct Created {
    gfk_status status = GFK_STATUS_SUCCESS;
    double us = 0;
    bool from_cache = false;
    gfk_product_t product = nullptr;
};

Created create(const Library &library, const Shape &shape, const std::string &engine,
               const std::vector<uint32_t> &matrix) {
    const gfk_field field = field_of(shape.w);
    const std::string &folder = cache_folder(library);
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    gfk_product_info info = {};
    Created c;
    desc.engine = engine.c_str();
    desc.compile = true;
    desc.cache_folder = folder.empty() ? nullptr : folder.c_str();
    const Stopwatch watch;
    c.status =
        library.gfk_product_create(&c.product, &field, shape.m, shape.k, matrix.data(), &desc);
    c.us = watch.us();
    if (c.status == GFK_STATUS_SUCCESS)
        gfk_check(library.gfk_product_get_info(c.product, &info), "gfk_product_get_info");
    c.from_cache = info.from_cache;
    return c;
}

// Compiles others until what was compiled before is no longer in memory: once before default
// matrices, which other rows may have compiled, and once before looking into the folder.
void forget_compiled(const Library &library, bool for_folder) {
    static bool done[2][2];
    bool &mine = done[library.number][for_folder];
    const uint32_t first = 2 + (for_folder ? kOthers : 0);
    for (uint32_t c = first; !mine && c < first + kOthers; c++) {
        const Created other = create(library, {8, 1, 1}, "xor_w8", {c});
        gfk_check(other.status, "xor_w8");
        library.gfk_product_destroy(other.product);
    }
    mine = true;
}

enum class What { Specialise, CacheHit, FirstCall };

// Specialise: creates that compile. CacheHit: creates that find what those left in the folder.
// FirstCall: a create and a run on 1 MiB regions, until the outputs are there; the engine's own
// code is loaded by the first of the calls, which does not count.
class CreateWork : public Work {
  public:
    CreateWork(const Library &library, What what, const std::string &engine, const Shape &shape,
               MatrixKind kind, uint64_t seed)
        : library_(library), what_(what), engine_(engine), shape_(shape), kind_(kind), seed_(seed) {
    }
    gfk_status start() override {
        if (what_ == What::CacheHit || kind_ == MatrixKind::Cauchy)
            forget_compiled(library_, what_ == What::CacheHit);
        if (what_ == What::FirstCall) {
            gpu_slot(Slot::Inputs, kStride * shape_.k);
            gpu_slot(Slot::Outputs, kStride * shape_.m);
        }
        return GFK_STATUS_SUCCESS;
    }
    std::string check(bool) override { return ""; }
    void warm_up() override {
        if (what_ == What::FirstCall)
            pass(-1);
        creates_.clear();
    }
    double pass(long number) override {
        const auto matrix = matrix_of(shape_, kind_, seed_ + 1 + (uint64_t)number);
        const Stopwatch watch;
        const Created c = create(library_, shape_, engine_, matrix);
        gfk_check(c.status, engine_.c_str());
        if (what_ == What::FirstCall) {
            const gfk_regions in = {nullptr, gpu_slot(Slot::Inputs, 0), kStride};
            const gfk_regions out = {nullptr, gpu_slot(Slot::Outputs, 0), kStride};
            gfk_check(library_.gfk_product_run(c.product, &in, &out, kRegion, GFK_SET, nullptr, 0,
                                               gpu().stream),
                      engine_.c_str());
            gpu_synchronize();
        }
        const double us = what_ == What::FirstCall ? watch.us() : c.us;
        creates_.push_back(c.us);
        found_ += c.from_cache;
        library_.gfk_product_destroy(c.product);
        return us;
    }
    void describe(Fields *fields) const override {
        static const char *const setups[] = {"compile", "cache", "create"};
        fields->set("setup", setups[(int)what_]);
        fields->set("setup_us", times_of(creates_).median);
        if (what_ == What::FirstCall)
            return;
        fields->set("from_cache", found_);
        const int expected = what_ == What::CacheHit ? (int)creates_.size() : 0;
        if (kind_ == MatrixKind::Random && found_ != expected)
            fields->set("note", expected ? "NOT IN THE CACHE" : "FOUND IN A CACHE");
    }

  private:
    static constexpr size_t kStride = kRegion + 8192;
    const Library &library_;
    What what_;
    std::string engine_;
    Shape shape_;
    MatrixKind kind_;
    uint64_t seed_;
    int found_ = 0;
    std::vector<double> creates_;
};

Row create_row(What what, const std::string &engine, const Shape &shape, MatrixKind kind,
               uint64_t seed) {
    static const char *const names[] = {"specialise", "cache_hit", "first_call"};
    const bool cauchy = kind == MatrixKind::Cauchy;
    Row row;
    row.name = std::string(names[(int)what]) + "/" + engine + "/" + shape_text(shape) +
               (cauchy ? "/cauchy" : "");
    row.facts =
        Fields("kind", "create", "operation", names[(int)what], "where", "gpu", "id", engine, "w",
               shape.w, "k", shape.k, "m", shape.m, "matrix", cauchy ? "cauchy" : "random");
    row.facts.add(engine_facts(engine));
    if (what == What::FirstCall) {
        row.data_bytes = (double)(kRegion * shape.k);
        row.moved = product_moved(shape, GFK_SET);
    }
    // There is one default matrix, and only its first create can compile.
    row.passes = cauchy ? 1 : kTimes;
    row.make = [=](const Library &library) {
        return std::make_unique<CreateWork>(library, what, engine, shape, kind, seed);
    };
    return row;
}

bool compiles(const std::string &engine) {
    return gfk_engine_find(engine.c_str())->labels & GFK_ENGINE_COMPILES;
}

} // namespace

void add_product_create_rows(const Options &options, Rows *rows) {
    for (What what : {What::Specialise, What::CacheHit})
        for (const Shape &shape : specialised_shapes())
            for (const std::string &engine : contenders(shape))
                for (MatrixKind kind : {MatrixKind::Random, MatrixKind::Cauchy})
                    if (compiles(engine) && !(kind == MatrixKind::Cauchy && what == What::CacheHit))
                        rows->push_back(create_row(what, engine, shape, kind, options.seed));
    for (const Shape &shape : {Shape{8, 4, 2}, Shape{8, 10, 4}, Shape{8, 30, 3}, Shape{8, 128, 128},
                               Shape{16, 10, 4}, Shape{32, 10, 4}})
        for (const std::string &engine : contenders(shape))
            if (!compiles(engine))
                rows->push_back(
                    create_row(What::FirstCall, engine, shape, MatrixKind::Random, options.seed));
}
