// SPDX-License-Identifier: BSD-3-Clause
// Calls of gfk/matmul.h and gfk/matrix.h that are wrong on purpose. expect_caught.sh loads this
// library in front of libgfk: each call here makes the right results, then changes what GFK_FAULT
// names. Compiled as C++ where there is no CUDA.
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include <gfk/gfk.h>

namespace {

#ifdef __CUDACC__
__global__ void flip_on_device(unsigned char *byte) {
    *byte ^= 1;
}

__global__ void swap_on_device(unsigned *a, unsigned *b) {
    const unsigned x = *a;
    *a = *b;
    *b = x;
}
#define LAUNCH(kernel, stream, ...) kernel<<<1, 1, 0, stream>>>(__VA_ARGS__)
#else
#define LAUNCH(kernel, stream, ...) abort() // no call for a device succeeds
#endif

bool is_wrong(const char *what, gfk_status status) {
    const char *fault = std::getenv("GFK_FAULT");
    return status == GFK_STATUS_SUCCESS && fault != nullptr && std::strcmp(fault, what) == 0;
}

// Where a call works.
struct Place {
    bool host;
    gfk_stream_t stream;
    Place(const gfk_matmul_desc *desc, gfk_stream_t s)
        : host(desc != nullptr && desc->device == GFK_CPU), stream(s) {}

    void flip(void *memory, size_t byte = 0) const {
        unsigned char *const at = static_cast<unsigned char *>(memory) + byte;
        if (host)
            *at ^= 1;
        else
            LAUNCH(flip_on_device, stream, at);
    }
    void swap(uint32_t *a, uint32_t *b) const {
        if (!host) {
            LAUNCH(swap_on_device, stream, a, b);
            return;
        }
        const uint32_t x = *a;
        *a = *b;
        *b = x;
    }
    // The last symbol of the last region.
    void flip(const gfk_regions *regions, size_t count, size_t bytes, unsigned w) const {
        if (bytes == 0)
            return;
        void *const last = regions->pointers
                               ? regions->pointers[count - 1]
                               : static_cast<char *>(regions->base) + (count - 1) * regions->stride;
        flip(last, bytes - w / 8);
    }
    // The rank, or the first pivot in place of the last one.
    void spoil(gfk_status status, gfk_matrix_record *record, uint32_t *pivots, size_t rows) const {
        if (is_wrong("rank", status))
            flip(&record->rank);
        if (is_wrong("pivots", status) && pivots != nullptr)
            swap(pivots, pivots + rows - 1);
    }
};

} // namespace

// The call of this name in libgfk.
#define RIGHT(name) reinterpret_cast<decltype(&(name))>(dlsym(RTLD_NEXT, #name))

extern "C" {

gfk_status gfk_matmul(const gfk_field *field, const gfk_matrix *a, const gfk_regions *b,
                      const gfk_regions *c, size_t bytes, gfk_accumulate mode,
                      const gfk_matmul_desc *desc, void *workspace, size_t workspace_bytes,
                      gfk_stream_t stream) {
    const gfk_status status =
        RIGHT(gfk_matmul)(field, a, b, c, bytes, mode, desc, workspace, workspace_bytes, stream);
    if (is_wrong("product", status))
        Place(desc, stream).flip(c, a->rows, bytes, field->w);
    return status;
}

gfk_status gfk_matmul_host(gfk_pipeline_t pipeline, const gfk_field *field, const gfk_matrix *a,
                           const gfk_regions *b, const gfk_regions *c, size_t bytes,
                           gfk_accumulate mode, gfk_pipeline_report *report) {
    const gfk_status status = RIGHT(gfk_matmul_host)(pipeline, field, a, b, c, bytes, mode, report);
    gfk_matmul_desc host = GFK_MATMUL_DESC_INIT;
    host.device = GFK_CPU;
    if (is_wrong("product", status))
        Place(&host, nullptr).flip(c, a->rows, bytes, field->w);
    return status;
}

gfk_status gfk_matrix_invert(const gfk_field *field, const gfk_matrix *a, void *inverse,
                             size_t stride, gfk_matrix_record *record, uint32_t *pivots,
                             const gfk_matmul_desc *desc, void *workspace, size_t workspace_bytes,
                             gfk_stream_t stream) {
    const gfk_status status = RIGHT(gfk_matrix_invert)(field, a, inverse, stride, record, pivots,
                                                       desc, workspace, workspace_bytes, stream);
    const Place place(desc, stream);
    if (is_wrong("element", status))
        place.flip(inverse, ((a->rows - 1) * (stride + 1)) * field->w / 8);
    place.spoil(status, record, pivots, a->rows);
    return status;
}

gfk_status gfk_matrix_solve(const gfk_field *field, const gfk_matrix *a, const gfk_regions *b,
                            const gfk_regions *x, size_t bytes, gfk_matrix_record *record,
                            uint32_t *pivots, const gfk_matmul_desc *desc, void *workspace,
                            size_t workspace_bytes, gfk_stream_t stream) {
    const gfk_status status = RIGHT(gfk_matrix_solve)(field, a, b, x, bytes, record, pivots, desc,
                                                      workspace, workspace_bytes, stream);
    const Place place(desc, stream);
    if (is_wrong("element", status))
        place.flip(x, a->rows, bytes, field->w);
    place.spoil(status, record, pivots, a->rows);
    return status;
}

gfk_status gfk_matrix_rank(const gfk_field *field, const gfk_matrix *a, gfk_matrix_record *record,
                           uint32_t *pivots, const gfk_matmul_desc *desc, void *workspace,
                           size_t workspace_bytes, gfk_stream_t stream) {
    const gfk_status status =
        RIGHT(gfk_matrix_rank)(field, a, record, pivots, desc, workspace, workspace_bytes, stream);
    Place(desc, stream).spoil(status, record, pivots, a->rows);
    return status;
}

gfk_status gfk_matrix_invert_batch(const gfk_field *field, size_t n, size_t count, const void *a,
                                   size_t a_step, void *inverses, size_t inverse_step,
                                   gfk_matrix_record *records, uint32_t *pivots,
                                   const gfk_matmul_desc *desc, gfk_stream_t stream) {
    const gfk_status status = RIGHT(gfk_matrix_invert_batch)(
        field, n, count, a, a_step, inverses, inverse_step, records, pivots, desc, stream);
    if (count == 0)
        return status;
    const Place place(desc, stream);
    if (is_wrong("element", status)) // of the last matrix
        place.flip(inverses, ((count - 1) * inverse_step + n * n - 1) * field->w / 8);
    place.spoil(status, records + count - 1, pivots ? pivots + (count - 1) * n : nullptr, n);
    return status;
}

} // extern "C"
