// SPDX-License-Identifier: BSD-3-Clause
// The classes RLNC and RLNCDecoder: network coding, gfk/rlnc.h.
#include <gfk/rlnc.h>

#include "host.h"
#include "matrix.h"
#include "places.h"
#include "reduce.h"

namespace gfk {
namespace {
using Shape = std::vector<size_t>;

const char *name_of_kind(gfk_rlnc_kind kind) {
    return kind == GFK_RLNC_PHILOX ? "philox" : "rfc8681";
}

// Refuses generations whose numbers pass 2^64.
void check_generations(uint64_t generation, size_t generations) {
    if (generations != 0 && generations - 1 > UINT64_MAX - generation)
        raise(GFK_STATUS_INVALID_SIZE, "generation: %llu and %zu generations pass 2^64",
              static_cast<unsigned long long>(generation), generations);
}

// A number of packets or of generations.
size_t count_of(Integer number, const char *name, size_t least = 0) {
    return number.size(name, least, GFK_RLNC_MOST_PACKETS, GFK_STATUS_INVALID_SIZE);
}

// Packets of generations. Raises InvalidArgument or InvalidSize for numbers out of their ranges.
gfk_rlnc_range range_of(Integer generation, Integer generations, Integer first, Integer count) {
    const uint64_t number = generation.word64("generation");
    const uint32_t begin = first.word32("first");
    const size_t packets = count_of(count, "count");
    if (packets > (UINT64_C(1) << 32) - begin)
        raise(GFK_STATUS_INVALID_SIZE, "first, count: packets %u to %u + %zu - 1 pass 2^32", begin, begin, packets);
    const size_t groups = count_of(generations, "generations");
    check_generations(number, groups);
    if (packets != 0 && groups > GFK_RLNC_MOST_PACKETS / packets)
        raise(GFK_STATUS_INVALID_SIZE,
              "generations, count: %zu generations of %zu packets; a call takes %d packets at most", groups, packets,
              GFK_RLNC_MOST_PACKETS);
    return {number, groups, begin, packets};
}

// (count, last...) or (groups, count / groups, last...).
Shape in_groups(size_t groups, size_t count, const Shape &last) {
    Shape shape = groups != 0 ? Shape{groups, count / groups} : Shape{count};
    shape.insert(shape.end(), last.begin(), last.end());
    return shape;
}

RLNCRecord record_of(uint64_t generation, const gfk_rlnc_record &r) {
    return RLNCRecord::of(generation, static_cast<gfk_status>(r.status), r.rank, r.kept, r.dropped, r.refused,
                          r.determined);
}

[[noreturn]] void raise_corrupt(uint64_t generation) {
    raise(GFK_STATUS_CORRUPT,
          "generation %llu: the packets contradict each other, so that at least one has been changed on its way",
          static_cast<unsigned long long>(generation));
}

// The headers of packets, and the shape of their numbers. packets: None, where there are rows of vectors.
// generations: None, where all packets are of `generation`.
std::pair<std::vector<gfk_rlnc_header>, Shape> rlnc_headers(nb::handle packets, nb::handle generations,
                                                            uint64_t generation, const Elements *rows) {
    if (packets.is_none() && rows == nullptr)
        raise_type("packets: the numbers of the packets are needed, or their vectors");
    const nb::object headers = python("_arrays", "packet_headers")(
        packets, generations.is_none() ? nb::object(nb::int_(generation)) : nb::borrow(generations),
        rows != nullptr ? in_groups(rows->groups(), rows->rows(), {}) : Shape());
    Shape shape = nb::cast<Shape>(headers.attr("shape"));
    shape.pop_back();
    return {vector_of<gfk_rlnc_header>(headers), std::move(shape)};
}

// The records say which generations are not determined, or contradict themselves.
gfk_status unless_undetermined(gfk_status status) {
    return status == GFK_STATUS_SINGULAR || status == GFK_STATUS_CORRUPT ? GFK_STATUS_SUCCESS : status;
}

void check_one(const Pipeline *pipeline, size_t generations) {
    if (pipeline != nullptr && generations != 1)
        raise(GFK_STATUS_INVALID_ARGUMENT, "generations: a pipeline takes one in a call, not %zu", generations);
}

// ---- codes --------------------------------------------------------------------------------------

// What an RLNC and its decoders share.
struct Code {
    Field field;
    size_t n, bytes;
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    std::optional<std::string> kernel; // of the products on GPUs
    Places<gfk_rlnc_t, gfk_rlnc_destroy> places;

    gfk_status create(gfk_rlnc_t *made, int device, unsigned threads, const char *id) const {
        gfk_rlnc_desc here = desc;
        here.device = device;
        here.threads = threads;
        here.kernel = id;
        return gfk_rlnc_create(made, &field, n, bytes, &here);
    }

    gfk_rlnc_t at(int device) {
        const char *id = kernel_id(kernel, field, device);
        return places.at(device, [&](gfk_rlnc_t *made) { return create(made, device, desc.threads, id); });
    }

    const char *words() const { return field.w == 8 ? "uint8" : field.w == 16 ? "uint16" : "uint32"; }

    void check_payloads(const Regions &regions, const char *name) const {
        if (regions.count() != 0 && regions.bytes() != bytes)
            raise_value("%s: a region of this code has %zu bytes, and there are regions of %zu", name, bytes,
                        regions.bytes());
    }
};

// Rows of coding vectors that a call writes: the caller's, or new ones.
struct VectorsOut {
    nb::object object;
    Elements elements;
    VectorsOut(Call &call, nb::handle out, const char *name, const Code &code, size_t groups, size_t rows,
               size_t generations, const char *dtype, nb::handle like)
        : object(out.is_none() ? call.empty(in_groups(groups, rows, {code.n}), dtype, like) : nb::borrow(out)),
          elements(call, object, code.field.w, use_of(out), name, generations) {
        elements.check_shape(rows, code.n);
    }
};

// ---- decoders -----------------------------------------------------------------------------------

class RLNCDecoder {
  public:
    RLNCDecoder(std::shared_ptr<Code> code, int device, nb::object like, Integer first, Integer count,
                Integer spare_packets)
        : code_(std::move(code)), device_(device), generations_(count_of(count, "generations", 1)),
          generation_(first.word64("generation")), like_(std::move(like)) {
        const size_t spare = count_of(spare_packets, "spare");
        check_generations(generation_, generations_);
        if (generations_ > GFK_RLNC_MOST_PACKETS / (code_->n + spare))
            raise(GFK_STATUS_INVALID_SIZE,
                  "generations, spare: %zu generations of n + spare = %zu packets; a decoder has %d packets at most",
                  generations_, code_->n + spare, GFK_RLNC_MOST_PACKETS);
        gfk_rlnc_t made = code_->at(device);
        const gfk_status status =
            Call(device).try_run(gfk_rlnc_decoder_create, &decoder_, made, generation_, generations_, spare);
        if (status == GFK_STATUS_INVALID_SIZE)
            raise(status, "generations, spare, bytes: the decoder would need more than 2^64 bytes");
        check(status);
    }
    ~RLNCDecoder() {
        finish(device_);
        gfk_rlnc_decoder_destroy(decoder_);
    }

    nb::object add(nb::handle packets, nb::handle payloads, nb::handle vectors, nb::handle generations,
                   nb::handle out) {
        const unsigned w = code_->field.w;
        Call call(device_);
        std::optional<Elements> rows;
        if (!vectors.is_none())
            rows.emplace(call, vectors, w, Use::Read, "vectors", ANY_GROUPS);
        if (generations.is_none() && generations_ != 1)
            raise_type("generations: a decoder of %zu generations needs the generation of each packet", generations_);
        const auto [headers, shape] = rlnc_headers(packets, generations, generation_, rows ? &*rows : nullptr);
        const size_t count = headers.size();
        if (rows)
            rows->check_shape(count, code_->n);
        const Regions from(call, payloads, count, w, Use::Read, "payloads", Regions::None, ANY_GROUPS);
        code_->check_payloads(from, "payloads");
        nb::object outcomes = out.is_none() ? call.empty(shape, "uint8") : nb::borrow(out);
        const Array to(call, outcomes, use_of(out), "out");
        to.check_elements(8);
        to.check_contiguous();
        if (to.bytes() != count)
            raise_value("out: %zu bytes are needed, one for each packet; there are %zu", count, to.bytes());
        if (!has_payloads_ && from.like().is_valid()) {
            like_ = call.empty({1}, nullptr, from.like());
            has_payloads_ = true;
        }
        const gfk_rlnc_header none = {};
        run(call, gfk_rlnc_decoder_add, decoder_, count != 0 ? headers.data() : &none, count,
            rows ? rows->data() : nullptr, rows ? rows->stride() : 0, from.get(), to.data(), call.stream());
        return out.is_none() ? python("_arrays", "to_host")(outcomes) : outcomes;
    }

    nb::tuple decode(nb::handle out, bool is_checked) {
        const size_t n = code_->n, sources = generations_ * n;
        const size_t groups = out.is_none() && generations_ > 1 ? generations_ : 0;
        Call call(device_);
        nb::object made = nb::borrow(out);
        if (out.is_none()) {
            const size_t item = settle(call);
            made = call.empty(in_groups(groups, sources, {code_->bytes / item}),
                              call.like().is_valid() ? nullptr : "uint8");
        }
        const Regions to(call, made, sources, code_->field.w, use_of(out), "out", Regions::None, generations_);
        code_->check_payloads(to, "out");
        nb::object decoded = call.empty(in_groups(groups != 0 ? groups : to.groups(), sources, {}), "bool");
        const Array mask(call, decoded, Use::New, "decoded");
        std::vector<gfk_rlnc_record> records(is_checked ? generations_ : 0);
        run(call, [&] {
            const gfk_status status = gfk_rlnc_decoder_decode(decoder_, to.get(), mask.data(), call.stream());
            return status == GFK_STATUS_SUCCESS && is_checked ? wait(call, records) : status;
        });
        for (size_t g = 0; g < records.size(); g++)
            if (records[g].status == GFK_STATUS_CORRUPT)
                raise_corrupt(generation_ + g);
        return nb::make_tuple(made, decoded);
    }

    nb::typed<nb::list, RLNCRecord> records() {
        nb::list made;
        uint64_t generation = generation_;
        for (const gfk_rlnc_record &r : fetch())
            made.append(record_of(generation++, r));
        return nb::borrow<nb::typed<nb::list, RLNCRecord>>(made);
    }

    size_t rank() {
        size_t sum = 0;
        for (const gfk_rlnc_record &r : fetch())
            sum += r.rank;
        return sum;
    }

    bool is_complete() { return rank() == generations_ * code_->n; }

    void reset(Integer first) {
        const uint64_t generation = first.word64("generation");
        check_generations(generation, generations_);
        Call call(device_);
        settle(call);
        run(call, [&] {
            const gfk_status status = gfk_rlnc_decoder_reset(decoder_, generation, call.stream());
            if (status == GFK_STATUS_SUCCESS && device_ != GFK_CPU && !call.like().is_valid())
                wait_for(call.stream()); // the packets may come on any other stream
            return status;
        });
        generation_ = generation;
    }

    uint64_t generation() const { return generation_; }
    size_t generations() const { return generations_; }
    std::string device() const { return name_of_device(device_); }

  private:
    // Calls on a decoder come one after the other.
    template <class Function, class... Arguments>
    void run(const Call &call, Function &&function, const Arguments &...arguments) {
        call.run([&] {
            const std::lock_guard<std::mutex> lock(mutex_);
            return function(arguments...);
        });
    }

    // The stream of a call without arrays is that of the framework whose payloads came first. Returns the
    // bytes of one of its elements.
    size_t settle(Call &call) const {
        const nb::object like = like_; // add may replace the member while Python code runs here
        return like.is_valid() ? Array(call, like, Use::Read, "like").item_bytes() : 1;
    }

    gfk_status wait(const Call &call, std::vector<gfk_rlnc_record> &records) {
        return unless_undetermined(gfk_rlnc_decoder_wait(decoder_, call.stream(), 0, generations_, records.data()));
    }

    std::vector<gfk_rlnc_record> fetch() {
        Call call(device_);
        settle(call);
        std::vector<gfk_rlnc_record> records(generations_);
        run(call, [&] { return wait(call, records); });
        return records;
    }

    const std::shared_ptr<Code> code_;
    const int device_;
    const size_t generations_;
    uint64_t generation_;
    bool has_payloads_ = false; // and like_ is one of them
    nb::object like_;           // a small array that tells the framework; or none
    gfk_rlnc_decoder_t decoder_ = nullptr;
    std::mutex mutex_;
};

// ---- encoders and recoders ----------------------------------------------------------------------

class RLNC {
  public:
    RLNC(Integer n, Integer bytes, const AnyField &field, const std::string &kind, Integer density, bool systematic,
         Integer seed, Integer threads, std::optional<std::string> kernel, bool check_pointers)
        : code_(std::make_shared<Code>()) {
        code_->field = field;
        code_->desc.kind = named(kind, "kind", GFK_RLNC_PHILOX, GFK_RLNC_RFC8681, name_of_kind);
        const bool is_philox = code_->desc.kind == GFK_RLNC_PHILOX;
        code_->n = n.size("n", 1, is_philox ? GFK_RLNC_MOST_SOURCES : 65535, GFK_STATUS_INVALID_SIZE);
        code_->bytes = bytes.size("bytes");
        if (code_->bytes % (code_->field.w / 8) != 0)
            raise(GFK_STATUS_INVALID_SIZE, "bytes: %zu bytes are no whole number of %u-bit symbols", code_->bytes,
                  code_->field.w);
        if (!is_philox && code_->field.polynomial != 0x11d)
            raise(GFK_STATUS_NOT_SUPPORTED, "kind: rfc8681 is for w = 8 with the polynomial 0x11d alone");
        code_->desc.density = static_cast<unsigned>(density.in("density", 0, is_philox ? 256 : 16));
        code_->desc.systematic = systematic;
        code_->desc.seed = seed.word64("seed");
        code_->desc.threads = threads.word32("threads");
        code_->desc.check_pointers = check_pointers;
        kernel_id(kernel, code_->field, GFK_CURRENT_DEVICE); // raises; the place is not known yet
        code_->kernel = std::move(kernel);
        // The code of a place is made when it is needed; here the arguments are checked.
        gfk_rlnc_t trial = nullptr;
        check(code_->create(&trial, GFK_CPU, 1, nullptr));
        gfk_rlnc_destroy(trial);
    }

    nb::object vectors(Integer first, Integer packets, Integer generation, Integer groups, nb::handle out,
                       nb::handle like) {
        const gfk_rlnc_range range = range_of(generation, groups, first, packets);
        const size_t generations = range.generations, count = range.count;
        Call call;
        std::optional<Array> model;
        if (out.is_none() && !like.is_none())
            model.emplace(call, like, Use::Read, "like");
        const VectorsOut to(call, out, "out", *code_, generations > 1 ? generations : 0, generations * count,
                            generations, code_->words(), nb::handle());
        gfk_rlnc_t code = code_->at(call.device());
        call.run(gfk_rlnc_vectors, code, &range, to.elements.data(), to.elements.stride(), call.stream());
        return to.object;
    }

    nb::object encode(nb::handle sources, Integer first, Integer count, Integer generation, Integer groups,
                      nb::handle out, nb::handle vectors, Pipeline *pipeline) {
        const unsigned w = code_->field.w;
        const gfk_rlnc_range range = range_of(generation, groups, first, count);
        const size_t generations = range.generations, packets = generations * range.count;
        Call call(pipeline);
        check_one(pipeline, generations);
        const Regions from(call, sources, generations * code_->n, w, Use::Read, "sources", Regions::None, generations);
        code_->check_payloads(from, "sources");
        const Output to(call, out, from, packets, w, generations);
        const bool is_asked = PyBool_Check(vectors.ptr()) || vectors.is_none();
        std::optional<VectorsOut> rows;
        if (!is_asked || vectors.ptr() == Py_True)
            rows.emplace(call, is_asked ? nb::none() : nb::borrow(vectors), "vectors", *code_, from.groups(), packets,
                         generations, code_->words(), from.like());
        gfk_rlnc_t code = code_->at(call.device());
        uint8_t *const elements = rows ? rows->elements.data() : nullptr;
        const size_t stride = rows ? rows->elements.stride() : 0;
        if (pipeline != nullptr) {
            if (rows)
                call.run(gfk_rlnc_vectors, code, &range, elements, stride, nullptr);
            pipeline->run(call, gfk_rlnc_encode_host, code, range.generation, range.first, range.count, from.get(),
                          to.regions.get());
        } else {
            const auto workspace = call.workspace(gfk_rlnc_encode_workspace, code, &range);
            call.run(gfk_rlnc_encode, code, &range, from.get(), to.regions.get(), elements, stride, workspace.memory,
                     workspace.bytes, call.stream());
        }
        return rows ? nb::object(nb::make_tuple(to.object, rows->object)) : to.object;
    }

    nb::tuple recode(nb::handle payloads, nb::handle vectors, Integer first, Integer count, Integer seed_of_recoder,
                     Integer generation, Integer groups, nb::handle out, Pipeline *pipeline) {
        const unsigned w = code_->field.w;
        const gfk_rlnc_range range = range_of(generation, groups, first, count);
        const size_t generations = range.generations, packets = generations * range.count;
        const uint64_t seed = seed_of_recoder.word64("seed");
        nb::object outs[2] = {nb::none(), nb::none()};
        if (!out.is_none()) {
            if (!PyTuple_Check(out.ptr()) || nb::len(out) != 2)
                raise_type("out: a tuple (payloads, vectors) is needed");
            outs[0] = out[0];
            outs[1] = out[1];
        }
        Call call(pipeline);
        check_one(pipeline, generations);
        const Elements rows(call, vectors, w, Use::Read, "vectors", generations);
        if (generations == 0 || rows.rows() % generations != 0)
            raise_value("vectors: %zu rows are not as many for each of %zu generations", rows.rows(), generations);
        rows.check_shape(rows.rows(), code_->n);
        const Regions from(call, payloads, rows.rows(), w, Use::Read, "payloads", Regions::None, generations);
        code_->check_payloads(from, "payloads");
        const Output to(call, outs[0], from, packets, w, generations);
        const VectorsOut made(call, outs[1], "out", *code_, rows.groups(), packets, generations, nullptr, vectors);
        const size_t received = rows.rows() / generations;
        if (received == 0 || received > GFK_RLNC_MOST_SOURCES)
            raise(received == 0 ? GFK_STATUS_INVALID_ARGUMENT : GFK_STATUS_INVALID_SIZE,
                  "payloads, vectors: %zu received packets of a generation; there are 1 to %d", received,
                  GFK_RLNC_MOST_SOURCES);
        gfk_rlnc_t code = code_->at(call.device());
        if (pipeline != nullptr) {
            pipeline->run(call, gfk_rlnc_recode_host, code, range.generation, range.first, packets, seed, received,
                          rows.data(), rows.stride(), from.get(), made.elements.data(), made.elements.stride(),
                          to.regions.get());
            return nb::make_tuple(to.object, made.object);
        }
        const auto workspace = call.workspace(gfk_rlnc_recode_workspace, code, &range, received);
        call.run(gfk_rlnc_recode, code, &range, seed, received, rows.data(), rows.stride(), from.get(),
                 made.elements.data(), made.elements.stride(), to.regions.get(), workspace.memory, workspace.bytes,
                 call.stream());
        return nb::make_tuple(to.object, made.object);
    }

    nb::tuple decode(nb::handle packets, nb::handle payloads, nb::handle vectors, Integer number,
                     nb::handle generations, nb::handle out, bool is_checked, Pipeline *pipeline) {
        const uint64_t generation = number.word64("generation");
        const unsigned w = code_->field.w;
        Call call(pipeline);
        std::optional<Elements> rows;
        if (!vectors.is_none())
            rows.emplace(call, vectors, w, Use::Read, "vectors");
        const std::vector<gfk_rlnc_header> headers =
            rlnc_headers(packets, generations, generation, rows ? &*rows : nullptr).first;
        const size_t count = headers.size();
        if (rows)
            rows->check_shape(count, code_->n);
        const Regions from(call, payloads, count, w, Use::Read, "payloads");
        code_->check_payloads(from, "payloads");
        if (pipeline == nullptr) {
            const nb::object like = from.like().is_valid() ? call.empty({1}, nullptr, from.like()) : nb::object();
            RLNCDecoder decoder(code_, call.device(), like, number, {nb::int_(1)}, {nb::int_(count)});
            decoder.add(packets, payloads, vectors,
                        generations.is_none() ? nb::object(nb::int_(generation)) : nb::borrow(generations), nb::none());
            const nb::tuple made = decoder.decode(out, is_checked);
            return nb::make_tuple(made[0], made[1], decoder.records()[0]);
        }
        const Output to(call, out, from, code_->n, w);
        code_->check_payloads(to.regions, "out");
        nb::object decoded = call.empty({code_->n}, "bool");
        const Array mask(call, decoded, Use::New, "decoded");
        const gfk_rlnc_header none = {};
        gfk_rlnc_record record = {};
        gfk_rlnc_t code = code_->at(GFK_CPU);
        pipeline->run(call, [&](gfk_pipeline_t handle, gfk_pipeline_report *report) {
            return unless_undetermined(gfk_rlnc_decode_host(
                handle, code, generation, count != 0 ? headers.data() : &none, count, rows ? rows->data() : nullptr,
                rows ? rows->stride() : 0, from.get(), to.regions.get(), mask.data(), &record, report));
        });
        if (is_checked && record.status == GFK_STATUS_CORRUPT)
            raise_corrupt(generation);
        return nb::make_tuple(to.object, decoded, record_of(generation, record));
    }

    RLNCDecoder *decoder(Integer generation, Integer generations, Integer spare, const Device &device,
                         nb::handle like) {
        const int number = device.number();
        if (like.is_none())
            return new RLNCDecoder(code_, number, nb::object(), generation, generations, spare);
        Call call;
        const Array array(call, like, Use::Read, "like");
        return new RLNCDecoder(code_, call.device(), call.empty({1}, "uint8"), generation, generations, spare);
    }

    Code &code() const { return *code_; }

    nb::dict arguments() const {
        const gfk_rlnc_desc &d = code_->desc;
        return keywords("n", code_->n, "bytes", code_->bytes, "field", code_->field, "kind", name_of_kind(d.kind),
                        "density", d.density, "systematic", d.systematic, "seed", d.seed, "threads", d.threads,
                        "kernel", code_->kernel, "check_pointers", d.check_pointers);
    }

  private:
    const std::shared_ptr<Code> code_;
};
} // namespace

static void bind_decoder(nb::module_ &module) {
    nb::enum_<gfk_rlnc_outcome>(module, "Outcome", nb::is_arithmetic(),
                                "What became of a packet that a decoder was given.")
        .value("INNOVATIVE", GFK_RLNC_INNOVATIVE, "It has raised the rank of its generation.")
        .value("DEPENDENT", GFK_RLNC_DEPENDENT, "It has not, and is kept to be checked.")
        .value("DROPPED", GFK_RLNC_DROPPED, "It has not, and there was no place to keep it.")
        .value("REFUSED", GFK_RLNC_REFUSED, "The zero vector, or a generation that the decoder does not have.");

    nb::class_<RLNCDecoder>(
        module, "RLNCDecoder",
        R"(A decoder of one or more generations at one place; RLNC.decoder makes it, with all memory that it needs.

A call on a GPU is in the order of the framework's current stream: use one stream for the calls on a decoder, or
streams that wait for each other. Any thread; calls on one decoder come one after the other.)")
        .def("add", &RLNCDecoder::add, "packets"_a.none(), "payloads"_a, "vectors"_a = nb::none(),
             "generations"_a = nb::none(), nb::kw_only(), "out"_a = nb::none(),
             R"(Takes packets, in any order. Many packets in one call take much less time than as many calls.

packets: the packets' numbers, integers below 2^32. None: the vectors are given.
payloads: as many regions of RLNC.bytes bytes at the decoder's place: an array or a list of arrays.
vectors: the coding vectors, an array (packets, n) of integers of w bits. None: they follow from the numbers. With
vectors the numbers are not read.
generations: the packets' generations, integers; None in a decoder of one generation. Numbers and generations are
broadcast as numpy does: with generations of the shape (g, 1), the payloads may have the shape (g, count, ...).
out: `packets` bytes at the decoder's place.

Returns out, one gfk.Outcome for each packet; with None a numpy array of uint8, for which the call waits on a GPU.
Among packets that depend on each other the first are the innovative ones.
Raises WrongDevice, Overlap, InvalidArgument (a number that is negative or too large), ValueError (shape),
TypeError.)")
        .def("decode", &RLNCDecoder::decode, "out"_a = nb::none(), nb::kw_only(), "check"_a = true,
             R"(Writes the sources that are determined so far. May be called again, and after further packets.

out: generations * n regions. None: a new array of the framework and the dtype of the first payloads: (n, length)
for one generation, (generations, n, length) for more.
check: waits, and raises Corrupt if kept packets of a generation contradict its sources; records() tells which
generations. From exactly n packets a changed packet cannot be noticed. With check=False the call does not wait on a
GPU.

Returns (out, decoded): decoded is an array of bool, True where a source has been written. The others are as they
were, and have no defined contents in a new array.)")
        .def("records", &RLNCDecoder::records,
             "The states of the generations; waits, and never raises what a record says.")
        .def_prop_ro("rank", &RLNCDecoder::rank, "Innovative packets of all generations together; waits.")
        .def_prop_ro("complete", &RLNCDecoder::is_complete, "Are all sources determined? Waits.")
        .def("reset", &RLNCDecoder::reset, "generation"_a = 0,
             "Empties the decoder, which becomes one of as many generations from this one on.")
        .def_prop_ro("generation", &RLNCDecoder::generation, "The first generation.")
        .def_prop_ro("generations", &RLNCDecoder::generations, "How many generations.")
        .def_prop_ro("device", &RLNCDecoder::device, "Where it is.");
}

void bind_rlnc(nb::module_ &module) {
    bind_decoder(module);
    nb::class_<RLNC>(
        module, "RLNC",
        R"(Random linear network coding. The n sources of a generation are regions of the same length; the payload of a packet
is a sum of multiples of the sources, and the n factors are the packet's coding vector, which follows from the
numbers of the generation and the packet. Any n packets whose vectors are independent determine the sources.

n: sources of a generation, 1 to 65536. bytes: of a source and of a payload, whole symbols of w bits.
field: a Field, or a width of 8, 16 or 32.
kind: "philox", uniform elements; "rfc8681": the coefficients of RFC 8681, w = 8.
density: philox: of 256, the chance that an element is kept, 256 keeps all; rfc8681: of 16, the chance of an element
that is not zero. 0: the largest.
systematic: packets 0 to n - 1 of a generation are its sources.
seed: of philox. threads: on the CPU; 0: every core. check_pointers: for debugging.
kernel: of the products on GPUs, as of gfk.matmul, for tests and benchmarks. Calls with arrays on the CPU, decoders
there and calls with a pipeline then raise InvalidArgument; calls on a GPU that does not run the kernel raise
NotSupported.
Raises InvalidArgument (also a kernel of another width), InvalidSize, UnknownMethod (no kernel of matmul has this
id), NotSupported (rfc8681 in another field).

Regions and vectors of several generations follow each other: an array of the shape (generations * count, ...) or
(generations, count, ...), or a list. What a GPU needs is that of gfk.matmul. Any thread.)")
        .def(nb::init<Integer, Integer, const AnyField &, const std::string &, Integer, bool, Integer, Integer,
                      std::optional<std::string>, bool>(),
             "n"_a, "bytes"_a, "field"_a = 8, nb::kw_only(), "kind"_a = "philox", "density"_a = 0,
             "systematic"_a = false, "seed"_a = 0, "threads"_a = 0, "kernel"_a = nb::none(), "check_pointers"_a = false)
        .def("vectors", &RLNC::vectors, "first"_a, "count"_a, "generation"_a = 0, "generations"_a = 1, nb::kw_only(),
             "out"_a = nb::none(), "like"_a = nb::none(),
             R"(The coding vectors of packets first to first + count - 1 of each of these generations.

out: an array (generations * count, n) or (generations, count, n) of integers of w bits; rows may have gaps between
them. None: a new array, of the framework and at the place of the array `like`, by default of numpy: (count, n) for
one generation, (generations, count, n) for more. Returns out.)")
        .def("encode", &RLNC::encode, "sources"_a, "first"_a, "count"_a, "generation"_a = 0, "generations"_a = 1,
             nb::kw_only(), "out"_a = nb::none(), "vectors"_a = false, "pipeline"_a = nb::none(),
             R"(The payloads of packets first to first + count - 1 of each of these generations.

sources: generations * n regions. out: generations * count regions; None: a new array, in three dimensions if
sources is such an array.
vectors: True: the coding vectors too; or an array that gets them, as of RLNC.vectors.
pipeline: a gfk.Pipeline, for arrays in the CPU's memory and one generation.
Returns out, with vectors the tuple (out, vectors). On a GPU the work is in the order of the framework's current
stream.
Raises InvalidSize (numbers that pass 2^32 or 2^64), Overlap, WrongDevice, TypeError (dtype), ValueError (shape).)")
        .def(
            "recode", &RLNC::recode, "payloads"_a, "vectors"_a, "first"_a, "count"_a, "seed"_a, "generation"_a = 0,
            "generations"_a = 1, nb::kw_only(), "out"_a = nb::none(), "pipeline"_a = nb::none(),
            R"(New packets of received ones, in each generation by itself, without decoding: sums of all received packets times
random factors.

payloads: generations * received regions, with as many for each generation. vectors: their coding vectors, rows of n
integers of w bits.
first, generation: numbers of the new packets, for their factors alone. seed: a recoder has one of its own.
out: a tuple (payloads, vectors) of arrays; None: new arrays, shaped as the given ones.
pipeline: as of encode. Returns (payloads, vectors): generations * count packets. Raises as encode.)")
        .def(
            "decode", &RLNC::decode, "packets"_a.none(), "payloads"_a, "vectors"_a = nb::none(), "generation"_a = 0,
            nb::kw_only(), "generations"_a = nb::none(), "out"_a = nb::none(), "check"_a = true,
            "pipeline"_a = nb::none(),
            R"(The sources of a generation, from all packets of it that have come; a decoder (RLNC.decoder) takes packets as they
come.

packets, payloads, vectors, generations: as of RLNCDecoder.add; packets of other generations are left out.
out: n regions; None: a new array like the payloads. check: raise Corrupt if packets contradict each other; from
exactly n packets a changed packet cannot be noticed. pipeline: a gfk.Pipeline, for arrays in the CPU's memory.

Returns (out, decoded, record): decoded is an array of bool, True where a source has been written, the others are as
they were; record is the RLNCRecord, whose status is Status.SINGULAR where not all sources are determined, and where
kept counts all dependent packets. Waits. Raises as RLNCDecoder.add and decode.)")
        .def("decoder", &RLNC::decoder, "generation"_a = 0, "generations"_a = 1, nb::kw_only(), "spare"_a = 0,
             "device"_a = "cpu", "like"_a = nb::none(),
             R"(An RLNCDecoder of generations `generation` to `generation` + `generations` - 1.

spare: dependent packets of each generation that are kept, to notice changed packets.
device: "cpu", "cuda:0". like: an array; the decoder is at its place. Takes n + spare payloads and n + 1024 / w +
spare vectors for each generation, and workspaces; include/gfk/rlnc.h says how many bytes. Raises OutOfMemory,
InvalidSize, InvalidArgument, NoDevice, NotSupported.)")
        .def_prop_ro(
            "n", [](const RLNC &r) { return r.code().n; }, "Sources of a generation.")
        .def_prop_ro(
            "bytes", [](const RLNC &r) { return r.code().bytes; }, "Of a source.")
        .def_prop_ro(
            "field", [](const RLNC &r) { return r.code().field; }, "The Field of the symbols.")
        .def("__reduce__", reduce<RLNC>);
}
} // namespace gfk
