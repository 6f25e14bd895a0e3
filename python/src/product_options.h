// SPDX-License-Identifier: BSD-3-Clause
// gfk_product_desc as keyword arguments of Python: for products, codes, and whatever else takes one.
#pragma once
#include <gfk/product.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arguments.h"
#include "records.h"

namespace gfk {
class ProductOptions {
  public:
    using Text = std::optional<std::string>;
    using Path = std::optional<std::filesystem::path>;

    ProductOptions() = default; // of GFK_PRODUCT_DESC_INIT
    // Raises UnknownMethod for a family or a method that does not exist, InvalidArgument for the path of a
    // library that is not absolute, ValueError for a text with a NUL character.
    ProductOptions(Text engine, Text family, Text method, Integer expected_bytes, Integer table_limit,
                   bool check_pointers, Path isal_library, Path gfcomplete_library);

    // Do the options name an engine, a family or a method of devices?
    bool is_for_devices() const;
    // Do they name an engine, a family or a method? A pipeline chooses its own.
    bool has_choice() const { return engine_ || desc_.family != GFK_ENGINE_AUTO || desc_.method != GFK_METHOD_AUTO; }
    // Raises InvalidArgument for an engine of other symbols.
    void check_width(unsigned w) const;
    // The keyword arguments that make such options.
    nb::dict arguments() const;
    // For a place. The descriptor points into this object.
    gfk_product_desc desc(int device) const;

  private:
    const gfk_engine_info *engine_info() const;

    Text engine_, family_, method_;
    Path isal_library_, gfcomplete_library_;
    gfk_product_desc desc_ = GFK_PRODUCT_DESC_INIT; // without the texts
};

ProductInfo product_info(const gfk_product_info &info);

// Defines the constructor T(arguments..., ProductOptions). `extra` are the names of the arguments, with
// nb::kw_only() among them, and the docstring; the names of the options follow, which Product describes.
template <class... Arguments, class Class, class... Extra>
void def_init_with_options(Class &type, const Extra &...extra) {
    using T = typename Class::Type;
    using Text = ProductOptions::Text;
    using Path = ProductOptions::Path;
    type.def(
        "__init__",
        [](T *self, Arguments... arguments, Text engine, Text family, Text method, Integer bytes, Integer limit,
           bool check_pointers, Path isal, Path gfcomplete) {
            new (self) T(std::forward<Arguments>(arguments)...,
                         {std::move(engine), std::move(family), std::move(method), bytes, limit, check_pointers,
                          std::move(isal), std::move(gfcomplete)});
        },
        extra..., "engine"_a = nb::none(), "family"_a = nb::none(), "method"_a = nb::none(), "expected_bytes"_a = 0,
        "table_limit"_a = 0, "check_pointers"_a = false, "isal_library"_a = nb::none(),
        "gfcomplete_library"_a = nb::none());
}
} // namespace gfk
