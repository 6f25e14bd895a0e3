// SPDX-License-Identifier: BSD-3-Clause
// The class Field, which is the C struct itself.
#pragma once
#include <gfk/field.h>

#include "arguments.h"

namespace gfk {
using Field = gfk_field;

// An argument that is a field: a gfk.Field, or a width for GF-Complete's polynomial.
struct AnyField : Argument {
    static constexpr auto python = nb::detail::const_name("gfk._core.Field | int");
    operator Field() const; // raises TypeError, NotSupported
};

// An integer below 2^w; `name` is the argument's, for messages.
uint32_t element_of(const Field &field, nb::handle object, const char *name);
} // namespace gfk
