// SPDX-License-Identifier: BSD-3-Clause
// Tests that run once per row of the list of kernels.
#pragma once

#include "device.h"
#include "harness.h"

using Row = const gfk_kernel_info *;

// The rows a suite runs on, in the list's order.
std::vector<Row> rows_that(const std::function<bool(Row)> &wanted);
std::vector<Row> rows();      // all but the giants
std::vector<Row> cuda_rows(); // of these, those on a device
std::vector<Row> giant_rows();
std::vector<Row> every_row();
Row reference_row(unsigned w, bool host); // SPLIT, on a device the naive one
std::string row_name(const testing::TestParamInfo<Row> &info);
inline bool on_host(Row row) {
    return row->implementation == GFK_IMPLEMENTATION_HOST;
}

// A row of GFK_EXTRA_KERNELS, which is no part of the library.
inline bool is_extra(Row row) {
    return row->labels >> 31;
}

#define PER_ROW(suite, which)                                                                      \
    GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                          \
    INSTANTIATE_TEST_SUITE_P(Rows, suite, testing::ValuesIn(which), row_name)

// Memory that a row or an engine works on: the host's or the current device's, aligned to 256
// bytes.
class Memory {
  public:
    Memory(bool host, size_t bytes);
    Memory(bool host, const Bytes &content);
    Memory(Row row, size_t bytes) : Memory(on_host(row), bytes) {}
    Memory(Row row, const Bytes &content) : Memory(on_host(row), content) {}
    ~Memory();
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    uint8_t *data() const { return data_; }
    size_t size() const { return bytes_; }
    // Without `wait` the bytes are there for what follows on the device's default stream.
    void write(size_t offset, const void *from, size_t bytes, bool wait = true);
    void set(size_t offset, uint8_t value);      // asynchronous on the device's default stream
    void copy(const Memory &from, size_t bytes); // likewise
    // The memory itself, or a copy on the host until the thread's next view.
    const uint8_t *view(size_t offset, size_t bytes);
    Bytes read(size_t offset, size_t bytes);
    Bytes read() { return read(0, bytes_); }

  private:
    bool host_;
    size_t bytes_;
    uint8_t *data_ = nullptr;
};

// A stream of its own on a device, none on the host.
class Stream {
  public:
    explicit Stream(bool host) : stream_(host ? nullptr : device::create_stream()) {}
    ~Stream() {
        if (stream_ != nullptr)
            device::destroy_stream(stream_);
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    gfk_stream_t get() const { return stream_; }
    void finish() const {
        if (stream_ != nullptr)
            device::synchronize(stream_);
    }

  private:
    gfk_stream_t stream_;
};

using Multiplier = Owned<struct gfk_multiplier, gfk_multiplier_destroy>;
Multiplier make_multiplier(const gfk_field &field, Row row, unsigned arg1 = 0, unsigned arg2 = 0);
gfk_multiplier_info info_of(gfk_multiplier_t multiplier);

// A multiplier and a workspace for it.
class Runner {
  public:
    Runner(const gfk_field &field, Row row, unsigned arg1 = 0, unsigned arg2 = 0);

    gfk_multiplier_t multiplier() const { return multiplier_.get(); }
    Memory &workspace() { return workspace_; }
    size_t workspace_bytes() const { return workspace_.size(); }

    // The region calls; they throw unless the status is SUCCESS.
    void run(uint32_t c, const void *src, void *dst, size_t bytes, gfk_accumulate mode = GFK_SET,
             gfk_stream_t stream = nullptr);
    void prepare(uint32_t c, gfk_stream_t stream = nullptr);
    void run_prepared(uint32_t c, const void *src, void *dst, size_t bytes,
                      gfk_accumulate mode = GFK_SET, gfk_stream_t stream = nullptr);

    // c * in, or acc + c * in, from host memory to host memory.
    Bytes product(uint32_t c, const Bytes &in);
    Bytes product_xor(uint32_t c, const Bytes &in, const Bytes &acc);

  private:
    Row row_;
    Multiplier multiplier_;
    Memory workspace_;
};

// What a failure says: kernel, constant, offsets, length, mode, byte, expected, got, seed.
struct Case {
    Row row;
    uint32_t c;
    size_t src_offset, dst_offset, bytes;
    gfk_accumulate mode;
    const char *note = "";
};
// Compares `bytes` bytes, of which those before `before` and from `before + at.bytes` on are
// guards.
testing::AssertionResult same(const Case &at, const uint8_t *expected, const uint8_t *got,
                              size_t bytes, size_t before = 0);
testing::AssertionResult same(Row row, uint32_t c, const Bytes &expected, const Bytes &got,
                              gfk_accumulate mode = GFK_SET, const char *note = "");

// The constants that every row must get right: 0, 1, 2, all ones, the top bit, some others.
std::vector<uint32_t> constants(unsigned w, Random &random, size_t n = 8);

// Skips rows that cannot run here, and leaves the caller's device alone.
class RowTest : public testing::TestWithParam<Row> {
  protected:
    void SetUp() override;
    virtual void set_up() {} // what SetUp does where the test can run
    Row row() const { return GetParam(); }
    unsigned w() const { return row()->w; }
    size_t symbol_bytes() const { return row()->w / 8; }
    gfk_field field() const { return make_field(row()->w); }
};
