// SPDX-License-Identifier: BSD-3-Clause
#include "cpu.h"

#include <algorithm>
#include <cstring>

namespace {

constexpr size_t kChecked = 64 * kKiB;
constexpr size_t kLongest = kGiB; // that a library is given at once

} // namespace

// ---- other libraries -------------------------------------------------------------------------
const coder *coder_of(const std::string &library) {
    const coder *c = coders;
    while (c->library != nullptr && library != c->library->name)
        c++;
    return c->library ? c : nullptr;
}

CoderTeam::CoderTeam(const coder *other, const Shape &shape, const std::vector<uint32_t> &matrix,
                     unsigned threads)
    : library_(other->library), team_(threads) {
    const unsigned count = library_->threads == OBJECT_PER_THREAD ? threads : 1;
    const Stopwatch watch;
    for (unsigned t = 0; t < count && made_; t++) {
        void *object = library_->create(other, (int)shape.k, (int)shape.m, matrix.data());
        made_ = object != nullptr;
        if (made_)
            objects_.push_back(object);
    }
    create_us_ = watch.us() / count;
}

CoderTeam::~CoderTeam() {
    for (void *object : objects_)
        library_->destroy(object);
}

double CoderTeam::encode(const Regions &in, const Regions &out, size_t bytes, size_t unit) {
    return 1e6 * team_.run(bytes, unit, [&](unsigned t, size_t from, size_t to) {
        for (size_t at = from; at < to; at += kLongest) {
            Regions inputs = shifted(in, at), outputs = shifted(out, at);
            library_->encode(objects_[t % objects_.size()], inputs.data(), outputs.data(),
                             std::min(kLongest, to - at));
        }
    });
}

Fields baseline_facts() {
    const coder *gf = coder_of("gf-complete");
    Fields f;
    f.add("gf_complete_simd", given(gf ? gf->library->simd() : ""), "isa_l", "not found",
          "jerasure", "not found");
    for_coders(false, [&](const coder *c) {
        if (c->library->version == nullptr)
            return;
        const std::string key = c == coder_of("isa-l") ? "isa_l" : c->library->name;
        f.set(key, c->library->version());
        f.set(key + "_simd", c->library->simd());
    });
    return f;
}

// ---- this library ----------------------------------------------------------------------------
gfk_regions list_of(const Regions &regions) {
    return {(void *const *)regions.data(), nullptr, 0};
}

Object<gfk_product_t> product_of(const Library &library, const std::string &engine,
                                 const Shape &shape, const std::vector<uint32_t> &matrix) {
    const gfk_field field = field_of(shape.w);
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    Object<gfk_product_t> product;
    desc.engine = engine.c_str();
    gfk_check(product.make(library.gfk_product_create, library.gfk_product_destroy, &field, shape.m,
                           shape.k, matrix.data(), &desc),
              engine.c_str());
    return product;
}

std::vector<unsigned char> packed(const std::vector<uint32_t> &matrix, unsigned w) {
    std::vector<unsigned char> elements;
    for (uint32_t element : matrix)
        for (unsigned bit = 0; bit < w; bit += 8)
            elements.push_back((unsigned char)(element >> bit));
    return elements;
}

uint32_t symbol_at(const unsigned char *region, unsigned w, size_t at) {
    uint32_t symbol = 0;
    std::memcpy(&symbol, region + at * (w / 8), w / 8);
    return symbol;
}

uint32_t expected_symbol(const gfk_field &field, const unsigned char *row, const Regions &in,
                         size_t at) {
    uint32_t sum = 0, product = 0;
    for (size_t i = 0; i < in.size(); i++) {
        GFK_CHECK(gfk_field_multiply(&field, symbol_at(row, field.w, i),
                                     symbol_at(in[i], field.w, at), &product));
        sum ^= product;
    }
    return sum;
}

Ends::Ends(size_t bytes) : bytes_(bytes), length_(std::min(bytes, kChecked)) {}

void Ends::take(const Regions &regions) {
    for (size_t from : {size_t{0}, bytes_ - length_})
        for (const unsigned char *region : regions)
            expected_.emplace_back(region + from, region + from + length_);
}

void Ends::compute(const Shape &shape, const std::vector<uint32_t> &matrix, const Regions &in) {
    const auto product =
        product_of(linked_library(), "host_w" + std::to_string(shape.w), shape, matrix);
    for (size_t from : {size_t{0}, bytes_ - length_}) {
        const Regions part = shifted(in, from);
        Regions out;
        for (size_t j = 0; j < shape.m; j++) {
            expected_.emplace_back(length_);
            out.push_back(expected_.back().data());
        }
        const gfk_regions inputs = list_of(part), outputs = list_of(out);
        GFK_CHECK(gfk_product_run(product, &inputs, &outputs, length_, GFK_SET, nullptr));
    }
}

bool Ends::match(const Regions &out) const {
    const size_t n = out.size();
    for (size_t i = 0; i < expected_.size(); i++)
        if (std::memcmp(out[i % n] + (i < n ? 0 : bytes_ - length_), expected_[i].data(),
                        length_) != 0)
            return false;
    return true;
}
