// SPDX-License-Identifier: BSD-3-Clause
#include "field.h"

#include <cstring>

#include "array.h"
#include "reduce.h"

namespace gfk {
namespace {
using Binary = gfk_status(const gfk_field *, uint32_t, uint32_t, uint32_t *);

Field make_field(nb::handle width, uint64_t polynomial, const char *name) {
    Field field;
    const nb::object index = integer_of(width, name);
    unsigned w = 0;
    const gfk_status status = nb::try_cast(index, w) ? gfk_field_init(&field, w, polynomial) : GFK_STATUS_NOT_SUPPORTED;
    if (status == GFK_STATUS_NOT_SUPPORTED)
        raise(status, "%s: a field has 8, 16 or 32 bits, not %s", name, text_of(index).c_str());
    if (status == GFK_STATUS_INVALID_ARGUMENT)
        raise(status, "polynomial: 0x%llx is not of degree %u; pass it with its leading term",
              static_cast<unsigned long long>(polynomial), w);
    check(status);
    return field;
}

gfk_status inverse(const gfk_field *field, uint32_t a, uint32_t, uint32_t *result) {
    return gfk_field_inverse(field, a, result);
}

gfk_status power(const gfk_field *field, uint32_t a, uint32_t exponent, uint32_t *result) {
    return gfk_field_pow(field, a, exponent, result);
}

// An operand of an element-wise operation: an array, or an integer in the place of one.
struct Operand {
    uint32_t constant = 0;
    const uint8_t *data = nullptr; // NULL: the constant
    uint32_t at(size_t index, size_t bytes) const {
        uint32_t element = 0;
        if (data == nullptr)
            return constant;
        memcpy(&element, data + index * bytes, bytes);
        return element;
    }
};

// numpy's scalars are integers here, although they have a shape; an array of one element is none.
bool is_integer(nb::handle object) {
    return PyIndex_Check(object.ptr()) && !nb::hasattr(object, "__dlpack__");
}

uint32_t exponent_of(nb::handle object) {
    return Integer{nb::borrow(object)}.word32("exponent");
}

// result[i] = function(a[i], b[i]) over arrays in the CPU's memory; `exponent`: b is no element of the field.
nb::object elementwise(const Field &field, Binary *function, nb::handle a, nb::handle b, nb::handle out,
                       bool exponent = false) {
    if (is_integer(a) && is_integer(b)) {
        if (!out.is_none())
            raise_type("out: the result of integers is an integer; leave out= away");
        uint32_t result = 0;
        const auto right = exponent ? exponent_of(b) : element_of(field, b, "b");
        check(function(&field, element_of(field, a, "a"), right, &result));
        return nb::int_(result);
    }
    Call call;
    std::vector<Array> arrays;
    Operand operands[2];
    const nb::handle objects[2] = {a, b};
    arrays.reserve(2);
    for (int i = 0; i < 2; i++) {
        if (is_integer(objects[i])) {
            operands[i].constant =
                exponent && i == 1 ? exponent_of(objects[i]) : element_of(field, objects[i], i == 0 ? "a" : "b");
            continue;
        }
        const Array &array = arrays.emplace_back(
            symbols_of(call, objects[i], Use::Read, i == 0 ? "a" : "b", field.w, Meaning::Elements));
        if (array.bytes() != arrays[0].bytes())
            raise_value("a and b have %zu and %zu bytes", arrays[0].bytes(), array.bytes());
        operands[i].data = array.data();
    }
    if (call.device() != GFK_CPU)
        raise(GFK_STATUS_NOT_SUPPORTED, "element by element, arrays are in the CPU's memory; on a GPU there are "
                                        "multiply (by a constant) and matmul");
    const SymbolsOutput made(call, out, arrays[0], field.w, Meaning::Elements);
    const Array &to = made.array;
    const size_t bytes = field.w / 8, total = arrays[0].bytes();
    if (to.bytes() != total)
        raise(GFK_STATUS_INVALID_SIZE, "out has %zu bytes, and the arrays %zu", to.bytes(), total);
    for (const auto &[constant, from] : operands)
        if (from != nullptr && from != to.data() && from < to.data() + total && to.data() < from + total)
            raise(GFK_STATUS_OVERLAP, "out overlaps an argument at another address; out may be a or b itself");
    call.run([&] {
        for (size_t i = 0; i < total / bytes; i++) {
            uint32_t element = 0;
            const gfk_status status = function(&field, operands[0].at(i, bytes), operands[1].at(i, bytes), &element);
            if (status != GFK_STATUS_SUCCESS)
                return status;
            memcpy(to.data() + i * bytes, &element, bytes);
        }
        return GFK_STATUS_SUCCESS;
    });
    return made.object;
}

template <Binary *function>
nb::object binary(const Field &field, nb::handle a, nb::handle b, nb::handle out) {
    return elementwise(field, function, a, b, out);
}
} // namespace

AnyField::operator Field() const {
    Field *field = nullptr;
    if (nb::try_cast(object, field) && field != nullptr)
        return *field;
    if (!is_integer(object))
        raise_type("field: a gfk.Field is needed, or a width (8, 16 or 32), not %s", type_name_of(object).c_str());
    return make_field(object, 0, "field");
}

uint32_t element_of(const Field &field, nb::handle object, const char *name) {
    const nb::object index = integer_of(object, name);
    uint64_t value = 0;
    if (!nb::try_cast(index, value) || value >> field.w != 0)
        raise(GFK_STATUS_INVALID_CONSTANT, "%s: not an element of GF(2^%u), an integer from 0 to 2^%u - 1", name,
              field.w, field.w);
    return static_cast<uint32_t>(value);
}

void bind_field(nb::module_ &module) {
    nb::class_<Field>(module, "Field",
                      R"(The field GF(2^w) = GF(2)[x] / polynomial.

An element is an integer below 2^w whose bit i is the coefficient of x^i. An array of elements is an array of bytes
(little-endian symbols) or of integers of w bits. Addition is XOR, written a ^ b.

w: 8, 16 or 32. polynomial: with its leading term (0x11d); 0: GF-Complete's.
Raises NotSupported (another w), InvalidArgument (its degree is not w), ReduciblePolynomial.)")
        .def(
            "__init__",
            [](Field *self, Integer w, Integer polynomial) {
                new (self) Field(make_field(w.object, polynomial.word64("polynomial"), "w"));
            },
            "w"_a = 8, "polynomial"_a = 0)
        .def_ro("w", &Field::w, "Bits of an element.")
        .def_ro("polynomial", &Field::polynomial, "With its leading term.")
        .def_ro("generator", &Field::generator, "The smallest element whose powers give all non-zero elements.")
        .def("multiply", binary<gfk_field_multiply>, "a"_a, "b"_a, "out"_a = nb::none(),
             R"(a * b, for integers and for arrays of one length in the CPU's memory, element by element.
out: None, or an array of as many bytes, which may be a or b itself; none for two integers. Raises Overlap for one
that overlaps them in another way. A constant times an array, which is much faster: gfk.multiply.)")
        .def("divide", binary<gfk_field_divide>, "a"_a, "b"_a, "out"_a = nb::none(),
             "a / b, as multiply. Raises DivisionByZero; out is then partly written.")
        .def(
            "inverse",
            [](const Field &f, nb::handle a, nb::handle out) { return elementwise(f, inverse, a, nb::int_(0), out); },
            "a"_a, "out"_a = nb::none(), "1 / a, as multiply. Raises DivisionByZero; out is then partly written.")
        .def(
            "power",
            [](const Field &f, nb::handle a, nb::handle exponent, nb::handle out) {
                return elementwise(f, power, a, nb::int_(exponent_of(exponent)), out, true);
            },
            "a"_a, "exponent"_a, "out"_a = nb::none(),
            "a to the power of an integer from 0 to 2^32 - 1, as multiply; a^0 is 1.")
        .def(
            "__repr__",
            [](const Field &f) { return nb::str("gfk.Field({}, polynomial={:#x})").attr("format")(f.w, f.polynomial); })
        .def(
            "__eq__",
            [](const Field &a, nb::handle other) {
                Field *b = nullptr;
                return nb::try_cast(other, b) && b != nullptr && a.w == b->w && a.polynomial == b->polynomial;
            },
            "other"_a.none())
        .def("__hash__", [](const Field &f) { return nb::hash(nb::make_tuple(f.w, f.polynomial)); })
        .def("__reduce__", [](nb::handle self) {
            const auto &f = nb::cast<const Field &>(self);
            return reduced<Field>(self, keywords("w", f.w, "polynomial", f.polynomial));
        });
}
} // namespace gfk
