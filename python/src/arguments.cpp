// SPDX-License-Identifier: BSD-3-Clause
#include "arguments.h"

#include "array.h"

namespace gfk {
std::string type_name_of(nb::handle object) {
    const nb::handle type = object.type();
    const nb::str name(nb::getattr(type, "__qualname__", nb::str("object")));
    const nb::str module(nb::getattr(type, "__module__", nb::str("builtins")));
    const std::string prefix = module.c_str();
    return prefix == "builtins" ? name.c_str() : prefix + "." + name.c_str();
}

nb::object integer_of(nb::handle object, const char *name) {
    if (!PyIndex_Check(object.ptr()))
        raise_type("%s: an integer is needed, not %s", name, type_name_of(object).c_str());
    check_memory(object, name);
    nb::object index = nb::steal(PyNumber_Index(object.ptr()));
    if (index.is_valid())
        return index;
    nb::python_error error;
    if (!error.matches(PyExc_TypeError))
        throw error;
    raise_type("%s: an integer is needed, not this %s (%s)", name, type_name_of(object).c_str(),
               nb::str(error.value()).c_str());
}

// "2^64 - 1", or the digits of a smaller number.
static std::string text_of(uint64_t number) {
    for (const unsigned bits : {31u, 32u, 64u})
        if (number == UINT64_MAX >> (64 - bits))
            return "2^" + std::to_string(bits) + " - 1";
    return std::to_string(number);
}

std::string text_of(nb::handle integer) {
    const auto bits = nb::cast<size_t>(integer.attr("bit_length")());
    return bits > 128 ? "an integer of " + std::to_string(bits) + " bits" : nb::repr(integer).c_str();
}

uint64_t Integer::in(const char *name, uint64_t least, uint64_t most, gfk_status above) const {
    const nb::object index = integer_of(object, name);
    uint64_t value = 0;
    const bool fits = nb::try_cast(index, value);
    if (fits && value >= least && value <= most)
        return value;
    const int is_positive = PyObject_RichCompareBool(index.ptr(), nb::int_(0).ptr(), Py_GT);
    if (is_positive < 0)
        throw nb::python_error();
    raise(is_positive && (!fits || value > most) ? above : GFK_STATUS_INVALID_ARGUMENT,
          "%s: an integer from %s to %s is needed, not %s", name, text_of(least).c_str(), text_of(most).c_str(),
          text_of(index).c_str());
}
} // namespace gfk
