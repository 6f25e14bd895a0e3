/* SPDX-License-Identifier: BSD-3-Clause */
/* gfk calibrate measures the CPU, the bus and the GPU. gfk advise names the fastest path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gfk/gfk.h>
#include <gfk/host.h>

#include "coder.h"
#include "options.h"
#include "report.h"

static const command_help calibrate_help = {
    "calibrate [OPTION...] [BYTES]",
    "Measures the CPU, the bus and the GPU in about two seconds, and saves the rates for the "
    "other\n"
    "commands. Then prints what gfk advise prints. Nothing else should run meanwhile."};
static const command_help advise_help = {
    "advise [OPTION...] [BYTES]",
    "Tells which path encodes BYTES bytes (1G) of data fastest, by the rates of gfk calibrate."};

/* Creates the folders of the path. */
static bool make_folders(const char *path) {
    char folder[CALIBRATION_FILE_BYTES];
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

static void report_machine(const gfk_calibration *c) {
    json_string("processor", c->processor);
    json_number("threads", c->threads);
    json_open_array("gpus");
    for (size_t i = 0; i < c->device_count; i++) {
        json_open_object();
        json_string("name", c->devices[i]);
        json_close_object();
        say("GPU        %s", c->devices[i]);
    }
    json_close_array();
    say("CPU        %s, %u thread%s", c->processor, c->threads, plural(c->threads));
    if (c->device_count == 0)
        say("GPU        none");
    else
        say("bus        %.1f GB/s in, %.1f out, %.1f both ways; pageable memory %.1f, %.1f, %.1f",
            c->bus[GFK_PINNED][0] / 1e9, c->bus[GFK_PINNED][1] / 1e9, c->bus[GFK_PINNED][2] / 1e9,
            c->bus[GFK_PAGEABLE][0] / 1e9, c->bus[GFK_PAGEABLE][1] / 1e9,
            c->bus[GFK_PAGEABLE][2] / 1e9);
}

static void report_path(const char *name, double seconds, uint64_t bytes) {
    if (seconds < 0)
        return;
    say("  %-8s %10.6f s, %6.1f GB/s of data", name, seconds, (double)bytes / seconds / 1e9);
    json_seconds(name, seconds);
}

static int report_advice(const gfk_calibration *c, const tool_options *o, uint64_t bytes) {
    static const struct {
        gfk_where where;
        const char *name;
    } places[] = {{GFK_PAGEABLE, "pageable"}, {GFK_PINNED, "pinned"}};
    gfk_field field;
    gfk_status status = gfk_field_init(&field, o->w, 0);
    json_number("bytes", bytes);
    json_open_array("advice");
    for (int i = 0; i < 2 && status == GFK_STATUS_SUCCESS; i++) {
        gfk_advice a;
        status = gfk_advise(c, &field, o->k, o->m, (size_t)((bytes - 1) / o->k + 1),
                            places[i].where, &a);
        if (status != GFK_STATUS_SUCCESS)
            break;
        json_open_object();
        json_string("memory", places[i].name);
        json_string("path", gfk_path_name(a.path));
        json_string("why", a.why);
        say("%s memory: %s. %s", places[i].name, gfk_path_name(a.path), a.why);
        report_path("cpu", a.cpu_seconds, bytes);
        report_path("gpu", a.gpu_seconds, bytes);
        report_path("both", a.both_seconds, bytes);
        json_close_object();
    }
    json_close_array();
    return status == GFK_STATUS_SUCCESS ? 0 : fail(TOOL_INTERNAL, "%s", status_text(status));
}

static int measure(const tool_options *o, const char *file, gfk_calibration *c) {
    gfk_pipeline_desc desc = GFK_PIPELINE_DESC_INIT;
    desc.threads = o->coder.threads;
    if (o->coder.device >= 0) {
        desc.devices = &o->coder.device;
        desc.device_count = 1;
    }
    if (!make_folders(file))
        return fail_for(errno, "make the folder of", file);
    const gfk_status status = gfk_calibrate(&desc, file, c);
    if (status == GFK_STATUS_SUCCESS)
        return 0;
    if (status == GFK_STATUS_IO)
        return fail(TOOL_IO, "cannot write %s", file);
    return fail(status == GFK_STATUS_OUT_OF_MEMORY ? TOOL_INTERNAL : TOOL_BACKEND, "%s",
                status_text(status));
}

static int load(const char *file, gfk_calibration *c) {
    const bool there = access(file, F_OK) == 0;
    if (there && !is_regular(file))
        return fail(TOOL_IO, "the calibration %s is not a regular file", file);
    errno = 0;
    const gfk_status status = gfk_calibration_load(c, file);
    if (status == GFK_STATUS_SUCCESS)
        return 0;
    if (errno == ENOMEM)
        return no_memory();
    if (!there)
        return fail(TOOL_IO, "there is no calibration of this machine yet (%s): run gfk calibrate",
                    file);
    return fail(TOOL_IO, "the calibration %s cannot be used (%s): run gfk calibrate again", file,
                status_text(status));
}

static int command(unsigned which, const char *name, const command_help *help, int argc,
                   char **argv) {
    tool_options o;
    uint64_t bytes = UINT64_C(1) << 30;
    char file[CALIBRATION_FILE_BYTES];
    gfk_calibration c;
    int code = options_parse(&o, which, help, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    if (o.count > 1 || (o.count == 1 && !parse_size(o.arguments[0], &bytes)) || bytes == 0)
        return fail(TOOL_USAGE, "one number of bytes; usage: gfk %s", help->usage);
    if (!calibration_file(file))
        return fail(TOOL_IO, "neither XDG_CACHE_HOME nor HOME names a folder");
    json_begin(name);
    code = which == COMMAND_CALIBRATE ? measure(&o, file, &c) : load(file, &c);
    if (code == 0) {
        report_machine(&c);
        code = report_advice(&c, &o, bytes);
        json_string("calibration", file);
        if (which == COMMAND_CALIBRATE)
            say("kept in %s", file);
    }
    return json_end(code);
}

int command_calibrate(int argc, char **argv) {
    return command(COMMAND_CALIBRATE, "calibrate", &calibrate_help, argc, argv);
}

int command_advise(int argc, char **argv) {
    return command(COMMAND_ADVISE, "advise", &advise_help, argc, argv);
}
