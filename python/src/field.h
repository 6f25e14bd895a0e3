// SPDX-License-Identifier: BSD-3-Clause
// The class Field, which is the C struct itself.
#pragma once
#include <gfk/field.h>
#include <nanobind/nanobind.h>

#include "integer.h"

namespace gfk {
namespace nb = nanobind;
using Field = gfk_field;

// The field of an argument: a Field, or a width for GF-Complete's polynomial.
Field field_of(nb::handle object);

// An integer below 2^w; `name` is the argument's, for messages.
uint32_t element_of(const Field &field, nb::handle object, const char *name);

void bind_field(nb::module_ &module);
} // namespace gfk
