// Which tensor of B corresponds to a tensor of A.
//
// In this order: the user's mapping; what an exporter wrote about modules; the same name; the same name but for
// separators and case; the same operation on corresponding inputs; the order of operations and shapes. Each step sees
// only what those before it left over.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/mapping.h"
#include "compare/tensor_set.h"
#include "sonde/status.h"

namespace sonde::compare {

enum class Evidence : std::uint8_t { none, mapping, module, name, similar_name, topology, order };
// "mapping", "module", "name", "similar name", "topology", "order"; empty for none
std::string_view to_string(Evidence evidence) noexcept;

struct Match {
  std::optional<std::size_t> a;  // index in the set; none: only in B
  std::optional<std::size_t> b;
  Evidence evidence = Evidence::none;
  double confidence = 0;  // that both are the same tensor, 0 to 1
  // Of a tensor without a partner: why none of the candidates was chosen. Empty: there is no candidate.
  std::string unresolved = {};
  // Of a tensor without a partner: how the other side does without it, see folding.h.
  std::string folded = {};
};

struct Side {
  std::span<const Entry> entries;
  std::span<const std::string> inputs;  // of the model; corresponding ones have the same name or the same place
};

// In the order of A; what is only in B follows its predecessor in B. Fails if the mapping names a tensor that is not
// there.
Result<std::vector<Match>> align(const Side& a, const Side& b, std::span<const MappedPair> mapping);

// Without separators, case and a trailing ":0": "Dense_1/Relu:0" and "dense.1.relu" are similar.
std::string similar_name(std::string_view name);

// Whether the sizes of one are those of the other in some order, as far as they are known.
bool same_sizes(const Shape& a, const Shape& b) noexcept;

}  // namespace sonde::compare
