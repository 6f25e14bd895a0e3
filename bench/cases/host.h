// SPDX-License-Identifier: BSD-3-Clause
// A row of calls on host memory.
#pragma once

#include "cases.h"

struct HostCase {
    // Decode: the first m regions of data are lost.
    enum Operation { Encode, Decode, Multiply, Matmul } operation;
    Shape shape;
    size_t data;
    gfk_where where = GFK_PAGEABLE;
    gfk_path path = GFK_PATH_CPU;
    unsigned streams = 0; // 0: the default
    size_t devices = 1;   // of the paths with one
    bool mapped = false;  // no pipeline: the kernel of an encode itself accesses the pinned memory

    static constexpr size_t kUnit = 512;
    size_t region_bytes() const { return data / shape.k / kUnit * kUnit; }
    const char *memory() const {
        return mapped ? "mapped" : where == GFK_PINNED ? "pinned" : "pageable";
    }
    std::string id() const;
    std::string name() const; // <id>/<k>+<m>/<bytes of data>/<where>/<path>[/...]
};

int devices_of(const Options &options); // that calls may use
void host_rows(const std::vector<HostCase> &cases, Rows *rows);
