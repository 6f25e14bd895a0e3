// SPDX-License-Identifier: BSD-3-Clause
// The class Multiplier: a constant times an array, with any kernel of the list.
#include <gfk/multiplier.h>
#include <gfk/region.h>

#include "field.h"
#include "host.h"
#include "places.h"
#include "reduce.h"

namespace gfk {
namespace {
class Multiplier {
  public:
    Multiplier(AnyField field, const std::optional<std::string> &method, const std::string &implementation,
               std::optional<std::string> kernel, Integer table_limit, bool check_pointers)
        : field_(field), method_(method), kernel_(std::move(kernel)) {
        check_text(method_, "method");
        check_text(kernel_, "kernel");
        if (method)
            check(gfk_multiplier_desc_parse(&desc_, method->c_str()), method->c_str());
        desc_.kernel = kernel_ ? kernel_->c_str() : nullptr;
        desc_.implementation = named(implementation, "implementation", GFK_IMPLEMENTATION_AUTO, GFK_IMPLEMENTATION_OPT,
                                     gfk_implementation_name, GFK_STATUS_UNKNOWN_METHOD);
        desc_.table_limit = table_limit.word64("table_limit");
        desc_.check_pointers = check_pointers;
    }

    nb::object multiply(nb::handle c, nb::handle x, nb::handle out, bool accumulate, Pipeline *pipeline) {
        Call call(pipeline);
        const uint32_t constant = element_of(field_, c, "c");
        const Array from = symbols_of(call, x, Use::Read, "x", field_.w);
        const SymbolsOutput to(call, out, from, field_.w);
        if (to.array.bytes() != from.bytes())
            raise_value("x has %zu bytes, and out %zu", from.bytes(), to.array.bytes());
        const gfk_accumulate mode = mode_of(out, accumulate);
        if (pipeline != nullptr) {
            if (method_ || kernel_ || desc_.implementation != GFK_IMPLEMENTATION_AUTO)
                raise(GFK_STATUS_INVALID_ARGUMENT,
                      "pipeline: a pipeline chooses its kernels; leave method, implementation and kernel away");
            pipeline->run(call, gfk_region_multiply_host, &field_, constant, from.data(), to.array.data(), from.bytes(),
                          mode);
        } else {
            gfk_multiplier_t multiplier = at(call.device());
            gfk_multiplier_info info;
            check(gfk_multiplier_get_info(multiplier, &info));
            void *workspace = call.workspace(info.workspace_bytes);
            call.run(gfk_region_multiply, multiplier, constant, from.data(), to.array.data(), from.bytes(), mode,
                     workspace, info.workspace_bytes, call.stream());
        }
        return to.object;
    }

    MultiplierInfo info(const Device &device) const {
        gfk_multiplier_desc desc = desc_;
        gfk_multiplier_info found;
        desc.device = device.number();
        check(gfk_multiplier_query(&field_, &desc, &found));
        return MultiplierInfo::of(found.kernel->id, name_of_device(found.device), found.table_bytes,
                                  found.workspace_bytes);
    }

    Field field() const { return field_; }

    nb::dict arguments() const {
        return keywords("field", field_, "method", method_, "implementation",
                        gfk_implementation_name(desc_.implementation), "kernel", kernel_, "table_limit",
                        desc_.table_limit, "check_pointers", desc_.check_pointers);
    }

  private:
    // Is it a kernel of CUDA that was asked for?
    bool is_for_devices() const {
        const gfk_kernel_info *kernel = kernel_ ? gfk_kernel_find(kernel_->c_str()) : nullptr;
        const gfk_implementation wanted = kernel ? kernel->implementation : desc_.implementation;
        return wanted == GFK_IMPLEMENTATION_NAIVE || wanted == GFK_IMPLEMENTATION_OPT;
    }

    gfk_multiplier_t at(int device) {
        return places_.at(device, is_for_devices(), gfk_multiplier_get_info, [&](gfk_multiplier_t *made) {
            gfk_multiplier_desc desc = desc_;
            desc.device = device;
            return gfk_multiplier_create(made, &field_, &desc);
        });
    }

    Field field_;
    std::optional<std::string> method_, kernel_;
    gfk_multiplier_desc desc_ = GFK_MULTIPLIER_DESC_INIT;
    Places<gfk_multiplier_t, gfk_multiplier_destroy> places_;
};
} // namespace

void bind_multiplier(nb::module_ &module) {
    nb::class_<Multiplier>(module, "Multiplier",
                           R"(A constant times an array, by one kernel of the list gfk.kernels().

field: a Field, or a width of 8, 16 or 32. method: GF-Complete's name or text ("SPLIT 8 4"); None: the fastest
measured one. implementation: "auto", "host", "naive", "opt". kernel: an id of gfk.kernels().
table_limit: bytes for tables and workspace; 0: 1 GiB.
check_pointers: calls check the memory of every pointer; for debugging.

Tables are built at the first call in each place. Any thread.)")
        .def(nb::init<AnyField, const std::optional<std::string> &, const std::string &, std::optional<std::string>,
                      Integer, bool>(),
             "field"_a = 8, nb::kw_only(), "method"_a = nb::none(), "implementation"_a = "auto",
             "kernel"_a = nb::none(), "table_limit"_a = 0, "check_pointers"_a = false)
        .def("multiply", &Multiplier::multiply, "c"_a, "x"_a, "out"_a = nb::none(), "accumulate"_a = false,
             nb::kw_only(), "pipeline"_a = nb::none(),
             R"(c * x for every symbol of an array, or out ^= c * x.

c: an integer below 2^w. x: a contiguous array of bytes or of w-bit integers, of whole symbols.
out: an array of as many bytes, at the same place; x itself works in place. None: a new array.
pipeline: a gfk.Pipeline, for arrays in the CPU's memory; the Multiplier then names no kernel. On a GPU the work is
in the order of the framework's current stream. Returns out.
Raises InvalidConstant, InvalidSize, Overlap, TableLimit, UnknownMethod, NotSupported, TypeError (dtype), ValueError
(shape, not contiguous).)")
        .def("info", &Multiplier::info, "device"_a = "cpu",
             "The kernel for a place, and its bytes of tables and workspace.")
        .def_prop_ro("field", &Multiplier::field, "The Field.")
        .def("__reduce__", reduce<Multiplier>);
}
} // namespace gfk
