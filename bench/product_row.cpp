// SPDX-License-Identifier: BSD-3-Clause
// Creating, launching and verifying one product.
#include "product_row.h"

#include <chrono>

#include "multipliers.h"

namespace {

const char *tag_of(MatrixKind kind) {
    return kind == MatrixKind::Random ? "random" : "cauchy";
}

gfk_field field_of(unsigned w) {
    gfk_field field;
    gfk_check(gfk_field_init(&field, w, 0), "gfk_field_init");
    return field;
}

} // namespace

DeviceProduct::DeviceProduct(const ProductRow &row, uint64_t seed)
    : row_(row), buffers_(row.shape, row.region_bytes()),
      matrix_(matrix_of(row.shape, row.matrix, seed)),
      reference_(row.shape, matrix_, row.mode, tag_of(row.matrix)) {}

DeviceProduct::~DeviceProduct() {
    gfk_product_destroy(product_);
}

gfk_status DeviceProduct::create() {
    const gfk_field field = field_of(row_.shape.w);
    if (row_.way == Way::Plain) {
        gfk_multiplier_desc desc = GFK_MULTIPLIER_DESC_INIT;
        gfk_multiplier_info info;
        desc.device = gpu().device; // not the CPU
        const gfk_status status = gfk_multiplier_query(&field, &desc, &info);
        if (status != GFK_STATUS_SUCCESS)
            return status;
        kernel_ = info.kernel;
        return multiplier_of(kernel_).status;
    }
    gfk_product_desc desc = GFK_PRODUCT_DESC_INIT;
    desc.engine = row_.way == Way::Engine ? row_.engine.c_str() : nullptr;
    desc.device = gpu().device;
    desc.compile = row_.way != Way::Auto;
    desc.bytes = row_.region_bytes();
    const auto start = std::chrono::steady_clock::now();
    gfk_status status =
        gfk_product_create(&product_, &field, row_.shape.m, row_.shape.k, matrix_.data(), &desc);
    const auto stop = std::chrono::steady_clock::now();
    create_us_ = std::chrono::duration<double, std::micro>(stop - start).count();
    return status == GFK_STATUS_SUCCESS ? gfk_product_get_info(product_, &info_) : status;
}

gfk_status DeviceProduct::start() {
    const gfk_status status = create();
    if (status != GFK_STATUS_SUCCESS)
        return status;
    // Slots grow here, not while a graph is captured.
    gpu_slot(Slot::Workspaces,
             kernel_ ? multiplier_of(kernel_).workspace_bytes : (size_t)info_.workspace_bytes);
    launch(0, gpu().stream);
    GPU_CHECK(cudaStreamSynchronize(gpu().stream));
    return GFK_STATUS_SUCCESS;
}

void DeviceProduct::multiply_all(long j, cudaStream_t stream) const {
    const Multiplier &m = multiplier_of(kernel_);
    for (size_t row = 0; row < row_.shape.m; row++)
        for (size_t i = 0; i < row_.shape.k; i++)
            gfk_check(gfk_region_multiply(m.handle, matrix_[row * row_.shape.k + i],
                                          buffers_.in(j, i), buffers_.out(j, row), buffers_.bytes(),
                                          i == 0 ? row_.mode : GFK_XOR,
                                          gpu_slot(Slot::Workspaces, 0), m.workspace_bytes, stream),
                      kernel_->id);
}

void DeviceProduct::launch(long j, cudaStream_t stream) const {
    if (row_.way == Way::Plain)
        return multiply_all(j, stream);
    const gfk_regions in = {nullptr, buffers_.in(j), buffers_.stride()};
    const gfk_regions out = {nullptr, buffers_.out(j), buffers_.stride()};
    gfk_check(gfk_product_run(product_, &in, &out, buffers_.bytes(), row_.mode,
                              gpu_slot(Slot::Workspaces, 0), (size_t)info_.workspace_bytes, stream),
              info_.engine->id);
}

std::string DeviceProduct::verify() const {
    buffers_.poison_outputs();
    for (long j = 0; j < buffers_.sets(); j++)
        launch(j, gpu().stream);
    return reference_.check(buffers_, buffers_.sets());
}

std::string DeviceProduct::verify_left_behind() const {
    return row_.mode == GFK_SET ? reference_.check(buffers_, buffers_.sets()) : "";
}

std::string DeviceProduct::chosen() const {
    return kernel_ ? kernel_->id : info_.engine->id;
}
