// SPDX-License-Identifier: BSD-3-Clause
// What an asynchronous call costs the calling thread, in batches that the launch queue can hold, in
// turn with bare launches of an empty kernel, so that a drift of the clock hits all alike.
#pragma once

#include "core/device.h"

class CallWork : public Work {
  public:
    using Call = std::function<void()>;
    static constexpr int kPasses = 31;
    // prepared: another call that is measured too; or none.
    CallWork(gfk_status status, Call call, Call prepared = nullptr)
        : status_(status), call_(std::move(call)), prepared_(std::move(prepared)) {}
    gfk_status start() override { return status_; }
    double pass(long) override {
        us_.push_back(batch_us(call_));
        bare_us_.push_back(batch_us([] { launch_empty(gpu().stream); }));
        if (prepared_)
            prepared_us_.push_back(batch_us(prepared_));
        return us_.back();
    }
    void warm_up() override {
        pass(0);
        for (auto *all : {&us_, &bare_us_, &prepared_us_})
            all->clear();
    }
    void describe() override {
        const double bare = times_of(bare_us_).median, above = times_of(us_).median - bare;
        const double prepared = times_of(prepared_us_).median;
        facts.add("bare_launch_us", bare, "above_bare_us", above, "prepared_us",
                  when(!!prepared_, prepared), "prepared_above_bare_us",
                  when(!!prepared_, prepared - bare), "note",
                  when(above > kAllowedUs, "more than 2 us above a bare launch"));
    }

  private:
    static constexpr int kBatch = 100; // calls; the queue takes about 1000 before it blocks
    static constexpr double kAllowedUs = 2.0;
    static double batch_us(const Call &call) {
        const Stopwatch watch;
        for (int i = 0; i < kBatch; i++)
            call();
        const double us = watch.us() / kBatch;
        gpu_synchronize();
        return us;
    }

    gfk_status status_;
    Call call_, prepared_;
    std::vector<double> us_, bare_us_, prepared_us_;
};
