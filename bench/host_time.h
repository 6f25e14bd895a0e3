// SPDX-License-Identifier: BSD-3-Clause
// host_time/<id>: what a region call costs the calling thread, beside a bare kernel launch.
// product_host_time/<engine>/<k>+<m>: the same of gfk_product_run.
#pragma once

#include <cstdint>
#include <functional>

#include "results.h"

void register_host_time(uint64_t seed);
void register_product_host_time(uint64_t seed);

constexpr int kHostBatch = 100; // calls; the queue takes about 1000 launches before it blocks
constexpr int kHostBatches = 31;
constexpr double kHostAllowedUs = 2.0;

// Microseconds that one of kHostBatch asynchronous calls takes.
double host_batch_us(const std::function<void()> &call);
// The row's note and times: call_us, bare_launch_us, above_bare_us.
void set_host_time(Result *result, const std::vector<double> &calls,
                   const std::vector<double> &bare);
