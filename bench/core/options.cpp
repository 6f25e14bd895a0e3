// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const struct {
    const char *name, *what;
} kPresets[] = {
    {"default", "GPU rows at 64 KiB to 1 GiB, set, cold; host rows; GF-Complete"},
    {"s2", "c = 128, seed 10, 50,000,000 bytes: the published test case"},
    {"limits", "2 GiB, set and xor, every constant on its own: percent of the roofline"},
    {"small", "naive and optimized rows at 4 KiB to 16 MiB, set, cold"},
    {"offsets", "optimized rows at 1 GiB, aligned and at odd addresses, set, cold"},
    {"verdicts", "ablation rows, and what they say about the published claims"},
    {"giant", "TABLE and LOG w=32 against plain gathers; needs 45 GiB on the device"},
    {"product", "matrix products of 3 GiB: engines, AUTO, the plain way, CPU libraries"},
    {"product-small", "products of regions of 64 KiB and 1 MiB, first calls, host time"},
    {"product-perop", "every perop engine at 10+4 and 30+3"},
    {"product-map", "AUTO over inputs and outputs, 1 GiB of data"},
    {"rs", "Reed-Solomon: encode, decode, verify, locate, update, batches, set-up"},
    {"rs-sweep", "encode and decode over k for m = 2 to 16, 1 MiB; CPU libraries"},
    {"host", "calls on host memory, 8 GiB of data: encode, decode, region multiply"},
    {"host-streams", "encode of host memory with 1 to 16 streams"}};

const char kHelp[] =
    "\n"
    "  --full             default with more sizes (4 KiB to 2 GiB), xor, hot; use with --shard\n"
    "  --shard I/N        part I (from 1) of N parts of the region rows\n"
    "  --giant            short for --preset giant\n"
    "  --only gpu|cpu     only rows of that side\n"
    "  --method A,B,...   only rows of these methods, e.g. SPLIT\n"
    "  --width 8,16,32    only rows of these widths\n"
    "  --engine A,B,...   only rows of these engines or families, e.g. bmma_w8 or xor; the id of "
    "a\n"
    "                     compiled kernel, e.g. prmt_w8/4x4, adds rows of that kernel\n"
    "  --list             print the names of the rows and measure nothing\n"
    "  --sizes A,B,...    other region sizes, in bytes (multiples of 512); of products: the first\n"
    "                     is the bytes of data\n"
    "  --cpu-cores N      run on N cores only (all that this process may use)\n"
    "  --no-sustained     leave out what takes two seconds a row without a pause\n"
    "  --seed N           of the random constants (10)\n"
    "  --out FILE         JSON of everything, for bench/report.py and bench/compare.py; CSV where\n"
    "                     the name ends in .csv\n"
    "  --against LIBGFK   measure each row in turns with another build of libgfk.so\n"
    "  --benchmark_...    Google Benchmark's own flags, e.g. --benchmark_filter=split_w8\n";

void print_help() {
    std::puts("gfk_bench: every row of the kernel list, measured\n\n  --preset NAME");
    for (const auto &preset : kPresets)
        std::printf("    %-16s %s\n", preset.name, preset.what);
    std::fputs(kHelp, stdout);
}

bool is_preset(const std::string &text) {
    return std::any_of(std::begin(kPresets), std::end(kPresets),
                       [&](const auto &preset) { return text == preset.name; });
}

std::vector<std::string> split(const std::string &text) {
    std::vector<std::string> words;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

bool parse_sizes(const char *text, std::vector<size_t> *sizes) {
    for (const std::string &word : split(text)) {
        char *end = nullptr;
        const unsigned long long n = std::strtoull(word.c_str(), &end, 10);
        if (word.empty() || *end != 0 || n == 0 || n % 512 != 0)
            return false;
        sizes->push_back((size_t)n);
    }
    return true;
}

// The value of a flag given as "--flag value" or "--flag=value"; null if argv[*i] is another flag.
const char *value_of(const char *flag, int argc, char **argv, int *i) {
    const size_t n = std::strlen(flag);
    if (std::strncmp(argv[*i], flag, n) != 0)
        return nullptr;
    if (argv[*i][n] == '=')
        return argv[*i] + n + 1;
    if (argv[*i][n] != 0)
        return nullptr;
    return *i + 1 < argc ? argv[++*i] : "";
}

enum Taken { NotOurs, Good, Wrong };

Taken take(int argc, char **argv, int *i, Options *o) {
    const auto flag = [&](const char *name) { return std::strcmp(argv[*i], name) == 0; };
    const char *v;
    bool good = true;
    if (flag("--full"))
        o->full = true;
    else if (flag("--giant"))
        o->preset = "giant";
    else if (flag("--list"))
        o->list = true;
    else if (flag("--no-sustained"))
        o->sustained = false;
    else if ((v = value_of("--preset", argc, argv, i)))
        good = is_preset(o->preset = v);
    else if ((v = value_of("--only", argc, argv, i))) {
        o->device = std::strcmp(v, "gpu") == 0;
        o->host = std::strcmp(v, "cpu") == 0;
        good = o->device || o->host;
    } else if ((v = value_of("--shard", argc, argv, i)))
        good = std::sscanf(v, "%u/%u", &o->shard, &o->shards) == 2 && o->shard >= 1 &&
               o->shard <= o->shards;
    else if ((v = value_of("--sizes", argc, argv, i)))
        good = parse_sizes(v, &o->sizes);
    else if ((v = value_of("--seed", argc, argv, i)))
        o->seed = std::strtoull(v, nullptr, 0);
    else if ((v = value_of("--out", argc, argv, i)))
        o->out = v;
    else if ((v = value_of("--against", argc, argv, i)))
        o->against = v;
    else if ((v = value_of("--method", argc, argv, i)))
        o->methods = split(v);
    else if ((v = value_of("--width", argc, argv, i)))
        o->widths = split(v);
    else if ((v = value_of("--engine", argc, argv, i)))
        o->engines = split(v);
    else if ((v = value_of("--cpu-cores", argc, argv, i)))
        good = (o->cores = (unsigned)std::strtoul(v, nullptr, 10)) != 0;
    else
        return NotOurs;
    return good ? Good : Wrong;
}

// The command line without the folder of --out: where a file was written says nothing, and files
// are moved.
std::string describe_command(int argc, char **argv) {
    std::string command = "gfk_bench";
    for (int i = 1; i < argc; i++) {
        std::string word = argv[i];
        const size_t folder = word.rfind('/') + 1;
        if (std::strcmp(argv[i - 1], "--out") == 0)
            word.erase(0, folder);
        else if (word.compare(0, 6, "--out=") == 0 && folder != 0)
            word.erase(6, folder - 6);
        command += " " + word;
    }
    return command;
}

} // namespace

bool parse_options(int *argc, char **argv, Options *options, int *exit_code) {
    int kept = 1;
    options->command = describe_command(*argc, argv);
    for (int i = 1; i < *argc; i++) {
        const char *flag = argv[i];
        if (std::strcmp(flag, "--help") == 0) {
            print_help();
            *exit_code = 0;
            return false;
        }
        const Taken taken = take(*argc, argv, &i, options);
        if (taken == Wrong) {
            std::fprintf(stderr, "gfk_bench: %s: not understood; see --help\n", flag);
            *exit_code = 2;
            return false;
        }
        if (taken == NotOurs)
            argv[kept++] = argv[i];
    }
    argv[kept] = nullptr;
    *argc = kept;
    return true;
}
