/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

static struct {
    bool shown;
    char what[256];
    uint64_t total, done;
    double start, drawn;
} line;
static atomic_bool visible; /* the terminal shows the line */

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void draw(double now) {
    enum { WIDTH = 30 };
    char bar[WIDTH + 1], left[32] = "";
    const double seconds = now - line.start;
    const double rate = seconds > 0 ? (double)line.done / seconds : 0;
    if (line.total != 0) {
        const double share = line.done < line.total ? (double)line.done / (double)line.total : 1;
        const size_t full = (size_t)(share * WIDTH);
        memset(bar, '#', full);
        memset(bar + full, '.', WIDTH - full);
        bar[WIDTH] = '\0';
        if (rate > 0) {
            const double s = (1 - share) * (double)line.total / rate + 0.5;
            const unsigned u = s < 1e9 ? (unsigned)s : 1000000000;
            snprintf(left, sizeof left, " %u:%02u:%02u left", u / 3600, u / 60 % 60, u % 60);
        }
        fprintf(stderr, "\r\033[K%s %s %3.0f %% %.1f MB/s%s", line.what, bar, 100 * share,
                rate / 1e6, left);
    } else {
        fprintf(stderr, "\r\033[K%s %.1f MB, %.1f MB/s", line.what, (double)line.done / 1e6,
                rate / 1e6);
    }
    fflush(stderr);
    atomic_store(&visible, true);
    line.drawn = now;
}

void progress_begin(const char *what, uint64_t total) {
    line.shown = !report_quiet && !report_as_json && isatty(STDERR_FILENO);
    snprintf(line.what, sizeof line.what, "%s", what);
    disarm(line.what);
    line.total = total;
    line.done = 0;
    line.start = line.drawn = seconds_now();
}

void progress_add(uint64_t bytes) {
    line.done += bytes;
    if (!line.shown)
        return;
    const double now = seconds_now();
    if (now - line.drawn >= 0.1)
        draw(now);
}

void progress_clear(void) {
    if (atomic_exchange(&visible, false))
        fputs("\r\033[K", stderr);
}

void progress_end(void) {
    progress_clear();
    line.shown = false;
}
