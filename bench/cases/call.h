// SPDX-License-Identifier: BSD-3-Clause
// What an asynchronous call costs the calling thread, in batches that the launch queue can hold, in
// turn with bare launches of an empty kernel, so that a drift of the clock hits all alike.
#pragma once

#include "core/device.h"

class CallWork : public Work {
  public:
    static constexpr int kPasses = 31;
    double pass(long) override {
        calls_.push_back(batch_us([this] { call(); }));
        bare_.push_back(batch_us([] { launch_empty(gpu().stream); }));
        after_pass();
        return calls_.back();
    }
    void warm_up() override {
        pass(0);
        calls_.clear();
        bare_.clear();
    }
    void describe() override {
        const double bare = bare_us(), above = times_of(calls_).median - bare;
        facts.add("bare_launch_us", bare, "above_bare_us", above, "note",
                  when(above > kAllowedUs, "more than 2 us above a bare launch"));
    }

  protected:
    virtual void call() = 0;
    virtual void after_pass() {}
    double bare_us() const { return times_of(bare_).median; }
    template <class Call>
    static double batch_us(const Call &call) {
        const Stopwatch watch;
        for (int i = 0; i < kBatch; i++)
            call();
        const double us = watch.us() / kBatch;
        gpu_synchronize();
        return us;
    }

  private:
    static constexpr int kBatch = 100; // calls; the queue takes about 1000 before it blocks
    static constexpr double kAllowedUs = 2.0;
    std::vector<double> calls_, bare_;
};
