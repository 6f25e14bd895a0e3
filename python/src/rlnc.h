// SPDX-License-Identifier: BSD-3-Clause
// The class RLNC, for those that take one as an argument.
#pragma once
#include <gfk/rlnc.h>
#include <nanobind/nanobind.h>

namespace gfk {
namespace nb = nanobind;

// The code of an RLNC on the CPU, made when it is first asked for; it lives as long as the RLNC. Raises
// TypeError for other objects.
gfk_rlnc_t rlnc_at_cpu(nb::handle object);

void bind_rlnc(nb::module_ &module);
} // namespace gfk
