// SPDX-License-Identifier: BSD-3-Clause
// What all programs of the bench do: context, rows, run, tables, exit code.
#include "program.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>

#include "build_info.h"
#include "cases/cases.h"
#include "output.h"
#ifdef HAVE_CUDA
#include "device.h"
#endif

namespace {

constexpr char kNoRows[] = "no row of this preset can run here and fits the options";

// Release, and nothing that slows down or checks: else the figures are not this library's.
std::string unfit_build() {
    if (std::strcmp(BUILD_TYPE, "Release") != 0)
        return "this is a " BUILD_TYPE " build, not a Release build";
    if (std::strlen(BUILD_SANITIZE) != 0)
        return "this build has sanitizers: " BUILD_SANITIZE;
    return "";
}

std::string device_missing() {
#ifdef HAVE_CUDA
    return gpu_missing();
#else
    return "this build has no CUDA";
#endif
}

std::string now_utc() {
    char text[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", std::gmtime(&now));
    return text;
}

Fields describe(const Options &options) {
    Fields context;
#ifdef HAVE_CUDA
    if (options.device)
        context = describe_gpu();
#endif
    context.add(options.program->option + 2, options.preset, "commit", BUILD_COMMIT, "date_utc",
                now_utc(), "command", options.command, "gfk_version", std::to_string(gfk_version()),
                "build_type", BUILD_TYPE, "compiler", BUILD_COMPILER, "compiler_flags", BUILD_FLAGS,
                "cuda_compiler", BUILD_CUDA, "cpu", cpu_model(), "cpu_cores",
                std::to_string(cpu_cores()), "gf_complete", BUILD_GFCOMPLETE, "seed",
                std::to_string(options.seed));
    context.add(baseline_facts());
    context.add("unfit", given(unfit_build()), "against", given(options.against));
    return context;
}

// Kernels that cannot run on the device, by reason, and engines.
void print_absent(const Program &program) {
    std::map<std::string, int> reasons;
    const char *reason = nullptr;
    for (size_t i = 0; i < gfk_kernel_count(); i++, reason = nullptr)
        if (gfk_kernel_available(gfk_kernel_at(i), GFK_CURRENT_DEVICE, &reason) !=
            GFK_STATUS_SUCCESS)
            reasons[reason ? reason : "unknown"]++;
    for (const auto &[why, count] : reasons)
        std::fprintf(stderr, "%s: %d rows are absent: %s\n", program.name, count, why.c_str());
    for (size_t i = 0; i < gfk_engine_count(); i++, reason = nullptr) {
        const gfk_engine_info *engine = gfk_engine_at(i);
        if (!gfk_engine_family_on_cpu(engine->family) &&
            gfk_engine_available(engine, GFK_CURRENT_DEVICE, &reason) != GFK_STATUS_SUCCESS)
            std::fprintf(stderr, "%s: %s is absent: %s\n", program.name, engine->id,
                         reason ? reason : "unknown");
    }
}

void loud(const std::string &what, const std::string &why) {
    if (why.empty())
        return;
    const std::string line(72, '!');
    std::fflush(stdout);
    std::fprintf(stderr, "\n%s\n!!! %s: %s\n%s\n\n", line.c_str(), what.c_str(), why.c_str(),
                 line.c_str());
}

Rows rows_of(const Program &program, Options options) {
    Rows rows;
    const auto preset =
        std::find_if(program.presets.begin(), program.presets.end(),
                     [&](const auto &known) { return options.preset == known.name; });
    for (const char *part : preset->parts) {
        Rows more;
        options.part = part;
        program.add(options, &more);
        for (Row &row : more) {
            row.group = options.part.substr(options.part.find(':') + 1);
            rows.push_back(std::move(row));
        }
    }
    select_rows(options, &rows);
    return rows;
}

} // namespace

int run_program(const Program &program, int argc, char **argv) {
    const auto refuse = [&](const std::string &why) {
        std::fprintf(stderr, "%s: %s\n", program.name, why.c_str());
        return 2;
    };
    Options options = parse_options(program, argc, argv);
    if (options.cores != 0 && !limit_cpu_cores(options.cores))
        return refuse("there are no " + std::to_string(options.cores) + " cores");
    if (!options.against.empty()) {
        const std::string refused = open_other_library(options.against);
        if (!refused.empty())
            return refuse(refused);
    }
    const std::string missing = options.device ? device_missing() : "";
    if (!missing.empty()) {
        std::fprintf(stderr, "%s: no GPU rows: %s\n", program.name, missing.c_str());
        options.device = false;
    }
    if (options.list) {
        const Rows rows = rows_of(program, options);
        for (const Row &row : rows)
            std::puts(row.name.c_str());
        return rows.empty() ? refuse(kNoRows) : 0;
    }
    loud("NOT FIT FOR MEASUREMENT", unfit_build());
    if (options.device)
        print_absent(program);
    Fields context = describe(options);
#ifdef HAVE_CUDA
    if (options.device && options.preset == "card")
        take_any_clock();
    if (options.device && options.against.empty())
        context.set("void", given(void_reason(program.has_products(options))));
#endif
    for (const auto &[name, value] : context.all())
        std::printf("%-26s %s\n", name.c_str(), context.text(name).c_str());
    loud("THIS RUN IS VOID", context.text("void"));
    run_rows(options, context, rows_of(program, options));
    const bool none = results().empty();
    print_ratios();
    if (!options.out.empty() && !none)
        std::printf("wrote %s\n", options.out.c_str());
    if (options.preset == "card" && !none)
        std::printf("\n%s\nPlease send the lines from \"###\" on as an issue to the tracker of "
                    "gf-kernels.\n",
                    card_text(context, results()).c_str());
    loud("THIS RUN IS VOID", context.text("void"));
    loud("NOT FIT FOR MEASUREMENT", unfit_build());
    std::fflush(stdout);
    if (none)
        refuse(kNoRows);
    bool failed = none;
    for (const Result &r : results())
        if (r.fields.text("state") == "failed") {
            failed = true;
            std::fprintf(stderr, "%s: %s: %s\n", program.name, r.name.c_str(),
                         r.fields.text("reason").c_str());
        }
    return failed ? 1 : 0;
}
