// SPDX-License-Identifier: BSD-3-Clause
#include "product_options.h"

#include <gfk/registry.h>

#include "device.h"
#include "reduce.h"

namespace gfk {
namespace {
template <class Optional>
const char *c_str(const Optional &text) {
    return text ? text->c_str() : nullptr;
}

void check_library(const ProductOptions::Path &path, const char *name) {
    if (path && !path->is_absolute())
        raise(GFK_STATUS_INVALID_ARGUMENT, "%s: an absolute path is needed, not \"%s\"", name, path->c_str());
}
} // namespace

ProductOptions::ProductOptions(Text engine, Text family, Text method, Integer expected_bytes, Integer table_limit,
                               bool check_pointers, Path isal_library, Path gfcomplete_library)
    : engine_(std::move(engine)), family_(std::move(family)), method_(std::move(method)),
      isal_library_(std::move(isal_library)), gfcomplete_library_(std::move(gfcomplete_library)) {
    check_text(engine_, "engine");
    check_library(isal_library_, "isal_library");
    check_library(gfcomplete_library_, "gfcomplete_library");
    if (family_)
        desc_.family = named(*family_, "family", GFK_ENGINE_AUTO, GFK_ENGINE_CLMAD, gfk_engine_family_name,
                             GFK_STATUS_UNKNOWN_METHOD);
    if (method_)
        desc_.method = named(*method_, "method", GFK_METHOD_AUTO, GFK_METHOD_CARRY_FREE, gfk_method_name,
                             GFK_STATUS_UNKNOWN_METHOD);
    desc_.bytes = expected_bytes.size("expected_bytes");
    desc_.table_limit = table_limit.word64("table_limit");
    desc_.check_pointers = check_pointers;
}

void ProductOptions::check_width(unsigned w) const {
    const gfk_engine_info *info = engine_info();
    if (info != nullptr && info->w != 0 && info->w != w)
        raise(GFK_STATUS_INVALID_ARGUMENT, "engine: %s is for symbols of %u bits, not of %u", engine_->c_str(), info->w,
              w);
}

// The row of the engine that is named, as <engine> or <engine>/<kernel>; NULL: there is none.
const gfk_engine_info *ProductOptions::engine_info() const {
    return engine_ ? gfk_engine_find(engine_->substr(0, engine_->find('/')).c_str()) : nullptr;
}

nb::dict ProductOptions::arguments() const {
    return keywords("engine", engine_, "family", family_, "method", method_, "expected_bytes", desc_.bytes,
                    "table_limit", desc_.table_limit, "check_pointers", desc_.check_pointers, "isal_library",
                    isal_library_, "gfcomplete_library", gfcomplete_library_);
}

bool ProductOptions::is_for_devices() const {
    const gfk_engine_info *info = engine_info();
    const gfk_engine_family family = info != nullptr ? info->family : engine_ ? GFK_ENGINE_AUTO : desc_.family;
    return desc_.method != GFK_METHOD_AUTO || (family != GFK_ENGINE_AUTO && !gfk_engine_family_on_cpu(family));
}

gfk_product_desc ProductOptions::desc(int device) const {
    gfk_product_desc desc = desc_;
    desc.device = device;
    desc.engine = c_str(engine_);
    desc.isal_library = c_str(isal_library_);
    desc.gfcomplete_library = c_str(gfcomplete_library_);
    return desc;
}

ProductInfo product_info(const gfk_product_info &info) {
    return ProductInfo::of(info.engine->id, info.kernel != nullptr ? info.kernel->id : nullptr,
                           name_of_device(info.device), info.table_bytes);
}
} // namespace gfk
