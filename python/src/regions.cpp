// SPDX-License-Identifier: BSD-3-Clause
// The regions of a call: rows of an array, or the arrays of a list.
#include "array.h"

namespace gfk {
Regions::Regions(Call &call, nb::handle object, size_t count, unsigned w, Use use, const char *name, Missing missing,
                 size_t groups)
    : name_(name), count_(count) {
    if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()))
        take_list(call, object, w, use, missing);
    else
        take_rows(arrays_.emplace_back(call, like_ = nb::borrow(object), use, name), w, groups);
    check_whole_symbols(bytes_, w, name);
}

void Regions::take_list(Call &call, nb::handle list, unsigned w, Use use, Missing missing) {
    // A copy of the list: taking an array runs code of Python, which could change the list.
    const nb::object items = nb::steal(PySequence_Tuple(list.ptr()));
    const size_t length = nb::len(items);
    if (length != count_)
        raise_value("%s: %zu regions are needed, and the list has %zu", name_, count_, length);
    pointers_.reserve(count_);
    arrays_.reserve(count_);
    for (nb::handle item : items) {
        if (item.is_none() && missing == Allowed) {
            pointers_.push_back(nullptr);
            continue;
        }
        const Array &array = arrays_.emplace_back(call, item, use, name_);
        array.check_symbols(w);
        array.check_contiguous();
        if (arrays_.size() == 1) {
            like_ = nb::borrow(item);
            bytes_ = array.bytes();
            region_shape_ = array.shape();
        } else if (array.bytes() != bytes_) {
            raise_value("%s: all regions have one length; there are %zu and %zu bytes", name_, bytes_, array.bytes());
        }
        pointers_.push_back(array.data());
    }
    regions_.pointers = pointers_.data();
}

void Regions::take_rows(Array &array, unsigned w, size_t groups) {
    array.check_symbols(w);
    if (array.dimensions() < 2)
        raise_value("%s: an array of two dimensions, or a list of arrays, is needed: one row a region", name_);
    const bool in_groups = has_groups(array, count_, groups);
    if (array.size(0) != count_ && !in_groups)
        raise_value("%s: %zu regions are needed, and the array has %zu rows", name_, count_, array.size(0));
    array.check_contiguous(in_groups ? 2 : 1);
    region_shape_ = array.shape();
    region_shape_.erase(region_shape_.begin(), region_shape_.begin() + (in_groups ? 2 : 1));
    bytes_ = array.item_bytes();
    for (const size_t n : region_shape_)
        bytes_ *= n;
    if (in_groups) {
        groups_ = array.size(0);
        if (!array.merge_first()) {
            for (size_t i = 0; i < count_; i++)
                pointers_.push_back(array.row(i * groups_ / count_, i % (count_ / groups_)));
            regions_.pointers = pointers_.data();
            return;
        }
    }
    regions_.base = array.data();
    regions_.stride = count_ > 1 && bytes_ != 0 ? array.stride() : bytes_;
    if (regions_.stride < bytes_)
        raise_value("%s: the array's rows overlap, as broadcast_to and expand make them; pass a copy", name_);
}

void *Regions::region(size_t index) const {
    return regions_.pointers != nullptr ? regions_.pointers[index]
                                        : static_cast<uint8_t *>(regions_.base) + index * regions_.stride;
}

void Regions::check_bytes(size_t bytes) const {
    if (bytes != bytes_ && !is_empty())
        raise_value("%s: the regions have %zu bytes, and the others %zu", name_, bytes_, bytes);
}

static nb::object out_or_new(Call &call, nb::handle out, const Regions &model, size_t count) {
    if (!out.is_none())
        return nb::borrow(out);
    std::vector<size_t> shape = model.region_shape();
    const size_t groups = model.groups();
    shape.insert(shape.begin(), groups != 0 ? count / groups : count);
    if (groups != 0)
        shape.insert(shape.begin(), groups);
    return call.empty(shape, nullptr, model.like());
}

Output::Output(Call &call, nb::handle out, const Regions &model, size_t count, unsigned w, size_t groups)
    : object(out_or_new(call, out, model, count)),
      regions(call, object, count, w, use_of(out), "out", Regions::None, groups) {
    regions.check_bytes(model.bytes());
}
} // namespace gfk
