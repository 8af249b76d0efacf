// For the tests of file formats: damaged files, random tensors, and the files that other programs wrote.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "tensor/copy.h"
#include "tensor/tensor_data.h"
#include "tests/test_data.h"

namespace sonde::testing {

// Calls `decode(Bytes)` with every prefix of a file, and with the file with each byte in turn changed to each other
// value. Every damaged file is a separate allocation, so that a sanitizer sees any read beyond its end.
template <class Decode>
void for_each_damage(std::string_view file, Decode decode) {
  for (std::size_t length = 0; length < file.size(); ++length) {
    const std::vector<char> damaged(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
    decode(base::Bytes(std::as_bytes(std::span(damaged))));
  }
  std::vector<char> damaged(file.begin(), file.end());
  for (char& byte : damaged) {
    const char original = byte;
    for (int other = 1; other < 256; ++other) {
      byte = static_cast<char>(original ^ other);
      decode(base::Bytes(std::as_bytes(std::span(damaged))));
    }
    byte = original;
  }
}

// A file of the corpus, e.g. "npy/fortran.npy"; written by the program whose format it is (tests/corpus/make_files.py).
inline std::string corpus_file(const std::string& name) {
  const std::string data = SONDE_TEST_DATA;
  Result<std::string> file =
      base::read_file(base::join_path(data.substr(0, data.rfind('/')), base::join_path("corpus", name)));
  EXPECT_TRUE(file) << file.error().message();
  return file ? *std::move(file) : std::string();
}

// Random bits; booleans are 0 or 1.
inline Tensor random_tensor(std::mt19937& random, DType dtype, const Shape& shape) {
  Tensor tensor{dtype, shape, std::vector<std::byte>(*tensor::dense_bytes(dtype, shape))};
  const unsigned mask = dtype == DType::boolean ? 1 : 255;
  for (std::byte& byte : tensor.data) byte = static_cast<std::byte>(random() & mask);
  return tensor;
}

inline std::vector<DType> all_dtypes() {
  std::vector<DType> dtypes;
  dtypes.reserve(kDTypeCount);
  for (int i = 0; i < kDTypeCount; ++i) dtypes.push_back(static_cast<DType>(i));
  return dtypes;
}

// Dtype, shape and bits, so that NaN equals itself.
inline void expect_same(const TensorView& a, const TensorView& b) {
  ASSERT_TRUE(a.valid());
  ASSERT_TRUE(b.valid());
  EXPECT_EQ(a.dtype, b.dtype);
  ASSERT_TRUE(a.shape == b.shape);
  EXPECT_TRUE(tensor::to_tensor(a).data == tensor::to_tensor(b).data);
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  EXPECT_EQ(tensor.dtype, dtype_of<T>);
  std::vector<T> values(tensor.data.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

}  // namespace sonde::testing
