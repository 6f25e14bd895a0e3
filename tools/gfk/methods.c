/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk methods: lists every method, width and implementation, and why one is unavailable. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "options.h"
#include "report.h"

static const command_help help = {
    "methods [OPTION...] [W]",
    "Lists the kernels of all widths or of one, whether they can run here, and if not, why; then\n"
    "the engines of matrix products."};

/* The features of GF-Complete that this library does not offer. */
static const struct {
    const char *name, *reason;
} holes[] = {
    {"w = 1 to 7, 9 to 15, 17 to 31, 64, 128", "only 8, 16 and 32 are offered"},
    {"CARRY_FREE_GK", "CARRY_FREE reduces in the same time by every polynomial"},
    {"COMPOSITE", "composite fields are not offered"},
    {"LOG_ZERO, LOG_ZERO_EXT", "LOG handles zero; its variants are rows"},
    {"-r ALTMAP, -r CAUCHY", "regions are plain little-endian symbols"},
    {"-r DOUBLE, QUAD, LAZY, SSE, NOSSE", "the kernel decides how its tables are laid out"},
    {"-d EUCLID, -d MATRIX", "division is by the extended Euclidean algorithm"},
};

/* Rows that need a GPU. Where none of them can run, the text has one line for all of them. */
typedef struct gpu_rows {
    bool any;           /* one of them can run */
    size_t left_out;    /* rows that the text leaves out */
    const char *reason; /* why one of them cannot run */
} gpu_rows;

static bool leave_out(gpu_rows *rows, bool on_cpu, const char *reason) {
    if (on_cpu || rows->any)
        return false;
    rows->left_out++;
    rows->reason = reason != NULL ? reason : "unknown";
    return true;
}

static void find_gpu(gpu_rows *rows) {
    const char *reason = NULL;
    for (size_t i = 0; i < gfk_kernel_count() && !rows->any; i++)
        rows->any = gfk_kernel_at(i)->implementation != GFK_IMPLEMENTATION_HOST &&
                    gfk_kernel_available(gfk_kernel_at(i), GFK_CURRENT_DEVICE, &reason) ==
                        GFK_STATUS_SUCCESS;
}

static void list_kernels(uint64_t w, gpu_rows *rows) {
    json_open_array("kernels");
    say("%-2s %-10s %-10s %-14s %-28s %s", "w", "method", "parameters", "implementation", "id",
        "state");
    for (size_t i = 0; i < gfk_kernel_count(); i++) {
        const gfk_kernel_info *k = gfk_kernel_at(i);
        const char *reason = NULL;
        char state[160];
        if (w != 0 && k->w != w)
            continue;
        const bool available =
            gfk_kernel_available(k, GFK_CURRENT_DEVICE, &reason) == GFK_STATUS_SUCCESS;
        if (!available)
            snprintf(state, sizeof state, "no: %s", reason == NULL ? "unknown" : reason);
        else
            snprintf(state, sizeof state, "yes%s",
                     (k->labels & GFK_LABEL_GIANT) != 0 ? ", with tables of gigabytes" : "");
        if (!leave_out(rows, k->implementation == GFK_IMPLEMENTATION_HOST, reason))
            say("%-2u %-10s %-10s %-14s %-28s %s", k->w, gfk_method_name(k->method), k->parameters,
                gfk_implementation_name(k->implementation), k->id, state);
        json_open_object();
        json_string("id", k->id);
        json_number("w", k->w);
        json_string("method", gfk_method_name(k->method));
        json_string("parameters", k->parameters);
        json_string("implementation", gfk_implementation_name(k->implementation));
        json_bool("available", available);
        json_string("reason", available || reason == NULL ? "" : reason);
        json_number("table_bytes", k->table_bytes);
        json_number("workspace_bytes", k->workspace_bytes);
        json_close_object();
    }
    json_close_array();
}

static void list_engines(uint64_t w, gpu_rows *rows) {
    json_open_array("engines");
    say("%s", "");
    say("%-2s %-8s %-28s %s", "w", "engine", "id", "state");
    for (size_t i = 0; i < gfk_engine_count(); i++) {
        const gfk_engine_info *e = gfk_engine_at(i);
        const char *reason = NULL;
        if (w != 0 && e->w != w)
            continue;
        const bool available =
            gfk_engine_available(e, GFK_CURRENT_DEVICE, &reason) == GFK_STATUS_SUCCESS;
        if (!leave_out(rows, gfk_engine_family_on_cpu(e->family), reason))
            say("%-2u %-8s %-28s %s%s", e->w, gfk_engine_family_name(e->family), e->id,
                available ? "yes" : "no: ", available || reason == NULL ? "" : reason);
        json_open_object();
        json_string("id", e->id);
        json_number("w", e->w);
        json_string("family", gfk_engine_family_name(e->family));
        json_bool("available", available);
        json_string("reason", available || reason == NULL ? "" : reason);
        json_close_object();
    }
    json_close_array();
}

int command_methods(int argc, char **argv) {
    tool_options o;
    const int code = options_parse(&o, COMMAND_METHODS, &help, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    uint64_t w = 0;
    if (o.count > 1 || (o.count == 1 && !(parse_number(o.arguments[0], 8, 32, &w) &&
                                          (w == 8 || w == 16 || w == 32))))
        return fail(TOOL_USAGE, "usage: gfk %s; W is 8, 16 or 32", help.usage);
    json_begin("methods");
    gpu_rows rows = {0};
    find_gpu(&rows);
    list_kernels(w, &rows);
    list_engines(w, &rows);
    if (rows.left_out != 0) {
        say("%s", "");
        say("%zu more need a GPU: %s", rows.left_out, rows.reason);
    }
    json_open_array("not_offered");
    say("%s", "");
    say("in GF-Complete, not here:");
    for (size_t i = 0; i < sizeof holes / sizeof holes[0]; i++) {
        say("  %s: %s", holes[i].name, holes[i].reason);
        json_open_object();
        json_string("name", holes[i].name);
        json_string("reason", holes[i].reason);
        json_close_object();
    }
    json_close_array();
    return json_end(TOOL_OK);
}
