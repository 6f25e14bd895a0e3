/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../gfk/files.h"
#include "../gfk/report.h"

/* Some of the further arguments are files of the set's packets, the others may have slices. */
typedef struct arguments {
    char **volumes, **files;
    size_t volume_count, file_count;
} arguments;

static bool is_volume(const char *path) {
    const size_t length = strlen(path);
    return length > 5 && strcasecmp(path + length - 5, ".par2") == 0;
}

static int split(arguments *a, const par2_options *options) {
    *a = (arguments){calloc(options->file_count + 1, sizeof *a->volumes),
                     calloc(options->file_count + 1, sizeof *a->files), 0, 0};
    if (a->volumes == NULL || a->files == NULL)
        return par2_no_memory();
    for (size_t i = 0; i < options->file_count; i++)
        if (is_volume(options->files[i]))
            a->volumes[a->volume_count++] = options->files[i];
        else
            a->files[a->file_count++] = options->files[i];
    return 0;
}

/* ---- the report ----------------------------------------------------------------------------- */

static void report_set(const verification *v) {
    const par2_set *const set = &v->set;
    uint64_t bytes = 0;
    for (size_t i = 0; i < set->file_count; i++)
        bytes += set->files[i].bytes;
    say("%zu file%s of %llu bytes, %zu slice%s of %llu bytes, %zu recovery slice%s",
        set->file_count, plural(set->file_count), (unsigned long long)bytes, set->slices,
        plural(set->slices), (unsigned long long)set->slice_bytes, set->recovery_count,
        plural(set->recovery_count));
    for (size_t i = 0; i < set->volume_count; i++)
        if (set->volumes[i].packets.damaged != 0)
            say("%s: %llu damaged packet%s", set->volumes[i].path,
                (unsigned long long)set->volumes[i].packets.damaged,
                plural(set->volumes[i].packets.damaged));
}

static void report_target(const verification *v, size_t i) {
    const set_file *const f = &v->set.files[i];
    const scan_target *const t = &v->found.targets[i];
    const char *const source = t->source == SCAN_NOWHERE ? NULL : v->found.sources[t->source]->path;
    if (f->name == NULL) {
        say("a file of the set has no name: its packet is missing");
    } else if (t->state == SCAN_INTACT) {
        if (v->options->verbose != 0)
            say("%s: intact", f->name);
    } else if (t->state == SCAN_RENAMED) {
        say("%s: renamed, the file is %s", f->name, source);
    } else if (f->slices == 0) {
        say("%s: %s", f->name, t->state == SCAN_MISSING ? "missing" : "damaged");
    } else {
        say("%s: %s, %zu of %zu slice%s found", f->name,
            t->state == SCAN_MISSING ? "missing" : "damaged", t->found, f->slices,
            plural(f->slices));
    }
}

/* Files without slices that are damaged cannot be repaired, unless they are empty. */
static size_t count_hopeless(const verification *v) {
    size_t count = 0;
    for (size_t i = 0; i < v->set.file_count; i++)
        count += v->set.files[i].name != NULL && v->set.files[i].slices == 0 &&
                 v->set.files[i].bytes != 0 && v->found.targets[i].state != SCAN_INTACT &&
                 v->found.targets[i].state != SCAN_RENAMED;
    return count;
}

static int report(const verification *v) {
    const par2_set *const set = &v->set;
    const size_t missing = set->slices - v->found.found, hopeless = count_hopeless(v);
    size_t intact = 0, ignored = 0;
    for (size_t i = 0; i < set->file_count; i++) {
        report_target(v, i);
        intact += v->found.targets[i].state == SCAN_INTACT;
        ignored += i >= set->protected && set->files[i].name == NULL;
    }
    if (intact + ignored == set->file_count) {
        say("all files are intact");
        return PAR2_OK;
    }
    say("%zu of %zu file%s intact; %zu of %zu slice%s missing", intact, set->file_count,
        set->file_count == 1 ? " is" : "s are", missing, set->slices,
        set->slices == 1 ? " is" : "s are");
    if (!set->complete)
        return fail(PAR2_NOT_ENOUGH_DATA,
                    "packets that describe files of the set are missing or damaged: without them "
                    "nothing can be repaired");
    if (hopeless != 0) {
        say("repair is not possible: the set has no recovery slices for %zu damaged file%s",
            hopeless, plural(hopeless));
        return PAR2_REPAIR_IMPOSSIBLE;
    }
    if (missing > set->recovery_count) {
        say("repair is not possible: %zu more recovery slice%s needed",
            missing - set->recovery_count, missing - set->recovery_count == 1 ? " is" : "s are");
        return PAR2_REPAIR_IMPOSSIBLE;
    }
    say("repair is possible: it takes %zu of %zu recovery slice%s", missing, set->recovery_count,
        plural(set->recovery_count));
    return PAR2_REPAIR_POSSIBLE;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int open_base(verification *v) {
    const char *const path = v->options->base;
    const int error =
        path != NULL ? folder_open(&v->base, path) : folder_of(&v->base, v->options->set);
    return error == 0 ? 0
                      : par2_code(fail_for(error, "open the folder",
                                           path != NULL ? path : v->options->set));
}

int verification_run(verification *v, const par2_options *options) {
    *v = (verification){.options = options};
    arguments a = {0};
    const double start = seconds_now();
    int code = split(&a, options);
    if (code == 0)
        code = open_base(v);
    if (code == 0)
        code = set_open(&v->set, options->set, a.volumes, a.volume_count, options->coder.threads);
    const double opened = seconds_now();
    const scan_options how = {v->base, options->coder.threads, options->coder.memory, a.files,
                              a.file_count};
    if (code == 0)
        report_set(v);
    if (code == 0)
        code = scan_run(&v->found, &v->set, &how);
    if (code == 0) {
        par2_time(options, "set", opened - start);
        par2_time(options, "scan", seconds_now() - opened);
        par2_count(options, "files", v->set.file_count);
        par2_count(options, "slices", v->set.slices);
        par2_count(options, "missing", v->set.slices - v->found.found);
        code = report(v);
    }
    free(a.volumes);
    free(a.files);
    return code;
}

void verification_free(verification *v) {
    scan_free(&v->found);
    set_close(&v->set);
}

int par2_verify(const par2_options *options) {
    verification v;
    const int code = verification_run(&v, options);
    verification_free(&v);
    return code;
}
