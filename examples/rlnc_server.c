/* SPDX-License-Identifier: BSD-3-Clause */
/* A server with resident segments answers batches of requests. Its packets pass a channel that loses some of
 * them, recoders (relays) that make new packets of what they have, and a second such channel to the clients.
 * Every round each client says how many packets it still needs of its segment; the server encodes for all
 * neighbouring segments that are wanted in one call. */
#include "place.h"

enum {
    N = 48,       /* packets of a segment */
    BYTES = 1024, /* of a packet */
    SEGMENTS = 16,
    RELAYS = 3,
    CLIENTS = 30,
    LOSS = 25,       /* percent, of each channel */
    ROOM = 4 * N,    /* packets that a relay keeps of a segment */
    MOST = 2 * N + 4 /* packets of an answer */
};

static unsigned random_below(unsigned n) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static bool is_lost(void) {
    return random_below(100) < LOSS;
}

/* Packets in memory of the place: rows of vectors, and payloads. */
typedef struct packets {
    unsigned char *vectors, *payloads;
    size_t count;
} packets;

static packets make_packets(size_t room) {
    return (packets){place_alloc(room * N), place_alloc(room * BYTES), 0};
}

static void free_packets(packets *p) {
    place_free(p->vectors);
    place_free(p->payloads);
}

/* Sends packets first to first + count - 1 through a channel; what arrives is added. */
static void deliver(const packets *from, size_t first, size_t count, packets *to, size_t room) {
    for (size_t i = first; i < first + count && to->count < room; i++) {
        if (is_lost())
            continue;
        place_copy(to->vectors + to->count * N, from->vectors + i * N, N);
        place_copy(to->payloads + to->count * BYTES, from->payloads + i * BYTES, BYTES);
        to->count++;
    }
}

static gfk_regions regions(unsigned char *first) {
    const gfk_regions r = {NULL, first, BYTES};
    return r;
}

/* ---- the server ------------------------------------------------------------------------------- */

typedef struct server {
    gfk_rlnc_t code;
    unsigned char *segments;
    uint32_t next; /* number of the next packet, so that no two are the same */
    size_t calls, sent;
} server;

/* `count` packets of each of the segments first to first + segments - 1, one segment's after the other's. */
static packets answer(server *s, size_t first, size_t segments, size_t count) {
    const gfk_rlnc_range range = {first, segments, s->next, count};
    packets p = make_packets(segments * count);
    size_t bytes;
    check(gfk_rlnc_encode_workspace(s->code, &range, &bytes));
    void *workspace = place_alloc(bytes);
    const gfk_regions from = regions(s->segments + first * N * BYTES), to = regions(p.payloads);
    check(gfk_rlnc_encode(s->code, &range, &from, &to, p.vectors, N, workspace, bytes, NULL));
    place_free(workspace);
    s->next += (uint32_t)count;
    s->calls++;
    s->sent += segments * count;
    return p;
}

/* ---- relays and clients ----------------------------------------------------------------------- */

typedef struct relay {
    packets have[SEGMENTS];
    uint32_t made;
} relay;

static packets recode(gfk_rlnc_t code, relay *r, unsigned seed, size_t segment, size_t count) {
    const packets *have = &r->have[segment];
    const gfk_rlnc_range range = {segment, 1, r->made, count};
    packets p = make_packets(count);
    size_t bytes;
    check(gfk_rlnc_recode_workspace(code, &range, have->count, &bytes));
    void *workspace = place_alloc(bytes);
    const gfk_regions from = regions(have->payloads), to = regions(p.payloads);
    check(gfk_rlnc_recode(code, &range, seed, have->count, have->vectors, N, &from, p.vectors, N,
                          &to, workspace, bytes, NULL));
    place_free(workspace);
    r->made += (uint32_t)count;
    return p;
}

typedef struct client {
    gfk_rlnc_decoder_t decoder;
    size_t segment, relay, missing, received;
    packets inbox;
} client;

/* Takes what is in the inbox. */
static void take(client *c) {
    gfk_rlnc_header headers[MOST];
    const gfk_regions from = regions(c->inbox.payloads);
    gfk_rlnc_record record;
    for (size_t i = 0; i < c->inbox.count; i++)
        headers[i] = (gfk_rlnc_header){c->segment, 0, 0}; /* their vectors come with them */
    check(gfk_rlnc_decoder_add(c->decoder, headers, c->inbox.count, c->inbox.vectors, N, &from,
                               NULL, NULL));
    (void)gfk_rlnc_decoder_wait(c->decoder, NULL, 0, 1, &record);
    c->missing = N - record.rank;
    c->received += c->inbox.count;
    c->inbox.count = 0;
}

/* So many packets that `missing` of them probably arrive. */
static size_t to_send(size_t missing) {
    const size_t count = missing * 100 / (100 - LOSS) + 2;
    return missing == 0 ? 0 : count < MOST ? count : MOST;
}

static void run_round(server *s, relay *relays, client *clients) {
    size_t wanted[SEGMENTS] = {0}, most = 0;
    for (size_t i = 0; i < CLIENTS; i++) {
        const client *c = &clients[i];
        if (wanted[c->segment] < c->missing)
            wanted[c->segment] = c->missing;
        most = most < c->missing ? c->missing : most;
    }
    /* A call for each run of neighbouring segments. All relays hear the server. */
    for (size_t first = 0, end; first < SEGMENTS; first = end + 1) {
        for (end = first; end < SEGMENTS && wanted[end] != 0;)
            end++;
        if (end == first)
            continue;
        const size_t count = to_send(most);
        packets sent = answer(s, first, end - first, count);
        for (size_t r = 0; r < RELAYS; r++)
            for (size_t g = first; g < end; g++)
                deliver(&sent, (g - first) * count, count, &relays[r].have[g], ROOM);
        free_packets(&sent);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        client *c = &clients[i];
        relay *r = &relays[c->relay];
        if (c->missing == 0 || r->have[c->segment].count == 0)
            continue;
        const size_t count = to_send(c->missing);
        packets made = recode(s->code, r, (unsigned)c->relay, c->segment, count);
        deliver(&made, 0, count, &c->inbox, MOST);
        free_packets(&made);
        take(c);
    }
}

int main(void) {
    static unsigned char content[SEGMENTS * N * BYTES], decoded[N * BYTES];
    static client clients[CLIENTS];
    static relay relays[RELAYS];
    server s = {0};
    gfk_field field;
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    desc.device = PLACE;
    desc.seed = 42;
    check(gfk_field_init(&field, 8, 0));
    check(gfk_rlnc_create(&s.code, &field, N, BYTES, &desc));
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (unsigned char)random_below(256);
    s.segments = place_alloc(sizeof content);
    place_copy(s.segments, content, sizeof content);
    for (size_t i = 0; i < RELAYS * SEGMENTS; i++)
        relays[i / SEGMENTS].have[i % SEGMENTS] = make_packets(ROOM);
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = (client){.segment = random_below(SEGMENTS), .relay = i % RELAYS, .missing = N};
        clients[i].inbox = make_packets(MOST);
        check(gfk_rlnc_decoder_create(&clients[i].decoder, s.code, clients[i].segment, 1, 2));
    }

    size_t rounds = 0, received = 0, wrong = 0;
    for (size_t missing = 1; missing != 0 && rounds < 100; rounds++) {
        run_round(&s, relays, clients);
        missing = 0;
        for (size_t i = 0; i < CLIENTS; i++)
            missing += clients[i].missing;
    }
    unsigned char *memory = place_alloc(sizeof decoded);
    const gfk_regions to = regions(memory);
    for (size_t i = 0; i < CLIENTS; i++) {
        client *c = &clients[i];
        gfk_rlnc_record record;
        check(gfk_rlnc_decoder_decode(c->decoder, &to, NULL, NULL));
        check(gfk_rlnc_decoder_wait(c->decoder, NULL, 0, 1, &record)); /* CORRUPT, SINGULAR: stop */
        place_copy(decoded, memory, sizeof decoded);
        wrong += memcmp(decoded, content + c->segment * sizeof decoded, sizeof decoded) != 0;
        received += c->received;
        gfk_rlnc_decoder_destroy(c->decoder);
        free_packets(&c->inbox);
    }
    printf(
        "%d clients, %zu rounds: %zu packets sent in %zu calls, %.1f of %d received by a client; "
        "%zu wrong\n",
        CLIENTS, rounds, s.sent, s.calls, (double)received / CLIENTS, N, wrong);
    for (size_t i = 0; i < RELAYS * SEGMENTS; i++)
        free_packets(&relays[i / SEGMENTS].have[i % SEGMENTS]);
    place_free(memory);
    place_free(s.segments);
    gfk_rlnc_destroy(s.code);
    return wrong != 0;
}
