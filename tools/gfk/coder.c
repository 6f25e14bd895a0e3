/* SPDX-License-Identifier: BSD-3-Clause */
#include "coder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gfk/host.h>

#include "report.h"

enum { LEAST_PINNED = 16 << 20, PAGE_BYTES = 4096 };

/* The pipelines of the process, by path: the threads of a pipeline start once, and not for each set. */
static gfk_pipeline_t pipelines[GFK_PATH_BOTH + 1];

struct coder {
    gfk_rs_t code; /* code on the CPU; the pipeline uses the matrix of this code */
    gfk_rs_info info;
    gfk_pipeline_t pipeline; /* one of the process */
    gfk_path path;           /* path that the last call took */
    bool pinned, told; /* pinned: blocks are pinned memory; told: a GPU failure was reported */
    void *workspace;   /* workspace for gfk_rs_locate */
    size_t workspace_bytes;
};

static int failed(gfk_status status) {
    return fail(TOOL_INTERNAL, "%s", status_text(status));
}

/* With ISA-L and without a calibration the CPU computes: a GPU takes half a second to start. */
static gfk_path path_of(const coder *c, const coder_options *options, const char *calibration) {
    if (options->backend != BACKEND_AUTO)
        return options->backend == BACKEND_CUDA ? GFK_PATH_GPU : GFK_PATH_CPU;
    const bool isal = c->info.product.engine->family == GFK_ENGINE_ISAL;
    return isal && calibration == NULL && options->device < 0 ? GFK_PATH_CPU : GFK_PATH_AUTO;
}

bool calibration_file(char path[CALIBRATION_FILE_BYTES]) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache != NULL && cache[0] == '/') /* XDG: a relative path is ignored */
        length = snprintf(path, CALIBRATION_FILE_BYTES, "%s/gfk/calibration", cache);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, CALIBRATION_FILE_BYTES, "%s/.cache/gfk/calibration", home);
    return length > 0 && length < CALIBRATION_FILE_BYTES;
}

bool is_regular(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static int open_pipeline(coder *c, const coder_options *options) {
    char file[CALIBRATION_FILE_BYTES];
    gfk_pipeline_desc desc = GFK_PIPELINE_DESC_INIT;
    if (calibration_file(file) && is_regular(file) && access(file, R_OK) == 0)
        desc.calibration_file = file;
    desc.path = path_of(c, options, desc.calibration_file);
    if (options->device >= 0 && desc.path != GFK_PATH_CPU) {
        desc.devices = &options->device;
        desc.device_count = 1;
    }
    desc.threads = options->threads;
    desc.pinned_memory = options->memory > LEAST_PINNED ? (size_t)options->memory : LEAST_PINNED;
    c->path = GFK_PATH_CPU; /* until a call takes another path */
    c->pinned = desc.path == GFK_PATH_GPU;
    gfk_pipeline_t *const pipeline = &pipelines[desc.path];
    const gfk_status status =
        *pipeline == NULL ? gfk_pipeline_create(pipeline, &desc) : GFK_STATUS_SUCCESS;
    c->pipeline = *pipeline;
    if (status == GFK_STATUS_OUT_OF_MEMORY)
        return failed(status);
    return status == GFK_STATUS_SUCCESS
               ? 0
               : fail(TOOL_BACKEND, "the GPU cannot be used: %s", status_text(status));
}

/* Describes a status in terms of shards; the library's description is about matrices. */
static const char *why_no_code(const gfk_field *field, gfk_rs_matrix matrix, gfk_status status) {
    gfk_field usual;
    if (status == GFK_STATUS_SINGULAR)
        return "with it, some losses of m shards could not be restored";
    if (status != GFK_STATUS_NOT_SUPPORTED)
        return status_text(status);
    if (gfk_field_init(&usual, field->w, 0) == GFK_STATUS_SUCCESS &&
        (usual.polynomial != field->polynomial || field->w != 8))
        return matrix == GFK_RS_GEN_RS || matrix == GFK_RS_GEN_CAUCHY1
                   ? "it is defined for w = 8 with the polynomial 0x11d"
                   : "it is defined for the default polynomial";
    return "there are too many losses to try whether all can be restored";
}

int coder_check_memory(size_t k, size_t m, uint64_t memory) {
    const uint64_t needed =
        2 * sizeof(uint32_t) * (uint64_t)k * m; /* the matrix, and what is made of it */
    return needed <= memory
               ? 0
               : fail(TOOL_USAGE, "a code with k = %zu and m = %zu needs --memory %llu or more", k,
                      m, (unsigned long long)needed);
}

int coder_open(coder **made, const coder_options *options, const gfk_field *field,
               gfk_rs_matrix matrix, size_t k, size_t m) {
    if (k + m > UINT64_C(1) << field->w)
        return fail(TOOL_USAGE, "with w = %u there can be %llu shards at most%s", field->w,
                    1ULL << field->w, field->w == 8 ? "; -w 16 allows 65,536" : "");
    coder *c = calloc(1, sizeof *c);
    if (c == NULL)
        return no_memory();
    gfk_rs_desc desc = GFK_RS_DESC_INIT;
    desc.matrix = matrix;
    desc.product.device = GFK_CPU;
    gfk_status status = gfk_rs_create(&c->code, field, k, m, &desc);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_rs_get_info(c->code, &c->info);
    if (status != GFK_STATUS_SUCCESS) {
        coder_close(c);
        return fail(status == GFK_STATUS_OUT_OF_MEMORY ? TOOL_INTERNAL : TOOL_USAGE,
                    "no code with k = %zu, m = %zu, w = %u and the matrix %s: %s", k, m, field->w,
                    gfk_rs_matrix_name(matrix), why_no_code(field, matrix, status));
    }
    const int code = open_pipeline(c, options);
    if (code != 0) {
        coder_close(c);
        return code;
    }
    *made = c;
    return 0;
}

void coder_close(coder *c) {
    if (c == NULL)
        return;
    gfk_rs_destroy(c->code);
    free(c->workspace);
    free(c);
}

void coders_end(void) {
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        gfk_pipeline_destroy(pipelines[i]);
        pipelines[i] = NULL;
    }
}

const char *coder_engine(const coder *c) {
    if (c == NULL)
        return "none";
    return c->path == GFK_PATH_CPU ? c->info.product.engine->id : gfk_path_name(c->path);
}

void *coder_allocate(const coder *c, size_t bytes) {
    void *memory = NULL;
    if (c != NULL && c->pinned)
        return gfk_pinned_alloc(&memory, bytes) == GFK_STATUS_SUCCESS ? memory : NULL;
    return posix_memalign(&memory, PAGE_BYTES, bytes) == 0 ? memory : NULL;
}

void coder_free(const coder *c, void *memory) {
    if (c != NULL && c->pinned)
        gfk_pinned_free(memory);
    else
        free(memory);
}

static gfk_regions data_of(const coder_stripe *stripe) {
    return (gfk_regions){stripe->blocks, NULL, 0};
}

static gfk_regions parity_of(const coder *c, const coder_stripe *stripe) {
    return (gfk_regions){stripe->blocks + c->info.k, NULL, 0};
}

/* Ends a call: records the path and warns once if the GPU failed. */
static int done(coder *c, gfk_status status, const gfk_pipeline_report *report) {
    if (status != GFK_STATUS_SUCCESS)
        return failed(status);
    c->path = report->path == GFK_PATH_GPU && report->gpu_bytes == 0 ? GFK_PATH_CPU : report->path;
    if (report->device_status != GFK_STATUS_SUCCESS && !c->told) {
        c->told = true;
        warn("the GPU failed (%s); the CPU goes on", status_text(report->device_status));
    }
    return 0;
}

int coder_encode(coder *c, const coder_stripe *stripes, size_t count) {
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        const gfk_regions data = data_of(&stripes[i]), parity = parity_of(c, &stripes[i]);
        gfk_pipeline_report report = {0};
        const gfk_status status =
            gfk_rs_encode_host(c->pipeline, c->code, &data, &parity, stripes[i].bytes, &report);
        code = done(c, status, &report);
    }
    return code;
}

int coder_decode(coder *c, const coder_stripe *stripes, size_t count, const size_t *lost,
                 size_t lost_count, const size_t *wanted, size_t wanted_count) {
    int code = 0;
    for (size_t i = 0; i < count && code == 0 && wanted_count != 0; i++) {
        const gfk_regions data = data_of(&stripes[i]), parity = parity_of(c, &stripes[i]);
        gfk_pipeline_report report = {0};
        const gfk_status status =
            gfk_rs_decode_host(c->pipeline, c->code, lost, lost_count, wanted, wanted_count, &data,
                               &parity, stripes[i].bytes, &report);
        code = done(c, status, &report);
    }
    return code;
}

int coder_verify(coder *c, const coder_stripe *stripe, bool *matches) {
    const gfk_regions data = data_of(stripe), parity = parity_of(c, stripe);
    uint32_t differs = 0;
    gfk_pipeline_report report = {0};
    const gfk_status status =
        gfk_rs_verify_host(c->pipeline, c->code, &data, &parity, stripe->bytes, &differs, &report);
    *matches = differs == 0;
    return done(c, status, &report);
}

static gfk_status make_workspace(coder *c, size_t bytes) {
    size_t needed = 0;
    const gfk_status status = gfk_rs_locate_workspace(c->code, bytes, &needed);
    if (status != GFK_STATUS_SUCCESS || needed <= c->workspace_bytes)
        return status;
    free(c->workspace);
    c->workspace = NULL;
    c->workspace_bytes = 0;
    if (posix_memalign(&c->workspace, 256, needed) != 0)
        return GFK_STATUS_OUT_OF_MEMORY;
    c->workspace_bytes = needed;
    return GFK_STATUS_SUCCESS;
}

size_t coder_locatable(const coder *c) {
    return c->info.locatable;
}

/* Corrects a part of a stripe; the counts are added. */
static gfk_status correct_part(coder *c, const coder_stripe *part, bool *corrected,
                               uint64_t *counts) {
    const size_t n = c->info.k + c->info.m;
    const gfk_regions data = data_of(part), parity = parity_of(c, part);
    gfk_rs_verdict verdict = {0};
    uint64_t *const more = calloc(n, sizeof *more);
    gfk_status status = more == NULL ? GFK_STATUS_OUT_OF_MEMORY : make_workspace(c, part->bytes);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_rs_locate(c->code, &data, &parity, part->bytes, GFK_RS_REPAIR, &verdict, more,
                               c->workspace, c->workspace_bytes, NULL);
    for (size_t i = 0; i < n && status == GFK_STATUS_SUCCESS; i++)
        counts[i] += more[i];
    free(more);
    *corrected = verdict.unexplained == 0;
    return status;
}

int coder_correct(coder *c, const coder_stripe *stripe, bool *corrected, uint64_t *counts) {
    /* With GEN_RS the library tries all sets of blocks at each position: a part that no set explains
     * ends the work. */
    const size_t n = c->info.k + c->info.m;
    const size_t most = c->info.matrix == GFK_RS_GEN_RS ? 4096 : stripe->bytes;
    *corrected = false;
    if (c->info.locatable == 0)
        return 0;
    void **const blocks = calloc(n, sizeof *blocks);
    gfk_status status = blocks == NULL ? GFK_STATUS_OUT_OF_MEMORY : GFK_STATUS_SUCCESS;
    memset(counts, 0, n * sizeof *counts);
    *corrected = true;
    for (size_t done = 0; done < stripe->bytes && status == GFK_STATUS_SUCCESS && *corrected;
         done += most) {
        const size_t left = stripe->bytes - done;
        for (size_t i = 0; i < n; i++)
            blocks[i] = (uint8_t *)stripe->blocks[i] + done;
        status =
            correct_part(c, &(coder_stripe){blocks, left < most ? left : most}, corrected, counts);
    }
    free(blocks);
    return status == GFK_STATUS_SUCCESS ? 0 : failed(status);
}
