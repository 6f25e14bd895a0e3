// SPDX-License-Identifier: BSD-3-Clause
// The CPU as the bench uses it: clock, cores, threads that wait, random regions in host memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Stopwatch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    double us() const { return 1e6 * seconds(); }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The cores that CPU rows use: affinity, and the quota of the control group.
unsigned cpu_cores();
// Lets this process run on n of its cores only. Before threads are started. False: there are fewer.
bool limit_cpu_cores(unsigned n);
std::string cpu_model();

struct HostBuffers {
    unsigned char *src; // random; no row writes to it, but a decoder that restores what was there
    unsigned char *dst;
};
// At least `bytes` of each, aligned to 4096; the same memory in every call, grown when needed.
HostBuffers host_buffers(size_t bytes);

// Memory that begins at a multiple of 256.
class Aligned {
  public:
    explicit Aligned(size_t bytes) : memory_(bytes + 255) {}
    unsigned char *data() const {
        return (unsigned char *)(((uintptr_t)memory_.data() + 255) / 256 * 256);
    }

  private:
    std::vector<unsigned char> memory_;
};

using Regions = std::vector<unsigned char *>;
Regions regions_at(unsigned char *first, size_t count, size_t bytes); // one behind the other
Regions shifted(Regions regions, size_t by);

// Threads that wait for work, so that starting them is in no figure. All run the same job.
class Team {
  public:
    using Job = std::function<void(unsigned thread)>;
    using SliceJob = std::function<void(unsigned thread, size_t from, size_t to)>;
    explicit Team(unsigned n);
    ~Team();
    double run(const Job &job); // seconds from the first start to the last end
    // Each thread gets its part of `bytes` bytes, in whole units; nothing, where there is no more.
    double run(size_t bytes, size_t unit, const SliceJob &job);

  private:
    void start(const Job *job);
    void work(unsigned t);
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const Job *job_ = nullptr;
    size_t left_ = 0;
    unsigned round_ = 0;
    std::vector<std::thread> threads_;
};
