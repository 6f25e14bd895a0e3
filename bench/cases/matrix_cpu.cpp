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

gfk_matmul_desc on_cpu(unsigned threads) {
    gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
    desc.device = GFK_CPU;
    desc.threads = threads;
    return desc;
}

struct CpuMatrix : Work {
    CpuMatrix(const Library &library, const CpuMatrixCase &c)
        : library_(library), case_(c), field_(field_of(c.shape.w)),
          matrix_(matrix_of(c.shape, false, 1)), team_(c.threads) {
        const HostBuffers buffers = host_buffers(c.region() * c.shape.k);
        in_ = regions_at(buffers.src, c.shape.k, c.region());
        out_ = regions_at(buffers.dst, c.shape.m, c.region());
        elements_ = packed(matrix_, c.shape.w);
    }
    ~CpuMatrix() override {
        for (void *object : objects_)
            case_.other->library->destroy(object);
    }
    gfk_status start() override {
        if (case_.other == nullptr) {
            const gfk_matmul_desc desc = on_cpu(case_.threads);
            GFK_CHECK(case_.inverse ? library_.gfk_matrix_invert_workspace(&field_, case_.shape.k,
                                                                           &desc, &workspace_bytes_)
                                    : library_.gfk_matmul_workspace(&field_, case_.shape.m,
                                                                    case_.shape.k, case_.region(),
                                                                    &desc, &workspace_bytes_));
            workspace_.resize(workspace_bytes_ + 256);
            return call();
        }
        const int n = (int)case_.shape.k;
        for (unsigned t = 0; t < case_.threads; t++)
            objects_.push_back(case_.other->library->create(case_.other, n, n, matrix_.data()));
        return objects_[0] ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY;
    }
    double pass(long) override {
        const Stopwatch watch;
        if (case_.other == nullptr)
            GFK_CHECK(call());
        else
            team_.run(case_.region(), 512, [this](unsigned t, size_t from, size_t to) {
                Regions in = shifted(in_, from), out = shifted(out_, from);
                case_.other->library->encode(objects_[t], in.data(), out.data(), to - from);
            });
        return watch.us();
    }
    // Symbols of A B = C, or of the matrix by its inverse.
    std::string check(bool after) override {
        if (!after) {
            std::fill(out_[0], out_[0] + case_.region() * out_.size(), (unsigned char)0xa5);
            pass(0);
        }
        const size_t n = case_.shape.k, symbols = case_.region() * 8 / case_.shape.w;
        std::mt19937_64 random(3);
        for (int i = 0; i < kSamples; i++) {
            const size_t row = random() % n, at = i % 4 ? random() % symbols : row;
            const Regions &from = case_.inverse ? out_ : in_;
            uint32_t sum = 0, product = 0;
            for (size_t k = 0; k < n; k++) {
                GFK_CHECK(gfk_field_multiply(&field_, matrix_[row * n + k], symbol(from[k], at),
                                             &product));
                sum ^= product;
            }
            if (sum != (case_.inverse ? row == at : symbol(out_[row], at)))
                return "symbol " + std::to_string(at) + " of row " + std::to_string(row) +
                       " is wrong";
        }
        return "";
    }

  private:
    uint32_t symbol(const unsigned char *region, size_t at) const {
        uint32_t value = 0;
        const size_t size = case_.shape.w / 8;
        for (size_t b = 0; b < size; b++)
            value |= (uint32_t)region[at * size + b] << 8 * b;
        return value;
    }
    gfk_status call() {
        const gfk_matmul_desc desc = on_cpu(case_.threads);
        const gfk_regions in = list_of(in_), out = list_of(out_);
        unsigned char *workspace =
            workspace_.data() + 255 - ((uintptr_t)workspace_.data() + 255) % 256;
        const size_t n = case_.shape.k;
        const gfk_matrix a = GFK_MATRIX_DENSE_INIT(elements_.data(), n, n, n);
        gfk_matrix_record record;
        if (case_.inverse)
            return library_.gfk_matrix_invert(&field_, &a, out_[0], n, &record, nullptr, &desc,
                                              workspace, workspace_bytes_, nullptr);
        return library_.gfk_matmul(&field_, &a, &in, &out, case_.region(), GFK_SET, &desc,
                                   workspace, workspace_bytes_, nullptr);
    }

    const Library &library_;
    CpuMatrixCase case_;
    gfk_field field_;
    std::vector<uint32_t> matrix_;
    std::vector<unsigned char> elements_, workspace_;
    size_t workspace_bytes_ = 0;
    Regions in_, out_;
    std::vector<void *> objects_;
    Team team_;
};

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
    row.make = makes<CpuMatrix>(c);
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
