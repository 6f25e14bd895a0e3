// SPDX-License-Identifier: BSD-3-Clause
// What the package does without the GIL. A thread that is in there may hold a lock of the library, which a child
// process of fork would find locked for ever: so fork waits until nobody is, and nobody gets in meanwhile. The process
// ends after nobody is.
#pragma once
#include <nanobind/nanobind.h>

namespace gfk {
namespace nb = nanobind;

class InLibrary {
  public:
    InLibrary(); // without the GIL
    ~InLibrary();
    InLibrary(const InLibrary &) = delete;
    InLibrary &operator=(const InLibrary &) = delete;
};

// Releases the GIL while it lives.
struct Unlocked {
    nb::gil_scoped_release release;
    InLibrary inside;
};

// What `work` returns, which runs without the GIL.
template <class Work>
auto unlocked(Work &&work) {
    const Unlocked free;
    return work();
}
} // namespace gfk
