// SPDX-License-Identifier: BSD-3-Clause
// The class Field, which is the C struct itself.
#pragma once
#include <gfk/field.h>
#include <nanobind/nanobind.h>

#include "integer.h"

namespace gfk {
namespace nb = nanobind;
using Field = gfk_field;

// An argument that is a field: a gfk.Field, or a width for GF-Complete's polynomial.
struct AnyField {
    nb::object object;
    operator Field() const; // raises TypeError, NotSupported
};

// An integer below 2^w; `name` is the argument's, for messages.
uint32_t element_of(const Field &field, nb::handle object, const char *name);

void bind_field(nb::module_ &module);
} // namespace gfk

template <>
struct nanobind::detail::type_caster<gfk::AnyField> {
    NB_TYPE_CASTER(gfk::AnyField, const_name("gfk._core.Field | int"))
    bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
        value.object = borrow(source);
        return true;
    }
};
