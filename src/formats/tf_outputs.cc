#include <algorithm>
#include <charconv>

#include "formats/tf_op_outputs.h"

namespace sonde::formats::tf {
namespace {

constexpr std::int64_t kMostOutputs = 65536;  // a number from a file is not trusted

std::string_view outputs_of(std::string_view op) noexcept {
  const auto table = op_outputs();
  const auto found = std::ranges::lower_bound(table, op, {}, &OpOutputs::op);
  return found != table.end() && found->op == op ? found->outputs : std::string_view("output:T");
}

std::optional<int> number(std::string_view text) noexcept {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// "T=1", "T" or "10".
int type_of(const NodeDef& node, std::string_view type) {
  if (const auto fixed = number(type)) return *fixed;
  const std::size_t equals = type.find('=');
  if (const auto found = type_attribute(node, type.substr(0, equals))) return *found;
  return equals == std::string_view::npos ? 0 : number(type.substr(equals + 1)).value_or(0);
}

// The types of what one part of the description names.
std::vector<int> types_of(const NodeDef& node, std::string_view type) {
  if (type.starts_with('@')) {
    const auto message = node.attribute(type.substr(1));
    const auto list = message ? decode_attribute(*message) : Result<Attribute>(Attribute{});
    if (!list || list->kind != Attribute::Kind::type) return {};
    return {list->integers.begin(), list->integers.end()};
  }
  const std::size_t star = type.find('*');
  if (star == std::string_view::npos) return {type_of(node, type)};
  const auto count = integer_attribute(node, type.substr(star + 1)).value_or(0);
  return std::vector<int>(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, kMostOutputs)),
                          type_of(node, type.substr(0, star)));
}

// Calls `take(name, types)` for each part of the description of a node's outputs until it returns true.
template <class Take>
void for_each_output(const NodeDef& node, const Take& take) {
  std::string_view rest = outputs_of(node.op);
  while (!rest.empty()) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    const std::string_view part = rest.substr(0, blank);
    const std::size_t colon = part.find(':');
    if (take(part.substr(0, colon), types_of(node, part.substr(colon + 1)))) return;
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
}

bool known(std::string_view op) noexcept {
  const auto table = op_outputs();
  return std::ranges::binary_search(table, op, {}, &OpOutputs::op);
}

}  // namespace

std::vector<int> output_types(const NodeDef& node) {
  std::vector<int> all;
  for_each_output(node, [&](std::string_view, const std::vector<int>& types) {
    all.insert(all.end(), types.begin(), types.end());
    return false;
  });
  return all;
}

std::optional<std::int64_t> output_index(const NodeDef& node, std::string_view output, std::int64_t index) {
  if (!known(node.op)) return index;  // its only output, whatever it is called
  std::int64_t before = 0;
  std::optional<std::int64_t> found;
  for_each_output(node, [&](std::string_view name, const std::vector<int>& types) {
    const auto count = static_cast<std::int64_t>(types.size());
    if (name == output) {
      if (index < count) found = before + index;
      return true;
    }
    before += count;
    return false;
  });
  return found;
}

}  // namespace sonde::formats::tf
