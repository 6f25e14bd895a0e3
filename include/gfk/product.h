/* SPDX-License-Identifier: BSD-3-Clause */
/* The region matrix product: out[j] = sum over i of matrix[j][i] * in[i], over whole regions. */
#ifndef GFK_PRODUCT_H
#define GFK_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gfk/export.h>
#include <gfk/field.h>
#include <gfk/registry.h>
#include <gfk/status.h>
#include <gfk/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- engines -------------------------------------------------------------------------------- */

/* The family of an engine: its way to compute, without width and variant; docs/engines has a page
 * for each. */
typedef enum gfk_engine_family {
    GFK_ENGINE_AUTO = 0,
    GFK_ENGINE_HOST,       /* the reference, in C on all cores of the CPU */
    GFK_ENGINE_ISAL,       /* ISA-L on all cores of the CPU; w = 8, polynomial 0x11d */
    GFK_ENGINE_PEROP,      /* one fused kernel over the operation of any method */
    GFK_ENGINE_PRMT,       /* sixteen-entry tables in the constant bank, looked up by PRMT */
    GFK_ENGINE_BMMA,       /* binary tensor cores */
    GFK_ENGINE_GFCOMPLETE, /* GF-Complete on all cores of the CPU; fields that it takes */
    GFK_ENGINE_CLMAD       /* the carry-less multiply-add of GPUs since compute capability 8.0 */
} gfk_engine_family;

/* Labels of an engine, a set of bits. */
#define GFK_ENGINE_ADDS_EQUAL_COLUMNS 2u /* adds inputs with equal columns, then multiplies */

/* One row of the list of engines. Rows are constant, and exist in every build. */
typedef struct gfk_engine_info {
    const char *id; /* <family>_w<W>, or <family>_<method>_w<W>; a variant may follow */
    gfk_engine_family family;
    unsigned w;
    gfk_method method; /* the method of perop engines; else GFK_METHOD_AUTO */
    unsigned labels;
    unsigned cc_min, cc_max; /* compute capabilities, 10 * major + minor; 0: no bound */
    size_t tile_bytes;       /* bytes of every region that one block takes in one step */
} gfk_engine_info;

/* gfk_engine_count, gfk_engine_at, gfk_engine_find: the list of engines; NULL beyond its end, or
 * if no engine has this id. */
GFK_API size_t gfk_engine_count(void);
GFK_API const gfk_engine_info *gfk_engine_at(size_t index);
GFK_API const gfk_engine_info *gfk_engine_find(const char *id);

/* gfk_engine_available: can this engine run here?
 *
 * device  GFK_CURRENT_DEVICE or a device's number for engines on a device; engines on the CPU take
 *         these and GFK_CPU. Engines on the CPU are asked about the default field and the build's
 *         libraries
 * reason  if not NULL, receives a static sentence when the answer is no, and NULL when it is yes
 *
 * Returns SUCCESS; INVALID_ARGUMENT (info is not of this list, a number that stands for no place,
 * GFK_CPU for an engine on a device); NOT_SUPPORTED; NO_DEVICE; CUDA. */
GFK_API gfk_status gfk_engine_available(const gfk_engine_info *info, int device,
                                        const char **reason);

/* gfk_engine_family_name: "host", "isal", "perop", ...; "auto" for 0; never NULL.
 * gfk_engine_family_on_cpu: do the family's engines run on the CPU? */
GFK_API const char *gfk_engine_family_name(gfk_engine_family family);
GFK_API bool gfk_engine_family_on_cpu(gfk_engine_family family);

/* ---- products ------------------------------------------------------------------------------- */

/* An immutable object: a matrix, an engine, a device, and what the engine derived from the matrix.
 * Any number of threads may run one at the same time, on any streams. */
typedef struct gfk_product *gfk_product_t;

/* Which engine to use. Start from GFK_PRODUCT_DESC_INIT. */
typedef struct gfk_product_desc {
    size_t size;              /* sizeof(gfk_product_desc), so that the struct can grow */
    const char *engine;       /* an engine's id, or a kernel's: then every run uses that kernel
                                 alone. NULL: the fastest measured engine for this shape */
    gfk_engine_family family; /* AUTO, or only engines of this family */
    gfk_method method;        /* AUTO, or only perop engines of this method */
    int device;           /* GFK_CURRENT_DEVICE, GFK_CPU or a device's number: see gfk/types.h */
    size_t bytes;         /* the length of the regions to come, for the choice; 0: long */
    uint64_t table_limit; /* bytes allowed for table_bytes; 0: GFK_DEFAULT_TABLE_LIMIT */
    /* Absolute paths of the shared libraries of the engines ISAL and GFCOMPLETE; NULL: those that
     * the build found, if any. They are loaded by path and used by handle: the program may hold
     * other libraries with the same names. Nothing is searched anywhere else. A library that is
     * named and cannot be loaded is an error if its engine is among those that match the other
     * fields: no other engine takes its place. */
    const char *isal_library, *gfcomplete_library;
    bool check_pointers; /* for debugging: calls check the memory of every pointer; see
                                 gfk/types.h. For codes too, batches included */
} gfk_product_desc;

#define GFK_PRODUCT_DESC_INIT                                                                      \
    {sizeof(gfk_product_desc),                                                                     \
     GFK_NULL,                                                                                     \
     GFK_ENGINE_AUTO,                                                                              \
     GFK_METHOD_AUTO,                                                                              \
     GFK_CURRENT_DEVICE,                                                                           \
     0,                                                                                            \
     0,                                                                                            \
     GFK_NULL,                                                                                     \
     GFK_NULL,                                                                                     \
     false}

/* The properties of a product, after its engine has been chosen. */
typedef struct gfk_product_info {
    const gfk_engine_info *engine;
    gfk_field field;
    size_t rows, cols;
    int device;           /* GFK_CPU for engines on the CPU, else the device's number */
    uint64_t table_bytes; /* device or host memory of the engine's tables; the copy of the
                             matrix, 4 bytes an element, and what another library allocates
                             are not among them */
    /* The kernel for long regions at one phase: the engine's choice, or the kernel that the
     * descriptor names. Where outputs run on several kernels, the first outputs' one. NULL: the
     * engine lists no kernels. */
    const gfk_compiled_kernel_info *kernel;
    uint64_t reserved[3]; /* 0 */
} gfk_product_info;

/* Several regions of the same length: an array of addresses, or equally spaced ones. How many
 * regions there are, and their length in bytes, are arguments of the call or follow from the
 * object; a call touches only that many bytes of each region. The array is in host memory and is
 * read during the call only. Regions that a call only reads may be const: gfk_inputs and
 * gfk_inputs_spaced. */
typedef struct gfk_regions {
    void *const *pointers; /* one address per region; NULL: region i is at base + i * stride */
    void *base;
    size_t stride; /* bytes from the beginning of a region to that of the next one, at least the
                      length of a region; not used with pointers */
} gfk_regions;

/* gfk_inputs, gfk_inputs_spaced: const regions, for calls that only read them. A call that writes
 * regions, such as the parity of gfk_rs_encode, must not get them from here. */
static inline gfk_regions gfk_inputs(const void *const *pointers) {
    const gfk_regions regions = {(void *const *)(uintptr_t)pointers, GFK_NULL, 0};
    return regions;
}
static inline gfk_regions gfk_inputs_spaced(const void *base, size_t stride) {
    const gfk_regions regions = {GFK_NULL, (void *)(uintptr_t)base, stride};
    return regions;
}

/* gfk_product_query: which engine would gfk_product_create take? No table is allocated, but
 * libraries of engines on the CPU are loaded; table_bytes is what create would allocate, and
 * table_limit does not refuse here. Statuses as gfk_product_create. */
GFK_API gfk_status gfk_product_query(const gfk_field *field, size_t rows, size_t cols,
                                     const gfk_product_desc *desc, gfk_product_info *info);

/* gfk_product_create: makes a product.
 *
 * rows    outputs, 1 or more
 * cols    inputs, 1 or more
 * matrix  rows * cols elements of the field, row by row; copied
 * desc    NULL means GFK_PRODUCT_DESC_INIT
 *
 * May allocate, upload, launch and synchronize; not capturable. The calling thread's current device
 * is left as it was.
 *
 * The choice: engines that match every field set in desc, on the CPU for GFK_CPU, else on the
 * device; of those the first, in the order of measured speed for this width, shape and length,
 * that can run here within table_limit. An engine or a kernel named by its id is never replaced.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, zero rows or columns, a field that gfk_field_init did
 * not make, an enumerator, size or device number out of range, an engine that contradicts desc, an
 * engine, family or method of a device with GFK_CPU, a library's path that is not absolute);
 * INVALID_CONSTANT (an element outside the field); INVALID_SIZE (rows * cols overflows);
 * UNKNOWN_METHOD (no such engine or kernel); NO_DEVICE (there is no such device); NOT_SUPPORTED
 * (engines match, but none can run here; the kernel named does not take this shape; a library that
 * desc names cannot be loaded or lacks functions; an engine or family of a device was named in a
 * build without CUDA); TABLE_LIMIT (no engine that matches and can run here stays within
 * table_limit); OUT_OF_MEMORY; CUDA. On an error *product is unchanged. Any thread. */
GFK_API gfk_status gfk_product_create(gfk_product_t *product, const gfk_field *field, size_t rows,
                                      size_t cols, const uint32_t *matrix,
                                      const gfk_product_desc *desc);

/* gfk_product_get_info: describes the product. INVALID_ARGUMENT for NULL. Any thread. */
GFK_API gfk_status gfk_product_get_info(gfk_product_t product, gfk_product_info *info);

/* gfk_product_run: out[j] = sum of matrix[j][i] * in[i] (GFK_SET), or that XORed into out[j].
 *
 * memory     Host memory for engines on the CPU; memory that the product's device can access for
 *            the others. Checked only with gfk_product_desc.check_pointers.
 * in, out    cols and rows regions of `bytes` bytes each; in is only read
 * alignment  Any, each region its own. The fast path is for regions that all begin at the same
 *            phase modulo 16 bytes, at multiples of the symbol's size.
 * length     Any number of bytes that is a multiple of w/8, above 4 GiB too. Zero is success.
 * aliasing   Inputs may overlap each other. An output that overlaps an input or another output is
 *            refused, in place too.
 * access     Only the regions are touched; out is read in GFK_XOR mode only.
 * streams    Engines on a device work on `stream`, in its order, and return at once. Engines on the
 *            CPU want NULL and have finished when they return. Inputs that are not in the device's
 *            own memory (pinned, managed, of another device): from the call, or from the launch of
 *            its graph, until the work has finished, only work in front on the stream may write to
 *            them.
 * hot path   No allocation, no synchronization, no global state; capturable. CUDA
 *            loads a kernel's code at its first launch, so run once before capturing or timing.
 *
 * Returns SUCCESS; INVALID_ARGUMENT (NULL, an unknown mode, a stride below bytes); INVALID_SIZE;
 * OVERLAP; STREAM_ON_HOST; WRONG_DEVICE; NOT_SUPPORTED (the descriptor named a kernel that does not
 * take regions of this alignment, length or distance); CUDA; INTERNAL. On all but the last two
 * nothing has been written. Any thread. */
GFK_API gfk_status gfk_product_run(gfk_product_t product, const gfk_regions *in,
                                   const gfk_regions *out, size_t bytes, gfk_accumulate mode,
                                   gfk_stream_t stream);

/* gfk_product_destroy: frees what the product holds. NULL is allowed. The caller sees to it that no
 * run, and no graph that will be launched again, is still pending. */
GFK_API void gfk_product_destroy(gfk_product_t product);

#ifdef __cplusplus
}
#endif
#endif
