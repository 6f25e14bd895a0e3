// SPDX-License-Identifier: BSD-3-Clause
// fixture.h.
#include "fixture.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "support/engine_fixture.h"

std::vector<RsPlace> rs_places() {
    std::vector<RsPlace> places;
    for (const char *side : {"host", "gpu"})
        for (unsigned w : {8u, 16u, 32u})
            places.push_back({side, w, nullptr});
    if (gfk_engine_available(gfk_engine_find("isal_w8"), -1, nullptr) == GFK_STATUS_SUCCESS)
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

Indices all_of(size_t count) {
    Indices all(count);
    std::iota(all.begin(), all.end(), size_t(0));
    return all;
}

Indices random_indices(size_t below, size_t count, Random &random) {
    Indices all = all_of(below);
    for (size_t i = 0; i < count; i++)
        std::swap(all[i], all[i + random.below(below - i)]);
    all.resize(count);
    return all;
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

static std::vector<size_t> place(size_t regions, size_t bytes, Stripe::Layout layout,
                                 Random &random) {
    const size_t slot = round_up(bytes, 16) + 48, phase = random.below(16);
    std::vector<size_t> offsets;
    for (size_t i = 0; i < regions; i++)
        offsets.push_back(16 + i * slot + (layout == Stripe::PHASES ? random.below(16) : phase));
    return offsets;
}

Stripe::Stripe(bool host, gfk_rs_t code, size_t bytes, Layout layout, Random &random)
    : info_(info_of(code)), matrix_(info_.k * info_.m), bytes_(bytes),
      offsets_(place(info_.k + info_.m, bytes, layout, random)),
      memory_(host, offsets_.back() + bytes + 64) {
    require_success(gfk_rs_get_matrix(code, matrix_.data()), "gfk_rs_get_matrix");
    for (size_t offset : offsets_)
        pointers_.push_back(memory_.data() + offset);
    data_ = {pointers_.data(), nullptr, 0};
    parity_ = {pointers_.data() + info_.k, nullptr, 0};
    if (layout == SPACED) {
        data_ = {nullptr, pointers_[0], offsets_[1] - offsets_[0]};
        parity_ = {nullptr, pointers_[info_.k], offsets_[1] - offsets_[0]};
    }
    refill(random);
}

Bytes Stripe::content(size_t region) const {
    const auto begin = whole_.begin() + static_cast<ptrdiff_t>(offsets_[region]);
    return Bytes(begin, begin + static_cast<ptrdiff_t>(bytes_));
}

// Adds what a change of a data region means for parity. Long ones by tables of the products of
// every byte of a symbol.
void Stripe::encode(size_t region, size_t offset, const Bytes &delta) {
    const unsigned w = info_.field.w;
    const size_t symbols = delta.size() / (w / 8), first = offset / (w / 8);
    std::vector<uint32_t> table(symbols > 256 ? size_t(w / 8) * 256 : 0);
    for (size_t j = 0; j < info_.m; j++) {
        const uint32_t c = matrix_[j * info_.k + region];
        for (size_t v = 0; v < table.size(); v++)
            table[v] = multiply(info_.field, c, static_cast<uint32_t>(v % 256) << (v / 256 * 8));
        uint8_t *parity = whole_.data() + offsets_[info_.k + j];
        for (size_t s = 0; s < symbols; s++) {
            const uint32_t x = get_symbol(delta.data(), s, w);
            uint32_t product = 0;
            if (table.empty())
                product = multiply(info_.field, c, x);
            for (size_t b = 0; b < table.size() / 256; b++)
                product ^= table[b * 256 + (x >> (8 * b) & 255)];
            set_symbol(parity, first + s, w, get_symbol(parity, first + s, w) ^ product);
        }
    }
}

void Stripe::refill(Random &random) {
    whole_ = random.bytes(memory_.size());
    for (size_t j = 0; j < info_.m; j++)
        std::memset(whole_.data() + offsets_[info_.k + j], 0, bytes_);
    for (size_t i = 0; i < info_.k; i++)
        encode(i, 0, content(i));
    write();
}

void Stripe::change(size_t region, size_t offset, const Bytes &to) {
    uint8_t *there = whole_.data() + offsets_[region] + offset;
    encode(region, offset, xor_of(Bytes(there, there + to.size()), to));
    std::copy(to.begin(), to.end(), there); // also of nothing
}

void Stripe::write() {
    lose({});
}

void Stripe::lose(const Indices &lost) {
    damaged_ = whole_;
    Random random(lost.size());
    for (size_t region : lost)
        for (size_t i = 0; i < bytes_; i++)
            damaged_[offsets_[region] + i] ^= static_cast<uint8_t>(1 + random.below(255));
    memory_.write(0, damaged_.data(), damaged_.size());
}

void Stripe::flip(size_t region, size_t offset, uint8_t bits) {
    const size_t at = offsets_[region] + offset;
    damaged_[at] = static_cast<uint8_t>(*memory_.view(at, 1) ^ bits); // not what was lost before
    memory_.write(at, &damaged_[at], 1);
}

testing::AssertionResult Stripe::is_rebuilt(const Indices &wanted) {
    Bytes expected = damaged_;
    for (size_t region : wanted)
        std::memcpy(expected.data() + offsets_[region], whole_.data() + offsets_[region], bytes_);
    return is(expected);
}

testing::AssertionResult Stripe::is_whole() {
    return is(whole_);
}

testing::AssertionResult Stripe::is(const Bytes &expected) {
    const uint8_t *got = memory_.view(0, memory_.size());
    const size_t at = first_difference(expected.data(), got, expected.size());
    if (at == expected.size())
        return testing::AssertionSuccess();
    testing::AssertionResult failure = testing::AssertionFailure();
    failure << "engine " << info_.product.engine->id << ", " << gfk_rs_matrix_name(info_.matrix)
            << ", " << info_.k << " + " << info_.m << ", length " << bytes_ << ": ";
    const auto begin = std::upper_bound(offsets_.begin(), offsets_.end(), at);
    const auto region = static_cast<size_t>(begin - offsets_.begin()) - 1; // or before the first
    if (begin == offsets_.begin() || at >= offsets_[region] + bytes_)
        failure << "outside of regions, byte " << at;
    else
        failure << "region " << region << ", byte " << at - offsets_[region];
    return failure << ": expected " << unsigned(expected[at]) << ", got " << unsigned(got[at])
                   << "; seed " << options.seed;
}

std::unique_ptr<Stripe::Some> Stripe::only(const std::vector<Indices> &lists) const {
    auto some = std::make_unique<Some>();
    some->pointers.resize(pointers_.size());
    for (const Indices &list : lists)
        for (size_t region : list)
            some->pointers[region] = pointers_[region];
    some->data = {some->pointers.data(), nullptr, 0};
    some->parity = {some->pointers.data() + info_.k, nullptr, 0};
    return some;
}

// ---- words and places ---------------------------------------------------------------------------

void Word::poison() {
    memory_.write(0, &POISON, sizeof POISON);
}

uint32_t Word::read() {
    uint32_t word;
    std::memcpy(&word, memory_.view(0, sizeof word), sizeof word);
    return word;
}

void RsTest::SetUp() {
    if (!host() && device::count() == 0)
        SKIP_WITHOUT_GPU("there is no GPU");
}

gfk_product_desc RsTest::product_desc() const {
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.engine = GetParam().engine;
    if (desc.engine != nullptr)
        return desc;
    if (!host())
        desc.device = device::current(); // a number, so no engine on the CPU
    else
        desc.family = GetParam().side[0] == 'i' ? GFK_ENGINE_ISAL : GFK_ENGINE_HOST;
    return desc;
}

RsCode RsTest::make_code(const RsShape &shape, uint64_t polynomial) const {
    const gfk_field field = make_field(w(), polynomial);
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.matrix = shape.matrix;
    desc.custom = shape.custom.empty() ? nullptr : shape.custom.data();
    desc.flags = shape.flags;
    desc.product = product_desc();
    gfk_rs_t code = nullptr;
    require_success(gfk_rs_create(&code, &field, shape.k, shape.m, &desc), "gfk_rs_create");
    return RsCode(code);
}
