// SPDX-License-Identifier: BSD-3-Clause
// The class RS; rs_objects.cpp has its decoders, updaters and batches.
#include "rs.h"

#include <algorithm>

#include "host.h"
#include "matrix.h"
#include "reduce.h"

namespace gfk {
// ---- arguments ----------------------------------------------------------------------------------

size_t index_of(nb::handle object, size_t count, const char *name) {
    if (PyBool_Check(object.ptr()))
        raise_type("%s: an integer is needed, the index of a region, not a bool", name);
    const nb::object index = integer_of(object, name);
    size_t value = 0;
    if (!nb::try_cast(index, value) || value >= count)
        raise(GFK_STATUS_INVALID_ARGUMENT, "%s: %s is no index of a region; there are 0 to %zu", name,
              text_of(index).c_str(), count - 1);
    return value;
}

std::vector<size_t> indices_of(nb::handle object, size_t count, const char *name) {
    std::vector<size_t> indices;
    std::vector<bool> seen(count);
    check_memory(object, name);
    if (!nb::hasattr(object, "__iter__") && !PySequence_Check(object.ptr()))
        raise_type("%s: a list of integers is needed, not %s", name, type_name_of(object).c_str());
    for (nb::handle item : nb::iter(object)) {
        const size_t index = index_of(item, count, name);
        if (seen[index])
            raise(GFK_STATUS_INVALID_ARGUMENT, "%s: the index %zu is there twice", name, index);
        seen[index] = true;
        indices.push_back(index);
    }
    return indices;
}

namespace {
// Refuses wanted regions that are not lost.
void check_wanted(const std::vector<size_t> &wanted, const std::vector<size_t> &lost) {
    for (const size_t region : wanted)
        if (std::find(lost.begin(), lost.end(), region) == lost.end())
            raise(GFK_STATUS_INVALID_ARGUMENT, "wanted: region %zu is not lost; only lost regions can be rebuilt",
                  region);
}

gfk_rs_matrix matrix_named(const std::string &name) {
    return named(name, "matrix", GFK_RS_CAUCHY, static_cast<gfk_rs_matrix>(GFK_RS_CUSTOM - 1), gfk_rs_matrix_name);
}

std::vector<uint32_t> custom_matrix(const Field &field, nb::handle matrix, size_t m, size_t k) {
    Words words = words_of(field, matrix, "matrix");
    if (words.rows != m || words.cols != k)
        raise_value("matrix: there are %zu x %zu elements, and a code of k = %zu, m = %zu has %zu x %zu", words.rows,
                    words.cols, k, m, m, k);
    return std::move(words.elements);
}

// Refuses numbers of regions that no code of the field has.
void check_counts(const Field &field, size_t k, size_t m) {
    if (k == 0 || m == 0)
        raise(GFK_STATUS_INVALID_ARGUMENT, "%s is 0: a code has one data region and one parity region at least",
              k == 0 ? "k" : "m");
    const size_t most = size_t{1} << field.w;
    if (k > most || m > most - k)
        raise(GFK_STATUS_INVALID_SIZE, "k is %zu and m is %zu: in codes of GF(2^%u), k + m is 2^%u at most", k, m,
              field.w, field.w);
}

// A number of regions in a code of the field.
size_t count_of(const Field &field, Integer count, const char *name) {
    const size_t most = (size_t{1} << field.w) - 1;
    size_t value = 0;
    if (nb::try_cast(integer_of(count.object, name), value))
        return value; // check_counts looks at k and m together
    return count.size(name, 1, most, GFK_STATUS_INVALID_SIZE);
}

// Refuses a named matrix that the field does not have.
void check_defined(const Field &field, gfk_rs_matrix matrix, gfk_status status) {
    if (status == GFK_STATUS_NOT_SUPPORTED)
        raise(status, "matrix: %s is not defined for this field of %u bits", gfk_rs_matrix_name(matrix), field.w);
    check(status);
}

// Words that a call writes in the memory of its regions, for its caller.
class Result {
  public:
    Result(Call &call, size_t words) : host_(words) {
        if (call.device() == GFK_CPU)
            return;
        object_ = call.empty({words * sizeof(uint64_t)}, "uint8");
        memory_ = Array(call, object_, Use::New, "result").data();
    }
    void *data() { return memory_ != nullptr ? static_cast<void *>(memory_) : host_.data(); }
    // The words after the call, for whose work this waits.
    const uint64_t *words() {
        if (memory_ == nullptr)
            return host_.data();
        const nb::object copy = python("_arrays", "to_host")(object_);
        Call call;
        const Array from(call, copy, Use::Read, "result");
        memcpy(host_.data(), from.data(), from.bytes());
        return host_.data();
    }

  private:
    std::vector<uint64_t> host_;
    nb::object object_;
    uint8_t *memory_ = nullptr; // on a device
};
} // namespace

// ---- the code -----------------------------------------------------------------------------------

RS::RS(Integer k, Integer m, AnyField field, nb::handle matrix, bool unchecked, ProductOptions options)
    : field_(field), k_(count_of(field_, k, "k")), m_(count_of(field_, m, "m")), unchecked_(unchecked),
      options_(std::move(options)) {
    check_counts(field_, k_, m_);
    options_.check_width(field_.w);
    if (PyUnicode_Check(matrix.ptr()))
        matrix_ = matrix_named(nb::cast<std::string>(matrix));
    else
        custom_ = custom_matrix(field_, matrix, m_, k_);
    gfk_status status = unlocked([&] { return create(&model_, GFK_CPU, options_); });
    if (status == GFK_STATUS_SUCCESS) {
        codes_.keep(GFK_CPU, model_);
        model_is_at_cpu_ = true;
        return;
    }
    // The options may be good for another place only: then they are not what the model is made with.
    if (!options_.is_for_devices() && status != GFK_STATUS_TABLE_LIMIT)
        check_made(status);
    check_made(unlocked([&] { return create(&model_, GFK_CPU, ProductOptions()); }));
    models_.keep(GFK_CPU, model_);
    const gfk_product_desc desc = options_.desc(GFK_CURRENT_DEVICE);
    gfk_product_info info;
    status = gfk_product_query(&field_, m_, k_, &desc, &info);
    if (status != GFK_STATUS_NO_DEVICE && status != GFK_STATUS_CUDA)
        check_made(status);
}

// Raises the status of making the code, with its one reason.
void RS::check_made(gfk_status status) const {
    if (status == GFK_STATUS_SINGULAR)
        raise(status, "matrix: the matrix cannot rebuild every m lost regions (it is not MDS); unchecked=True takes it "
                      "all the same");
    if (status == GFK_STATUS_INVALID_SIZE)
        raise(status, "k, m: a matrix of %zu x %zu elements has more than 2^64 bytes", m_, k_);
    if (status != GFK_STATUS_NOT_SUPPORTED)
        return check(status);
    std::vector<uint32_t> elements(k_ * m_);
    if (matrix_ != GFK_RS_CUSTOM)
        check_defined(field_, matrix_, gfk_rs_fill_matrix(&field_, matrix_, k_, m_, elements.data()));
    const gfk_product_desc desc = options_.desc(GFK_CPU);
    gfk_product_info info;
    if (gfk_product_query(&field_, m_, k_, &desc, &info) == status)
        raise(status, "engine, family, method: what the options name cannot run here; gfk.engines() says why");
    raise(status,
          "matrix: whether it can rebuild every m lost regions is too much to check for k = %zu, m = %zu; "
          "unchecked=True takes it without",
          k_, m_);
}

nb::dict RS::arguments() const {
    nb::dict made = options_.arguments();
    const nb::object matrix =
        matrix_ == GFK_RS_CUSTOM ? matrix_array() : nb::object(nb::str(gfk_rs_matrix_name(matrix_)));
    add_keywords(made, "k", k_, "m", m_, "field", field_, "matrix", matrix, "unchecked", unchecked_);
    return made;
}

gfk_status RS::create(gfk_rs_t *made, int device, const ProductOptions &options) const {
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.matrix = matrix_;
    desc.custom = matrix_ == GFK_RS_CUSTOM ? custom_.data() : nullptr;
    desc.flags = unchecked_ ? GFK_RS_UNCHECKED : 0;
    desc.product = options.desc(device);
    const gfk_status status = gfk_rs_create(made, &field_, k_, m_, &desc);
    return status == GFK_STATUS_SUCCESS ? check_place(*made, device, gfk_rs_get_info, gfk_rs_destroy) : status;
}

gfk_rs_t RS::at(int device) {
    if (device == GFK_CPU && options_.is_for_devices())
        raise_wrong_place(device);
    return codes_.at(device, [&](gfk_rs_t *made) { return create(made, device, options_); });
}

nb::object RS::matrix_array() const {
    const NewWords made(m_, k_);
    check(gfk_rs_get_matrix(model_, made.data));
    return made.object;
}

RSInfo RS::info(const Device &device) {
    gfk_rs_info info;
    check(gfk_rs_get_info(at(device.number()), &info));
    std::optional<bool> mds;
    if (info.mds != GFK_RS_MDS_UNKNOWN)
        mds = info.mds == GFK_RS_MDS_YES;
    return RSInfo::of(gfk_rs_matrix_name(info.matrix), mds, info.locatable, *product_info(info.product));
}

nb::object RS::encode(nb::handle data, nb::handle out, Pipeline *pipeline) {
    Call call(pipeline);
    const Regions from(call, data, k_, field_.w, Use::Read, "data");
    const Output to(call, out, from, m_, field_.w);
    if (pipeline != nullptr)
        pipeline->run(call, gfk_rs_encode_host, model_, from.get(), to.regions.get(), from.bytes());
    else
        call.run(gfk_rs_encode, at(call.device()), from.get(), to.regions.get(), from.bytes(), call.stream());
    return to.object;
}

// ---- lost regions -------------------------------------------------------------------------------

Codeword::Codeword(Call &call, const RS &rs, nb::handle data, nb::handle parity, Use of_data, Use of_parity)
    : k_(rs.k()), w_(rs.field().w), data_(call, data, rs.k(), w_, of_data, "data", Regions::Allowed),
      parity_(call, parity, rs.m(), w_, of_parity, "parity", Regions::Allowed) {
    if (data_.is_empty() && parity_.is_empty())
        raise_value("data and parity: all regions are None");
    if (!data_.is_empty())
        parity_.check_bytes(data_.bytes());
    addresses_.resize(rs.n());
    for (size_t i = 0; i < rs.n(); i++)
        addresses_[i] = i < k_ ? data_.region(i) : parity_.region(i - k_);
}

bool Codeword::is_missing(size_t region) const {
    return addresses_[region] == nullptr && bytes() != 0;
}

void Codeword::add_missing(std::vector<size_t> &lost) const {
    std::vector<bool> is_lost(addresses_.size());
    for (const size_t region : lost)
        is_lost[region] = true;
    for (size_t i = 0; i < addresses_.size(); i++)
        if (!is_lost[i] && is_missing(i))
            lost.push_back(i);
}

nb::object Codeword::rebuild_into(Call &call, nb::handle out, const std::vector<size_t> &lost,
                                  const std::vector<size_t> &wanted) {
    out_.emplace(call, out, model(), wanted.size(), w_);
    for (const size_t region : lost)
        addresses_[region] = nullptr;
    for (size_t i = 0; i < wanted.size(); i++)
        addresses_[wanted[i]] = out_->regions.region(i);
    return out_->object;
}

// Rebuilds the wanted regions at their addresses in the codeword.
void RS::rebuild(const Call &call, const Codeword &codeword, const std::vector<size_t> &lost,
                 const std::vector<size_t> &wanted, Pipeline *pipeline) {
    const gfk_regions data = codeword.data(), parity = codeword.parity();
    if (pipeline != nullptr)
        return pipeline->run(call, gfk_rs_decode_host, model_, address_of(lost), lost.size(), address_of(wanted),
                             wanted.size(), &data, &parity, codeword.bytes());
    call.run(gfk_rs_decode, at(call.device()), address_of(lost), lost.size(), address_of(wanted), wanted.size(), &data,
             &parity, codeword.bytes(), call.stream());
}

nb::object RS::decode(nb::handle data, nb::handle parity, nb::handle lost, nb::handle wanted, nb::handle out,
                      Pipeline *pipeline) {
    Call call(pipeline);
    std::vector<size_t> gone = indices_of(lost, n(), "lost");
    const std::vector<size_t> rebuilt = wanted.is_none() ? gone : indices_of(wanted, n(), "wanted");
    Codeword codeword(call, *this, data, parity);
    codeword.add_missing(gone);
    check_wanted(rebuilt, gone);
    nb::object result = codeword.rebuild_into(call, out, gone, rebuilt);
    rebuild(call, codeword, gone, rebuilt, pipeline);
    return result;
}

void RS::repair(nb::handle data, nb::handle parity, nb::handle lost, Pipeline *pipeline) {
    Call call(pipeline);
    const std::vector<size_t> wanted = indices_of(lost, n(), "lost");
    const auto use = [&](size_t from, size_t end) {
        const bool is_written =
            std::any_of(wanted.begin(), wanted.end(), [=](size_t i) { return i >= from && i < end; });
        return is_written ? Use::Write : Use::Read;
    };
    const Codeword codeword(call, *this, data, parity, use(0, k_), use(k_, n()));
    for (const size_t region : wanted)
        if (codeword.is_missing(region))
            raise_value("lost: region %zu is None, and repair writes in place; decode makes new arrays", region);
    std::vector<size_t> gone = wanted;
    codeword.add_missing(gone);
    rebuild(call, codeword, gone, wanted, pipeline);
}

// ---- damaged regions ----------------------------------------------------------------------------

nb::object RS::verify(nb::handle data, nb::handle parity, nb::handle out, Pipeline *pipeline) {
    Call call(pipeline);
    const Regions from(call, data, k_, field_.w, Use::Read, "data");
    const Regions others(call, parity, m_, field_.w, Use::Read, "parity");
    others.check_bytes(from.bytes());
    const auto run = [&](void *memory) {
        auto *differs = static_cast<uint32_t *>(memory);
        if (pipeline != nullptr)
            return pipeline->run(call, gfk_rs_verify_host, model_, from.get(), others.get(), from.bytes(), differs);
        call.run(gfk_rs_verify, at(call.device()), from.get(), others.get(), from.bytes(), differs, call.stream());
    };
    if (out.is_none()) {
        Result word(call, 1);
        run(word.data());
        uint32_t differs = 0;
        memcpy(&differs, word.words(), sizeof differs);
        return nb::bool_(differs == 0);
    }
    const Array word(call, out, Use::Write, "out");
    word.check_elements(32);
    if (word.bytes() != sizeof(uint32_t))
        raise_value("out: one 32-bit integer is needed, and the array has %zu bytes", word.bytes());
    run(word.data());
    return nb::borrow(out);
}

Located RS::locate(nb::handle data, nb::handle parity, bool repair) {
    Call call;
    const Use use = repair ? Use::Write : Use::Read;
    const Regions from(call, data, k_, field_.w, use, "data");
    const Regions others(call, parity, m_, field_.w, use, "parity");
    others.check_bytes(from.bytes());
    gfk_rs_t code = at(call.device());
    const auto workspace = call.workspace(gfk_rs_locate_workspace, code, from.bytes());
    constexpr size_t verdict_words = sizeof(gfk_rs_verdict) / sizeof(uint64_t);
    Result result(call, verdict_words + n());
    auto *memory = static_cast<uint64_t *>(result.data());
    call.run(gfk_rs_locate, code, from.get(), others.get(), from.bytes(), repair ? GFK_RS_REPAIR : GFK_RS_REPORT,
             reinterpret_cast<gfk_rs_verdict *>(memory), memory + verdict_words, workspace.memory, workspace.bytes,
             call.stream());
    const uint64_t *words = result.words();
    gfk_rs_verdict verdict;
    memcpy(&verdict, words, sizeof verdict);
    Call unused;
    const nb::object counts = unused.empty({n()}, "uint64");
    memcpy(Array(unused, counts, Use::New, "counts").data(), words + verdict_words, n() * sizeof(uint64_t));
    std::optional<uint64_t> first;
    if (verdict.first_corrupt != UINT64_MAX)
        first = verdict.first_corrupt;
    return Located::of(verdict.corrupt, verdict.located, verdict.unexplained, first, counts);
}

// ---- changed regions ----------------------------------------------------------------------------

nb::object RS::delta(nb::handle before, nb::handle after, nb::handle out) {
    Call call;
    const Array from = symbols_of(call, before, Use::Read, "before", field_.w);
    const Array to = symbols_of(call, after, Use::Read, "after", field_.w);
    const SymbolsOutput made(call, out, from, field_.w);
    if (to.bytes() != from.bytes() || made.array.bytes() != from.bytes())
        raise_value("before has %zu bytes, after %zu, and out %zu", from.bytes(), to.bytes(), made.array.bytes());
    call.run(gfk_rs_delta, at(call.device()), from.data(), to.data(), made.array.data(), from.bytes(), call.stream());
    return made.object;
}

// ---- Python -------------------------------------------------------------------------------------

namespace {
nb::object rs_matrix(const std::string &name, Integer data, Integer parity, AnyField any_field) {
    const Field field = any_field;
    const gfk_rs_matrix which = matrix_named(name);
    const size_t k = count_of(field, data, "k"), m = count_of(field, parity, "m");
    check_counts(field, k, m);
    NewWords made(m, k);
    check_defined(field, which, made.call.try_run(gfk_rs_fill_matrix, &field, which, k, m, made.data));
    return made.object;
}

nb::object repr(const RS &rs) {
    return nb::str("gfk.RS({}, {}, field={!r}, matrix={!r})")
        .attr("format")(rs.k(), rs.m(), rs.field(), gfk_rs_matrix_name(rs.matrix()));
}
} // namespace

void bind_rs(nb::module_ &module) {
    nb::class_<RS> type(module, "RS",
                        R"(A Reed-Solomon code over k data regions and m parity regions of one length.

At every symbol position, parity[j] = sum over i of matrix[j, i] * data[i] in GF(2^w). Any m lost regions can be
rebuilt from the other k. Data regions have the indices 0 to k - 1, parity regions k to k + m - 1.

data and parity: an array whose rows are the regions (k or m rows, each contiguous; the rows may be apart), or a
list of contiguous arrays, one for each region. Elements are bytes, or integers of w bits. All arrays of a call are
in one place: the CPU's memory, or one CUDA device, where the work is in the order of the framework's current
stream.

The code is made at each place at the first call there; prepare makes it ahead, as the capture of a CUDA graph
needs. Any thread.

Calls raise TypeError (dtype, not an array), ValueError (shape, not contiguous, read-only), InvalidSize (no whole
number of symbols), Overlap (a region that is written overlaps another one of the call), WrongDevice (two places, or
an engine of another place).)");
    def_init_with_options<Integer, Integer, AnyField, nb::handle, bool>(
        type, "k"_a, "m"_a, "field"_a = 8, nb::kw_only(), "matrix"_a = "cauchy", "unchecked"_a = false,
        R"(k, m: 1 or more, k + m <= 2^w. field: a Field, or a width of 8, 16 or 32.
matrix: "cauchy", "vandermonde"; those of Jerasure "reed_sol_van", "cauchy_good"; those of ISA-L "gen_rs",
"gen_cauchy1"; or m x k integers below 2^w (numpy, lists, or a Matrix).
unchecked: take a matrix that cannot rebuild every m lost regions (not MDS), or is too large to check. The other
options, engine to gfcomplete_library, are those of gfk.Product.

Making the code takes a time in proportion to k * m.
Raises InvalidArgument, InvalidSize (k + m), InvalidConstant (an element), Singular (the matrix is not MDS),
NotSupported (too large to check, or not defined for this field; an engine that cannot run here), UnknownMethod.
What depends on the place, such as TableLimit, is raised by prepare or by the first call there.)");
    type.def_prop_ro("k", &RS::k, "The number of data regions.")
        .def_prop_ro("m", &RS::m, "The number of parity regions.")
        .def_prop_ro("field", &RS::field, "The Field of the symbols.")
        .def_prop_ro("matrix", &RS::matrix_array, "A numpy array of m x k elements, uint32; a new one each time.")
        .def("info", &RS::info, "device"_a = "cpu", "What the code is at a place.")
        .def("prepare", prepare<RS>, "device"_a = "cpu", "Makes the code, with its tables, at a place.")
        .def("encode", &RS::encode, "data"_a, "out"_a = nb::none(), nb::kw_only(), "pipeline"_a = nb::none(),
             R"(The parity of the data: m regions, shaped as those of data.

out: an array of m rows, or a list of m arrays; None: a new array (m, ...). Returns out.
pipeline: a gfk.Pipeline, for arrays in the CPU's memory.)")
        .def("decode", &RS::decode, "data"_a, "parity"_a, "lost"_a, "wanted"_a = nb::none(), "out"_a = nb::none(),
             nb::kw_only(), "pipeline"_a = nb::none(),
             R"(Rebuilds lost regions from the others. data and parity are only read; repair works in place.

lost: the indices of the lost regions. Their rows of data and parity may hold anything; in a list they may be None.
A region that is None counts as lost.
wanted: the lost regions to rebuild, in the order of the result; None: those of lost, in that order.
out: as many rows, or a list of as many arrays; None: a new array. Returns out.
pipeline: a gfk.Pipeline, for arrays in the CPU's memory.

The code keeps the 64 decoders that were used last; a decoder of its own (decoder) saves the search, and is what a
CUDA graph captures. Raises TooManyErasures, Singular (a matrix that is not MDS), InvalidArgument (an index).)")
        .def("repair", &RS::repair, "data"_a, "parity"_a, "lost"_a, nb::kw_only(), "pipeline"_a = nb::none(),
             R"(Rebuilds the lost regions in place, in the rows of data and parity that they have.

    rs.repair(data, parity, [2, 11])

lost: the indices of the lost regions. In a list, others may be None: they count as lost, and stay so. pipeline, and
what it raises: as decode.)")
        .def("verify", &RS::verify, "data"_a, "parity"_a, "out"_a = nb::none(), nb::kw_only(),
             "pipeline"_a = nb::none(),
             R"(Does the parity match the data? True or False, for which the call waits.

out: an array of one 32-bit integer, which becomes 0 if the parity matches, else 1, in the order of the stream; the
call does not wait, and returns out. pipeline: a gfk.Pipeline, for arrays in the CPU's memory.)")
        .def("locate", &RS::locate, "data"_a, "parity"_a, "repair"_a = false,
             R"(Finds wrong symbols without checksums; returns Located, for which the call waits.

At every position where the parity does not match the data, the smallest set of regions is named whose symbols
explain it. Up to info().locatable = m // 2 wrong symbols per position are named exactly. A position with more is
counted as unexplained, or is named wrongly.
repair: correct the named symbols in place. Do not repair where `unexplained` is above 0, or where `counts` names
many regions: first locate, then repair.
Raises NotSupported (a custom or gen_rs matrix that is too large or not MDS).)")
        .def("delta", &RS::delta, "before"_a, "after"_a, "out"_a = nb::none(),
             R"(before ^ after, what apply_delta takes; the holder of a parity region needs no more.

out: an array of as many bytes, which may be before or after; None: a new array. Returns out.)")
        .def("__repr__", [](const RS &rs) { return repr(rs); })
        .def("__reduce__", reduce<RS>);
    bind_rs_objects(module, type);
    module.def("rs_matrix", rs_matrix, "name"_a, "k"_a, "m"_a, "field"_a = 8,
               R"(The parity rows of a named matrix of RS: a numpy array of m x k elements, uint32.

Raises InvalidArgument (the name, k or m zero), InvalidSize (k + m > 2^w), NotSupported (not defined for this
field).)");
}
} // namespace gfk
