// SPDX-License-Identifier: BSD-3-Clause
// Codes on the CPU: what making a code and a decode matrix takes on one core; verify and locate.
#include <cstring>
#include <random>

#include "cpu.h"

namespace {

Object<gfk_rs_t> make_code(const Library &library, const Shape &shape, const gfk_rs_desc &desc) {
    const gfk_field field = field_of(shape.w);
    Object<gfk_rs_t> code;
    GFK_CHECK(
        code.make(library.gfk_rs_create, library.gfk_rs_destroy, &field, shape.k, shape.m, &desc));
    return code;
}

std::unique_ptr<Work> make_create(const Library &library, const Shape &shape, bool decoder) {
    auto work = std::make_unique<CallsWork>();
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.family = GFK_ENGINE_HOST; // makes no tables: what is left is the code itself
    std::vector<size_t> lost;
    for (size_t i = 0; i < shape.m; i++)
        lost.push_back(i * shape.k / shape.m);
    const Object<gfk_rs_t> code = make_code(library, shape, desc);
    work->call = [=, &library](long) {
        Object<gfk_rs_decoder_t> made;
        const Stopwatch watch;
        if (!decoder) {
            const auto another = make_code(library, shape, desc);
            return watch.us();
        }
        GFK_CHECK(made.make(library.gfk_rs_decoder_create, library.gfk_rs_decoder_destroy, code,
                            lost.data(), lost.size(), nullptr, 0, nullptr));
        return watch.us();
    };
    return work;
}

// ---- verifying and locating, with damage at every position -----------------------------------
struct CpuDamage {
    const char *operation, *damage; // "": none
    size_t errors;                  // symbols at a position
    bool anywhere;                  // other regions at each position
};

// Regions of data and parity one behind the other.
std::unique_ptr<Work> make_locate(const Library &library, const Shape &shape, size_t bytes,
                                  const CpuDamage &damage) {
    auto work = std::make_unique<CallsWork>();
    const auto [w, k, m] = shape;
    const size_t n = k + m, size = w / 8;
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.product.device = GFK_CPU;
    const Object<gfk_rs_t> code = make_code(library, shape, desc);
    gfk_rs_info info;
    GFK_CHECK(library.gfk_rs_get_info(code, &info));
    work->facts.add("engine", info.product.engine->id, "setup_us", code.create_us);
    const HostBuffers buffers = host_buffers(bytes * n);
    unsigned char *memory = buffers.dst;
    const gfk_regions data = {nullptr, memory, bytes},
                      parity = {nullptr, memory + k * bytes, bytes};
    std::memcpy(memory, buffers.src, bytes * k);
    GFK_CHECK(library.gfk_rs_encode(code, &data, &parity, bytes, nullptr));
    std::mt19937_64 random(7);
    for (size_t at = 0; at < bytes; at += size) {
        const size_t first = damage.anywhere ? random() % n : k - (damage.errors + 1) / 2;
        for (size_t e = 0; e < damage.errors; e++) {
            const uint64_t value = random() | 1;
            for (size_t b = 0; b < size; b++)
                memory[(first + e) % n * bytes + at + b] ^= (unsigned char)(value >> (8 * b));
        }
    }
    size_t space = 0;
    GFK_CHECK(library.gfk_rs_locate_workspace(code, bytes, &space));
    struct Found {
        Aligned workspace;
        std::vector<uint64_t> counts;
        gfk_rs_verdict verdict;
        uint32_t differs;
    };
    const auto found =
        std::make_shared<Found>(Found{Aligned(space), std::vector<uint64_t>(n), {}, 0});
    const bool locates = std::strcmp(damage.operation, "locate") == 0;
    work->call = [=, &library](long) {
        const Stopwatch watch;
        if (locates)
            GFK_CHECK(library.gfk_rs_locate(code, &data, &parity, bytes, GFK_RS_REPORT,
                                            &found->verdict, found->counts.data(),
                                            found->workspace.data(), space, nullptr));
        else
            GFK_CHECK(library.gfk_rs_verify(code, &data, &parity, bytes, &found->differs, nullptr));
        return watch.us();
    };
    work->compare = [=, call = work->call](bool) -> std::string {
        call(0);
        if (!locates)
            return found->differs == 0 ? "" : "right parity was called wrong";
        return located_everywhere(found->verdict, found->counts, damage.errors ? bytes / size : 0,
                                  damage.errors)
                   ? ""
                   : "the damage was not located";
    };
    return work;
}

} // namespace

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
            row.make = made_by(make_create, shape, decoder);
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
            row.make = made_by(make_locate, shape, region, damage);
            row.finish = percent_of(verify);
            rows->push_back(row);
        }
    }
}
