// SPDX-License-Identifier: BSD-3-Clause
// What is made from a code: decoders, updaters and batches. They keep the object RS alive.
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "reduce.h"
#include "rs.h"

namespace gfk {
namespace {
// ---- decoders -----------------------------------------------------------------------------------

class RSDecoder {
  public:
    const std::vector<size_t> lost, wanted;
    std::vector<size_t> sources;

    RSDecoder(RS &rs, nb::handle of_lost, nb::handle of_wanted)
        : lost(indices_of(of_lost, rs.n(), "lost")),
          wanted(of_wanted.is_none() ? lost : indices_of(of_wanted, rs.n(), "wanted")), owner_(nb::find(rs)), rs_(rs) {
        // Everything that may be wrong with the indices, and the sources, are the same at any place.
        gfk_rs_decoder_t model = nullptr;
        const gfk_status status = unlocked([&] { return create(&model, rs.model()); });
        if (status == GFK_STATUS_INVALID_ARGUMENT) // the indices themselves are good
            raise(status, "wanted: a region is not in lost; only lost regions can be rebuilt");
        check(status);
        std::unique_ptr<gfk_rs_decoder, Destroy<gfk_rs_decoder_destroy>> kept(model);
        sources.resize(wanted.empty() ? 0 : rs.k());
        check(gfk_rs_decoder_get_info(model, nullptr, sources.data()));
        if (rs.is_model_at_cpu())
            decoders_.keep(GFK_CPU, kept.release());
    }

    gfk_rs_decoder_t at(int device) {
        gfk_rs_t code = rs_.at(device);
        return decoders_.at(device, [&](gfk_rs_decoder_t *made) { return create(made, code); });
    }

    nb::object run(nb::handle data, nb::handle parity, nb::handle out) {
        Call call;
        Codeword codeword(call, rs_, data, parity);
        nb::object result = codeword.rebuild_into(call, out, lost, wanted);
        for (const size_t source : sources)
            if (codeword.is_missing(source))
                raise(GFK_STATUS_INVALID_ARGUMENT,
                      "the decoder reads region %zu, which is None: make a decoder with this index in lost", source);
        const gfk_regions data_regions = codeword.data(), parity_regions = codeword.parity();
        gfk_rs_decoder_t decoder = at(call.device());
        call.run(gfk_rs_decoder_run, decoder, &data_regions, &parity_regions, codeword.bytes(), call.stream());
        return result;
    }

    nb::object info(const Device &device) {
        gfk_product_info info;
        check(gfk_rs_decoder_get_info(at(device.number()), &info, nullptr));
        return info.engine == nullptr ? nb::none() : nb::object(product_info(info));
    }

    // What makes the same decoder of the same code.
    nb::object reduce() const { return called(owner_, "decoder", {}, lost, wanted); }

  private:
    gfk_status create(gfk_rs_decoder_t *made, gfk_rs_t code) const {
        return gfk_rs_decoder_create(made, code, address_of(lost), lost.size(), address_of(wanted), wanted.size(),
                                     nullptr);
    }

    nb::object owner_;
    RS &rs_;
    Places<gfk_rs_decoder_t, gfk_rs_decoder_destroy> decoders_;
};

// ---- updates ------------------------------------------------------------------------------------

// Takes before and after, or a delta and no `after`, and the parity, and runs
// work(object, from, to or NULL, parity, bytes, stream) with the object that `owner` has for the place.
template <class Owner, class Work>
void change(const RS &rs, nb::handle before, nb::handle after, nb::handle parity, Owner &owner, Work &&work) {
    Call call;
    const unsigned w = rs.field().w;
    std::optional<Array> to;
    const Array from = symbols_of(call, before, Use::Read, after.is_valid() ? "before" : "delta", w);
    if (after.is_valid())
        to.emplace(symbols_of(call, after, Use::Read, "after", w));
    if (to && to->bytes() != from.bytes())
        raise_value("before has %zu bytes, and after %zu", from.bytes(), to->bytes());
    const Regions regions(call, parity, rs.m(), w, Use::Write, "parity");
    regions.check_bytes(from.bytes());
    call.run(work, owner.at(call.device()), from.data(), to ? to->data() : nullptr, regions.get(), from.bytes(),
             call.stream());
}

void update(RS &rs, nb::handle index, nb::handle before, nb::handle after, nb::handle parity) {
    const size_t i = index_of(index, rs.k(), "index");
    change(rs, before, after, parity, rs, [&](gfk_rs_t code, const void *from, const void *to, auto... rest) {
        return after.is_valid() ? gfk_rs_update(code, i, from, to, rest...)
                                : gfk_rs_apply_delta(code, i, from, rest...);
    });
}

class RSUpdater {
  public:
    const size_t index;

    RSUpdater(RS &rs, nb::handle region) : index(index_of(region, rs.k(), "index")), owner_(nb::find(rs)), rs_(rs) {}

    gfk_rs_updater_t at(int device) {
        gfk_rs_t code = rs_.at(device);
        return updaters_.at(device,
                            [&](gfk_rs_updater_t *made) { return gfk_rs_updater_create(made, code, index, nullptr); });
    }

    void run(nb::handle before, nb::handle after, nb::handle parity) {
        change(rs_, before, after, parity, *this,
               [&](gfk_rs_updater_t updater, const void *from, const void *to, auto... rest) {
                   return after.is_valid() ? gfk_rs_updater_run(updater, from, to, rest...)
                                           : gfk_rs_updater_apply(updater, from, rest...);
               });
    }

    nb::object reduce() const { return called(owner_, "updater", {}, index); }

  private:
    nb::object owner_;
    RS &rs_;
    Places<gfk_rs_updater_t, gfk_rs_updater_destroy> updaters_;
};

// ---- batches ------------------------------------------------------------------------------------

// The arrays of one stripe. `kept` has the caller's: a list may change later.
struct Stripe {
    nb::list kept;
    nb::object result;
    bool encodes = true;
    size_t k;
    std::vector<size_t> lost;
    std::optional<Regions> data;
    std::optional<Output> parity;
    std::optional<Codeword> codeword;

    Stripe(Call &call, const RS &rs, nb::handle object) : k(rs.k()) {
        if (!PyTuple_Check(object.ptr()) || nb::len(object) < 2 || nb::len(object) > 4)
            raise_type("a stripe is (data, parity), (data, parity, lost) or (data, parity, lost, out)");
        const auto parts = nb::borrow<nb::tuple>(object);
        encodes = parts.size() == 2;
        const nb::object data_part = keep(parts[0]), parity_part = keep(parts[1]);
        if (encodes) {
            data.emplace(call, data_part, rs.k(), rs.field().w, Use::Read, "data");
            parity.emplace(call, parity_part, *data, rs.m(), rs.field().w);
            result = parity->object;
            return;
        }
        lost = indices_of(parts[2], rs.n(), "lost");
        codeword.emplace(call, rs, data_part, parity_part);
        const nb::object out = keep(parts.size() == 4 ? nb::object(parts[3]) : nb::none());
        result = codeword->rebuild_into(call, out, lost, lost);
    }

    gfk_rs_stripe get() const {
        if (encodes)
            return {*data->get(), *parity->regions.get(), data->bytes(), nullptr, 0};
        return {codeword->data(), codeword->parity(), codeword->bytes(), address_of(lost), lost.size()};
    }

    // The regions that run writes.
    std::vector<const void *> written() const {
        std::vector<const void *> regions;
        for (size_t i = 0; encodes && i < parity->regions.count(); i++)
            regions.push_back(parity->regions.region(i));
        for (const size_t i : lost)
            regions.push_back(i < k ? codeword->data().pointers[i] : codeword->parity().pointers[i - k]);
        return regions;
    }

  private:
    nb::object keep(nb::object part) {
        if (PyList_Check(part.ptr()))
            part = nb::tuple(part);
        kept.append(part);
        return part;
    }
};

class RSBatch {
  public:
    RSBatch(RS &rs, nb::handle stripes, bool statuses) : owner_(nb::find(rs)) {
        std::vector<gfk_rs_stripe> list;
        nb::list results;
        for (nb::handle object : nb::iter(stripes)) {
            try {
                stripes_.push_back(std::make_unique<Stripe>(call_, rs, object));
            } catch (nb::python_error &error) {
                const std::string note = "of stripe " + std::to_string(list.size()) + " of the batch";
                error.value().attr("add_note")(note.c_str());
                throw;
            }
            list.push_back(stripes_.back()->get());
            results.append(stripes_.back()->result);
        }
        results_ = nb::tuple(results);
        statuses_.resize(list.size());
        gfk_rs_t code = rs.at(call_.device());
        gfk_rs_batch_t made = nullptr;
        call_.run(gfk_rs_batch_create, &made, code, list.data(), list.size(), statuses_.data());
        batch_.reset(made);
        if (!statuses)
            check_statuses();
        check_written(list);
    }
    ~RSBatch() { finish(call_.device()); }

    nb::tuple run() const {
        const Call call = call_.again();
        call.run(gfk_rs_batch_run, batch_.get(), call.stream());
        return results_;
    }

    nb::tuple results() const { return results_; }
    std::vector<gfk_status> statuses() const { return statuses_; }
    size_t size() const { return stripes_.size(); }

  private:
    void check_statuses() const {
        for (size_t i = 0; i < statuses_.size(); i++)
            if (statuses_[i] != GFK_STATUS_SUCCESS)
                raise(statuses_[i], "stripe %zu of the batch: %s", i, description_of(statuses_[i]));
    }

    // Refuses two stripes that write the same memory. The library has seen to each stripe by itself.
    void check_written(const std::vector<gfk_rs_stripe> &list) const {
        std::vector<std::tuple<const uint8_t *, const uint8_t *, size_t>> all; // start, end, stripe
        for (size_t i = 0; i < list.size(); i++)
            for (const void *region : stripes_[i]->written())
                if (list[i].bytes != 0 && statuses_[i] == GFK_STATUS_SUCCESS) {
                    const auto *start = static_cast<const uint8_t *>(region);
                    all.emplace_back(start, start + list[i].bytes, i);
                }
        std::sort(all.begin(), all.end());
        for (size_t i = 1; i < all.size(); i++) {
            const auto &[before, end, one] = all[i - 1];
            const auto &[start, after, other] = all[i];
            if (start < end)
                raise(GFK_STATUS_OVERLAP, "stripes %zu and %zu of the batch write the same memory",
                      std::min(one, other), std::max(one, other));
        }
    }

    nb::object owner_;
    std::vector<std::unique_ptr<Stripe>> stripes_;
    Call call_{Call::Keeping{}}; // of the arrays in stripes_
    nb::tuple results_;
    std::vector<gfk_status> statuses_;
    std::unique_ptr<gfk_rs_batch, Destroy<gfk_rs_batch_destroy>> batch_;
};
} // namespace

void bind_rs_objects(nb::module_ &module, nb::class_<RS> &rs) {
    nb::class_<RSDecoder>(module, "RSDecoder",
                          "Rebuilds the wanted regions of one set of lost ones; RS.decoder makes it. Any thread.")
        .def(
            "run", &RSDecoder::run, "data"_a, "parity"_a, "out"_a = nb::none(),
            R"(Rebuilds; the arguments and the result are those of RS.decode. Regions that are neither in `sources` nor in `wanted`
may be None in lists.)")
        .def_ro("lost", &RSDecoder::lost, "The lost regions, as they were given.")
        .def_ro("wanted", &RSDecoder::wanted, "The regions that run rebuilds, in their order.")
        .def_ro("sources", &RSDecoder::sources, "The k regions that run reads; none if nothing is wanted.")
        .def("prepare", prepare<RSDecoder>, "device"_a = "cpu", "Makes the decoder at a place, as RS.prepare.")
        .def("info", &RSDecoder::info, "device"_a = "cpu",
             "The ProductInfo of the decoder at a place; None if nothing is wanted.")
        .def("__reduce__", &RSDecoder::reduce);
    nb::class_<RSUpdater>(
        module, "RSUpdater",
        R"(Brings the parity up to date when one data region changes; RS.updater makes it. Any thread.)")
        .def("run", &RSUpdater::run, "before"_a, "after"_a, "parity"_a, "As RS.update.")
        .def(
            "apply", [](RSUpdater &u, nb::handle delta, nb::handle parity) { u.run(delta, {}, parity); }, "delta"_a,
            "parity"_a, "As RS.apply_delta.")
        .def_ro("index", &RSUpdater::index, "The data region that changes.")
        .def("prepare", prepare<RSUpdater>, "device"_a = "cpu", "Makes the updater at a place, as RS.prepare.")
        .def("__reduce__", &RSUpdater::reduce);
    nb::class_<RSBatch>(
        module, "RSBatch",
        R"(Many small stripes of one code, in one launch; RS.batch makes it. The batch keeps the arrays.)")
        .def(
            "run", &RSBatch::run,
            R"(Encodes or rebuilds all stripes, on a GPU in the order of the framework's current stream at this call. The batch may
run again when its arrays hold new data. Returns `results`.)")
        .def_prop_ro("results", &RSBatch::results,
                     "What run writes: of each stripe the parity, or the rebuilt regions.")
        .def_prop_ro("statuses", &RSBatch::statuses, "The gfk.Status of each stripe, SUCCESS for those that run.")
        .def("__len__", &RSBatch::size);
    rs.def(
          "decoder", [](RS &self, nb::handle lost, nb::handle wanted) { return new RSDecoder(self, lost, wanted); },
          "lost"_a, "wanted"_a = nb::none(), nb::rv_policy::take_ownership,
          "An RSDecoder for one set of lost regions. The arguments and errors are those of decode.")
        .def("update", update, "index"_a, "before"_a, "after"_a, "parity"_a,
             R"(parity[j] ^= matrix[j, index] * (before ^ after): brings the parity up to date, in place.

index: of the data region. before, after: its old and its new contents, only read; or a part of them, with the same
part of every parity region. The result equals that of a new encode.)")
        .def(
            "apply_delta",
            [](RS &rs, nb::handle index, nb::handle delta, nb::handle parity) { update(rs, index, delta, {}, parity); },
            "index"_a, "delta"_a, "parity"_a,
            "parity[j] ^= matrix[j, index] * delta, in place, where `delta` made the delta.")
        .def(
            "updater", [](RS &self, nb::handle index) { return new RSUpdater(self, index); }, "index"_a,
            nb::rv_policy::take_ownership,
            R"(An RSUpdater for the data region `index`: update without a search, and for CUDA graphs.)")
        .def(
            "batch", [](RS &self, nb::handle stripes, bool statuses) { return new RSBatch(self, stripes, statuses); },
            "stripes"_a, nb::kw_only(), "statuses"_a = false, nb::rv_policy::take_ownership,
            R"(An RSBatch of stripes, all in one place; they may have different lengths.

stripes: a list of tuples. (data, parity) encodes into parity; where it is None, into a new array. (data, parity,
lost) rebuilds the lost regions into a new array, and (data, parity, lost, out) into out, as decode; an out of views
of the lost rows repairs in place. No stripe may read or write what another one writes; raises Overlap if two
stripes write the same memory.
statuses: leave bad stripes out, and say in RSBatch.statuses what is wrong with them, instead of raising the error
of the first one.)");
}
} // namespace gfk
