// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "cases/cpu.h"
#include "cases/host.h"
#include "cases/rs.h"
#include "papers.h"
#ifdef HAVE_CUDA
#include "gibraltar/rows.h"
#include "probes/rows.h"
#endif

namespace {

// Without a GPU, and from all kinds of memory: pageable first, because pinning takes long.
std::vector<HostCase> calls(const Options &options) {
    const int devices = devices_of(options);
    std::vector<HostCase> cases;
    const size_t data = options.size_or(kGiB / 2);
    const auto add = [&](const HostCase &c) {
        if (c.path == GFK_PATH_CPU ? options.host : devices != 0)
            cases.push_back(c);
    };
    for (size_t m : {2, 4})
        for (gfk_path path : {GFK_PATH_CPU, GFK_PATH_GPU})
            add({HostCase::Encode, {8, 16, m}, data, GFK_PAGEABLE, path});
    add({HostCase::Decode, {8, 16, 4}, data});
    for (const Shape &shape :
         {Shape{8, 16, 2}, Shape{8, 16, 3}, Shape{8, 16, 4}, Shape{8, 24, 4}, Shape{8, 36, 2}})
        add({HostCase::Encode, shape, data, GFK_PINNED, GFK_PATH_GPU});
    add({HostCase::Decode, {8, 16, 4}, data, GFK_PINNED, GFK_PATH_GPU});
    add({HostCase::Encode, {8, 16, 4}, data, GFK_PINNED, GFK_PATH_GPU, 0, 1, true});
    for (size_t bytes : {16 * kMiB, 512 * kKiB})
        add({HostCase::Encode, {8, 16, 2}, options.size_or(bytes), GFK_PINNED, GFK_PATH_GPU});
    return cases;
}

std::vector<Shape> sweep_shapes() {
    std::vector<Shape> shapes;
    for (size_t m : {2, 3, 4, 8, 16})
        for (size_t k : {2, 8, 16, 24, 36, 64})
            shapes.push_back({8, k, m});
    return shapes;
}

#ifdef HAVE_CUDA
RsCase code(RsCase::Operation operation, const Shape &shape, size_t region, size_t lost = 0) {
    RsCase c = {};
    c.operation = operation;
    c.shape = shape;
    c.region = region;
    c.lost = lost;
    c.which = RsCase::Mixed;
    c.replays = 3;
    c.ceiling = RsCase::Few;
    return c;
}

// A sweep over k and m with buffers of 1 MiB, and encode over the length of regions, without ceilings;
// codes of long regions over m, with the decode of as many regions of data, or of data and parity; batches
// of small stripes; update.
std::vector<RsCase> codes(const Options &options) {
    std::vector<RsCase> cases;
    for (const Shape &shape : sweep_shapes()) {
        cases.push_back(code(RsCase::Encode, shape, kMiB));
        cases.push_back(code(RsCase::Decode, shape, kMiB, std::min(shape.k, shape.m)));
    }
    for (const Shape &shape : {Shape{8, 10, 4}, Shape{8, 16, 2}, Shape{8, 24, 4}, Shape{8, 64, 8}})
        for (size_t bytes : {4 * kKiB, 32 * kKiB, 128 * kKiB, 512 * kKiB, 4 * kMiB, 64 * kMiB})
            cases.push_back(code(RsCase::Encode, shape, bytes));
    for (RsCase &c : cases)
        c.ceiling = RsCase::None;
    const size_t region = region_of(options.size_or(kGiB), 16);
    std::string large; // encode at 16+4
    for (size_t m : {1, 2, 3, 4, 8, 16}) {
        RsCase c = code(RsCase::Encode, {8, 16, m}, region);
        cases.push_back(c);
        c.rate_of = c.name();
        large = m == 4 ? c.name() : large;
        c.operation = RsCase::Decode;
        c.lost = m;
        for (RsCase::Lost which : {RsCase::Data, RsCase::Mixed}) {
            c.which = which;
            if (m == 4 || which == RsCase::Mixed)
                cases.push_back(c);
        }
    }
    for (const size_t lost : {0, 4}) {
        RsCase c =
            code(lost ? RsCase::BatchDecode : RsCase::BatchEncode, {8, 16, 4}, 4 * kKiB, lost);
        c.stripes = 4096;
        c.rate_of = large;
        cases.push_back(c);
    }
    RsCase update = code(RsCase::Update, {8, 16, 4}, region);
    update.replays = 9;
    cases.push_back(update);
    return cases;
}

void add_device_rows(const Options &options, Rows *rows) {
    add_encoder_rows(options, rows); // first: nothing has been compiled or loaded yet
    rs_rows(codes(options), rows);
    std::vector<ProductCase> products;
    for (const char *engine : {"perop_log_w8_4", "perop_log_w8"}) {
        ProductCase c;
        c.shape = {8, 16, 4};
        c.data = options.size_or(kGiB);
        c.engine = engine;
        products.push_back(c);
    }
    product_rows(products, options, rows);
    add_product("clmad_w8", {8, 16, 4}, kGiB, options, rows);
    add_row_split_row(options, rows);
    add_rate_rows(options, rows);
}
#endif

} // namespace

void add_gibraltar_rows(const Options &options, Rows *rows) {
    host_rows(calls(options), rows);
#ifdef HAVE_CUDA
    if (options.device)
        add_device_rows(options, rows);
#endif
    if (!options.host)
        return;
    const gfk_engine_info *engine = gfk_engine_find("isal_w8"); // of this library
    if (gfk_engine_available(engine, GFK_CPU, nullptr) == GFK_STATUS_SUCCESS)
        for (const Shape &shape : sweep_shapes())
            add_cpu_product(rows, engine, nullptr, shape, options.size_or(shape.k * kMiB),
                            cpu_cores(), options.seed, true);
    coder_sweep_rows(sweep_shapes(), options, rows);
}
