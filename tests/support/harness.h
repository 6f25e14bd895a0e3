// SPDX-License-Identifier: BSD-3-Clause
// What every test file shares: options, the count of combinations, replayable randomness, threads.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gfk/gfk.h>

#ifdef GFK_TEST_SANITIZED // by CMake: this file may have no checks itself (cmake/sanitizers.cmake)
#define SANITIZED 1       // sanitizers reserve terabytes of address space, so no limit can be set
#else
#define SANITIZED 0
#endif

using Bytes = std::vector<uint8_t>;
using Indices = std::vector<size_t>;
Indices indices(size_t first, size_t end); // first, ..., end - 1

// The command line (main.cpp).
struct Options {
    uint64_t seed = 20240229;
    bool reduced = false; // fewer and smaller cases, for sanitizers
};
extern Options options;

// Counts combinations that have been checked. A suite that counts none on a row fails.
void count_checked(uint64_t combinations = 1);
uint64_t checked();

// A test that needs what this machine lacks is skipped, or fails if GFK_REQUIRE_GPU=1.
bool gpu_required();
#define SKIP_WITHOUT_GPU(reason)                                                                   \
    do {                                                                                           \
        if (gpu_required())                                                                        \
            FAIL() << "GFK_REQUIRE_GPU is set, but " << (reason);                                  \
        GTEST_SKIP() << (reason);                                                                  \
    } while (false)

// The mark of slow cases, or of those with `which`: sanitizers, which run with --reduced, skip them.
#define SKIP_SLOW_IF(which)                                                                        \
    do {                                                                                           \
        if (options.reduced && (which))                                                            \
            GTEST_SKIP() << "too slow under a sanitizer";                                          \
    } while (false)
#define SKIP_SLOW() SKIP_SLOW_IF(true)
// ThreadSanitizer sees one width, since threads share the work of each width alike.
#ifdef __SANITIZE_THREAD__
constexpr bool THREAD_SANITIZER = true;
#else
constexpr bool THREAD_SANITIZER = false;
#endif

// Numbers that depend on the seed and on the running test alone.
class Random {
  public:
    explicit Random(uint64_t stream = 0);
    uint64_t next();
    uint64_t below(uint64_t n) { return next() % n; }
    uint32_t symbol(unsigned w) { return static_cast<uint32_t>(next() >> (64 - w)); }
    void fill(void *memory, size_t bytes);
    Bytes bytes(size_t n);

  private:
    uint64_t state_;
};

// fn(0), ..., fn(n - 1), spread over all cores.
void parallel(size_t n, const std::function<void(size_t)> &fn);
// Random bytes for gigabytes: MiB i is Random(i)'s.
constexpr size_t MIB = size_t(1) << 20;
void fill_in_parallel(void *memory, size_t bytes);

// Runs body(thread) on `count` threads at once and expects that none fails.
void on_threads(int count, const std::function<testing::AssertionResult(int)> &body);

double seconds(const std::function<void()> &body); // what it takes

// An object of the library, destroyed by its own function.
template <auto destroy>
struct Destroy {
    template <class T>
    void operator()(T *object) const {
        destroy(object);
    }
};
template <class T, auto destroy>
using Owned = std::unique_ptr<T, Destroy<destroy>>;

size_t free_host_bytes(); // what can be allocated without swapping

// Takes gigabytes of host memory: waits until so much is free, and keeps other test programs that
// take gigabytes waiting until release(), before which the caller writes to all of its memory.
class HostMemory {
  public:
    explicit HostMemory(size_t bytes);
    ~HostMemory() { release(); }
    HostMemory(const HostMemory &) = delete;
    HostMemory &operator=(const HostMemory &) = delete;
    bool is_there() const { return is_there_; } // false: not within minutes
    void release();

  private:
    int lock_ = -1;
    bool is_there_ = true;
};

gfk_field make_field(unsigned w, uint64_t polynomial = 0);
uint32_t multiply(const gfk_field &field, uint32_t a, uint32_t b);
uint32_t multiply_word(const gfk_field &field, uint32_t c, uint32_t word); // each packed symbol
uint32_t power(const gfk_field &field, uint32_t a, uint64_t exponent);
// All 30 polynomials of fields of w = 8, several of the others.
std::vector<uint64_t> polynomials(unsigned w);
inline uint32_t largest(unsigned w) {
    return 0xffffffffu >> (32 - w);
}

std::vector<uint32_t> random_elements(unsigned w, size_t count,
                                      Random &random); // with zeros and ones

// Symbol i of a buffer of little-endian symbols.
uint32_t get_symbol(const void *buffer, size_t i, unsigned w);
void set_symbol(void *buffer, size_t i, unsigned w, uint32_t symbol);

// x -> c * x for many x: by tables of the products of a symbol's bytes, made of the products of its
// bits, each from the one before by a shift.
class Times {
  public:
    Times(const gfk_field &field, uint32_t c);
    uint32_t operator()(uint32_t x) const {
        return table_[0][x & 255] ^ table_[1][x >> 8 & 255] ^ table_[2][x >> 16 & 255] ^
               table_[3][x >> 24];
    }
    void add(const void *in, void *sum, size_t bytes) const; // sum += c * in, symbol by symbol

  private:
    template <unsigned W> // known to the compiler: ten times as fast
    void add_symbols(const void *in, void *sum, size_t bytes) const;

    unsigned w_;
    uint32_t table_[4][256] = {};
};

// sums[j] += factors[j] * in, bit by bit of the factors: short regions and many sums take less time than by tables.
void add_multiples(const gfk_field &field, const std::vector<uint32_t> &factors, const void *in,
                   const std::vector<uint8_t *> &sums, size_t bytes);

// c * in.
Bytes product_of(const gfk_field &field, uint32_t c, const Bytes &in);
Bytes xor_of(Bytes a, const Bytes &b);

size_t first_difference(const void *a, const void *b, size_t bytes); // `bytes` if there is none

inline size_t round_up(size_t n, size_t unit) {
    return (n + unit - 1) / unit * unit;
}

// A status, printed by its name.
#define EXPECT_STATUS(expected, call) EXPECT_STREQ(gfk_status_name(expected), gfk_status_name(call))
#define ASSERT_STATUS(expected, call) ASSERT_STREQ(gfk_status_name(expected), gfk_status_name(call))
#define EXPECT_OK(call) EXPECT_STATUS(GFK_STATUS_SUCCESS, call)
#define ASSERT_OK(call) ASSERT_STATUS(GFK_STATUS_SUCCESS, call)
constexpr gfk_status INVALID = GFK_STATUS_INVALID_ARGUMENT; // the most frequent refusals
constexpr gfk_status SIZE = GFK_STATUS_INVALID_SIZE;
void require_success(gfk_status status, const char *what); // throws
