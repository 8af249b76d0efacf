// The 1,797 handwritten digits of images.npy and labels.npy (origin and licence: DATA.md), which are compiled into the
// program.
#pragma once

#include <cstdint>
#include <vector>

#include "digits/network.h"
#include "digits/tensor.h"

namespace digits {

struct Dataset {
  Tensor images;  // [n,8,8,1], 0 (paper) to 1 (ink)
  Labels labels;  // 0..9
};

struct Split {
  Dataset train;
  Dataset test;  // a fifth of the digits, chosen once for all seeds; never trained on
};
Split load();

// Endless batches in random order: every digit at most once before they are shuffled again.
class Batches {
 public:
  Batches(const Dataset& data, std::size_t batch_size, std::uint64_t seed);
  // Valid until the next call.
  const Dataset& next();

 private:
  const Dataset& data_;
  std::size_t batch_size_;  // at most the digits there are
  Random random_;
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;
  Dataset batch_;
};

// The chosen digits, in that order.
Dataset pick(const Dataset& data, std::span<const std::size_t> chosen);

}  // namespace digits
