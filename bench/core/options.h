// SPDX-License-Identifier: BSD-3-Clause
// The command line of a program of the bench, beside Google Benchmark's own flags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct Program;

struct Options {
    const Program *program = nullptr;
    std::string preset;
    // quick: of the preset that a part of quick comes from
    bool full = false, quick = false, list = false, no_sustained = false;
    bool device = true, host = true; // which rows
    unsigned shard = 1, shards = 1;  // --shard i/n, i from 1 to n
    unsigned cores = 0;              // --cpu-cores; 0: all that the process may use
    uint64_t seed = 10;              // of the random constants
    std::vector<size_t> sizes;       // instead of the set's own
    std::vector<std::string> methods, widths, engines; // only rows with one of these; empty: all
    std::string out, against;
    std::string command; // the whole line, for the record

    bool is(const char *name) const { return preset == name; }
    size_t size_or(size_t usual) const { return sizes.empty() ? usual : sizes[0]; }
};

// Takes our flags out of argv. Ends the program where help was asked for, or a flag is wrong.
Options parse_options(const Program &program, int *argc, char **argv);
