// SPDX-License-Identifier: BSD-3-Clause
// Multipliers, kept until the program ends.
#include "multipliers.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

static Multiplier create(const gfk_kernel_info *kernel) {
    Multiplier m;
    gfk_field field;
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    gfk_multiplier_info info;
    desc.kernel = kernel->id;
    desc.table_limit = UINT64_C(1) << 40; // giants are in the plan only when they were asked for
    gfk_check(gfk_field_init(&field, kernel->w, 0), "gfk_field_init");
    const bool giant = kernel->labels & GFK_LABEL_GIANT;
    for (int run = giant ? 1 : 0; run < 2; run++) {
        gfk_multiplier_destroy(m.handle);
        m.handle = nullptr;
        const auto start = std::chrono::steady_clock::now();
        m.status = gfk_multiplier_create(&m.handle, &field, &desc);
        const auto stop = std::chrono::steady_clock::now();
        if (m.status != GFK_STATUS_SUCCESS)
            return m;
        m.create_us = std::chrono::duration<double, std::micro>(stop - start).count();
    }
    gfk_check(gfk_multiplier_get_info(m.handle, &info), "gfk_multiplier_get_info");
    m.workspace_bytes = (size_t)info.workspace_bytes;
    return m;
}

static std::map<const gfk_kernel_info *, Multiplier> g_made;

const Multiplier &multiplier_of(const gfk_kernel_info *kernel) {
    const auto found = g_made.find(kernel);
    if (found != g_made.end())
        return found->second;
    return g_made.emplace(kernel, create(kernel)).first->second;
}

void forget_multiplier(const gfk_kernel_info *kernel) {
    const auto found = g_made.find(kernel);
    if (found == g_made.end())
        return;
    gfk_multiplier_destroy(found->second.handle);
    g_made.erase(found);
}

const gfk_kernel_info *reference_of(unsigned w, bool on_device) {
    const std::string id = "split_w" + std::to_string(w) + (on_device ? "_naive" : "_host");
    const gfk_kernel_info *kernel = gfk_kernel_find(id.c_str());
    gfk_check(kernel ? GFK_STATUS_SUCCESS : GFK_STATUS_INTERNAL, id.c_str());
    return kernel;
}

void gfk_check(gfk_status status, const char *what) {
    if (status == GFK_STATUS_SUCCESS)
        return;
    std::fflush(stdout);
    std::fprintf(stderr, "gfk_bench: %s: %s: %s\n", what, gfk_status_name(status),
                 gfk_status_description(status));
    std::_Exit(3);
}
