// SPDX-License-Identifier: BSD-3-Clause
// The cases of network coding, and their rows on the CPU: this library, ISA-L, and a loop with GFNI.
#include "rlnc.h"

#include <cstring>
#include <random>

#include "cpu.h"

namespace {

constexpr int kSamples = 1000; // symbols that are computed again
constexpr size_t kSparePackets = 2;

// Samples of the outputs, of which output i is of generation i / outputs, by rows of factors.
std::string check_samples(const gfk_field &field, const std::vector<unsigned char> &rows, size_t n,
                          const Regions &in, const Regions &out, size_t bytes) {
    const size_t size = field.w / 8, generations = in.size() / n;
    std::mt19937_64 random(3);
    for (int sample = 0; sample < kSamples; sample++) {
        const size_t i = random() % out.size(), at = random() % (bytes / size);
        const auto first = in.begin() + (long)(i * generations / out.size() * n);
        const Regions generation(first, first + (long)n);
        if (symbol_at(out[i], field.w, at) !=
            expected_symbol(field, &rows[i * n * size % rows.size()], generation, at))
            return "packet " + std::to_string(i) + " is wrong";
    }
    return "";
}

// This library's calls.
std::unique_ptr<Work> make_calls(const Library &library, const RlncCase &c, unsigned threads) {
    auto work = std::make_unique<CallsWork>();
    const size_t stride = c.stride(), row = c.row_bytes();
    const HostBuffers buffers = host_buffers(std::max(c.sources(), c.outputs()) * stride);
    const auto calls = std::make_shared<RlncCalls>(library, c);
    work->status = make_rlnc(library, c, c.n, false, threads, &calls->code);
    if (work->status != GFK_STATUS_SUCCESS)
        return work;
    struct Memory {
        Aligned workspace;
        std::vector<unsigned char> vectors, made, decoded;
    };
    const auto memory = std::make_shared<Memory>(
        Memory{Aligned(calls->workspace()), std::vector<unsigned char>(c.sources() * row),
               std::vector<unsigned char>(c.outputs() * row),
               std::vector<unsigned char>(c.decodes() ? c.sources() * stride : 0)});
    std::mt19937_64 random(9);
    for (unsigned char &byte : memory->vectors)
        byte = (unsigned char)random();
    calls->read = memory->vectors.data();
    calls->made = memory->made.data();
    calls->space = memory->workspace.data();
    const auto headers = c.headers();
    if (c.decodes())
        GFK_CHECK(calls->run(buffers.src, buffers.dst, nullptr)); // the packets
    work->call = [=, &library](long) {
        Object<gfk_rlnc_decoder_t> decoder;
        if (c.decodes())
            GFK_CHECK(calls->make_decoder(&decoder));
        const Stopwatch watch;
        GFK_CHECK(c.decodes() ? decode_packets(library, c, decoder, headers, buffers.dst,
                                               memory->decoded.data(), nullptr)
                              : calls->run(buffers.src, buffers.dst, nullptr));
        return watch.us();
    };
    work->compare = [=, call = work->call](bool after) -> std::string {
        if (after)
            return "";
        const Regions in = regions_at(buffers.src, c.sources(), stride);
        for (auto *bytes : {&memory->decoded, &memory->made})
            std::fill(bytes->begin(), bytes->end(), (unsigned char)0xa5);
        if (!c.decodes())
            std::memset(buffers.dst, 0xa5, c.outputs() * stride);
        call(0);
        for (size_t i = 0; c.decodes() && i < in.size(); i++)
            if (std::memcmp(&memory->decoded[i * stride], in[i], c.bytes) != 0)
                return "source " + std::to_string(i) + " is wrong";
        if (c.decodes())
            return "";
        const std::vector<unsigned char> rows = rlnc_rows(c);
        if (c.operation == RlncCase::Vectors)
            return rows == memory->made ? "" : "the vectors are wrong";
        const gfk_field field = field_of(c.w);
        const Regions out = regions_at(buffers.dst, c.outputs(), stride);
        std::string wrong = check_samples(field, rows, c.n, in, out, c.bytes);
        if (wrong.empty() && c.operation == RlncCase::Recode) // their vectors are sums too
            wrong = check_samples(field, rows, c.n,
                                  regions_at(memory->vectors.data(), c.sources(), row),
                                  regions_at(memory->made.data(), c.outputs(), row), row);
        return wrong;
    };
    return work;
}

// Another library's encode. The threads share the packets, or generations, which then have the same
// matrix; tables are made beforehand.
std::unique_ptr<Work> make_coder(const Library &, const RlncCase &c, const coder *other,
                                 unsigned threads) {
    struct Coders {
        explicit Coders(unsigned count) : team(count) {}
        ~Coders() {
            for (void *object : objects)
                library->destroy(object);
        }
        const coder_library *library;
        std::vector<size_t> firsts; // packet of each part
        std::vector<void *> objects;
        Team team;
    };
    auto work = std::make_unique<CallsWork>();
    const HostBuffers buffers = host_buffers(std::max(c.sources(), c.outputs()) * c.stride());
    const Regions in = regions_at(buffers.src, c.sources(), c.stride());
    const Regions out = regions_at(buffers.dst, c.outputs(), c.stride());
    const std::vector<unsigned char> rows = rlnc_rows(c);
    const auto coders = std::make_shared<Coders>(threads);
    const size_t parts = c.generations > 1 ? 1 : std::min<size_t>(threads, c.packets);
    coders->library = other->library;
    const Stopwatch watch;
    for (size_t part = 0; part < parts; part++) {
        coders->firsts.push_back(c.packets * part / parts);
        const size_t count = c.packets * (part + 1) / parts - coders->firsts[part];
        const unsigned char *first = &rows[coders->firsts[part] * c.row_bytes()];
        const std::vector<uint32_t> matrix(first, first + count * c.n);
        void *object = other->library->create(other, (int)c.n, (int)count, matrix.data());
        if (object == nullptr) {
            work->status = GFK_STATUS_OUT_OF_MEMORY;
            return work;
        }
        coders->objects.push_back(object);
    }
    work->facts.add("setup_us", watch.us());
    // The libraries do not write to the lists of regions, which they take as arrays of pointers.
    const auto encode = [=](size_t part, size_t source, size_t packet) {
        coders->library->encode(coders->objects[part], (unsigned char **)&in[source],
                                (unsigned char **)&out[packet], c.bytes);
    };
    work->call = [=](long) {
        if (parts == 1 && c.generations == 1) { // wakes nobody
            const Stopwatch each;
            encode(0, 0, 0);
            return each.us();
        }
        if (c.generations > 1)
            return 1e6 * coders->team.run(c.generations, 1, [&](unsigned, size_t g, size_t end) {
                for (; g < end; g++)
                    encode(0, g * c.n, g * c.packets);
            });
        return 1e6 * coders->team.run([&](unsigned t) {
            if (t < parts)
                encode(t, 0, coders->firsts[t]);
        });
    };
    work->compare = [=, call = work->call](bool after) -> std::string {
        if (after)
            return "";
        std::memset(out[0], 0xa5, c.outputs() * c.stride());
        call(0);
        const std::vector<unsigned char> same(rows.begin(),
                                              rows.begin() + (long)(c.packets * c.row_bytes()));
        return check_samples(field_of(c.w), same, c.n, in, out, c.bytes);
    };
    return work;
}

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
    row.make = made_by(make_coder, c, other, threads);
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

size_t RlncCalls::workspace() {
    const gfk_field field = field_of(c.w);
    const gfk_rlnc_range range = c.range();
    GFK_CHECK(c.operation == RlncCase::Matmul
                  ? library.gfk_matmul_workspace(&field, c.packets, c.n, c.bytes, &desc, &bytes)
              : c.operation == RlncCase::Recode
                  ? library.gfk_rlnc_recode_workspace(code, &range, c.n, &bytes)
                  : library.gfk_rlnc_encode_workspace(code, &range, &bytes));
    return bytes;
}

gfk_status RlncCalls::run(void *in, void *out, gfk_stream_t stream) const {
    const gfk_rlnc_range range = c.range();
    const gfk_regions from = {nullptr, in, c.stride()}, to = {nullptr, out, c.stride()};
    if (c.operation == RlncCase::Vectors)
        return library.gfk_rlnc_vectors(code, &range, made, c.n, stream);
    if (c.operation == RlncCase::Recode)
        return library.gfk_rlnc_recode(code, &range, kRecodeSeed, c.n, read, c.n, &from, made, c.n,
                                       &to, space, bytes, stream);
    if (c.operation != RlncCase::Matmul)
        return library.gfk_rlnc_encode(code, &range, &from, &to, nullptr, 0, space, bytes, stream);
    const gfk_field field = field_of(c.w);
    const gfk_matrix a = GFK_MATRIX_DENSE_INIT(rows, c.packets, c.n, c.n);
    return library.gfk_matmul(&field, &a, &from, &to, c.bytes, GFK_SET, &desc, space, bytes,
                              stream);
}

gfk_status RlncCalls::make_decoder(Object<gfk_rlnc_decoder_t> *decoder) const {
    const gfk_rlnc_range range = c.range();
    return decoder->make(library.gfk_rlnc_decoder_create, library.gfk_rlnc_decoder_destroy, code,
                         range.generation, range.generations, size_t{0});
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
            row.make = made_by(make_calls, c, threads);
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
