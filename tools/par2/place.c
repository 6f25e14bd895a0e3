/* SPDX-License-Identifier: BSD-3-Clause */
#include "place.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <gfk/gfk.h>

#include "../gfk/ending.h"
#include "../gfk/report.h"
#include "device.h"
#include "packet.h"
#include "par2.h"
#include "reader.h"

enum {
    ALIGNMENT = 256, /* of a workspace */
    PAGE = 4096,
    HUGE_PAGE = 2 << 20,
    LINE = 64, /* the columns and rows begin at multiples of it */
    LEAST_BUFFERS = 4,
    MOST_BUFFERS = 256,
    BUFFER_BYTES = 32 << 20, /* of a buffer at most, if a column is not longer */
    LEAST_BUFFER_BYTES = 1 << 20,
    LONG_COLUMNS = 4, /* of a buffer, where slices are long: md5_many takes them at once */
    LEAST_LONG_BUFFERS = 16,
    MOST_COLUMNS = 4096, /* of a product on the device */
    LEAST_COLUMNS = 256, /* where the device is idle, or has little memory */
    BLOCK_ROWS = 2048,   /* of the last products, at least: each transforms the columns again */
    BLOCK_BYTES = 128 << 20,
    MOST_BLOCKS = 5,
    LONG_RUN = 64,      /* rows with consecutive exponents that are worth a product of their own */
    SMALL_MATRIX = 512, /* is inverted on the CPU in milliseconds */
    ORDER = 65535       /* of the field's multiplicative group */
};

typedef enum place_kind { PLACE_IDLE, PLACE_CPU, PLACE_GPU } place_kind;

typedef struct buffer {
    place_buffer shown; /* the first member: a place_buffer * is also a buffer * */
    size_t count;       /* columns that were given */
    bool pinned;        /* for a GPU */
    size_t sent;        /* GPU: the columns that have been sent when the copy is complete */
    void *event;        /* GPU: the copy from or to the memory is complete */
    struct buffer *next;
} buffer;

/* A queue of buffers. */
typedef struct buffers {
    buffer *first, **last;
} buffers;

/* A product on the device, of the columns from the end of the product ahead of it to `end`. */
typedef struct ordered_product {
    size_t end;
    void *done; /* event */
} ordered_product;

/* Consecutive rows with consecutive exponents. */
typedef struct run {
    size_t first, rows;
} run;

struct place {
    place_kind kind;
    bool automatic; /* nobody asked for the GPU */
    bool opened;    /* the GPU */
    bool lost;      /* the GPU has failed */
    char name[256];
    gfk_field field;
    gfk_matmul_desc desc;
    uint64_t memory; /* of the host */
    unsigned threads;
    double started; /* seconds */
    double multiply_adds;

    uint32_t *exponents;
    size_t rows, columns; /* columns: of a buffer */
    run *runs;
    size_t run_count; /* 0: products with a matrix that is made here */
    size_t width, stride;
    uint8_t *row_memory;
    void *workspace;
    size_t workspace_bytes;
    uint16_t *powers; /* 2^n for n below 2 * ORDER */
    uint32_t *logarithms;
    uint16_t
        *elements; /* the matrix made here, rows * most columns of a product; pinned for a GPU */
    size_t most_columns; /* of a product */

    void *inverse; /* inverse_rows^2 elements */
    size_t inverse_rows;
    bool solved; /* place_read reads the rows of place_solve, which begin with solved_first */
    size_t solved_first, solve_rows;
    uint8_t *solved_memory;

    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t changed;
    gfk_status status; /* the first error */
    buffers free, given;
    bool ready; /* false: a GPU that place_prepare is to open, or could not open */
    buffer **all;
    size_t made, making, most; /* buffers */

    /* CPU: a thread computes what is given. GPU: until it is open, `given` are the buffers that wait for it. */
    pthread_t thread;
    bool running, computing, ending;

    /* GPU: `given` are the buffers whose copies are not known to be complete. */
    int device;
    uint64_t device_memory; /* free when the place was opened */
    gfk_stream_t copies, products, fetches;
    uint8_t *ring; /* columns on the device: column i of a pass is at i modulo ring_columns */
    uint32_t *ring_points; /* the columns' constants */
    size_t ring_columns;
    size_t all_columns;      /* of the pass */
    size_t sent, multiplied; /* columns of the pass: whose copies, and whose products are ordered */
    size_t arrived;          /* columns whose copies are complete */
    ordered_product last[2]; /* products; `turn` is the older one */
    size_t turn;
    void *copied;              /* event: what `sent` counts has been copied */
    size_t block_rows;         /* the last products of a pass are ordered by blocks of rows */
    void *blocks[MOST_BLOCKS]; /* events: the rows of the block are complete */
    void *made_elements;       /* the matrix on the device */
    void *elements_used;       /* event: the matrix in `elements` has been copied */
};

/* ---- queues --------------------------------------------------------------------------------- */

static void push(buffers *list, buffer *b) {
    b->next = NULL;
    *list->last = b;
    list->last = &b->next;
}

static buffer *pop(buffers *list) {
    buffer *const b = list->first;
    if (b != NULL) {
        list->first = b->next;
        if (b->next == NULL)
            list->last = &list->first;
    }
    return b;
}

static void clear(buffers *list) {
    *list = (buffers){NULL, &list->first};
}

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

/* The distance of columns and rows. Columns that are multiples of 512 bytes apart would share few
 * lines of a cache, which md5_many reads side by side. */
static size_t stride_of(uint64_t width) {
    enum { LONG = 1 << 14, NEAR = 512 };
    const size_t stride = round_up((size_t)width, LINE);
    return stride >= LONG && stride % NEAR == 0 ? stride + LINE : stride;
}

/* Is the GPU open? With the mutex, where other threads may open it. */
static bool on_gpu(const place *p) {
    return p->kind == PLACE_GPU && p->ready;
}

/* Keeps the first error and wakes everybody. With the mutex. */
static void note(place *p, gfk_status status) {
    if (p->status == GFK_STATUS_SUCCESS)
        p->status = status;
    pthread_cond_broadcast(&p->changed);
}

/* The message about a status; 0 for SUCCESS. A GPU that fails does so once. */
static int failed(place *p, gfk_status status) {
    if (status == GFK_STATUS_SUCCESS)
        return 0;
    if (p->kind != PLACE_GPU)
        return status == GFK_STATUS_OUT_OF_MEMORY ? par2_no_memory()
                                                  : fail(PAR2_INTERNAL, "%s", status_text(status));
    pthread_mutex_lock(&p->mutex);
    const bool told = p->lost || place_unopened(p);
    p->lost = !place_unopened(p);
    pthread_mutex_unlock(&p->mutex);
    if (!told && p->automatic)
        warn("the GPU failed: %s", status_text(status));
    else if (!told)
        fail(PAR2_INTERNAL, "the GPU failed: %s; --backend host computes on the CPU",
             status_text(status));
    return status == GFK_STATUS_OUT_OF_MEMORY ? PAR2_MEMORY : PAR2_INTERNAL;
}

bool place_can_retry(const place *p) {
    return p != NULL && p->lost && p->automatic;
}

bool place_unopened(const place *p) {
    return p != NULL && !p->ready && p->status != GFK_STATUS_SUCCESS;
}

void place_constants(uint32_t *constants, size_t count) {
    gfk_field field;
    const gfk_matrix row = {.rows = 1, .cols = count, .kind = GFK_MATRIX_PAR2, .first = 1};
    (void)gfk_field_init(&field, 16, 0);
    if (count != 0) /* and at most PAR2_MOST_SLICES, so that nothing can fail */
        (void)gfk_matrix_fill(&field, &row, constants);
}

/* ---- opening -------------------------------------------------------------------------------- */

static place *make(place_kind kind, uint64_t memory, unsigned threads) {
    place *const p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->kind = kind;
    p->memory = memory;
    p->threads = threads;
    p->desc = (gfk_matmul_desc)GFK_MATMUL_DESC_INIT;
    p->desc.device = GFK_CPU;
    p->ready = true;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->changed, NULL);
    clear(&p->free);
    clear(&p->given);
    snprintf(p->name, sizeof p->name, "CPU");
    (void)gfk_field_init(&p->field, 16, 0);
    return p;
}

int place_open_idle(place **made, const coder_options *options, uint64_t memory) {
    *made = make(PLACE_IDLE, memory, options->threads);
    return *made == NULL ? par2_no_memory() : 0;
}

/* Opens the device, if there is one on which matmul runs. */
static gfk_status open_device(place *p) {
    const char *kernel = NULL;
    const double begin = seconds_now();
    gfk_status status = device_begin(p->device, p->name, sizeof p->name, &p->device_memory);
    p->desc.device = p->device;
    p->opened = status == GFK_STATUS_SUCCESS;
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_matmul_kernel_id(&p->field, 64, 64, 1 << 20, &p->desc, &kernel);
    if (status == GFK_STATUS_SUCCESS)
        status = device_stream_open(&p->copies);
    if (status == GFK_STATUS_SUCCESS)
        status = device_stream_open(&p->products);
    if (status == GFK_STATUS_SUCCESS)
        status = device_stream_open(&p->fetches);
    if (status == GFK_STATUS_SUCCESS)
        status = device_event_open(&p->elements_used);
    if (status == GFK_STATUS_SUCCESS)
        status = device_event_open(&p->copied);
    for (size_t i = 0; i < 2 && status == GFK_STATUS_SUCCESS; i++)
        status = device_event_open(&p->last[i].done);
    for (size_t i = 0; i < MOST_BLOCKS && status == GFK_STATUS_SUCCESS; i++)
        status = device_event_open(&p->blocks[i]);
    p->started = seconds_now() - begin;
    return status;
}

/* The driver makes fewer queues of the hardware, which a GPU that does one thing does not need: CUDA starts and ends
 * in three quarters of the time. Ahead of CUDA and of threads that read the environment. */
static void use_few_queues(void) {
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
    (void)setenv("CUDA_DEVICE_MAX_COPY_CONNECTIONS", "1", 0);
}

int place_open(place **made, const coder_options *options, double work, bool later) {
    place *p = NULL;
    *made = NULL;
    /* The CPU does about 1e10 multiply-adds a second on each core; a GPU takes about 0.1 seconds to start. */
    const double cpu_seconds = work / (1e10 * reader_threads(options->threads));
    const bool wanted = options->backend == BACKEND_CUDA || options->device >= 0;
    if (options->backend != BACKEND_HOST && (wanted || cpu_seconds > 0.15)) {
        p = make(PLACE_GPU, options->memory, options->threads);
        if (p == NULL)
            return par2_no_memory();
        p->automatic = !wanted;
        p->ready = !later;
        p->device = options->device < 0 ? 0 : options->device;
        use_few_queues();
        const gfk_status status = later ? GFK_STATUS_SUCCESS : open_device(p);
        if (status != GFK_STATUS_SUCCESS) {
            place_close(p);
            p = NULL;
            if (wanted)
                return fail(PAR2_INTERNAL, "the GPU cannot be used: %s", status_text(status));
        }
    }
    if (p == NULL) {
        p = make(PLACE_CPU, options->memory, options->threads);
        if (p == NULL)
            return par2_no_memory();
        p->desc.threads = options->threads;
    }
    *made = p;
    return 0;
}

const char *place_name(const place *p) {
    return p->name;
}

/* ---- memory, on the place and pinned for it ------------------------------------------------- */

static gfk_status allocate(const place *p, void **memory, uint64_t bytes) {
    *memory = NULL;
    if (p->kind == PLACE_GPU)
        return device_alloc(memory, bytes);
    return bytes < SIZE_MAX / 2 &&
                   posix_memalign(memory, ALIGNMENT, round_up((size_t)bytes, ALIGNMENT)) == 0
               ? GFK_STATUS_SUCCESS
               : GFK_STATUS_OUT_OF_MEMORY;
}

static void release(const place *p, void *memory) {
    if (p->opened)
        device_free(memory);
    else
        free(memory);
}

static gfk_status allocate_host(const place *p, void **memory, size_t bytes) {
    *memory = NULL;
    if (p->kind == PLACE_GPU)
        return gfk_pinned_alloc(memory, bytes);
    return posix_memalign(memory, ALIGNMENT, bytes) == 0 ? GFK_STATUS_SUCCESS
                                                         : GFK_STATUS_OUT_OF_MEMORY;
}

/* The memory of a buffer, in pages of its own. It has huge pages where the system has them, which a GPU's
 * driver pins in a tenth of the time. */
static gfk_status allocate_buffer(void **memory, size_t bytes) {
    *memory = NULL;
    bytes = round_up(bytes, PAGE);
    if (posix_memalign(memory, bytes < HUGE_PAGE ? PAGE : HUGE_PAGE, bytes) != 0)
        return GFK_STATUS_OUT_OF_MEMORY;
    if (bytes >= HUGE_PAGE)
        (void)madvise(*memory, bytes, MADV_HUGEPAGE);
    return GFK_STATUS_SUCCESS;
}

/* Ahead of a copy from or to a buffer: the thread uses the GPU, and the buffer is pinned. */
static gfk_status pin(const place *p, buffer *b) {
    gfk_status status = device_use(p->device);
    if (status != GFK_STATUS_SUCCESS || b->pinned)
        return status;
    status = gfk_pinned_register(b->shown.memory, p->columns * p->stride);
    b->pinned = status == GFK_STATUS_SUCCESS;
    if (status == GFK_STATUS_SUCCESS)
        status = device_event_open(&b->event);
    return status;
}

static void release_buffer(buffer *b) {
    /* Memory that a driver has failed to unpin may still be accessed by the device: it is not freed. */
    if (!b->pinned || gfk_pinned_unregister(b->shown.memory) != GFK_STATUS_CUDA)
        free(b->shown.memory);
    free(b->shown.points);
    device_event_close(b->event);
    free(b);
}

/* ---- the shape ------------------------------------------------------------------------------ */

/* Finds the runs of consecutive exponents. Many short ones are slower than a matrix made here. */
static bool find_runs(place *p) {
    p->runs = calloc(p->rows, sizeof *p->runs);
    if (p->runs == NULL)
        return false;
    for (size_t j = 0; j < p->rows; j++) {
        if (j == 0 || p->exponents[j] != p->exponents[j - 1] + 1)
            p->runs[p->run_count++].first = j;
        p->runs[p->run_count - 1].rows++;
    }
    if (p->run_count > 1 + p->rows / LONG_RUN)
        p->run_count = 0;
    return true;
}

/* Fills the tables of powers of 2, which generates the field's multiplicative group. */
static bool make_powers(place *p) {
    if (p->powers != NULL)
        return true;
    p->powers = malloc(ORDER * sizeof *p->powers);
    p->logarithms = calloc(ORDER + 1, sizeof *p->logarithms);
    if (p->powers == NULL || p->logarithms == NULL)
        return false;
    uint32_t power = 1;
    for (uint32_t n = 0; n < ORDER; n++) {
        p->powers[n] = (uint16_t)power;
        p->logarithms[power] = n;
        power <<= 1;
        if (power > 0xffff)
            power ^= (uint32_t)GFK_POLYNOMIAL_W16;
    }
    return true;
}

/* row[i] = point_i^exponent, of points by their logarithms. */
static void fill_row(const place *p, uint16_t *row, uint32_t exponent, const uint32_t *logarithms,
                     size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint32_t product = logarithms[i] * exponent;            /* both are below ORDER */
        const uint32_t folded = (product & 0xffff) + (product >> 16); /* 2^16 is 1 modulo ORDER */
        row[i] = p->powers[folded >= ORDER ? folded - ORDER : folded];
    }
}

static gfk_status workspace_of(const place *p, size_t cols, size_t width, size_t *bytes) {
    return p->kind == PLACE_IDLE
               ? GFK_STATUS_SUCCESS
               : gfk_matmul_workspace(&p->field, p->rows, cols, width, &p->desc, bytes);
}

/* The columns of one product. A matrix that is made here has a share of the memory. */
static size_t columns_of_product(const place *p, size_t cols) {
    while (p->run_count == 0 && p->kind != PLACE_IDLE && cols > LEAST_COLUMNS &&
           p->rows * (uint64_t)cols * sizeof *p->elements > p->memory / 8)
        cols = (cols + 1) / 2;
    return cols;
}

/* On the CPU rows and buffers share the memory. A product of 64 columns and more has little work
 * with the rows' own traffic, and the reader fills as many in the meantime. */
static gfk_status shape_cpu(place *p, size_t cols, uint64_t slice) {
    const size_t columns = p->kind == PLACE_IDLE ? 2 * (size_t)reader_threads(p->threads)
                           : cols < 128          ? cols
                                                 : 128;
    const uint64_t most = p->memory / (p->rows + columns) / LINE * LINE;
    p->width = (size_t)(slice < most ? slice : most < LINE ? LINE : most);
    p->stride = stride_of(p->width);
    const uint64_t used = p->rows * (uint64_t)p->stride;
    p->memory = p->memory > used ? p->memory - used : 0;
    p->most_columns = columns_of_product(p, cols);
    return GFK_STATUS_SUCCESS;
}

/* The bytes on the device for a width and the columns of a product, without the workspace: the ring has at least
 * twice as many columns, so that copies and products run at the same time. */
static uint64_t device_bytes(const place *p, uint64_t width, size_t columns) {
    const uint64_t elements =
        p->run_count == 0 ? p->rows * (uint64_t)columns * sizeof *p->elements : 0;
    return (p->rows + 2 * (uint64_t)columns) * stride_of(width) + elements;
}

/* The bytes on the device that are free for rows and columns. */
static gfk_status device_room(const place *p, size_t columns, uint64_t width, uint64_t *room) {
    size_t space = 0;
    const gfk_status status = workspace_of(p, columns, (size_t)width, &space);
    const uint64_t taken = p->device_memory / 16 + space;
    *room = p->device_memory > taken ? p->device_memory - taken : 0;
    return status;
}

/* As few passes as there is memory for. A GPU that is not yet open is supposed to have enough. */
static gfk_status shape_gpu(place *p, size_t cols, uint64_t slice) {
    uint64_t most = p->memory / LEAST_BUFFERS / LINE * LINE; /* bytes of a column */
    most = most < LINE ? LINE : most;
    size_t columns = columns_of_product(p, cols < MOST_COLUMNS ? cols : MOST_COLUMNS);
    for (uint64_t passes = (slice + most - 1) / most;;) {
        const uint64_t part = round_up((size_t)((slice + passes - 1) / passes), LINE);
        const uint64_t width = part < slice ? part : slice;
        uint64_t room = UINT64_MAX;
        const gfk_status status =
            p->ready ? device_room(p, columns, width, &room) : GFK_STATUS_SUCCESS;
        if (status != GFK_STATUS_SUCCESS)
            return status;
        if (device_bytes(p, width, columns) <= room) {
            p->width = (size_t)width;
            p->stride = stride_of(p->width);
            p->most_columns = columns;
            p->ring_columns = p->all_columns = cols;
            return GFK_STATUS_SUCCESS;
        }
        if (columns > LEAST_COLUMNS)
            columns /= 2;
        else if (width > LINE)
            passes += 1 + passes / 4;
        else
            return GFK_STATUS_OUT_OF_MEMORY;
    }
}

/* The ring has room for all columns, if a quarter of the device's memory is enough: then products that are late
 * do not stop the copies. */
static gfk_status allocate_ring(place *p) {
    uint64_t room = 0;
    void *memory = NULL;
    gfk_status status = device_room(p, p->most_columns, p->width, &room);
    if (status != GFK_STATUS_SUCCESS || device_bytes(p, p->width, p->most_columns) > room)
        return status == GFK_STATUS_SUCCESS ? GFK_STATUS_OUT_OF_MEMORY : status;
    const uint64_t most = (room - device_bytes(p, p->width, p->most_columns)) / 4 / p->stride;
    if (p->ring_columns > most + 2 * p->most_columns)
        p->ring_columns = (size_t)most + 2 * p->most_columns;
    p->ring_points = calloc(p->ring_columns, sizeof *p->ring_points);
    status = p->ring_points == NULL ? GFK_STATUS_OUT_OF_MEMORY
                                    : device_alloc(&memory, p->ring_columns * (uint64_t)p->stride);
    p->ring = memory;
    return status;
}

/* The number of buffers, and of columns in one: buffers are small enough that all threads of the
 * reader have some, and large enough that md5_many has several slices. */
static void shape_buffers(place *p, size_t cols) {
    const uint64_t each = (uint64_t)cols * p->stride / (4 * reader_threads(p->threads));
    uint64_t bytes = p->memory / 32;
    bytes = bytes < BUFFER_BYTES ? bytes : BUFFER_BYTES;
    bytes = each < LEAST_BUFFER_BYTES ? LEAST_BUFFER_BYTES : bytes < each ? bytes : each;
    uint64_t few = p->memory / LEAST_LONG_BUFFERS / p->stride; /* of long slices */
    few = few < LONG_COLUMNS ? few : LONG_COLUMNS;
    if (few > cols / reader_threads(p->threads))
        few = cols / reader_threads(p->threads);
    p->columns = (size_t)(bytes / p->stride);
    if (p->columns < few)
        p->columns = (size_t)few;
    if (p->columns > p->most_columns)
        p->columns = p->most_columns;
    if (p->columns == 0)
        p->columns = 1;
    const uint64_t count = p->memory / ((uint64_t)p->columns * p->stride);
    p->most = count < LEAST_BUFFERS  ? LEAST_BUFFERS
              : count < MOST_BUFFERS ? (size_t)count
                                     : MOST_BUFFERS;
}

static gfk_status allocate_shape(place *p) {
    const size_t rows = p->rows, columns = p->most_columns;
    void *memory = NULL;
    gfk_status status = allocate(p, &memory, rows * (uint64_t)p->stride);
    p->row_memory = memory;
    if (status == GFK_STATUS_SUCCESS)
        status = workspace_of(p, columns, p->width, &p->workspace_bytes);
    if (status == GFK_STATUS_SUCCESS)
        status = allocate(p, &p->workspace, p->workspace_bytes);
    if (status == GFK_STATUS_SUCCESS && p->run_count == 0) {
        status = make_powers(p) ? allocate_host(p, &memory, rows * columns * sizeof *p->elements)
                                : GFK_STATUS_OUT_OF_MEMORY;
        p->elements = status == GFK_STATUS_SUCCESS ? memory : NULL;
        if (status == GFK_STATUS_SUCCESS && p->kind == PLACE_GPU)
            status = device_alloc(&p->made_elements, rows * columns * sizeof *p->elements);
    }
    if (status == GFK_STATUS_SUCCESS && p->kind == PLACE_GPU)
        status = allocate_ring(p);
    return status;
}

int place_shape(place *p, const uint32_t *exponents, size_t rows, size_t cols, uint64_t slice_bytes,
                place_layout *layout) {
    p->rows = rows;
    p->exponents = malloc((rows == 0 ? 1 : rows) * sizeof *p->exponents);
    if (p->exponents == NULL)
        return par2_no_memory();
    if (rows != 0)
        memcpy(p->exponents, exponents, rows * sizeof *p->exponents);
    if (rows != 0 && !find_runs(p))
        return par2_no_memory();
    if (cols == 0)
        cols = 1;
    gfk_status status =
        p->kind == PLACE_GPU ? shape_gpu(p, cols, slice_bytes) : shape_cpu(p, cols, slice_bytes);
    if (status != GFK_STATUS_SUCCESS)
        return failed(p, status);
    shape_buffers(p, cols);
    p->all = calloc(p->most, sizeof *p->all);
    if (p->all == NULL)
        return par2_no_memory();
    if (p->kind == PLACE_CPU && p->most_columns > p->most * p->columns)
        p->most_columns = p->most * p->columns;
    if (p->kind != PLACE_IDLE && p->ready)
        status = allocate_shape(p);
    *layout =
        (place_layout){p->width, (size_t)((slice_bytes + p->width - 1) / p->width), p->columns,
                       reader_threads(p->threads) * (p->kind == PLACE_GPU ? 2 : 1)};
    return failed(p, status);
}

/* ---- products ------------------------------------------------------------------------------- */

/* Adds the products of columns to the rows from `first` to `end`; on a device in the order of the stream. Any
 * number of columns up to most_columns; `b` are their regions. */
static gfk_status multiply(place *p, size_t first, size_t end, const gfk_regions *b,
                           const uint32_t *points, size_t count) {
    for (size_t r = 0; r < p->run_count; r++) {
        const run *const part = &p->runs[r];
        const size_t from = part->first > first ? part->first : first;
        const size_t to = part->first + part->rows < end ? part->first + part->rows : end;
        if (from >= to)
            continue;
        const gfk_matrix a = {.rows = to - from,
                              .cols = count,
                              .kind = GFK_MATRIX_VANDERMONDE,
                              .col_points = points,
                              .first = p->exponents[from]};
        const gfk_regions c = {NULL, p->row_memory + from * p->stride, p->stride};
        const gfk_status status = gfk_matmul(&p->field, &a, b, &c, p->width, GFK_XOR, &p->desc,
                                             p->workspace, p->workspace_bytes, p->products);
        if (status != GFK_STATUS_SUCCESS)
            return status;
    }
    return GFK_STATUS_SUCCESS;
}

typedef struct element_work {
    const place *p;
    const uint32_t *logarithms;
    size_t count;
} element_work;

static int fill_rows(void *context, size_t part) {
    enum { PART = LONG_RUN };
    const element_work *const work = context;
    const place *const p = work->p;
    for (size_t j = part * PART; j < p->rows && j < (part + 1) * PART; j++)
        fill_row(p, p->elements + j * work->count, p->exponents[j], work->logarithms, work->count);
    return 0;
}

/* As multiply, with a matrix that is made here. */
static gfk_status multiply_made(place *p, const gfk_regions *b, uint32_t *points, size_t count) {
    gfk_status status = GFK_STATUS_SUCCESS;
    if (p->kind == PLACE_GPU)
        status = device_wait(p->elements_used);
    if (status != GFK_STATUS_SUCCESS)
        return status;
    for (size_t i = 0; i < count; i++)
        points[i] = p->logarithms[points[i]];
    element_work work = {p, points, count};
    (void)parallel_for(p->threads, (p->rows + LONG_RUN - 1) / LONG_RUN, fill_rows, &work);
    gfk_matrix a = GFK_MATRIX_DENSE_INIT(p->elements, p->rows, count, count);
    if (p->kind == PLACE_GPU) {
        a.elements = p->made_elements;
        status = device_send(p->made_elements, p->elements, p->rows * count * sizeof *p->elements,
                             p->products);
        if (status == GFK_STATUS_SUCCESS)
            status = device_record(p->elements_used, p->products);
    }
    const gfk_regions c = {NULL, p->row_memory, p->stride};
    return status == GFK_STATUS_SUCCESS
               ? gfk_matmul(&p->field, &a, b, &c, p->width, GFK_XOR, &p->desc, p->workspace,
                            p->workspace_bytes, p->products)
               : status;
}

static gfk_status add_products(place *p, const gfk_regions *b, uint32_t *points, size_t count) {
    p->multiply_adds += (double)count * (double)p->rows * (double)p->width;
    return p->run_count == 0 ? multiply_made(p, b, points, count)
                             : multiply(p, 0, p->rows, b, points, count);
}

/* ---- the CPU's thread ----------------------------------------------------------------------- */

/* What the thread computes at once: buffers whose columns are one product. */
typedef struct group {
    buffer *buffers[MOST_BUFFERS];
    size_t count, columns;
    void **pointers;
    uint32_t *points;
} group;

static void take_group(place *p, group *g) {
    g->count = g->columns = 0;
    while (p->given.first != NULL && g->count < p->most &&
           g->columns + p->given.first->count <= p->most_columns) {
        buffer *const b = pop(&p->given);
        for (size_t i = 0; i < b->count; i++) {
            g->pointers[g->columns] = b->shown.memory + i * b->shown.stride;
            g->points[g->columns++] = b->shown.points[i];
        }
        g->buffers[g->count++] = b;
    }
}

static void *compute(void *context) {
    place *const p = context;
    group g = {.pointers = calloc(p->most_columns, sizeof *g.pointers),
               .points = calloc(p->most_columns, sizeof *g.points)};
    pthread_mutex_lock(&p->mutex);
    if (g.pointers == NULL || g.points == NULL)
        note(p, GFK_STATUS_OUT_OF_MEMORY);
    while (p->status == GFK_STATUS_SUCCESS && (p->given.first != NULL || !p->ending)) {
        take_group(p, &g);
        if (g.count == 0) {
            pthread_cond_wait(&p->changed, &p->mutex);
            continue;
        }
        p->computing = true;
        pthread_mutex_unlock(&p->mutex);
        const gfk_regions b = {g.pointers, NULL, 0};
        const gfk_status status = add_products(p, &b, g.points, g.columns);
        pthread_mutex_lock(&p->mutex);
        p->computing = false;
        for (size_t i = 0; i < g.count; i++)
            push(&p->free, g.buffers[i]);
        note(p, status);
    }
    pthread_mutex_unlock(&p->mutex);
    free(g.pointers);
    free(g.points);
    return NULL;
}

static void end_thread(place *p) {
    if (!p->running)
        return;
    pthread_mutex_lock(&p->mutex);
    p->ending = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    pthread_join(p->thread, NULL);
    p->running = p->ending = false;
}

/* ---- the GPU's products --------------------------------------------------------------------- */

/* The columns of the next product, which ends ahead of column `end`, and their regions. */
static size_t next_columns(const place *p, size_t from, size_t end, gfk_regions *regions) {
    const size_t at = from % p->ring_columns, past = p->ring_columns - at;
    size_t count = end - from < past ? end - from : past;
    count = count < p->most_columns ? count : p->most_columns;
    *regions = (gfk_regions){NULL, p->ring + at * p->stride, p->stride};
    return count;
}

/* Frees the buffers whose copies are complete: their columns have arrived. With the mutex. */
static void collect(place *p) {
    while (p->given.first != NULL && device_passed(p->given.first->event)) {
        buffer *const b = pop(&p->given);
        p->arrived = b->sent;
        push(&p->free, b);
    }
}

/* Makes the products wait for all copies that are ordered. */
static gfk_status follow_copies(place *p) {
    const gfk_status status = device_record(p->copied, p->copies);
    return status == GFK_STATUS_SUCCESS ? device_follow(p->products, p->copied) : status;
}

/* Orders one product of the columns ahead of `end`, or of some of them. The columns have arrived, or the stream of the
 * products waits for their copies. With the mutex. */
static gfk_status order_product(place *p, size_t end) {
    ordered_product *const made = &p->last[p->turn];
    gfk_regions regions;
    const size_t count = next_columns(p, p->multiplied, end, &regions);
    gfk_status status =
        add_products(p, &regions, p->ring_points + p->multiplied % p->ring_columns, count);
    if (status == GFK_STATUS_SUCCESS)
        status = device_record(made->done, p->products);
    p->multiplied += count;
    made->end = p->multiplied;
    p->turn = 1 - p->turn;
    return status;
}

/* Orders a product of the columns that have arrived, if at most one product is not done. A product has as much work
 * on the rows as on hundreds of columns: an idle device gets a product of few columns, and a busy one the next
 * product when twice the columns of the last one have arrived. Near the end of the reading a busy device gets none:
 * more columns are left for the last products. With the mutex. */
static gfk_status order_if_idle(place *p, bool reading) {
    const ordered_product *const older = &p->last[p->turn], *const newer = &p->last[1 - p->turn];
    const bool idle = device_passed(newer->done);
    const size_t quarter = p->all_columns / 4, twice = 2 * (newer->end - older->end);
    const size_t least = quarter < LEAST_COLUMNS ? quarter : LEAST_COLUMNS;
    const size_t enough = idle || twice < least     ? least
                          : twice < p->most_columns ? twice
                                                    : p->most_columns;
    const bool late = reading && p->sent >= p->all_columns - quarter;
    return p->arrived > p->multiplied && p->arrived - p->multiplied >= enough && (idle || !late) &&
                   device_passed(older->done)
               ? order_product(p, p->arrived)
               : GFK_STATUS_SUCCESS;
}

/* Makes the copies wait until the first `end` columns are not needed any more. With the mutex. */
static gfk_status follow_products(place *p, size_t end) {
    gfk_status status = p->multiplied < end ? follow_copies(p) : GFK_STATUS_SUCCESS;
    while (status == GFK_STATUS_SUCCESS && p->multiplied < end)
        status = order_product(p, p->sent);
    const ordered_product *const older = &p->last[p->turn], *const newer = &p->last[1 - p->turn];
    return status == GFK_STATUS_SUCCESS
               ? device_follow(p->copies, end <= older->end ? older->done : newer->done)
               : status;
}

/* After the copies of a buffer: the buffer is free when they are complete. With the mutex. */
static gfk_status end_send(place *p, buffer *b, gfk_status status) {
    if (status == GFK_STATUS_SUCCESS)
        status = device_record(b->event, p->copies);
    b->sent = p->sent;
    push(&p->given, b);
    return status;
}

/* Sends columns to the ring, whose end may be in between. With the mutex. */
static gfk_status send_columns(place *p, buffer *b) {
    gfk_status status = GFK_STATUS_SUCCESS;
    for (size_t done = 0, part; done < b->count && status == GFK_STATUS_SUCCESS; done += part) {
        const size_t at = p->sent % p->ring_columns, past = p->ring_columns - at;
        part = b->count - done < past ? b->count - done : past;
        if (p->sent + part > p->ring_columns)
            status = follow_products(p, p->sent + part - p->ring_columns);
        if (status != GFK_STATUS_SUCCESS)
            break;
        memcpy(p->ring_points + at, b->shown.points + done, part * sizeof *p->ring_points);
        status = device_send(p->ring + at * p->stride, b->shown.memory + done * p->stride,
                             part * p->stride, p->copies);
        p->sent += part;
    }
    status = end_send(p, b, status);
    collect(p);
    return status == GFK_STATUS_SUCCESS ? order_if_idle(p, true) : status;
}

/* Orders the last products of a pass by blocks of rows, so that the first rows are complete while the others are
 * computed. The blocks of the two halves alternate, as create writes the rows; the last row's is the last one. With
 * the mutex. */
static gfk_status order_last(place *p) {
    const size_t least =
        BLOCK_BYTES / p->stride < BLOCK_ROWS ? BLOCK_ROWS : BLOCK_BYTES / p->stride;
    size_t blocks = p->run_count == 0 ? 1 : p->rows / least;
    blocks = blocks == 0 ? 1 : blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
    p->block_rows = (p->rows + blocks - 1) / blocks;
    blocks = (p->rows + p->block_rows - 1) / p->block_rows;
    const size_t half = blocks / 2;
    gfk_status status = follow_copies(p);
    while (p->run_count == 0 && p->multiplied < p->sent && status == GFK_STATUS_SUCCESS)
        status = order_product(p, p->sent);
    for (size_t i = 0; i < blocks && status == GFK_STATUS_SUCCESS; i++) {
        const size_t block = i == 2 * half ? i : i / 2 + (i % 2 == 0 ? 0 : half);
        const size_t first = block * p->block_rows;
        const size_t left = p->rows - first,
                     end = first + (left < p->block_rows ? left : p->block_rows);
        gfk_regions regions;
        for (size_t at = p->multiplied, count; at < p->sent && status == GFK_STATUS_SUCCESS;
             at += count) {
            count = next_columns(p, at, p->sent, &regions);
            status =
                multiply(p, first, end, &regions, p->ring_points + at % p->ring_columns, count);
        }
        if (status == GFK_STATUS_SUCCESS)
            status = device_record(p->blocks[block], p->products);
    }
    p->multiply_adds += (double)(p->sent - p->multiplied) * (double)p->rows * (double)p->width;
    p->multiplied = p->sent;
    return status;
}

/* Waits until the buffers are free, orders products as the device becomes idle, and then the last products. */
static void finish_gpu(place *p) {
    gfk_status status = device_use(p->device);
    pthread_mutex_lock(&p->mutex);
    while (status == GFK_STATUS_SUCCESS && p->given.first != NULL) {
        status = device_wait(p->given.first->event);
        collect(p);
        if (status == GFK_STATUS_SUCCESS)
            status = order_if_idle(p, false);
    }
    if (status == GFK_STATUS_SUCCESS)
        status = order_last(p);
    note(p, status);
    pthread_mutex_unlock(&p->mutex);
}

/* Waits until rows are complete. */
static gfk_status wait_for_rows(place *p, size_t first, size_t count) {
    gfk_status status = GFK_STATUS_SUCCESS;
    for (size_t block = first / p->block_rows;
         block * p->block_rows < first + count && status == GFK_STATUS_SUCCESS; block++)
        status = device_wait(p->blocks[block]);
    return status;
}

/* ---- opening the GPU later ------------------------------------------------------------------ */

static gfk_status zero_rows(place *p) {
    const gfk_status status = device_use(p->device);
    return status == GFK_STATUS_SUCCESS ? device_zero(p->row_memory, p->rows * p->stride, p->copies)
                                        : status;
}

/* Gives a buffer with columns to the GPU. Without the mutex: pinning takes a while. */
static void give_gpu(place *p, buffer *b) {
    gfk_status status = pin(p, b);
    pthread_mutex_lock(&p->mutex);
    if (status == GFK_STATUS_SUCCESS && p->status == GFK_STATUS_SUCCESS)
        status = send_columns(p, b);
    else
        push(&p->free, b);
    note(p, status);
    pthread_mutex_unlock(&p->mutex);
}

void place_prepare(place *p) {
    pthread_mutex_lock(&p->mutex);
    const bool done = p->ready || p->status != GFK_STATUS_SUCCESS;
    pthread_mutex_unlock(&p->mutex);
    if (done)
        return;
    gfk_status status = open_device(p);
    if (status == GFK_STATUS_SUCCESS)
        status = allocate_shape(p);
    if (status == GFK_STATUS_SUCCESS)
        status = zero_rows(p);
    pthread_mutex_lock(&p->mutex);
    p->ready = status == GFK_STATUS_SUCCESS;
    buffer *next = NULL; /* columns that were given meanwhile */
    if (p->ready) {
        next = p->given.first;
        clear(&p->given);
    }
    note(p, status);
    pthread_mutex_unlock(&p->mutex);
    for (buffer *b; (b = next) != NULL;) {
        next = b->next;
        give_gpu(p, b);
    }
}

void place_await(place *p) {
    pthread_mutex_lock(&p->mutex);
    while (!p->ready && p->status == GFK_STATUS_SUCCESS)
        pthread_cond_wait(&p->changed, &p->mutex);
    pthread_mutex_unlock(&p->mutex);
}

/* ---- a pass --------------------------------------------------------------------------------- */

int place_begin(place *p, uint64_t width) {
    gfk_status status = GFK_STATUS_SUCCESS;
    p->width = (size_t)width;
    p->solved = false;
    if (p->kind == PLACE_CPU)
        memset(p->row_memory, 0, p->rows * p->stride);
    else if (on_gpu(p))
        status = zero_rows(p);
    p->sent = p->arrived = p->multiplied = p->last[0].end = p->last[1].end = 0;
    if (p->kind == PLACE_CPU) {
        p->running = pthread_create(&p->thread, NULL, compute, p) == 0;
        if (!p->running)
            status = p->status = GFK_STATUS_OUT_OF_MEMORY;
    }
    return failed(p, status);
}

/* A new buffer, in its place of `all`. */
static buffer *make_buffer(place *p) {
    buffer *const b = calloc(1, sizeof *b);
    void *memory = NULL;
    gfk_status status = b == NULL ? GFK_STATUS_OUT_OF_MEMORY : GFK_STATUS_SUCCESS;
    if (status == GFK_STATUS_SUCCESS)
        status = allocate_buffer(&memory, p->columns * p->stride);
    if (status == GFK_STATUS_SUCCESS) {
        b->shown = (place_buffer){memory, p->stride, calloc(p->columns, sizeof *b->shown.points)};
        if (b->shown.points == NULL)
            status = GFK_STATUS_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&p->mutex);
    if (b != NULL)
        p->all[p->made++] = b;
    if (status != GFK_STATUS_SUCCESS)
        note(p, status);
    return status == GFK_STATUS_SUCCESS ? b : NULL;
}

place_buffer *place_take(place *p, bool wait) {
    buffer *b = NULL;
    gfk_status status = GFK_STATUS_SUCCESS;
    pthread_mutex_lock(&p->mutex);
    while (p->status == GFK_STATUS_SUCCESS) {
        if (on_gpu(p)) {
            status = device_use(p->device);
            if (status != GFK_STATUS_SUCCESS)
                break;
            collect(p);
        }
        b = pop(&p->free);
        if (b != NULL)
            break;
        if (p->making + p->made < p->most) {
            p->making++;
            pthread_mutex_unlock(&p->mutex);
            b = make_buffer(p); /* takes the mutex */
            p->making--;
            break;
        }
        if (!wait)
            break;
        if (!on_gpu(p) || p->given.first == NULL) {
            pthread_cond_wait(&p->changed, &p->mutex);
            continue;
        }
        void *const event = p->given.first->event;
        pthread_mutex_unlock(&p->mutex);
        status = device_wait(event);
        pthread_mutex_lock(&p->mutex);
        if (status != GFK_STATUS_SUCCESS)
            break;
    }
    if (status != GFK_STATUS_SUCCESS)
        note(p, status);
    pthread_mutex_unlock(&p->mutex);
    return b == NULL ? NULL : &b->shown;
}

void place_give(place *p, place_buffer *shown, size_t count) {
    buffer *const b = (buffer *)shown;
    pthread_mutex_lock(&p->mutex);
    const bool unused = count == 0 || p->kind == PLACE_IDLE || p->status != GFK_STATUS_SUCCESS;
    const bool sent = !unused && on_gpu(p);
    b->count = count;
    if (!sent)
        push(unused ? &p->free : &p->given, b);
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    if (sent)
        give_gpu(p, b);
}

void place_load(place *p, place_buffer *shown, size_t first, size_t count) {
    buffer *const b = (buffer *)shown;
    uint8_t *const to = p->row_memory + first * p->stride;
    const bool gpu = p->kind == PLACE_GPU;
    gfk_status status = gpu ? pin(p, b) : GFK_STATUS_SUCCESS;
    if (p->kind == PLACE_CPU)
        memcpy(to, shown->memory, count * p->stride);
    pthread_mutex_lock(&p->mutex);
    if (gpu && status == GFK_STATUS_SUCCESS)
        status = end_send(p, b, device_send(to, shown->memory, count * p->stride, p->copies));
    else
        push(&p->free, b);
    note(p, status);
    pthread_mutex_unlock(&p->mutex);
}

int place_finish(place *p) {
    end_thread(p);
    if (on_gpu(p) && p->status == GFK_STATUS_SUCCESS)
        finish_gpu(p);
    return failed(p, p->status);
}

int place_read(place *p, place_buffer *shown, size_t first, size_t count) {
    buffer *const b = (buffer *)shown;
    const uint8_t *const from = p->solved ? p->solved_memory + (first - p->solved_first) * p->stride
                                          : p->row_memory + first * p->stride;
    if (p->kind != PLACE_GPU) {
        memcpy(shown->memory, from, count * p->stride);
        return 0;
    }
    gfk_status status = pin(p, b);
    if (status == GFK_STATUS_SUCCESS && !p->solved)
        status = wait_for_rows(p, first, count);
    pthread_mutex_lock(&p->mutex);
    if (status == GFK_STATUS_SUCCESS)
        status = device_fetch(shown->memory, from, count * p->stride, p->fetches);
    if (status == GFK_STATUS_SUCCESS)
        status = device_record(b->event, p->fetches);
    pthread_mutex_unlock(&p->mutex);
    if (status == GFK_STATUS_SUCCESS)
        status = device_wait(b->event);
    return failed(p, status);
}

/* Waits until the work on the stream of the products is done. */
static gfk_status finish_products(place *p) {
    const gfk_status status = device_record(p->elements_used, p->products);
    return status == GFK_STATUS_SUCCESS ? device_wait(p->elements_used) : status;
}

/* ---- repair --------------------------------------------------------------------------------- */

/* Makes the matrix on the device, by parts in pinned memory. */
static gfk_status send_matrix(place *p, uint8_t *matrix, const uint32_t *exponents,
                              const uint32_t *logarithms, size_t n) {
    const size_t row_bytes = n * sizeof(uint16_t);
    const size_t most = BUFFER_BYTES / row_bytes == 0 ? 1 : BUFFER_BYTES / row_bytes;
    void *part = NULL;
    gfk_status status = gfk_pinned_alloc(&part, most * row_bytes);
    for (size_t j = 0; j < n && status == GFK_STATUS_SUCCESS; j += most) {
        const size_t rows = n - j < most ? n - j : most;
        for (size_t i = 0; i < rows; i++)
            fill_row(p, (uint16_t *)part + i * n, exponents[j + i], logarithms, n);
        status = device_send(matrix + j * row_bytes, part, rows * row_bytes, p->products);
        if (status == GFK_STATUS_SUCCESS)
            status = finish_products(p);
    }
    gfk_pinned_free(part);
    return status;
}

/* Inverts a matrix in place, on the device or, with desc, on the CPU. `results` is memory there: a
 * record, then the pivots. */
static gfk_status invert(place *p, void *matrix, size_t n, const gfk_matmul_desc *desc,
                         void *results, void *workspace, size_t space, gfk_matrix_record *record) {
    const gfk_matrix a = GFK_MATRIX_DENSE_INIT(matrix, n, n, n);
    const gfk_stream_t stream = desc->device == GFK_CPU ? NULL : p->products;
    uint32_t *const pivots = (uint32_t *)(void *)((uint8_t *)results + ALIGNMENT);
    gfk_status status = gfk_matrix_invert(&p->field, &a, matrix, n, results, pivots, desc,
                                          workspace, space, stream);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_matrix_wait(results, desc, stream, record);
    return status == GFK_STATUS_SINGULAR ? GFK_STATUS_SUCCESS : status; /* the record tells */
}

static gfk_status invert_on_cpu(place *p, const uint32_t *exponents, uint32_t *numbers, size_t n,
                                gfk_matrix_record *record) {
    const size_t bytes = n * n * sizeof(uint16_t);
    gfk_matmul_desc desc = p->desc;
    desc.device = GFK_CPU;
    void *matrix = NULL, *results = NULL, *workspace = NULL;
    size_t space = 0;
    gfk_status status = allocate_host(p, &matrix, bytes);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_matrix_invert_workspace(&p->field, n, &desc, &space);
    if (status == GFK_STATUS_SUCCESS &&
        (posix_memalign(&results, ALIGNMENT, ALIGNMENT + n * sizeof *numbers) != 0 ||
         posix_memalign(&workspace, ALIGNMENT, round_up(space, ALIGNMENT)) != 0))
        status = GFK_STATUS_OUT_OF_MEMORY;
    if (status == GFK_STATUS_SUCCESS) {
        for (size_t j = 0; j < n; j++)
            fill_row(p, (uint16_t *)matrix + j * n, exponents[j], numbers, n);
        status = invert(p, matrix, n, &desc, results, workspace, space, record);
    }
    if (status == GFK_STATUS_SUCCESS)
        memcpy(numbers, (uint8_t *)results + ALIGNMENT, n * sizeof *numbers);
    free(results);
    free(workspace);
    if (p->kind != PLACE_GPU) {
        free(p->inverse);
        p->inverse = matrix;
        return status;
    }
    if (status == GFK_STATUS_SUCCESS)
        status = device_send(p->inverse, matrix, bytes, p->products);
    if (status == GFK_STATUS_SUCCESS)
        status = finish_products(p);
    gfk_pinned_free(matrix);
    return status;
}

static gfk_status invert_on_gpu(place *p, const uint32_t *exponents, uint32_t *numbers, size_t n,
                                gfk_matrix_record *record) {
    void *results = NULL, *workspace = NULL, *pivots = NULL;
    size_t space = 0;
    gfk_status status = device_alloc(&results, ALIGNMENT + n * sizeof *numbers);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_matrix_invert_workspace(&p->field, n, &p->desc, &space);
    if (status == GFK_STATUS_SUCCESS)
        status = device_alloc(&workspace, space);
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_pinned_alloc(&pivots, n * sizeof *numbers);
    if (status == GFK_STATUS_SUCCESS)
        status = send_matrix(p, p->inverse, exponents, numbers, n);
    if (status == GFK_STATUS_SUCCESS)
        status = invert(p, p->inverse, n, &p->desc, results, workspace, space, record);
    if (status == GFK_STATUS_SUCCESS)
        status =
            device_fetch(pivots, (uint8_t *)results + ALIGNMENT, n * sizeof *numbers, p->products);
    if (status == GFK_STATUS_SUCCESS)
        status = finish_products(p);
    if (status == GFK_STATUS_SUCCESS)
        memcpy(numbers, pivots, n * sizeof *numbers);
    gfk_pinned_free(pivots);
    device_free(workspace);
    device_free(results);
    return status;
}

int place_invert(place *p, const uint32_t *exponents, const uint16_t *points, size_t n,
                 size_t *rank, bool *dependent) {
    gfk_matrix_record record = {0};
    uint32_t *const numbers = calloc(n, sizeof *numbers); /* logarithms, then pivots */
    const uint64_t bytes = (uint64_t)n * n * sizeof(uint16_t);
    gfk_status status =
        numbers == NULL || !make_powers(p) ? GFK_STATUS_OUT_OF_MEMORY : GFK_STATUS_SUCCESS;
    if (status == GFK_STATUS_SUCCESS && p->kind == PLACE_GPU) {
        status = device_use(p->device);
        if (status == GFK_STATUS_SUCCESS && p->inverse == NULL) {
            status = device_alloc(&p->inverse, bytes);
            p->device_memory -= bytes < p->device_memory ? bytes : p->device_memory;
        }
    }
    for (size_t i = 0; i < n && status == GFK_STATUS_SUCCESS; i++)
        numbers[i] = p->logarithms[points[i]];
    if (status == GFK_STATUS_SUCCESS)
        status = p->kind == PLACE_GPU && n > SMALL_MATRIX
                     ? invert_on_gpu(p, exponents, numbers, n, &record)
                     : invert_on_cpu(p, exponents, numbers, n, &record);
    if (status == GFK_STATUS_SUCCESS) {
        *rank = record.rank;
        p->inverse_rows = n;
        for (size_t j = 0; j < n; j++)
            dependent[j] = numbers[j] == GFK_MATRIX_DEPENDENT;
    }
    free(numbers);
    return failed(p, status);
}

int place_solve(place *p, size_t first, size_t *count) {
    gfk_status status = GFK_STATUS_SUCCESS;
    if (p->kind == PLACE_GPU)
        status = device_use(p->device);
    if (p->solved_memory == NULL && status == GFK_STATUS_SUCCESS) {
        /* On the device the columns' memory is free when the products of place_finish are done. */
        void *memory = p->ring;
        p->solve_rows = p->most_columns;
        if (p->kind != PLACE_GPU) {
            const size_t room = p->columns * LEAST_BUFFERS;
            p->solve_rows = room < p->rows ? room : p->rows;
            status = allocate(p, &memory, p->solve_rows * (uint64_t)p->stride);
        }
        p->solved_memory = memory;
    }
    const size_t left = p->rows - first;
    *count = left < p->solve_rows ? left : p->solve_rows;
    p->solved = true;
    p->solved_first = first;
    const uint8_t *const inverse =
        (const uint8_t *)p->inverse + first * p->inverse_rows * sizeof(uint16_t);
    const gfk_matrix a = GFK_MATRIX_DENSE_INIT(inverse, *count, p->inverse_rows, p->inverse_rows);
    const gfk_regions b = {NULL, p->row_memory, p->stride};
    const gfk_regions c = {NULL, p->solved_memory, p->stride};
    size_t space = 0;
    void *workspace = NULL;
    if (status == GFK_STATUS_SUCCESS)
        status =
            gfk_matmul_workspace(&p->field, *count, p->inverse_rows, p->width, &p->desc, &space);
    if (status == GFK_STATUS_SUCCESS && space > p->workspace_bytes) {
        release(p, p->workspace);
        p->workspace = NULL;
        p->workspace_bytes = 0;
        status = allocate(p, &workspace, space);
        if (status == GFK_STATUS_SUCCESS) {
            p->workspace = workspace;
            p->workspace_bytes = space;
        }
    }
    if (status == GFK_STATUS_SUCCESS)
        status = gfk_matmul(&p->field, &a, &b, &c, p->width, GFK_SET, &p->desc, p->workspace,
                            p->workspace_bytes, p->products);
    if (status == GFK_STATUS_SUCCESS && p->kind == PLACE_GPU)
        status = finish_products(p);
    return failed(p, status);
}

void place_get_times(place *p, place_times *times) {
    pthread_mutex_lock(&p->mutex);
    *times = (place_times){p->started, p->multiply_adds};
    pthread_mutex_unlock(&p->mutex);
}

void place_close(place *p) {
    if (p == NULL)
        return;
    end_thread(p);
    if (p->opened)
        (void)device_use(p->device);
    /* Nothing may use the memory any more, also after an error. */
    const gfk_stream_t streams[] = {p->copies, p->products, p->fetches};
    for (size_t i = 0; i < 3 && p->elements_used != NULL; i++)
        if (device_record(p->elements_used, streams[i]) == GFK_STATUS_SUCCESS)
            (void)device_wait(p->elements_used);
    for (size_t i = 0; i < p->made; i++)
        release_buffer(p->all[i]);
    for (size_t i = 0; i < 2; i++)
        device_event_close(p->last[i].done);
    for (size_t i = 0; i < MOST_BLOCKS; i++)
        device_event_close(p->blocks[i]);
    device_event_close(p->copied);
    release(p, p->ring);
    free(p->ring_points);
    if (p->kind == PLACE_CPU)
        free(p->solved_memory);
    release(p, p->row_memory);
    release(p, p->workspace);
    release(p, p->inverse);
    release(p, p->made_elements);
    if (p->kind == PLACE_GPU)
        gfk_pinned_free(p->elements);
    else
        free(p->elements);
    device_event_close(p->elements_used);
    device_stream_close(p->copies);
    device_stream_close(p->products);
    device_stream_close(p->fetches);
    free(p->exponents);
    free(p->runs);
    free(p->powers);
    free(p->logarithms);
    free(p->all);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->mutex);
    free(p);
}

static place *volatile left; /* the memory stays reachable, for leak checkers */

void place_leave(place *p) {
    if (p == NULL || !p->opened) {
        place_close(p);
        return;
    }
    left = p;
    end_aside = true;
}
