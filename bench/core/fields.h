// SPDX-License-Identifier: BSD-3-Clause
// The facts of a row by name, in the order in which they were set: the fields of the result file.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct Value {
    enum { None, Bool, Number, Text } kind = None; // None: the field is absent
    double number = 0;                             // a Bool's is 0 or 1
    std::string text = {};

    Value() = default;
    Value(bool x) : kind(Bool), number(x) {}
    Value(const char *x) : kind(Text), text(x) {}
    Value(const std::string &x) : kind(Text), text(x) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Value(T x) : kind(Number), number((double)x) {}
};
inline Value when(bool holds, const Value &value) { // absent otherwise
    return holds ? value : Value();
}
inline Value given(const std::string &text) { // absent where empty
    return when(!text.empty(), text);
}

class Fields {
  public:
    using Field = std::pair<std::string, Value>;
    Fields() = default;
    template <class... Rest> // name, value, name, value, ...
    Fields(const char *name, const Value &value, const Rest &...rest) {
        add(name, value, rest...);
    }
    void set(const std::string &name, const Value &value) {
        if (value.kind == Value::None)
            return;
        const auto known = std::find_if(all_.begin(), all_.end(),
                                        [&](const Field &field) { return field.first == name; });
        if (known != all_.end())
            known->second = value;
        else
            all_.emplace_back(name, value);
    }
    template <class... Rest>
    void add(const char *name, const Value &value, const Rest &...rest) {
        set(name, value);
        if constexpr (sizeof...(rest) > 0)
            add(rest...);
    }
    void add(const Fields &other) {
        for (const auto &[name, value] : other.all_)
            set(name, value);
    }
    const Value *find(const std::string &name) const { // null where absent
        for (const Field &field : all_)
            if (field.first == name)
                return &field.second;
        return nullptr;
    }
    bool has(const std::string &name) const { return find(name) != nullptr; }
    // "", 0 and false where absent.
    std::string text(const std::string &name) const { return has(name) ? find(name)->text : ""; }
    double number(const std::string &name) const { return has(name) ? find(name)->number : 0; }
    bool is(const std::string &name) const { return number(name) != 0; }
    const std::vector<Field> &all() const { return all_; }

  private:
    std::vector<Field> all_;
};
