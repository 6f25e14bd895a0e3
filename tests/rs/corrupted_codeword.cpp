// SPDX-License-Identifier: BSD-3-Clause
// corrupted_codeword.h.
#include "corrupted_codeword.h"

#include <algorithm>
#include <cstring>
#include <sstream>

RsCode make_rs_code(bool host, const gfk_field &field, const RsShape &shape) {
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.matrix = shape.matrix;
    desc.custom = shape.custom.empty() ? nullptr : shape.custom.data();
    desc.flags = shape.flags;
    if (host)
        desc.product.family = GFK_ENGINE_HOST;
    else
        desc.product.device = device::current(); // a number, so no engine on the CPU
    gfk_rs_t code = nullptr;
    require_success(gfk_rs_create(&code, &field, shape.k, shape.m, &desc), "gfk_rs_create");
    return RsCode(code);
}

gfk_rs_info info_of(gfk_rs_t code) {
    gfk_rs_info info;
    require_success(gfk_rs_get_info(code, &info), "gfk_rs_get_info");
    return info;
}

static std::vector<size_t> place(size_t regions, size_t bytes, bool phases, Random &random) {
    const size_t slot = round_up(bytes, 16) + 48;
    std::vector<size_t> offsets;
    for (size_t i = 0; i < regions; i++)
        offsets.push_back(16 + i * slot + (phases ? random.below(16) : 0));
    return offsets;
}

CorruptedCodeword::CorruptedCodeword(bool host, gfk_rs_t code, size_t bytes, bool phases,
                                     Random &random)
    : code_(code), info_(info_of(code)), bytes_(bytes),
      offsets_(place(info_.k + info_.m, bytes, phases, random)),
      memory_(host, offsets_.back() + bytes + 64),
      out_(host, sizeof(gfk_rs_verdict) + (info_.k + info_.m) * sizeof(uint64_t)),
      planted_(info_.k + info_.m), errors_(bytes / (info_.field.w / 8)) {
    for (size_t offset : offsets_)
        pointers_.push_back(memory_.data() + offset);
    data_ = {pointers_.data(), nullptr, 0};
    parity_ = {pointers_.data() + info_.k, nullptr, 0};
    if (!phases) {
        const size_t stride = offsets_[1] - offsets_[0];
        data_ = {nullptr, pointers_[0], stride};
        parity_ = {nullptr, pointers_[info_.k], stride};
    }
    const Bytes poison = random.bytes(memory_.size());
    memory_.write(0, poison.data(), poison.size());
    require_success(gfk_rs_encode(code, &data_, &parity_, bytes, nullptr), "gfk_rs_encode");
    clean_ = damaged_ = memory_.read();
    size_t needed = 0;
    require_success(gfk_rs_locate_workspace(code, bytes, &needed), "gfk_rs_locate_workspace");
    workspace_ = std::make_unique<Memory>(host, needed);
}

void CorruptedCodeword::damage(size_t region, size_t symbol, uint32_t value) {
    uint8_t *at = damaged_.data() + offsets_[region];
    set_symbol(at, symbol, info_.field.w, get_symbol(at, symbol, info_.field.w) ^ value);
    planted_[region]++;
    errors_[symbol]++;
}

void CorruptedCodeword::damage_some(size_t symbol, size_t e, Random &random) {
    std::vector<size_t> chosen;
    while (chosen.size() < e) {
        const size_t region = random.below(info_.k + info_.m);
        if (std::find(chosen.begin(), chosen.end(), region) != chosen.end())
            continue;
        uint32_t value = 0;
        while (value == 0)
            value = random.symbol(info_.field.w);
        damage(region, symbol, value);
        chosen.push_back(region);
    }
}

void CorruptedCodeword::put() {
    memory_.write(0, damaged_.data(), damaged_.size());
    Random random(99);
    for (Memory *memory : {&out_, workspace_.get()}) {
        const Bytes poison = random.bytes(memory->size());
        memory->write(0, poison.data(), poison.size());
    }
}

void CorruptedCodeword::take() {
    const Bytes out = out_.read();
    counts_.resize(info_.k + info_.m);
    std::memcpy(&verdict_, out.data(), sizeof verdict_);
    std::memcpy(counts_.data(), out.data() + sizeof verdict_, out.size() - sizeof verdict_);
    content_ = memory_.read();
}

gfk_status CorruptedCodeword::locate(gfk_rs_repair repair, gfk_stream_t stream) {
    put();
    const gfk_status status =
        gfk_rs_locate(code_, &data_, &parity_, bytes_, repair, verdict_memory(), counts_memory(),
                      workspace_->data(), workspace_->size(), stream);
    if (stream != nullptr)
        device::synchronize(stream);
    take();
    return status;
}

testing::AssertionResult CorruptedCodeword::same(const Bytes &expected, const char *what) const {
    const size_t at = ::first_difference(expected.data(), content_.data(), expected.size());
    if (at == expected.size())
        return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << gfk_rs_matrix_name(info_.matrix) << " w = " << info_.field.w << ", " << info_.k
           << " + " << info_.m << ", length " << bytes_ << ": byte " << at << " is not " << what
           << "; seed " << options.seed;
}

testing::AssertionResult CorruptedCodeword::is_exact(gfk_rs_repair repair) const {
    gfk_rs_verdict expected;
    std::memset(&expected, 0, sizeof expected);
    expected.first_corrupt = UINT64_MAX;
    for (size_t symbol = errors_.size(); symbol-- > 0;)
        if (errors_[symbol] != 0) {
            expected.corrupt++;
            expected.located++;
            expected.first_corrupt = symbol * (info_.field.w / 8);
        }
    std::ostringstream text;
    if (std::memcmp(&expected, &verdict_, sizeof expected) != 0)
        text << "verdict: corrupt " << verdict_.corrupt << ", located " << verdict_.located
             << ", unexplained " << verdict_.unexplained << ", first " << verdict_.first_corrupt
             << "; damaged " << expected.corrupt << " positions, first " << expected.first_corrupt;
    for (size_t region = 0; region < planted_.size(); region++)
        if (planted_[region] != counts_[region])
            text << "; region " << region << " damaged " << planted_[region] << " times, counted "
                 << counts_[region];
    if (!text.str().empty())
        return testing::AssertionFailure()
               << gfk_rs_matrix_name(info_.matrix) << " w = " << info_.field.w << ", " << info_.k
               << " + " << info_.m << ", length " << bytes_ << ": " << text.str() << "; seed "
               << options.seed;
    return repair == GFK_RS_REPAIR ? same(clean_, "the undamaged content") : is_untouched();
}

testing::AssertionResult CorruptedCodeword::is_consistent() const {
    uint64_t damaged = 0, named = 0;
    for (size_t e : errors_)
        damaged += e != 0;
    for (uint64_t count : counts_)
        named += count;
    if (verdict_.corrupt != damaged || verdict_.corrupt != verdict_.located + verdict_.unexplained)
        return testing::AssertionFailure()
               << damaged << " positions are damaged; corrupt " << verdict_.corrupt << ", located "
               << verdict_.located << ", unexplained " << verdict_.unexplained;
    if (named < verdict_.located || named > verdict_.located * info_.locatable)
        return testing::AssertionFailure()
               << named << " symbols named at " << verdict_.located << " positions";
    return testing::AssertionSuccess();
}
