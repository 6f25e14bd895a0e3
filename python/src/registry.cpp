// SPDX-License-Identifier: BSD-3-Clause
// The library's lists of kernels and engines as lists of NamedTuples, one for each row.
#include <gfk/gfk.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "device.h"
#include "records.h"

namespace gfk {
namespace {
// Why a row cannot run; empty for one that can.
const char *reason_of(gfk_status status, const char *reason) {
    return status == GFK_STATUS_SUCCESS ? "" : reason != nullptr ? reason : gfk_status_description(status);
}

nb::typed<nb::list, KernelInfo> kernels(const Device &place) {
    const int device = place.number();
    nb::list table;
    for (size_t i = 0; i < gfk_kernel_count(); i++) {
        const gfk_kernel_info *k = gfk_kernel_at(i);
        const char *reason = nullptr;
        const bool host = k->implementation == GFK_IMPLEMENTATION_HOST;
        const gfk_status status = gfk_kernel_available(k, host ? GFK_CPU : device, &reason);
        table.append(KernelInfo::of(k->id, k->w, gfk_method_name(k->method), gfk_implementation_name(k->implementation),
                                    k->variant, k->parameters, nb::make_tuple(k->cc_min, k->cc_max), k->table_bytes,
                                    k->workspace_bytes, status == GFK_STATUS_SUCCESS, reason_of(status, reason)));
    }
    return nb::borrow<nb::typed<nb::list, KernelInfo>>(table);
}

nb::typed<nb::list, EngineInfo> engines(const Device &place) {
    const int device = place.number();
    nb::list table;
    for (size_t i = 0; i < gfk_engine_count(); i++) {
        const gfk_engine_info *e = gfk_engine_at(i);
        const char *reason = nullptr;
        const bool cpu = gfk_engine_family_on_cpu(e->family);
        const gfk_status status = gfk_engine_available(e, cpu ? GFK_CPU : device, &reason);
        table.append(EngineInfo::of(e->id, e->w, gfk_engine_family_name(e->family), gfk_method_name(e->method),
                                    (e->labels & GFK_ENGINE_ADDS_EQUAL_COLUMNS) != 0,
                                    nb::make_tuple(e->cc_min, e->cc_max), status == GFK_STATUS_SUCCESS,
                                    reason_of(status, reason)));
    }
    return nb::borrow<nb::typed<nb::list, EngineInfo>>(table);
}

nb::typed<nb::list, CompiledKernelInfo> compiled_kernels(const std::optional<std::string> &owner) {
    check_text(owner, "owner");
    const char *const name = owner ? owner->c_str() : nullptr;
    const auto pair = [](const gfk_bounds &b) { return nb::make_tuple(b.min, b.max); };
    nb::list table;
    for (size_t i = 0; i < gfk_compiled_kernel_count(name); i++) {
        const gfk_compiled_kernel_info *k = gfk_compiled_kernel_at(name, i);
        table.append(
            CompiledKernelInfo::of(k->id, k->w, pair(k->inputs), pair(k->outputs), pair(k->batch), pair(k->cc)));
    }
    return nb::borrow<nb::typed<nb::list, CompiledKernelInfo>>(table);
}
} // namespace

void bind_registry(nb::module_ &module) {
    module.def("kernels", kernels, "device"_a = "cuda:0",
               R"(The kernels that multiply regions; pandas.DataFrame takes the list.

device: where a row is available, or not for a reason; the CPU's rows are looked at here.)");
    module.def("engines", engines, "device"_a = "cuda:0", "The engines of products, as kernels().");
    module.def(
        "compiled_kernels", compiled_kernels, "owner"_a = nb::none(),
        R"(The compiled kernels of an owner: an engine, "bmma_w8", or a call with or without its width, "matmul", "eliminate",
"invert_batch" or "rlnc_take"; of all owners for None.

Those of matmul can be named as `kernel` of matmul, invert, solve, rank, pivots and RLNC, those of an engine as
`engine` of Product.)");
}
} // namespace gfk
