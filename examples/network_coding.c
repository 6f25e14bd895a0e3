/* SPDX-License-Identifier: BSD-3-Clause */
/* Network coding on the CPU: packets of a generation are lost, a node on the way makes new ones of those
 * that arrive, and the receiver decodes. With GFK_CURRENT_DEVICE and memory of a GPU the calls are the
 * same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gfk/gfk.h>

enum { N = 32, BYTES = 1500, SENT = 48, ARRIVED = 36, RECODED = 34 };

static unsigned char sources[N * BYTES], sent[SENT * BYTES], arrived[ARRIVED * BYTES];
static unsigned char vectors[ARRIVED * N], new_vectors[RECODED * N], new_payloads[RECODED * BYTES];
static unsigned char decoded[N * BYTES];

static void check(gfk_status status) {
    if (status != GFK_STATUS_SUCCESS) {
        fprintf(stderr, "%s\n", gfk_status_description(status));
        exit(1);
    }
}

static void *space(size_t bytes) {
    void *workspace = aligned_alloc(256, (bytes / 256 + 1) * 256);
    if (workspace == NULL)
        exit(1);
    return workspace;
}

static gfk_regions regions(unsigned char *first) {
    const gfk_regions r = {NULL, first, BYTES};
    return r;
}

int main(void) {
    gfk_field field;
    gfk_rlnc_t code;
    gfk_rlnc_decoder_t decoder;
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    desc.device = GFK_CPU;
    desc.seed = 42;
    for (size_t i = 0; i < sizeof sources; i++)
        sources[i] = (unsigned char)(i * 2654435761u >> 13);
    check(gfk_field_init(&field, 8, 0));
    check(gfk_rlnc_create(&code, &field, N, BYTES, &desc));

    /* the sender: SENT packets of generation 7 */
    const gfk_rlnc_range packets = {7, 1, 0, SENT};
    const gfk_regions from = regions(sources), out = regions(sent);
    size_t bytes;
    check(gfk_rlnc_encode_workspace(code, &packets, &bytes));
    void *workspace = space(bytes);
    check(gfk_rlnc_encode(code, &packets, &from, &out, NULL, 0, workspace, bytes, NULL));
    free(workspace);

    /* the network: every fourth packet is lost */
    size_t count = 0;
    for (uint32_t p = 0; p < SENT; p++) {
        if (p % 4 == 3)
            continue;
        const gfk_rlnc_range one = {7, 1, p, 1};
        check(gfk_rlnc_vectors(code, &one, vectors + count * N, N, NULL));
        memcpy(arrived + count++ * BYTES, sent + p * BYTES, BYTES);
    }

    /* a node on the way: new packets, without decoding */
    const gfk_rlnc_range new_packets = {7, 1, 0, RECODED};
    const gfk_regions old = regions(arrived), new = regions(new_payloads);
    check(gfk_rlnc_recode_workspace(code, &new_packets, count, &bytes));
    workspace = space(bytes);
    check(gfk_rlnc_recode(code, &new_packets, 1, count, vectors, N, &old, new_vectors, N, &new,
                          workspace, bytes, NULL));
    free(workspace);

    /* the receiver: vectors and payloads, 2 more than needed, so that a changed one is noticed */
    gfk_rlnc_header headers[RECODED];
    for (uint32_t p = 0; p < RECODED; p++)
        headers[p] = (gfk_rlnc_header){7, p, 0};
    const gfk_regions to = regions(decoded);
    gfk_rlnc_record record;
    check(gfk_rlnc_decoder_create(&decoder, code, 7, 1, 2));
    check(gfk_rlnc_decoder_add(decoder, headers, RECODED, new_vectors, N, &new, NULL, NULL));
    check(gfk_rlnc_decoder_decode(decoder, &to, NULL, NULL));
    check(gfk_rlnc_decoder_wait(decoder, NULL, 0, 1, &record));
    const int is_equal = memcmp(sources, decoded, sizeof sources) == 0;
    printf("%d sent, %zu arrived, %d recoded; rank %u, %u checked: %s\n", SENT, count, RECODED,
           record.rank, record.kept, is_equal ? "equal" : "WRONG");
    gfk_rlnc_decoder_destroy(decoder);
    gfk_rlnc_destroy(code);
    return !is_equal;
}
