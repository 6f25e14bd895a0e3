// SPDX-License-Identifier: BSD-3-Clause
// Which products are measured: shapes, engines, matrices, sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gfk/gfk.h>

#include "options.h"

struct Shape {
    unsigned w;
    size_t k, m; // inputs, outputs
};

// Who computes the product.
enum class Way {
    XorOnly,     // the plain kernel of the same traffic: the roofline
    Engine,      // the engine of this id
    Auto,        // what AUTO takes without compiling
    AutoCompile, // what AUTO takes when it may compile
    Plain        // k x m region multiplies of AUTO's multiplier
};

enum class MatrixKind { Random, Cauchy }; // dense random elements; the default parity matrix

struct ProductRow {
    Shape shape;
    Way way = Way::Engine;
    std::string engine; // of Way::Engine
    size_t data = 0;    // bytes of all inputs together, before rounding
    MatrixKind matrix = MatrixKind::Random;
    gfk_accumulate mode = GFK_SET;
    int replays = 9;
    bool few = false; // the roofline is the best of two variants only

    size_t region_bytes() const { return data / shape.k / 512 * 512; }
    std::string id() const;
    std::string name() const; // <id>/<k>+<m>/<bytes of data>/<set|xor>/cold[/cauchy]
};

std::string shape_text(const Shape &shape); // "10+4"

// rows x cols elements, row by row. The random ones are neither 0 nor 1 and the same in every run
// with this seed.
std::vector<uint32_t> matrix_of(const Shape &shape, MatrixKind kind, uint64_t seed);

// Rows on the device, ceilings among them, each before the rows that are measured against it.
std::vector<ProductRow> plan_products(const Options &options);
// The engines on the device that can run here and take this shape; no ablations, and of the perop
// engines only SPLIT.
std::vector<std::string> contenders(const Shape &shape);
// Shapes whose specialisation is timed.
std::vector<Shape> specialised_shapes();
// Shapes of the preset rs-sweep.
std::vector<Shape> rs_sweep_shapes();
// Shapes of the CPU rows.
std::vector<Shape> cpu_shapes();
