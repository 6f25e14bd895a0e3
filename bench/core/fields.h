// SPDX-License-Identifier: BSD-3-Clause
// The facts of a row by name, in the order in which they were set: the fields of the result file.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

struct Value {
    std::variant<bool, double, std::string, std::vector<std::pair<std::string, double>>> is;

    Value(bool x) : is(x) {}
    Value(const char *x) : is(std::string(x)) {}
    Value(std::string x) : is(std::move(x)) {}
    Value(std::vector<std::pair<std::string, double>> x) : is(std::move(x)) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Value(T x) : is((double)x) {}
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
    std::string text(const std::string &name) const { return get<std::string>(name); }
    double number(const std::string &name) const { return get<double>(name); }
    bool is(const std::string &name) const { return get<bool>(name); }
    const std::vector<Field> &all() const { return all_; }

  private:
    const Value *find(const std::string &name) const {
        for (const Field &field : all_)
            if (field.first == name)
                return &field.second;
        return nullptr;
    }
    template <class T>
    T get(const std::string &name) const { // T() where absent or of another type
        const Value *value = find(name);
        const T *known = value == nullptr ? nullptr : std::get_if<T>(&value->is);
        return known == nullptr ? T() : *known;
    }
    std::vector<Field> all_;
};
