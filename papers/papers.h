// SPDX-License-Identifier: BSD-3-Clause
// The rows of each paper, and what several papers have.
#pragma once

#include "cases/cases.h"
#include "cases/host.h"

void add_gpu_rscode_rows(const Options &options, Rows *rows);
void add_gf_gpu_rows(const Options &options, Rows *rows);
void add_opencl_rows(const Options &options, Rows *rows);
void add_gibraltar_rows(const Options &options, Rows *rows);
void add_nuclei_rows(const Options &options, Rows *rows);

// Bytes of each of k regions, in whole units.
inline size_t region_of(size_t data, size_t k) {
    return data / k / 512 * 512;
}

// The library's call on a file of so many bytes, from both kinds of memory in 1 to 16 streams, and on the CPU.
std::vector<HostCase> library_encodes(const Shape &shape, size_t file, const Options &options);

// ---- on a device -----------------------------------------------------------------------------
// The rows of these kernels, one behind the other, at 256 MiB. %u is the width; "=128" and "=ones" stand
// for one constant instead of random ones in turn.
std::vector<RegionCase> ladder(const char *steps, std::initializer_list<unsigned> widths,
                               const Options &options);
// A product of an engine beside a roofline of two variants; nothing where the engine cannot run.
void add_product(const char *engine, const Shape &shape, size_t data, const Options &options,
                 Rows *rows);

int run_managed_probe(const char *region_bytes); // probes/managed.cpp; an exit code
