// SPDX-License-Identifier: BSD-3-Clause
// GF-Complete for tests in C++.
#pragma once

#include <memory>
#include <stdexcept>

#include "gfcomplete.h"

struct OracleDeleter {
    void operator()(oracle *o) const { oracle_destroy(o); }
};
using Oracle = std::unique_ptr<oracle, OracleDeleter>;

inline Oracle make_oracle(unsigned w, uint64_t polynomial = 0) {
    Oracle o(oracle_create(w, polynomial));
    if (o == nullptr)
        throw std::runtime_error("GF-Complete refuses the field");
    return o;
}
