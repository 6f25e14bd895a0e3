// SPDX-License-Identifier: BSD-3-Clause
// The class Product: a small matrix times regions, by any engine.
#include "host.h"
#include "matrix.h"
#include "places.h"
#include "product_options.h"
#include "reduce.h"

namespace gfk {
namespace {
class Product {
  public:
    Product(nb::handle matrix, AnyField field, ProductOptions options)
        : field_(field), matrix_(words_of(field_, matrix, "matrix")), options_(std::move(options)) {
        options_.check_width(field_.w);
    }

    nb::object run(nb::handle x, nb::handle out, bool accumulate, Pipeline *pipeline) {
        Call call(pipeline);
        const Regions from(call, x, matrix_.cols, field_.w, Use::Read, "x");
        const Output to(call, out, from, matrix_.rows, field_.w);
        const gfk_accumulate mode = mode_of(out, accumulate);
        if (pipeline != nullptr) {
            if (options_.has_choice())
                raise(GFK_STATUS_INVALID_ARGUMENT,
                      "pipeline: a pipeline chooses its engines; leave engine, family and method away");
            pipeline->run(call, gfk_product_host, &field_, matrix_.rows, matrix_.cols, matrix_.elements.data(),
                          from.get(), to.regions.get(), from.bytes(), mode);
        } else
            call.run(gfk_product_run, at(call.device()), from.get(), to.regions.get(), from.bytes(), mode,
                     call.stream());
        return to.object;
    }

    ProductInfo info(const Device &device) const {
        const gfk_product_desc desc = options_.desc(device.number());
        gfk_product_info found;
        check(gfk_product_query(&field_, matrix_.rows, matrix_.cols, &desc, &found));
        return product_info(found);
    }

    Field field() const { return field_; }
    nb::tuple shape() const { return nb::make_tuple(matrix_.rows, matrix_.cols); }

    nb::dict arguments() const {
        nb::dict made = options_.arguments();
        add_keywords(made, "matrix", array_of(matrix_), "field", field_);
        return made;
    }

    gfk_product_t at(int device) {
        return places_.at(device, options_.is_for_devices(), gfk_product_get_info, [&](gfk_product_t *made) {
            const gfk_product_desc desc = options_.desc(device);
            return gfk_product_create(made, &field_, matrix_.rows, matrix_.cols, matrix_.elements.data(), &desc);
        });
    }

  private:
    const Field field_;
    const Words matrix_;
    const ProductOptions options_;
    Places<gfk_product_t, gfk_product_destroy> places_;
};

} // namespace

void bind_product(nb::module_ &module) {
    nb::class_<Product> type(
        module, "Product",
        R"(A small matrix times regions: out[j] = sum over i of matrix[j][i] * x[i]. The matrix is expanded once at each place,
at the first run there. gfk.matmul takes matrices of any size, and keeps nothing of them.)");
    def_init_with_options<nb::handle, AnyField>(
        type, "matrix"_a, "field"_a = 8, nb::kw_only(),
        R"(matrix: rows x cols elements below 2^w: an array of integers in the CPU's memory, nested sequences, or a gfk.Matrix;
copied. field: a Field, or a width of 8, 16 or 32.
engine: an id of gfk.engines(), or of one of its kernels; None: the fastest measured one for the shape.
family: only engines of this family ("host", "isal", "perop", "prmt", "bmma", "clmad", "gfcomplete").
method: only per-operation engines of this method ("SPLIT", "LOG", ...).
expected_bytes: the length of the regions to come, for the choice; 0: long.
table_limit: bytes for tables; 0: 1 GiB.
check_pointers: calls check the memory of every pointer; for debugging.
isal_library, gfcomplete_library: absolute paths of these libraries, for their engines.
Raises InvalidConstant (an element is not in the field), UnknownMethod, ValueError (shape), TypeError.)");
    type.def("run", &Product::run, "x"_a, "out"_a = nb::none(), "accumulate"_a = false, nb::kw_only(),
             "pipeline"_a = nb::none(),
             R"(The matrix times regions, or out ^= that with accumulate.

x: cols regions of one length: an array of the shape (cols, ...) whose rows may have gaps between them, or a list of
arrays; bytes, or integers of w bits. out: rows such regions, which overlap nothing else. None: a new array (rows,
...) of x's framework.
pipeline: a gfk.Pipeline, for arrays in the CPU's memory; the Product then names no engine. The pipeline keeps what
it derives of the last 8 matrices. On a GPU the work is in the order of the framework's current stream. Returns out.
Raises InvalidSize, Overlap, WrongDevice (also an engine of the CPU for arrays on a GPU), NotSupported, TableLimit,
UnknownMethod (no such engine), TypeError (dtype), ValueError (shape, not contiguous).)")
        .def("prepare", prepare<Product>, "device"_a = "cpu",
             "Makes the product, with its tables, at a place before the first run there.")
        .def("info", &Product::info, "device"_a = "cpu", "What runs at a place. Nothing is made.")
        .def_prop_ro("field", &Product::field, "The Field of the symbols.")
        .def_prop_ro("shape", &Product::shape, "(rows, cols) of the matrix.")
        .def("__reduce__", reduce<Product>);
}
} // namespace gfk
