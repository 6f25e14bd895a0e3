/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that holds other libraries with the names of ISA-L's and GF-Complete's functions: the
 * engines of this library still compute the right products. With FAKE_LIBRARY this file is those
 * other libraries, whose functions do nothing or damage. */
#include <string.h>

#ifdef FAKE_LIBRARY

int gfk_fake_calls;

void ec_init_tables(int k, int rows, unsigned char *a, unsigned char *tables) {
    (void)a;
    memset(tables, 0, 32u * (unsigned)k * (unsigned)rows);
    gfk_fake_calls++;
}

void ec_encode_data(int length, int k, int rows, unsigned char *tables, unsigned char **in,
                    unsigned char **out) {
    (void)k, (void)tables, (void)in;
    for (int j = 0; j < rows; j++)
        memset(out[j], 0xee, (size_t)length);
    gfk_fake_calls++;
}

/* What those libraries call themselves. */
#define NOTHING(name)                                                                              \
    int name(void);                                                                                \
    int name(void) {                                                                               \
        gfk_fake_calls++;                                                                          \
        return 0;                                                                                  \
    }
#define EACH_SIMD(name)                                                                            \
    NOTHING(name##_sse) NOTHING(name##_avx) NOTHING(name##_avx2) NOTHING(name##_avx512)
EACH_SIMD(ec_encode_data)
EACH_SIMD(ec_encode_data_update)
EACH_SIMD(gf_vect_dot_prod)
EACH_SIMD(gf_2vect_dot_prod)
EACH_SIMD(gf_3vect_dot_prod)
EACH_SIMD(gf_4vect_dot_prod)
EACH_SIMD(gf_5vect_dot_prod)
EACH_SIMD(gf_6vect_dot_prod)
NOTHING(ec_encode_data_update)
NOTHING(gf_vect_mul_init)
NOTHING(gf_init_hard)
NOTHING(gf_error_check)
NOTHING(gf_scratch_size)
NOTHING(gf_size)
NOTHING(gf_free)
NOTHING(gf_w8_init)
NOTHING(gf_w16_init)
NOTHING(gf_w32_init)
NOTHING(gf_w8_scratch_size)
NOTHING(gf_w16_scratch_size)
NOTHING(gf_w32_scratch_size)

#else

#include <gfk/gfk.h>
#include <stdio.h>

extern int gfk_fake_calls;

enum { ROWS = 4, COLS = 10, BYTES = 5000 };
static unsigned char in[COLS][BYTES], out[2][ROWS][BYTES];
static int checked, failures;

static void expect(int right, const char *what, const char *about) {
    checked++;
    failures += !right;
    if (!right)
        printf("%s: %s\n", about, what);
}

static gfk_status run(const char *engine, unsigned w, const gfk_product_desc *desc, int which) {
    gfk_product_desc named = *desc;
    gfk_product_t product;
    gfk_field field;
    uint32_t matrix[ROWS * COLS];
    for (size_t i = 0; i < ROWS * COLS; i++)
        matrix[i] = (uint32_t)(2654435761u * (i + 7)) >> (32 - w);
    named.engine = engine;
    gfk_status status = gfk_field_init(&field, w, 0);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_product_create(&product, &field, ROWS, COLS, matrix, &named);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    const gfk_regions ins = {.base = in, .stride = BYTES};
    const gfk_regions outs = {.base = out[which], .stride = BYTES};
    status = gfk_product_run(product, &ins, &outs, BYTES, GFK_SET, NULL);
    gfk_product_destroy(product);
    return status;
}

/* The engine with the library that `desc` names computes what the host engine computes. */
static void compare(const char *engine, const char *host, unsigned w,
                    const gfk_product_desc *desc) {
    memset(out, 0x55, sizeof out);
    expect(run(host, w, desc, 0) == GFK_STATUS_SUCCESS, "does not run", host);
    expect(run(engine, w, desc, 1) == GFK_STATUS_SUCCESS, "does not run", engine);
    expect(memcmp(out[0], out[1], sizeof out[0]) == 0, "wrong products", engine);
}

static void refused(const char *engine, unsigned w, const char *path, gfk_status status) {
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.isal_library = desc.gfcomplete_library = path;
    expect(run(engine, w, &desc, 0) == status, path, engine);
}

/* other_library_test FAKE [ISA-L] [GF-Complete]: paths of libraries; "" where there is none */
int main(int count, char **paths) {
    static const struct {
        const char *engine, *host;
        unsigned w;
    } engines[] = {{"isal_w8", "host_w8", 8},
                   {"gfcomplete_w8", "host_w8", 8},
                   {"gfcomplete_w16", "host_w16", 16},
                   {"gfcomplete_w32", "host_w32", 32}};
    if (count != 4)
        return 2;
    for (size_t i = 0; i < sizeof in; i++)
        ((unsigned char *)in)[i] = (unsigned char)(i * i >> 5);
    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
        const char *engine = engines[e].engine, *path = paths[e == 0 ? 2 : 3];
        const unsigned w = engines[e].w;
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        if (gfk_engine_available(gfk_engine_find(engine), GFK_CPU, NULL) == GFK_STATUS_SUCCESS)
            compare(engine, engines[e].host, w, &desc);
        if (path[0] != '\0') {
            desc.isal_library = desc.gfcomplete_library = path;
            compare(engine, engines[e].host, w, &desc);
        }
        refused(engine, w, "libm.so.6", GFK_STATUS_INVALID_ARGUMENT);
        refused(engine, w, "", GFK_STATUS_INVALID_ARGUMENT);
        refused(engine, w, "/nonexistent/library.so", GFK_STATUS_NOT_SUPPORTED);
        refused(engine, w, "/proc/self/exe", GFK_STATUS_NOT_SUPPORTED); /* lacks the functions */
        if (e != 0) /* its field has no functions */
            refused(engine, w, paths[1], GFK_STATUS_NOT_SUPPORTED);
    }
    for (unsigned w = 8; w <= 16; w += 8) { /* the library chooses the engine */
        gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
        desc.device = GFK_CPU;
        expect(run(NULL, w, &desc, 0) == GFK_STATUS_SUCCESS, "no path", "auto");
        desc.gfcomplete_library = paths[1]; /* can be loaded, but does not take the field */
        expect(run(NULL, w, &desc, 0) == GFK_STATUS_SUCCESS, paths[1], "auto");
        for (int lacks_functions = 0; lacks_functions < 2; lacks_functions++) {
            const char *bad = lacks_functions ? "/proc/self/exe" : "/nonexistent/library.so";
            desc.gfcomplete_library = bad;
            expect(run(NULL, w, &desc, 0) == GFK_STATUS_NOT_SUPPORTED, bad, "auto, GF-Complete");
            expect(run(w == 8 ? "host_w8" : "host_w16", w, &desc, 0) == GFK_STATUS_SUCCESS, bad,
                   "an engine without the library");
            desc.gfcomplete_library = NULL;
            desc.isal_library = bad;
            expect(run(NULL, w, &desc, 0) ==
                       (w == 8 ? GFK_STATUS_NOT_SUPPORTED : GFK_STATUS_SUCCESS),
                   bad, "auto, ISA-L");
            desc.isal_library = NULL;
        }
    }
    const int own = gfk_fake_calls;
    printf("%d checks, %d failures, %d calls of the fake library\n", checked, failures, own);
    return failures != 0;
}

#endif
