// SPDX-License-Identifier: BSD-3-Clause
// fixture.h.
#include "fixture.h"

#include <algorithm>
#include <cstring>

#include "support/engine_fixture.h"

std::vector<RsPlace> rs_places() {
    std::vector<RsPlace> places;
    for (const char *side : {"host", "gpu"})
        for (unsigned w : {8u, 16u, 32u})
            places.push_back({side, w, nullptr});
    if (gfk_engine_available(gfk_engine_find("isal_w8"), GFK_CPU, nullptr) == GFK_STATUS_SUCCESS)
        places.push_back({"isal", 8, nullptr});
    for (size_t i = 0; i < gfk_engine_count(); i++) {
        const Engine engine = gfk_engine_at(i);
        if (std::strstr(engine->id, "_faulty") != nullptr)
            places.push_back({on_host(engine) ? "host" : "gpu", engine->w, engine->id});
    }
    return places;
}

void PrintTo(const RsPlace &place, std::ostream *out) {
    if (place.engine != nullptr)
        *out << place.engine;
    else
        *out << place.side << "_w" << place.w;
}

Decoder make_decoder(gfk_rs_t code, const Indices &lost, const Indices *wanted) {
    static const size_t nothing = 0; // an empty list has an address too
    gfk_rs_decoder_t decoder = nullptr;
    require_success(gfk_rs_decoder_create(&decoder, code, lost.data(), lost.size(),
                                          wanted == nullptr ? nullptr
                                          : wanted->empty() ? &nothing
                                                            : wanted->data(),
                                          wanted == nullptr ? 0 : wanted->size(), nullptr),
                    "gfk_rs_decoder_create");
    return Decoder(decoder);
}

Updater make_updater(gfk_rs_t code, size_t index) {
    gfk_rs_updater_t updater = nullptr;
    require_success(gfk_rs_updater_create(&updater, code, index, nullptr), "gfk_rs_updater_create");
    return Updater(updater);
}

// ---- stripes ------------------------------------------------------------------------------------

Stripe::Stripe(bool host, gfk_rs_t code, size_t bytes, Layout::Kind layout, Random &random)
    : code_(code), info_(info_of(code)), matrix_(matrix_of(code)),
      regions_(host, info_.k, info_.m, bytes, {layout, random.below(16)}, random), differs_(host) {
    refill(random);
}

Bytes Stripe::content(size_t region) const {
    return regions_.from_copy(whole_, region);
}

// Adds what a change of a data region means for parity.
void Stripe::encode(size_t region, size_t offset, const Bytes &delta) {
    for (size_t j = 0; j < info_.m; j++)
        Times(info_.field, matrix_[j * info_.k + region])
            .add(delta.data(), regions_.in_copy(whole_, info_.k + j) + offset, delta.size());
}

void Stripe::refill(Random &random) {
    whole_ = random.bytes(regions_.size());
    for (size_t j = 0; j < info_.m; j++)
        std::memset(regions_.in_copy(whole_, info_.k + j), 0, bytes());
    for (size_t i = 0; i < info_.k; i++)
        encode(i, 0, content(i));
    write();
}

void Stripe::change(size_t region, size_t offset, const Bytes &to) {
    uint8_t *there = regions_.in_copy(whole_, region) + offset;
    encode(region, offset, xor_of(Bytes(there, there + to.size()), to));
    std::copy(to.begin(), to.end(), there); // also of nothing
}

void Stripe::write() {
    lose({});
}

void Stripe::lose(const Indices &lost) {
    damaged_ = whole_;
    Random random(lost.size());
    for (size_t region : lost) {
        const Bytes change = random.bytes(bytes());
        for (size_t i = 0; i < bytes(); i++)
            regions_.in_copy(damaged_, region)[i] ^= change[i] != 0 ? change[i] : 1;
    }
    regions_.write(damaged_);
}

void Stripe::flip(size_t region, size_t offset, uint8_t bits) {
    uint8_t &byte = regions_.in_copy(damaged_, region)[offset];
    byte ^= bits;
    regions_.memory().set(static_cast<size_t>(&byte - damaged_.data()), byte);
}

testing::AssertionResult Stripe::is_rebuilt(const Indices &wanted) {
    Bytes expected = damaged_;
    for (size_t region : wanted)
        std::memcpy(regions_.in_copy(expected, region), regions_.in_copy(whole_, region), bytes());
    return is(expected);
}

testing::AssertionResult Stripe::is_whole() {
    return is(whole_);
}

testing::AssertionResult Stripe::is(const Bytes &expected) {
    return regions_.is(expected, std::string("engine ") + info_.product.engine->id + ", " +
                                     gfk_rs_matrix_name(info_.matrix));
}

gfk_status Stripe::encode(gfk_stream_t stream) {
    return gfk_rs_encode(code_, data(), parity(), bytes(), stream);
}

gfk_status Stripe::decode(const Indices &lost, gfk_stream_t stream) {
    return gfk_rs_decode(code_, lost.data(), lost.size(), nullptr, 0, data(), parity(), bytes(),
                         stream);
}

gfk_status Stripe::run(const Decoder &decoder, gfk_stream_t stream) {
    return gfk_rs_decoder_run(decoder.get(), data(), parity(), bytes(), stream);
}

uint32_t Stripe::verify(gfk_stream_t stream) {
    differs_.poison(stream != nullptr);
    require_success(gfk_rs_verify(code_, data(), parity(), bytes(), differs_.address(), stream),
                    "gfk_rs_verify");
    if (stream != nullptr)
        device::synchronize(stream);
    return differs_.read();
}

std::unique_ptr<Stripe::Some> Stripe::only(const std::vector<Indices> &lists) const {
    auto some = std::make_unique<Some>();
    some->pointers.resize(regions_.count());
    for (const Indices &list : lists)
        for (size_t region : list)
            some->pointers[region] = at(region);
    some->data = {some->pointers.data(), nullptr, 0};
    some->parity = {some->pointers.data() + info_.k, nullptr, 0};
    return some;
}

// ---- words and places ---------------------------------------------------------------------------

void Word::poison(bool wait) {
    memory_.write(0, &POISON, sizeof POISON, wait);
}

uint32_t Word::read() {
    uint32_t word;
    std::memcpy(&word, memory_.view(0, sizeof word), sizeof word);
    return word;
}

void RsTest::SetUp() {
    if (!host() && device::count() == 0)
        SKIP_WITHOUT_GPU("there is no GPU");
    set_up();
}

gfk_product_desc RsTest::product_desc() const {
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.engine = GetParam().engine;
    if (desc.engine == nullptr && host())
        desc.family = GetParam().side[0] == 'i' ? GFK_ENGINE_ISAL : GFK_ENGINE_HOST;
    return desc;
}
