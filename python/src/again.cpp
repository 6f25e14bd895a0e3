// SPDX-License-Identifier: BSD-3-Clause
// What bench/python.py compares the package's calls with: the C call in a loop.
#include "array.h"
#include "rs.h"

namespace gfk {
void bind_again(nb::module_ &module) {
    using namespace nb::literals;
    module.def(
        "_encode_again",
        [](RS &code, nb::handle data, nb::handle parity, size_t calls) {
            Call call;
            const Regions in(call, data, code.k(), code.field().w, Use::Read, "data");
            const Regions out(call, parity, code.m(), code.field().w, Use::Write, "parity");
            out.check_bytes(in.bytes());
            const gfk_rs_t handle = code.at(call.device());
            call.run([&] {
                gfk_status status = GFK_STATUS_SUCCESS;
                for (size_t i = 0; i < calls && status == GFK_STATUS_SUCCESS; i++)
                    status = gfk_rs_encode(handle, in.get(), out.get(), in.bytes(), call.stream());
                return status;
            });
        },
        "code"_a, "data"_a, "parity"_a, "calls"_a, "gfk_rs_encode in a loop; for measurements.");
}
} // namespace gfk
