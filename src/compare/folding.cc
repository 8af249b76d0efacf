#include "compare/folding.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sonde::compare {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The operations of one side, and which of the other side correspond to them.
class Network {
 public:
  Network(const Side& side, bool is_a, const std::vector<Match>& matches)
      : side_(side),
        readers_(side.entries.size()),
        partners_(side.entries.size(), kNone),
        matches_(side.entries.size(), kNone) {
    for (std::size_t i = 0; i < side.entries.size(); ++i) values_.emplace(side.entries[i].name, i);
    for (std::size_t i = 0; i < side.entries.size(); ++i) {
      for (const std::string& input : side.entries[i].inputs) {
        if (const auto value = values_.find(input); value != values_.end()) readers_[value->second].push_back(i);
      }
    }
    for (std::size_t i = 0; i < matches.size(); ++i) {
      const std::optional<std::size_t>& own = is_a ? matches[i].a : matches[i].b;
      const std::optional<std::size_t>& other = is_a ? matches[i].b : matches[i].a;
      if (!own) continue;
      matches_[*own] = i;
      if (other) partners_[*own] = *other;
    }
  }

  const Entry& entry(std::size_t index) const { return side_.entries[index]; }
  std::size_t size() const noexcept { return side_.entries.size(); }
  std::size_t partner(std::size_t index) const { return partners_[index]; }
  std::size_t match(std::size_t index) const { return matches_[index]; }
  const std::vector<std::size_t>& readers(std::size_t index) const { return readers_[index]; }

  // What an operation reads, constants left out: "3" is a value, "in0" an input of the model.
  std::set<std::string> reads(std::size_t index) const {
    std::set<std::string> found;
    for (const std::string& input : entry(index).inputs) {
      const std::string from_outside = input_number(input);
      const auto value = values_.find(input);
      if (!from_outside.empty()) found.insert(from_outside);
      if (from_outside.empty() && value != values_.end()) found.insert(std::to_string(value->second));
    }
    return found;
  }

  // The values that an operation is computed from and that the other side has too, by their numbers there.
  std::set<std::string> sources(std::size_t index) const {
    std::set<std::string> found;
    std::set<std::size_t> seen = {index};
    for (std::vector<std::size_t> pending = {index}; !pending.empty();) {
      const std::size_t at = pending.back();
      pending.pop_back();
      for (const std::string& input : entry(at).inputs) {
        const std::string from_outside = input_number(input);
        const auto value = values_.find(input);
        if (!from_outside.empty()) {
          found.insert(from_outside);
        } else if (value != values_.end() && partners_[value->second] != kNone) {
          found.insert(std::to_string(partners_[value->second]));
        } else if (value != values_.end() && seen.insert(value->second).second) {
          pending.push_back(value->second);
        }
      }
    }
    return found;
  }

  // The nearest operations behind this one that the other side has too.
  std::set<std::size_t> targets(std::size_t index) const {
    std::set<std::size_t> found;
    std::set<std::size_t> seen = {index};
    for (std::vector<std::size_t> pending = {index}; !pending.empty();) {
      const std::size_t at = pending.back();
      pending.pop_back();
      for (const std::size_t reader : readers_[at]) {
        if (partners_[reader] != kNone) {
          found.insert(reader);
        } else if (seen.insert(reader).second) {
          pending.push_back(reader);
        }
      }
    }
    return found;
  }

  // Values that it reads and that are not constants.
  std::size_t inputs_read(std::size_t index) const {
    return static_cast<std::size_t>(std::ranges::count_if(entry(index).inputs, [&](const std::string& input) {
      return values_.contains(input) || !input_number(input).empty();
    }));
  }

 private:
  // "in0" for the first input of the model; empty if it is none.
  std::string input_number(const std::string& name) const {
    const auto at = std::ranges::find(side_.inputs, name);
    return at == side_.inputs.end() ? "" : "in" + std::to_string(at - side_.inputs.begin());
  }

  const Side& side_;
  std::unordered_map<std::string, std::size_t> values_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<std::size_t> partners_;  // kNone: only this side has it
  std::vector<std::size_t> matches_;   // index in the list of matches
};

std::string reason(const Network& one, std::size_t index, const Network& other, std::string_view letter) {
  const std::set<std::string> sources = one.sources(index);
  for (const std::size_t target : one.targets(index)) {
    const std::size_t there = one.partner(target);
    const Entry& entry = other.entry(there);
    if (entry.op.empty() || !std::ranges::includes(other.reads(there), sources)) continue;
    std::string text(letter);
    if (sources.empty()) return text + " has it as a constant, for '" + entry.name + "'";
    return text + " computes it within '" + entry.name + "', " + entry.op;
  }
  return {};
}

void find_in(const Network& one, const Network& other, std::string_view other_letter, std::vector<Match>& matches) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one.partner(i) != kNone || one.entry(i).op.empty()) continue;
    Match& match = matches[one.match(i)];
    match.folded = reason(one, i, other, other_letter);
    if (!match.folded.empty()) match.unresolved.clear();
  }
}

bool has_weights(const std::string& op) {
  constexpr auto kParts =
      std::to_array<std::string_view>({"Conv", "MatMul", "Gemm", "Dense", "FullyConnected", "FULLY_CONNECTED", "CONV"});
  return std::ranges::any_of(kParts, [&](std::string_view part) { return op.find(part) != std::string::npos; });
}

// Operations on each channel that weights can absorb.
bool can_be_absorbed(const std::string& op) {
  constexpr auto kOps = std::to_array<std::string_view>({"BatchNormalization", "FusedBatchNorm", "FusedBatchNormV3",
                                                         "BatchNormInference", "Mul", "Multiply", "Div", "Divide",
                                                         "Add", "AddV2", "Sub", "Subtract", "BiasAdd"});
  return std::ranges::find(kOps, op) != kOps.end();
}

void absorbed_in(const Network& one, const Network& other, std::vector<Absorbed>& found) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one.partner(i) == kNone || !has_weights(one.entry(i).op) || one.readers(i).size() != 1) continue;
    std::size_t behind = one.readers(i).front();
    // A scale and then an offset may both be absorbed.
    while (one.partner(behind) == kNone && one.readers(behind).size() == 1 && one.inputs_read(behind) == 1 &&
           can_be_absorbed(one.entry(behind).op) && one.partner(one.readers(behind).front()) == kNone) {
      behind = one.readers(behind).front();
    }
    if (one.partner(behind) != kNone || one.inputs_read(behind) != 1 || !can_be_absorbed(one.entry(behind).op)) {
      continue;
    }
    const std::vector<std::size_t>& readers = other.readers(one.partner(i));
    const bool same_readers = !readers.empty() && std::ranges::all_of(one.readers(behind), [&](std::size_t reader) {
      return std::ranges::find(readers, one.partner(reader)) != readers.end();
    });
    const bool both_last = readers.empty() && one.readers(behind).empty();
    if (same_readers || both_last) found.push_back({one.match(i), one.match(behind)});
  }
}

}  // namespace

void find_folded(const Side& a, const Side& b, std::vector<Match>& matches) {
  const Network in_a(a, true, matches);
  const Network in_b(b, false, matches);
  find_in(in_a, in_b, "B", matches);
  find_in(in_b, in_a, "A", matches);
}

std::vector<Absorbed> maybe_absorbed(const Side& a, const Side& b, const std::vector<Match>& matches) {
  std::vector<Absorbed> found;
  const Network in_a(a, true, matches);
  const Network in_b(b, false, matches);
  absorbed_in(in_a, in_b, found);
  absorbed_in(in_b, in_a, found);
  return found;
}

void absorb(const Absorbed& found, std::vector<Match>& matches) {
  Match& pair = matches[found.pair];
  Match& only = matches[found.only];
  const bool in_a = only.a.has_value();
  (in_a ? only.b : only.a) = std::exchange(in_a ? pair.b : pair.a, std::nullopt);
  only.evidence = Evidence::topology;
  only.confidence = 0.85;
  only.unresolved.clear();
  pair.evidence = Evidence::none;
  pair.confidence = 0;
}

}  // namespace sonde::compare
