// SPDX-License-Identifier: BSD-3-Clause
// A row of the bench, and the work that is measured for it. core/runner.cpp measures all rows.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fields.h"
#include "library.h"
#include "options.h"

// Times of one launch, call or pass, in microseconds.
struct Times {
    double median = 0, min = 0, max = 0;
    size_t count = 0;
};
Times times_of(std::vector<double> us);

// What two seconds of launches without a pause gave. 0: not measured, or NVML does not tell.
struct Sustained {
    double launch_us = 0, sm_mhz = 0, watts = 0;
};

// What one row measures: objects and buffers made ready, passes, a check. At most two exist at a
// time, of one row and two libraries, and these two share their buffers.
class Work {
  public:
    virtual ~Work() = default;
    virtual gfk_status start() = 0;                 // makes the objects, and runs once
    virtual std::string check(bool) { return ""; }  // what is wrong; true: behind the passes
    virtual void warm_up() { pass(0); }             // a pass that does not count
    virtual double pass(long number) = 0;           // microseconds of one launch or call
    virtual void follow(const Work &) {}            // takes as many launches a pass as that one
    virtual Sustained sustain() { return {}; }      // two seconds without a pause
    virtual void describe() {}                      // behind the passes: completes `facts`
    virtual double data_bytes() const { return 0; } // 0: the row's
    Fields facts;                                   // that the row does not know beforehand
};

// Work in calls that have ended when they return. The functions own what they need.
struct CallsWork : Work {
    gfk_status status = GFK_STATUS_SUCCESS;         // of what was made
    std::function<double(long number)> call;        // microseconds
    std::function<std::string(bool after)> compare; // none: nothing to compare
    gfk_status start() override { return status; }
    std::string check(bool after) override { return compare ? compare(after) : ""; }
    double pass(long number) override { return call(number); }
};

// The best of several plain kernels of a row's traffic, measured in the same run.
struct Ceiling {
    std::string what, best; // "copy"; "b16_256"
    double gbps = 0;        // traffic of the best
    Times times;
    Fields fields;   // of the best: launches, clock
    Fields variants; // GB/s of each
    std::string error;
    std::function<Sustained()> measure_sustained;
    double sustained_gbps = 0;
    Sustained sustained;
};

struct Result {
    std::string name;
    Fields fields;
    Fields variants; // of a ceiling
    bool measured() const { return fields.text("state") == "measured"; }
    double gbps() const { return fields.number("data_GBps"); }
};

struct Row {
    Row(std::string row_name, Fields known) : name(std::move(row_name)), facts(std::move(known)) {}
    std::string name, group; // group: of its preset's parts
    Fields facts;            // all that is known before the row is measured
    double data_bytes = 0;   // that GB/s are of; 0: the row has no rate
    double moved = 0;        // bytes of traffic per byte of data
    int passes = 9;          // 0: as many as 0.1 s hold
    bool sustained = false;  // two seconds without a pause, too
    std::string shorter; // name of a row with shorter regions: if it is slow, this one is skipped
    std::string needs;   // name of the row with the ceiling, which is registered first
    std::function<std::string()> missing; // why the row cannot exist here, or ""
    std::function<Ceiling &()> ceiling;   // before the row's own buffers
    std::function<std::unique_ptr<Work>(const Library &)> make; // none: the row is the ceiling
    std::function<void(Result *)> finish; // facts that follow from the times or other rows
    bool compared = true; // with --against: what the library does not compute is left out
};
using Rows = std::vector<Row>;

// For Row::make: a W of the library and these arguments.
template <class W, class... Arguments>
auto makes(Arguments... arguments) {
    return [=](const Library &library) -> std::unique_ptr<Work> {
        return std::make_unique<W>(library, arguments...);
    };
}

// For Row::make: what a function makes of the library and these arguments.
template <class Function, class... Arguments>
auto made_by(Function function, Arguments... arguments) {
    return [=](const Library &library) { return function(library, arguments...); };
}

const std::vector<Result> &results();               // in the order of measurement
const Result *find_result(const std::string &name); // measured rows only; null if there is none
std::function<void(Result *)> percent_of(const std::string &other); // for Row::finish

std::string size_text(size_t bytes); // "64KiB", "1GiB", or plain bytes where no such unit fits

// Inputs and outputs of a product, or data and parity of a code.
struct Shape {
    unsigned w;
    size_t k, m;
};
std::string shape_text(const Shape &shape); // "10+4"
// The facts that rows of shapes begin with.
Fields shape_facts(const char *kind, const std::string &operation, const char *where,
                   const std::string &id, const Shape &shape);

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

// Removes what the options leave out, rows that an earlier row has the name of, and ceilings that no
// row needs any more.
void select_rows(const Options &options, Rows *rows);
void run_rows(const Options &options, const Fields &context, const Rows &rows);
