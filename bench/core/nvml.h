// SPDX-License-Identifier: BSD-3-Clause
// Clocks, power and energy of the GPU, from NVML where it can be loaded.
#pragma once

#include <vector>

#include "fields.h"

void nvml_describe(Fields *context);

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
