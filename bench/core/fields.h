// SPDX-License-Identifier: BSD-3-Clause
// The facts of a row by name, in the order in which they were set: the fields of the result file.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct Value {
    enum { Bool, Number, Text } kind;
    double number = 0; // a Bool's is 0 or 1
    std::string text = {};

    Value(bool x) : kind(Bool), number(x) {}
    Value(const char *x) : kind(Text), text(x) {}
    Value(const std::string &x) : kind(Text), text(x) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Value(T x) : kind(Number), number((double)x) {}
};

class Fields {
  public:
    using Field = std::pair<std::string, Value>;
    Fields() = default;
    template <class... Rest> // name, value, name, value, ...
    Fields(const char *name, Value value, Rest... rest) {
        add(name, std::move(value), rest...);
    }
    void set(const std::string &name, Value value) {
        for (Field &field : all_)
            if (field.first == name) {
                field.second = std::move(value);
                return;
            }
        all_.emplace_back(name, std::move(value));
    }
    void set_text(const std::string &name, const std::string &value) { // absent where empty
        if (!value.empty())
            set(name, value);
    }
    void set_true(const std::string &name, bool value) { // absent where false
        if (value)
            set(name, true);
    }
    template <class... Rest>
    void add(const char *name, Value value, Rest... rest) {
        set(name, std::move(value));
        if constexpr (sizeof...(rest) > 0)
            add(rest...);
    }
    void add(const Fields &other) {
        for (const auto &[name, value] : other.all_)
            set(name, value);
    }
    bool has(const std::string &name) const { return find(name) != nullptr; }
    // "", 0 and false where absent.
    std::string text(const std::string &name) const { return has(name) ? find(name)->text : ""; }
    double number(const std::string &name) const { return has(name) ? find(name)->number : 0; }
    bool is(const std::string &name) const { return number(name) != 0; }
    const std::vector<Field> &all() const { return all_; }

  private:
    const Value *find(const std::string &name) const {
        for (const Field &field : all_)
            if (field.first == name)
                return &field.second;
        return nullptr;
    }
    std::vector<Field> all_;
};
