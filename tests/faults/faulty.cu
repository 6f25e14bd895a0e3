// SPDX-License-Identifier: BSD-3-Clause
// The right products, then one wrong bit in the last symbol (of the last output).
#include "host/product/engine.h"
#include "host/region/kernel.h"
#include "kernels/common/launch.cuh"

extern "C" {
gfk_run_fn gfk_shift_w8_naive, gfk_shift_w16_naive, gfk_shift_w32_naive;
gfk_run_fn gfk_carry_free_w8_naive, gfk_carry_free_w16_naive, gfk_carry_free_w32_naive;
gfk_engine_accepts_fn gfk_perop_split_w8_accepts, gfk_perop_split_w16_accepts,
    gfk_perop_split_w32_accepts;
gfk_engine_create_fn gfk_perop_split_w8_create, gfk_perop_split_w16_create,
    gfk_perop_split_w32_create;
gfk_engine_destroy_fn gfk_perop_split_w8_destroy;
gfk_engine_run_fn gfk_perop_split_w8_run, gfk_perop_split_w16_run, gfk_perop_split_w32_run;
gfk_engine_accepts_fn gfk_clmad_w8_accepts, gfk_clmad_w16_accepts, gfk_clmad_w32_accepts;
gfk_engine_run_fn gfk_clmad_w8_run, gfk_clmad_w16_run, gfk_clmad_w32_run;
}

namespace {

__global__ void flip(unsigned char *byte) {
    *byte ^= 1;
}

// Flips a bit of the symbol that ends here, unless the right run failed.
gfk_status spoil(gfk_status status, unsigned char *end, unsigned w, gfk_stream_t stream) {
    return status ? status : gfk::launch(flip, 1, 1, 0, stream, end - w / 8);
}

gfk_status run(gfk_run_fn *right, const gfk_call *call) {
    return spoil(right(call), call->dst + call->bytes, call->multiplier->info.field.w,
                 call->stream);
}

gfk_status run(gfk_engine_run_fn *right, const gfk_product_call *call) {
    const gfk_product_info *info = &call->product->info;
    return spoil(right(call), gfk_region_address(call->out, info->rows - 1) + call->bytes,
                 info->field.w, call->stream);
}

} // namespace

#define FAULTY_ROW(row)                                                                            \
    extern "C" gfk_status gfk_##row##_faulty(const gfk_call *call) {                               \
        return run(gfk_##row, call);                                                               \
    }
#define FAULTY(w)                                                                                  \
    FAULTY_ROW(shift_w##w##_naive)                                                                 \
    extern "C" gfk_status gfk_perop_split_w##w##_faulty_accepts(gfk_product_info *info,            \
                                                                const char **reason) {             \
        return gfk_perop_split_w##w##_accepts(info, reason);                                       \
    }                                                                                              \
    extern "C" gfk_status gfk_perop_split_w##w##_faulty_create(gfk_product_t product,              \
                                                               const gfk_product_desc *desc) {     \
        return gfk_perop_split_w##w##_create(product, desc);                                       \
    }                                                                                              \
    extern "C" void gfk_perop_split_w##w##_faulty_destroy(gfk_product_t product) {                 \
        gfk_perop_split_w8_destroy(product);                                                       \
    }                                                                                              \
    extern "C" gfk_status gfk_perop_split_w##w##_faulty_run(const gfk_product_call *call) {        \
        return run(gfk_perop_split_w##w##_run, call);                                              \
    }
FAULTY(8)
FAULTY(16)
FAULTY(32)
#ifdef GFK_HAVE_CLMAD
FAULTY_ROW(carry_free_w8_naive)
FAULTY_ROW(carry_free_w16_naive)
FAULTY_ROW(carry_free_w32_naive)

/* The engine's compiled kernels are those of its id, so the right engine is asked in its own name. */
#define FAULTY_CLMAD(w)                                                                            \
    extern "C" gfk_status gfk_clmad_w##w##_faulty_accepts(gfk_product_info *info,                  \
                                                          const char **reason) {                   \
        gfk_product_info right = *info;                                                            \
        right.engine = gfk_engine_find("clmad_w" #w);                                              \
        return gfk_clmad_w##w##_accepts(&right, reason);                                           \
    }                                                                                              \
    extern "C" gfk_status gfk_clmad_w##w##_faulty_create(gfk_product_t,                            \
                                                         const gfk_product_desc *) {               \
        return GFK_STATUS_SUCCESS;                                                                 \
    }                                                                                              \
    extern "C" void gfk_clmad_w##w##_faulty_destroy(gfk_product_t) {}                              \
    static gfk_status run_right_clmad_w##w(const gfk_product_call *call) {                         \
        struct gfk_product right = *call->product;                                                 \
        gfk_product_call same = *call;                                                             \
        right.info.engine = gfk_engine_find("clmad_w" #w);                                         \
        same.product = &right;                                                                     \
        return gfk_clmad_w##w##_run(&same);                                                        \
    }                                                                                              \
    extern "C" gfk_status gfk_clmad_w##w##_faulty_run(const gfk_product_call *call) {              \
        return run(run_right_clmad_w##w, call);                                                    \
    }
FAULTY_CLMAD(8)
FAULTY_CLMAD(16)
FAULTY_CLMAD(32)
#endif
