// SPDX-License-Identifier: BSD-3-Clause
// guarded_regions.h.
#include "guarded_regions.h"

#include <algorithm>
#include <sstream>

namespace {

constexpr size_t GUARD = 32; // bytes in front of a region, and behind it, at least

std::vector<size_t> place(size_t regions, size_t bytes, const Layout &layout, Random &random) {
    const size_t slot = round_up(bytes, 16) + 2 * GUARD;
    std::vector<size_t> offsets;
    for (size_t i = 0; i < regions; i++)
        offsets.push_back(GUARD + i * slot +
                          (layout.kind == Layout::PHASES ? random.below(16) : layout.phase) +
                          (layout.kind == Layout::SPACED ? i * layout.extra : 0));
    return offsets;
}

} // namespace

std::string Layout::text() const {
    if (kind == PHASES)
        return "different phases";
    return "phase " + std::to_string(phase) +
           (kind == SPACED ? ", equally spaced, 16n + " + std::to_string(extra) + " apart" : "");
}

GuardedRegions::GuardedRegions(bool host, size_t ins, size_t outs, size_t bytes,
                               const Layout &layout, Random &random)
    : ins_(ins), bytes_(bytes), layout_(layout), offsets_(place(ins + outs, bytes, layout, random)),
      memory_(host, offsets_.back() + bytes + 2 * GUARD) {
    for (size_t offset : offsets_)
        pointers_.push_back(memory_.data() + offset);
    in_ = {pointers_.data(), nullptr, 0};
    out_ = {pointers_.data() + ins, nullptr, 0};
    if (layout.kind == Layout::SPACED) {
        const size_t stride = offsets_[1] - offsets_[0]; // there are two regions at least
        in_ = {nullptr, pointers_[0], stride};
        out_ = {nullptr, pointers_[ins], stride};
    }
}

Bytes GuardedRegions::from_copy(const Bytes &copy, size_t region) const {
    const uint8_t *begin = copy.data() + offsets_[region];
    return Bytes(begin, begin + bytes_);
}

testing::AssertionResult GuardedRegions::is(const Bytes &expected, const std::string &who) {
    return same(expected, memory_.view(0, size()), who);
}

testing::AssertionResult GuardedRegions::same(const Bytes &expected, const uint8_t *got,
                                              const std::string &who) const {
    const size_t at = first_difference(expected.data(), got, expected.size());
    if (at == expected.size())
        return testing::AssertionSuccess();
    std::ostringstream text;
    text << who << ", " << ins_ << " inputs, " << count() - ins_ << " outputs, length " << bytes_
         << ", " << layout_.text() << ": ";
    const auto behind = std::upper_bound(offsets_.begin(), offsets_.end(), at);
    const auto region = static_cast<size_t>(behind - offsets_.begin()) - 1; // or before the first
    if (behind == offsets_.begin() || at >= offsets_[region] + bytes_)
        text << "byte " << at << " of the buffer, outside the regions";
    else
        text << (region < ins_ ? "input " : "output ") << (region < ins_ ? region : region - ins_)
             << ", byte " << at - offsets_[region];
    text << std::hex << ", expected " << +expected[at] << ", got " << +got[at] << std::dec
         << "; seed " << options.seed;
    return testing::AssertionFailure() << text.str();
}
