// SPDX-License-Identifier: BSD-3-Clause
// What pickle and copy need of an object: the arguments that make the same one.
#pragma once
#include <nanobind/nanobind.h>

namespace gfk {
namespace nb = nanobind;

// The result of __reduce__ of an object of the class T, or of a class of Python that is derived from T: from the
// keyword arguments of T.
template <class T>
nb::object reduced(nb::handle self, const nb::dict &arguments) {
    return nb::module_::import_("gfk._reduce").attr("reduced")(self, nb::type<T>(), arguments);
}
} // namespace gfk
