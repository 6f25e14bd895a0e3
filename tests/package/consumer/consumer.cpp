// SPDX-License-Identifier: BSD-3-Clause
// Uses the installed library from C++: the list of kernels and a scalar product.
#include <gfk/gfk.h>
#include <iostream>

int main() {
    gfk_field field;
    uint32_t product = 0;
    if (gfk_field_init(&field, 8, 0) != GFK_STATUS_SUCCESS ||
        gfk_field_multiply(&field, 2, 0x80, &product) != GFK_STATUS_SUCCESS)
        return 1;
    std::cout << gfk_kernel_count() << " kernels, the first is " << gfk_kernel_at(0)->id << '\n';
    return product != 0x1d;
}
