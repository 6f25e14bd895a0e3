// SPDX-License-Identifier: BSD-3-Clause
// The class RS; rs_objects.cpp has its decoders, updaters and batches.
#include "rs.h"

#include <algorithm>
#include <cstring>

#include "matrix.h"
#include "reduce.h"
#include "status.h"

namespace gfk {
// ---- arguments ----------------------------------------------------------------------------------

size_t index_of(nb::handle object, size_t count, const char *name) {
    if (PyBool_Check(object.ptr()))
        raise_type("%s: an integer is needed, the index of a region, not a bool", name);
    const nb::object index = integer_of(object, name);
    size_t value = 0;
    if (!nb::try_cast(index, value) || value >= count)
        raise(GFK_STATUS_INVALID_ARGUMENT, "%s: %s is no index of a region; there are 0 to %zu",
              name, text_of(index).c_str(), count - 1);
    return value;
}

std::vector<size_t> indices_of(nb::handle object, size_t count, const char *name) {
    std::vector<size_t> indices;
    std::vector<bool> seen(count);
    check_memory(object, name);
    if (!nb::hasattr(object, "__iter__") && !PySequence_Check(object.ptr()))
        raise_type("%s: a list of integers is needed, not %s", name,
                   Py_TYPE(object.ptr())->tp_name);
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
            raise(GFK_STATUS_INVALID_ARGUMENT,
                  "wanted: region %zu is not lost; only lost regions can be rebuilt", region);
}

gfk_rs_matrix matrix_named(const std::string &name) {
    std::string names;
    for (int i = 0; i < GFK_RS_CUSTOM; i++) {
        const char *known = gfk_rs_matrix_name(static_cast<gfk_rs_matrix>(i));
        if (name == known)
            return static_cast<gfk_rs_matrix>(i);
        names += std::string(i == 0 ? "" : ", ") + known;
    }
    raise(GFK_STATUS_INVALID_ARGUMENT, "matrix: no matrix has the name %s: %s", name.c_str(),
          names.c_str());
}

std::vector<uint32_t> custom_matrix(const Field &field, nb::handle matrix, size_t m, size_t k) {
    Words words = words_of(field, matrix, "matrix");
    if (words.rows != m || words.cols != k)
        raise_value("matrix: there are %zu x %zu elements, and a code of k = %zu, m = %zu has "
                    "%zu x %zu",
                    words.rows, words.cols, k, m, m, k);
    return std::move(words.elements);
}

// Refuses numbers of regions that no code of the field has.
void check_counts(const Field &field, size_t k, size_t m) {
    if (k == 0 || m == 0)
        raise(GFK_STATUS_INVALID_ARGUMENT,
              "%s is 0: a code has one data region and one parity region at least",
              k == 0 ? "k" : "m");
    const size_t most = size_t{1} << field.w;
    if (k > most || m > most - k)
        raise(GFK_STATUS_INVALID_SIZE,
              "k is %zu and m is %zu: in codes of GF(2^%u), k + m is 2^%u at most", k, m, field.w,
              field.w);
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
        raise(status, "matrix: %s is not defined for this field of %u bits",
              gfk_rs_matrix_name(matrix), field.w);
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
        const nb::object copy = nb::module_::import_("gfk._arrays").attr("to_host")(object_);
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

struct Located {
    gfk_rs_verdict verdict;
    nb::object counts;
};

nb::object first_corrupt(const Located &located) {
    return located.verdict.first_corrupt == UINT64_MAX
               ? nb::none()
               : nb::object(nb::int_(located.verdict.first_corrupt));
}

nb::object repr(const Located &located) {
    nb::dict regions;
    size_t region = 0;
    for (nb::handle count : located.counts.attr("tolist")()) {
        if (nb::cast<uint64_t>(count) != 0)
            regions[nb::int_(region)] = count;
        region++;
    }
    return nb::str("gfk.Located(corrupt={}, located={}, unexplained={}, first_corrupt={}, "
                   "regions={})")
        .attr("format")(located.verdict.corrupt, located.verdict.located,
                        located.verdict.unexplained, first_corrupt(located), regions);
}
} // namespace

// ---- the code -----------------------------------------------------------------------------------

RS::RS(Integer k, Integer m, nb::handle w, nb::handle matrix, bool unchecked,
       ProductOptions options)
    : field_(field_of(w)), k_(count_of(field_, k, "k")), m_(count_of(field_, m, "m")),
      unchecked_(unchecked), options_(std::move(options)) {
    check_counts(field_, k_, m_);
    options_.check_width(field_.w);
    if (PyUnicode_Check(matrix.ptr()))
        matrix_ = matrix_named(nb::cast<std::string>(matrix));
    else
        custom_ = custom_matrix(field_, matrix, m_, k_);
    gfk_status status;
    {
        const Unlocked unlocked;
        status = create(&model_, GFK_CPU, options_);
    }
    if (status == GFK_STATUS_SUCCESS) {
        codes_.keep(GFK_CPU, model_);
        model_is_at_cpu_ = true;
        return;
    }
    // The options may be good for another place only: then they are not what the model is made with.
    if (!options_.is_for_devices() && status != GFK_STATUS_TABLE_LIMIT)
        check_made(status);
    {
        const Unlocked unlocked;
        status = create(&model_, GFK_CPU, ProductOptions());
    }
    check_made(status);
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
        raise(status, "matrix: the matrix cannot rebuild every m lost regions (it is not MDS); "
                      "unchecked=True takes it all the same");
    if (status == GFK_STATUS_INVALID_SIZE)
        raise(status, "k, m: a matrix of %zu x %zu elements has more than 2^64 bytes", m_, k_);
    if (status != GFK_STATUS_NOT_SUPPORTED)
        return check(status);
    std::vector<uint32_t> elements(k_ * m_);
    if (matrix_ != GFK_RS_CUSTOM)
        check_defined(field_, matrix_,
                      gfk_rs_fill_matrix(&field_, matrix_, k_, m_, elements.data()));
    const gfk_product_desc desc = options_.desc(GFK_CPU);
    gfk_product_info info;
    if (gfk_product_query(&field_, m_, k_, &desc, &info) == status)
        raise(status, "engine, family, method: what the options name cannot run here; "
                      "gfk.engines() says why");
    raise(status,
          "matrix: whether it can rebuild every m lost regions is too much to check for k = %zu, "
          "m = %zu; unchecked=True takes it without",
          k_, m_);
}

nb::dict RS::arguments() const {
    nb::dict made = options_.arguments();
    made["k"] = k_;
    made["m"] = m_;
    made["w"] = field_;
    made["matrix"] = matrix_ == GFK_RS_CUSTOM ? matrix_array()
                                              : nb::object(nb::str(gfk_rs_matrix_name(matrix_)));
    made["unchecked"] = unchecked_;
    return made;
}

gfk_status RS::create(gfk_rs_t *made, int device, const ProductOptions &options) const {
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.matrix = matrix_;
    desc.custom = matrix_ == GFK_RS_CUSTOM ? custom_.data() : nullptr;
    desc.flags = unchecked_ ? GFK_RS_UNCHECKED : 0;
    desc.product = options.desc(device);
    const gfk_status status = gfk_rs_create(made, &field_, k_, m_, &desc);
    return status == GFK_STATUS_SUCCESS
               ? check_place(*made, device, gfk_rs_get_info, gfk_rs_destroy)
               : status;
}

gfk_rs_t RS::at(int device) {
    if (device == GFK_CPU && options_.is_for_devices())
        raise_wrong_place(device);
    return codes_.at(device, [&](gfk_rs_t *made) { return create(made, device, options_); });
}

gfk_rs_t rs_at_cpu(nb::handle object) {
    RS *rs = nullptr;
    if (!nb::try_cast(object, rs) || rs == nullptr)
        raise_type("a gfk.RS is needed, not %s", Py_TYPE(object.ptr())->tp_name);
    return rs->at(GFK_CPU);
}

nb::object RS::matrix_array() const {
    std::vector<uint32_t> elements(k_ * m_);
    check(gfk_rs_get_matrix(model_, elements.data()));
    return new_numpy(nb::make_tuple(m_, k_), "uint32", elements.data(),
                     elements.size() * sizeof elements[0]);
}

nb::dict RS::info(Integer device) {
    gfk_rs_info info;
    check(gfk_rs_get_info(at(device.device()), &info));
    nb::dict made = product_info(info.product);
    made["matrix"] = gfk_rs_matrix_name(info.matrix);
    made["mds"] = info.mds == GFK_RS_MDS_UNKNOWN
                      ? nb::none()
                      : nb::object(nb::bool_(info.mds == GFK_RS_MDS_YES));
    made["locatable"] = info.locatable;
    return made;
}

nb::object RS::encode(nb::handle data, nb::handle out) {
    Call call;
    const Regions from(call, data, k_, field_.w, Use::Read, "data");
    const Output to(call, out, from, m_, field_.w);
    gfk_rs_t code = at(call.device());
    call.run([&] {
        return gfk_rs_encode(code, from.get(), to.regions.get(), from.bytes(), call.stream());
    });
    return to.object;
}

// ---- lost regions -------------------------------------------------------------------------------

Codeword::Codeword(Call &call, const RS &rs, nb::handle data, nb::handle parity)
    : k_(rs.k()), w_(rs.field().w),
      data_(call, data, rs.k(), w_, Use::Read, "data", Regions::Allowed),
      parity_(call, parity, rs.m(), w_, Use::Read, "parity", Regions::Allowed) {
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

nb::object RS::decode(nb::handle data, nb::handle parity, nb::handle lost, nb::handle wanted,
                      nb::handle out) {
    Call call;
    std::vector<size_t> gone = indices_of(lost, n(), "lost");
    const std::vector<size_t> rebuilt = wanted.is_none() ? gone : indices_of(wanted, n(), "wanted");
    Codeword codeword(call, *this, data, parity);
    codeword.add_missing(gone);
    check_wanted(rebuilt, gone);
    nb::object result = codeword.rebuild_into(call, out, gone, rebuilt);
    const gfk_regions data_regions = codeword.data(), parity_regions = codeword.parity();
    gfk_rs_t code = at(call.device());
    call.run([&] {
        return gfk_rs_decode(code, address_of(gone), gone.size(), address_of(rebuilt),
                             rebuilt.size(), &data_regions, &parity_regions, codeword.bytes(),
                             call.stream());
    });
    return result;
}

// ---- damaged regions ----------------------------------------------------------------------------

nb::object RS::verify(nb::handle data, nb::handle parity, nb::handle out) {
    Call call;
    const Regions from(call, data, k_, field_.w, Use::Read, "data");
    const Regions others(call, parity, m_, field_.w, Use::Read, "parity");
    others.check_bytes(from.bytes());
    gfk_rs_t code = at(call.device());
    const auto run = [&](void *differs) {
        call.run([&] {
            return gfk_rs_verify(code, from.get(), others.get(), from.bytes(),
                                 static_cast<uint32_t *>(differs), call.stream());
        });
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

nb::object RS::locate(nb::handle data, nb::handle parity, bool repair) {
    Call call;
    const Use use = repair ? Use::Write : Use::Read;
    const Regions from(call, data, k_, field_.w, use, "data");
    const Regions others(call, parity, m_, field_.w, use, "parity");
    others.check_bytes(from.bytes());
    gfk_rs_t code = at(call.device());
    size_t bytes = 0;
    check(gfk_rs_locate_workspace(code, from.bytes(), &bytes));
    void *workspace = call.workspace(bytes);
    constexpr size_t verdict_words = sizeof(gfk_rs_verdict) / sizeof(uint64_t);
    Result result(call, verdict_words + n());
    auto *memory = static_cast<uint64_t *>(result.data());
    call.run([&] {
        return gfk_rs_locate(code, from.get(), others.get(), from.bytes(),
                             repair ? GFK_RS_REPAIR : GFK_RS_REPORT,
                             reinterpret_cast<gfk_rs_verdict *>(memory), memory + verdict_words,
                             workspace, bytes, call.stream());
    });
    Located located;
    const uint64_t *words = result.words();
    memcpy(&located.verdict, words, sizeof located.verdict);
    located.counts =
        new_numpy(nb::make_tuple(n()), "uint64", words + verdict_words, n() * sizeof(uint64_t));
    return nb::cast(std::move(located));
}

// ---- changed regions ----------------------------------------------------------------------------

nb::object RS::delta(nb::handle before, nb::handle after, nb::handle out) {
    Call call;
    const Array from = symbols_of(call, before, Use::Read, "before", field_.w);
    const Array to = symbols_of(call, after, Use::Read, "after", field_.w);
    const SymbolsOutput made(call, out, from, field_.w);
    if (to.bytes() != from.bytes() || made.array.bytes() != from.bytes())
        raise_value("before has %zu bytes, after %zu, and out %zu", from.bytes(), to.bytes(),
                    made.array.bytes());
    gfk_rs_t code = at(call.device());
    call.run([&] {
        return gfk_rs_delta(code, from.data(), to.data(), made.array.data(), from.bytes(),
                            call.stream());
    });
    return made.object;
}

// ---- Python -------------------------------------------------------------------------------------

namespace {
nb::object rs_matrix(const std::string &name, Integer data, Integer parity, nb::handle w) {
    const Field field = field_of(w);
    const gfk_rs_matrix which = matrix_named(name);
    const size_t k = count_of(field, data, "k"), m = count_of(field, parity, "m");
    check_counts(field, k, m);
    Call call;
    nb::object array = call.empty({m, k}, "uint32");
    const Array to(call, array, Use::New, "matrix");
    check_defined(field, which, call.try_run([&] {
        return gfk_rs_fill_matrix(&field, which, k, m, reinterpret_cast<uint32_t *>(to.data()));
    }));
    return array;
}

nb::object repr(const RS &rs) {
    return nb::str("gfk.RS({}, {}, w={!r}, matrix={!r})")
        .attr("format")(rs.k(), rs.m(), rs.field(), gfk_rs_matrix_name(rs.matrix()));
}
} // namespace

void bind_rs(nb::module_ &module) {
    using namespace nb::literals;
    nb::class_<Located>(
        module, "Located",
        "What RS.locate found. A position is one symbol of every region, at one offset.")
        .def_prop_ro(
            "corrupt", [](const Located &l) { return l.verdict.corrupt; },
            "Positions where the parity does not match the data.")
        .def_prop_ro(
            "located", [](const Located &l) { return l.verdict.located; },
            "Corrupt positions whose wrong symbols are named.")
        .def_prop_ro(
            "unexplained", [](const Located &l) { return l.verdict.unexplained; },
            "Corrupt positions with more wrong symbols than the code can name; nothing is named or "
            "repaired there.")
        .def_prop_ro("first_corrupt", first_corrupt,
                     "The lowest byte offset of a corrupt position; None: there is none.")
        .def_ro("counts", &Located::counts,
                "At how many positions each region was named: numpy, uint64, data regions first, "
                "then parity.")
        .def("__repr__", [](const Located &l) { return repr(l); })
        .def("__reduce__", [](const Located &l) {
            return nb::make_tuple(nb::module_::import_("gfk._reduce").attr("located"),
                                  nb::make_tuple(l.verdict.corrupt, l.verdict.located,
                                                 l.verdict.unexplained, l.verdict.first_corrupt,
                                                 l.counts));
        });
    module.def(
        "_located",
        [](uint64_t corrupt, uint64_t located, uint64_t unexplained, uint64_t first_corrupt,
           nb::object counts) {
            Located made = {};
            made.verdict.corrupt = corrupt;
            made.verdict.located = located;
            made.verdict.unexplained = unexplained;
            made.verdict.first_corrupt = first_corrupt;
            made.counts = std::move(counts);
            return made;
        },
        "corrupt"_a, "located"_a, "unexplained"_a, "first_corrupt"_a, "counts"_a);
    nb::class_<RS> type(
        module, "RS",
        "A Reed-Solomon code over k data regions and m parity regions of one length.\n\n"
        "At every symbol position, parity[j] = sum over i of matrix[j, i] * data[i] in GF(2^w). "
        "Any m lost regions\n"
        "can be rebuilt from the other k. Data regions have the indices 0 to k - 1, parity regions "
        "k to k + m - 1.\n\n"
        "data and parity: an array whose rows are the regions (k or m rows, each contiguous; the "
        "rows may be\n"
        "apart), or a list of contiguous arrays, one for each region. Elements are bytes, or "
        "integers of w bits.\n"
        "All arrays of a call are in one place: the CPU's memory, or one CUDA device, where the "
        "work is in the\n"
        "order of the framework's current stream.\n\n"
        "The code is made at each place at the first call there; prepare makes it ahead, as the "
        "capture of a CUDA\n"
        "graph needs. Any thread.\n\n"
        "Calls raise TypeError (dtype, not an array), ValueError (shape, not contiguous, "
        "read-only), InvalidSize (no\n"
        "whole number of symbols), Overlap (a region that is written overlaps another one of the "
        "call), WrongDevice\n"
        "(two places, or an engine of another place).");
    def_init_with_options<Integer, Integer, nb::handle, nb::handle, bool>(
        type, "k"_a, "m"_a, "w"_a = 8, nb::kw_only(), "matrix"_a = "cauchy", "unchecked"_a = false,
        "k, m: 1 or more, k + m <= 2^w. w: 8, 16 or 32, or a Field.\n"
        "matrix: \"cauchy\", \"vandermonde\"; those of Jerasure \"reed_sol_van\", \"cauchy_good\"; "
        "those of ISA-L\n"
        "\"gen_rs\", \"gen_cauchy1\"; or m x k integers below 2^w (numpy, lists, or a Matrix).\n"
        "unchecked: take a matrix that cannot rebuild every m lost regions (not MDS), or is too "
        "large to check.\n" GFK_PRODUCT_OPTIONS_DOC
        "\nMaking the code takes a time in proportion to k * m.\n"
        "Raises InvalidArgument, InvalidSize (k + m), InvalidConstant (an element), Singular "
        "(the matrix is not "
        "MDS),\nNotSupported (too large to check, or not defined for this field; an engine that "
        "cannot run here), "
        "UnknownMethod.\nWhat depends on the place, such as TableLimit, is raised by prepare or by "
        "the first call there.");
    type.def_prop_ro("k", &RS::k, "The number of data regions.")
        .def_prop_ro("m", &RS::m, "The number of parity regions.")
        .def_prop_ro("field", &RS::field, "The Field of the symbols.")
        .def_prop_ro("matrix", &RS::matrix_array,
                     "A numpy array of m x k elements, uint32; a new one each time.")
        .def("info", &RS::info, "device"_a = GFK_CPU,
             "What the code is at a place, as a dict: matrix (its name), mds (can any m lost "
             "regions be rebuilt? None: "
             "not\nknown), locatable (wrong symbols per position that locate always names; 0: "
             "locate does not support "
             "the code),\nand of its product engine, kernel, device, table_bytes. "
             "device: -1 "
             "is the CPU.")
        .def(
            "prepare", [](RS &rs, Integer device) { rs.at(device.device()); }, "device"_a = GFK_CPU,
            "Makes the code, with its tables, at a place. device: -1 is the CPU.")
        .def("encode", &RS::encode, "data"_a, "out"_a = nb::none(),
             "The parity of the data: m regions, shaped as those of data.\n\n"
             "out: an array of m rows, or a list of m arrays; None: a new array (m, ...). Returns "
             "out.")
        .def("decode", &RS::decode, "data"_a, "parity"_a, "lost"_a, "wanted"_a = nb::none(),
             "out"_a = nb::none(),
             "Rebuilds lost regions from the others. data and parity are only read.\n\n"
             "lost: the indices of the lost regions. Their rows of data and parity may hold "
             "anything; in a list they "
             "may be None.\nA region that is None counts as lost.\n"
             "wanted: the lost regions to rebuild, in the order of the result; None: those of "
             "lost, in that order.\n"
             "out: as many rows, or a list of as many arrays; None: a new array. Returns out.\n"
             "In place, when out has views of the lost rows:\n\n"
             "    rs.decode(data, parity, [2, 7], out=[data[2], data[7]])\n\n"
             "The code keeps the 64 decoders that were used last; a decoder of its own (decoder) "
             "saves the search, and "
             "is what\na CUDA graph captures. Raises TooManyErasures, Singular (a matrix that is "
             "not MDS), "
             "InvalidArgument (an index).")
        .def("verify", &RS::verify, "data"_a, "parity"_a, "out"_a = nb::none(),
             "Does the parity match the data? True or False, for which the call waits.\n\n"
             "out: an array of one 32-bit integer, which becomes 0 if the parity matches, else 1, "
             "in the order of the "
             "stream;\nthe call does not wait, and returns out.")
        .def("locate", &RS::locate, "data"_a, "parity"_a, "repair"_a = false,
             "Finds wrong symbols without checksums; returns Located, for which the call waits.\n\n"
             "At every position where the parity does not match the data, the smallest set of "
             "regions is named whose "
             "symbols\nexplain it. Up to info()[\"locatable\"] = m // 2 wrong symbols per position "
             "are named exactly. A "
             "position with more\nis counted as unexplained, or is named wrongly.\n"
             "repair: correct the named symbols in place. Do not repair where `unexplained` is "
             "above 0, or where "
             "`counts`\nnames many regions: first locate, then repair.\n"
             "Raises NotSupported (a custom or gen_rs matrix that is too large or not MDS).")
        .def("delta", &RS::delta, "before"_a, "after"_a, "out"_a = nb::none(),
             "before ^ after, what apply_delta takes; the holder of a parity region needs no "
             "more.\n\n"
             "out: an array of as many bytes, which may be before or after; None: a new array. "
             "Returns out.")
        .def("__repr__", [](const RS &rs) { return repr(rs); })
        .def("__reduce__", [](nb::handle self) {
            return reduced<RS>(self, nb::cast<const RS &>(self).arguments());
        });
    bind_rs_objects(module, type);
    module.def(
        "rs_matrix", rs_matrix, "name"_a, "k"_a, "m"_a, "w"_a = 8,
        "The parity rows of a named matrix of RS: a numpy array of m x k elements, uint32.\n\n"
        "Raises InvalidArgument (the name, k or m zero), InvalidSize (k + m > 2^w), NotSupported "
        "(not defined for "
        "this field).");
}
} // namespace gfk
