// SPDX-License-Identifier: BSD-3-Clause
// The library under measurement as a table of its functions: the one that gfk_bench is linked to,
// and with --against another build of it in the same process.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include <gfk/gfk.h>
#include <gfk/host.h>

#include "host.h"

#define GFK_BENCH_CALLS(X)                                                                         \
    X(gfk_multiplier_create)                                                                       \
    X(gfk_multiplier_destroy)                                                                      \
    X(gfk_multiplier_get_info)                                                                     \
    X(gfk_region_multiply)                                                                         \
    X(gfk_region_prepare)                                                                          \
    X(gfk_region_multiply_prepared)                                                                \
    X(gfk_product_create)                                                                          \
    X(gfk_product_get_info)                                                                        \
    X(gfk_product_run)                                                                             \
    X(gfk_product_destroy)                                                                         \
    X(gfk_matmul_workspace)                                                                        \
    X(gfk_matmul)                                                                                  \
    X(gfk_matmul_host)                                                                             \
    X(gfk_matrix_invert_workspace)                                                                 \
    X(gfk_matrix_invert)                                                                           \
    X(gfk_matrix_invert_batch)                                                                     \
    X(gfk_matrix_wait)                                                                             \
    X(gfk_rlnc_create)                                                                             \
    X(gfk_rlnc_destroy)                                                                            \
    X(gfk_rlnc_vectors)                                                                            \
    X(gfk_rlnc_encode_workspace)                                                                   \
    X(gfk_rlnc_encode)                                                                             \
    X(gfk_rlnc_recode_workspace)                                                                   \
    X(gfk_rlnc_recode)                                                                             \
    X(gfk_rlnc_decoder_create)                                                                     \
    X(gfk_rlnc_decoder_destroy)                                                                    \
    X(gfk_rlnc_decoder_add)                                                                        \
    X(gfk_rlnc_decoder_decode)                                                                     \
    X(gfk_rlnc_decoder_wait)                                                                       \
    X(gfk_rs_create)                                                                               \
    X(gfk_rs_get_info)                                                                             \
    X(gfk_rs_get_matrix)                                                                           \
    X(gfk_rs_destroy)                                                                              \
    X(gfk_rs_encode)                                                                               \
    X(gfk_rs_decoder_create)                                                                       \
    X(gfk_rs_decoder_get_info)                                                                     \
    X(gfk_rs_decoder_run)                                                                          \
    X(gfk_rs_decoder_destroy)                                                                      \
    X(gfk_rs_verify)                                                                               \
    X(gfk_rs_locate_workspace)                                                                     \
    X(gfk_rs_locate)                                                                               \
    X(gfk_rs_updater_create)                                                                       \
    X(gfk_rs_updater_run)                                                                          \
    X(gfk_rs_updater_destroy)                                                                      \
    X(gfk_rs_batch_create)                                                                         \
    X(gfk_rs_batch_run)                                                                            \
    X(gfk_rs_batch_destroy)                                                                        \
    X(gfk_pipeline_create)                                                                         \
    X(gfk_pipeline_destroy)                                                                        \
    X(gfk_region_multiply_host)                                                                    \
    X(gfk_rs_encode_host)                                                                          \
    X(gfk_rs_decode_host)
// Null in an older library: a row does without what these say.
#define GFK_BENCH_NEWER_CALLS(X) X(gfk_matmul_kernel_id)

struct Library {
#define X(name) decltype(&::name) name = ::name;
    GFK_BENCH_CALLS(X)
    GFK_BENCH_NEWER_CALLS(X)
#undef X
    unsigned number = 0; // 0: linked, 1: --against
};

const Library &linked_library();
const Library *other_library(); // null without --against
// Opens the library of --against. Returns "" or why it cannot be used.
std::string open_other_library(const std::string &path);

// Ends the program with a sentence if the status is not success.
void gfk_check(gfk_status status, const char *what);
#define GFK_CHECK(call) gfk_check((call), #call)

gfk_field field_of(unsigned w); // of the default polynomial

// An object of a library, destroyed with its last owner, and how long its create took.
template <class Handle>
struct Object {
    std::shared_ptr<std::remove_pointer_t<Handle>> owner;
    double create_us = 0;

    operator Handle() const { return owner.get(); }
    template <class Create, class... Arguments>
    gfk_status make(Create create, void (*destroy)(Handle), Arguments... arguments) {
        Handle made = nullptr;
        owner.reset();
        const Stopwatch watch;
        const gfk_status status = create(&made, arguments...);
        create_us = watch.us();
        owner.reset(made, destroy);
        return status;
    }
};

// One multiplier per library and row of the list, made when first needed, kept until the end.
struct Multiplier {
    Object<gfk_multiplier_t> handle; // the second of two creates: the first also starts up CUDA
    gfk_status status = GFK_STATUS_SUCCESS;
    size_t table_bytes = 0, workspace_bytes = 0;
};
const Multiplier &multiplier_of(const Library &library, const gfk_kernel_info *kernel);
void forget_multiplier(const Library &library, const gfk_kernel_info *kernel); // frees its tables

// The row that outputs of region multiplies on the CPU are compared with: SPLIT of this width.
const gfk_kernel_info *reference_of(unsigned w);
