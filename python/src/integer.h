// SPDX-License-Identifier: BSD-3-Clause
// Integers as arguments: what has __index__. A message names the argument and its range.
#pragma once
#include <gfk/status.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

namespace gfk {
namespace nb = nanobind;

// An object with __index__ as an integer of Python. `name` is the argument's.
nb::object integer_of(nb::handle object, const char *name);

// The name of an object's type, for messages.
std::string type_name_of(nb::handle object);

// The digits of an integer of Python, of which there may be very many.
std::string text_of(nb::handle integer);

// An argument that is an integer. The range is checked where the name is known.
struct Integer {
    nb::object object;

    // Raises TypeError for what is no integer, InvalidArgument for an integer outside; `above` for one above.
    uint64_t in(const char *name, uint64_t least, uint64_t most,
                gfk_status above = GFK_STATUS_INVALID_ARGUMENT) const;
    size_t size(const char *name, size_t least = 0, size_t most = SIZE_MAX,
                gfk_status above = GFK_STATUS_INVALID_ARGUMENT) const {
        return in(name, least, most, above);
    }
    uint64_t word64(const char *name) const { return in(name, 0, UINT64_MAX); }
    uint32_t word32(const char *name) const {
        return static_cast<uint32_t>(in(name, 0, UINT32_MAX));
    }
};
} // namespace gfk

template <>
struct nanobind::detail::type_caster<gfk::Integer> {
    NB_TYPE_CASTER(gfk::Integer, const_name("int"))
    bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
        value.object = borrow(source);
        return true;
    }
};
