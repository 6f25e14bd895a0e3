/* SPDX-License-Identifier: BSD-3-Clause */
/* nvJitLink is loaded at run time: it comes with the CUDA toolkit, not with the driver, and the
 * library must work without the toolkit. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"

/* Copied from nvJitLink.h, which need not be installed. */
typedef struct nvJitLink *handle;
enum { SUCCESS = 0, INPUT_PTX = 2 };

static struct linker {
    int (*version)(unsigned *major, unsigned *minor);
    int (*create)(handle *h, uint32_t options, const char **option);
    int (*destroy)(handle *h);
    int (*add_data)(handle h, int type, const void *data, size_t size, const char *name);
    int (*complete)(handle h);
    int (*code_size)(handle h, size_t *size);
    int (*code)(handle h, void *code);
    char name[64];
} linker = {.name = "driver"};
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ISO C does not convert the address of an object to that of a function; POSIX lets memcpy do it.
 */
static bool symbol(void *library, const char *name, void *function) {
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static bool find_all(void *library, struct linker *l) {
    return symbol(library, "nvJitLinkVersion", &l->version) &&
           symbol(library, "nvJitLinkCreate", &l->create) &&
           symbol(library, "nvJitLinkDestroy", &l->destroy) &&
           symbol(library, "nvJitLinkAddData", &l->add_data) &&
           symbol(library, "nvJitLinkComplete", &l->complete) &&
           symbol(library, "nvJitLinkGetLinkedCubinSize", &l->code_size) &&
           symbol(library, "nvJitLinkGetLinkedCubin", &l->code);
}

/* Tries the newest version first. The library stays loaded, as other threads may be in it. */
static void load(void) {
    static const char *const names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct linker l;
        unsigned major, minor;
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            continue;
        if (find_all(library, &l) && l.version(&major, &minor) == SUCCESS) {
            (void)snprintf(l.name, sizeof l.name, "nvJitLink %u.%u", major, minor);
            linker = l;
            return;
        }
        (void)dlclose(library);
    }
}

const char *gfk_jit_compiler_name(void) {
    (void)pthread_once(&once, load);
    return linker.name;
}

static bool take_code(handle h, gfk_bytes *code) {
    if (linker.code_size(h, &code->size) != SUCCESS || code->size == 0)
        return false;
    code->data = malloc(code->size);
    if (code->data != NULL && linker.code(h, code->data) == SUCCESS)
        return true;
    free(code->data);
    *code = (gfk_bytes){NULL, 0};
    return false;
}

bool gfk_jit_compile(const char *ptx, size_t size, unsigned cc, gfk_bytes *code) {
    char arch[32];
    (void)pthread_once(&once, load);
    if (linker.create == NULL ||
        cc < 50) /* below 50 nvJitLink ends the process instead of failing */
        return false;
    (void)snprintf(arch, sizeof arch, "-arch=sm_%u", cc);
    const char *options[] = {arch};
    handle h = NULL;
    /* nvJitLinkCreate makes a handle even where it rejects an option. */
    const bool ok = linker.create(&h, 1, options) == SUCCESS &&
                    linker.add_data(h, INPUT_PTX, ptx, size + 1, "gfk_xor") == SUCCESS &&
                    linker.complete(h) == SUCCESS && take_code(h, code);
    if (h != NULL)
        (void)linker.destroy(&h);
    return ok;
}
