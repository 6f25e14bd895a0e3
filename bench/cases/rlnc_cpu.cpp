// SPDX-License-Identifier: BSD-3-Clause
// The cases of network coding, and their rows on the CPU: this library, ISA-L, and a loop with GFNI.
#include "rlnc.h"

#include <cstring>
#include <random>

#include "cpu.h"

namespace {

constexpr int kSamples = 1000; // symbols that are computed again
constexpr size_t kSparePackets = 2;

unsigned char *aligned(std::vector<unsigned char> *memory, size_t bytes) {
    memory->resize(bytes + 256);
    return memory->data() + 255 - ((uintptr_t)memory->data() + 255) % 256;
}

// A symbol of a sum of regions `stride` apart, by one row of factors.
uint32_t expected_symbol(const gfk_field &field, const unsigned char *row, size_t count,
                         const unsigned char *in, size_t stride, size_t at) {
    const size_t size = field.w / 8;
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t c = 0, x = 0, product = 0;
        std::memcpy(&c, row + i * size, size);
        std::memcpy(&x, in + i * stride + at * size, size);
        GFK_CHECK(gfk_field_multiply(&field, c, x, &product));
        sum ^= product;
    }
    return sum;
}

// This library's calls.
struct CpuRlnc : Work {
    CpuRlnc(const Library &library, const RlncCase &c, unsigned threads)
        : library_(library), case_(c), threads_(threads) {}
    gfk_status start() override {
        const size_t most = std::max(case_.sources(), case_.outputs()) * case_.stride();
        const HostBuffers buffers = host_buffers(most);
        in_ = buffers.src;
        out_ = buffers.dst;
        const gfk_status status = make_rlnc(library_, case_, case_.n, false, threads_, &code_);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        const gfk_rlnc_range range = case_.range();
        size_t space = 0;
        GFK_CHECK(case_.operation == RlncCase::Recode
                      ? library_.gfk_rlnc_recode_workspace(code_, &range, case_.n, &space)
                      : library_.gfk_rlnc_encode_workspace(code_, &range, &space));
        space_ = space;
        workspace_ = aligned(&memory_, space);
        const size_t row = case_.row_bytes();
        made_.resize(case_.outputs() * row);
        if (case_.operation == RlncCase::Recode)
            vectors_.resize(case_.sources() * row);
        std::mt19937_64 random(9);
        for (unsigned char &byte : vectors_)
            byte = (unsigned char)random();
        headers_ = case_.headers();
        if (case_.decodes()) {
            GFK_CHECK(encode());
            decoded_.resize(case_.sources() * case_.stride());
        }
        return call(nullptr);
    }
    double pass(long) override {
        double us = 0;
        GFK_CHECK(call(&us));
        return us;
    }
    std::string check(bool after) override {
        if (after)
            return "";
        const size_t stride = case_.stride(), row = case_.row_bytes();
        if (case_.decodes()) {
            std::fill(decoded_.begin(), decoded_.end(), (unsigned char)0xa5);
            pass(0);
            for (size_t i = 0; i < case_.sources(); i++)
                if (std::memcmp(&decoded_[i * stride], in_ + i * stride, case_.bytes) != 0)
                    return "source " + std::to_string(i) + " is wrong";
            return "";
        }
        std::memset(out_, 0xa5, case_.outputs() * stride);
        std::fill(made_.begin(), made_.end(), (unsigned char)0xa5);
        pass(0);
        const std::vector<unsigned char> rows = rlnc_rows(case_);
        if (case_.operation == RlncCase::Vectors)
            return rows == made_ ? "" : "the vectors are wrong";
        const gfk_field field = field_of(case_.w);
        const size_t size = case_.w / 8;
        std::mt19937_64 random(3);
        for (int sample = 0; sample < kSamples; sample++) {
            const size_t i = random() % case_.outputs(), first = i / case_.packets * case_.n;
            const size_t at = random() % (case_.bytes / size), e = random() % case_.n;
            uint32_t payload = 0, element = 0;
            std::memcpy(&payload, out_ + i * stride + at * size, size);
            std::memcpy(&element, &made_[i * row + e * size], size);
            if (payload != expected_symbol(field, &rows[i * row], case_.n, in_ + first * stride,
                                           stride, at) ||
                (case_.operation == RlncCase::Recode &&
                 element != expected_symbol(field, &rows[i * row], case_.n,
                                            vectors_.data() + first * row, row, e)))
                return "packet " + std::to_string(i) + " is wrong";
        }
        return "";
    }

  private:
    gfk_status encode() {
        const gfk_rlnc_range range = case_.range();
        const gfk_regions from = {nullptr, in_, case_.stride()};
        const gfk_regions to = {nullptr, out_, case_.stride()};
        return library_.gfk_rlnc_encode(code_, &range, &from, &to, nullptr, 0, workspace_, space_,
                                        nullptr);
    }
    gfk_status call(double *us) {
        const gfk_rlnc_range range = case_.range();
        const gfk_regions from = {nullptr, in_, case_.stride()};
        const gfk_regions to = {nullptr, out_, case_.stride()};
        Object<gfk_rlnc_decoder_t> decoder;
        if (case_.decodes())
            GFK_CHECK(decoder.make(library_.gfk_rlnc_decoder_create,
                                   library_.gfk_rlnc_decoder_destroy, code_, range.generation,
                                   range.generations, size_t{0}));
        const Stopwatch watch;
        gfk_status status = GFK_STATUS_SUCCESS;
        if (case_.operation == RlncCase::Vectors) {
            status = library_.gfk_rlnc_vectors(code_, &range, made_.data(), case_.n, nullptr);
        } else if (case_.operation == RlncCase::Recode) {
            status = library_.gfk_rlnc_recode(code_, &range, kRecodeSeed, case_.n, vectors_.data(),
                                              case_.n, &from, made_.data(), case_.n, &to,
                                              workspace_, space_, nullptr);
        } else if (case_.decodes()) {
            status =
                decode_packets(library_, case_, decoder, headers_, out_, decoded_.data(), nullptr);
        } else {
            status = encode();
        }
        if (us != nullptr)
            *us = watch.us();
        return status;
    }

    const Library &library_;
    RlncCase case_;
    unsigned threads_;
    Object<gfk_rlnc_t> code_;
    unsigned char *in_ = nullptr, *out_ = nullptr, *workspace_ = nullptr;
    std::vector<unsigned char> memory_, vectors_, made_, decoded_;
    std::vector<gfk_rlnc_header> headers_;
    size_t space_ = 0;
};

// Another library's encode. The threads share the packets, or generations, which then have the same
// matrix; tables are made beforehand.
struct CpuCoder : Work {
    CpuCoder(const Library &, const RlncCase &c, const coder *other, unsigned threads)
        : case_(c), other_(other), rows_(rlnc_rows(c)), team_(threads) {
        const HostBuffers buffers = host_buffers(std::max(c.sources(), c.outputs()) * c.stride());
        in_ = regions_at(buffers.src, c.sources(), c.stride());
        out_ = regions_at(buffers.dst, c.outputs(), c.stride());
        const size_t parts = c.generations > 1 ? 1 : std::min<size_t>(threads, c.packets);
        for (size_t part = 0; part <= parts; part++)
            firsts_.push_back(c.packets * part / parts);
    }
    ~CpuCoder() override {
        for (void *object : objects_)
            other_->library->destroy(object);
    }
    gfk_status start() override {
        const Stopwatch watch;
        for (size_t part = 0; part + 1 < firsts_.size(); part++) {
            const unsigned char *first = &rows_[firsts_[part] * case_.row_bytes()];
            const size_t rows = firsts_[part + 1] - firsts_[part];
            const std::vector<uint32_t> matrix(first, first + rows * case_.n);
            objects_.push_back(
                other_->library->create(other_, (int)case_.n, (int)rows, matrix.data()));
            if (objects_.back() == nullptr) {
                objects_.pop_back();
                return GFK_STATUS_OUT_OF_MEMORY;
            }
        }
        facts.add("setup_us", watch.us());
        return GFK_STATUS_SUCCESS;
    }
    double pass(long) override {
        if (objects_.size() == 1 && case_.generations == 1) { // wakes nobody
            const Stopwatch watch;
            other_->library->encode(objects_[0], in_.data(), out_.data(), case_.bytes);
            return watch.us();
        }
        if (case_.generations > 1)
            return 1e6 * team_.run(case_.generations, 1, [this](unsigned, size_t g, size_t end) {
                for (; g < end; g++)
                    other_->library->encode(objects_[0], &in_[g * case_.n],
                                            &out_[g * case_.packets], case_.bytes);
            });
        return 1e6 * team_.run([this](unsigned t) {
            if (t < objects_.size())
                other_->library->encode(objects_[t], in_.data(), &out_[firsts_[t]], case_.bytes);
        });
    }
    std::string check(bool after) override {
        if (after)
            return "";
        std::memset(out_[0], 0xa5, case_.outputs() * case_.stride());
        pass(0);
        const gfk_field field = field_of(case_.w);
        std::mt19937_64 random(3);
        for (int sample = 0; sample < kSamples; sample++) {
            const size_t i = random() % case_.outputs(), at = random() % case_.bytes;
            if (out_[i][at] != expected_symbol(field, &rows_[i % case_.packets * case_.n], case_.n,
                                               in_[i / case_.packets * case_.n], case_.stride(),
                                               at))
                return "packet " + std::to_string(i) + " is wrong";
        }
        return "";
    }

  private:
    RlncCase case_;
    const coder *other_;
    std::vector<unsigned char> rows_;
    std::vector<size_t> firsts_; // packet of each part
    Regions in_, out_;
    std::vector<void *> objects_;
    Team team_;
};

void add_coder(Rows *rows, const RlncCase &c, const coder *other, unsigned threads) {
    const coder_library *const library = other->library;
    Row row = rlnc_row(c, std::string("rlnc_") + library->name, "cpu", threads);
    row.facts.add("implementation", library->name);
    row.passes = c.operation == RlncCase::Packet ? 31 : 5;
    row.compared = false;
    row.missing = [=] {
        const bool here = library->version == nullptr || library->version() != nullptr;
        return std::string(here ? "" : "not on this machine");
    };
    row.make = makes<CpuCoder>(c, other, threads);
    rows->push_back(row);
}

} // namespace

const char *RlncCase::operation_name() const {
    static const char *const names[] = {"vectors", "encode",      "matmul", "recode",
                                        "decode",  "progressive", "packet"};
    return names[operation];
}

std::string RlncCase::id() const {
    return std::string("rlnc_") + operation_name() + "_w" + std::to_string(w);
}

std::string RlncCase::name() const {
    return id() + "/" + shape_text({w, n, packets}) + "/" + size_text(bytes) +
           (generations > 1 ? "/x" + std::to_string(generations) : "");
}

std::vector<gfk_rlnc_header> RlncCase::headers() const {
    std::vector<gfk_rlnc_header> all;
    for (size_t i = 0; i < outputs(); i++)
        all.push_back(
            {range().generation + i / packets, (uint32_t)(range().first + i % packets), 0});
    return all;
}

double RlncCase::data_bytes() const {
    return operation == Vectors ? (double)(outputs() * row_bytes())
           : decodes()          ? (double)(sources() * bytes)
                                : (double)(outputs() * bytes);
}

std::vector<RlncCase> rlnc_cases(const Options &options) {
    static const std::vector<RlncCase> all = [] {
        using C = RlncCase;
        std::vector<C> cases = {{C::Vectors, 8, 1024, 7168, 0}, {C::Vectors, 16, 1024, 7168, 0}};
        const auto encodes = [&](unsigned w, size_t n, size_t packets, size_t bytes) {
            for (C::Operation operation : {C::Matmul, C::Encode})
                cases.push_back({operation, w, n, packets, bytes});
        };
        for (size_t n : {128, 256, 512, 1024})
            for (size_t bytes : {128, 512, 1024, 2048, 4096, 16384})
                encodes(8, n, 7 * n, bytes);
        encodes(16, 1024, 7168, 2048);
        cases.push_back({C::Recode, 8, 128, 896, 1024});
        cases.push_back({C::Recode, 8, 1024, 7168, 2048});
        cases.push_back({C::Recode, 16, 1024, 7168, 2048});
        for (unsigned w : {8u, 16u})
            for (size_t generations : {1, 1000})
                for (C::Operation operation : {C::Encode, C::Recode})
                    cases.push_back({operation, w, 128, 128, 1500, generations});
        for (unsigned w : {8u, 16u})
            for (size_t generations : {1, 1000})
                cases.push_back({C::Decode, w, 128, 128 + kSparePackets, 1500, generations});
        for (size_t bytes : {2048, 16384}) {
            cases.push_back({C::Encode, 8, 1024, 1024, bytes});
            cases.push_back({C::Decode, 8, 1024, 1024 + kSparePackets, bytes});
        }
        for (size_t n : {128, 1024})
            for (size_t bytes : {1500, 16384})
                cases.push_back({C::Packet, 8, n, 1, bytes});
        return cases;
    }();
    return options.is("rlnc") ? all : std::vector<RlncCase>();
}

// As many packets as sources, where a device makes seven times as many; and a tenth of the generations.
std::vector<RlncCase> rlnc_cpu_cases(const Options &options) {
    std::vector<RlncCase> cases;
    for (RlncCase c : rlnc_cases(options)) {
        if (c.operation == RlncCase::Encode || c.operation == RlncCase::Recode)
            c.packets = c.n;
        c.generations = c.generations > 10 ? c.generations / 10 : c.generations;
        const auto is_same = [&](const RlncCase &other) { return other.name() == c.name(); };
        if (std::none_of(cases.begin(), cases.end(), is_same))
            cases.push_back(c);
    }
    return cases;
}

gfk_status make_rlnc(const Library &library, const RlncCase &c, size_t n, bool on_device,
                     unsigned threads, Object<gfk_rlnc_t> *code) {
    const gfk_field field = field_of(c.w);
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    desc.device = on_device ? GFK_CURRENT_DEVICE : GFK_CPU;
    desc.threads = threads;
    desc.seed = kRlncSeed;
    desc.kernel = on_device ? named_matmul(c.w) : nullptr;
    return code->make(library.gfk_rlnc_create, library.gfk_rlnc_destroy, &field, n, c.bytes, &desc);
}

gfk_status decode_packets(const Library &library, const RlncCase &c, gfk_rlnc_decoder_t decoder,
                          const std::vector<gfk_rlnc_header> &headers, void *packets, void *sources,
                          gfk_stream_t stream) {
    const gfk_regions out = {nullptr, sources, c.stride()};
    std::vector<gfk_rlnc_record> records(c.generations);
    for (size_t i = 0; i < headers.size(); i += c.step()) {
        const gfk_regions part = {nullptr, (char *)packets + i * c.stride(), c.stride()};
        GFK_CHECK(library.gfk_rlnc_decoder_add(decoder, &headers[i], c.step(), nullptr, 0, &part,
                                               nullptr, stream));
    }
    GFK_CHECK(library.gfk_rlnc_decoder_decode(decoder, &out, nullptr, stream));
    return library.gfk_rlnc_decoder_wait(decoder, stream, 0, records.size(), records.data());
}

std::vector<unsigned char> rlnc_rows(const RlncCase &c) {
    const gfk_field field = field_of(c.w);
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    desc.device = GFK_CPU;
    desc.seed = c.operation == RlncCase::Recode ? kRecodeSeed : kRlncSeed;
    Object<gfk_rlnc_t> code;
    GFK_CHECK(code.make(gfk_rlnc_create, gfk_rlnc_destroy, &field, c.n, size_t{0}, &desc));
    std::vector<unsigned char> rows(c.outputs() * c.row_bytes());
    const gfk_rlnc_range range = c.range();
    GFK_CHECK(gfk_rlnc_vectors(code, &range, rows.data(), c.n, nullptr));
    return rows;
}

Row rlnc_row(const RlncCase &c, const std::string &id, const char *where, unsigned threads) {
    std::string name = c.name();
    name.replace(0, c.id().size(), id);
    if (threads != 0)
        name += "/threads=" + std::to_string(threads);
    Row row(name, shape_facts("rlnc", c.operation_name(), where, id, {c.w, c.n, c.packets}));
    row.facts.add("mode", "set", "region_bytes", c.bytes, "stripes",
                  when(c.generations > 1, c.generations), "threads", when(threads != 0, threads));
    row.data_bytes = c.data_bytes();
    row.moved = c.operation == RlncCase::Vectors ? 1 : 1 + (double)c.n / (double)c.packets;
    return row;
}

// A single packet is also measured on one thread: waking others may take longer than the packet.
void rlnc_cpu_rows(const std::vector<RlncCase> &cases, Rows *rows) {
    for (const RlncCase &c : cases) {
        if (c.operation == RlncCase::Matmul)
            continue;
        const bool is_packet = c.operation == RlncCase::Packet;
        for (unsigned threads : {1u, cpu_cores()}) {
            if (threads == 1 && !is_packet && cpu_cores() != 1)
                continue;
            Row row = rlnc_row(c, c.id(), "cpu", threads);
            row.passes = is_packet ? 31 : 5;
            row.make = makes<CpuRlnc>(c, threads);
            rows->push_back(row);
            if (c.w == 8 && (is_packet || c.operation == RlncCase::Encode)) {
                if (coder_of("isa-l") != nullptr)
                    add_coder(rows, c, coder_of("isa-l"), threads);
                add_coder(rows, c, &gfni_coder, threads);
            }
            if (cpu_cores() == 1)
                break;
        }
    }
}

void add_rlnc_cpu_rows(const Options &options, Rows *rows) {
    rlnc_cpu_rows(rlnc_cpu_cases(options), rows);
}
