// Single values in the forms that TensorBoard's pages take: tensors as TensorProto, large things as sequences of blobs.
// Old forms of values become new ones here, as TensorBoard's own reader converts them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/status.h"
#include "store/raw_value.h"

namespace sonde::data_server {

// A serialised TensorProto: as it is in the file where the value is a tensor, and otherwise
//   simple_value  rank 0, float
//   histo         [k,3] double: left, right, count
//   image         [3] string: width, height, file
//   audio         [1,2] string: file, empty label
//   no value      [0] float, which is what hparams have beside their metadata
// Fails if the value contradicts itself.
Result<std::string> tensor_proto(const store::RawValue& raw);

// The blobs of one value: a graph or run metadata; width, height (as text) and files of images; the clips of audio
// without their labels; the elements of any other string tensor. Views into `raw`, which must live longer.
class Blobs {
 public:
  Blobs(const store::RawValue& raw, std::string_view plugin);
  Blobs(const Blobs&) = delete;
  Blobs& operator=(const Blobs&) = delete;

  const Status& status() const noexcept { return status_; }
  const std::vector<std::string_view>& items() const noexcept { return items_; }  // empty after an error

 private:
  void add_images(const tfevents::Value& value);
  void add_clips(const tfevents::Value& value);

  std::array<std::string, 2> size_;  // of old images, which have numbers
  std::vector<std::string_view> items_;
  Status status_;
};

}  // namespace sonde::data_server
