/* SPDX-License-Identifier: BSD-3-Clause */
#include "par2.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gfk/host.h>

#include "../gfk/options.h"
#include "../gfk/report.h"
#include "packet.h"

/* ---- exit codes and messages ---------------------------------------------------------------- */

int par2_code(int tool_code) {
    switch (tool_code) {
    case TOOL_OK:
        return PAR2_OK;
    case TOOL_USAGE:
        return PAR2_USAGE;
    case TOOL_INTERNAL:
        return PAR2_MEMORY; /* a system call or an allocation had no memory */
    case TOOL_BACKEND:
        return PAR2_INTERNAL;
    default:
        return PAR2_IO;
    }
}

int par2_no_memory(void) {
    return par2_code(no_memory());
}

void par2_time(const par2_options *options, const char *name, double seconds) {
    if (options->verbose >= 2)
        printf("time %s %.6f\n", name, seconds);
}

void par2_count(const par2_options *options, const char *name, uint64_t number) {
    if (options->verbose >= 2)
        printf("count %s %llu\n", name, (unsigned long long)number);
}

/* ---- help ----------------------------------------------------------------------------------- */

static const char usage[] = "usage: gfk par2 create|verify|repair [OPTION...] SET.par2 [FILE...]";

static const char help[] =
    "\n"
    "Protects files by recovery data in the PAR2 format. The files stay as they are; next to them\n"
    "lie SET.par2 and volumes SET.vol000+01.par2, ... with recovery slices. Any n intact recovery\n"
    "slices restore any n lost or damaged slices of the files. Other PAR2 programs read the set.\n"
    "\n"
    "  gfk par2 create photos.par2 *.jpg    write photos.par2 and its volumes\n"
    "  gfk par2 create -R backup.par2 docs  the files in the folder docs and below\n"
    "  gfk par2 verify photos.par2          is every file as it was? can it be repaired?\n"
    "  gfk par2 repair photos.par2          restore what is damaged or missing\n"
    "\n"
    "verify and repair also look for slices in further FILEs, and take further .par2 files. They\n"
    "find renamed files in the folder of SET.par2, not in the folders below.\n"
    "Without a GPU all cores compute, and par2cmdline-turbo is often faster.\n"
    "\n"
    "options of create:\n"
    "  -r PERCENT       recovery slices in percent of the files' slices (5)\n"
    "  -c COUNT         number of recovery slices\n"
    "  -s BYTES         size of a slice, a multiple of 4\n"
    "  -b COUNT         number of slices, at most 32768 (2000)\n"
    "  -f FIRST         first exponent (0): create -f100 photos.more.par2 *.jpg adds volumes to\n"
    "                   a set photos.par2 whose exponents are below 100\n"
    "  -n COUNT         number of volumes\n"
    "  -u               volumes of the same size\n"
    "  -l               no volume has more slices than the largest file\n"
    "  -R               take folders with all files below\n"
    "options of repair:\n"
    "  -p               after success, remove the damaged files and the set\n"
    "options of all:\n"
    "  -B PATH          the folder at which the names in the set begin (the folder of SET.par2)\n"
    "  -m MEGABYTES     memory for buffers and, without a GPU, for recovery slices (1024)\n"
    "  -t THREADS       threads (one for each core)\n"
    "  --backend NAME   where to compute: auto, cuda, host (auto)\n"
    "  --device N       the GPU to use\n"
    "  -q               print warnings and errors only\n"
    "  -v               print more; twice: times\n"
    "  -h, --help       print this text\n"
    "  --               what follows is no option: a name that begins with -\n"
    "\n"
    "exit code: 0 success, 1 damaged and repair is possible, 2 repair is not possible, 3 wrong\n"
    "arguments, 4 the set's description is missing, 5 repair failed, 6 a file cannot be read or\n"
    "written, 7 a defect, or the GPU that was asked for cannot be used, 8 out of memory\n";

/* ---- options -------------------------------------------------------------------------------- */

typedef int verb_fn(const par2_options *options);

typedef struct verb {
    const char *name, *letters; /* the options, for getopt */
    verb_fn *run;
} verb;

#define ALL_LETTERS "B:m:t:qvh"
static const verb verbs[] = {
    {"create", ":" ALL_LETTERS "r:c:s:b:f:n:ulR", par2_create},
    {"verify", ":" ALL_LETTERS "R", par2_verify},
    {"repair", ":" ALL_LETTERS "Rp", par2_repair},
};

enum { KEY_BACKEND = 256, KEY_DEVICE, KEY_HASH_ONLY, KEY_PRODUCTS_ONLY };

static const struct option longs[] = {{"backend", required_argument, NULL, KEY_BACKEND},
                                      {"device", required_argument, NULL, KEY_DEVICE},
                                      {"hash-only", no_argument, NULL, KEY_HASH_ONLY},
                                      {"products-only", no_argument, NULL, KEY_PRODUCTS_ONLY},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

static bool parse_percent(const char *text, double *value) {
    char *end = NULL;
    if (!isdigit((unsigned char)text[0]))
        return false;
    *value = strtod(text, &end);
    return *end == '\0' && *value >= 0 && *value <= 1e6;
}

static bool parse_backend(const char *text, coder_backend *backend) {
    static const char *const names[] = {"auto", "cuda", "host"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *backend = (coder_backend)i;
            return true;
        }
    return false;
}

/* Takes an option's argument. False: it is not valid. */
static bool take(par2_options *o, int key, const char *text) {
    uint64_t number = 0;
    switch (key) {
    case 'r':
        return parse_percent(text, &o->percent);
    case 'c':
        return parse_number(text, 0, PAR2_MOST_EXPONENT + 1, &o->recovery);
    case 's':
        return parse_number(text, 4, INT64_MAX, &o->slice) && o->slice % 4 == 0;
    case 'b':
        return parse_number(text, 1, PAR2_MOST_SLICES, &o->slices);
    case 'f':
        return parse_number(text, 0, PAR2_MOST_EXPONENT, &o->first);
    case 'n':
        return parse_number(text, 1, PAR2_MOST_EXPONENT, &o->volumes);
    case 'm':
        if (!parse_number(text, 1, UINT64_MAX >> 20, &number))
            return false;
        o->coder.memory = number << 20;
        return true;
    case 't':
        if (!parse_number(text, 1, GFK_MOST_THREADS, &number))
            return false;
        o->coder.threads = (unsigned)number;
        return true;
    case 'B':
        o->base = text;
        return *text != '\0';
    case KEY_BACKEND:
        return parse_backend(text, &o->coder.backend);
    case KEY_DEVICE:
        if (!parse_number(text, 0, 1023, &number))
            return false;
        o->coder.device = (int)number;
        return true;
    default:
        return false;
    }
}

/* Takes an option without argument. */
static void set_flag(par2_options *o, int key, unsigned *quiet) {
    o->uniform = o->uniform || key == 'u';
    o->limited = o->limited || key == 'l';
    o->recurse = o->recurse || key == 'R';
    o->purge = o->purge || key == 'p';
    o->hash_only = o->hash_only || key == KEY_HASH_ONLY;
    o->products_only = o->products_only || key == KEY_PRODUCTS_ONLY;
    o->verbose += key == 'v';
    *quiet += key == 'q';
}

static int refuse(const char *option, const char *text) {
    return fail(PAR2_USAGE, "%s does not take %s; gfk par2 --help describes it", option,
                *text == '\0' ? "an empty text" : text);
}

/* Two options that contradict each other. */
static int check(const par2_options *o) {
    if (o->slice != 0 && o->slices != 0)
        return fail(PAR2_USAGE, "-s and -b cannot be given together");
    if (o->percent >= 0 && o->recovery != UINT64_MAX)
        return fail(PAR2_USAGE, "-r and -c cannot be given together");
    if (o->limited && (o->uniform || o->volumes != 0))
        return fail(PAR2_USAGE, "-l cannot be given together with -u or -n");
    return 0;
}

static int run(const verb *v, int argc, char **argv) {
    par2_options o = {.percent = -1,
                      .recovery = UINT64_MAX,
                      .coder = {BACKEND_AUTO, -1, 0, UINT64_C(1024) << 20}};
    unsigned quiet = 0;
    opterr = 0;
    optind = 1;
    for (int key; (key = getopt_long(argc, argv, v->letters, longs, NULL)) != -1;) {
        const char letter[] = {'-', (char)(key == '?' || key == ':' ? optopt : key), '\0'};
        const char *const name = key == KEY_BACKEND  ? "--backend"
                                 : key == KEY_DEVICE ? "--device"
                                                     : letter;
        if (key == 'h') {
            printf("%s\n%s", usage, help);
            return PAR2_OK;
        }
        if (key == '?' || key == ':')
            return fail(PAR2_USAGE,
                        key == '?' ? "gfk par2 %s has no option %s; %s"
                                   : "gfk par2 %s: %s needs an argument; %s",
                        v->name, optopt == 0 || optopt >= KEY_BACKEND ? argv[optind - 1] : letter,
                        usage);
        if (optarg == NULL)
            set_flag(&o, key, &quiet);
        else if (!take(&o, key, optarg))
            return key == 'r' && optarg[0] != '\0' && strchr("kmg", optarg[0]) != NULL
                       ? fail(PAR2_USAGE,
                              "-r takes a percentage; the sizes -rk, -rm and -rg are not taken")
                       : refuse(name, optarg);
    }
    report_quiet = quiet != 0;
    const int code = check(&o);
    if (code != 0)
        return code;
    if (optind == argc)
        return fail(PAR2_USAGE, "which set? %s", usage);
    o.set = argv[optind];
    o.files = argv + optind + 1;
    o.file_count = (size_t)(argc - optind - 1);
    return v->run(&o);
}

static int run_verb(int argc, char **argv) {
    if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
        printf("%s\n%s", usage, help);
        return PAR2_OK;
    }
    for (size_t i = 0; argc > 1 && i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(argv[1], verbs[i].name) == 0 ||
            (argv[1][0] == verbs[i].name[0] && argv[1][1] == '\0'))
            return run(&verbs[i], argc - 1, argv + 1);
    return argc < 2 ? fail(PAR2_USAGE, "%s", usage)
                    : fail(PAR2_USAGE, "gfk par2 has no command %s; %s", argv[1], usage);
}

int command_par2(int argc, char **argv) {
    return end_output(run_verb(argc, argv), PAR2_IO);
}
