// Tensors that only one of two models has, since the other computes them within a larger operation or has folded them
// into constants: the convolution before a batch normalisation, the bias of a dense layer, an unused dropout.
#pragma once

#include <cstddef>
#include <vector>

#include "compare/alignment.h"

namespace sonde::compare {

// Sets Match::folded of each tensor of one side for which this holds: it is computed from values v, and what reads it
// is computed from the corresponding v in a single operation of the other side.
void find_folded(const Side& a, const Side& b, std::vector<Match>& matches);

// An operation whose weights may have absorbed the one behind it, and keep its name: A's `conv`, followed by a batch
// normalisation, was paired with B's `conv`, which gives what A's normalisation gives. Only the values can tell.
struct Absorbed {
  std::size_t pair = 0;  // the match of the two
  std::size_t only = 0;  // the match of the operation that one side has alone
};
std::vector<Absorbed> maybe_absorbed(const Side& a, const Side& b, const std::vector<Match>& matches);
// Pairs the tensor behind the operation instead.
void absorb(const Absorbed& found, std::vector<Match>& matches);

}  // namespace sonde::compare
