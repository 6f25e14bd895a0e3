/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer: gfk_calibration_parse on any text, with the checksum that belongs to it if the first
 * byte is odd. A refusal leaves the calibration alone; what is accepted gives advice. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/pipeline/pipeline.h"

enum { CHECKSUM_LINE = 26 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t sign(char *text, size_t length) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    char line[CHECKSUM_LINE + 1];
    (void)snprintf(line, sizeof line, "checksum %016" PRIx64 "\n", hash);
    memcpy(text + length, line, CHECKSUM_LINE);
    return length + CHECKSUM_LINE;
}

static bool positive(double seconds) {
    return seconds > 0 && seconds < 1e300;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    const bool with_checksum = data[0] % 2 != 0;
    size_t length = size - 1;
    char *text = malloc(length + (with_checksum ? CHECKSUM_LINE : 0) + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data + 1, length);
    if (with_checksum)
        length = sign(text, length);
    text = realloc(text, length ? length : 1); /* its own: reading on is an error */
    gfk_calibration c, before;
    memset(&c, 0x5a, sizeof c);
    before = c;
    const gfk_status status = gfk_calibration_parse(&c, text, length);
    if (status != GFK_STATUS_SUCCESS && memcmp(&c, &before, sizeof c) != 0)
        abort();
    if (status == GFK_STATUS_SUCCESS) {
        gfk_field field;
        gfk_advice advice;
        (void)gfk_field_init(&field, 16, 0);
        if (gfk_advise(&c, &field, 10, 4, 4096, GFK_PINNED, &advice) != GFK_STATUS_SUCCESS ||
            !positive(advice.cpu_seconds) || (c.device_count && !positive(advice.gpu_seconds)))
            abort();
    }
    free(text);
    return 0;
}
