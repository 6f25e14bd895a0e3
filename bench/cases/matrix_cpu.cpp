// SPDX-License-Identifier: BSD-3-Clause
// Products and inverses of matrices on the CPU: this library, ISA-L, Jerasure and GF-Complete.
#include <random>

#include "cpu.h"

namespace {

std::string matmul_ids[3]; // of w = 8, 16, 32; empty: the library chooses

constexpr size_t kRegion = 16 * kKiB;
constexpr int kSamples = 1000; // symbols that are computed again

struct CpuMatrixCase {
    const coder *other; // null: this library
    Shape shape;        // n x n
    bool inverse;
    unsigned threads;

    size_t row_bytes() const { return shape.k * shape.w / 8; }
    size_t region() const { return inverse ? row_bytes() : kRegion; }
    std::string id() const {
        const std::string operation = inverse ? "invert" : "matmul";
        return (other ? other->library->name : operation + "_cpu") + "_w" + std::to_string(shape.w);
    }
};

std::unique_ptr<Work> make_matrix(const Library &library, const CpuMatrixCase &c) {
    auto work = std::make_unique<CallsWork>();
    const gfk_field field = field_of(c.shape.w);
    const auto matrix = matrix_of(c.shape, false, 1);
    const auto elements = std::make_shared<std::vector<unsigned char>>(packed(matrix, c.shape.w));
    const size_t n = c.shape.k, region = c.region(), row_bytes = c.row_bytes();
    const HostBuffers buffers = host_buffers(region * n);
    const Regions in = regions_at(buffers.src, n, region), out = regions_at(buffers.dst, n, region);
    if (c.other != nullptr) {
        const auto team = std::make_shared<CoderTeam>(c.other, c.shape, matrix, c.threads);
        work->status = team->made() ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
        work->call = [=](long) { return team->encode(in, out, region, 512); };
    } else {
        gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
        desc.device = GFK_CPU;
        desc.threads = c.threads;
        size_t space = 0;
        GFK_CHECK(c.inverse ? library.gfk_matrix_invert_workspace(&field, n, &desc, &space)
                            : library.gfk_matmul_workspace(&field, n, n, region, &desc, &space));
        const auto workspace = std::make_shared<Aligned>(space);
        work->call = [=, &library](long) {
            const gfk_regions from = list_of(in), to = list_of(out);
            const gfk_matrix a = GFK_MATRIX_DENSE_INIT(elements->data(), n, n, n);
            gfk_matrix_record record;
            const Stopwatch watch;
            GFK_CHECK(c.inverse
                          ? library.gfk_matrix_invert(&field, &a, out[0], n, &record, nullptr,
                                                      &desc, workspace->data(), space, nullptr)
                          : library.gfk_matmul(&field, &a, &from, &to, region, GFK_SET, &desc,
                                               workspace->data(), space, nullptr));
            return watch.us();
        };
    }
    // Symbols of A B = C, or of the matrix by its inverse.
    work->compare = [=, call = work->call](bool after) -> std::string {
        if (!after) {
            std::fill(out[0], out[0] + region * n, (unsigned char)0xa5);
            call(0);
        }
        std::mt19937_64 random(3);
        for (int i = 0; i < kSamples; i++) {
            const size_t row = random() % n;
            const size_t at = i % 4 ? random() % (region * 8 / field.w) : row;
            const uint32_t sum = expected_symbol(field, elements->data() + row * row_bytes,
                                                 c.inverse ? out : in, at);
            if (sum != (c.inverse ? row == at : symbol_at(out[row], field.w, at)))
                return "symbol " + std::to_string(at) + " of row " + std::to_string(row) +
                       " is wrong";
        }
        return "";
    };
    return work;
}

void add(Rows *rows, const CpuMatrixCase &c) {
    const auto [w, n, m] = c.shape;
    Row row(c.id() + "/" + shape_text(c.shape) +
                (c.inverse ? "/inverse" : "/" + size_text(kRegion)) +
                "/threads=" + std::to_string(c.threads),
            shape_facts(c.other ? "baseline" : "matrix", c.inverse ? "invert" : "matmul", "cpu",
                        c.id(), c.shape));
    row.facts.add("implementation", given(c.other ? c.other->library->name : ""), "mode", "set",
                  "matrix", "random", "region_bytes", c.region(), "threads", c.threads);
    row.data_bytes = (double)(c.region() * n);
    row.moved = 2;
    row.passes = 3;
    row.compared = c.other == nullptr;
    row.make = made_by(make_matrix, c);
    const double multiply_adds = (double)n * (double)n * (double)c.region();
    row.finish = [=](Result *r) {
        r->fields.set("tmuladds_per_s", multiply_adds / r->fields.number("time_us_median") / 1e6);
    };
    rows->push_back(row);
}

} // namespace

void name_matmuls(const Options &options) {
    if (options.engines.size() == 1)
        for (unsigned i = 0; i < 3; i++)
            matmul_ids[i] = "matmul_w" + std::to_string(8u << i) + "/" + options.engines[0];
}
const char *named_matmul(unsigned w) {
    const std::string &id = matmul_ids[w / 16];
    return id.empty() ? nullptr : id.c_str();
}

// Sizes up to which a pass takes about a second.
void add_matrix_cpu_rows(const Options &options, Rows *rows) {
    for (size_t n = 64; n <= 2048 && options.is("matmul"); n *= 2)
        for (unsigned w : {8u, 16u, 32u}) {
            for (bool inverse : {false, true})
                if (n <= 1024)
                    add(rows, {nullptr, {w, n, n}, inverse, cpu_cores()});
            for (const coder *c = coders; c->library != nullptr; c++)
                if (c->w == w && c->variant == nullptr &&
                    n <= (c == coder_of("isa-l") ? 1024 : 256))
                    add(rows,
                        {c, {w, n, n}, false, c->library->threads == ONE_THREAD ? 1 : cpu_cores()});
        }
}
