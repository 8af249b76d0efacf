// NPY: one array, as numpy.save writes it.
//
//   offset   size      what
//   0        6         "\x93NUMPY"
//   6        2         version: 1.0, 2.0 or 3.0, one byte each number
//   8        2 or 4    length of the header, u16 (version 1) or u32 little-endian
//   10 / 12  length    {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  and spaces up to a newline; Latin-1
//                      (UTF-8 in version 3). With them the elements begin at a multiple of 64
//   ...                the elements, dense, the last index fastest (the first one if fortran_order)
//
// The output equals that of numpy.save for the same array, byte for byte: version 1.0, little-endian, and fortran_order
// if the tensor is column-major in memory.
//
// NumPy itself has no bf16 and no fp8. They are written so that numpy.load opens them, nothing mistakes their bits for
// integers, and `.view(...)` with a type of the package ml_dtypes gives the numbers:
//
//   bf16      '<V2', as ml_dtypes writes it            numpy.load(f).view(ml_dtypes.bfloat16)
//   f8_e4m3   [('float8_e4m3fn', '|V1')]               numpy.load(f).view(ml_dtypes.float8_e4m3fn)
//   f8_e5m2   [('float8_e5m2', '|V1')]                 numpy.load(f).view(ml_dtypes.float8_e5m2)
//
// The one-field form names the type, since ml_dtypes itself writes '<V1' for most of its small types and '<f1', which
// NumPy cannot load, for float8_e5m2. Also accepted: V2 as bf16, V1 as f8_e4m3 (the usual one) and f1 as f8_e5m2.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "sonde/status.h"
#include "tensor/tensor_data.h"

namespace sonde::npy {

struct Header {
  DType dtype = DType::f32;
  Shape shape;
  bool fortran_order = false;
  bool big_endian = false;  // never for elements of one byte
  base::Bytes data;         // in the file, of exactly the size that dtype and shape need
};

// Reads only the header, however large the file is. Bytes after the elements are ignored, as in NumPy. Structured
// types, objects, strings, dates and long doubles are `unsupported`.
Result<Header> parse(base::Bytes file);

// The elements in place: the view is valid as long as `file` is. Not for big-endian files.
Result<TensorView> view(base::Bytes file);

// A copy in row-major order and this machine's byte order.
Result<Tensor> decode(base::Bytes file);

// A file in two pieces, so that a large one need not be assembled in memory: `header`, then the elements of `data` in
// row-major order (the tensor itself, or its transpose if it is column-major).
struct Parts {
  std::string header;
  TensorView data;
};
Result<Parts> layout(const TensorView& tensor);

Result<std::string> encode(const TensorView& tensor);

}  // namespace sonde::npy
