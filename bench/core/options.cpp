// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <variant>

#include "program.h"

namespace {

using Text = std::string;
using List = std::vector<Text>;

List split(const Text &text) {
    List words;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

bool take_widths(Options *o, const Text &value) {
    o->widths = split(value);
    return std::all_of(o->widths.begin(), o->widths.end(), [](const Text &width) {
        return width == "8" || width == "16" || width == "32";
    });
}

bool take_preset(Options *o, const Text &value) {
    o->preset = value;
    const auto &presets = o->program->presets;
    return std::any_of(presets.begin(), presets.end(),
                       [&](const auto &preset) { return value == preset.name; });
}

bool take_side(Options *o, const Text &value) {
    o->device = value == "gpu";
    o->host = value == "cpu";
    return o->device || o->host;
}

bool take_filter(Options *o, const Text &value) {
    o->filter = value;
    try {
        (void)std::regex(value, std::regex::extended);
    } catch (const std::regex_error &) {
        return false;
    }
    return true;
}

bool take_sizes(Options *o, const Text &value) {
    for (const Text &word : split(value)) {
        char *end = nullptr;
        o->sizes.push_back((size_t)std::strtoull(word.c_str(), &end, 10));
        if (word.empty() || *end != 0 || o->sizes.back() == 0 || o->sizes.back() % 512 != 0)
            return false;
    }
    return true;
}

bool take_cores(Options *o, const Text &value) {
    return (o->cores = (unsigned)std::strtoul(value.c_str(), nullptr, 10)) != 0;
}

bool take_seed(Options *o, const Text &value) {
    o->seed = std::strtoull(value.c_str(), nullptr, 0);
    return true;
}

// An option sets a member, or has a function, which returns false for a bad value.
struct Option {
    const char *name, *argument, *help; // argument: "" for a switch
    std::variant<bool Options::*, Text Options::*, List Options::*,
                 bool (*)(Options *, const Text &)>
        member;

    bool take(Options *o, const Text &value) const {
        if (const auto *flag = std::get_if<0>(&member))
            o->**flag = true;
        else if (const auto *text = std::get_if<1>(&member))
            o->**text = value;
        else if (const auto *list = std::get_if<2>(&member))
            o->**list = split(value);
        else
            return std::get<3>(member)(o, value);
        return true;
    }
};
const Option kOptions[] = {
    {nullptr, "NAME", "", take_preset}, // the program's own; its help is the list of presets
    {"--filter", "REGEX",
     "only rows whose name, or group:name, the extended regular expression finds,\n"
     "e.g. ^small: or split_w8; with a - at its beginning, only the others",
     take_filter},
    {"--full", "", "the group sizes with more of them (4 KiB to 2 GiB), xor, hot", &Options::full},
    {"--only", "gpu|cpu", "only rows of that side", take_side},
    {"--method", "A,B,...", "only rows of these methods, e.g. SPLIT", &Options::methods},
    {"--width", "8,16,32", "only rows of these widths", take_widths},
    {"--engine", "A,B,...",
     "only rows of these engines or families, e.g. bmma_w8 or prmt; the id of a\n"
     "compiled kernel, e.g. prmt_w8/nx4, adds rows of that kernel; with matmul\n"
     "and rlnc the kernel of matmuls, e.g. clmad",
     &Options::engines},
    {"--list", "", "print the names of the rows and measure nothing", &Options::list},
    {"--sizes", "A,B,...",
     "other region sizes, in bytes (multiples of 512); of products: the first\n"
     "is the bytes of data",
     take_sizes},
    {"--cpu-cores", "N", "run on N cores only (all that this process may use)", take_cores},
    {"--no-sustained", "", "leave out what takes two seconds a row without a pause",
     &Options::no_sustained},
    {"--seed", "N", "of the random constants (10)", take_seed},
    {"--out", "FILE", "JSON of everything, for bench/report.py and bench/compare.py",
     &Options::out},
    {"--against", "LIBGFK", "measure each row in turns with another build of libgfk.so",
     &Options::against},
};

void print_help(const Program &program) {
    std::printf("%s [OPTION...]\n\n  %s NAME\n", program.name, program.option);
    for (const auto &preset : program.presets) {
        std::printf("    %-16s %s\n", preset.name, preset.what);
        Text groups;
        for (const Text part : preset.parts)
            groups += " " + part.substr(part.find(':') + 1);
        if (preset.parts.size() > 1)
            std::printf("    %-16s groups:%s\n", "", groups.c_str());
    }
    std::puts("");
    for (const Option &option : kOptions) {
        if (option.name == nullptr)
            continue;
        const Text left = Text(option.name) + " " + option.argument, indent(21, ' ');
        const Text help = std::regex_replace(option.help, std::regex("\n"), "\n" + indent);
        std::printf("  %-18s %s\n", left.c_str(), help.c_str());
    }
}

// The option that `word` names as "--name", or with a value as "--name=value"; or null.
const Option *option_of(const Program &program, const Text &word) {
    for (const Option &option : kOptions) {
        const Text name = option.name ? option.name : program.option;
        if (word == name || (*option.argument != 0 && word.rfind(name + "=", 0) == 0))
            return &option;
    }
    return nullptr;
}

} // namespace

Options parse_options(const Program &program, int argc, char **argv) {
    Options options;
    options.program = &program;
    options.preset = program.presets[0].name;
    options.command = program.name;
    for (int i = 1; i < argc; i++) {
        const Text word = argv[i];
        options.command += " " + word;
        if (word == "--help") {
            print_help(program);
            std::exit(0);
        }
        const Option *option = option_of(program, word);
        const size_t equals = word.find('=');
        Text value = equals == Text::npos ? "" : word.substr(equals + 1);
        const bool takes_value = option != nullptr && *option->argument != 0;
        if (takes_value && equals == Text::npos && i + 1 < argc) {
            value = argv[++i];
            options.command += " " + value;
        }
        if (option == nullptr || (value.empty() && takes_value) || !option->take(&options, value)) {
            std::fprintf(stderr, "%s: %s: \"%s\" is not understood; see --help\n", program.name,
                         word.substr(0, equals).c_str(), value.c_str());
            std::exit(2);
        }
        // The folder of --out is left out: where a file was written says nothing, and files are
        // moved.
        if (word.rfind("--out", 0) == 0)
            options.command.erase(options.command.size() - value.size(), value.rfind('/') + 1);
    }
    return options;
}
