// SPDX-License-Identifier: BSD-3-Clause
// The command line of a program of the bench.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct Program;

struct Options {
    const Program *program = nullptr;
    std::string preset, part; // part: of the preset, whose rows are being made: "region:small"
    bool full = false, list = false, no_sustained = false;
    bool device = true, host = true; // which rows
    unsigned cores = 0;              // --cpu-cores; 0: all that the process may use
    uint64_t seed = 10;              // of the random constants
    std::vector<size_t> sizes;       // instead of the part's own
    std::vector<std::string> methods, widths, engines; // only rows with one of these; empty: all
    std::string filter;                                // only rows that fit; empty: all
    std::string out, against;
    std::string command; // the whole line, for the record

    bool is(const char *name) const { return part == name; }
    bool quick() const { return preset == "quick"; } // less of each part
    size_t size_or(size_t usual) const { return sizes.empty() ? usual : sizes[0]; }
};

// Ends the program where help was asked for, or an option is wrong.
Options parse_options(const Program &program, int argc, char **argv);
