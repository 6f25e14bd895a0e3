// SPDX-License-Identifier: BSD-3-Clause
// The command line of gfk_bench, beside Google Benchmark's own flags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct Options {
    enum Preset {
        Default,
        S2,
        Limits,
        Small,
        Offsets,
        Verdicts,
        Product,
        ProductPerop,
        ProductSmall,
        ProductMap,
        Rs,
        RsSweep,
        Host,
        HostStreams
    };
    Preset preset = Default;
    bool full = false, giant = false;
    bool device = true, host = true; // which rows
    unsigned shard = 1, shards = 1;  // --shard i/n, i from 1 to n
    uint64_t seed = 10;              // of the random constants
    std::vector<size_t> sizes;       // instead of the set's own
    std::string out;
    std::string command; // the whole line, for the record

    bool of_products() const { return preset >= Product; } // or of what is made of them
    bool of_codes() const { return preset == Rs || preset == RsSweep; }
    bool of_pipelines() const { return preset >= Host; }
};

// Takes our flags out of argv and turns --out into Google Benchmark's. False: *exit_code says how
// to end (help was asked for, or a flag is wrong).
bool parse_options(int *argc, char **argv, Options *options, int *exit_code);
