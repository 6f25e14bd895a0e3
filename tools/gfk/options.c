/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gfk/host.h>

#include "format.h"
#include "report.h"

/* ---- numbers -------------------------------------------------------------------------------- */

bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    char *end = NULL;
    if (!isdigit((unsigned char)text[0]))
        return false;
    const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    errno = 0;
    const unsigned long long number = strtoull(text, &end, hexadecimal ? 16 : 10);
    if (errno != 0 || *end != '\0' || number < least || number > most)
        return false;
    *value = number;
    return true;
}

bool parse_size(const char *text, uint64_t *value) {
    static const char letters[] = "KMG";
    char digits[32];
    const size_t length = strlen(text);
    unsigned shift = 0;
    const char *letter = length == 0 ? NULL : strchr(letters, text[length - 1]);
    if (letter != NULL)
        shift = 10 * (unsigned)(letter - letters + 1);
    const size_t count = length - (letter != NULL);
    if (count >= sizeof digits)
        return false;
    memcpy(digits, text, count);
    digits[count] = '\0';
    if (!parse_number(digits, 0, UINT64_MAX >> shift, value))
        return false;
    *value <<= shift;
    return true;
}

/* ---- values: each function stores what it parses in a member of tool_options ---------------- */

static bool parse_shards(const char *text, void *member) {
    uint64_t number = 0;
    const bool valid = parse_number(text, 1, MAX_SHARDS, &number);
    *(uint32_t *)member = (uint32_t)number;
    return valid;
}

static bool parse_width(const char *text, void *member) {
    uint64_t number = 0;
    const bool valid = parse_number(text, 8, 32, &number);
    *(uint32_t *)member = (uint32_t)number;
    return valid && (number == 8 || number == 16 || number == 32);
}

static bool parse_polynomial(const char *text, void *member) {
    return parse_number(text, 1, UINT64_C(0x1ffffffff), member);
}

#define MATRICES "cauchy|vandermonde|reed_sol_van|cauchy_good|gen_rs|gen_cauchy1"
#define BACKENDS "auto|cuda|host"

/* The position of a word in a list with | between the words; -1: the list does not have it. */
static int find_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (int i = 0;; i++) {
        const char *end = strchr(list, '|');
        const size_t here = end == NULL ? strlen(list) : (size_t)(end - list);
        if (here == length && memcmp(list, word, length) == 0)
            return i;
        if (end == NULL)
            return -1;
        list = end + 1;
    }
}

static bool parse_matrix(const char *text, void *member) {
    const int i = find_word(MATRICES, text);
    *(gfk_rs_matrix *)member = (gfk_rs_matrix)i; /* the words are in the order of the matrices */
    return i >= 0;
}

static bool parse_backend(const char *text, void *member) {
    const int i = find_word(BACKENDS, text);
    *(coder_backend *)member = (coder_backend)i;
    return i >= 0;
}

static bool parse_block_size(const char *text, void *member) {
    uint64_t *bytes = member;
    return parse_size(text, bytes) && *bytes >= BLOCK_UNIT && *bytes <= MAX_BLOCK_BYTES &&
           *bytes % BLOCK_UNIT == 0;
}

static bool parse_memory(const char *text, void *member) {
    return parse_size(text, member) && *(uint64_t *)member != 0;
}

static bool parse_device(const char *text, void *member) {
    uint64_t number = 0;
    const bool valid = parse_number(text, 0, 1023, &number);
    *(int *)member = (int)number;
    return valid;
}

static bool parse_threads(const char *text, void *member) {
    uint64_t number = 0;
    const bool valid = parse_number(text, 1, GFK_MOST_THREADS, &number);
    *(unsigned *)member = (unsigned)number;
    return valid;
}

static bool parse_text(const char *text, void *member) {
    *(const char **)member = text;
    return *text != '\0';
}

/* Copies the first name of a list with commas, unless `to` is NULL. Of backslashes before a comma,
 * two are one backslash, and one that is left makes the comma a part of the name. Returns the end of
 * the name in the list. */
static const char *copy_name(const char *from, char *to, size_t *length) {
    *length = 0;
    while (*from != '\0' && *from != ',') {
        const size_t slashes = strspn(from, "\\");
        const bool escape = from[slashes] == ',';
        const size_t odd = escape ? slashes % 2 : 0;
        const size_t kept = slashes == 0 ? 1 : escape ? slashes / 2 : slashes;
        if (to != NULL) {
            memmove(to + *length, from, kept);
            memset(to + *length + kept, ',', odd);
        }
        *length += kept + odd;
        from += slashes == 0 ? 1 : slashes + odd;
    }
    return from;
}

/* Folders with commas between them. The option may be repeated. Cuts the text into its parts. */
static bool parse_folders(const char *text, void *member) {
    folder_list *list = member;
    size_t length = 0, count = 0;
    const char *from = text;
    for (;; from++, count++) {
        from = copy_name(from, NULL, &length);
        if (length == 0)
            return false;
        if (*from == '\0')
            break;
    }
    if (list->count + count >= MOST_FOLDERS)
        return false;
    from = text;
    for (size_t i = 0; i <= count; i++) {
        char *const name = (char *)from;
        from = copy_name(from, name, &length) + 1;
        while (length > 1 && name[length - 1] == '/')
            length--;
        name[length] = '\0';
        list->paths[list->count++] = name;
    }
    return true;
}

static bool set_flag(const char *text, void *member) {
    (void)text;
    return *(bool *)member = true;
}

/* ---- options -------------------------------------------------------------------------------- */

enum {
    SPEED = COMMAND_CALIBRATE | COMMAND_ADVISE,
    SETS = COMMAND_DECODE | COMMAND_VERIFY | COMMAND_REPAIR | COMMAND_INFO,
    FILES = COMMAND_ENCODE | COMMAND_SCRUB | SETS,
    COMPUTING = FILES & ~COMMAND_INFO
};
#define MEMBER(name) offsetof(tool_options, name)

static const option_row rows[] = {
    {"data", 'k', "K", COMMAND_ENCODE | SPEED, parse_shards, MEMBER(k),
     "data shards, 1 or more (10)"},
    {"parity", 'm', "M", COMMAND_ENCODE | SPEED, parse_shards, MEMBER(m),
     "parity shards, 1 or more; so many may be lost (4)"},
    {"width", 'w', "8|16|32", COMMAND_ENCODE | SPEED, parse_width, MEMBER(w),
     "bits of a symbol (8)"},
    {"polynomial", 0, "P", COMMAND_ENCODE, parse_polynomial, MEMBER(polynomial),
     "of the field, with its leading term (0x11d, 0x1100b, 0x100400007)"},
    {"matrix", 0, MATRICES, COMMAND_ENCODE, parse_matrix, MEMBER(matrix),
     "generator matrix (cauchy)"},
    {"block-size", 0, "SIZE", COMMAND_ENCODE, parse_block_size, MEMBER(block_bytes),
     "bytes under one checksum, a multiple of 64 (1M; less for many shards)"},
    {"output", 'o', "BASE", COMMAND_ENCODE, parse_text, MEMBER(output),
     "name the shards BASE.gfk.000, ... (FILE)"},
    {"output", 'o', "FILE", COMMAND_DECODE, parse_text, MEMBER(output),
     "the file to write; - is standard output (the stored name)"},
    {"to", 0, "DIR,DIR,...", COMMAND_ENCODE, parse_folders, MEMBER(to),
     "spread the shards over these folders"},
    {"to", 0, "DIR,DIR,...", COMMAND_REPAIR, parse_folders, MEMBER(to),
     "put missing shards into these folders (those of the set)"},
    {"in", 0, "DIR,DIR,...", SETS, parse_folders, MEMBER(in),
     "the folders that hold the shards of each BASE"},
    {"repair", 0, NULL, COMMAND_SCRUB, set_flag, MEMBER(repair), "repair what is damaged"},
    {"partial", 0, NULL, COMMAND_DECODE, set_flag, MEMBER(partial),
     "write what can be restored, and list the bytes that are missing"},
    {"force", 'f', NULL, COMMAND_ENCODE | COMMAND_DECODE | COMMAND_REPAIR | COMMAND_SCRUB, set_flag,
     MEMBER(force), "replace files with other contents"},
    {"backend", 0, BACKENDS, COMPUTING | COMMAND_PAR2, parse_backend, MEMBER(coder.backend),
     "where to compute (auto)"},
    {"device", 0, "N", COMPUTING | COMMAND_CALIBRATE | COMMAND_PAR2, parse_device,
     MEMBER(coder.device), "the GPU to use"},
    {"threads", 0, "N", COMPUTING | COMMAND_CALIBRATE, parse_threads, MEMBER(coder.threads),
     "threads that compute on the CPU (one for each core)"},
    {"memory", 0, "SIZE", COMPUTING, parse_memory, MEMBER(coder.memory), "bytes of buffers (256M)"},
    {"json", 0, NULL, FILES | COMMAND_METHODS | SPEED, set_flag, MEMBER(json),
     "one line of JSON instead of text"},
    {"quiet", 'q', NULL, FILES | COMMAND_CALIBRATE, set_flag, MEMBER(quiet), "print errors only"},
    {"help", 'h', NULL, FILES | COMMAND_METHODS | SPEED | COMMAND_PAR2, NULL, 0, "print this text"},
};
enum { ROWS = sizeof rows / sizeof rows[0], NO_LETTER = 256 /* with the row's number */ };

const option_row *option_at(size_t i) {
    return i < ROWS ? &rows[i] : NULL;
}

static const option_row *row_of(unsigned command, int key) {
    if (key >= NO_LETTER)
        return &rows[key - NO_LETTER];
    for (size_t i = 0; i < ROWS; i++)
        if (key != 0 && rows[i].letter == key && (rows[i].commands & command) != 0)
            return &rows[i];
    return NULL;
}

static void print_option(const option_row *r) {
    char left[64];
    const bool words = r->argument != NULL && strchr(r->argument, '|') != NULL;
    const char *argument = !words ? r->argument : r->letter == 'w' ? "W" : "NAME";
    snprintf(left, sizeof left, "%c%c%s--%s%s%s", r->letter ? '-' : ' ',
             r->letter ? r->letter : ' ', r->letter ? ", " : "  ", r->name,
             argument == NULL ? "" : " ", argument == NULL ? "" : argument);
    printf("  %-24s %s", left, r->help);
    for (const char *word = words ? r->argument : NULL; word != NULL; word = strchr(word, '|')) {
        const size_t skip = word != r->argument;
        word += skip;
        printf("%s%.*s", skip ? ", " : ": ", (int)strcspn(word, "|"), word);
    }
    printf("\n");
}

static void print_help(unsigned command, const command_help *help) {
    printf("usage: gfk %s\n\n%s\n\noptions:\n", help->usage, help->text);
    for (size_t i = 0; i < ROWS; i++)
        if ((rows[i].commands & command) != 0)
            print_option(&rows[i]);
}

/* ---- errors --------------------------------------------------------------------------------- */

/* The number of the command's options that begin with the text. */
static size_t options_like(unsigned command, const char *text, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++)
        count += (rows[i].commands & command) != 0 && strncmp(rows[i].name, text, length) == 0;
    return count;
}

/* getopt_long refused an option. `before` is the argument in front of the next one, which is the
 * option itself if the option is long. */
static int refuse(unsigned command, const command_help *help, const char *before, bool argument) {
    const option_row *known = row_of(command, optopt);
    char letter[] = {'-', (char)optopt, '\0'};
    const bool is_long = strncmp(before, "--", 2) == 0 && (optopt == 0 || known != NULL);
    const int length = is_long ? (int)strcspn(before, "=") : 2;
    const char *option = is_long ? before : letter;
    if (argument)
        return fail(TOOL_USAGE, "%.*s needs an argument; usage: gfk %s", length, option,
                    help->usage);
    if (known != NULL)
        return fail(TOOL_USAGE, "%.*s takes no argument; usage: gfk %s", length, option,
                    help->usage);
    if (is_long && options_like(command, option + 2, (size_t)length - 2) > 1)
        return fail(TOOL_USAGE, "%.*s may be several options; gfk help %.*s lists them", length,
                    option, (int)strcspn(help->usage, " "), help->usage);
    return fail(TOOL_USAGE, "unknown option %.*s; usage: gfk %s", length, option, help->usage);
}

/* ---- the parser ----------------------------------------------------------------------------- */

/* True if standard output may be the place of the file, whatever the options before are. */
static bool names_stdout(char *const *arguments) {
    bool found = false;
    for (; *arguments != NULL && !found; arguments++) {
        const size_t length = strlen(*arguments);
        found = (*arguments)[0] == '-' && (*arguments)[length - 1] == '-' &&
                strcmp(*arguments, "--") != 0;
    }
    return found;
}

/* True if an argument is --json or a beginning of it, whatever the options before are. */
static bool names_json(char *const *arguments) {
    static const char json[] = "--json";
    bool found = false;
    for (; *arguments != NULL && strcmp(*arguments, "--") != 0 && !found; arguments++) {
        const size_t length = strlen(*arguments);
        found = length > 2 && length < sizeof json && memcmp(*arguments, json, length) == 0;
    }
    return found;
}

static int parse(tool_options *options, unsigned command, const command_help *help, int argc,
                 char **argv) {
    struct option longs[ROWS + 1] = {0};
    char shorts[2 * ROWS + 2] = ":";
    size_t count = 0, letters = 1;
    for (size_t i = 0; i < ROWS; i++) {
        if ((rows[i].commands & command) == 0)
            continue;
        const int argument = rows[i].argument == NULL ? no_argument : required_argument;
        const int key = rows[i].letter ? rows[i].letter : NO_LETTER + (int)i;
        longs[count++] = (struct option){rows[i].name, argument, NULL, key};
        if (rows[i].letter) {
            shorts[letters++] = rows[i].letter;
            if (argument == required_argument)
                shorts[letters++] = ':';
        }
    }
    *options = (tool_options){.k = 10,
                              .m = 4,
                              .w = 8,
                              .matrix = GFK_RS_CAUCHY,
                              .coder = {BACKEND_AUTO, -1, 0, UINT64_C(256) << 20}};
    opterr = 0;
    optind = 1;
    for (int key; (key = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (key == ':' || key == '?')
            return refuse(command, help, argv[optind - 1], key == ':');
        const option_row *row = row_of(command, key);
        if (row->parse == NULL) {
            print_help(command, help);
            return 0;
        }
        if (!row->parse(optarg, (char *)options + row->member))
            return fail(TOOL_USAGE, "--%s does not take %s; --%s %s: %s", row->name,
                        *optarg == '\0' ? "an empty text" : optarg, row->name, row->argument,
                        row->help);
    }
    options->arguments = argv + optind;
    options->count = (size_t)(argc - optind);
    return OPTIONS_GO_ON;
}

int options_parse(tool_options *options, unsigned command, const command_help *help, int argc,
                  char **argv) {
    report_as_json = names_json(argv); /* for the errors of the parser */
    report_on_stderr = command == COMMAND_DECODE && names_stdout(argv);
    const int code = parse(options, command, help, argc, argv);
    if (code != OPTIONS_GO_ON)
        return code;
    report_as_json = options->json;
    report_quiet = options->quiet;
    report_on_stderr =
        command == COMMAND_DECODE && options->output != NULL && strcmp(options->output, "-") == 0;
    return OPTIONS_GO_ON;
}
