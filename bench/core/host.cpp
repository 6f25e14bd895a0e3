// SPDX-License-Identifier: BSD-3-Clause
#include "host.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <tuple>

#include "library.h"

namespace {

constexpr size_t kAlignment = 4096, kChunk = size_t{1} << 20;

void fill(unsigned char *p, size_t bytes, uint64_t seed) {
    std::mt19937_64 random(seed);
    uint64_t *words = (uint64_t *)p;
    for (size_t i = 0; i < bytes / 8; i++)
        words[i] = random();
}

unsigned char *allocate(size_t bytes) {
    void *p = std::aligned_alloc(kAlignment, bytes);
    gfk_check(p ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY, "host buffers");
    return (unsigned char *)p;
}

double read_number(const char *file) { // 0 where there is none
    double value = 0;
    std::ifstream(file) >> value;
    return value;
}

} // namespace

unsigned cpu_cores() {
    cpu_set_t mask;
    const unsigned cores = sched_getaffinity(0, sizeof mask, &mask) == 0
                               ? (unsigned)CPU_COUNT(&mask)
                               : std::max(1u, std::thread::hardware_concurrency());
    double quota = 0, period = 0;
    std::ifstream v2("/sys/fs/cgroup/cpu.max"); // "max 100000" where there is no quota
    if (!(v2 >> quota >> period)) {
        quota = read_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
        period = read_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    }
    if (quota <= 0 || period <= 0)
        return cores;
    return std::min(cores, std::max(1u, (unsigned)std::ceil(quota / period)));
}

bool limit_cpu_cores(unsigned n) {
    cpu_set_t mask, kept;
    if (n == 0 || n > cpu_cores() || sched_getaffinity(0, sizeof mask, &mask) != 0)
        return false;
    CPU_ZERO(&kept);
    for (int cpu = 0; cpu < CPU_SETSIZE && (unsigned)CPU_COUNT(&kept) < n; cpu++)
        if (CPU_ISSET(cpu, &mask))
            CPU_SET(cpu, &kept);
    return sched_setaffinity(0, sizeof kept, &kept) == 0;
}

std::string cpu_model() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.compare(0, 10, "model name") == 0)
            return line.substr(std::min(line.size(), line.find(':') + 2));
    return "unknown";
}

HostBuffers host_buffers(size_t bytes) {
    static unsigned char *src = nullptr, *dst = nullptr;
    static size_t have = 0;
    if (bytes > have) {
        std::free(src);
        std::free(dst);
        have = (bytes + kChunk - 1) / kChunk * kChunk;
        src = allocate(have);
        dst = allocate(have);
        // All cores, so that the first touch spreads the pages and does not take minutes.
        const unsigned n = cpu_cores();
        const Team::Job job = [&](unsigned t) {
            for (size_t chunk = t; chunk < have / kChunk; chunk += n) {
                fill(src + chunk * kChunk, kChunk, 1 + chunk);
                fill(dst + chunk * kChunk, kChunk, ~chunk);
            }
        };
        Team(n).run(&job);
    }
    return {src, dst};
}

const unsigned char *host_expected(unsigned w, uint32_t c, size_t bytes) {
    static std::map<std::tuple<unsigned, uint32_t, size_t>, std::vector<unsigned char>> known;
    std::vector<unsigned char> &expected = known[{w, c, bytes}];
    if (expected.empty()) {
        const Multiplier &m = multiplier_of(linked_library(), reference_of(w, false));
        std::vector<unsigned char> workspace(m.workspace_bytes + 16);
        unsigned char *aligned = workspace.data() + 15 - ((uintptr_t)workspace.data() + 15) % 16;
        expected.resize(bytes);
        gfk_check(gfk_region_multiply(m.handle, c, host_buffers(bytes).src, expected.data(), bytes,
                                      GFK_SET, aligned, m.workspace_bytes, nullptr),
                  "the host reference");
    }
    return expected.data();
}

// ---- threads ---------------------------------------------------------------------------------
Team::Team(unsigned n) {
    for (unsigned t = 0; t < n; t++)
        threads_.emplace_back([this, t] { work(t); });
}

Team::~Team() {
    run(nullptr);
    for (std::thread &thread : threads_)
        thread.join();
}

double Team::run(const Job *job) {
    std::unique_lock<std::mutex> lock(mutex_);
    const Stopwatch watch;
    job_ = job;
    left_ = threads_.size();
    round_++;
    wake_.notify_all();
    if (job != nullptr)
        done_.wait(lock, [this] { return left_ == 0; });
    return watch.seconds();
}

void Team::work(unsigned t) {
    for (unsigned seen = 0;; seen++) {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return round_ != seen; });
        const Job *job = job_;
        if (job == nullptr)
            return;
        lock.unlock();
        (*job)(t);
        lock.lock();
        if (--left_ == 0)
            done_.notify_one();
    }
}

std::pair<size_t, size_t> slice_of(size_t bytes, unsigned t, unsigned threads, size_t unit) {
    const size_t each = (bytes + threads - 1) / threads, slice = (each + unit - 1) / unit * unit;
    return {std::min(bytes, t * slice), std::min(bytes, (t + 1) * slice)};
}
