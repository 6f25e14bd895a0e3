/* SPDX-License-Identifier: BSD-3-Clause */
/* Network coding over UDP on the loopback: a server in a thread of its own sends coded packets and drops some
 * on purpose; the client says how many it still needs of each segment, and decodes. A packet carries its
 * numbers in place of a coding vector. Every wait has a limit, so the program ends whatever is lost. */
#define _POSIX_C_SOURCE 200809L
#include "place.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    N = 32,       /* packets of a segment */
    BYTES = 1024, /* of a packet */
    SEGMENTS = 12,
    DROPPED = 30,           /* percent */
    SECONDS = 20,           /* after which everything ends */
    HEAD = 12,              /* bytes before a payload: generation, number */
    MOST = SEGMENTS * 2 * N /* packets that the client takes at a time */
};

static unsigned char content[SEGMENTS * N * BYTES];
static gfk_rlnc_t code; /* of both: a code does not change */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void require(bool is_good, const char *what) {
    if (!is_good) {
        perror(what);
        exit(1);
    }
}

/* Numbers on their way are little endian. */
static void put(unsigned char *at, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *at, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* A socket on the loopback whose waits end after `ms`. */
static int open_socket(struct sockaddr_in *address, long ms) {
    const int s = socket(AF_INET, SOCK_DGRAM, 0), room = 4 << 20;
    const struct timeval limit = {0, 1000 * ms};
    socklen_t length = sizeof *address;
    require(s >= 0, "socket");
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(bind(s, (struct sockaddr *)address, length) == 0, "bind");
    require(getsockname(s, (struct sockaddr *)address, &length) == 0, "getsockname");
    require(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0, "SO_RCVTIMEO");
    (void)setsockopt(s, SOL_SOCKET, SO_RCVBUF, &room, sizeof room); /* less also works */
    return s;
}

static gfk_regions regions(unsigned char *first) {
    const gfk_regions r = {NULL, first, BYTES};
    return r;
}

/* ---- the server ------------------------------------------------------------------------------- */

typedef struct server {
    int socket;
    double end;
    size_t sent, dropped;
} server;

/* Sends packets of all segments, `count` of each, which no earlier answer had; `wanted` of each. */
static void answer(server *s, unsigned char *segments, uint32_t *next, const unsigned char *wanted,
                   size_t count, const struct sockaddr_in *to) {
    const gfk_rlnc_range range = {0, SEGMENTS, *next, count};
    const size_t all = SEGMENTS * count;
    unsigned char *payloads = place_alloc(all * BYTES), *copy = malloc(all * BYTES);
    size_t bytes;
    check(gfk_rlnc_encode_workspace(code, &range, &bytes));
    void *workspace = place_alloc(bytes);
    const gfk_regions from = regions(segments), out = regions(payloads);
    require(copy != NULL, "malloc");
    check(gfk_rlnc_encode(code, &range, &from, &out, NULL, 0, workspace, bytes, NULL));
    place_copy(copy, payloads, all * BYTES);
    for (size_t i = 0; i < all; i++) {
        unsigned char datagram[HEAD + BYTES];
        if (i % count >= wanted[i / count])
            continue;
        put(datagram, i / count, 8);
        put(datagram + 8, *next + i % count, 4);
        memcpy(datagram + HEAD, copy + i * BYTES, BYTES);
        s->sent++;
        if ((s->sent * 2654435761u >> 16) % 100 < DROPPED)
            s->dropped++;
        else
            (void)sendto(s->socket, datagram, sizeof datagram, 0, (const struct sockaddr *)to,
                         sizeof *to); /* a full queue is one more loss */
    }
    *next += (uint32_t)count;
    place_free(workspace);
    place_free(payloads);
    free(copy);
}

/* A request has a byte for each segment: how many packets. All zero: the client has everything. */
static void *serve(void *context) {
    server *s = context;
    uint32_t next = 0;
    unsigned char *segments = place_alloc(sizeof content);
    place_copy(segments, content, sizeof content);
    while (now() < s->end) {
        unsigned char wanted[SEGMENTS];
        struct sockaddr_in client;
        socklen_t length = sizeof client;
        if (recvfrom(s->socket, wanted, sizeof wanted, 0, (struct sockaddr *)&client, &length) !=
            sizeof wanted)
            continue; /* nothing came, or something else */
        size_t most = 0;
        for (size_t i = 0; i < SEGMENTS; i++)
            most = wanted[i] > most ? wanted[i] : most;
        if (most == 0)
            break;
        answer(s, segments, &next, wanted, most, &client);
    }
    place_free(segments);
    return NULL;
}

/* ---- the client ------------------------------------------------------------------------------- */

/* Takes datagrams until none comes for a while. Returns how many. */
static size_t receive(int s, gfk_rlnc_header *headers, unsigned char *payloads) {
    size_t count = 0;
    unsigned char datagram[HEAD + BYTES + 1];
    while (count < MOST) {
        const ssize_t length = recv(s, datagram, sizeof datagram, 0);
        if (length < 0)
            break;
        if (length != HEAD + BYTES)
            continue; /* not a packet of this code */
        headers[count] = (gfk_rlnc_header){get(datagram, 8), (uint32_t)get(datagram + 8, 4), 0};
        memcpy(payloads + count++ * BYTES, datagram + HEAD, BYTES);
    }
    return count;
}

int main(void) {
    static unsigned char arrived[MOST * BYTES], decoded[sizeof content];
    static gfk_rlnc_header headers[MOST];
    gfk_rlnc_record records[SEGMENTS] = {{0}};
    gfk_field field;
    gfk_rlnc_decoder_t decoder;
    gfk_rlnc_desc desc = GFK_RLNC_DESC_INIT;
    desc.device = PLACE;
    desc.systematic = true;
    check(gfk_field_init(&field, 8, 0));
    check(gfk_rlnc_create(&code, &field, N, BYTES, &desc));
    check(gfk_rlnc_decoder_create(&decoder, code, 0, SEGMENTS, 2));
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (unsigned char)(i * 2654435761u >> 13);

    struct sockaddr_in address, own;
    server s = {.end = now() + SECONDS};
    pthread_t thread;
    s.socket = open_socket(&address, 100);
    const int client = open_socket(&own, 30);
    require(pthread_create(&thread, NULL, serve, &s) == 0, "pthread_create");

    unsigned char *payloads = place_alloc(sizeof arrived), *sources = place_alloc(sizeof content);
    const gfk_regions from = regions(payloads), to = regions(sources);
    size_t rounds = 0, received = 0;
    for (bool is_complete = false; !is_complete && now() < s.end; rounds++) {
        unsigned char wanted[SEGMENTS];
        is_complete = true;
        for (size_t i = 0; i < SEGMENTS; i++) {
            const size_t missing = N - records[i].rank;
            wanted[i] = (unsigned char)(missing == 0 ? 0 : missing * 100 / (100 - DROPPED) + 1);
            is_complete = is_complete && missing == 0;
        }
        (void)sendto(client, wanted, sizeof wanted, 0, (struct sockaddr *)&address, sizeof address);
        const size_t count = is_complete ? 0 : receive(client, headers, arrived);
        place_copy(payloads, arrived, count * BYTES);
        check(gfk_rlnc_decoder_add(decoder, headers, count, NULL, 0, &from, NULL, NULL));
        (void)gfk_rlnc_decoder_wait(decoder, NULL, 0, SEGMENTS, records);
        received += count;
    }
    check(gfk_rlnc_decoder_decode(decoder, &to, NULL, NULL));
    check(gfk_rlnc_decoder_wait(decoder, NULL, 0, SEGMENTS, records)); /* CORRUPT, SINGULAR: stop */
    place_copy(decoded, sources, sizeof decoded);
    require(pthread_join(thread, NULL) == 0, "pthread_join");
    const bool is_equal = memcmp(content, decoded, sizeof content) == 0;
    printf("%d packets; %zu sent, %zu of them dropped, %zu received in %zu rounds: %s\n",
           SEGMENTS * N, s.sent, s.dropped, received, rounds, is_equal ? "equal" : "WRONG");
    gfk_rlnc_decoder_destroy(decoder);
    gfk_rlnc_destroy(code);
    place_free(payloads);
    place_free(sources);
    close(client);
    close(s.socket);
    return !is_equal;
}
