// SPDX-License-Identifier: BSD-3-Clause
// Arguments whose message names the argument: integers, which have __index__, texts and names of enumerators.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>

#include "status.h"

namespace gfk {
// An object with __index__ as an integer of Python. `name` is the argument's.
nb::object integer_of(nb::handle object, const char *name);

// The name of an object's type, for messages.
std::string type_name_of(nb::handle object);

// The digits of an integer of Python, of which there may be very many.
std::string text_of(nb::handle integer);

// An argument of any type, which is read where its name is known. A class that is derived from this one has the type
// that signatures show, as `python`.
struct Argument {
    nb::object object;
};

// An argument that is an integer.
struct Integer : Argument {
    static constexpr auto python = nb::detail::const_name("int");
    // Raises TypeError for what is no integer, InvalidArgument for an integer outside; `above` for one above.
    uint64_t in(const char *name, uint64_t least, uint64_t most, gfk_status above = GFK_STATUS_INVALID_ARGUMENT) const;
    size_t size(const char *name, size_t least = 0, size_t most = SIZE_MAX,
                gfk_status above = GFK_STATUS_INVALID_ARGUMENT) const {
        return in(name, least, most, above);
    }
    uint64_t word64(const char *name) const { return in(name, 0, UINT64_MAX); }
    uint32_t word32(const char *name) const { return static_cast<uint32_t>(in(name, 0, UINT32_MAX)); }
};

// Refuses a text with a NUL character, which C would cut. `argument` is its name, for messages.
inline void check_text(const std::optional<std::string> &text, const char *argument) {
    if (text && text->find('\0') != std::string::npos)
        raise_value("%s: the text has a NUL character", argument);
}

// The enumerator from `first` to `last` that has a name. Raises `status` for another name.
template <class Enum>
Enum named(const std::string &name, const char *argument, Enum first, Enum last, const char *(*name_of)(Enum),
           gfk_status status = GFK_STATUS_INVALID_ARGUMENT) {
    std::string known;
    check_text(name, argument);
    for (int i = first; i <= last; i++) {
        if (name == name_of(static_cast<Enum>(i)))
            return static_cast<Enum>(i);
        known += std::string(i == first ? "" : ", ") + name_of(static_cast<Enum>(i));
    }
    raise(status, "%s: no %s has the name %s: %s", argument, argument, name.c_str(), known.c_str());
}
} // namespace gfk

template <class T>
struct nanobind::detail::type_caster<T, nanobind::detail::enable_if_t<std::is_base_of_v<gfk::Argument, T>>> {
    NB_TYPE_CASTER(T, T::python)
    bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
        value.object = borrow(source);
        return true;
    }
};
