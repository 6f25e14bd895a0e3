// SPDX-License-Identifier: BSD-3-Clause
// Matrix products: shapes, engines, matrices, sizes.
#pragma once

#include <memory>

#include "cases.h"

class DeviceWork;

// Who computes the product.
enum class Way {
    Engine,      // the engine of this id
    Auto,        // what AUTO takes without compiling
    AutoCompile, // what AUTO takes when it may compile
    Plain        // k x m region multiplies of AUTO's multiplier
};

enum class MatrixKind { Random, Cauchy }; // dense random elements; the default parity matrix

struct ProductCase {
    Shape shape = {};
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
    std::string ceiling_name() const;
};

// rows x cols elements, row by row. The random ones are neither 0 nor 1 and the same in every run
// with this seed.
std::vector<uint32_t> matrix_of(const Shape &shape, MatrixKind kind, uint64_t seed);

Fields engine_facts(const std::string &id); // of an engine or a kernel: engine, family, method
// What a product resolves to: engine, kernel, bytes of tables and workspace.
Fields product_facts(const gfk_product_info &info);
double product_moved(const Shape &shape, gfk_accumulate mode); // bytes of traffic per byte of data

std::vector<ProductCase> product_cases(const Options &options); // on a device
// The engines on the device that can run here and take this shape; no ablations, and of the perop
// engines only SPLIT.
std::vector<std::string> contenders(const Shape &shape);
const std::vector<Shape> &specialised_shapes(); // whose specialisation is timed
const std::vector<Shape> &cpu_shapes();
std::vector<Shape> rs_sweep_shapes();

std::unique_ptr<DeviceWork> make_product_work(const Library &library, const ProductCase &c,
                                              uint64_t seed);
void add_product_create_rows(const Options &options, Rows *rows); // of product-small
