// SPDX-License-Identifier: BSD-3-Clause
// What stands before the first byte of a product: creating it and its first run, compiling a
// matrix, and finding a compiled one in the cache folder.
#include <cstdlib>
#include <filesystem>
#include <random>

#include "cases.h"
#include "core/device.h"

namespace {

constexpr int kTimes = 5; // each with a matrix of its own
constexpr size_t kRegion = kMiB, kStride = kRegion + 8192;
constexpr uint32_t kOthers = 80; // kernels; the engine keeps fewer in memory

const std::vector<Shape> kSpecialised = {{8, 4, 2},   {8, 6, 3},   {8, 10, 4},  {8, 12, 4},
                                         {8, 16, 4},  {8, 17, 3},  {8, 30, 3},  {8, 50, 10},
                                         {8, 32, 16}, {8, 64, 32}, {16, 10, 4}, {32, 10, 4}};
const std::vector<Shape> kFirstCalls = {{8, 4, 2},     {8, 10, 4},  {8, 30, 3},
                                        {8, 128, 128}, {16, 10, 4}, {32, 10, 4}};

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

// What a row times. Specialise: creates that compile. CacheHit: creates that find what those left
// in the folder. FirstCall: a create and a run on 1 MiB regions, until the outputs are there; the
// engine's own code is loaded by the first of the calls, which does not count.
enum What { Specialise, CacheHit, FirstCall };
const char *const kNames[] = {"specialise", "cache_hit", "first_call"};
const char *const kSetups[] = {"compile", "cache", "create"};

struct CreateCase {
    What what;
    std::string engine;
    Shape shape;
    bool cauchy;
    uint64_t seed;
};

struct CreateWork : Work {
    CreateWork(const Library &library, const CreateCase &c) : library_(library), case_(c) {}
    gfk_status start() override {
        if (case_.what == CacheHit || case_.cauchy)
            forget_compiled(case_.what == CacheHit);
        if (case_.what == FirstCall) {
            gpu_slot(Slot::Inputs, kStride * case_.shape.k);
            gpu_slot(Slot::Outputs, kStride * case_.shape.m);
        }
        return GFK_STATUS_SUCCESS;
    }
    void warm_up() override {
        if (case_.what == FirstCall)
            pass(-1);
        creates_.clear();
    }
    double pass(long number) override {
        const auto matrix = matrix_of(case_.shape, case_.cauchy, case_.seed + 1 + (uint64_t)number);
        const Stopwatch watch;
        const auto product = create(case_.engine, case_.shape, matrix);
        creates_.push_back(product.create_us);
        if (case_.what != FirstCall)
            return product.create_us;
        const gfk_regions in = {nullptr, gpu_slot(Slot::Inputs, 0), kStride};
        const gfk_regions out = {nullptr, gpu_slot(Slot::Outputs, 0), kStride};
        gfk_check(library_.gfk_product_run(product, &in, &out, kRegion, GFK_SET, nullptr, 0,
                                           gpu().stream),
                  case_.engine.c_str());
        gpu_synchronize();
        return watch.us();
    }
    void describe() override {
        facts.add("setup", kSetups[case_.what], "setup_us", times_of(creates_).median);
        if (case_.what == FirstCall)
            return;
        const int expected = case_.what == CacheHit ? (int)creates_.size() : 0;
        facts.add("from_cache", found_, "note",
                  when(!case_.cauchy && found_ != expected,
                       expected ? "NOT IN THE CACHE" : "FOUND IN A CACHE"));
    }

  private:
    Object<gfk_product_t> create(const std::string &engine, const Shape &shape,
                                 const std::vector<uint32_t> &matrix) {
        const gfk_field field = field_of(shape.w);
        const std::string &folder = cache_folder(library_);
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        gfk_product_info info;
        Object<gfk_product_t> product;
        desc.engine = engine.c_str();
        desc.compile = true;
        desc.cache_folder = folder.empty() ? nullptr : folder.c_str();
        gfk_check(product.make(library_.gfk_product_create, library_.gfk_product_destroy, &field,
                               shape.m, shape.k, matrix.data(), &desc),
                  engine.c_str());
        GFK_CHECK(library_.gfk_product_get_info(product, &info));
        found_ += info.from_cache;
        return product;
    }
    // Compiles others until what was compiled before is no longer in memory: once before default
    // matrices, which other rows may have compiled, and once before looking into the folder.
    void forget_compiled(bool for_folder) {
        static bool done[2][2];
        bool &mine = done[library_.number][for_folder];
        const uint32_t first = 2 + (for_folder ? kOthers : 0);
        for (uint32_t c = first; !mine && c < first + kOthers; c++)
            create("xor_w8", {8, 1, 1}, {c});
        mine = true;
        found_ = 0;
    }

    const Library &library_;
    CreateCase case_;
    int found_ = 0;
    std::vector<double> creates_;
};

void add_row(const CreateCase &c, Rows *rows) {
    Row row(std::string(kNames[c.what]) + "/" + c.engine + "/" + shape_text(c.shape) +
                (c.cauchy ? "/cauchy" : ""),
            shape_facts("create", kNames[c.what], "gpu", c.engine, c.shape));
    row.facts.set("matrix", c.cauchy ? "cauchy" : "random");
    row.facts.add(engine_facts(c.engine));
    if (c.what == FirstCall) {
        row.data_bytes = (double)(kRegion * c.shape.k);
        row.moved = product_moved(c.shape, GFK_SET);
    }
    // There is one default matrix, and only its first create can compile.
    row.passes = c.cauchy ? 1 : kTimes;
    row.make = makes<CreateWork>(c);
    rows->push_back(row);
}

} // namespace

void add_product_create_rows(const Options &options, Rows *rows) {
    // New matrices in every run: CUDA keeps the code of the last run's in a cache of its own.
    const uint64_t seed = options.seed + ((uint64_t)std::random_device{}() << 32);
    for (What what : {Specialise, CacheHit, FirstCall})
        for (const Shape &shape : what == FirstCall ? kFirstCalls : kSpecialised)
            for (const std::string &engine : contenders(shape)) {
                const bool compiles = gfk_engine_find(engine.c_str())->labels & GFK_ENGINE_COMPILES;
                if (compiles == (what != FirstCall))
                    add_row({what, engine, shape, false, seed}, rows);
                if (compiles && what == Specialise)
                    add_row({what, engine, shape, true, seed}, rows);
            }
}
