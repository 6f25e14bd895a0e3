// SPDX-License-Identifier: BSD-3-Clause
// A program of the bench: its presets, and the rows of each.
#pragma once

#include <vector>

#include "work.h"

struct Program {
    const char *name, *option; // "gfk_bench", "--preset"; the record's field has the option's name
    struct Preset {
        const char *name, *what;
    };
    std::vector<Preset> presets;          // the first one is the default
    Rows (*rows)(const Options &options); // of options.preset
    bool (*has_products)(
        const Options &options); // so that their plain kernels say if a run is void
};
int run_program(const Program &program, int argc, char **argv); // an exit code
