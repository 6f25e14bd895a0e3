// SPDX-License-Identifier: BSD-3-Clause
// The products of gfk/matmul.h and the eliminations of gfk/matrix.h.
#include "matrix.h"

#include <gfk/matrix.h>

#include <algorithm>

#include "host.h"

namespace gfk {
namespace {
// ---- generated matrices -------------------------------------------------------------------------

// Raises what is wrong with a gfk.Matrix in a field.
void check_generated(const Field &field, nb::handle matrix, gfk_status status) {
    if (status == GFK_STATUS_SUCCESS)
        return;
    const nb::object problem = python("_matrix", "problem")(matrix, status, field.w);
    if (!problem.is_none())
        raise(status, "%s", nb::cast<const char *>(problem));
    check(status);
}

const char *name_of_kind(gfk_matrix_kind kind) {
    static const char *const names[] = {"dense", "cauchy", "vandermonde", "par2", "random"};
    return names[kind];
}

// A gfk.Matrix (gfk/_matrix.py), which keeps the points.
gfk_matrix generated(nb::handle from) {
    const auto integer = [&](const char *name) { return Integer{from.attr(name)}; };
    gfk_matrix made = {};
    made.kind =
        named(nb::cast<std::string>(from.attr("kind")), "kind", GFK_MATRIX_CAUCHY, GFK_MATRIX_RANDOM, name_of_kind);
    made.rows = integer("rows").size("rows", 1);
    made.cols = integer("cols").size("cols", 1);
    made.first = integer("first").word64("first");
    made.seed = integer("seed").word64("seed");
    const auto points = [&](const char *name) -> const uint32_t * {
        const nb::object array = from.attr(name);
        Call call;
        return array.is_none() ? nullptr
                               : reinterpret_cast<const uint32_t *>(Array(call, array, Use::Read, name).data());
    };
    made.row_points = points("row_points");
    made.col_points = points("col_points");
    return made;
}

bool is_generated(nb::handle object) {
    static const nb::handle type = python("_matrix", "Matrix").release();
    return nb::isinstance(object, type);
}

// The elements in words of 32 bits.
nb::object words_of_generated(const Field &field, nb::handle object) {
    const gfk_matrix matrix = generated(object);
    NewWords made(matrix.rows, matrix.cols);
    check_generated(field, object, made.call.try_run(gfk_matrix_fill, &field, &matrix, made.data));
    return made.object;
}
} // namespace

// ---- arguments ----------------------------------------------------------------------------------

nb::object array_of(const Words &words) {
    const NewWords made(words.rows, words.cols);
    std::copy(words.elements.begin(), words.elements.end(), made.data);
    return made.object;
}

Words words_of(const Field &field, nb::handle object, const char *name) {
    const nb::object words = is_generated(object)
                                 ? words_of_generated(field, object)
                                 : python("_arrays", "integers")(object, UINT32_MAX >> (32 - field.w), "uint32",
                                                                 class_of(GFK_STATUS_INVALID_CONSTANT), name);
    const nb::tuple shape = nb::cast<nb::tuple>(words.attr("shape"));
    if (shape.size() != 2 || nb::cast<size_t>(words.attr("size")) == 0)
        raise_value("%s: a matrix of two dimensions, with one row and one column at least", name);
    return {vector_of<uint32_t>(words), nb::cast<size_t>(shape[0]), nb::cast<size_t>(shape[1])};
}

Elements::Elements(Call &call, nb::handle object, unsigned w, Use use, const char *name, size_t groups)
    : name_(name), array_(call, object, use, name) {
    array_.check_elements(w);
    if (array_.dimensions() == 3 && groups != 0 && (groups == ANY_GROUPS || array_.size(0) == groups)) {
        groups_ = array_.size(0);
        if (!array_.merge_first())
            raise_value("%s: the rows are not evenly spaced; pass a contiguous copy", name);
    }
    if (array_.dimensions() != 2)
        raise_value("%s: an array of two dimensions is needed, a matrix; the array has %zu dimensions", name,
                    array_.dimensions());
    array_.check_contiguous(1);
    stride_ = rows() > 1 && cols() != 0 ? array_.stride() / array_.item_bytes() : cols();
    if (stride_ < cols())
        raise(GFK_STATUS_INVALID_ARGUMENT,
              "%s: the array's rows overlap, as broadcast_to and expand make them; pass a copy", name);
}

void Elements::check_not_empty() const {
    if (rows() == 0 || cols() == 0)
        raise(GFK_STATUS_INVALID_ARGUMENT,
              "%s: a matrix has one row and one column at least; the array has %zu x %zu elements", name_, rows(),
              cols());
}

void Elements::check_shape(size_t rows, size_t cols) const {
    if (this->rows() != rows || this->cols() != cols)
        raise_value("%s: %zu x %zu elements are needed; there are %zu x %zu", name_, rows, cols, this->rows(),
                    this->cols());
}

MatrixArgument::MatrixArgument(Call &call, nb::handle object, unsigned w, const char *name) {
    if (is_generated(object)) {
        matrix_ = generated(generated_ = nb::borrow(object));
        return;
    }
    elements_.emplace(call, object, w, Use::Read, name);
    elements_->check_not_empty();
    matrix_ = GFK_MATRIX_DENSE_INIT(elements_->data(), elements_->rows(), elements_->cols(), elements_->stride());
}

void MatrixArgument::check(const Field &field, gfk_status status) const {
    if (elements_)
        gfk::check(status);
    else
        check_generated(field, generated_, status);
}

// ---- products -----------------------------------------------------------------------------------

const char *kernel_id(const std::optional<std::string> &kernel, const Field &field, int device) {
    check_text(kernel, "kernel");
    if (!kernel)
        return nullptr;
    gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
    desc.kernel = kernel->c_str();
    size_t bytes = 0;
    const gfk_status status = gfk_matmul_workspace(&field, 1, 1, 0, &desc, &bytes);
    if (status == GFK_STATUS_UNKNOWN_METHOD)
        raise(status, "kernel: no kernel of matmul has the id %s; gfk.compiled_kernels() lists them", desc.kernel);
    if (status == GFK_STATUS_INVALID_ARGUMENT)
        raise(status, "kernel: %s is for another width than w = %u", desc.kernel, field.w);
    check(status);
    if (device == GFK_CPU)
        raise(GFK_STATUS_INVALID_ARGUMENT, "kernel: %s runs on GPUs, and this call is on the CPU", desc.kernel);
    return desc.kernel;
}

namespace {
gfk_matmul_desc desc_of(const Call &call, const Field &field, uint32_t threads,
                        const std::optional<std::string> &kernel, bool check_pointers) {
    gfk_matmul_desc desc = GFK_MATMUL_DESC_INIT;
    desc.device = call.device();
    desc.threads = threads;
    desc.check_pointers = check_pointers;
    desc.kernel = kernel_id(kernel, field, desc.device);
    return desc;
}

nb::object matmul(nb::handle a, nb::handle b, AnyField any_field, nb::handle out, bool accumulate, Integer threads,
                  const std::optional<std::string> &kernel, bool check_pointers, Pipeline *pipeline) {
    const Field field = any_field;
    Call call(pipeline);
    const MatrixArgument matrix(call, a, field.w, "a");
    const size_t rows = matrix.get()->rows, cols = matrix.get()->cols;
    const Regions from(call, b, cols, field.w, Use::Read, "b");
    const Output to(call, out, from, rows, field.w);
    const gfk_accumulate mode = mode_of(out, accumulate);
    const gfk_matmul_desc desc = desc_of(call, field, threads.word32("threads"), kernel, check_pointers);
    if (pipeline != nullptr) {
        if (desc.threads != 0)
            raise(GFK_STATUS_INVALID_ARGUMENT, "threads: a pipeline has threads of its own");
        matrix.check(field, pipeline->try_run(call, gfk_matmul_host, &field, matrix.get(), from.get(), to.regions.get(),
                                              from.bytes(), mode));
    } else {
        const auto workspace = call.workspace(gfk_matmul_workspace, &field, rows, cols, from.bytes(), &desc);
        matrix.check(field, call.try_run(gfk_matmul, &field, matrix.get(), from.get(), to.regions.get(), from.bytes(),
                                         mode, &desc, workspace.memory, workspace.bytes, call.stream()));
    }
    return to.object;
}

// ---- eliminations -------------------------------------------------------------------------------

// One elimination of a dense matrix: what it needs, and what it finds out.
struct Elimination {
    Call &call;
    const Field field;
    const Elements from;
    const gfk_matrix matrix;
    const gfk_matmul_desc desc;
    const bool with_pivots;
    gfk_matrix_record result = {};
    nb::object pivots;

    Elimination(Call &call, const AnyField &any_field, nb::handle a, Integer threads,
                const std::optional<std::string> &kernel, bool with_pivots)
        : call(call), field(any_field), from(call, a, field.w, Use::Read, "a"),
          matrix(GFK_MATRIX_DENSE_INIT(from.data(), from.rows(), from.cols(), from.stride())),
          desc(desc_of(call, field, threads.word32("threads"), kernel, false)), with_pivots(with_pivots) {
        from.check_not_empty();
        if (from.rows() > MOST_ROWS || from.cols() > MOST_ROWS)
            raise(GFK_STATUS_INVALID_SIZE, "a: %zu x %zu elements; a matrix has %zu rows and columns at most",
                  from.rows(), from.cols(), MOST_ROWS);
    }
    static constexpr size_t MOST_ROWS = size_t{1} << 30; // of gfk/matrix.h

    // The rows of a square matrix.
    size_t square() const {
        if (matrix.rows != matrix.cols)
            raise_value("a: a square matrix is needed; the array has %zu x %zu elements", matrix.rows, matrix.cols);
        return matrix.rows;
    }

    // Starts start(field, matrix, arguments..., record, pivots, desc, workspace...), waits, and raises Singular.
    template <class Start, class... Arguments>
    void run(const Call::Workspace &workspace, Start start, const Arguments &...arguments) {
        auto *record = static_cast<gfk_matrix_record *>(call.workspace(sizeof(gfk_matrix_record)));
        uint32_t *numbers = nullptr;
        std::optional<Array> array;
        if (with_pivots) {
            pivots = call.empty({matrix.rows}, "int32"); // GFK_MATRIX_DEPENDENT is -1 there
            array.emplace(call, pivots, Use::New, "pivots");
            numbers = reinterpret_cast<uint32_t *>(array->data());
        }
        gfk_status found = GFK_STATUS_SUCCESS;
        call.run([&] {
            const gfk_status status = start(&field, &matrix, arguments..., record, numbers, &desc, workspace.memory,
                                            workspace.bytes, call.stream());
            if (status != GFK_STATUS_SUCCESS)
                return status;
            found = gfk_matrix_wait(record, &desc, call.stream(), &result);
            return found == GFK_STATUS_SINGULAR ? GFK_STATUS_SUCCESS : found;
        });
        if (found == GFK_STATUS_SINGULAR)
            raise(found, "the matrix of %zu x %zu elements is singular: its rank is %u", matrix.rows, matrix.cols,
                  result.rank);
        if (with_pivots)
            pivots = python("_arrays", "to_host")(pivots);
    }

    nb::object results(nb::object value) const {
        return with_pivots ? nb::object(nb::make_tuple(value, pivots)) : value;
    }
};

nb::object invert(nb::handle a, const AnyField &any_field, nb::handle out, bool pivots, Integer threads,
                  const std::optional<std::string> &kernel) {
    Call call;
    Elimination e(call, any_field, a, threads, kernel, pivots);
    const size_t n = e.square();
    nb::object made = out.is_none() ? call.empty({n, n}) : nb::borrow(out);
    const Elements to(call, made, e.field.w, use_of(out), "out");
    to.check_shape(n, n);
    e.run(call.workspace(gfk_matrix_invert_workspace, &e.field, n, &e.desc), gfk_matrix_invert, to.data(), to.stride());
    return e.results(made);
}

nb::object solve(nb::handle a, nb::handle b, const AnyField &any_field, nb::handle out, bool pivots, Integer threads,
                 const std::optional<std::string> &kernel) {
    Call call;
    Elimination e(call, any_field, a, threads, kernel, pivots);
    const size_t n = e.square();
    const Regions from(call, b, n, e.field.w, Use::Read, "b");
    const Output to(call, out, from, n, e.field.w);
    e.run(call.workspace(gfk_matrix_solve_workspace, &e.field, n, from.bytes(), &e.desc), gfk_matrix_solve, from.get(),
          to.regions.get(), from.bytes());
    return e.results(to.object);
}

// The rank, or the pivots.
template <bool with_pivots>
auto find_rank(nb::handle a, const AnyField &any_field, Integer threads, const std::optional<std::string> &kernel) {
    Call call;
    Elimination e(call, any_field, a, threads, kernel, with_pivots);
    e.run(call.workspace(gfk_matrix_rank_workspace, &e.field, e.matrix.rows, e.matrix.cols, &e.desc), gfk_matrix_rank);
    if constexpr (with_pivots)
        return e.pivots;
    else
        return e.result.rank;
}

// ---- batches ------------------------------------------------------------------------------------

// An array of (count, n, n) elements, each matrix without gaps.
struct Matrices {
    Array array;
    size_t step;
    Matrices(Call &call, nb::handle object, unsigned w, Use use, const char *name) : array(call, object, use, name) {
        array.check_elements(w);
        if (array.dimensions() != 3 || array.size(1) != array.size(2))
            raise_value("%s: an array of the shape (count, n, n) is needed", name);
        if (array.size(1) == 0)
            raise(GFK_STATUS_INVALID_ARGUMENT, "%s: a matrix has one row and one column at least; n is 0", name);
        array.check_contiguous(1);
        const size_t elements = array.size(1) * array.size(1);
        step = array.size(0) > 1 ? array.stride() / array.item_bytes() : elements;
        if ((use == Use::Write || call.device() != GFK_CPU) && step < elements)
            raise(GFK_STATUS_OVERLAP, "%s: the matrices overlap one another; pass a copy", name);
    }
    uint8_t *end() const {
        return array.data() + (array.size(0) - 1) * step * array.item_bytes() +
               array.size(1) * array.size(1) * array.item_bytes();
    }
};

// gfk_matrix_invert_batch on the CPU, where the library has no batches: one matrix after the other.
gfk_status invert_each(const Field &field, const Matrices &from, const Matrices &to, gfk_matrix_record *records,
                       const Call::Workspace &workspace, const gfk_matmul_desc &desc) {
    const size_t n = from.array.size(1), bytes = field.w / 8;
    const bool in_place = from.array.data() == to.array.data() && from.step == to.step;
    if (!in_place && from.array.data() < to.end() && to.array.data() < from.end())
        return GFK_STATUS_OVERLAP;
    for (size_t i = 0; i < from.array.size(0); i++) {
        const gfk_matrix a = GFK_MATRIX_DENSE_INIT(from.array.data() + i * from.step * bytes, n, n, n);
        const gfk_status status = gfk_matrix_invert(&field, &a, to.array.data() + i * to.step * bytes, n, &records[i],
                                                    nullptr, &desc, workspace.memory, workspace.bytes, nullptr);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

nb::tuple invert_batch(nb::handle a, AnyField any_field, nb::handle out) {
    const Field field = any_field;
    Call call;
    const Matrices from(call, a, field.w, Use::Read, "a");
    const size_t count = from.array.size(0), n = from.array.size(1);
    nb::object made = out.is_none() ? call.empty({count, n, n}) : nb::borrow(out);
    const Matrices to(call, made, field.w, use_of(out), "out");
    if (to.array.shape() != from.array.shape())
        raise_value("out: the shape is not that of a");
    nb::object records = call.empty({count, 2}, "int32");
    const Array array(call, records, Use::New, "records");
    auto *results = reinterpret_cast<gfk_matrix_record *>(array.data());
    const gfk_matmul_desc desc = desc_of(call, field, n <= 256 ? 1 : 0, {}, false);
    if (call.device() == GFK_CPU) {
        const auto workspace = call.workspace(gfk_matrix_invert_workspace, &field, n, &desc);
        call.run(
            [&] { return count == 0 ? GFK_STATUS_SUCCESS : invert_each(field, from, to, results, workspace, desc); });
    } else {
        call.run(gfk_matrix_invert_batch, &field, n, count, from.array.data(), from.step, to.array.data(), to.step,
                 results, nullptr, &desc, call.stream());
    }
    return nb::make_tuple(made, records[nb::make_tuple(nb::slice(nb::none(), nb::none(), nb::none()), 1)]);
}
} // namespace

void bind_matrix(nb::module_ &module) {
    module.def("_check_matrix", [](nb::handle matrix) { generated(matrix); }, "matrix"_a);
    module.def("_check_memory", check_memory, "object"_a.none(), "name"_a);
    module.def(
        "_matrix_words",
        [](nb::handle matrix, AnyField any_field) {
            const Field field = any_field;
            return nb::make_tuple(words_of_generated(field, matrix), field.w);
        },
        "matrix"_a, "field"_a);
    module.def(
        "matmul", matmul, "a"_a, "b"_a, nb::kw_only(), "field"_a = 8, "out"_a = nb::none(), "accumulate"_a = false,
        "threads"_a = 0, "kernel"_a = nb::none(), "check_pointers"_a = false, "pipeline"_a = nb::none(),
        R"(out = a b, or out ^= a b, for matrices of any size. Nothing of the matrix is kept; gfk.Product is faster where one
small matrix multiplies data often.

a: (rows, cols) integers of w bits, at the place of b; rows may have gaps between them. Or a gfk.Matrix.
b: cols regions of one length: an array of the shape (cols, ...) or a list of arrays, of bytes or integers of w
bits.
out: rows such regions, which overlap nothing else. None: a new array (rows, ...) of b's framework.
field: a Field, or a width of 8, 16 or 32. threads: on the CPU; 0: every core.
check_pointers: checks the memory of every pointer; for debugging.
kernel: the id of a kernel of matmul in gfk.compiled_kernels(), for tests and benchmarks; None: the kernel that is
fastest by estimate.
pipeline: a gfk.Pipeline, for arrays in the CPU's memory; only GPUs that this call supports take part.

A GPU needs compute capability 8.0 or higher, and 9.0 where an nvcc older than 13.3 built the package. The work is
in the order of the framework's current stream. Returns out.
Raises Overlap, InvalidSize, UnknownMethod (no kernel of matmul has this id), InvalidArgument (a kernel of another
width; a kernel, and arrays on the CPU; an array a whose rows overlap each other), NotSupported (the GPU or this
package has no kernel, or not this one), WrongDevice, TypeError (dtype), ValueError (shape), and what
Matrix.to_numpy raises.)");
    module.def("invert", invert, "a"_a, nb::kw_only(), "field"_a = 8, "out"_a = nb::none(), "pivots"_a = false,
               "threads"_a = 0, "kernel"_a = nb::none(),
               R"(The inverse of a square matrix of any size; waits for it.

a: (n, n) integers of w bits; rows may have gaps between them. out: an array of this kind, or a itself (in place).
None: a new array.
threads: on the CPU; 0: every core. kernel: of the products in the elimination, as of gfk.matmul.
Returns out; with pivots=True a tuple of out and the numpy array that gfk.pivots returns.
Raises Singular, whose message has the rank; out is then as it was. Raises Overlap, WrongDevice, UnknownMethod,
InvalidArgument and NotSupported as gfk.matmul, which says what a GPU needs; TypeError (dtype), ValueError (shape).)");
    module.def("solve", solve, "a"_a, "b"_a, nb::kw_only(), "field"_a = 8, "out"_a = nb::none(), "pivots"_a = false,
               "threads"_a = 0, "kernel"_a = nb::none(),
               R"(The regions x with a x = b; waits for them.

a: (n, n) integers of w bits. b, out: n regions as of gfk.matmul; out overlaps nothing else. Otherwise as
gfk.invert.)");
    module.def(
        "rank", find_rank<false>, "a"_a, nb::kw_only(), "field"_a = 8, "threads"_a = 0, "kernel"_a = nb::none(),
        R"(The rank of a matrix (rows, cols) of integers of w bits, an int; waits for it. threads, kernel, and what it raises:
as of gfk.invert.)");
    module.def(
        "pivots", find_rank<true>, "a"_a, nb::kw_only(), "field"_a = 8, "threads"_a = 0, "kernel"_a = nb::none(),
        R"(The pivots of a matrix (rows, cols): a numpy array of `rows` int32. Number r is the column that row r was solved
for, and -1 where row r is a sum of multiples of the rows before it. The others are a largest set of independent
rows. Waits. threads, kernel, and what it raises: as of gfk.invert.)");
    module.def("invert_batch", invert_batch, "a"_a, nb::kw_only(), "field"_a = 8, "out"_a = nb::none(),
               R"(The inverses of many matrices of one size.

a: (count, n, n) integers of w bits, each matrix without gaps. out: such an array, or a itself (in place).
None: a new array.
Returns (out, ranks): ranks is an array of `count` int32 of the same framework and place. The inverse of a matrix
whose rank is below n is not written.

On a GPU one launch, in the order of the framework's current stream, without waiting: n <= 256 for w = 8 and 16, n
<= 128 for w = 32, compute capability 8.0. On the CPU one matrix after the other, of any n.
Raises NotSupported, Overlap, WrongDevice, TypeError (dtype), ValueError (shape).)");
}
} // namespace gfk
