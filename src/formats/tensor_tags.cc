#include "formats/tensor_tags.h"

#include <array>
#include <charconv>

namespace sonde {

namespace {
constexpr std::array<std::string_view, kKindCount> kKinds = {"activation", "gradient", "weight",
                                                             "update",     "input",    "output"};

// "kind 0" to "kind 255", each ended by a zero: a name lives as long as the program.
constexpr std::string_view kNumbered = "kind ";
using NumberedName = std::array<char, 9>;
constexpr auto kNumberedNames = [] {
  std::array<NumberedName, 256> names{};
  for (int number = 0; number < 256; ++number) {
    std::size_t size = 0;
    NumberedName& name = names[static_cast<std::size_t>(number)];
    for (const char c : kNumbered) name[size++] = c;
    for (int unit = number >= 100 ? 100 : number >= 10 ? 10 : 1; unit > 0; unit /= 10) {
      name[size++] = static_cast<char>('0' + number / unit % 10);
    }
  }
  return names;
}();
}  // namespace

std::string_view to_string(Kind kind) noexcept {
  const auto number = static_cast<std::size_t>(kind);
  if (number < kKinds.size()) return kKinds[number];
  return kind == Kind::unknown ? "unknown" : kNumberedNames[number].data();
}

namespace tags {
namespace {

constexpr std::string_view kEvaluation = "eval/";

std::string_view suffix_of(Plugin plugin) noexcept {
  switch (plugin) {
    case Plugin::images: return "/image";
    case Plugin::audio: return "/audio";
    default: return "";
  }
}

std::string escape(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == '%') {
      out += "%25";
    } else if (c == '#') {
      out += "%23";
    } else {
      out += c;
    }
  }
  const std::size_t slash = out.rfind('/');
  const std::string last = slash == std::string::npos ? out : out.substr(slash + 1);
  if (last == "image") out.replace(out.size() - 5, 1, "%69");
  if (last == "audio") out.replace(out.size() - 5, 1, "%61");
  return out;
}

std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned value = 0;
    if (i + 3 > text.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
    if (error != std::errc{} || end != text.data() + i + 3) return std::nullopt;
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

}  // namespace

std::optional<Kind> kind_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i] == name) return static_cast<Kind>(i);
  }
  if (!name.starts_with(kNumbered)) return std::nullopt;
  std::uint8_t number = 0;
  std::from_chars(name.data() + kNumbered.size(), name.data() + name.size(), number);
  const auto kind = static_cast<Kind>(number);
  return to_string(kind) == name ? std::optional(kind) : std::nullopt;
}

std::string tag_of(const TensorId& id, Plugin plugin) {
  std::string tag;
  if (id.evaluation) tag += kEvaluation;
  tag.append(to_string(id.kind)).append("/").append(escape(id.name));
  if (id.occurrence > 0) tag.append("#").append(std::to_string(id.occurrence));
  return tag.append(suffix_of(plugin));
}

std::optional<TaggedTensor> tensor_of(std::string_view tag) {
  TaggedTensor found;
  if (tag.starts_with(kEvaluation)) {
    found.id.evaluation = true;
    tag.remove_prefix(kEvaluation.size());
  }
  const std::size_t slash = tag.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto kind = kind_of(tag.substr(0, slash));
  if (!kind) return std::nullopt;
  found.id.kind = *kind;
  tag.remove_prefix(slash + 1);
  for (Plugin plugin : {Plugin::images, Plugin::audio}) {
    if (tag.ends_with(suffix_of(plugin))) {
      found.plugin = plugin;
      tag.remove_suffix(suffix_of(plugin).size());
      break;
    }
  }
  if (const std::size_t hash = tag.find('#'); hash != std::string_view::npos) {
    const char* end = tag.data() + tag.size();
    const auto [at, error] = std::from_chars(tag.data() + hash + 1, end, found.id.occurrence);
    if (error != std::errc{} || at != end || found.id.occurrence == 0) return std::nullopt;
    tag = tag.substr(0, hash);
  }
  auto name = unescape(tag);
  if (!name || name->empty()) return std::nullopt;
  found.id.name = std::move(*name);
  return found;
}

}  // namespace tags
}  // namespace sonde
