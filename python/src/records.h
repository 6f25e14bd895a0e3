// SPDX-License-Identifier: BSD-3-Clause
// What the module takes from the package's Python code, above all the NamedTuples of gfk/_records.py:
// Type::of(fields...) makes one, the fields in their order there. Stubs show the type's name.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

namespace gfk {
namespace nb = nanobind;

// What a module of the package, "_arrays", has by a name.
inline nb::object python(const char *module, const char *name) {
    return nb::module_::import_((std::string("gfk.") + module).c_str()).attr(name);
}

#define GFK_RECORD(Type)                                                                                               \
    class Type : public nb::object {                                                                                   \
        NB_OBJECT_DEFAULT(Type, nb::object, "gfk._records." #Type, PyTuple_Check)                                      \
        template <class... Fields>                                                                                     \
        static Type of(const Fields &...fields) {                                                                      \
            return nb::borrow<Type>(python("_records", #Type)(fields...));                                             \
        }                                                                                                              \
    }

GFK_RECORD(KernelInfo);
GFK_RECORD(EngineInfo);
GFK_RECORD(CompiledKernelInfo);
GFK_RECORD(MultiplierInfo);
GFK_RECORD(ProductInfo);
GFK_RECORD(RSInfo);
GFK_RECORD(Located);
GFK_RECORD(RLNCRecord);
GFK_RECORD(PipelineInfo);
GFK_RECORD(Report);
GFK_RECORD(Advice);
GFK_RECORD(Calibration);

// A tuple of the elements of an array, nested as the array is.
template <class T>
nb::object tuple_of(const T &value) {
    return nb::cast(value);
}
template <class T, size_t N>
nb::object tuple_of(const T (&values)[N], size_t count = N) {
    nb::list made;
    for (size_t i = 0; i < count; i++)
        made.append(tuple_of(values[i]));
    return nb::tuple(made);
}
} // namespace gfk
