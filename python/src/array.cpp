// SPDX-License-Identifier: BSD-3-Clause
#include "array.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "records.h"

namespace gfk {
// ---- how a type's arrays are reached ------------------------------------------------------------

namespace {
// DLPack 1.3, "C exchange API": the table behind type(array).__dlpack_c_exchange_api__.
struct ExchangeHeader {
    uint32_t major, minor;
    ExchangeHeader *previous;
};
struct Exchange {
    ExchangeHeader header;
    void *allocator, *managed_from_object, *managed_to_object;
    int (*tensor_from_object)(void *object, nb::dlpack::dltensor *tensor); // NULL: not offered
    int (*current_stream)(int device_type, int32_t device, void **stream);
};

enum DeviceType : int32_t { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
enum DtypeCode : uint8_t { DL_INT = 0, DL_UINT = 1, DL_COMPLEX = 5, DL_BOOL = 6 };

constexpr uint64_t DL_READ_ONLY = 1;
// DLManagedTensorVersioned of DLPack 1.0; before it, the member dl_tensor is the first.
struct ManagedTensor {
    uint32_t major, minor;
    void *context;
    void (*deleter)(ManagedTensor *);
    uint64_t flags;
    nb::dlpack::dltensor tensor;
};

const Exchange *exchange_of(nb::handle type) {
    nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
    if (!PyCapsule_CheckExact(capsule.ptr()))
        return nullptr;
    auto *header = static_cast<ExchangeHeader *>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (header != nullptr && header->major > 1)
        header = header->previous;
    if (header == nullptr) {
        PyErr_Clear();
        return nullptr;
    }
    const auto *table = reinterpret_cast<const Exchange *>(header);
    return header->major == 1 && table->tensor_from_object != nullptr ? table : nullptr;
}
} // namespace

struct ArrayType {
    std::string framework; // "numpy", "torch", ...: of the type or a base of it; else the type's package
    bool is_buffer, is_dlpack, is_cuda_interface;
    bool is_immutable, is_masked, is_torch;
    const Exchange *exchange;
};

// Under the GIL. Never destroyed: at the end of the process Python is gone before it.
static auto &types = *new std::unordered_map<PyTypeObject *, ArrayType>;

// Forgets a type that Python frees: then none of its arrays is left.
static PyObject *forget_type(PyObject *address, PyObject *reference) {
    types.erase(static_cast<PyTypeObject *>(PyLong_AsVoidPtr(address)));
    Py_DECREF(reference);
    Py_RETURN_NONE;
}

static void forget_when_freed(PyTypeObject *type) {
    static PyMethodDef method = {"forget_type", forget_type, METH_O, nullptr};
    const nb::object address = nb::steal(PyLong_FromVoidPtr(type));
    const nb::object callback = nb::steal(PyCFunction_New(&method, address.ptr()));
    if (PyWeakref_NewRef(reinterpret_cast<PyObject *>(type), callback.ptr()) == nullptr)
        throw nb::python_error();
}

static const ArrayType &type_of(nb::handle object) {
    PyTypeObject *key = Py_TYPE(object.ptr());
    const auto found = types.find(key);
    if (found != types.end())
        return found->second;
    const nb::handle type(reinterpret_cast<PyObject *>(key));
    static const nb::handle framework = python("_arrays", "framework").release();
    ArrayType made = {nb::cast<std::string>(framework(type)),
                      PyObject_CheckBuffer(object.ptr()) != 0,
                      nb::hasattr(type, "__dlpack__"),
                      nb::hasattr(type, "__cuda_array_interface__"),
                      false,
                      nb::hasattr(type, "mask") && nb::hasattr(type, "filled"),
                      false,
                      exchange_of(type)};
    made.is_immutable = made.framework == "jax";
    made.is_torch = made.framework == "torch" && nb::hasattr(type, "untyped_storage");
    const auto [at, is_new] = types.emplace(key, std::move(made));
    if (is_new)
        forget_when_freed(key);
    return at->second;
}

// ---- the place of a call ------------------------------------------------------------------------

// Sets the place at the first array; refuses arrays of another place, or of another framework on a device.
void Call::settle(const ArrayType &type, int device, nb::handle object) {
    if (!place_known_) {
        place_known_ = true;
        device_ = device;
    }
    if (device != device_ && has_pipeline_)
        raise(GFK_STATUS_WRONG_DEVICE, "a pipeline takes arrays in the CPU's memory; without pipeline= the call works "
                                       "on the GPU where its arrays are");
    if (device != device_)
        raise(GFK_STATUS_WRONG_DEVICE, "the arrays of one call are in one place: some are %s, others %s",
              device_ == GFK_CPU ? "in the CPU's memory" : "on a GPU",
              device == GFK_CPU ? "in the CPU's memory" : "on another GPU");
    if (!like_.is_valid())
        like_ = nb::borrow(object);
    if (device == GFK_CPU)
        return;
    if (type_ == nullptr) {
        type_ = &type;
        if (type.exchange != nullptr) {
            void *stream = nullptr;
            if (type.exchange->current_stream(DL_CUDA, device, &stream) != 0)
                throw nb::python_error();
            stream_ = static_cast<gfk_stream_t>(stream);
        } else {
            static const nb::handle function = python("_arrays", "stream").release();
            const nb::object address = function(type.framework.c_str(), device);
            wait_ = address.is_none();
            if (!wait_)
                stream_ = reinterpret_cast<gfk_stream_t>(nb::cast<uintptr_t>(address));
        }
    } else if (type_->framework != type.framework) {
        raise_type("the arrays of one call on a GPU are of one framework, not of %s and %s", type_->framework.c_str(),
                   type.framework.c_str());
    }
}

// Keeps the memory of a tensor, which `tensor.data = ...` and set_ take away from the tensor.
void Call::keep_memory_of(nb::handle tensor) {
    nb::object storage = tensor.attr("untyped_storage")();
    const auto identity = nb::cast<uintptr_t>(storage.attr("_cdata"));
    const auto address = nb::cast<uintptr_t>(storage.attr("data_ptr")());
    memory_.insert({identity, {std::move(storage), address}});
}

Call Call::again() const {
    for (const auto &[identity, memory] : memory_)
        if (nb::cast<uintptr_t>(memory.storage.attr("data_ptr")()) != memory.address)
            raise_value("a tensor has other memory than when the batch was made (resize_ does that): make a new batch");
    Call made;
    if (type_ != nullptr) {
        made.stream_ = stream_;
        made.settle(*type_, device_, like_);
    }
    return made;
}

void *Call::workspace(size_t bytes) {
    uint8_t *memory = nullptr;
    if (bytes == 0)
        return nullptr;
    if (device_ == GFK_CPU) {
        memory = host_.emplace_back(new (std::nothrow) uint8_t[bytes + 255]).get();
        if (memory == nullptr)
            raise(GFK_STATUS_OUT_OF_MEMORY, "no memory for a workspace of %zu bytes", bytes);
    } else {
        Call unused;
        kept_.push_back(empty({bytes + 255}, "uint8"));
        memory = Array(unused, kept_.back(), Use::Read, "workspace").data();
    }
    return memory + (-reinterpret_cast<uintptr_t>(memory) & 255);
}

nb::object Call::empty(const std::vector<size_t> &shape, const char *dtype, nb::handle like) const {
    if (!like.is_valid())
        like = like_;
    if (!like.is_valid()) {
        if (device_ != GFK_CPU)
            raise_value("no array says of which framework the new array is: pass out=");
        like = nb::none();
    }
    nb::list list;
    for (const size_t n : shape)
        list.append(n);
    static const nb::handle function = python("_arrays", "empty").release();
    try {
        return function(like, nb::tuple(list), dtype == nullptr ? nb::none() : nb::object(nb::str(dtype)));
    } catch (nb::python_error &error) { // numpy and torch have several for too many bytes
        if (!error.matches(PyExc_MemoryError) && !error.matches(PyExc_ValueError) &&
            !error.matches(PyExc_OverflowError) && !error.matches(PyExc_RuntimeError))
            throw;
        raise(GFK_STATUS_OUT_OF_MEMORY, "no memory for a new array of the shape %s (%.200s)",
              nb::repr(nb::tuple(list)).c_str(), nb::str(error.value()).c_str());
    }
}

// ---- one array ----------------------------------------------------------------------------------

// The framework's refusal to show an array's memory (a sparse array, one that is traced, ...) as a TypeError.
[[noreturn]] static void raise_unreachable(const char *name, nb::python_error &error, nb::handle object) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError))
        throw error;
    const std::string text = nb::cast<std::string>(nb::str(error.value()));
    const auto advice = nb::cast<std::string>(python("_arrays", "advice")(object));
    raise_type("%s: the array has no memory that gfk can reach (%s)%s", name, text.substr(0, text.find('\n')).c_str(),
               advice.c_str());
}

// An array that has elements and no address: a null pointer means something else to the library.
[[noreturn]] static void raise_no_memory(const char *name, nb::handle object) {
    const auto remedy = nb::cast<std::string>(python("_arrays", "remedy")(object));
    raise_type("%s: the array has elements and no memory; %s", name, remedy.c_str());
}

// Refuses an array that has elements and no memory; then its place is that of the call.
void Array::take_memory(Call &call, nb::handle object, const ArrayType &type) const {
    if (data_ == nullptr && bytes() != 0)
        raise_no_memory(name_, object);
    call.settle(type, device_, object);
}

// Are the elements of a tensor of torch inside its storage? FSDP frees parameters by resizing it to nothing; the
// address is then a small number where the tensor is a view that begins later.
void Array::check_storage(nb::handle tensor) const {
    if (bytes() == 0)
        return;
    static PyObject *const untyped_storage = PyUnicode_InternFromString("untyped_storage");
    static PyObject *const nbytes = PyUnicode_InternFromString("nbytes");
    static PyObject *const storage_offset = PyUnicode_InternFromString("storage_offset");
    size_t there = 0, first = 0, last = 0;
    try {
        const auto call = [](nb::handle object, PyObject *method) {
            nb::object result = nb::steal(PyObject_CallMethodObjArgs(object.ptr(), method, nullptr));
            if (!result.is_valid())
                throw nb::python_error();
            return result;
        };
        there = nb::cast<size_t>(call(call(tensor, untyped_storage), nbytes));
        first = nb::cast<size_t>(call(tensor, storage_offset));
    } catch (nb::python_error &error) {
        raise_unreachable(name_, error, tensor);
    }
    for (size_t i = 0; i < shape_.size(); i++)
        last += static_cast<size_t>(shape_[i] - 1) * static_cast<size_t>(strides_[i]);
    if ((first + last) * item_bytes() + item_bytes() > there)
        raise_no_memory(name_, tensor);
}

void check_memory(nb::handle object, const char *name) {
    if (PyLong_CheckExact(object.ptr()) || PyFloat_CheckExact(object.ptr()))
        return;
    const ArrayType &type = type_of(object);
    if (type.is_torch) {
        Call call;
        const Array array(call, object, Use::Read, name);
        return;
    }
    Py_buffer buffer;
    if (!type.is_buffer)
        return;
    if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_FULL_RO) != 0) {
        PyErr_Clear(); // whoever reads the object says what is wrong
        return;
    }
    const bool is_missing = buffer.buf == nullptr && buffer.len != 0;
    PyBuffer_Release(&buffer);
    if (is_missing)
        raise_no_memory(name, object);
}

Array::Array(Call &call, nb::handle object, Use use, const char *name) : name_(name), use_(use) {
    const ArrayType &type = type_of(object);
    if (type.is_masked)
        raise_type("%s: the array has a mask; pass x.data, or x.filled(0)", name);
    if (use == Use::Write && type.is_immutable)
        raise_type("%s: an array of %s is immutable; leave out= away and take the result, or pass a copy of numpy",
                   name, type.framework.c_str());
    take(call, object, use, type);
    if (!type.is_torch)
        return;
    check_storage(object);
    refuse_lazy_view(object);
    if (!call.keeps_)
        return;
    try {
        call.keep_memory_of(object);
    } catch (nb::python_error &error) {
        raise_unreachable(name, error, object);
    }
}

void Array::take(Call &call, nb::handle object, Use use, const ArrayType &type) {
    if (type.exchange != nullptr) {
        nb::dlpack::dltensor tensor;
        if (type.exchange->tensor_from_object(object.ptr(), &tensor) != 0) {
            nb::python_error error;
            raise_unreachable(name_, error, object);
        }
        take_tensor(tensor);
        owner_ = nb::borrow(object); // the table's tensors own nothing
        return take_memory(call, object, type);
    }
    int kind = DL_CPU, number = 0;
    if (type.is_dlpack && !(type.is_buffer && type.framework == "numpy")) {
        try {
            nb::object place = object.attr("__dlpack_device__")();
            kind = nb::cast<int>(place[0]);
            number = nb::cast<int>(place[1]);
        } catch (nb::python_error &error) {
            raise_unreachable(name_, error, object);
        }
    }
    if (type.is_buffer && kind == DL_CPU)
        take_buffer(object, use, type);
    else if (type.is_dlpack) {
        call.settle(type, kind == DL_CUDA || kind == DL_CUDA_MANAGED ? number : GFK_CPU, object);
        take_dlpack(object, use, call);
    } else if (type.is_cuda_interface)
        return take_cuda_interface(object, use, call, type);
    else
        raise_type("%s: %s is not an array (numpy, torch, cupy, jax, or another that exports DLPack)", name_,
                   type_name_of(object).c_str());
    take_memory(call, object, type);
}

// A view of torch may say that its elements are negated or conjugated when they are read.
void Array::refuse_lazy_view(nb::handle tensor) const {
    static PyObject *const is_neg = PyUnicode_InternFromString("is_neg");
    const nb::object negated = nb::steal(PyObject_CallMethodObjArgs(tensor.ptr(), is_neg, nullptr));
    if (!negated.is_valid()) { // a parameter of a lazy module
        nb::python_error error;
        raise_unreachable(name_, error, tensor);
    }
    if (negated.ptr() == Py_True)
        raise_value("%s: the tensor is a view that negates its elements when they are read; pass x.resolve_neg()",
                    name_);
    if (code_ == DL_COMPLEX && nb::cast<bool>(tensor.attr("is_conj")()))
        raise_type("%s: the tensor is a view that conjugates its elements when they are read; pass "
                   "x.resolve_conj().view(torch.uint8)",
                   name_);
}

void Array::take_buffer(nb::handle object, Use use, const ArrayType &type) {
    code_ = UINT8_MAX; // until the elements are known to be integers: check_symbols refuses others
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
        const nb::python_error error; // numpy and jax make no buffers of dates, of bfloat16, ...
        if (!type.is_dlpack || (!error.matches(PyExc_ValueError) && !error.matches(PyExc_BufferError)))
            throw error;
        raise_type("%s: the elements must be bytes or integers (%s)", name_, error.what());
    }
    if (use == Use::Write && buffer_.readonly)
        raise_value("%s: the array is read-only", name_);
    data_ = static_cast<uint8_t *>(buffer_.buf);
    if (buffer_.ndim != 0)
        shape_.assign(buffer_.shape, buffer_.shape + buffer_.ndim);
    const char *format = buffer_.format == nullptr ? "B" : buffer_.format;
    if ((*format == '>' || *format == '!') && buffer_.itemsize > 1)
        raise_type("%s: the elements are big-endian; pass a copy in the order of this machine "
                   "(x.astype(x.dtype.newbyteorder('=')))",
                   name_);
    format += *format == '@' || *format == '=' || *format == '<';
    if (strlen(format) != 1 || strchr("?bBchHiIlLqQ", *format) == nullptr)
        return;
    code_ = *format == '?' ? DL_BOOL : DL_UINT;
    bits_ = static_cast<unsigned>(8 * buffer_.itemsize);
    if (buffer_.strides == nullptr) { // arrays of ctypes
        set_packed_strides();
        return;
    }
    strides_.assign(buffer_.strides, buffer_.strides + buffer_.ndim);
    for (int64_t &stride : strides_) {
        if (stride % buffer_.itemsize != 0)
            raise_value("%s: the array's elements are not a whole number of elements apart; pass a copy", name_);
        stride /= buffer_.itemsize;
    }
}

void Array::take_dlpack(nb::handle object, Use use, const Call &call) {
    nb::dict arguments;
    arguments["max_version"] = nb::make_tuple(1, 3);
    if (call.device() != GFK_CPU) { // DLPack's number of the legacy default stream is 1
        const auto stream = reinterpret_cast<intptr_t>(call.stream());
        arguments["stream"] = stream == 0 ? intptr_t{1} : stream;
    }
    nb::object method = object.attr("__dlpack__");
    try {
        owner_ = method(**arguments);
    } catch (nb::python_error &error) {
        if (!error.matches(PyExc_TypeError))
            throw;
        PyDict_DelItemString(arguments.ptr(), "max_version"); // DLPack before 1.0
        owner_ = method(**arguments);
    }
    if (auto *managed = static_cast<ManagedTensor *>(PyCapsule_GetPointer(owner_.ptr(), "dltensor_versioned"))) {
        if (managed->major != 1)
            raise_type("%s: the array exports DLPack %u, which is too new", name_, managed->major);
        if (use == Use::Write && (managed->flags & DL_READ_ONLY) != 0)
            raise_value("%s: the array is read-only", name_);
        take_tensor(managed->tensor);
        return;
    }
    PyErr_Clear();
    void *tensor = PyCapsule_GetPointer(owner_.ptr(), "dltensor");
    if (tensor == nullptr)
        throw nb::python_error();
    take_tensor(*static_cast<nb::dlpack::dltensor *>(tensor)); // the capsule's destructor frees it
}

void Array::take_tensor(const nb::dlpack::dltensor &tensor) {
    switch (tensor.device.device_type) {
    case DL_CPU:
    case DL_CUDA_HOST:
        device_ = GFK_CPU;
        break;
    case DL_CUDA:
    case DL_CUDA_MANAGED:
        device_ = tensor.device.device_id;
        break;
    default:
        raise_type("%s: the array is neither in the CPU's memory nor on a CUDA device", name_);
    }
    code_ = tensor.dtype.lanes == 1 ? tensor.dtype.code : UINT8_MAX;
    bits_ = tensor.dtype.bits;
    data_ = static_cast<uint8_t *>(tensor.data) + tensor.byte_offset;
    shape_.assign(tensor.shape, tensor.shape + tensor.ndim);
    if (tensor.strides != nullptr) {
        strides_.assign(tensor.strides, tensor.strides + tensor.ndim);
        return;
    }
    set_packed_strides();
}

void Array::set_packed_strides() {
    strides_.resize(shape_.size());
    int64_t step = 1;
    for (size_t i = shape_.size(); i-- != 0;) {
        strides_[i] = step;
        step *= shape_[i];
    }
}

void Array::take_cuda_interface(nb::handle object, Use use, Call &call, const ArrayType &type) {
    const nb::object made = python("_arrays", "cuda_interface")(object, name_, use == Use::Write);
    const auto bits = nb::cast<unsigned>(made[1]);
    data_ = reinterpret_cast<uint8_t *>(nb::cast<uintptr_t>(made[0]));
    code_ = bits != 0 ? DL_UINT : UINT8_MAX; // check_symbols refuses what is no integer
    bits_ = bits != 0 ? bits : 8;
    shape_ = nb::cast<std::vector<int64_t>>(made[2]);
    set_packed_strides();
    if (!nb::object(made[3]).is_none())
        strides_ = nb::cast<std::vector<int64_t>>(made[3]);
    if (data_ == nullptr && bytes() != 0)
        raise_no_memory(name_, object);
    device_ = device_of(data_); // the interface names no device: the address does
    call.settle(type, device_, object);
    if (!call.stream_ && !nb::object(made[4]).is_none()) {
        const auto stream = nb::cast<uintptr_t>(made[4]); // 1: the legacy default stream
        call.stream_ = stream == 1 ? nullptr : reinterpret_cast<gfk_stream_t>(stream);
    }
}

size_t Array::bytes() const {
    size_t count = item_bytes();
    for (const int64_t n : shape_)
        count *= static_cast<size_t>(n);
    return count;
}

void Array::raise_wrong_dtype(unsigned w, Meaning meaning) const {
    if (meaning == Meaning::Data)
        raise_type(w == 8 ? "%s: the elements must be bytes (uint8); view the array as uint8"
                          : "%s: the elements must be bytes or %u-bit integers; view the array as uint8",
                   name_, w);
    if (use_ == Use::Write)
        raise_type("%s: the elements must be integers of %u bits; pass an array of uint%u", name_, w, w);
    raise_type("%s: the elements must be integers of %u bits; x.astype('uint%u') converts numbers, x.to(torch.uint%u) "
               "those of torch",
               name_, w, w, w);
}

void Array::check_symbols(unsigned w, Meaning meaning) const {
    if ((code_ != DL_INT && code_ != DL_UINT) || (bits_ != 8 && bits_ != w))
        raise_wrong_dtype(w, meaning);
}

void Array::check_elements(unsigned w) const {
    if ((code_ != DL_INT && code_ != DL_UINT) || bits_ != w)
        raise_wrong_dtype(w, Meaning::Elements);
    if (bytes() != 0 && reinterpret_cast<uintptr_t>(data_) % item_bytes() != 0)
        raise_value("%s: the address of the array is no multiple of %zu, the bytes of an element; pass a copy "
                    "(numpy.array(x), x.clone() of torch)",
                    name_, item_bytes());
}

void Array::check_contiguous(size_t first) const {
    int64_t step = 1;
    for (const int64_t n : shape_)
        if (n == 0)
            return;
    for (size_t i = shape_.size(); i-- > first;) {
        if (shape_[i] != 1 && strides_[i] != step)
            raise_value("%s: the array is not contiguous; pass a contiguous copy (numpy.ascontiguousarray(x), "
                        "cupy.ascontiguousarray(x), x.contiguous() of torch)",
                        name_);
        step *= shape_[i];
    }
}

bool Array::merge_first() {
    if (shape_[0] > 1 && shape_[1] > 1 && strides_[0] != shape_[1] * strides_[1])
        return false;
    if (shape_[1] == 1)
        strides_[1] = strides_[0];
    shape_[1] *= shape_[0];
    shape_.erase(shape_.begin());
    strides_.erase(strides_.begin());
    return true;
}

uint8_t *Array::row(size_t i, size_t j) const {
    return data_ + (static_cast<int64_t>(i) * strides_[0] + static_cast<int64_t>(j) * strides_[1]) *
                       static_cast<int64_t>(item_bytes());
}

gfk_accumulate mode_of(nb::handle out, bool accumulate) {
    if (out.is_none() && accumulate)
        raise_value("accumulate adds to out, so out is needed");
    return accumulate ? GFK_XOR : GFK_SET;
}

bool has_groups(const Array &array, size_t count, size_t groups) {
    return groups != 0 && array.dimensions() >= 3 && array.size(0) != count && array.size(0) * array.size(1) == count &&
           (groups == ANY_GROUPS || array.size(0) == groups);
}

size_t Array::stride() const {
    if (shape_[0] > 1 && strides_[0] < 0)
        raise_value("%s: the array's rows are in reverse order; pass a contiguous copy", name_);
    return static_cast<size_t>(strides_[0]) * item_bytes();
}

void check_whole_symbols(size_t bytes, unsigned w, const char *name) {
    if (bytes % (w / 8) != 0)
        raise(GFK_STATUS_INVALID_SIZE, "%s: a region of %zu bytes is no whole number of %u-bit symbols", name, bytes,
              w);
}

Array symbols_of(Call &call, nb::handle object, Use use, const char *name, unsigned w, Meaning meaning) {
    Array array(call, object, use, name);
    array.check_symbols(w, meaning);
    array.check_contiguous();
    check_whole_symbols(array.bytes(), w, name);
    return array;
}

SymbolsOutput::SymbolsOutput(Call &call, nb::handle out, const Array &model, unsigned w, Meaning meaning)
    : object(out.is_none() ? call.empty(model.shape()) : nb::borrow(out)),
      array(symbols_of(call, object, use_of(out), "out", w, meaning)) {}
} // namespace gfk
