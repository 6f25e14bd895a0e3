// SPDX-License-Identifier: BSD-3-Clause
// The caller's arrays, seen without a copy: by the buffer protocol, by DLPack, or by
// __cuda_array_interface__. A call first takes all its arrays, which fixes the call's place and stream.
#pragma once
#include <gfk/product.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "device.h"
#include "unlocked.h"

namespace gfk {
// How the arrays of one type of Python are reached. One for each type, made when it is first met.
struct ArrayType;
class Pipeline; // host.h

// What the arrays of one call have in common: a place, and there a stream.
class Call {
  public:
    Call() = default;
    // A call at the place of an object, for arrays there. There may be none.
    explicit Call(int device) : device_(device), place_known_(true) {}
    // A call with a pipeline, for arrays in the CPU's memory. Without one (NULL): a call at any place.
    explicit Call(const Pipeline *pipeline) : place_known_(pipeline != nullptr), has_pipeline_(pipeline != nullptr) {}
    // A call whose arrays are used after it: again() is what uses them.
    struct Keeping {};
    explicit Call(Keeping) : keeps_(true) {}

    // The place of the first array; GFK_CPU before there is one.
    int device() const { return device_; }
    gfk_stream_t stream() const { return stream_; }
    nb::handle like() const { return like_; } // the first array

    // Runs function(arguments...) without the GIL, on the call's device, and raises its status. What frameworks
    // without streams of their own get back is complete then.
    template <class Function, class... Arguments>
    void run(Function &&function, const Arguments &...arguments) const {
        check(try_run(function, arguments...));
    }
    // The same, and returns the status.
    template <class Function, class... Arguments>
    gfk_status try_run(Function &&function, const Arguments &...arguments) const {
        const Unlocked unlocked;
        const DeviceGuard guard(device_);
        const gfk_status status = function(arguments...);
        if (wait_ && status == GFK_STATUS_SUCCESS)
            wait_for(stream_);
        return status;
    }

    // A call at the same place, on the framework's stream of now, of a Keeping one. Refuses tensors of torch whose
    // memory is another one by now.
    Call again() const;

    // Memory at the call's place, aligned to 256 bytes, until the work of the call has finished.
    void *workspace(size_t bytes);
    struct Workspace {
        void *memory;
        size_t bytes;
    };
    // The same, of as many bytes as function(arguments..., &bytes) says, whose status is raised.
    template <class... Parameters, class... Arguments>
    Workspace workspace(gfk_status (*function)(Parameters...), const Arguments &...arguments) {
        size_t bytes = 0;
        check(function(arguments..., &bytes));
        return {workspace(bytes), bytes};
    }

    // A new array of the framework of the array `like`, at the call's place. `dtype` is "uint8", ...; NULL:
    // that array's. Without `like`: as the first array; of numpy if there is none.
    nb::object empty(const std::vector<size_t> &shape, const char *dtype = nullptr,
                     nb::handle like = nb::handle()) const;

  private:
    friend class Array;
    void settle(const ArrayType &type, int device, nb::handle object);
    void keep_memory_of(nb::handle tensor);

    int device_ = GFK_CPU;
    gfk_stream_t stream_ = nullptr;
    bool place_known_ = false, has_pipeline_ = false, wait_ = false, keeps_ = false;
    const ArrayType *type_ = nullptr; // of the arrays on a device
    nb::object like_;
    std::vector<nb::object> kept_;
    struct Memory {
        nb::object storage; // of torch
        uintptr_t address;
    };
    std::unordered_map<uintptr_t, Memory> memory_; // by the identity of the storage
    std::vector<std::unique_ptr<uint8_t[]>> host_;
};

// Refuses an array or a tensor that has elements and no memory. For arguments that Python code reads. Anything else is
// good. `name` is the argument's, for messages.
void check_memory(nb::handle object, const char *name);

// New: an array that the call has made itself, and writes even if others may not.
enum class Use { Read, Write, New };

inline Use use_of(nb::handle out) { // of an array in the place of which None is a new one
    return out.is_none() ? Use::New : Use::Write;
}

// Is an argument data, whose bytes are taken as they lie in memory, or elements of a field, which are numbers?
enum class Meaning { Data, Elements };

// One array of a call. `name` is the argument's, for messages.
class Array {
  public:
    Array(Call &call, nb::handle object, Use use, const char *name);

    uint8_t *data() const { return data_; }
    size_t dimensions() const { return shape_.size(); }
    size_t size(size_t dimension) const { return static_cast<size_t>(shape_[dimension]); }
    std::vector<size_t> shape() const { return {shape_.begin(), shape_.end()}; }
    size_t item_bytes() const { return bits_ / 8; }
    size_t bytes() const; // of all elements

    // Refuses arrays whose elements are not bytes or symbols of w bits.
    void check_symbols(unsigned w, Meaning meaning = Meaning::Data) const;
    // Refuses arrays whose elements are not integers of w bits at an address that is a multiple of them.
    void check_elements(unsigned w) const;
    // Refuses arrays with gaps between the elements of the dimensions from `first` on.
    void check_contiguous(size_t first = 0) const;
    uint8_t *row(size_t i, size_t j) const; // the address of element (i, j, 0, ...)
    // Makes dimensions 0 and 1 one dimension. False, and nothing done: its elements are not evenly spaced.
    bool merge_first();
    // The bytes from one element of dimension 0 to the next.
    size_t stride() const;

  private:
    void take(Call &call, nb::handle object, Use use, const ArrayType &type);
    void take_memory(Call &call, nb::handle object, const ArrayType &type) const;
    void take_buffer(nb::handle object, Use use, const ArrayType &type);
    void take_dlpack(nb::handle object, Use use, const Call &call);
    void take_tensor(const nb::dlpack::dltensor &tensor);
    void check_storage(nb::handle tensor) const;
    void refuse_lazy_view(nb::handle tensor) const;
    [[noreturn]] void raise_wrong_dtype(unsigned w, Meaning meaning) const;
    void set_packed_strides();
    void take_cuda_interface(nb::handle object, Use use, Call &call, const ArrayType &type);

    struct Buffer : Py_buffer {
        Buffer() : Py_buffer{} {} // obj is NULL: none
        Buffer(Buffer &&other) noexcept : Py_buffer(other) { other.obj = nullptr; }
        ~Buffer() { PyBuffer_Release(this); } // nothing for a buffer that is none
    };

    const char *name_;
    Use use_;
    uint8_t *data_ = nullptr;
    int device_ = GFK_CPU;
    unsigned bits_ = 8;
    uint8_t code_ = 0;                     // of DLPack
    std::vector<int64_t> shape_, strides_; // in elements
    Buffer buffer_;
    nb::object owner_; // what keeps the memory: a capsule, or the array itself
};

// XOR into `out`, which accumulate needs, or SET.
gfk_accumulate mode_of(nb::handle out, bool accumulate);

constexpr size_t ANY_GROUPS = SIZE_MAX;
// Do the first two dimensions of an array count `count` rows, in `groups` groups?
bool has_groups(const Array &array, size_t count, size_t groups);

// Refuses a region of a part of a symbol.
void check_whole_symbols(size_t bytes, unsigned w, const char *name);

// A contiguous array of whole symbols of w bits.
Array symbols_of(Call &call, nb::handle object, Use use, const char *name, unsigned w, Meaning meaning = Meaning::Data);

// `out`, or a new array if it is None: contiguous, of symbols; a new one is shaped as `model`.
struct SymbolsOutput {
    nb::object object;
    Array array;
    SymbolsOutput(Call &call, nb::handle out, const Array &model, unsigned w, Meaning meaning = Meaning::Data);
};

// The regions of a call: the rows of an array of two or more dimensions, or a list of arrays.
class Regions {
  public:
    enum Missing { None, Allowed };
    // `count` regions of whole symbols of w bits. With Missing::Allowed, elements of a list may be None,
    // and their addresses are NULL. With `groups`, an array may have the shape (groups, count / groups,
    // ...), the regions of one group after those of the other; ANY_GROUPS: of any number of groups.
    Regions(Call &call, nb::handle object, size_t count, unsigned w, Use use, const char *name, Missing missing = None,
            size_t groups = 0);

    size_t count() const { return count_; }
    // Is there no array, because all elements of the list are None?
    bool is_empty() const { return arrays_.empty(); }
    size_t bytes() const { return bytes_; } // of a region
    const gfk_regions *get() const { return &regions_; }
    void *region(size_t index) const;
    // For new arrays of such regions: the shape of one region.
    const std::vector<size_t> &region_shape() const { return region_shape_; }
    size_t groups() const { return groups_; } // of the array's shape; 0: it has none
    nb::handle like() const { return like_; } // the first array
    // Refuses regions of another length, where there are any.
    void check_bytes(size_t bytes) const;

  private:
    void take_list(Call &call, nb::handle list, unsigned w, Use use, Missing missing);
    void take_rows(Array &array, unsigned w, size_t groups);

    const char *name_;
    nb::object like_;
    size_t count_, bytes_ = 0, groups_ = 0;
    gfk_regions regions_ = {};
    std::vector<void *> pointers_;
    std::vector<size_t> region_shape_;
    std::vector<Array> arrays_;
};

// `out`, or a new array if it is None: `count` regions, as long and shaped as those of `model`, in as many
// groups if `model` has groups.
struct Output {
    nb::object object;
    Regions regions;
    Output(Call &call, nb::handle out, const Regions &model, size_t count, unsigned w, size_t groups = 0);
};
} // namespace gfk
