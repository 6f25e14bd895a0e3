// SPDX-License-Identifier: BSD-3-Clause
// Texts as arguments.
#pragma once
#include <optional>
#include <string>

#include "status.h"

namespace gfk {
// Refuses a text with a NUL character, which C would cut. `argument` is its name, for messages.
inline void check_text(const std::optional<std::string> &text, const char *argument) {
    if (text && text->find('\0') != std::string::npos)
        raise_value("%s: the text has a NUL character", argument);
}

// The enumerator from `first` to `last` that has a name. Raises `status` for another name.
template <class Enum>
Enum named(const std::string &name, const char *argument, Enum first, Enum last,
           const char *(*name_of)(Enum), gfk_status status) {
    std::string known;
    check_text(name, argument);
    for (int i = first; i <= last; i++) {
        if (name == name_of(static_cast<Enum>(i)))
            return static_cast<Enum>(i);
        known += std::string(i == first ? "" : ", ") + name_of(static_cast<Enum>(i));
    }
    raise(status, "%s: no %s has the name %s: %s", argument, argument, name.c_str(), known.c_str());
}
} // namespace gfk
