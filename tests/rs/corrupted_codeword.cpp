// SPDX-License-Identifier: BSD-3-Clause
// corrupted_codeword.h.
#include "corrupted_codeword.h"

#include <algorithm>
#include <cstring>
#include <sstream>

RsCode make_rs_code(bool host, const gfk_field &field, const RsShape &shape) {
    if (host)
        return make_host_code(field, shape);
    gfk_product_desc product = GFK_PRODUCT_DESC_INIT;
    return make_rs_code(product, field, shape);
}

CorruptedCodeword::CorruptedCodeword(bool host, gfk_rs_t code, size_t bytes, bool phases,
                                     Random &random)
    : code_(code), info_(info_of(code)),
      regions_(host, info_.k, info_.m, bytes, {phases ? Layout::PHASES : Layout::SPACED}, random),
      out_(host, sizeof(gfk_rs_verdict) + regions_.count() * sizeof(uint64_t)),
      planted_(regions_.count()), errors_(symbols()) {
    regions_.write(random.bytes(regions_.size()));
    require_success(gfk_rs_encode(code, data(), parity(), bytes, nullptr), "gfk_rs_encode");
    clean_ = damaged_ = regions_.read();
    size_t needed = 0;
    require_success(gfk_rs_locate_workspace(code, bytes, &needed), "gfk_rs_locate_workspace");
    workspace_ = std::make_unique<Memory>(host, needed);
}

void CorruptedCodeword::damage(size_t region, size_t symbol, uint32_t value) {
    uint8_t *at = regions_.in_copy(damaged_, region);
    set_symbol(at, symbol, info_.field.w, get_symbol(at, symbol, info_.field.w) ^ value);
    planted_[region]++;
    errors_[symbol]++;
    one_by_one_.reset();
}

void CorruptedCodeword::damage_some(size_t symbol, size_t e, Random &random) {
    std::vector<size_t> chosen;
    while (chosen.size() < e) {
        const size_t region = random.below(regions_.count());
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
    regions_.write(damaged_);
    Random random(99);
    for (Memory *memory : {&out_, workspace_.get()}) {
        const Bytes poison = random.bytes(memory->size());
        memory->write(0, poison.data(), poison.size());
    }
}

void CorruptedCodeword::take() {
    const Bytes out = out_.read();
    counts_.resize(regions_.count());
    std::memcpy(&verdict_, out.data(), sizeof verdict_);
    std::memcpy(counts_.data(), out.data() + sizeof verdict_, out.size() - sizeof verdict_);
    content_ = regions_.read();
}

gfk_status CorruptedCodeword::locate(gfk_rs_repair repair, gfk_stream_t stream) {
    put();
    const gfk_status status =
        gfk_rs_locate(code_, data(), parity(), bytes(), repair, verdict_memory(), counts_memory(),
                      workspace_->data(), workspace_->size(), stream);
    if (stream != nullptr)
        device::synchronize(stream);
    take();
    return status;
}

std::string CorruptedCodeword::who() const {
    return std::string(gfk_rs_matrix_name(info_.matrix)) + ", w = " + std::to_string(info_.field.w);
}

testing::AssertionResult CorruptedCodeword::same(const Bytes &expected, const char *what) const {
    return regions_.same(expected, content_.data(), who() + ", " + what);
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
               << who() << ", " << info_.k << " + " << info_.m << ", length " << bytes() << ": "
               << text.str() << "; seed " << options.seed;
    return repair == GFK_RS_REPAIR ? same(clean_, "the damage is gone") : is_untouched();
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

CorruptedCodeword::Found CorruptedCodeword::find_one_by_one() const {
    const size_t size = info_.field.w / 8, n = regions_.count();
    RsShape shape = {info_.matrix, info_.k, info_.m};
    if (shape.matrix == GFK_RS_CUSTOM)
        shape.custom = matrix_of(code_);
    const RsCode one = make_host_code(info_.field, shape);
    size_t needed = 0;
    require_success(gfk_rs_locate_workspace(one.get(), size, &needed), "gfk_rs_locate_workspace");
    Memory workspace(true, needed);
    Found found = {{}, std::vector<uint64_t>(n), damaged_};
    found.verdict.first_corrupt = UINT64_MAX;
    std::vector<uint64_t> here(n);
    Bytes symbols(n * size);
    const gfk_regions data = {nullptr, symbols.data(), size};
    const gfk_regions parity = {nullptr, symbols.data() + info_.k * size, size};
    for (size_t symbol = 0; symbol < errors_.size(); symbol++) {
        if (errors_[symbol] == 0)
            continue;
        for (size_t i = 0; i < n; i++)
            std::memcpy(&symbols[i * size], regions_.in_copy(found.content, i) + symbol * size,
                        size);
        gfk_rs_verdict verdict;
        require_success(gfk_rs_locate(one.get(), &data, &parity, size, GFK_RS_REPAIR, &verdict,
                                      here.data(), workspace.data(), needed, nullptr),
                        "gfk_rs_locate");
        found.verdict.corrupt += verdict.corrupt;
        found.verdict.located += verdict.located;
        found.verdict.unexplained += verdict.unexplained;
        if (verdict.corrupt != 0 && found.verdict.first_corrupt == UINT64_MAX)
            found.verdict.first_corrupt = symbol * size;
        for (size_t i = 0; i < n; i++) {
            found.counts[i] += here[i];
            std::memcpy(regions_.in_copy(found.content, i) + symbol * size, &symbols[i * size],
                        size);
        }
    }
    return found;
}

testing::AssertionResult CorruptedCodeword::is_as_one_by_one(gfk_rs_repair repair) {
    if (!one_by_one_)
        one_by_one_ = find_one_by_one();
    const gfk_rs_verdict &expected = one_by_one_->verdict;
    if (std::memcmp(&expected, &verdict_, sizeof expected) != 0)
        return testing::AssertionFailure()
               << who() << ", " << info_.k << " + " << info_.m << ", length " << bytes()
               << ": corrupt " << verdict_.corrupt << ", located " << verdict_.located
               << ", unexplained " << verdict_.unexplained << ", first " << verdict_.first_corrupt
               << "; one by one " << expected.corrupt << ", " << expected.located << ", "
               << expected.unexplained << ", " << expected.first_corrupt << "; seed "
               << options.seed;
    const std::vector<uint64_t> &counts = one_by_one_->counts;
    for (size_t i = 0; i < counts.size(); i++)
        if (counts[i] != counts_[i])
            return testing::AssertionFailure()
                   << who() << ": region " << i << " counted " << counts_[i]
                   << " times, one by one " << counts[i] << "; seed " << options.seed;
    return repair == GFK_RS_REPAIR ? same(one_by_one_->content, "as one by one") : is_untouched();
}
