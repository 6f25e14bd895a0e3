// SPDX-License-Identifier: BSD-3-Clause
// row_fixture.h.
#include "row_fixture.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>

#include <sys/mman.h>

namespace {

bool giant(Row row) {
    return (row->labels & GFK_LABEL_GIANT) != 0;
}

// Pinned memory for what one thread reads from devices: making it takes longer than most copies.
class Pinned {
  public:
    ~Pinned() {
        if (data_ == nullptr)
            return;
        try {
            device::release_pinned(data_);
        } catch (const std::exception &) { // a kernel crashed, which a test has reported
        }
    }
    uint8_t *at_least(size_t bytes) {
        if (bytes > bytes_) {
            if (data_ != nullptr)
                device::release_pinned(data_);
            data_ = nullptr;
            data_ = static_cast<uint8_t *>(device::allocate_pinned(bytes));
            bytes_ = bytes;
        }
        return data_;
    }

  private:
    uint8_t *data_ = nullptr;
    size_t bytes_ = 0;
};
thread_local Pinned pinned;

} // namespace

std::vector<Row> rows_that(const std::function<bool(Row)> &wanted) {
    std::vector<Row> found;
    for (size_t i = 0; i < gfk_kernel_count(); i++)
        if (wanted(gfk_kernel_at(i)))
            found.push_back(gfk_kernel_at(i));
    return found;
}

std::vector<Row> every_row() {
    return rows_that([](Row) { return true; });
}

std::vector<Row> rows() {
    return rows_that([](Row row) { return !giant(row); });
}

std::vector<Row> cuda_rows() {
    return rows_that([](Row row) { return !giant(row) && !on_host(row); });
}

std::vector<Row> giant_rows() {
    return rows_that(giant);
}

Row reference_row(unsigned w, bool host) {
    return gfk_kernel_find(("split_w" + std::to_string(w) + (host ? "_host" : "_naive")).c_str());
}

std::string row_name(const testing::TestParamInfo<Row> &info) {
    return info.param->id;
}

void RowTest::SetUp() {
    const char *reason = nullptr;
    if (gfk_kernel_available(row(), GFK_CURRENT_DEVICE, &reason) == GFK_STATUS_SUCCESS)
        return set_up();
    // A row for other devices, or for a newer nvcc, is not a missing GPU.
    if (device::count() > 0) {
        const auto cc = static_cast<unsigned>(device::compute_capability(device::current()));
        if ((row()->cc_min && cc < row()->cc_min) || (row()->cc_max && cc > row()->cc_max) ||
            std::strstr(reason, "built without CLMAD") != nullptr)
            GTEST_SKIP() << row()->id << ": " << reason;
    }
    SKIP_WITHOUT_GPU(std::string(row()->id) + ": " + reason);
}

Memory::Memory(bool host, size_t bytes) : host_(host), bytes_(bytes) {
    constexpr size_t HUGE_PAGE = size_t(2) << 20;
    const size_t least = std::max<size_t>(bytes, 1);
    const bool many_pages = least >= 64 * HUGE_PAGE;
    void *memory = nullptr;
    if (!host_)
        memory = device::allocate(least);
    else if (posix_memalign(&memory, many_pages ? HUGE_PAGE : 256, least) != 0)
        memory = nullptr;
    else if (many_pages) // small ones take longer to get than gigabytes take to multiply
        (void)madvise(memory, least, MADV_HUGEPAGE);
    if (memory == nullptr)
        throw std::bad_alloc();
    data_ = static_cast<uint8_t *>(memory);
}

Memory::Memory(bool host, const Bytes &content) : Memory(host, content.size()) {
    write(0, content.data(), content.size());
}

Memory::~Memory() {
    try {
        if (host_)
            std::free(data_);
        else
            device::release(data_);
    } catch (const std::exception &error) { // the kernel before it crashed
        ADD_FAILURE() << error.what();
    }
}

void Memory::write(size_t offset, const void *from, size_t bytes, bool wait) {
    if (bytes == 0)
        return;
    if (host_)
        std::memcpy(data_ + offset, from, bytes);
    else
        device::upload(data_ + offset, from, bytes, wait);
}

void Memory::set(size_t offset, uint8_t value) {
    if (host_)
        data_[offset] = value;
    else
        device::fill(data_ + offset, value, 1);
}

void Memory::copy(const Memory &from, size_t bytes) {
    if (host_)
        std::memcpy(data_, from.data_, bytes);
    else
        device::copy(data_, from.data_, bytes);
}

const uint8_t *Memory::view(size_t offset, size_t bytes) {
    if (host_)
        return data_ + offset;
    uint8_t *copy = pinned.at_least(bytes);
    device::download(copy, data_ + offset, bytes);
    return copy;
}

Bytes Memory::read(size_t offset, size_t bytes) {
    Bytes out(bytes);
    if (bytes == 0)
        return out;
    if (host_)
        std::memcpy(out.data(), data_ + offset, bytes);
    else
        device::download(out.data(), data_ + offset, bytes);
    return out;
}

Multiplier make_multiplier(const gfk_field &field, Row row, unsigned arg1, unsigned arg2) {
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    desc.kernel = row->id;
    desc.arg1 = arg1;
    desc.arg2 = arg2;
    gfk_multiplier_t m = nullptr;
    require_success(gfk_multiplier_create(&m, &field, &desc), row->id);
    return Multiplier(m);
}

gfk_multiplier_info info_of(gfk_multiplier_t multiplier) {
    gfk_multiplier_info info;
    require_success(gfk_multiplier_get_info(multiplier, &info), "gfk_multiplier_get_info");
    return info;
}

Runner::Runner(const gfk_field &field, Row row, unsigned arg1, unsigned arg2)
    : row_(row), multiplier_(make_multiplier(field, row, arg1, arg2)),
      workspace_(row, info_of(multiplier_.get()).workspace_bytes) {}

void Runner::run(uint32_t c, const void *src, void *dst, size_t bytes, gfk_accumulate mode,
                 gfk_stream_t stream) {
    require_success(gfk_region_multiply(multiplier(), c, src, dst, bytes, mode, workspace_.data(),
                                        workspace_bytes(), stream),
                    row_->id);
}

void Runner::prepare(uint32_t c, gfk_stream_t stream) {
    require_success(
        gfk_region_prepare(multiplier(), c, workspace_.data(), workspace_bytes(), stream),
        row_->id);
}

void Runner::run_prepared(uint32_t c, const void *src, void *dst, size_t bytes, gfk_accumulate mode,
                          gfk_stream_t stream) {
    require_success(gfk_region_multiply_prepared(multiplier(), c, src, dst, bytes, mode,
                                                 workspace_.data(), workspace_bytes(), stream),
                    row_->id);
}

Bytes Runner::product(uint32_t c, const Bytes &in) {
    Memory src(row_, in), dst(row_, in.size());
    run(c, src.data(), dst.data(), in.size());
    return dst.read();
}

Bytes Runner::product_xor(uint32_t c, const Bytes &in, const Bytes &acc) {
    Memory src(row_, in), dst(row_, acc);
    run(c, src.data(), dst.data(), in.size(), GFK_XOR);
    return dst.read();
}

testing::AssertionResult same(const Case &at, const uint8_t *expected, const uint8_t *got,
                              size_t bytes, size_t before) {
    const size_t i = first_difference(expected, got, bytes);
    if (i == bytes)
        return testing::AssertionSuccess();
    const bool guard = i < before || i >= before + at.bytes;
    std::ostringstream text;
    text << std::hex << std::showbase << "kernel " << at.row->id << ", constant " << at.c
         << std::dec << ", src offset " << at.src_offset << ", dst offset " << at.dst_offset
         << ", length " << at.bytes << ", mode " << (at.mode == GFK_XOR ? "xor" : "set")
         << (*at.note ? ", " : "") << at.note << ": byte "
         << static_cast<long long>(i) - static_cast<long long>(before)
         << (guard ? " (outside the region)" : "") << std::hex << " expected " << +expected[i]
         << ", got " << +got[i] << std::dec << "; seed " << options.seed;
    return testing::AssertionFailure() << text.str();
}

testing::AssertionResult same(Row row, uint32_t c, const Bytes &expected, const Bytes &got,
                              gfk_accumulate mode, const char *note) {
    if (expected.size() != got.size())
        return testing::AssertionFailure() << "lengths differ";
    return same(Case{row, c, 0, 0, got.size(), mode, note}, expected.data(), got.data(),
                got.size());
}

std::vector<uint32_t> constants(unsigned w, Random &random, size_t n) {
    // 0x8e is 1/2 in the default field of w = 8, where 0x80 is the top bit already.
    std::vector<uint32_t> list = {0, 1, 2, largest(w), 1u << (w - 1), w == 8 ? 0x8eu : 0x80u};
    while (list.size() < n) {
        const uint32_t c = random.symbol(w);
        if (std::find(list.begin(), list.end(), c) == list.end())
            list.push_back(c);
    }
    list.resize(n);
    return list;
}
