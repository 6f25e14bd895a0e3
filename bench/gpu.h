// SPDX-License-Identifier: BSD-3-Clause
// The device as the bench uses it: checked calls, memory, rotating buffers, timed graph replays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#define GPU_CHECK(call) gpu_check((call), #call, __FILE__, __LINE__)
// A failed CUDA call ends the program with the call, its place and its error. No number after that
// could be trusted.
void gpu_check(cudaError_t error, const char *call, const char *file, int line);

// What is the same for the whole run. gpu() may be called only when gpu_present().
struct Gpu {
    int device = 0;
    std::string name;
    size_t l2_bytes = 0, memory_bytes = 0;
    cudaStream_t stream = nullptr;
};
bool gpu_present(std::string *reason);
const Gpu &gpu();

// Launch number j of a sequence, on this stream.
using Launch = std::function<void(long j, cudaStream_t stream)>;

// n launches as one CUDA graph.
class Graph {
  public:
    Graph(long n, const Launch &launch);
    ~Graph();
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;
    // One timed replay, of all n launches. It comes after a pause, because without one the card
    // reaches its power limit within milliseconds and lowers its clock, by up to a third for rows
    // that compute much. The clock is counted right behind the replay, and a replay that ran below
    // 97 % of the card's maximum is repeated after a longer pause, a few times.
    double replay_us() const;
    long launches() const { return n_; }

  private:
    long n_;
    cudaGraphExec_t exec_ = nullptr;
};

// The lowest clock behind any replay since the last call, in MHz.
double lowest_clock_mhz();
double nominal_clock_mhz();
constexpr double kClockFraction = 0.97; // of the nominal clock, which a good replay has

// Source and destination buffers of one size, enough of them that the cache cannot hold them (cold)
// or one pair (hot). Launch j uses pair j % sets. All live in the same few allocations, which grow
// when a larger Rotation is made, so only one Rotation is in use at a time.
class Rotation {
  public:
    Rotation(size_t bytes, bool cold);
    size_t bytes() const { return bytes_; }
    long sets() const { return sets_; }
    bool cold() const { return cold_; }
    const void *src(long j) const;
    void *dst(long j) const;
    void *scratch() const;             // room for one more region
    void poison() const;               // dst gets random bytes that no kernel writes
    void poison_scratch(long j) const; // scratch gets the bytes with which dst(j) was poisoned
    void make_cold() const;            // before a replay: what rotation alone does not evict
    static size_t memory_needed(size_t bytes, bool cold);

  private:
    size_t bytes_, stride_;
    long sets_;
    bool cold_;
};
size_t gpu_memory_budget(); // what memory_needed may come to
void gpu_release();         // gives all buffers back; giants need the room

// A place for `bytes` in device memory that lives until the next call for the same slot.
enum class Slot { Workspaces, ReferenceWorkspace, Flush, Inputs, Outputs, Expected };
void *gpu_slot(Slot slot, size_t bytes);

size_t cold_footprint(); // what launches must go through so that the cache holds nothing for later
void flush_cache();      // reads that much of something else

// Collects the differences found by check(): expected against actual, on the device.
class Checker {
  public:
    Checker();
    void check(const void *expected, const void *actual, size_t bytes, long launch);
    std::string verdict() const; // "" or a sentence; synchronizes

  private:
    struct Mismatches *result_; // device memory, the same for all
    size_t bytes_ = 1;
};

struct Timing {
    double median_us = 0, min_us = 0, max_us = 0; // per launch
    long launches = 0;                            // per replay
    int replays = 0;
};
Timing timing_of(std::vector<double> replay_us, long launches);

// How many launches make one replay long enough, given the time of one: whole rounds of `sets`.
long launches_for(long sets, double launch_us, long at_least);

// Captures, warms up and times: what ceilings and set-up times need. The launch must have run once.
// make_cold runs before each replay.
Timing time_launches(long sets, const std::function<void()> &make_cold, const Launch &launch,
                     int replays);
Timing time_launches(const Rotation &rotation, const Launch &launch, int replays);
