/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include <dlfcn.h>
#include <string.h>

/* DEEPBIND: calls inside the loaded library stay inside it, even if the program has functions with
 * the same names. The sanitizers end a process that uses DEEPBIND. */
static int flags(void) {
    const bool sanitized = dlsym(RTLD_DEFAULT, "__sanitizer_set_report_path") != NULL;
    return RTLD_NOW | RTLD_LOCAL | (sanitized ? 0 : RTLD_DEEPBIND);
}

bool gfk_library_load(const char *path, const char *const *names, size_t count, void *functions) {
    void *library = dlopen(path, flags());
    for (size_t i = 0; i < count; i++) {
        void *function = library != NULL ? dlsym(library, names[i]) : NULL;
        if (function == NULL)
            return false;
        memcpy((char *)functions + i * sizeof function, &function, sizeof function);
    }
    return true;
}
