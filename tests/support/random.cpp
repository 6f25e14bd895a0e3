// SPDX-License-Identifier: BSD-3-Clause
// Random data. Sanitizers leave this file alone, as they do times.cpp.
#include "harness.h"

#include <cstring>

namespace {

uint64_t hash_text(const char *text, uint64_t hash) {
    for (; *text != 0; text++)
        hash = (hash ^ static_cast<unsigned char>(*text)) * UINT64_C(0x100000001b3);
    return hash;
}

} // namespace

Random::Random(uint64_t stream) : state_(options.seed ^ stream << 32) {
    const testing::TestInfo *test = testing::UnitTest::GetInstance()->current_test_info();
    if (test != nullptr)
        state_ ^=
            hash_text(test->name(), hash_text(test->test_suite_name(), 14695981039346656037u));
}

uint64_t Random::next() { // splitmix64
    uint64_t x = state_ += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void Random::fill(void *memory, size_t bytes) {
    auto *to = static_cast<uint8_t *>(memory);
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t x = next();
        std::memcpy(to + i, &x, bytes - i < 8 ? bytes - i : 8);
    }
}

Bytes Random::bytes(size_t n) {
    Bytes out(n);
    fill(out.data(), n);
    return out;
}
