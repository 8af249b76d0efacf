#include "compare/alignment.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/suggest.h"

namespace sonde::compare {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
// Beyond this the table of the longest common subsequence takes too much memory; names decide alone.
constexpr std::size_t kLongestOrder = 6000;

std::vector<std::string> names_of(std::span<const Entry> entries) {
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

// The index of each key; kNone for one that occurs twice.
std::unordered_map<std::string, std::size_t> unique_keys(const std::vector<std::string>& keys) {
  std::unordered_map<std::string, std::size_t> found;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto [at, inserted] = found.emplace(keys[i], i);
    if (!inserted) at->second = kNone;
  }
  return found;
}

// Operation and shape: what entries must have in common to be matched by their order.
std::string order_key(const Entry& entry) {
  std::string key = entry.op + "[";
  if (!entry.shape) return key + "?";
  Shape sizes = *entry.shape;
  if (sizes.rank() > 1) std::sort(&sizes[0], &sizes[0] + sizes.rank());  // layouts may differ
  for (const std::int64_t size : sizes) key += std::to_string(size) + ",";
  return key;
}

class Aligner {
 public:
  Aligner(const Side& a, const Side& b)
      : a_(a), b_(b), to_b_(a.entries.size(), kNone), to_a_(b.entries.size(), kNone), how_(a.entries.size()) {}

  Status by_mapping(std::span<const MappedPair> mapping) {
    const std::vector<std::string> names_a = names_of(a_.entries);
    const std::vector<std::string> names_b = names_of(b_.entries);
    const auto index_a = unique_keys(names_a);
    const auto index_b = unique_keys(names_b);
    for (const MappedPair& pair : mapping) {
      const auto a = index_a.find(pair.a);
      const auto b = index_b.find(pair.b);
      if (a == index_a.end()) return absent(pair.a, "A", pair.line, names_a);
      if (b == index_b.end()) return absent(pair.b, "B", pair.line, names_b);
      if (a->second != kNone && b->second != kNone) join(a->second, b->second, Evidence::mapping, 1);
    }
    return Status::success();
  }

  // Operations of the same type in the same module correspond in their order, if both have as many.
  void by_module() {
    std::map<std::pair<std::string, std::string>, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>>
        modules;
    for (std::size_t i = 0; i < a_.entries.size(); ++i) {
      const Entry& entry = a_.entries[i];
      if (!entry.scope.empty()) modules[{entry.scope, entry.op}].first.push_back(i);
    }
    for (std::size_t i = 0; i < b_.entries.size(); ++i) {
      const Entry& entry = b_.entries[i];
      if (!entry.scope.empty()) modules[{entry.scope, entry.op}].second.push_back(i);
    }
    for (const auto& [key, found] : modules) {
      const auto& [in_a, in_b] = found;
      if (in_a.size() != in_b.size()) continue;
      for (std::size_t i = 0; i < in_a.size(); ++i) {
        if (compatible(in_a[i], in_b[i])) join(in_a[i], in_b[i], Evidence::module, in_a.size() == 1 ? 0.98 : 0.95);
      }
    }
  }

  void by_key(Evidence evidence, double confidence, std::string (*key)(const Entry&)) {
    std::vector<std::string> keys_a;
    std::vector<std::string> keys_b;
    keys_a.reserve(a_.entries.size());
    keys_b.reserve(b_.entries.size());
    for (const Entry& entry : a_.entries) keys_a.push_back(key(entry));
    for (const Entry& entry : b_.entries) keys_b.push_back(key(entry));
    const auto index_b = unique_keys(keys_b);
    for (const auto& [text, a] : unique_keys(keys_a)) {
      const auto b = index_b.find(text);
      if (text.empty() || b == index_b.end() || a == kNone || b->second == kNone) continue;
      join(a, b->second, evidence, confidence);
    }
  }

  // The only operations of their type that read corresponding values. One pass in order of execution finds chains.
  void by_topology() {
    std::unordered_map<std::string, std::size_t> value_a;
    std::unordered_map<std::string, std::size_t> value_b;
    for (std::size_t i = 0; i < a_.entries.size(); ++i) value_a.emplace(a_.entries[i].name, i);
    for (std::size_t i = 0; i < b_.entries.size(); ++i) value_b.emplace(b_.entries[i].name, i);
    std::unordered_map<std::string, std::vector<std::size_t>> readers_b;  // by op and the values that are read
    for (std::size_t i = 0; i < b_.entries.size(); ++i) {
      const std::string key = read_key(b_, i, value_b, [](std::size_t b) { return b; });
      if (!key.empty()) readers_b[key].push_back(i);
    }
    std::unordered_map<std::string, std::size_t> readers_a;
    for (std::size_t i = 0; i < a_.entries.size(); ++i) {
      ++readers_a[read_key(a_, i, value_a, [](std::size_t a) { return a; })];
    }
    for (std::size_t i = 0; i < a_.entries.size(); ++i) {
      if (to_b_[i] != kNone || readers_a[read_key(a_, i, value_a, [](std::size_t a) { return a; })] != 1) continue;
      const auto found = readers_b.find(read_key(a_, i, value_a, [&](std::size_t a) { return to_b_[a]; }));
      if (found == readers_b.end() || found->second.size() != 1) continue;
      if (compatible(i, found->second[0])) join(i, found->second[0], Evidence::topology, 0.85);
    }
  }

  // The longest common subsequence of what is left over. Where both sides have as many of a kind, they correspond in
  // their order; where they do not, nobody can say which one is missing.
  void by_order() {
    std::vector<std::size_t> left_a;
    std::vector<std::size_t> left_b;
    for (std::size_t i = 0; i < to_b_.size(); ++i) {
      if (to_b_[i] == kNone) left_a.push_back(i);
    }
    for (std::size_t i = 0; i < to_a_.size(); ++i) {
      if (to_a_[i] == kNone) left_b.push_back(i);
    }
    // Where names correspond and no operations are known, other names are other tensors.
    const auto knows_op = [](const Entry& entry) { return !entry.op.empty(); };
    const bool known_ops = std::ranges::any_of(a_.entries, knows_op) && std::ranges::any_of(b_.entries, knows_op);
    if (!known_ops && left_a.size() < to_b_.size()) return;
    if (left_a.empty() || left_b.empty() || left_a.size() > kLongestOrder || left_b.size() > kLongestOrder) return;
    std::vector<std::string> keys_a;
    std::vector<std::string> keys_b;
    keys_a.reserve(left_a.size());
    keys_b.reserve(left_b.size());
    for (const std::size_t i : left_a) keys_a.push_back(order_key(a_.entries[i]));
    for (const std::size_t i : left_b) keys_b.push_back(order_key(b_.entries[i]));
    std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> counts;
    for (const std::string& key : keys_a) ++counts[key].first;
    for (const std::string& key : keys_b) ++counts[key].second;
    for (const auto& [i, j] : common_subsequence(keys_a, keys_b)) {
      const auto [in_a, in_b] = counts[keys_a[i]];
      if (in_a != in_b) continue;
      const bool known_op = known_ops && knows_op(a_.entries[left_a[i]]);
      join(left_a[i], left_b[j], Evidence::order, known_op ? (in_a == 1 ? 0.8 : 0.7) : (in_a == 1 ? 0.6 : 0.5));
    }
    for (std::size_t i = 0; i < left_a.size(); ++i) {
      const auto [in_a, in_b] = counts[keys_a[i]];
      if (to_b_[left_a[i]] != kNone || in_b == 0) continue;
      unresolved_[left_a[i]] = std::to_string(in_a) + " such tensors in A and " + std::to_string(in_b) +
                               " in B have no common name; name the pairs in a file for --map";
    }
  }

  std::vector<Match> result() const {
    std::vector<Match> matches;
    std::size_t next_b = 0;
    const auto add_only_b = [&](std::size_t end) {
      for (; next_b < end; ++next_b) {
        if (to_a_[next_b] == kNone) matches.push_back({.a = {}, .b = next_b});
      }
    };
    for (std::size_t a = 0; a < to_b_.size(); ++a) {
      Match match = {.a = a, .b = {}};
      if (to_b_[a] != kNone) {
        match.b = to_b_[a];
        match.evidence = how_[a].first;
        match.confidence = how_[a].second;
        add_only_b(to_b_[a]);
      } else if (const auto why = unresolved_.find(a); why != unresolved_.end()) {
        match.unresolved = why->second;
      }
      matches.push_back(std::move(match));
    }
    add_only_b(to_a_.size());
    return matches;
  }

 private:
  static Status absent(const std::string& name, const std::string& side, std::size_t line,
                       const std::vector<std::string>& names) {
    std::string hint = base::did_you_mean(name, names);
    if (hint.empty()) hint = base::nearest(name, names);
    return {Code::not_found, "there is no tensor '" + name + "' in " + side + ", which line " + std::to_string(line) +
                                 " of the map names" + hint};
  }

  void join(std::size_t a, std::size_t b, Evidence evidence, double confidence) {
    if (to_b_[a] != kNone || to_a_[b] != kNone) return;
    to_b_[a] = b;
    to_a_[b] = a;
    how_[a] = {evidence, confidence};
  }

  bool compatible(std::size_t a, std::size_t b) const {
    const std::optional<Shape>& one = a_.entries[a].shape;
    const std::optional<Shape>& other = b_.entries[b].shape;
    return !one || !other || same_sizes(*one, *other);
  }

  // The type of an operation and the values of B that correspond to those that it reads, constants left out. Empty: one
  // of them has no counterpart, or it reads none.
  template <class ToB>
  static std::string read_key(const Side& side, std::size_t index,
                              const std::unordered_map<std::string, std::size_t>& values, const ToB& to_b) {
    const Entry& entry = side.entries[index];
    if (entry.op.empty()) return {};
    std::string key;
    for (const std::string& input : entry.inputs) {
      if (const auto value = values.find(input); value != values.end()) {
        const std::size_t b = to_b(value->second);
        if (b == kNone) return {};
        key += " " + std::to_string(b);
      } else if (const auto at = std::ranges::find(side.inputs, input); at != side.inputs.end()) {
        key += " in" + std::to_string(at - side.inputs.begin());
      }
    }
    return key.empty() ? key : entry.op + key;
  }

  static std::vector<std::pair<std::size_t, std::size_t>> common_subsequence(const std::vector<std::string>& a,
                                                                             const std::vector<std::string>& b) {
    const std::size_t width = b.size() + 1;
    std::vector<std::uint16_t> length((a.size() + 1) * width);  // of what follows i and j; at most kLongestOrder
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        length[i * width + j] = a[i] == b[j] ? static_cast<std::uint16_t>(length[(i + 1) * width + j + 1] + 1)
                                             : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
      }
    }
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (a[i] == b[j]) {
        pairs.emplace_back(i++, j++);
      } else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) {
        ++i;
      } else {
        ++j;
      }
    }
    return pairs;
  }

  const Side& a_;
  const Side& b_;
  std::vector<std::size_t> to_b_;
  std::vector<std::size_t> to_a_;
  std::vector<std::pair<Evidence, double>> how_;  // by index in A
  std::unordered_map<std::size_t, std::string> unresolved_;
};

}  // namespace

std::string_view to_string(Evidence evidence) noexcept {
  switch (evidence) {
    case Evidence::none: return "";
    case Evidence::mapping: return "mapping";
    case Evidence::module: return "module";
    case Evidence::name: return "name";
    case Evidence::similar_name: return "similar name";
    case Evidence::topology: return "topology";
    case Evidence::order: return "order";
  }
  return "";
}

std::string similar_name(std::string_view name) {
  if (name.ends_with(":0")) name.remove_suffix(2);
  std::string similar;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) != 0) {
      similar += static_cast<char>(byte < 0x80 ? std::tolower(byte) : c);
    } else if (!similar.empty() && similar.back() != '_') {
      similar += '_';
    }
  }
  while (!similar.empty() && similar.back() == '_') similar.pop_back();
  return similar;
}

bool same_sizes(const Shape& a, const Shape& b) noexcept {
  if (a.rank() != b.rank()) return false;
  Shape left = a;
  Shape right = b;
  if (std::ranges::find(a, -1) != a.end() || std::ranges::find(b, -1) != b.end()) return true;
  if (a.rank() > 1) {
    std::sort(&left[0], &left[0] + left.rank());
    std::sort(&right[0], &right[0] + right.rank());
  }
  return left == right;
}

Result<std::vector<Match>> align(const Side& a, const Side& b, std::span<const MappedPair> mapping) {
  Aligner aligner(a, b);
  if (Status status = aligner.by_mapping(mapping); !status) return status;
  aligner.by_module();
  aligner.by_key(Evidence::name, 1, [](const Entry& entry) { return entry.name; });
  aligner.by_key(Evidence::similar_name, 0.9, [](const Entry& entry) { return similar_name(entry.name); });
  aligner.by_topology();
  aligner.by_order();
  return aligner.result();
}

}  // namespace sonde::compare
