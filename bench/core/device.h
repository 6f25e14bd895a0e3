// SPDX-License-Identifier: BSD-3-Clause
// The device as the bench uses it: checked calls, memory, timed replays of graphs of launches,
// rotating buffers, and the check of every byte of the outputs.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels.h"
#include "work.h"

#define GPU_CHECK(call) gpu_check((call), #call, __FILE__, __LINE__)
// A failed CUDA call ends the program with the call, its place and its error. No number after that
// could be trusted.
void gpu_check(cudaError_t error, const char *call, const char *file, int line);

// What is the same for the whole run. gpu() may be called only when gpu_missing() is "".
struct Gpu {
    int device = 0;
    cudaDeviceProp properties;
    double nominal_mhz = 0;
    cudaStream_t stream = nullptr;
};
std::string gpu_missing(); // why there is none, or ""
const Gpu &gpu();
void gpu_synchronize();
Fields describe_gpu();

// ---- memory ----------------------------------------------------------------------------------
// A place for `bytes` in device memory that lives until the next call for the same slot.
enum class Slot { Inputs, Outputs, Expected, Sums, Coefficients, Flush, Kept, Workspaces };
void *gpu_slot(Slot slot, size_t bytes);
void *gpu_workspace(const Library &library, size_t bytes); // a slot for each library
size_t gpu_memory_budget();                                // what all slots together may come to
void gpu_release(); // gives all slots back; giants need the room
template <class T>
T *device_object() { // one for the whole run
    static T *object = nullptr;
    if (object == nullptr)
        GPU_CHECK(cudaMalloc((void **)&object, sizeof *object));
    return object;
}
void flush_cache(); // reads so much of something else that the cache holds nothing for later
std::string too_little_memory(size_t bytes); // "" or the sentence that so much does not fit

// How the regions of a row lie: k inputs and m outputs, in as many sets as the cache cannot hold,
// which launches go through in turn. Regions of products and codes are `stride` apart, a little
// more than their length: regions that begin at the same place of large powers of two would meet in
// the same parts of the memory. All sets live in the same slots, so only one layout counts at a
// time.
struct Layout {
    size_t k, m, bytes; // of a region
    bool gaps = true, cold = true;

    size_t stride() const;
    size_t set_bytes() const { return stride() * (k + m); }
    size_t output_bytes() const { return stride() * m; } // of a set, gaps included
    long sets() const;
    size_t memory_needed() const { return (set_bytes() + output_bytes()) * (size_t)sets(); }

    // Of launch j. Calls that are timed are launches 0, and wait for no division.
    size_t set_of(long j) const { return j == 0 ? 0 : (size_t)(j % sets()); }

    void allocate() const;                // fills the inputs with random bytes
    char *in(long j, size_t i = 0) const; // input i for launch j
    char *out(long j, size_t i = 0) const;
    char *expected(size_t i = 0) const;                 // room for the outputs of as many sets more
    void poison_outputs() const;                        // random bytes, in the gaps too
    void poison_expected(long j, long count = 1) const; // the same as out(j) and those behind had
    void make_cold() const; // before a replay: what rotation alone does not evict
};

// out = coefficients * in by shifts, for k inputs and m outputs of `bytes` bytes, each side `stride` apart;
// the coefficients are in device memory, rows one behind the other.
struct Strided {
    char *at;
    size_t stride, bytes;
};
Combination combination(unsigned w, const char *coefficients, size_t k, size_t m, const Strided &in,
                        const Strided &out);
inline void combine(unsigned w, const char *coefficients, size_t k, size_t m, const Strided &in,
                    const Strided &out) {
    combine_by_shifts(combination(w, coefficients, k, m, in, out), gpu().stream);
}

// Collects differences: expected against actual, on the device.
class Checker {
  public:
    Checker();
    // Of `count` launches, one behind the other.
    void check(const void *expected, const void *actual, size_t bytes, long launch, long count = 1);
    std::string verdict() const; // "" or a sentence; synchronizes

  private:
    size_t bytes_ = 1;
};

// ---- passes ----------------------------------------------------------------------------------
// Replays that run below the nominal clock count too: some cards never reach it, and repeating takes time.
void take_any_clock();

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
    virtual long sets() const = 0;      // of buffers; launch j uses set j % sets()
    virtual void make_cold() const = 0; // before a replay

    gfk_status start() override; // one launch: what is loaded lazily is loaded now
    void warm_up() override;
    double pass(long number) override;
    void follow(const Work &other) override;
    Sustained sustain() override;

  protected:
    // Pass `number` of n launches begins; -1: the replays of sustain(). True: its launches are not
    // those of the pass before.
    virtual bool begin(long number, long n) { return (void)number, (void)n, false; }
    virtual long round() const { return 1; } // launches that go through all constants
    long launches() const { return launches_; }
    double sustained_seconds_ = 2;

  private:
    std::unique_ptr<Graph> capture(long n) const;
    std::unique_ptr<Graph> graph_;
    long launches_ = 0;
    bool followed_ = false;
    double lowest_mhz_ = 0;
};

// Warms up and makes `passes` passes. What ceilings are made of.
Times time_work(DeviceWork *work, int passes);

// Work whose launch j multiplies the inputs by a matrix. Outputs are compared with what a kernel of the
// bench computes by shifts.
class MatrixWork : public DeviceWork {
  public:
    MatrixWork(unsigned w, const Layout &layout, gfk_accumulate mode)
        : w_(w), mode_(mode), layout_(layout) {
        layout.allocate();
    }
    long sets() const override { return layout_.sets(); }
    void make_cold() const override { layout_.make_cold(); }
    std::string check(bool after) override;

  protected:
    virtual const uint32_t *matrix(long) const { return matrix_.data(); } // of launch j, m x k
    // Works with equal tags and equal shapes have equal matrices; "": the matrix differs by launch.
    virtual std::string tag() const { return ""; }
    virtual long checked() const { return sets(); } // launches before the timed ones
    gfk_regions inputs(long j) const { return {nullptr, layout_.in(j), layout_.stride()}; }
    gfk_regions outputs(long j) const { return {nullptr, layout_.out(j), layout_.stride()}; }

    // Calls function(object, &inputs, &outputs, bytes, rest...) for launch j.
    template <class Function, class Handle, class... Rest>
    void run(Function function, const Object<Handle> &object, long j, Rest... rest) const {
        const gfk_regions in = inputs(j), out = outputs(j);
        gfk_check(function(object, &in, &out, layout_.bytes, rest...), "a launch");
    }

    unsigned w_;
    gfk_accumulate mode_;
    size_t in_offset_ = 0, out_offset_ = 0; // bytes from where a region begins
    size_t length_ = 0;                     // 0: the whole region
    Layout layout_;
    std::vector<uint32_t> matrix_;

  private:
    void expect(long first, long count) const;
};

// ---- clocks, power and energy, from NVML where it can be loaded ------------------------------
Fields nvml_facts(); // of the context

// Samples while launches run. What NVML does not tell is 0.
class PowerMeter {
  public:
    void sample(double seconds);
    double sm_mhz() const; // mean
    double watts() const;  // of the board: by the energy counter, else the mean of the power

  private:
    double mhz_ = 0, milliwatts_ = 0;
    int samples_ = 0;
    std::vector<std::pair<double, double>> energy_; // seconds and millijoules, where these changed
};

// ---- ceilings --------------------------------------------------------------------------------
const char *mode_name(gfk_accumulate mode); // "set", "xor"

constexpr size_t kGatherTable = 16 * kGiB; // bytes of the table that PlainKind::Gather reads

// The plain kernels of a row's traffic, and the regions that they go through.
struct Plain {
    PlainKind kind;
    Layout layout;
    gfk_accumulate mode = GFK_SET;
};
// The best of all plain kernels of this kind, measured when first asked for. Not while other
// regions are in use.
Ceiling &ceiling_of(const Plain &plain);
// Gives the row this ceiling, whose own row stands before the rows that need it. Returns the
// ceiling's row if it had not been there yet, or null.
Row *add_ceiling(const std::string &name, const Plain &plain, Row *row, Rows *rows);
// Work of one plain kernel alone.
std::unique_ptr<DeviceWork> make_plain_work(const PlainKernel &kernel, const Plain &plain);

// An H200 whose plain kernels are slower than known is not in a state to be measured: the run is
// void. Returns "" or the sentence that says so.
std::string void_reason(bool of_products);
