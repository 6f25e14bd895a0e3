/* SPDX-License-Identifier: BSD-3-Clause */
/* One fused kernel over the operation of any method: a thread takes some bytes of every region,
 * reads each input once, multiplies it by the coefficients of a panel of up to four outputs, and
 * writes these. More outputs are further panels of the same launch. */
#pragma once

#include <stdlib.h>

#include "host/base/poly.h"
#include "host/device/device.h"
#include "kernels/common/regions.cuh"
#include "vector_of.cuh"

namespace gfk {

constexpr unsigned PEROP_THREADS = 256, PEROP_OUTPUTS = 4;
constexpr unsigned PEROP_SHARED_WORDS = default_shared / 4;

/* The operations share this struct. An op derives from this struct, hides what is different, and
 * has
 *
 *   __device__ Op(const Params &, const uint32_t *field)
 *   __device__ void add(const uint32_t *coefficients, unsigned outputs, const uint32_t (&x)[n],
 *                       uint32_t (&sum)[PEROP_OUTPUTS][sums]) const
 *
 * where add is sum[j] += coefficient j * x for all outputs. */
template <int W, int Bytes = 16>
struct PeropOp {
    static constexpr int w = W;
    static constexpr int bytes = Bytes;       /* that a thread takes of a region */
    static constexpr int n = (Bytes + 3) / 4; /* words that hold these bytes */
    static constexpr int sums = n;            /* words that hold the sum of an output */
    static constexpr int words = 1;           /* words of a coefficient's data */
    static constexpr int field_words = 0;     /* words of the field's tables */
    /* For updates, which wait for memory: inputs with equal columns are added before they are
     * multiplied, sums begin with outputs that are read, and the registers allow five blocks per
     * multiprocessor. `result` changes nothing. */
    static constexpr bool updates = false;
    static constexpr bool staged = true;        /* coefficients' data go to shared memory */
    static constexpr bool field_staged = false; /* the field's tables go there, too */
    static constexpr bool fallback = false;     /* AUTO takes the engine: it has a kernel for few
                                                   addresses, whose launch takes less time */
    struct Params {};                           /* by value, in the constant bank */

    static Params params(const gfk_field *) { return {}; }
    static void fill_field(const gfk_field *, uint32_t *) {}
    static void fill(const gfk_field *, const uint32_t *, uint32_t c, uint32_t *word) { *word = c; }
    /* An output's words, from their sum. */
    __device__ static void result(const uint32_t (&sum)[n], uint32_t (&y)[n]) {
#pragma unroll
        for (int i = 0; i < n; i++)
            y[i] = sum[i];
    }
};

/* The regions of one launch. Equally spaced ones need no array, so the short array serves most
 * calls: a launch copies its parameters, and 16 KiB of them take microseconds. */
template <int POINTERS>
struct Addresses {
    const uint8_t *in_base;
    uint8_t *out_base;
    size_t in_stride, out_stride; /* 0: in the array, inputs first */
    unsigned in_pointers;
    uint8_t *pointer[POINTERS];

    __device__ const uint8_t *in(unsigned i) const {
        return in_stride ? in_base + i * in_stride : pointer[i];
    }
    __device__ uint8_t *out(unsigned j) const {
        return out_stride ? out_base + j * out_stride : pointer[in_pointers + j];
    }
};

/* Inputs and outputs of one launch, if their addresses are in an array, and the longest array. */
constexpr size_t PEROP_INPUTS = 1024, PEROP_ROWS = 64, PEROP_STRIDED = (size_t)1 << 20;
constexpr int PEROP_FEW = 32, PEROP_MANY = PEROP_INPUTS + PEROP_ROWS;

/* Coefficients lie panel by panel (the last one may have fewer than four outputs); in a panel input
 * by input, and for each input output by output. */
template <class Op, int POINTERS>
struct PeropParams {
    Vectors vectors;
    uint64_t count, tiles;                /* vectors of Op::bytes; what a block takes of them */
    const uint32_t *field, *coefficients; /* of the launch's first panel */
    unsigned rows, cols;                  /* of this launch */
    size_t first_col, all_cols;
    unsigned panels;
    unsigned addends;     /* neighbouring regions whose sum is an input */
    unsigned pass_inputs; /* inputs of a pass: their coefficients are in shared memory together */
    Epilogue epilogue;
    typename Op::Params op;
    Addresses<POINTERS> regions;
};

__device__ inline void copy_words(uint32_t *to, const uint32_t *from, unsigned words) {
    for (unsigned i = threadIdx.x; i < words; i += PEROP_THREADS)
        to[i] = from[i];
}

/* Loads input i: a region, or the sum of some regions. */
template <class Op, class V, class P, int N>
__device__ inline void load_input(const P &p, unsigned i, uint64_t vector, uint32_t (&x)[N]) {
    V::load(p.regions.in(Op::updates ? i * p.addends : i), p.vectors, vector, x);
    for (unsigned k = 1; Op::updates && k < p.addends; k++) {
        uint32_t y[N];
        V::load(p.regions.in(i * p.addends + k), p.vectors, vector, y);
#pragma unroll
        for (int n = 0; n < N; n++)
            x[n] ^= y[n];
    }
}

/* Adds the products of inputs first to end - 1; the next input travels while one is multiplied. */
template <class Op, class V, class P>
__device__ inline void add_inputs(const P &p, const Op &op, const uint32_t *coefficients,
                                  unsigned outputs, unsigned first, unsigned end, uint64_t vector,
                                  uint32_t (&sum)[PEROP_OUTPUTS][Op::sums]) {
    uint32_t next[Op::n];
    load_input<Op, V>(p, first, vector, next);
    for (unsigned i = first; i < end; i++) {
        uint32_t x[Op::n];
#pragma unroll
        for (int n = 0; n < Op::n; n++)
            x[n] = next[n];
        if (i + 1 < end)
            load_input<Op, V>(p, i + 1, vector, next);
        op.add(coefficients, outputs, x, sum);
        coefficients += outputs * Op::words;
    }
}

/* Neighbouring blocks take the panels of one tile, so that the inputs of all but the first come
 * from the L2 cache. */
template <class Op, int POINTERS>
__global__ void __launch_bounds__(PEROP_THREADS, Op::updates ? 5 : 0)
    perop(const __grid_constant__ PeropParams<Op, POINTERS> p) {
    using V = VectorOf<Op::bytes>;
    extern __shared__ uint4 perop_shared[];
    uint32_t *const shared = (uint32_t *)perop_shared;
    const unsigned panel = blockIdx.x % p.panels, panel_blocks = gridDim.x / p.panels;
    const unsigned outputs = min(PEROP_OUTPUTS, p.rows - PEROP_OUTPUTS * panel);
    const uint32_t *const coefficients =
        p.coefficients +
        Op::words * (PEROP_OUTPUTS * panel * (uint64_t)p.all_cols + outputs * p.first_col);
    uint32_t *const staged = shared + (Op::field_staged ? Op::field_words : 0);
    if (Op::field_staged)
        copy_words(shared, p.field, Op::field_words);
    const Op op(p.op, Op::field_staged ? shared : p.field);
    bool filled = false;
    for (uint64_t tile = blockIdx.x / p.panels; tile < p.tiles; tile += panel_blocks) {
        const uint64_t vector = tile * PEROP_THREADS + threadIdx.x;
        const bool mine = vector < p.count;
        uint32_t sum[PEROP_OUTPUTS][Op::sums] = {};
        if constexpr (Op::updates) {
#pragma unroll
            for (unsigned j = 0; j < PEROP_OUTPUTS; j++)
                if (p.epilogue.reads() && mine && j < outputs)
                    V::load(p.regions.out(PEROP_OUTPUTS * panel + j), p.vectors, vector, sum[j]);
        }
        for (unsigned first = 0; first < p.cols; first += p.pass_inputs) {
            const unsigned end = min(first + p.pass_inputs, p.cols);
            const uint32_t *c = coefficients + (uint64_t)first * outputs * Op::words;
            if (Op::staged) {
                if (!filled || p.pass_inputs < p.cols) {
                    __syncthreads(); /* no thread needs the pass before any more */
                    copy_words(staged, c, (end - first) * outputs * Op::words);
                    __syncthreads();
                    filled = true;
                }
                c = staged;
            }
            if (mine)
                add_inputs<Op, V>(p, op, c, outputs, first, end, vector, sum);
        }
#pragma unroll
        for (unsigned j = 0; j < PEROP_OUTPUTS; j++) {
            if (mine && j < outputs) {
                uint32_t y[Op::n];
                op.result(sum[j], y);
                V::store(p.regions.out(PEROP_OUTPUTS * panel + j), p.vectors, vector, p.epilogue, y,
                         Op::updates);
            }
        }
    }
}

/* ---- the host's side ------------------------------------------------------------------------ */

/* basis[i] = c * 2^i; any product with c is an XOR of some of these. */
inline void fill_basis(const gfk_field *field, uint32_t c, uint32_t (&basis)[32]) {
    for (unsigned i = 0; i < field->w; i++) {
        basis[i] = c;
        c = gfk_poly_double(c, field->w, field->polynomial);
    }
}

/* entry[v], for v below 2^bits, is the XOR of basis[b] over the set bits b of v. */
template <class Entry>
void fill_entries(Entry *entry, const uint32_t *basis, unsigned bits) {
    entry[0] = 0;
    for (uint32_t v = 1; v < UINT32_C(1) << bits; v++) {
        unsigned lowest = 0;
        while (!(v >> lowest & 1))
            lowest++;
        entry[v] = (Entry)(entry[v & (v - 1)] ^ basis[lowest]);
    }
}

/* Derives the coefficients' data in pieces, so that a staging buffer of about a MiB is enough. */
template <class Op>
gfk_status upload_coefficients(gfk_product_t product, const uint32_t *field_tables, uint32_t *piece,
                               size_t most) {
    const gfk_product_info *info = &product->info;
    uint32_t *to = (uint32_t *)product->tables + Op::field_words;
    size_t held = 0;
    for (size_t first = 0; first < info->rows; first += PEROP_OUTPUTS) {
        const size_t outputs =
            info->rows - first < PEROP_OUTPUTS ? info->rows - first : (size_t)PEROP_OUTPUTS;
        for (size_t k = 0; k < outputs * info->cols; k++) {
            const uint32_t c = product->matrix[(first + k % outputs) * info->cols + k / outputs];
            Op::fill(&info->field, field_tables, c, piece + Op::words * held++);
            const bool last = first + outputs == info->rows && k + 1 == outputs * info->cols;
            if (held < most && !last)
                continue;
            const gfk_status status = gfk_device_upload(to, piece, 4 * Op::words * held);
            if (status != GFK_STATUS_SUCCESS)
                return status;
            to += Op::words * held;
            held = 0;
        }
    }
    return GFK_STATUS_SUCCESS;
}

/* Are all columns equal, as in an update? Then the inputs are added first. */
inline bool columns_equal(gfk_product_t product) {
    const gfk_product_info *info = &product->info;
    for (size_t i = 0; i < info->rows * info->cols; i++)
        if (product->matrix[i] != product->matrix[i - i % info->cols])
            return false;
    return true;
}

template <class Op>
struct PeropState {
    typename Op::Params params;
    bool columns_equal;
};

template <class Op>
gfk_status perop_create(gfk_product_t product) {
    const gfk_field *field = &product->info.field;
    PeropState<Op> *kept = (PeropState<Op> *)malloc(sizeof *kept);
    product->state = kept;
    const size_t most = Op::words < (1 << 18) ? (1 << 18) / Op::words : 1;
    uint32_t *field_tables = (uint32_t *)malloc(4 * (Op::field_words + Op::words * most));
    if (kept == NULL || field_tables == NULL) {
        free(field_tables);
        return GFK_STATUS_OUT_OF_MEMORY;
    }
    *kept = {Op::params(field), Op::updates && columns_equal(product)};
    gfk_status status = GFK_STATUS_SUCCESS;
    if (Op::field_words != 0) {
        Op::fill_field(field, field_tables);
        status = gfk_device_upload(product->tables, field_tables, 4 * Op::field_words);
    }
    if (status == GFK_STATUS_SUCCESS)
        status =
            upload_coefficients<Op>(product, field_tables, field_tables + Op::field_words, most);
    free(field_tables);
    return status;
}

inline void perop_destroy(gfk_product_t product) {
    free(product->state);
}

/* The part of the matrix that one launch takes: outputs [row, row + rows), inputs [col, col +
 * cols). */
struct Submatrix {
    size_t row, rows, col, cols;
};

template <class Op, int POINTERS>
gfk_status launch_kernel(const gfk_product_call *call, const Vectors &vectors,
                         const Submatrix &part) {
    const gfk_product_t product = call->product;
    const uint32_t *tables = (const uint32_t *)product->tables;
    const PeropState<Op> &state = *(const PeropState<Op> *)product->state;
    PeropParams<Op, POINTERS> p;
    p.vectors = vectors;
    p.count = VectorOf<Op::bytes>::count(vectors);
    p.tiles = gfk_divide_up(p.count, PEROP_THREADS);
    p.field = tables;
    p.coefficients = tables + Op::field_words + Op::words * part.row * product->info.cols;
    p.rows = (unsigned)part.rows;
    p.addends = state.columns_equal ? (unsigned)part.cols : 1;
    p.cols = (unsigned)part.cols / p.addends;
    p.first_col = part.col;
    p.all_cols = product->info.cols;
    p.panels = (unsigned)gfk_divide_up(p.rows, PEROP_OUTPUTS);
    p.epilogue = epilogue_of(call);
    p.epilogue.accumulate |= part.col != 0;
    p.op = state.params;

    auto &regions = p.regions;
    regions.in_stride = call->in->pointers ? 0 : call->in->stride;
    regions.out_stride = call->out->pointers ? 0 : call->out->stride;
    regions.in_base = gfk_region_address(call->in, part.col);
    regions.out_base = gfk_region_address(call->out, part.row);
    regions.in_pointers = regions.in_stride ? 0 : (unsigned)part.cols;
    list_regions(regions.pointer, call->in, part.col, regions.in_pointers);
    if (!regions.out_stride)
        list_regions(regions.pointer + regions.in_pointers, call->out, part.row, p.rows);

    const unsigned outputs = p.rows < PEROP_OUTPUTS ? p.rows : PEROP_OUTPUTS;
    const unsigned field_words = Op::field_staged ? Op::field_words : 0;
    const unsigned most = (PEROP_SHARED_WORDS - field_words) / (outputs * Op::words);
    p.pass_inputs = !Op::staged || p.cols < most ? p.cols : most;
    const size_t shared =
        4 * (field_words + (Op::staged ? p.pass_inputs * outputs * Op::words : 0));
    /* Enough blocks that the last ones do not matter, each with several tiles for one filling of
     * its shared memory. */
    const uint64_t enough = 64 * (uint64_t)product->processors / p.panels + 1;
    const uint64_t panel_blocks = p.tiles < enough ? p.tiles : enough;
    return launch(perop<Op, POINTERS>, panel_blocks * p.panels, PEROP_THREADS, shared, call->stream,
                  p);
}

/* A compiled kernel on the host: what the symbol of a row points to. */
struct PeropKernel {
    size_t pointers; /* that a launch's parameters hold */
    gfk_status (*start)(const gfk_product_call *call, const Vectors &vectors,
                        const Submatrix &part);
};
template <class Op, int POINTERS>
constexpr PeropKernel perop_kernel = {POINTERS, launch_kernel<Op, POINTERS>};

/* Finds the smallest kernel of an Op whose launch holds the pointers. An engine of another build
 * has no rows to name a kernel. */
template <class Op>
const PeropKernel *find_kernel(size_t pointers) {
    if constexpr (Op::fallback)
        if (pointers <= PEROP_FEW)
            return &perop_kernel<Op, PEROP_FEW>;
    return &perop_kernel<Op, PEROP_MANY>;
}

template <class Op>
gfk_status perop_accepts(gfk_product_info *info) {
    const uint64_t count = (uint64_t)info->rows * info->cols, most = UINT64_MAX / 8 / Op::words;
    info->table_bytes = count < most ? 4 * (Op::field_words + Op::words * count) : UINT64_MAX;
    size_t kernels;
    const gfk_kernel_row *rows = gfk_rows_of(info->engine->id, &kernels);
    const PeropKernel *kernel = find_kernel<Op>(info->rows + info->cols); /* addresses */
    for (size_t i = 0; i < kernels && info->kernel == NULL; i++)
        if (*rows[i].symbol == kernel)
            info->kernel = &rows[i].info;
    return GFK_STATUS_SUCCESS;
}

/* One launch, unless there are more addresses than its parameters hold. */
template <class Op>
gfk_status perop_run(const gfk_product_call *call) {
    const gfk_product_info *info = &call->product->info;
    if (info->engine->tile_bytes != PEROP_THREADS * Op::bytes || info->engine->w != Op::w ||
        (!Op::updates && info->engine->labels & GFK_ENGINE_ADDS_EQUAL_COLUMNS))
        return GFK_STATUS_INTERNAL; /* engines.def and this Op disagree */
    const Vectors vectors = vectors_of(call);
    const gfk_compiled_kernel_info *const named = call->product->named;
    const size_t most_rows = call->out->pointers ? PEROP_ROWS : PEROP_STRIDED;
    const size_t most_cols = call->in->pointers ? PEROP_INPUTS : PEROP_STRIDED;
    if (call->mismatch_map && info->cols > most_cols)
        return GFK_STATUS_NOT_SUPPORTED;
    for (size_t row = 0; row < info->rows; row += most_rows)
        for (size_t col = 0; col < info->cols; col += most_cols) {
            const Submatrix part = {
                row, info->rows - row < most_rows ? info->rows - row : most_rows, col,
                info->cols - col < most_cols ? info->cols - col : most_cols};
            const size_t pointers =
                (call->in->pointers ? part.cols : 0) + (call->out->pointers ? part.rows : 0);
            const PeropKernel *kernel =
                named != NULL ? &symbol_of<PeropKernel>(named) : find_kernel<Op>(pointers);
            if (kernel->pointers < pointers)
                return GFK_STATUS_NOT_SUPPORTED;
            const gfk_status status = kernel->start(call, vectors, part);
            if (status != GFK_STATUS_SUCCESS)
                return status;
        }
    return GFK_STATUS_SUCCESS;
}

} // namespace gfk

/* The functions that engines.def expects of engine perop_<id>, and the symbol of its row. */
#define GFK_PEROP_ENGINE(id, ...)                                                                  \
    namespace gfk {                                                                                \
    GFK_KERNEL_SYMBOL(perop_##id, any, (&perop_kernel<__VA_ARGS__, PEROP_MANY>))                   \
    }                                                                                              \
    GFK_PEROP_FUNCTIONS(id, __VA_ARGS__)

/* The same of an engine that AUTO takes. */
#define GFK_PEROP_FALLBACK(id, ...)                                                                \
    namespace gfk {                                                                                \
    GFK_KERNEL_SYMBOL(perop_##id, few, (&perop_kernel<__VA_ARGS__, PEROP_FEW>))                    \
    GFK_KERNEL_SYMBOL(perop_##id, many, (&perop_kernel<__VA_ARGS__, PEROP_MANY>))                  \
    }                                                                                              \
    GFK_PEROP_FUNCTIONS(id, __VA_ARGS__)

#define GFK_PEROP_FUNCTIONS(id, ...)                                                               \
    extern "C" gfk_status gfk_perop_##id##_accepts(gfk_product_info *info, const char **) {        \
        return gfk::perop_accepts<__VA_ARGS__>(info);                                              \
    }                                                                                              \
    extern "C" gfk_status gfk_perop_##id##_create(gfk_product_t product,                           \
                                                  const gfk_product_desc *) {                      \
        return gfk::perop_create<__VA_ARGS__>(product);                                            \
    }                                                                                              \
    extern "C" void gfk_perop_##id##_destroy(gfk_product_t product) {                              \
        gfk::perop_destroy(product);                                                               \
    }                                                                                              \
    extern "C" gfk_status gfk_perop_##id##_run(const gfk_product_call *call) {                     \
        return gfk::perop_run<__VA_ARGS__>(call);                                                  \
    }
