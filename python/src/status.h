// SPDX-License-Identifier: BSD-3-Clause
// Statuses of the library as Python's exceptions: one class for each status, all of them gfk.Error.
#pragma once
#include <gfk/status.h>
#include <nanobind/nanobind.h>

namespace gfk {
namespace nb = nanobind;
using namespace nb::literals;

// The sentence of a status, for users of Python.
const char *description_of(gfk_status status);

// Throws the exception of a status that is not SUCCESS. `detail` says more than the status's sentence.
void check(gfk_status status, const char *detail = nullptr);

// Throws. The texts are printf's.
[[noreturn]] void raise(gfk_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
[[noreturn]] void raise_type(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void raise_value(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The exception of a status.
nb::handle class_of(gfk_status status);
} // namespace gfk
