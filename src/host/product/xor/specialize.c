/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "specialize.h"

bool gfk_jit_accepts(unsigned w, size_t rows, size_t cols) {
    return rows <= GFK_JIT_MOST_ROWS && cols <= GFK_JIT_MOST_COLS && rows * cols * (w / 8) <= 4096;
}

/* More words per thread need fewer instructions for addresses, but more registers and longer code;
 * the code of a kernel should stay within about 32 KiB. Many blocks hide the latency of memory, so
 * the registers are limited where this costs no spills; `live` estimates the values in registers.
 * One or two inputs are doubled themselves, which takes little code and few registers; there long
 * words hide the latency. Measured on an H200; docs/engines/xor.md has the figures. */
gfk_jit_target gfk_jit_choose_target(unsigned w, size_t rows, size_t cols, unsigned cc) {
    const size_t work = w / 8 * rows * (cols + 21); /* estimates the instructions for one word */
    const size_t live = 2 * (cols + 2 * rows);
    gfk_jit_target t = {.cc = cc, .words = 2, .threads = 128};
    if (w > 8 && cols <= 2 && rows > cols && rows <= 4) {
        t.words = 4;
        t.blocks = 8;
    } else if (work > 850 || cols > 64) { /* too long for two words */
        t.words = 1;
    } else if (w == 16 && cols <= 16 && work <= 300) {
        t.words = 4;
        t.blocks = cols <= 12 ? 6 : 4;
    } else if (live > 96 || (live > 48 && w > 8)) {
        t.threads = 64;
        t.blocks = live > 96 ? 0 : 8;
    } else if (w == 8 && rows == 4 && cols >= 9 && cols <= 12) {
        t.words = 4;
        t.blocks = 5;
    } else {
        t.blocks = live <= 48 && w == 8 ? 7 : 5;
    }
    return t;
}

static uint8_t *put(uint8_t *p, const void *data, size_t size) {
    memcpy(p, data, size);
    return p + size;
}

gfk_bytes gfk_jit_key(const gfk_field *field, size_t rows, size_t cols, const uint32_t *matrix,
                      const gfk_jit_target *target, const char *compiler) {
    const uint64_t numbers[] = {
        GFK_JIT_GENERATOR, field->w,      field->polynomial, rows,           cols,
        target->cc,        target->words, target->threads,   target->blocks, strlen(compiler)};
    const size_t name = strlen(compiler), elements = rows * cols * sizeof *matrix;
    gfk_bytes key = {NULL, sizeof numbers + name + elements};
    key.data = malloc(key.size);
    if (key.data != NULL)
        (void)put(put(put(key.data, numbers, sizeof numbers), compiler, name), matrix, elements);
    return key;
}

gfk_status gfk_jit_write_ptx(FILE *out, const gfk_field *field, size_t rows, size_t cols,
                             const uint32_t *matrix, const gfk_jit_target *target) {
    gfk_jit_program program;
    gfk_status status = gfk_jit_program_create(&program, field, rows, cols, matrix);
    if (status == GFK_STATUS_SUCCESS) {
        gfk_jit_ptx(out, &program, target);
        status = fflush(out) != 0 || ferror(out) ? GFK_STATUS_OUT_OF_MEMORY : status;
    }
    gfk_jit_program_free(&program);
    return status;
}

gfk_jit_shape gfk_jit_make_shape(const gfk_jit_target *target, unsigned w, uint64_t *regions,
                                 size_t count, uint64_t bytes, bool accumulate) {
    const uint64_t symbol = w / 8, wide = 4 * (uint64_t)target->words;
    const uint64_t phase = regions[0] % wide;
    bool aligned = phase % symbol == 0;
    for (size_t i = 1; aligned && i < count; i++)
        aligned = regions[i] % wide == phase;
    /* The first and the last word of an unaligned region belong to the edges: the aligned words
     * that contain them reach beyond the region. */
    const uint64_t tile = aligned ? wide : 4;
    const uint64_t margin = aligned ? 0 : 4;
    uint64_t head = aligned ? (wide - phase) % wide : margin;
    head = head < bytes ? head : bytes;
    const uint64_t behind = bytes - head;
    const uint64_t tiles = behind > margin ? (behind - margin) / tile : 0;
    const gfk_jit_shape shape = {
        .tail = tiles * tile,
        .tiles = (uint32_t)tiles,
        .blocks = (uint32_t)((tiles + target->threads - 1) / target->threads),
        .head = (uint32_t)(head / symbol),
        .edges = (uint32_t)((bytes - tiles * tile) / symbol),
        .mode = accumulate ? GFK_JIT_ADD : GFK_JIT_STORE,
        .unaligned = !aligned,
        .origin = head,
    };
    for (size_t i = 0; i < count; i++)
        regions[i] += head;
    return shape;
}
