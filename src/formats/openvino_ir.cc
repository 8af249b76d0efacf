#include "formats/openvino_ir.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>

namespace sonde::openvino_ir {
namespace {

struct Tag {
  std::string_view name;
  bool opens = true;
  bool closes = false;  // also of <a/>
  std::vector<std::pair<std::string_view, std::string>> attributes;
  std::string_view text;  // between this tag and the one before it

  std::string get(std::string_view key) const {
    for (const auto& [name_of, value] : attributes) {
      if (name_of == key) return value;
    }
    return {};
  }
};

// &lt; and the like.
std::string unescaped(std::string_view text) {
  constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string out;
  while (!text.empty()) {
    bool found = false;
    for (const auto& [entity, character] : kEntities) {
      if (!text.starts_with(entity)) continue;
      out += character;
      text.remove_prefix(entity.size());
      found = true;
      break;
    }
    if (found) continue;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

constexpr std::string_view kBlanks = " \t\r\n";

// The tags of a text, one after the other; the first mistake ends it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool failed() const noexcept { return failed_; }

  std::optional<Tag> next() {
    for (;;) {
      const std::size_t open = rest_.find('<');
      if (open == std::string_view::npos) return {};
      Tag tag;
      tag.text = rest_.substr(0, open);
      rest_.remove_prefix(open + 1);
      if (rest_.starts_with("!--")) {
        if (!skip_behind("-->")) return {};
      } else if (rest_.starts_with("?") || rest_.starts_with("!")) {
        if (!skip_behind(">")) return {};
      } else {
        return read(std::move(tag));
      }
    }
  }

 private:
  std::optional<Tag> fail() {
    failed_ = true;
    return {};
  }
  bool skip_behind(std::string_view end) {
    const std::size_t at = rest_.find(end);
    failed_ = at == std::string_view::npos;
    rest_.remove_prefix(failed_ ? rest_.size() : at + end.size());
    return !failed_;
  }
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size())); }

  std::optional<Tag> read(Tag tag) {
    if (rest_.starts_with("/")) {
      rest_.remove_prefix(1);
      tag.opens = false;
      tag.closes = true;
    }
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n/>"), rest_.size());
    tag.name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    for (;;) {
      skip_blanks();
      if (rest_.starts_with("/>")) {
        tag.closes = true;
        rest_.remove_prefix(2);
        return tag;
      }
      if (rest_.starts_with(">")) {
        rest_.remove_prefix(1);
        return tag;
      }
      const std::size_t equals = rest_.find('=');
      if (equals == std::string_view::npos || equals + 1 >= rest_.size()) return fail();
      const std::string_view key = rest_.substr(0, std::min(rest_.find_first_of(kBlanks), equals));
      const char quote = rest_[equals + 1];
      if (quote != '"' && quote != '\'') return fail();
      rest_.remove_prefix(equals + 2);
      const std::size_t close = rest_.find(quote);
      if (close == std::string_view::npos) return fail();
      tag.attributes.emplace_back(key, unescaped(rest_.substr(0, close)));
      rest_.remove_prefix(close + 1);
    }
  }

  std::string_view rest_;
  bool failed_ = false;
};

// Names are separated by commas; a comma of a name has a backslash before it.
std::vector<std::string> names_of(std::string_view text) {
  std::vector<std::string> names;
  if (text.empty()) return names;
  names.emplace_back();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      names.back() += text[++i];
    } else if (text[i] == ',') {
      names.emplace_back();
    } else {
      names.back() += text[i];
    }
  }
  return names;
}

std::int64_t number_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  std::int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value < 0 ? -1 : value;
}

class Decoder {
 public:
  Result<Model> run(std::string_view xml) {
    Scanner scanner(xml);
    while (const std::optional<Tag> tag = scanner.next()) {
      if (tag->opens) open(*tag);
      if (tag->closes && !close(*tag)) return Status(Code::corrupt, "its tags are not nested");
    }
    if (scanner.failed() || !path_.empty()) return Status(Code::corrupt, "it is damaged or truncated");
    if (model_.layers.empty()) return Status(Code::corrupt, "it has no layers");
    return std::move(model_);
  }

 private:
  bool at(std::initializer_list<std::string_view> path) const {
    return std::equal(path_.begin(), path_.end(), path.begin(), path.end());
  }

  void open(const Tag& tag) {
    path_.emplace_back(tag.name);
    if (at({"net", "layers", "layer"})) {
      model_.layers.push_back({tag.get("id"), tag.get("name"), tag.get("type"), {}});
    } else if (at({"net", "layers", "layer", "output", "port"})) {
      model_.layers.back().outputs.push_back({tag.get("id"), tag.get("precision"), names_of(tag.get("names")), {}});
    } else if (at({"net", "edges", "edge"})) {
      model_.edges.push_back({tag.get("from-layer"), tag.get("from-port"), tag.get("to-layer")});
    }
  }

  bool close(const Tag& tag) {
    if (path_.empty() || path_.back() != tag.name) return false;
    if (at({"net", "layers", "layer", "output", "port", "dim"})) {
      model_.layers.back().outputs.back().dims.push_back(number_of(tag.text));
    }
    path_.pop_back();
    return true;
  }

  Model model_;
  std::vector<std::string_view> path_;
};

}  // namespace

Result<Model> decode(std::string_view xml) { return Decoder().run(xml); }

}  // namespace sonde::openvino_ir
