/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer: gfk_multiplier_desc_parse on any text. A refusal leaves the descriptor alone; what is
 * accepted is a method with parameters in their range. */
#include <stdlib.h>
#include <string.h>

#include <gfk/multiplier.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1); /* its own allocation: reading on is an error */
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    gfk_multiplier_desc desc, before;
    memset(&desc, 0x5a, sizeof desc);
    before = desc;
    gfk_status status = gfk_multiplier_desc_parse(&desc, text);
    if (status != GFK_STATUS_SUCCESS && memcmp(&desc, &before, sizeof desc) != 0)
        abort();
    if (status == GFK_STATUS_SUCCESS &&
        ((unsigned)desc.method > GFK_METHOD_CARRY_FREE || desc.arg1 > 99 || desc.arg2 > 99 ||
         (desc.arg1 == 0) != (desc.arg2 == 0) || desc.device != before.device))
        abort();
    free(text);
    return 0;
}
