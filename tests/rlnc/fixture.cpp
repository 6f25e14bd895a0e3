// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"

#include <algorithm>
#include <array>

Rlnc make_rlnc(const gfk_field &field, size_t n, size_t bytes, const gfk_rlnc_desc &desc) {
    gfk_rlnc_t code = nullptr;
    require_success(gfk_rlnc_create(&code, &field, n, bytes, &desc), "gfk_rlnc_create");
    return Rlnc(code);
}

Decoder make_decoder(const Rlnc &code, uint64_t first, size_t generations, size_t spare) {
    gfk_rlnc_decoder_t made = nullptr;
    require_success(gfk_rlnc_decoder_create(&made, code.get(), first, generations, spare),
                    "gfk_rlnc_decoder_create");
    return Decoder(made);
}

namespace {

// The 16 bytes of Philox4x32-10 for a counter, by the paper's formulas.
std::array<uint8_t, 16> philox(std::array<uint32_t, 4> c, uint64_t seed) {
    std::array<uint32_t, 2> key = {uint32_t(seed), uint32_t(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = uint64_t(0xD2511F53) * c[0], p1 = uint64_t(0xCD9E8D57) * c[2];
        c = {uint32_t(p1 >> 32) ^ c[1] ^ key[0], uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ key[1],
             uint32_t(p0)};
        key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
    }
    std::array<uint8_t, 16> bytes;
    for (size_t i = 0; i < 16; i++)
        bytes[i] = uint8_t(c[i / 4] >> 8 * (i % 4));
    return bytes;
}

// TinyMT32 in the words of RFC 8682.
class TinyMt {
  public:
    explicit TinyMt(uint32_t seed) : status_{seed, MAT1, MAT2, TMAT} {
        for (uint32_t i = 1; i < 8; i++) {
            const uint32_t s = status_[(i - 1) % 4];
            status_[i % 4] ^= i + 1812433253u * (s ^ (s >> 30));
        }
        for (int i = 0; i < 8; i++)
            step();
    }
    uint32_t operator()() {
        step();
        const uint32_t t1 = status_[0] + (status_[2] >> 8);
        const uint32_t t0 = status_[3] ^ t1;
        return t1 & 1 ? t0 ^ TMAT : t0;
    }

  private:
    static constexpr uint32_t MAT1 = 0x8f7011ee, MAT2 = 0xfc78ff1f, TMAT = 0x3793fdff;
    void step() {
        uint32_t y = status_[3];
        uint32_t x = (status_[0] & 0x7fffffff) ^ status_[1] ^ status_[2];
        x = x ^ (x << 1);
        y = y ^ (y >> 1) ^ x;
        status_ = {status_[1], status_[2], x ^ (y << 10), y};
        if (y & 1) {
            status_[1] ^= MAT1;
            status_[2] ^= MAT2;
        }
    }
    std::array<uint32_t, 4> status_;
};

Elements rfc8681(size_t n, unsigned dt, uint32_t key) {
    TinyMt random(key);
    Elements vector(n);
    for (uint32_t &x : vector)
        if (dt == 15 || random() % 16 <= dt)
            while (x == 0)
                x = random() % 256;
    return vector;
}

} // namespace

Elements plain_vector(unsigned w, size_t n, const gfk_rlnc_desc &desc, uint64_t generation,
                      uint32_t packet) {
    Elements vector(n);
    if (desc.systematic && packet < n) {
        vector[packet] = 1;
        return vector;
    }
    if (desc.kind == GFK_RLNC_RFC8681) {
        const uint32_t key = packet - (desc.systematic ? static_cast<uint32_t>(n) : 0);
        vector = rfc8681(n, (desc.density ? desc.density : 16) - 1, key % 65536);
    } else {
        struct Blocks { // of which the last block is kept
            size_t number = SIZE_MAX;
            decltype(philox({}, 0)) block;
        } values, densities;
        const auto byte = [&](Blocks &blocks, size_t i, uint32_t sequence) {
            if (blocks.number != i / 16)
                blocks.block = philox({uint32_t(i / 16) + sequence, uint32_t(generation >> 32),
                                       packet, uint32_t(generation)},
                                      desc.seed);
            blocks.number = i / 16;
            return blocks.block[i % 16];
        };
        for (size_t i = 0; i < n; i++)
            if (desc.density == 0 || desc.density == 256 ||
                byte(densities, i, 1u << 31) < desc.density)
                for (size_t b = 0; b < w / 8; b++)
                    vector[i] |= uint32_t(byte(values, i * (w / 8) + b, 0)) << 8 * b;
    }
    if (std::count(vector.begin(), vector.end(), 0u) == static_cast<ptrdiff_t>(n))
        vector[packet % n] = 1;
    return vector;
}

uint8_t Oracle::add(Elements row) {
    const Elements whole = row;
    if (std::all_of(row.begin(), row.begin() + static_cast<ptrdiff_t>(n_),
                    [](uint32_t x) { return x == 0; })) {
        refused_++;
        return GFK_RLNC_REFUSED;
    }
    const size_t column = reduce(row);
    if (column < n_) {
        uint32_t inverse = 0;
        require_success(gfk_field_inverse(&field_, row[column], &inverse), "gfk_field_inverse");
        for (uint32_t &x : row)
            x = multiply(field_, inverse, x);
        rows_[column] = row;
        rank_++;
        return GFK_RLNC_INNOVATIVE;
    }
    if (kept_.size() == spare_) {
        dropped_++;
        return GFK_RLNC_DROPPED;
    }
    kept_.push_back(whole);
    return GFK_RLNC_DEPENDENT;
}

// A source is determined if its unit vector depends on the rows.
bool Oracle::determines(size_t source) const {
    Elements unit(n_ + symbols_);
    unit[source] = 1;
    return reduce(unit) == n_;
}

Elements Oracle::sources() const {
    std::vector<Elements> rows = rows_;
    Elements all;
    for (size_t c = n_; c-- > 0;)
        for (size_t r = 0; r < c; r++)
            subtract(rows[r], rows[c], rows[r][c]);
    for (const Elements &row : rows)
        all.insert(all.end(), row.begin() + static_cast<ptrdiff_t>(n_), row.end());
    return all;
}

gfk_status Oracle::status() const {
    if (rank_ < n_)
        return GFK_STATUS_SINGULAR;
    const Elements all = sources();
    for (const Elements &row : kept_)
        for (size_t s = 0; s < symbols_; s++) {
            uint32_t sum = row[n_ + s];
            for (size_t i = 0; i < n_; i++)
                sum ^= multiply(field_, row[i], all[i * symbols_ + s]);
            if (sum != 0)
                return GFK_STATUS_CORRUPT;
        }
    return GFK_STATUS_SUCCESS;
}

size_t Oracle::reduce(Elements &row) const {
    for (size_t c = 0; c < n_; c++) {
        if (row[c] != 0 && rows_[c].empty())
            return c;
        if (row[c] != 0)
            subtract(row, rows_[c], row[c]);
    }
    return n_;
}

void Oracle::subtract(Elements &row, const Elements &from, uint32_t factor) const {
    if (row.size() > 64) { // tables are worth making
        const Times times(field_, factor);
        for (size_t i = 0; i < row.size(); i++)
            row[i] ^= times(from[i]);
        return;
    }
    for (size_t i = 0; i < row.size() && factor != 0; i++)
        row[i] ^= multiply(field_, factor, from[i]);
}

Headers headers_of(const gfk_rlnc_range &range) {
    Headers headers;
    for (size_t g = 0; g < range.generations; g++)
        for (size_t j = 0; j < range.count; j++)
            headers.push_back({range.generation + g, static_cast<uint32_t>(range.first + j), 0});
    return headers;
}

gfk_rlnc_desc RlncTest::desc() const {
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    desc.device = host() ? GFK_CPU : GFK_CURRENT_DEVICE;
    desc.seed = 0x0123456789abcdef;
    desc.kernel = named_matmul;
    return desc;
}
