// SPDX-License-Identifier: BSD-3-Clause
#include "status.h"

#include <nanobind/stl/string.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace gfk {
namespace {
std::vector<PyObject *> classes; // by status; the module keeps them alive

[[noreturn]] void raise_object(PyObject *type, const char *format, va_list arguments) {
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    PyErr_SetString(type, text);
    throw nb::python_error();
}

// GFK_STATUS_TOO_MANY_ERASURES -> TooManyErasures
std::string class_name(const char *name) {
    const nb::str words(name + strlen("GFK_STATUS_"));
    return nb::cast<std::string>(words.attr("title")().attr("replace")("_", ""));
}

// The class of Python that an exception of this status is too.
PyObject *base_of(gfk_status status) {
    for (const gfk_status value : {GFK_STATUS_INVALID_ARGUMENT, GFK_STATUS_INVALID_SIZE, GFK_STATUS_INVALID_CONSTANT,
                                   GFK_STATUS_OVERLAP, GFK_STATUS_REDUCIBLE_POLYNOMIAL, GFK_STATUS_UNKNOWN_METHOD})
        if (status == value)
            return PyExc_ValueError;
    return status == GFK_STATUS_OUT_OF_MEMORY      ? PyExc_MemoryError
           : status == GFK_STATUS_DIVISION_BY_ZERO ? PyExc_ZeroDivisionError
           : status == GFK_STATUS_SINGULAR         ? PyExc_ArithmeticError
           : status == GFK_STATUS_IO               ? PyExc_OSError
                                                   : PyExc_RuntimeError;
}
} // namespace

nb::handle class_of(gfk_status status) {
    const auto index = static_cast<size_t>(status);
    return index < classes.size() ? classes[index] : PyExc_RuntimeError;
}

void raise(gfk_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    raise_object(class_of(status).ptr(), format, arguments);
}

void raise_type(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    raise_object(PyExc_TypeError, format, arguments);
}

void raise_value(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    raise_object(PyExc_ValueError, format, arguments);
}

const char *description_of(gfk_status status) {
    return status == GFK_STATUS_INVALID_ARGUMENT
               ? "An argument is outside the range that the documentation of the call gives."
               : gfk_status_description(status);
}

void check(gfk_status status, const char *detail) {
    if (status == GFK_STATUS_SUCCESS)
        return;
    if (detail != nullptr)
        raise(status, "%s (%s)", description_of(status), detail);
    raise(status, "%s", description_of(status));
}

void bind_status(nb::module_ &module) {
    const std::string prefix = nb::cast<std::string>(module.attr("__name__")) + ".";
    PyObject *error = PyErr_NewExceptionWithDoc(
        (prefix + "Error").c_str(), "Base of the exceptions of this package. `status` is the gfk.Status of the class.",
        PyExc_Exception, nullptr);
    module.attr("Error") = nb::steal(error);
    nb::enum_<gfk_status> statuses(module, "Status", "The statuses of the library.", nb::is_arithmetic());
    const auto add = [&](gfk_status status) {
        statuses.value(gfk_status_name(status) + strlen("GFK_STATUS_"), status, gfk_status_description(status));
    };
    add(GFK_STATUS_SUCCESS);
    classes.assign(1, error); // nothing raises SUCCESS
    for (int i = 1; strcmp(gfk_status_name(static_cast<gfk_status>(i)), "GFK_STATUS_UNKNOWN") != 0; i++) {
        const auto status = static_cast<gfk_status>(i);
        const std::string name = class_name(gfk_status_name(status));
        nb::object bases = nb::make_tuple(nb::handle(error), nb::handle(base_of(status)));
        PyObject *made =
            PyErr_NewExceptionWithDoc((prefix + name).c_str(), description_of(status), bases.ptr(), nullptr);
        nb::object type = nb::steal(made);
        add(status);
        type.attr("status") = status;
        module.attr(name.c_str()) = type;
        classes.push_back(made);
    }
}
} // namespace gfk
