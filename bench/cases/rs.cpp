// SPDX-License-Identifier: BSD-3-Clause
// The presets rs and rs-sweep as data, each row beside the plain kernel of its traffic.
#include "rs.h"

#include <algorithm>

#include "core/buffers.h"
#include "product.h"

namespace {

const char *const kOperations[] = {"encode", "decode",       "verify",      "locate",
                                   "update", "batch_encode", "batch_decode"};
const char *const kLost[] = {"data", "parity", "mixed"};

size_t region_of(size_t data, size_t k) {
    return data / k / 512 * 512;
}

std::vector<RsCase> figures(size_t data) {
    std::vector<RsCase> cases;
    const auto add = [&](const RsCase &c) {
        cases.push_back(c);
        return c.name();
    };
    std::string large; // encode at 10+4 by the engines for run-time matrices
    for (const Shape &shape : {Shape{8, 6, 3}, Shape{8, 10, 4}, Shape{8, 17, 3}})
        for (const bool compile : {true, false}) {
            const size_t region = region_of(data, shape.k);
            const std::string encode = add({RsCase::Encode, shape, compile, region});
            if (!compile && shape.k == 10)
                large = encode;
            for (RsLost which : {RsLost::Data, RsLost::Parity, RsLost::Mixed})
                add({RsCase::Decode, shape, compile, region, shape.m, which, 1, encode});
            add({RsCase::Decode, shape, compile, region, 1});
            const std::string verify = add({RsCase::Verify, shape, compile, region});
            add({RsCase::Locate, shape, compile, region, 0, RsLost::Data, 1, verify});
        }
    for (const Shape &shape :
         {Shape{8, 10, 2}, Shape{8, 10, 3}, Shape{8, 10, 4}, Shape{16, 10, 4}, Shape{32, 10, 4}})
        for (const bool compile : {true, false})
            add({RsCase::Update, shape, compile, region_of(data, 10)});
    for (const size_t region : {4 * kKiB, 16 * kKiB})
        for (const size_t lost : {0, 4})
            add({lost ? RsCase::BatchDecode : RsCase::BatchEncode,
                 {8, 10, 4},
                 false,
                 region,
                 lost,
                 RsLost::Mixed,
                 4096,
                 large});
    for (const Shape &shape :
         {Shape{8, 223, 32}, Shape{8, 128, 128}, Shape{16, 1000, 24}, Shape{16, 4096, 256}})
        add({RsCase::Encode, shape, false, region_of(data, shape.k), 0, RsLost::Data, 1, "", 3});
    return cases;
}

// A sweep over k for m = 2 to 16, with buffers of 1 MiB.
std::vector<RsCase> sweep() {
    std::vector<RsCase> cases;
    for (const Shape &shape : rs_sweep_shapes()) {
        cases.push_back({RsCase::Encode, shape, false, kMiB, 0, RsLost::Data, 1, "", 3});
        cases.push_back({RsCase::Decode, shape, false, kMiB, std::min(shape.k, shape.m),
                         RsLost::Mixed, 1, "", 3});
    }
    return cases;
}

Ceiling &rs_ceiling(const RsCase &c) {
    const auto [reads, writes, data] = c.regions();
    if (writes == 0)
        return ceiling_of(PlainKind::ReadOnly, {reads, 1, c.region}, GFK_SET);
    if (c.operation == RsCase::Update) // reads the outputs too
        return ceiling_of(PlainKind::XorOnly, {reads - writes, writes, c.region}, GFK_XOR);
    // Of a batch: long regions, as its stripes together are.
    const size_t region = c.stripes > 1 ? region_of(3 * kGiB, reads) : c.region;
    return ceiling_of(PlainKind::XorOnly, {reads, writes, region}, GFK_SET);
}

void compare_with(const std::string &other, Result *result) {
    if (const Result *r = find_result(other))
        result->fields.set("percent_of_other", 100 * result->gbps() / r->gbps());
}

Row rs_row(const RsCase &c) {
    const auto [w, k, m] = c.shape;
    const auto [reads, writes, data] = c.regions();
    const bool adds = c.operation == RsCase::Update;
    const size_t bytes = c.region * c.stripes;
    Row row;
    row.name = c.name();
    row.facts =
        Fields("kind", "rs", "operation", kOperations[c.operation], "where", "gpu", "id", c.id(),
               "w", w, "k", k, "m", m, "compile", c.compile, "mode", adds ? "xor" : "set", "cold",
               true, "region_bytes", c.region, "stripes", c.stripes);
    if (c.lost != 0) {
        row.facts.set("lost", c.lost);
        row.facts.set("lost_kind", kLost[(int)c.which]);
    }
    row.facts.set_text("rate_of", c.rate_of);
    row.data_bytes = (double)(bytes * data);
    row.moved = (double)(reads + writes) / (double)data;
    row.passes = c.replays;
    row.missing = [=, k = k, m = m] {
        return too_little_memory((size_t)((double)(bytes * (k + m)) * 1.6));
    };
    row.ceiling = [=]() -> Ceiling & { return rs_ceiling(c); };
    row.make = [=](const Library &library) { return make_rs_work(library, c); };
    if (!c.rate_of.empty())
        row.finish = [other = c.rate_of](Result *result) { compare_with(other, result); };
    return row;
}

} // namespace

std::string RsCase::id() const {
    return std::string("rs_") + kOperations[operation] + "_w" + std::to_string(shape.w) +
           (compile ? "_compile" : "");
}

std::string RsCase::name() const {
    std::string name = id() + "/" + shape_text(shape) + "/" + size_text(region);
    if (stripes > 1)
        name += "x" + std::to_string(stripes);
    if (operation == Decode)
        name += "/lost=" + std::to_string(lost) + " " + kLost[(int)which];
    return operation == Locate ? name + "/clean" : name;
}

RsCase::Regions RsCase::regions() const {
    const size_t k = shape.k, m = shape.m;
    switch (operation) {
    case Verify:
    case Locate:
        return {k + m, 0, k};
    case Update:
        return {2 + m, m, 1};
    default:
        return {k, lost ? lost : m, k};
    }
}

void add_rs_rows(const Options &options, Rows *rows) {
    for (const RsCase &c : options.is("rs") ? figures(options.size_or(3 * kGiB)) : sweep())
        rows->push_back(rs_row(c));
}
