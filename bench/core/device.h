// SPDX-License-Identifier: BSD-3-Clause
// The device as the bench uses it: checked calls, memory, timed replays of graphs of launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <cuda_runtime_api.h>

#include "work.h"

#define GPU_CHECK(call) gpu_check((call), #call, __FILE__, __LINE__)
// A failed CUDA call ends the program with the call, its place and its error. No number after that
// could be trusted.
void gpu_check(cudaError_t error, const char *call, const char *file, int line);

// What is the same for the whole run. gpu() may be called only when gpu_missing() is "".
struct Gpu {
    int device = 0;
    std::string name;
    size_t l2_bytes = 0, memory_bytes = 0;
    double nominal_mhz = 0;
    cudaStream_t stream = nullptr;
};
std::string gpu_missing(); // why there is none, or ""
const Gpu &gpu();
void gpu_synchronize();
void describe_gpu(Fields *context);

// A place for `bytes` in device memory that lives until the next call for the same slot.
enum class Slot { Inputs, Outputs, Expected, ReferenceWorkspace, Flush, Kept, Workspaces };
void *gpu_slot(Slot slot, size_t bytes);
void *gpu_workspace(const Library &library, size_t bytes); // a slot for each library
size_t gpu_memory_budget();                                // what all slots together may come to
void gpu_release(); // gives all slots back; giants need the room
// "" or the sentence that so much does not fit.
std::string too_little_memory(size_t bytes);

size_t cold_footprint(); // what launches must go through so that the cache holds nothing for later
void flush_cache();      // reads that much of something else

// Collects differences: expected against actual, on the device.
class Checker {
  public:
    Checker();
    void check(const void *expected, const void *actual, size_t bytes, long launch);
    std::string verdict() const; // "" or a sentence; synchronizes

  private:
    struct Mismatches *result_; // device memory, the same for all
    size_t bytes_ = 1;
};

// n launches as one CUDA graph.
class Graph {
  public:
    Graph(long n, const std::function<void(long, cudaStream_t)> &launch);
    ~Graph();
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;
    // One timed replay, of all n launches. It comes after a pause, because without one the card
    // reaches its power limit within milliseconds and lowers its clock, by up to a third for rows
    // that compute much. The clock is counted right behind the replay, and a replay that ran below
    // 97 % of the card's maximum is repeated after a longer pause, a few times.
    double replay_us() const;
    void start() const; // a replay that nobody waits for

  private:
    cudaGraphExec_t exec_ = nullptr;
};

// Work in launches: a pass is one replay of a graph that takes 2 ms or more.
class DeviceWork : public Work {
  public:
    virtual void launch(long j, cudaStream_t stream) const = 0;
    virtual long sets() const { return 1; }           // of buffers; launch j uses set j % sets()
    virtual void make_cold() const { flush_cache(); } // before a replay

    void warm_up() override;
    double pass(long number) override;
    void follow(const Work &other) override;
    Sustained sustain() override;
    void describe(Fields *fields) const override;

  protected:
    // Pass `number` of n launches begins; -1: the replays of sustain(). True: its launches are not
    // those of the pass before.
    virtual bool begin(long number, long n) { return (void)number, (void)n, false; }
    virtual long round() const { return 1; } // launches that go through all constants
    long launches() const { return launches_; }

  private:
    std::unique_ptr<Graph> capture(long n) const;
    std::unique_ptr<Graph> graph_;
    long launches_ = 0;
    bool followed_ = false;
    double lowest_mhz_ = 0;
};

// Warms up and makes `passes` passes. What ceilings are made of.
Times time_work(DeviceWork *work, int passes);
