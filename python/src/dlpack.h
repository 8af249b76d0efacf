// The part of DLPack's binary interface that is read here (dmlc/dlpack, versions 0.x and 1.x).
#pragma once

#include <cstdint>

namespace sonde::python::dlpack {

enum DeviceType : std::int32_t { kCPU = 1, kCUDAHost = 3, kROCMHost = 11 };
enum Code : std::uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6,
  kFloat8E4M3FN = 10,
  kFloat8E5M2 = 12
};

struct Device {
  std::int32_t type;
  std::int32_t id;
};

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t rank;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};

struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

// What types offer as __dlpack_c_exchange_api__, a capsule named "dlpack_exchange_api".
struct ExchangeApi {
  std::uint32_t major;
  std::uint32_t minor;
  ExchangeApi* previous;
  void* allocate;
  void* managed_from_object;
  void* managed_to_object;
  int (*tensor_from_object)(void* object, Tensor* out);  // borrows; null where it is not offered
  void* current_stream;
};

}  // namespace sonde::python::dlpack
