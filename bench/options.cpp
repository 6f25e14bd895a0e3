// SPDX-License-Identifier: BSD-3-Clause
// Parsing of the command line.
#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const char kHelp[] =
    "gfk_bench: every row of the kernel list, measured\n"
    "\n"
    "  (nothing)          GPU rows at 64 KiB, 1 MiB, 16 MiB, 256 MiB and 1 GiB, set, cold; host\n"
    "                     rows; GF-Complete\n"
    "  --full             more sizes (4 KiB to 2 GiB), xor, hot; use with --shard\n"
    "  --shard I/N        part I (from 1) of N parts of the rows\n"
    "  --preset s2        c = 128, seed 10, 50,000,000 bytes: three tables\n"
    "  --preset limits    2 GiB, set and xor, every constant on its own: percent of the roofline\n"
    "  --preset small     naive and optimized rows at 4 KiB to 16 MiB, set, cold\n"
    "  --preset offsets   optimized rows at 1 GiB, aligned and at odd addresses, set, cold\n"
    "  --preset verdicts  ablation rows, and what they say about the published claims\n"
    "  --preset product   matrix products, 3 GiB of data: engines, AUTO, the plain way, CPU "
    "libraries\n"
    "  --preset product-perop  every perop engine at 10+4 and 30+3\n"
    "  --preset product-small  products of regions of 64 KiB and 1 MiB, first calls, host time\n"
    "  --preset product-map    AUTO over inputs and outputs, 1 GiB of data\n"
    "  --preset rs        Reed-Solomon: encode, decode, verify, locate, update, batches, set-up\n"
    "  --preset rs-sweep  encode and decode over k for m = 2 to 16, buffers of 1 MiB, and CPU\n"
    "                     libraries\n"
    "  --preset host      calls on host memory, 8 GiB of data: encode, decode, region multiply\n"
    "  --preset host-streams   encode with 1 to 16 streams\n"
    "  --giant            TABLE and LOG w=32 against plain gathers; needs 45 GiB on the device\n"
    "  --only gpu|cpu     only rows of that side\n"
    "  --sizes A,B,...    other region sizes, in bytes (multiples of 512); of products: the first\n"
    "                     is the bytes of data\n"
    "  --seed N           of the random constants (10)\n"
    "  --out FILE         JSON of everything, for bench/report.py and bench/compare.py\n"
    "  --benchmark_...    Google Benchmark's own flags, e.g. --benchmark_filter=split_w8\n";

bool parse_sizes(const char *text, std::vector<size_t> *sizes) {
    while (*text) {
        char *end = nullptr;
        const unsigned long long n = std::strtoull(text, &end, 10);
        if (end == text || n == 0 || n % 512 != 0 || (*end != ',' && *end != 0))
            return false;
        sizes->push_back((size_t)n);
        text = *end ? end + 1 : end;
    }
    return !sizes->empty();
}

bool parse_preset(const char *text, Options::Preset *preset) {
    const struct {
        const char *name;
        Options::Preset preset;
    } presets[] = {{"s2", Options::S2},
                   {"limits", Options::Limits},
                   {"small", Options::Small},
                   {"offsets", Options::Offsets},
                   {"verdicts", Options::Verdicts},
                   {"product", Options::Product},
                   {"product-perop", Options::ProductPerop},
                   {"product-small", Options::ProductSmall},
                   {"product-map", Options::ProductMap},
                   {"rs", Options::Rs},
                   {"rs-sweep", Options::RsSweep},
                   {"host", Options::Host},
                   {"host-streams", Options::HostStreams}};
    for (const auto &known : presets)
        if (std::strcmp(text, known.name) == 0) {
            *preset = known.preset;
            return true;
        }
    return false;
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

// 1: taken; 0: not ours; -1: wrong.
int take(int argc, char **argv, int *i, Options *o) {
    const char *v;
    if (std::strcmp(argv[*i], "--full") == 0)
        o->full = true;
    else if (std::strcmp(argv[*i], "--giant") == 0)
        o->giant = true;
    else if ((v = value_of("--preset", argc, argv, i))) {
        return parse_preset(v, &o->preset) ? 1 : -1;
    } else if ((v = value_of("--only", argc, argv, i))) {
        o->device = std::strcmp(v, "gpu") == 0;
        o->host = std::strcmp(v, "cpu") == 0;
        return o->device || o->host ? 1 : -1;
    } else if ((v = value_of("--shard", argc, argv, i))) {
        if (std::sscanf(v, "%u/%u", &o->shard, &o->shards) != 2 || o->shard < 1 ||
            o->shard > o->shards)
            return -1;
    } else if ((v = value_of("--sizes", argc, argv, i)))
        return parse_sizes(v, &o->sizes) ? 1 : -1;
    else if ((v = value_of("--seed", argc, argv, i)))
        o->seed = std::strtoull(v, nullptr, 0);
    else if ((v = value_of("--out", argc, argv, i)))
        o->out = v;
    else
        return 0;
    return 1;
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
            std::fputs(kHelp, stdout);
            *exit_code = 0;
            return false;
        }
        const int taken = take(*argc, argv, &i, options);
        if (taken < 0) {
            std::fprintf(stderr, "gfk_bench: %s: not understood; see --help\n", flag);
            *exit_code = 2;
            return false;
        }
        if (taken == 0)
            argv[kept++] = argv[i];
    }
    argv[kept] = nullptr;
    *argc = kept;
    return true;
}
