// SPDX-License-Identifier: BSD-3-Clause
// guarded_regions.h.
#include "guarded_regions.h"

#include <algorithm>
#include <new>
#include <sstream>

#include <sys/mman.h>
#include <unistd.h>

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

// ---- lone regions -------------------------------------------------------------------------------

LoneRegion::LoneRegion(bool host, const Bytes &content, size_t phase, bool at_end)
    : bytes_(content.size()) {
    if (!host) {
        Bytes all(phase); // initialized too
        all.insert(all.end(), content.begin(), content.end());
        memory_ = std::make_unique<Memory>(false, all.size());
        memory_->write(0, all.data(), all.size(), false);
        data_ = memory_->data() + phase;
        return;
    }
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t inner = round_up(bytes_, page), all = inner + 2 * page;
    void *const map = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *const begin = static_cast<uint8_t *>(map) + page;
    if (map == MAP_FAILED || mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0)
        throw std::bad_alloc();
    pages_ = {map, [all](void *pages) { munmap(pages, all); }};
    data_ = begin + (at_end ? inner - bytes_ : 0);
    write(content);
}

void LoneRegion::write(const Bytes &content) {
    if (memory_ == nullptr)
        std::copy(content.begin(), content.end(), data_);
    else
        memory_->write(memory_->size() - bytes_, content.data(), bytes_, false);
}

Bytes LoneRegion::read() const {
    return memory_ == nullptr ? Bytes(data_, data_ + bytes_)
                              : memory_->read(memory_->size() - bytes_, bytes_);
}

LoneRegions::LoneRegions(bool host, size_t ins, const std::vector<Bytes> &contents,
                         const std::function<size_t(size_t)> &phase, size_t first) {
    for (size_t i = 0; i < contents.size(); i++) {
        regions_.emplace_back(host, contents[i], phase(i), (first + i) % 2 == 0);
        pointers_.push_back(regions_[i].data());
    }
    in_ = {pointers_.data(), nullptr, 0};
    out_ = {pointers_.data() + ins, nullptr, 0};
}
