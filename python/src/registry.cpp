// SPDX-License-Identifier: BSD-3-Clause
// The library's lists of kernels and engines as lists of dicts, one for each row.
#include <gfk/gfk.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "integer.h"
#include "product_options.h"
#include "status.h"

namespace gfk {
namespace {
nb::dict row(const char *id, unsigned w, unsigned cc_min, unsigned cc_max, gfk_status available,
             const char *reason) {
    nb::dict made;
    made["id"] = id;
    made["w"] = w;
    made["compute_capability"] = nb::make_tuple(cc_min, cc_max); // 0: no bound
    made["available"] = available == GFK_STATUS_SUCCESS;
    made["reason"] = available == GFK_STATUS_SUCCESS ? ""
                     : reason != nullptr             ? reason
                                                     : gfk_status_description(available);
    return made;
}

nb::list kernels(Integer place) {
    const int device = place.device();
    nb::list table;
    for (size_t i = 0; i < gfk_kernel_count(); i++) {
        const gfk_kernel_info *k = gfk_kernel_at(i);
        const char *reason = nullptr;
        const bool host = k->implementation == GFK_IMPLEMENTATION_HOST;
        const gfk_status status = gfk_kernel_available(k, host ? GFK_CPU : device, &reason);
        nb::dict made = row(k->id, k->w, k->cc_min, k->cc_max, status, reason);
        made["method"] = gfk_method_name(k->method);
        made["implementation"] = gfk_implementation_name(k->implementation);
        made["variant"] = k->variant;
        made["parameters"] = k->parameters;
        made["table_bytes"] = k->table_bytes;
        made["workspace_bytes"] = k->workspace_bytes;
        table.append(made);
    }
    return table;
}

nb::list engines(Integer place) {
    const int device = place.device();
    nb::list table;
    for (size_t i = 0; i < gfk_engine_count(); i++) {
        const gfk_engine_info *e = gfk_engine_at(i);
        const char *reason = nullptr;
        const bool cpu = gfk_engine_family_on_cpu(e->family);
        const gfk_status status = gfk_engine_available(e, cpu ? GFK_CPU : device, &reason);
        nb::dict made = row(e->id, e->w, e->cc_min, e->cc_max, status, reason);
        made["family"] = gfk_engine_family_name(e->family);
        made["method"] = gfk_method_name(e->method);
        made["adds_equal_columns"] = (e->labels & GFK_ENGINE_ADDS_EQUAL_COLUMNS) != 0;
        table.append(made);
    }
    return table;
}

nb::list compiled_kernels(const std::optional<std::string> &owner) {
    check_text(owner, "owner");
    const char *const name = owner ? owner->c_str() : nullptr;
    const auto pair = [](const gfk_bounds &b) { return nb::make_tuple(b.min, b.max); };
    nb::list table;
    for (size_t i = 0; i < gfk_compiled_kernel_count(name); i++) {
        const gfk_compiled_kernel_info *k = gfk_compiled_kernel_at(name, i);
        nb::dict made;
        made["id"] = k->id;
        made["w"] = k->w;
        made["inputs"] = pair(k->inputs);
        made["outputs"] = pair(k->outputs);
        made["batch"] = pair(k->batch);
        made["compute_capability"] = pair(k->cc);
        table.append(made);
    }
    return table;
}
} // namespace

void bind_registry(nb::module_ &module) {
    using namespace nb::literals;
    module.def(
        "kernels", kernels, "device"_a = 0,
        "The kernels that multiply regions: a list of dicts, one for each row; pandas.DataFrame "
        "takes it.\n"
        "available and reason: can the row run on this CUDA device, or, for the CPU's rows, here?");
    module.def("engines", engines, "device"_a = 0, "The engines of products, as kernels().");
    module.def("compiled_kernels", compiled_kernels, "owner"_a = nb::none(),
               "The compiled kernels of an owner: an engine, \"bmma_w8\", or a call with or "
               "without its width, "
               "\"matmul\",\n\"eliminate\", \"invert_batch\" or \"rlnc_take\"; of all owners for "
               "None. A list "
               "of dicts, as kernels().\n"
               "Those of matmul can be named as `kernel` of matmul, invert, solve, rank, pivots "
               "and RLNC, those "
               "of an engine\nas `engine` of Product.\n"
               "inputs, outputs, batch, compute_capability: the smallest and the largest; 0: no "
               "bound. Inputs of "
               "invert_batch\nand rlnc_take are rows and columns, and batch is generations.");
}
} // namespace gfk
