// SPDX-License-Identifier: BSD-3-Clause
#include <gfk/gfk.h>
#include <nanobind/nanobind.h>

namespace gfk {
namespace nb = nanobind;
void bind_calibration(nb::module_ &module);
void bind_status(nb::module_ &module);
void bind_field(nb::module_ &module);
void bind_fork(nb::module_ &module);
void bind_host(nb::module_ &module);
void bind_matrix(nb::module_ &module);
void bind_multiplier(nb::module_ &module);
void bind_product(nb::module_ &module);
void bind_registry(nb::module_ &module);
void bind_rlnc(nb::module_ &module);
void bind_rs(nb::module_ &module);
} // namespace gfk

NB_MODULE(core_of_main, module) {
    module.doc() = "Galois-field arithmetic on arrays; gfk has everything of this module.";
    module.attr("__version__") =
        nanobind::str("%d.%d.%d")
            .attr("__mod__")(nanobind::make_tuple(gfk_version() / 10000, gfk_version() / 100 % 100,
                                                  gfk_version() % 100));
    nanobind::set_leak_warnings(false); // daemon threads keep what they use until the process ends
    gfk::bind_status(module);
    gfk::bind_field(module);
    gfk::bind_fork(module);
    gfk::bind_host(module); // others take a Pipeline
    gfk::bind_calibration(module);
    gfk::bind_matrix(module);
    gfk::bind_multiplier(module);
    gfk::bind_product(module);
    gfk::bind_registry(module);
    gfk::bind_rlnc(module);
    gfk::bind_rs(module);
}

// The module is gfk._core. nanobind keeps one set of types for a process, and those of a second interpreter take the
// place of the first one's as soon as nanobind begins.
extern "C" NB_EXPORT PyObject *PyInit__core() {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) // 0: the main one
        return PyInit_core_of_main();
    PyErr_SetString(PyExc_ImportError, "gfk works in the main interpreter of a process only");
    return nullptr;
}
