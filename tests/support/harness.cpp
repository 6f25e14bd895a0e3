// SPDX-License-Identifier: BSD-3-Clause
// harness.h.
#include "harness.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace {

std::atomic<uint64_t> combinations{0};

} // namespace

Options options;

Indices indices(size_t first, size_t end) {
    Indices list;
    for (size_t i = first; i < end; i++)
        list.push_back(i);
    return list;
}

void count_checked(uint64_t n) {
    combinations += n;
}

uint64_t checked() {
    return combinations;
}

bool gpu_required() {
    const char *value = std::getenv("GFK_REQUIRE_GPU");
    return value != nullptr && std::strcmp(value, "") != 0 && std::strcmp(value, "0") != 0;
}

void parallel(size_t n, const std::function<void(size_t)> &fn) {
    const size_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::atomic<size_t> next{0};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < std::min(n, cores); t++)
        threads.emplace_back([&] {
            for (size_t i = next++; i < n; i = next++)
                fn(i);
        });
    for (std::thread &thread : threads)
        thread.join();
}

void fill_in_parallel(void *memory, size_t bytes) {
    parallel((bytes + MIB - 1) / MIB, [&](size_t i) {
        Random(i).fill(static_cast<uint8_t *>(memory) + i * MIB, std::min(MIB, bytes - i * MIB));
    });
}

void on_threads(int count, const std::function<testing::AssertionResult(int)> &body) {
    std::mutex mutex;
    testing::AssertionResult result = testing::AssertionSuccess();
    std::vector<std::thread> threads;
    for (int t = 0; t < count; t++)
        threads.emplace_back([&, t] {
            testing::AssertionResult mine = testing::AssertionSuccess();
            try {
                mine = body(t);
            } catch (const std::exception &error) {
                mine = testing::AssertionFailure() << error.what();
            }
            std::lock_guard<std::mutex> lock(mutex);
            if (result && !mine)
                result = mine;
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_TRUE(result);
}

double seconds(const std::function<void()> &body) {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

size_t free_host_bytes() {
    std::ifstream file("/proc/meminfo");
    std::string word;
    while (file >> word)
        if (word == "MemAvailable:") {
            size_t kib = 0;
            file >> kib;
            return kib * 1024;
        }
    return 0;
}

HostMemory::HostMemory(size_t bytes) {
    if (bytes == 0)
        return;
    lock_ = open("/tmp/gfk_tests.lock", O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    const bool enough = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) > static_cast<long>(bytes);
    for (int second = 0; second < 450; second++) {
        (void)flock(lock_, LOCK_EX);
        is_there_ = free_host_bytes() >= bytes;
        if (is_there_ || !enough)
            return;
        (void)flock(lock_, LOCK_UN);
        std::this_thread::sleep_for(std::chrono::seconds(1));
    }
}

void HostMemory::release() {
    if (lock_ >= 0)
        (void)close(lock_);
    lock_ = -1;
}

gfk_field make_field(unsigned w, uint64_t polynomial) {
    gfk_field field;
    require_success(gfk_field_init(&field, w, polynomial), "gfk_field_init");
    return field;
}

uint32_t multiply(const gfk_field &field, uint32_t a, uint32_t b) {
    uint32_t product = 0;
    require_success(gfk_field_multiply(&field, a, b, &product), "gfk_field_multiply");
    return product;
}

uint32_t multiply_word(const gfk_field &field, uint32_t c, uint32_t word) {
    uint32_t products = 0;
    for (unsigned at = 0; at < 32; at += field.w)
        products |= multiply(field, c, word >> at & largest(field.w)) << at;
    return products;
}

uint32_t power(const gfk_field &field, uint32_t a, uint64_t exponent) {
    uint32_t result = 0;
    require_success(gfk_field_pow(&field, a, exponent, &result), "gfk_field_pow");
    return result;
}

// The first ones from low places, high ones and random ones on.
std::vector<uint64_t> polynomials(unsigned w) {
    const uint64_t lead = UINT64_C(1) << w;
    std::vector<uint64_t> list;
    const auto collect = [&](uint64_t from, size_t n) {
        gfk_field f;
        for (uint64_t p = lead | from | 1; n != 0 && p < 2 * lead; p += 2)
            if (gfk_field_init(&f, w, p) == GFK_STATUS_SUCCESS) {
                list.push_back(p);
                n--;
            }
    };
    if (w == 8) {
        collect(0, options.reduced ? 4 : 30);
        return list;
    }
    list.push_back(w == 16 ? 0x1002d : 0x1000000c5);
    Random random(w);
    collect(0, 2);
    collect(lead / 2 + lead / 4, 1); // the terms next to the leading one are set
    if (!options.reduced) {
        collect(random.symbol(w) & (lead / 2 - 1), 2);
        collect(lead - lead / 64, 2);
    }
    return list;
}

std::vector<uint32_t> random_elements(unsigned w, size_t count, Random &random) {
    std::vector<uint32_t> elements;
    for (size_t i = 0; i < count; i++) {
        const uint64_t kind = random.below(8);
        elements.push_back(kind < 2 ? static_cast<uint32_t>(kind) : random.symbol(w));
    }
    return elements;
}

size_t first_difference(const void *a, const void *b, size_t bytes) {
    if (bytes == 0 || std::memcmp(a, b, bytes) == 0)
        return bytes;
    size_t i = 0;
    while (static_cast<const uint8_t *>(a)[i] == static_cast<const uint8_t *>(b)[i])
        i++;
    return i;
}

void require_success(gfk_status status, const char *what) {
    if (status != GFK_STATUS_SUCCESS)
        throw std::runtime_error(std::string(what) + " returned " + gfk_status_name(status));
}
