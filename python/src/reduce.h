// SPDX-License-Identifier: BSD-3-Clause
// What pickle and copy need of an object: the arguments that make the same one.
#pragma once
#include "records.h"

namespace gfk {
inline void add_keywords(nb::dict &) {}
template <class T, class... More>
void add_keywords(nb::dict &made, const char *name, const T &value, const More &...more) {
    made[name] = value;
    add_keywords(made, more...);
}

// Keyword arguments: their names, each followed by its value.
template <class... Pairs>
nb::dict keywords(const Pairs &...pairs) {
    nb::dict made;
    add_keywords(made, pairs...);
    return made;
}

// The result of __reduce__ of an object of the class T, or of a class of Python that is derived from T: from the
// keyword arguments of T.
template <class T>
nb::object reduced(nb::handle self, const nb::dict &arguments) {
    return python("_reduce", "reduced")(self, nb::type<T>(), arguments);
}
// The result of __reduce__ of what a method of an object or of a class makes.
template <class... Arguments>
nb::object called(nb::handle owner, const char *name, const nb::dict &options, const Arguments &...arguments) {
    return nb::make_tuple(python("_reduce", "called"),
                          nb::make_tuple(owner, name, nb::make_tuple(arguments...), options));
}

template <class T>
nb::object reduce(nb::handle self) {
    return reduced<T>(self, nb::cast<const T &>(self).arguments());
}
} // namespace gfk
