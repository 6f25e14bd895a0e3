/* SPDX-License-Identifier: BSD-3-Clause */
/* Network coding on the CPU: packets of a generation are lost, a node on the way makes new ones of those
 * that arrive, and the receiver decodes. With GFK_CURRENT_DEVICE and memory of a GPU the calls are the
 * same. */
#include <gfk/gfk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 32, BYTES = 1500, SENT = 48, ARRIVED = 36, NEW = 34 };

static unsigned char sources[N][BYTES], sent[SENT][BYTES], arrived[ARRIVED][BYTES];
static unsigned char sent_vectors[SENT][N], vectors[ARRIVED][N], new_vectors[NEW][N];
static unsigned char new_payloads[NEW][BYTES], decoded[N][BYTES];
static unsigned char _Alignas(256) workspace[1 << 20]; /* gfk_rlnc_encode_workspace says how much */

static void check(gfk_status status) {
    if (status != GFK_STATUS_SUCCESS) {
        fprintf(stderr, "%s\n", gfk_status_description(status));
        exit(1);
    }
}

static gfk_regions regions(void *first) {
    const gfk_regions r = {NULL, first, BYTES};
    return r;
}

int main(void) {
    for (size_t i = 0; i < sizeof sources; i++)
        sources[i / BYTES][i % BYTES] = (unsigned char)(i * 2654435761u >> 13);
    const gfk_regions from = regions(sources), to = regions(sent), old = regions(arrived);
    const gfk_regions new = regions(new_payloads), out = regions(decoded);
    gfk_rlnc_record record;
    gfk_field field;
    gfk_rlnc_t code;
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    desc.device = GFK_CPU;
    desc.threads = 1;
    desc.seed = 42; /* from which coding vectors follow */
    check(gfk_field_init(&field, 8, 0));
    check(gfk_rlnc_create(&code, &field, N, BYTES, &desc));

    /* the sender: packets 0 to SENT - 1 of generation 7 */
    const gfk_rlnc_range packets = {7, 1, 0, SENT}, new_packets = {7, 1, 0, NEW};
    check(gfk_rlnc_encode(code, &packets, &from, &to, sent_vectors, N, workspace, sizeof workspace,
                          NULL));
    /* the network: every fourth packet is lost */
    size_t count = 0;
    for (size_t p = 0; p < SENT; p++)
        if (p % 4 != 3) {
            memcpy(arrived[count], sent[p], BYTES);
            memcpy(vectors[count++], sent_vectors[p], N);
        }
    /* a node on the way, with the seed 1: new packets, without decoding */
    check(gfk_rlnc_recode(code, &new_packets, 1, count, vectors, N, &old, new_vectors, N, &new,
                          workspace, sizeof workspace, NULL));
    /* the receiver: 2 packets more than sources, so that a changed one is noticed */
    gfk_rlnc_decoder_t decoder;
    gfk_rlnc_header headers[NEW] = {{0}};
    for (size_t i = 0; i < NEW; i++)
        headers[i].generation = 7;
    check(gfk_rlnc_decoder_create(&decoder, code, 7, 1, 2));
    check(gfk_rlnc_decoder_add(decoder, headers, NEW, new_vectors, N, &new, NULL, NULL));
    check(gfk_rlnc_decoder_decode(decoder, &out, NULL, NULL));
    check(gfk_rlnc_decoder_wait(decoder, NULL, 0, 1, &record)); /* SUCCESS, SINGULAR or CORRUPT */
    const int is_equal = memcmp(sources, decoded, sizeof sources) == 0;
    printf("%d sent, %zu arrived, %d recoded; rank %u, %u checked: %s\n", SENT, count, NEW,
           record.rank, record.kept, is_equal ? "equal" : "WRONG");
    gfk_rlnc_decoder_destroy(decoder);
    gfk_rlnc_destroy(code);
    return !is_equal;
}
