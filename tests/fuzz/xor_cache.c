/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer: gfk_jit_disk_cache_parse on any file. The first byte is the key's size. What is
 * accepted lies inside the file, behind the key, and is not empty. */
#include <stdlib.h>
#include <string.h>

#include "host/product/xor/disk_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    const size_t key_size = data[0] < size - 1 ? data[0] : size - 1;
    uint8_t *key = malloc(key_size + 1),
            *file = malloc(size); /* their own: reading on is an error */
    if (key == NULL || file == NULL)
        abort();
    memcpy(key, data + 1, key_size);
    const gfk_bytes whole = {file, size - 1 - key_size};
    memcpy(file, data + 1 + key_size, whole.size);
    file = realloc(file, whole.size ? whole.size : 1);
    gfk_bytes payload = {NULL, 0};
    if (gfk_jit_disk_cache_parse((gfk_bytes){file, whole.size}, (gfk_bytes){key, key_size},
                                 &payload)) {
        const uint8_t *p = payload.data;
        if (payload.size == 0 || p < file + key_size || p + payload.size != file + whole.size)
            abort();
    } else if (payload.data != NULL) {
        abort();
    }
    free(file);
    free(key);
    return 0;
}
