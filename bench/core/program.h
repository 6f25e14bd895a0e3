// SPDX-License-Identifier: BSD-3-Clause
// A program of the bench: its presets, and the rows of each.
#pragma once

#include <vector>

#include "work.h"

struct Program {
    const char *name, *option; // "gfk_bench", "--preset"; the record's field has the option's name
    struct Preset {
        const char *name, *what;
        std::vector<const char *> parts; // "region:small": the rows of the group small
    };
    std::vector<Preset> presets;                     // the first one is the default
    void (*add)(const Options &options, Rows *rows); // appends the rows of options.part
    bool (*has_products)(
        const Options &options); // then plain kernels of products say if a run is void
};
int run_program(const Program &program, int argc, char **argv); // an exit code
