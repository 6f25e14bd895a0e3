// SPDX-License-Identifier: BSD-3-Clause
#include "host.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>

#include "library.h"

namespace {

constexpr size_t kAlignment = 4096, kChunk = size_t{1} << 20;

void fill(unsigned char *p, size_t bytes, uint64_t seed) {
    std::mt19937_64 random(seed);
    uint64_t *words = (uint64_t *)p;
    for (size_t i = 0; i < bytes / 8; i++)
        words[i] = random();
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
    if (bytes <= have)
        return {src, dst};
    have = (bytes + kChunk - 1) / kChunk * kChunk;
    for (unsigned char **memory : {&src, &dst}) {
        std::free(*memory);
        *memory = (unsigned char *)std::aligned_alloc(kAlignment, have);
        gfk_check(*memory ? GFK_STATUS_SUCCESS : GFK_STATUS_OUT_OF_MEMORY, "host buffers");
    }
    // All cores, so that the first touch spreads the pages and does not take minutes.
    const unsigned n = cpu_cores();
    Team(n).run([&](unsigned t) {
        for (size_t chunk = t; chunk < have / kChunk; chunk += n) {
            fill(src + chunk * kChunk, kChunk, 1 + chunk);
            fill(dst + chunk * kChunk, kChunk, ~chunk);
        }
    });
    return {src, dst};
}

Regions regions_at(unsigned char *first, size_t count, size_t bytes) {
    Regions regions;
    for (size_t i = 0; i < count; i++)
        regions.push_back(first + i * bytes);
    return regions;
}

Regions shifted(Regions regions, size_t by) {
    for (unsigned char *&region : regions)
        region += by;
    return regions;
}

// ---- threads ---------------------------------------------------------------------------------
Team::Team(unsigned n) {
    for (unsigned t = 0; t < n; t++)
        threads_.emplace_back([this, t] { work(t); });
}

Team::~Team() {
    start(nullptr);
    for (std::thread &thread : threads_)
        thread.join();
}

void Team::start(const Job *job) {
    const std::lock_guard<std::mutex> lock(mutex_);
    job_ = job;
    left_ = threads_.size();
    round_++;
    wake_.notify_all();
}

double Team::run(const Job &job) {
    const Stopwatch watch;
    start(&job);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return left_ == 0; });
    return watch.seconds();
}

double Team::run(size_t bytes, size_t unit, const SliceJob &job) {
    const size_t each = (bytes + threads_.size() - 1) / threads_.size();
    const size_t slice = (each + unit - 1) / unit * unit;
    return run([&](unsigned t) {
        const size_t from = std::min(bytes, t * slice), to = std::min(bytes, from + slice);
        if (from < to)
            job(t, from, to);
    });
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
