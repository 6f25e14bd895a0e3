// SPDX-License-Identifier: BSD-3-Clause
#include <gfk/gfk.h>
#include <nanobind/nanobind.h>

namespace gfk {
namespace nb = nanobind;
using Bind = void(nb::module_ &);
Bind bind_status, bind_field, bind_fork, bind_host, bind_calibration, bind_matrix, bind_multiplier, bind_product,
    bind_registry, bind_rlnc, bind_rs;
} // namespace gfk

NB_MODULE(core_of_main, module) {
    module.doc() = "Galois-field arithmetic on arrays; gfk has everything of this module.";
    module.attr("__version__") = nanobind::str("%d.%d.%d")
                                     .attr("__mod__")(nanobind::make_tuple(
                                         gfk_version() / 10000, gfk_version() / 100 % 100, gfk_version() % 100));
    nanobind::set_leak_warnings(false); // daemon threads keep what they use until the process ends
    for (gfk::Bind *bind :              // calls of the later ones take objects of the earlier ones
         {gfk::bind_status, gfk::bind_field, gfk::bind_fork, gfk::bind_host, gfk::bind_calibration, gfk::bind_matrix,
          gfk::bind_multiplier, gfk::bind_product, gfk::bind_registry, gfk::bind_rlnc, gfk::bind_rs})
        bind(module);
}

// The module is gfk._core. nanobind keeps one set of types for a process, and those of a second interpreter take the
// place of the first one's as soon as nanobind begins.
extern "C" NB_EXPORT PyObject *PyInit__core() {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) // 0: the main one
        return PyInit_core_of_main();
    PyErr_SetString(PyExc_ImportError, "gfk works in the main interpreter of a process only");
    return nullptr;
}
