// SPDX-License-Identifier: BSD-3-Clause
// The table of the public calls on memory. Each entry says how to call a function with good arguments; calls_test.cpp
// expects of every entry what every call must keep.
#pragma once

#include <set>

#include "support/places.h"

#include <gfk/host.h>

using Addresses = std::vector<void *>;

// READ, READ_OR_NULL, WRITTEN, OPTIONAL (written, or NULL) and UNUSED operands (any address); a
// REPORT, which is optional and has times; the WORKSPACE.
enum Kind { READ, READ_OR_NULL, WRITTEN, OPTIONAL, REPORT, WORKSPACE, UNUSED };
struct Operand {
    size_t bytes;
    Kind kind = READ;
    size_t alignment = 1;
    bool on_host = false; // at every place
};

// How large calls are: regions read and written, their bytes, rows of a square matrix, generations of packets.
struct Shape {
    size_t ins = 3, outs = 2, bytes = 512, n = 2, generations = 1;
};

// What a call is called with. The operands that are regions form sets: `regions(first, count)` is one. Descriptions
// can be spoiled: the set that starts at `spoiled` is `description`, or NULL.
class Arguments {
  public:
    Addresses at;
    size_t workspace_bytes = 0, given_bytes = 0;
    size_t spoiled = SIZE_MAX;
    const gfk_regions *description = nullptr;
    gfk_stream_t given = nullptr;
    int wrong_mode = GFK_SET; // unless it is one of the two

    const gfk_regions *regions(size_t first, size_t count) const;
    size_t bytes() const;
    gfk_accumulate mode(gfk_accumulate good) const;
    gfk_stream_t stream() const;
    template <class T>
    T *as(size_t i) const {
        return static_cast<T *>(at[i]);
    }
    // What the last call asked for: its sets of regions, and whether it takes a length, a mode and a stream.
    mutable std::vector<std::pair<size_t, size_t>> sets;
    mutable bool takes_bytes = false, takes_mode = false, takes_stream = false;

  private:
    mutable gfk_regions made_[2];
};

struct Call {
    const char *name;
    std::vector<Operand> operands;
    std::function<gfk_status(const Arguments &)> run;
    size_t same_as[2] = {SIZE_MAX, SIZE_MAX}; // operands at whose address the last written may be
    gfk_status good = GFK_STATUS_SUCCESS;
    bool is_shared = true, is_captured = true; // by threads; into a graph
    bool is_on_host_memory() const { return std::string(name).find("_host") != std::string::npos; }
};

// What calls take: a field or an object, or both.
struct Objects {
    const gfk_field *field;
    gfk_multiplier_t multiplier;
    gfk_product_t product;
    gfk_rs_t rs;
    gfk_rs_decoder_t rs_decoder;
    gfk_rs_updater_t rs_updater;
    gfk_rlnc_t rlnc;
    gfk_rlnc_decoder_t decoder;
    gfk_pipeline_t pipeline;
};
constexpr size_t OBJECTS = sizeof(Objects) / sizeof(void *);

// Objects of a place, and the calls with them.
class Table {
  public:
    Table(bool host, unsigned w, const Shape &shape = {}, bool check_pointers = false,
          int device = GFK_CURRENT_DEVICE);
    ~Table();
    Table(const Table &) = delete;
    Table &operator=(const Table &) = delete;
    const std::vector<Call> &calls() const { return calls_; }
    const Shape &shape() const { return shape_; }
    void take_away(size_t object); // until the next one: calls get NULL for it; OBJECTS: none

  private:
    void add(const std::vector<Call> &calls);
    std::vector<Operand> regions(size_t ins, size_t outs,
                                 const std::vector<Operand> &others = {}) const;
    Operand symbols(size_t count, Kind kind = READ) const {
        return {count * symbol_, kind, symbol_};
    }
    std::vector<Call> region_calls();
    std::vector<Call> product_calls();
    std::vector<Call> matrix_calls();
    std::vector<Call> device_calls();
    std::vector<Call> rs_calls();
    std::vector<Call> rs_object_calls();
    std::vector<Call> rlnc_calls();
    std::vector<Call> decoder_calls();
    std::vector<Call> host_calls();
    std::vector<Call> host_rlnc_calls();

    bool host_;
    size_t symbol_;
    Shape shape_;
    size_t k_, m_; // inputs and outputs
    Operand in_, out_, unused_;
    gfk_field field_;
    std::vector<uint32_t> matrix_;
    Objects own_ = {}, use_ = {};
    gfk_matmul_desc matmul_ = GFK_MATMUL_DESC_INIT;
    gfk_rlnc_range range_;
    std::vector<Call> calls_;
};

// A function that takes a field and a descriptor: called with the descriptor's size in place of its own.
struct Making {
    const char *name;
    std::function<gfk_status(const gfk_field *, size_t size_is_less_by)> make;
};
std::vector<Making> makings(int device);
