#include "tensor_import.h"

#include <bit>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "convert.h"
#include "dlpack.h"
#include "owner.h"

namespace sonde::python {
namespace {

constexpr const char* kExpected = "a tensor: a NumPy array, a torch tensor or another array in this machine's memory";

// The element type of a code of the struct module and its size. The letter says what it is, the size how wide.
std::optional<DType> dtype_of_format(std::string_view format, Py_ssize_t size) {
  if (!format.empty() && std::string_view("@=<|").find(format.front()) != std::string_view::npos)
    format.remove_prefix(1);
  if (format == "Zf" && size == 8) return DType::c64;
  if (format == "Zd" && size == 16) return DType::c128;
  if (format.size() != 1) return {};
  const auto by_size = [size](DType one, DType two, DType four, DType eight) -> std::optional<DType> {
    switch (size) {
      case 1: return one;
      case 2: return two;
      case 4: return four;
      case 8: return eight;
      default: return {};
    }
  };
  switch (format.front()) {
    case '?': return DType::boolean;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n': return by_size(DType::i8, DType::i16, DType::i32, DType::i64);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N': return by_size(DType::u8, DType::u16, DType::u32, DType::u64);
    case 'e': return DType::f16;
    case 'f': return DType::f32;
    case 'd': return DType::f64;
    default: return {};
  }
}

std::optional<DType> dtype_of(dlpack::DataType type) {
  if (type.lanes != 1) return {};
  switch (type.code) {
    case dlpack::kBool: return type.bits == 8 ? std::optional(DType::boolean) : std::nullopt;
    case dlpack::kInt: return dtype_of_format("b", type.bits / 8);
    case dlpack::kUInt: return dtype_of_format("B", type.bits / 8);
    case dlpack::kFloat:
      if (type.bits == 16) return DType::f16;
      if (type.bits == 32) return DType::f32;
      return type.bits == 64 ? std::optional(DType::f64) : std::nullopt;
    case dlpack::kBfloat: return type.bits == 16 ? std::optional(DType::bf16) : std::nullopt;
    case dlpack::kComplex:
      if (type.bits == 64) return DType::c64;
      return type.bits == 128 ? std::optional(DType::c128) : std::nullopt;
    case dlpack::kFloat8E4M3FN: return type.bits == 8 ? std::optional(DType::f8_e4m3) : std::nullopt;
    case dlpack::kFloat8E5M2: return type.bits == 8 ? std::optional(DType::f8_e5m2) : std::nullopt;
    default: return {};
  }
}

[[noreturn]] void refuse(const char* argument, nb::handle object, const std::string& what) {
  std::string type = nb::type_name(object.type()).c_str();
  if (nb::hasattr(object, "dtype")) type += " of " + std::string(nb::str(nb::object(object.attr("dtype"))).c_str());
  PyErr_SetString(PyExc_TypeError,
                  (std::string(argument) + " cannot be recorded: " + what + " (" + type + ")").c_str());
  throw nb::python_error();
}

bool on_host(const dlpack::Tensor& tensor) {
  return tensor.device.type == dlpack::kCPU || tensor.device.type == dlpack::kCUDAHost ||
         tensor.device.type == dlpack::kROCMHost;
}

TensorView view_of(const dlpack::Tensor& tensor, nb::handle object, const char* argument) {
  if (!on_host(tensor)) {
    refuse(argument, object, "it is on a device; copy it to the host with .cpu(), or record its statistics");
  }
  const std::optional<DType> dtype = dtype_of(tensor.dtype);
  if (!dtype) refuse(argument, object, "its element type is not supported");
  if (tensor.rank > kMaxRank) raise_value_error(std::string(argument) + " has more than 8 dimensions");
  const auto rank = static_cast<std::size_t>(tensor.rank);
  const Shape shape(std::span<const std::int64_t>(tensor.shape, rank));
  const auto* data = static_cast<const std::byte*>(tensor.data);
  return {data == nullptr ? nullptr : data + tensor.byte_offset, *dtype, shape,
          tensor.strides == nullptr ? row_major(shape) : Shape(std::span<const std::int64_t>(tensor.strides, rank))};
}

// Of a type, if it offers one. Types live for ever here, as those of tensors do.
const dlpack::ExchangeApi* exchange_of(nb::handle type) {
  static auto& known = *new std::unordered_map<PyObject*, const dlpack::ExchangeApi*>();
  static PyObject* last_type = nullptr;  // under the interpreter's lock, as all of this
  static const dlpack::ExchangeApi* last = nullptr;
  if (type.ptr() == last_type) return last;
  auto [place, is_new] = known.try_emplace(type.ptr(), nullptr);
  if (is_new) {
    type.inc_ref();
    const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
    if (PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") != 0) {
      const auto* api =
          static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
      if (api->major == 1 && api->tensor_from_object != nullptr) {
        place->second = api;
        capsule.inc_ref();
      }
    }
  }
  last_type = type.ptr();
  return last = place->second;
}

template <class T>
double element(const TensorView& view) {
  return static_cast<double>(*static_cast<const T*>(view.data));
}

}  // namespace

double to_scalar(nb::handle object, const char* argument) {
  if (PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr())) return to_double(object, argument);
  if (const bool tensor = exchange_of(object.type()) != nullptr; tensor || nb::hasattr(object, "shape")) {
    const ImportedTensor imported(object, argument);
    const TensorView& view = imported.view();
    if (view.size() != 1) {
      raise_value_error(std::string(argument) + " must have one element, not " + std::to_string(view.size()));
    }
    switch (view.dtype) {
      case DType::f32: return element<float>(view);
      case DType::f64: return element<double>(view);
      case DType::i64: return element<std::int64_t>(view);
      case DType::i32: return element<std::int32_t>(view);
      case DType::bf16:
        return std::bit_cast<float>(static_cast<std::uint32_t>(*static_cast<const std::uint16_t*>(view.data)) << 16);
      default: break;
    }
    if (view.shape.rank() != 0) return to_double(object.attr("reshape")(nb::make_tuple()), argument);
  }
  return to_double(object, argument);
}

ImportedTensor::ImportedTensor(nb::handle object, const char* argument) {
  if (import_exchange(object, argument) || import_buffer(object, argument) || import_small_floats(object, argument) ||
      import_dlpack(object, argument) || import_array(object, argument)) {
    return;
  }
  raise_type_error(argument, kExpected, object);
}

std::optional<ImportedTensor> ImportedTensor::exchange(nb::handle object) {
  const dlpack::ExchangeApi* api = exchange_of(object.type());
  dlpack::Tensor tensor = {};
  if (api == nullptr) return {};
  if (api->tensor_from_object(object.ptr(), &tensor) != 0) {
    PyErr_Clear();
    return {};
  }
  if (!on_host(tensor) || !dtype_of(tensor.dtype) || tensor.rank > kMaxRank) return {};
  ImportedTensor made;
  made.view_ = view_of(tensor, object, "tensor");
  made.keeper_ = nb::borrow(object);
  return made;
}

std::int64_t ImportedTensor::bytes() const noexcept {
  return view_.size() * static_cast<std::int64_t>(size_of(view_.dtype));
}

TensorArg ImportedTensor::shared() const { return frozen(view_, share(keeper_)); }

bool ImportedTensor::import_exchange(nb::handle object, const char* argument) {
  const dlpack::ExchangeApi* api = exchange_of(object.type());
  if (api == nullptr) return false;
  dlpack::Tensor tensor = {};
  if (api->tensor_from_object(object.ptr(), &tensor) != 0) {  // a sparse tensor, a lazily conjugated one
    const std::string why =
        PyErr_Occurred() != nullptr ? sentence_of(nb::python_error()) : "it has no memory of its own";
    refuse(argument, object, why);
  }
  view_ = view_of(tensor, object, argument);
  keeper_ = nb::borrow(object);
  return true;
}

bool ImportedTensor::import_buffer(nb::handle object, const char* argument) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  auto buffer = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  buffer_.reset(buffer.release());
  if (buffer_->itemsize <= 0) {
    buffer_.reset();
    return false;
  }
  const std::optional<DType> dtype =
      dtype_of_format(buffer_->format == nullptr ? "B" : buffer_->format, buffer_->itemsize);
  if (buffer_->ndim > kMaxRank) raise_value_error(std::string(argument) + " has more than 8 dimensions");
  TensorView view = {buffer_->buf, dtype.value_or(DType::f32), Shape(), Shape()};
  for (int axis = 0; axis < buffer_->ndim; ++axis) {
    view.shape.push_back(buffer_->shape[axis]);
    view.strides.push_back(buffer_->strides[axis] / buffer_->itemsize);
    // A field of a structured array: whole elements do not reach from one to the next.
    if (buffer_->strides[axis] % buffer_->itemsize != 0) buffer_.reset();
    if (!buffer_) return false;
  }
  if (!dtype) {
    buffer_.reset();
    return false;
  }
  view_ = view;
  keeper_ = nb::borrow(object);
  return true;
}

// NumPy gives no buffer of the types of ml_dtypes; of their bits it does.
bool ImportedTensor::import_small_floats(nb::handle object, const char* argument) {
  if (!nb::hasattr(object, "dtype") || !nb::hasattr(object, "__array_interface__")) return false;
  const nb::str name(nb::object(object.attr("dtype")));
  const std::string_view text = name.c_str();
  DType dtype;
  if (text == "bfloat16") {
    dtype = DType::bf16;
  } else if (text == "float8_e4m3fn") {
    dtype = DType::f8_e4m3;
  } else if (text == "float8_e5m2") {
    dtype = DType::f8_e5m2;
  } else {
    return false;
  }
  const nb::object bits = object.attr("view")(dtype == DType::bf16 ? "uint16" : "uint8");
  if (!import_buffer(bits, argument)) return false;
  view_.dtype = dtype;
  keeper_ = nb::borrow(object);
  return true;
}

bool ImportedTensor::import_dlpack(nb::handle object, const char* argument) {
  if (!nb::hasattr(object, "__dlpack__")) return false;
  // torch refuses to export what needs gradients.
  const bool detach = nb::hasattr(object, "detach");
  const nb::object plain = detach ? nb::object(object.attr("detach")()) : nb::borrow(object);
  nb::object capsule;
  try {
    capsule = plain.attr("__dlpack__")();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_BufferError) && !error.matches(PyExc_ValueError) &&
        !error.matches(PyExc_RuntimeError)) {
      throw;
    }
    return false;  // another way may be left
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0) return false;
  const auto* managed = static_cast<const dlpack::Managed*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  view_ = view_of(managed->tensor, object, argument);
  keeper_ = std::move(capsule);  // not taken over, so that it frees the tensor itself
  return true;
}

// Lists, numbers, and arrays that nothing above can look into.
bool ImportedTensor::import_array(nb::handle object, const char* argument) {
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()) || object.is_none()) return false;
  if (!nb::hasattr(object, "__array__") && PySequence_Check(object.ptr()) == 0 && PyNumber_Check(object.ptr()) == 0) {
    return false;
  }
  const nb::object numpy = nb::module_::import_("numpy");
  nb::object array;
  try {
    array = numpy.attr("asarray")(object);
    // In this machine's byte order and in rows.
    array = numpy.attr("ascontiguousarray")(array, array.attr("dtype").attr("newbyteorder")("="))
                .attr("reshape")(array.attr("shape"));
  } catch (nb::python_error& error) {
    refuse(argument, object, sentence_of(error));
  }
  if (!import_buffer(array, argument) && !import_small_floats(array, argument)) {
    refuse(argument, array, "its element type is not supported");
  }
  return true;
}

}  // namespace sonde::python
