// SPDX-License-Identifier: BSD-3-Clause
// The sets of product rows: product, product-perop, product-small, product-map.
#include "product_plan.h"

#include <algorithm>
#include <random>

#include "multipliers.h"
#include "results.h"

namespace {

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
constexpr size_t kMostPlainCalls = 600; // k x m of the plain way, whose graph has as many nodes

const std::vector<Shape> kShapes = {
    {8, 4, 2},   {8, 6, 3},   {8, 8, 3},   {8, 8, 4},     {8, 9, 3},   {8, 10, 4},
    {8, 12, 4},  {8, 16, 4},  {8, 17, 3},  {8, 20, 4},    {8, 24, 4},  {8, 30, 3},
    {8, 50, 10}, {8, 32, 16}, {8, 64, 32}, {8, 128, 128}, {16, 10, 4}, {16, 16, 4},
    {16, 30, 3}, {32, 10, 4}, {32, 16, 4}, {32, 30, 3}};
const std::vector<Shape> kAccumulated = {{8, 4, 2}, {8, 10, 4}, {8, 30, 3}};
const std::vector<Shape> kSmall = {{8, 4, 2}, {8, 10, 4}, {8, 30, 3}, {16, 10, 4}, {32, 10, 4}};
const std::vector<Shape> kSpecialised = {{8, 4, 2},   {8, 6, 3},   {8, 10, 4},  {8, 12, 4},
                                         {8, 16, 4},  {8, 17, 3},  {8, 30, 3},  {8, 50, 10},
                                         {8, 32, 16}, {8, 64, 32}, {16, 10, 4}, {32, 10, 4}};
const std::vector<Shape> kOnCpu = {{8, 4, 2}, {8, 10, 4}, {8, 30, 3}};
struct Grid {
    unsigned w;
    std::vector<size_t> k, m;
};
const std::vector<Grid> kMaps = {
    {8, {2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64}, {1, 2, 3, 4, 6, 8, 10, 12, 16, 32}},
    {16, {4, 10, 20, 40}, {2, 3, 4, 8, 16}},
    {32, {4, 10, 20, 40}, {2, 3, 4, 8, 16}}};
/* Regions so short that latencies decide, not rates. */
const std::vector<Grid> kShortMaps = {
    {8, {4, 10, 20, 32}, {1, 2, 4, 8}}, {16, {4, 10, 20}, {2, 4, 8}}, {32, {4, 10, 20}, {2, 4, 8}}};
const std::vector<size_t> kShortRegions = {64 * kKiB, kMiB};

// The engines that can run here and take this shape, on the device.
template <class Wanted>
std::vector<std::string> engines(const Shape &shape, Wanted wanted) {
    std::vector<std::string> ids;
    gfk_field field;
    gfk_check(gfk_field_init(&field, shape.w, 0), "gfk_field_init");
    for (size_t i = 0; i < gfk_engine_count(); i++) {
        const gfk_engine_info *engine = gfk_engine_at(i);
        if (engine->w != shape.w || engine->family == GFK_ENGINE_HOST ||
            engine->family == GFK_ENGINE_ISAL || !wanted(engine))
            continue;
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        gfk_product_info info;
        desc.engine = engine->id;
        desc.compile = true;
        if (gfk_product_query(&field, shape.m, shape.k, &desc, &info) == GFK_STATUS_SUCCESS)
            ids.push_back(engine->id);
    }
    return ids;
}

bool is_contender(const gfk_engine_info *engine) {
    return !(engine->labels & GFK_ENGINE_ABLATION) &&
           (engine->family != GFK_ENGINE_PEROP || engine->method == GFK_METHOD_SPLIT);
}

// A shape's rows behind its ceiling, which comes once per shape whatever the width.
class Plan {
  public:
    void add(const ProductRow &row) {
        ProductRow ceiling = row;
        ceiling.way = Way::XorOnly;
        ceiling.shape.w = 8; // it only counts for verification
        ceiling.matrix = MatrixKind::Random;
        const std::string name = ceiling.name();
        if (std::find(ceilings_.begin(), ceilings_.end(), name) == ceilings_.end()) {
            ceilings_.push_back(name);
            rows_.push_back(ceiling);
        }
        rows_.push_back(row);
    }
    void add_engines(ProductRow row, const std::vector<std::string> &ids) {
        row.way = Way::Engine;
        for (const std::string &id : ids) {
            row.engine = id;
            add(row);
        }
    }
    void add_way(ProductRow row, Way way) {
        row.way = way;
        add(row);
    }
    std::vector<ProductRow> take() { return std::move(rows_); }

  private:
    std::vector<std::string> ceilings_;
    std::vector<ProductRow> rows_;
};

ProductRow row_of(const Shape &shape, size_t data) {
    ProductRow row;
    row.shape = shape;
    row.data = data;
    return row;
}

void figures(Plan *plan, size_t data) {
    for (const Shape &shape : kShapes) {
        ProductRow row = row_of(shape, data);
        const std::vector<std::string> ids = contenders(shape);
        for (MatrixKind matrix : {MatrixKind::Random, MatrixKind::Cauchy}) {
            row.matrix = matrix;
            plan->add_engines(row, ids);
        }
        row.matrix = MatrixKind::Random;
        plan->add_way(row, Way::Auto);
        plan->add_way(row, Way::AutoCompile);
        if (shape.k * shape.m <= kMostPlainCalls)
            plan->add_way(row, Way::Plain);
    }
    for (const Shape &shape : kAccumulated) {
        ProductRow row = row_of(shape, data);
        row.mode = GFK_XOR;
        plan->add_engines(row, contenders(shape));
    }
}

void perop(Plan *plan, size_t data) {
    for (unsigned w : {8u, 16u, 32u})
        for (const Shape &shape : {Shape{w, 10, 4}, Shape{w, 30, 3}})
            plan->add_engines(row_of(shape, data), engines(shape, [](const gfk_engine_info *e) {
                                  return e->family == GFK_ENGINE_PEROP;
                              }));
}

void small(Plan *plan, const std::vector<size_t> &regions) {
    for (const Shape &shape : kSmall)
        for (size_t region : regions) {
            const ProductRow row = row_of(shape, region * shape.k);
            plan->add_engines(row, contenders(shape));
            plan->add_way(row, Way::Auto);
            plan->add_way(row, Way::AutoCompile);
        }
}

void add_to_map(Plan *plan, const Shape &shape, size_t data, int replays) {
    ProductRow row = row_of(shape, data);
    row.replays = replays;
    row.few = true;
    plan->add_engines(row, contenders(shape));
    plan->add_way(row, Way::Auto);
    plan->add_way(row, Way::AutoCompile);
}

// AUTO for the heat map, and every engine for the table that AUTO goes by.
void map(Plan *plan, size_t data) {
    for (const Grid &grid : kMaps)
        for (size_t k : grid.k)
            for (size_t m : grid.m)
                add_to_map(plan, {grid.w, k, m}, data, 3);
}

void short_map(Plan *plan) {
    for (const Grid &grid : kShortMaps)
        for (size_t region : kShortRegions)
            for (size_t k : grid.k)
                for (size_t m : grid.m)
                    add_to_map(plan, {grid.w, k, m}, region * k, 9);
}

} // namespace

std::vector<std::string> contenders(const Shape &shape) {
    return engines(shape, is_contender);
}

std::string shape_text(const Shape &shape) {
    return std::to_string(shape.k) + "+" + std::to_string(shape.m);
}

std::string ProductRow::id() const {
    const std::string w = "_w" + std::to_string(shape.w);
    switch (way) {
    case Way::XorOnly:
        return few ? "xor_only_few" : "xor_only";
    case Way::Engine:
        return engine;
    case Way::Auto:
        return "auto" + w;
    case Way::AutoCompile:
        return "auto" + w + "_compile";
    case Way::Plain:
        return "plain" + w;
    }
    return "";
}

std::string ProductRow::name() const {
    return id() + "/" + shape_text(shape) + "/" + size_text(data) +
           (mode == GFK_SET ? "/set" : "/xor") + "/cold" +
           (matrix == MatrixKind::Cauchy ? "/cauchy" : "");
}

std::vector<uint32_t> matrix_of(const Shape &shape, MatrixKind kind, uint64_t seed) {
    std::vector<uint32_t> matrix(shape.k * shape.m);
    if (kind == MatrixKind::Random) {
        std::mt19937_64 random(seed ^ shape.w << 24 ^ shape.k << 12 ^ shape.m);
        for (uint32_t &element : matrix)
            do
                element = (uint32_t)(random() >> 32) >> (32 - shape.w);
            while (element < 2);
        return matrix;
    }
    gfk_field field;
    gfk_check(gfk_field_init(&field, shape.w, 0), "gfk_field_init");
    for (size_t j = 0; j < shape.m; j++)
        for (size_t i = 0; i < shape.k; i++)
            gfk_check(
                gfk_field_inverse(&field, (uint32_t)((shape.k + j) ^ i), &matrix[j * shape.k + i]),
                "the Cauchy matrix");
    return matrix;
}

std::vector<ProductRow> plan_products(const Options &options) {
    Plan plan;
    const size_t size = options.sizes.empty() ? 0 : options.sizes[0];
    switch (options.preset) {
    case Options::Product:
        figures(&plan, size ? size : 3 * kGiB);
        break;
    case Options::ProductPerop:
        perop(&plan, size ? size : 3 * kGiB);
        break;
    case Options::ProductSmall:
        small(&plan, options.sizes.empty() ? std::vector<size_t>{64 * kKiB, kMiB} : options.sizes);
        break;
    case Options::ProductMap:
        map(&plan, size ? size : kGiB);
        if (size == 0)
            short_map(&plan);
        break;
    default:
        break;
    }
    return plan.take();
}

std::vector<Shape> specialised_shapes() {
    return kSpecialised;
}

std::vector<Shape> rs_sweep_shapes() {
    std::vector<Shape> shapes;
    for (size_t m : {2, 3, 4, 6, 8, 12, 16})
        for (size_t k : {2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64})
            shapes.push_back({8, k, m});
    return shapes;
}

std::vector<Shape> cpu_shapes() {
    return kOnCpu;
}
