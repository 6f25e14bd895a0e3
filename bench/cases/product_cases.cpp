// SPDX-License-Identifier: BSD-3-Clause
// The rows of products as data: the groups of preset product, presets card and long.
#include <random>

#include "cases.h"

namespace {

constexpr size_t kMostPlainCalls = 600; // k x m of the plain way, whose graph has as many nodes

const std::vector<Shape> kShapes = {
    {8, 4, 2},   {8, 6, 3},   {8, 8, 3},   {8, 8, 4},     {8, 9, 3},   {8, 10, 4},
    {8, 12, 4},  {8, 16, 4},  {8, 17, 3},  {8, 20, 4},    {8, 24, 4},  {8, 30, 3},
    {8, 50, 10}, {8, 32, 16}, {8, 64, 32}, {8, 128, 128}, {16, 10, 4}, {16, 16, 4},
    {16, 30, 3}, {32, 10, 4}, {32, 16, 4}, {32, 30, 3}};
const std::vector<Shape> kAccumulated = {{8, 4, 2}, {8, 10, 4}, {8, 30, 3}};
struct Grid {
    unsigned w;
    std::vector<size_t> k, m;
};
std::vector<Shape> shapes_of(const std::vector<Grid> &grids) {
    std::vector<Shape> shapes;
    for (const Grid &grid : grids)
        for (size_t k : grid.k)
            for (size_t m : grid.m)
                shapes.push_back({grid.w, k, m});
    return shapes;
}
const std::vector<Shape> kMap = shapes_of(
    {{8, {2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64}, {1, 2, 3, 4, 6, 8, 10, 12, 16, 32}},
     {16, {4, 10, 20, 40}, {2, 3, 4, 8, 16}},
     {32, {4, 10, 20, 40}, {2, 3, 4, 8, 16}}});
// Of regions so short that latencies decide, not rates.
const std::vector<Shape> kShortMap = shapes_of({{8, {4, 10, 20, 32}, {1, 2, 4, 8}},
                                                {16, {4, 10, 20}, {2, 4, 8}},
                                                {32, {4, 10, 20}, {2, 4, 8}}});
const std::vector<Shape> kCardShapes = {{8, 4, 2},  {8, 10, 4},  {8, 10, 8},  {8, 20, 16},
                                        {16, 4, 2}, {16, 10, 4}, {16, 10, 8}, {16, 20, 16},
                                        {32, 4, 2}, {32, 10, 4}, {32, 10, 8}, {32, 20, 16}};
const std::vector<size_t> kShortRegions = {64 * kKiB, kMiB};

// The engine or kernel of this id can run here and takes this shape.
bool takes(const std::string &id, const Shape &shape) {
    const gfk_field field = field_of(shape.w);
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    gfk_product_info info;
    desc.engine = id.c_str();
    return gfk_product_query(&field, shape.m, shape.k, &desc, &info) == GFK_STATUS_SUCCESS;
}

bool is_perop(const gfk_engine_info *engine) {
    return engine->family == GFK_ENGINE_PEROP;
}

bool is_any(const gfk_engine_info *) {
    return true;
}

bool is_contender(const gfk_engine_info *engine) {
    return !is_perop(engine) || engine->method == GFK_METHOD_SPLIT;
}

// The engines that can run here and take this shape, on the device.
std::vector<std::string> engines(const Shape &shape, bool (*test)(const gfk_engine_info *)) {
    std::vector<std::string> ids;
    for (size_t i = 0; i < gfk_engine_count(); i++) {
        const gfk_engine_info *engine = gfk_engine_at(i);
        if (engine->w == shape.w && !gfk_engine_family_on_cpu(engine->family) && test(engine) &&
            takes(engine->id, shape))
            ids.push_back(engine->id);
    }
    return ids;
}

// Contenders, and kernels that --engine names.
std::vector<std::string> contenders_and_named(const Shape &shape, const Options &options) {
    std::vector<std::string> ids = contenders(shape);
    for (const std::string &id : options.engines)
        if (id.find('/') != std::string::npos && takes(id, shape))
            ids.push_back(id);
    return ids;
}

using Cases = std::vector<ProductCase>;

// The shapes that are also measured for two seconds without a pause.
bool is_for_long_jobs(const Shape &shape) {
    const auto [w, k, m] = shape;
    return (k == 10 && m == 4) || (w == 8 && ((k == 20 && m == 4) || (k == 30 && m == 3)));
}

void add_engines(Cases *cases, ProductCase c, const std::vector<std::string> &ids) {
    for (const std::string &id : ids) {
        c.engine = id;
        cases->push_back(c);
    }
}

void add_way(Cases *cases, ProductCase c, Way way) {
    c.way = way;
    cases->push_back(c);
}

// Every engine, kernels that --engine names, and AUTO.
void add_all(Cases *cases, const ProductCase &c, const Options &options) {
    add_engines(cases, c, contenders_and_named(c.shape, options));
    add_way(cases, c, Way::Auto);
}

void add_figures(Cases *cases, const Options &options) {
    const size_t data = options.size_or(3 * kGiB);
    for (const Shape &shape : kShapes) {
        ProductCase c = {shape, data};
        c.seconds = is_for_long_jobs(shape);
        add_all(cases, c, options);
        if (shape.k * shape.m <= kMostPlainCalls)
            add_way(cases, {shape, data}, Way::Plain);
    }
    for (const Shape &shape : kAccumulated) {
        ProductCase c = {shape, data};
        c.mode = GFK_XOR;
        add_engines(cases, c, contenders(shape));
    }
}

// The map's engines in bursts, then in jobs of seconds: those that are near another one in bursts.
void add_long_map(Cases *cases, size_t data) {
    for (const Shape &shape : kMap) {
        ProductCase c = {shape, data};
        c.replays = 3;
        add_engines(cases, c, contenders(shape));
        c.seconds = c.contest = true;
        add_engines(cases, c, contenders(shape));
    }
}

// Every method's engine at one shape of each width.
void add_quick(Cases *cases, size_t data) {
    for (const Shape &shape : few_shapes()) {
        ProductCase c = {shape, data};
        c.seconds = is_for_long_jobs(shape);
        add_engines(cases, c, engines(shape, shape.k == 10 ? is_any : is_contender));
        for (Way way : {Way::Auto, Way::Plain})
            add_way(cases, {shape, data}, way);
    }
}

// With a ceiling of two variants. region: 0 for 1 GiB of data.
void add_few(Cases *cases, const std::vector<Shape> &shapes, size_t region,
             const Options &options) {
    for (const Shape &shape : shapes) {
        ProductCase c = {shape, region ? region * shape.k : options.size_or(kGiB)};
        c.replays = region ? 9 : 3;
        c.few = true;
        add_all(cases, c, options);
    }
}

} // namespace

std::vector<std::string> contenders(const Shape &shape) {
    return engines(shape, is_contender);
}

std::vector<std::string> perop_engines(const Shape &shape) {
    return engines(shape, is_perop);
}

std::vector<ProductCase> product_cases(const Options &options) {
    Cases cases;
    const auto short_regions = options.sizes.empty() ? kShortRegions : options.sizes;
    if (options.is("product:large") && options.quick())
        add_quick(&cases, options.size_or(kGiB));
    else if (options.is("product:large"))
        add_figures(&cases, options);
    if (options.is("product:perop"))
        for (unsigned w : {8u, 16u, 32u})
            for (const Shape &shape : {Shape{w, 10, 4}, Shape{w, 30, 3}})
                add_engines(&cases, {shape, options.size_or(3 * kGiB)}, perop_engines(shape));
    if (options.is("product:small"))
        for (const Shape &shape : few_shapes())
            for (size_t region : short_regions)
                add_all(&cases, {shape, region * shape.k}, options);
    if (options.is("card"))
        for (size_t region : short_regions)
            add_few(&cases, kCardShapes, region, options);
    if (options.is("card") && options.sizes.empty())
        add_few(&cases, kCardShapes, 0, options);
    if (options.is("long"))
        add_long_map(&cases, options.size_or(kGiB));
    if (options.is("product:map")) // the first is AUTO's heat map
        add_few(&cases, kMap, 0, options);
    if (options.is("product:map") && options.sizes.empty())
        for (size_t region : short_regions)
            add_few(&cases, kShortMap, region, options);
    return cases;
}

const std::vector<Shape> &few_shapes() {
    static const std::vector<Shape> shapes = {
        {8, 4, 2}, {8, 10, 4}, {8, 30, 3}, {16, 10, 4}, {32, 10, 4}};
    return shapes;
}

std::string ProductCase::id() const {
    const std::string w = "_w" + std::to_string(shape.w);
    return (way == Way::Engine  ? engine
            : way == Way::Plain ? "plain" + w
                                : "auto" + w) +
           (contest ? "_sustained" : "");
}

std::string ProductCase::name() const {
    return id() + ceiling_name().substr(ceiling_name().find('/'));
}

std::string ProductCase::ceiling_name() const {
    return (few ? "xor_only_few/" : "xor_only/") + shape_text(shape) + "/" + size_text(data) +
           (mode == GFK_SET ? "/set" : "/xor") + "/cold";
}

std::vector<uint32_t> matrix_of(const Shape &shape, bool cauchy, uint64_t seed) {
    const auto [w, k, m] = shape;
    const gfk_field field = field_of(w);
    std::vector<uint32_t> matrix(k * m);
    std::mt19937_64 random(seed ^ w << 24 ^ k << 12 ^ m);
    for (size_t i = 0; i < k * m; i++)
        if (cauchy)
            GFK_CHECK(gfk_field_inverse(&field, (uint32_t)((k + i / k) ^ i % k), &matrix[i]));
        else
            while (matrix[i] < 2)
                matrix[i] = (uint32_t)(random() >> 32) >> (32 - w);
    return matrix;
}

Fields engine_facts(const std::string &id) {
    const gfk_engine_info *engine = gfk_engine_find(id.substr(0, id.find('/')).c_str());
    Fields f = Fields("engine", engine->id, "family", gfk_engine_family_name(engine->family));
    f.add("method", when(is_perop(engine), gfk_method_name(engine->method)));
    return f;
}

Fields product_facts(const gfk_product_info &info) {
    Fields f = engine_facts(info.engine->id);
    f.add("kernel", given(info.kernel ? info.kernel->id : ""), "table_bytes", info.table_bytes);
    return f;
}

gfk_status make_product(const Library &library, const Shape &shape,
                        const std::vector<uint32_t> &matrix, const gfk_product_desc &desc,
                        Object<gfk_product_t> *product, Fields *facts) {
    const gfk_field field = field_of(shape.w);
    gfk_product_info info;
    gfk_status status = product->make(library.gfk_product_create, library.gfk_product_destroy,
                                      &field, shape.m, shape.k, matrix.data(), &desc);
    if (status == GFK_STATUS_SUCCESS)
        status = library.gfk_product_get_info(*product, &info);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    facts->add(product_facts(info));
    facts->add("setup_us", product->create_us);
    return status;
}

double product_moved(const Shape &shape, gfk_accumulate mode) {
    const double k = (double)shape.k, m = (double)shape.m;
    return (k + (mode == GFK_SET ? m : 2 * m)) / k;
}

std::vector<Shape> rs_sweep_shapes(const Options &options) {
    std::vector<Shape> shapes;
    for (size_t m : {2, 3, 4, 6, 8, 12, 16})
        for (size_t k : {2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64})
            if (options.is("rs:sweep"))
                shapes.push_back({8, k, m});
    return shapes;
}
