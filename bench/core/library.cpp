// SPDX-License-Identifier: BSD-3-Clause
#include "library.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include <dlfcn.h>

namespace {

Library g_other;
// Never destroyed: at the end of the process the device may be gone.
auto &g_made = *new std::map<std::pair<unsigned, const gfk_kernel_info *>, Multiplier>;

Multiplier create(const Library &library, const gfk_kernel_info *kernel) {
    Multiplier m;
    const gfk_field field = field_of(kernel->w);
    gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
    gfk_multiplier_info info;
    desc.kernel = kernel->id;
    desc.table_limit = UINT64_C(1) << 40; // giants are in the plan only when they were asked for
    const bool giant = kernel->labels & GFK_LABEL_GIANT;
    for (int run = giant ? 1 : 0; run < 2; run++) {
        m.status = m.handle.make(library.gfk_multiplier_create, library.gfk_multiplier_destroy,
                                 &field, &desc);
        if (m.status != GFK_STATUS_SUCCESS)
            return m;
    }
    GFK_CHECK(library.gfk_multiplier_get_info(m.handle, &info));
    m.table_bytes = (size_t)info.table_bytes;
    m.workspace_bytes = (size_t)info.workspace_bytes;
    return m;
}

} // namespace

const Library &linked_library() {
    static const Library library;
    return library;
}

const Library *other_library() {
    return g_other.number == 0 ? nullptr : &g_other;
}

// DEEPBIND: calls inside of the other library go to the other library, not to the linked one.
std::string open_other_library(const std::string &path) {
    void *file = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (file == nullptr)
        return dlerror();
#define X(name) g_other.name = reinterpret_cast<decltype(&::name)>(dlsym(file, #name));
    GFK_BENCH_CALLS(X)
    GFK_BENCH_NEWER_CALLS(X)
#undef X
#define X(name)                                                                                    \
    if (g_other.name == nullptr)                                                                   \
        return path + ": no function " #name;
    GFK_BENCH_CALLS(X)
#undef X
    if (g_other.gfk_product_run == &::gfk_product_run)
        return path + ": is the library that gfk_bench is linked to";
    g_other.number = 1;
    return "";
}

void gfk_check(gfk_status status, const char *what) {
    if (status == GFK_STATUS_SUCCESS)
        return;
    std::fflush(stdout);
    std::fprintf(stderr, "gfk_bench: %s: %s: %s\n", what, gfk_status_name(status),
                 gfk_status_description(status));
    std::_Exit(3);
}

gfk_field field_of(unsigned w) {
    gfk_field field;
    GFK_CHECK(gfk_field_init(&field, w, 0));
    return field;
}

const Multiplier &multiplier_of(const Library &library, const gfk_kernel_info *kernel) {
    const auto key = std::make_pair(library.number, kernel);
    const auto found = g_made.find(key);
    return found != g_made.end() ? found->second
                                 : g_made.emplace(key, create(library, kernel)).first->second;
}

void forget_multiplier(const Library &library, const gfk_kernel_info *kernel) {
    g_made.erase({library.number, kernel});
}

const gfk_kernel_info *reference_of(unsigned w) {
    const std::string id = "split_w" + std::to_string(w) + "_host";
    const gfk_kernel_info *kernel = gfk_kernel_find(id.c_str());
    gfk_check(kernel ? GFK_STATUS_SUCCESS : GFK_STATUS_INTERNAL, id.c_str());
    return kernel;
}
