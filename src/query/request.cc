#include "query/request.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/suggest.h"

namespace sonde::query {
namespace {

namespace dom = simdjson::dom;

Status wrong(std::string message) { return {Code::invalid_argument, std::move(message)}; }

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Nothing if an escape is not one.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  std::string out(1, '\'');
  out.append(text.substr(0, kLongest)).append(text.size() > kLongest ? "...'" : "'");
  return out;
}

std::optional<TagKind> kind_of(std::string_view name) noexcept {
  for (int i = 0; i <= static_cast<int>(TagKind::statistics); ++i) {
    if (to_string(static_cast<TagKind>(i)) == name) return static_cast<TagKind>(i);
  }
  return std::nullopt;
}

Result<Params> Params::parse(std::string_view query, std::span<const std::string_view> known) {
  if (query.size() > kLongestQuery) return Status(Code::exhausted, "the address is too long");
  Params params;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.empty()) continue;
    const std::size_t equals = std::min(part.find('='), part.size());
    std::optional<std::string> name = decoded(part.substr(0, equals));
    std::optional<std::string> value = decoded(part.substr(std::min(part.size(), equals + 1)));
    if (!name || !value) return wrong(in_quotes(part) + " has a % without two hexadecimal digits after it");
    if (std::ranges::find(known, *name) == known.end()) {
      return wrong("there is no parameter " + in_quotes(*name) +
                   (known.empty() ? "; none is known" : "; known are " + base::enumerated(known)));
    }
    if (params.find(*name) != nullptr) return wrong("the parameter " + in_quotes(*name) + " is given twice");
    params.values_.emplace_back(*std::move(name), *std::move(value));
  }
  return params;
}

const std::string* Params::find(std::string_view name) const noexcept {
  for (const auto& [known, value] : values_) {
    if (known == name) return &value;
  }
  return nullptr;
}

Result<std::string> Params::text(std::string_view name) const {
  const std::string* value = find(name);
  if (value == nullptr) return wrong("the parameter " + in_quotes(name) + " is missing");
  return *value;
}

Result<std::int64_t> Params::integer(std::string_view name, std::int64_t otherwise, std::int64_t least,
                                     std::int64_t most) const {
  const std::string* value = find(name);
  if (value == nullptr) return otherwise;
  std::int64_t number = 0;
  const char* const end = value->data() + value->size();
  const auto [at, error] = std::from_chars(value->data(), end, number);
  if (error != std::errc() || at != end || number < least || number > most) {
    return wrong(in_quotes(name) + " must be an integer from " + std::to_string(least) + " to " + std::to_string(most) +
                 ", not " + in_quotes(*value));
  }
  return number;
}

Result<std::optional<TagKind>> Params::kind() const {
  const std::string* value = find("kind");
  if (value == nullptr) return std::optional<TagKind>();
  const std::optional<TagKind> kind = kind_of(*value);
  if (!kind) return wrong("there is no kind " + in_quotes(*value));
  return kind;
}

namespace {

// Reads the members of a request body into its fields.
class BodyReader {
 public:
  BodyReader(Body& body, std::span<const std::string_view> required, std::span<const std::string_view> known)
      : body_(body), required_(required), known_(known) {}

  Status read(const dom::object& object) {
    std::vector<std::string_view> seen;
    for (const auto [key, value] : object) {
      const bool expected =
          std::ranges::find(required_, key) != required_.end() || std::ranges::find(known_, key) != known_.end();
      if (!expected) return wrong("the request has an unknown member " + in_quotes(key));
      if (std::ranges::find(seen, key) != seen.end()) return wrong(in_quotes(key) + " is given twice");
      seen.push_back(key);
      if (Status status = member(key, value); !status) return status;
    }
    for (const std::string_view name : required_) {
      if (std::ranges::find(seen, name) == seen.end()) return wrong("the request lacks " + in_quotes(name));
    }
    return Status::success();
  }

 private:
  Status member(std::string_view key, const dom::element& value) {
    if (key == "series") return series(value);
    if (key == "groups") return groups(value);
    if (key == "axis") return axis(value);
    if (key == "range") return range(value);
    if (key == "step") return integer(key, value, body_.step.emplace(), INT64_MIN, INT64_MAX);
    if (key == "width") return width(value);
    if (key == "smooth") return smooth(value);
    if (key == "run") return text(key, value, body_.run);
    if (key == "tags") return tags(value);
    if (key == "statistic") return text(key, value, body_.statistic);
    if (key == "level") return level(value);
    if (key == "tile") return integer(key, value, body_.tile, INT64_MIN, INT64_MAX);
    if (key == "cell") return text(key, value, body_.cell);
    if (key == "when") return text(key, value, body_.when);
    if (key == "note") return text(key, value, body_.note);
    constexpr std::int64_t kMostSteps = 1'000'000;
    if (key == "before") return integer(key, value, body_.before, 0, kMostSteps);
    if (key == "number") return integer(key, value, body_.number, 0, kMostSteps);
    return integer(key, value, body_.after, 0, kMostSteps);
  }

  static Status text(std::string_view key, const dom::element& value, std::string& to) {
    std::string_view found;
    if (value.get(found) != simdjson::SUCCESS) return wrong(in_quotes(key) + " must be a text");
    to = found;
    return Status::success();
  }
  static Status integer(std::string_view key, const dom::element& value, std::int64_t& to, std::int64_t least,
                        std::int64_t most) {
    double number = 0;
    if (value.get(to) != simdjson::SUCCESS) {
      // 1e3 is an integer too.
      constexpr double kExact = 9007199254740992;
      if (value.get(number) != simdjson::SUCCESS || number != std::floor(number) || std::abs(number) > kExact) {
        return wrong(in_quotes(key) + " must be an integer");
      }
      to = static_cast<std::int64_t>(number);
    }
    if (to < least || to > most) {
      return wrong(in_quotes(key) + " must be from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return Status::success();
  }
  Status width(const dom::element& value) {
    std::int64_t pixels = 0;
    if (Status status = integer("width", value, pixels, 1, kWidest); !status) return status;
    body_.width = static_cast<int>(pixels);
    return Status::success();
  }
  Status level(const dom::element& value) {
    constexpr std::int64_t kHighest = 48;  // a cell of all steps that doubles can tell apart
    std::int64_t found = 0;
    if (Status status = integer("level", value, found, 0, kHighest); !status) return status;
    body_.level = static_cast<int>(found);
    return Status::success();
  }
  Status smooth(const dom::element& value) {
    if (value.get(body_.smooth) != simdjson::SUCCESS || !(body_.smooth >= 0) || !(body_.smooth < 1)) {
      return wrong("'smooth' must be a number from 0 to below 1");
    }
    return Status::success();
  }
  Status axis(const dom::element& value) {
    std::string name;
    if (Status status = text("axis", value, name); !status) return status;
    if (name == "step") {
      body_.axis = AxisName::step;
    } else if (name == "wall") {
      body_.axis = AxisName::wall;
    } else if (name == "relative") {
      body_.axis = AxisName::relative;
    } else {
      return wrong("'axis' must be step, wall or relative, and not " + in_quotes(name));
    }
    return Status::success();
  }
  Status range(const dom::element& value) {
    if (value.is_null()) return Status::success();
    dom::array ends;
    if (value.get(ends) != simdjson::SUCCESS || ends.size() != 2) {
      return wrong("'range' must be an array of two numbers, either of which may be null");
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const auto end = ends.at(i);
      double number = 0;
      if (end.is_null()) continue;
      if (end.get(number) != simdjson::SUCCESS) return wrong("the ends of 'range' must be numbers or null");
      (i == 0 ? body_.range.first : body_.range.last) = number;
    }
    if (body_.range.first && body_.range.last && *body_.range.first > *body_.range.last) {
      return wrong("the start of 'range' is after its end");
    }
    return Status::success();
  }
  static Result<dom::object> object(std::string_view what, const dom::element& value) {
    dom::object found;
    if (value.get(found) != simdjson::SUCCESS) return wrong(in_quotes(what) + " must hold objects");
    return found;
  }
  static Status member_of_series(std::string_view key, const dom::element& value, SeriesName& name) {
    if (key == "run") return text(key, value, name.run);
    if (key == "tag") return text(key, value, name.tag);
    if (key == "step") return integer(key, value, name.step.emplace(), INT64_MIN, INT64_MAX);
    if (key != "interval") {
      return wrong("a series can have a 'run', a 'tag', a 'step' and an 'interval', but not " + in_quotes(key));
    }
    if (value.get(name.interval) != simdjson::SUCCESS || !(name.interval > 0)) {
      return wrong("'interval' must be a number of steps above 0");
    }
    return Status::success();
  }
  Status series(const dom::element& value) {
    dom::array items;
    if (value.get(items) != simdjson::SUCCESS) return wrong("'series' must be an array");
    for (const dom::element item : items) {
      if (body_.series.size() == kMostSeries) return too_many();
      const Result<dom::object> one = object("series", item);
      if (!one) return one.error();
      SeriesName& name = body_.series.emplace_back();
      int found = 0;
      for (const auto [key, part] : *one) {
        if (Status status = member_of_series(key, part, name); !status) return status;
        found |= key == "run" ? 1 : key == "tag" ? 2 : 0;
      }
      if (found != 3) return wrong("a series must have a 'run' and a 'tag'");
    }
    return Status::success();
  }
  Status groups(const dom::element& value) {
    dom::array items;
    if (value.get(items) != simdjson::SUCCESS) return wrong("'groups' must be an array");
    std::size_t total = 0;
    for (const dom::element item : items) {
      const Result<dom::object> one = object("groups", item);
      if (!one) return one.error();
      GroupName& group = body_.groups.emplace_back();
      if (body_.groups.size() > kMostSeries) return too_many();
      dom::array runs;
      if ((*one)["runs"].get(runs) != simdjson::SUCCESS || one->size() != 2) {
        return wrong("a group must have a 'tag' and 'runs', an array of names, and nothing else");
      }
      dom::element tag;
      if ((*one)["tag"].get(tag) != simdjson::SUCCESS) return wrong("a group must have a 'tag'");
      if (Status status = text("tag", tag, group.tag); !status) return status;
      for (const dom::element run : runs) {
        if (++total > kMostRuns) return too_many();
        if (Status status = text("runs", run, group.runs.emplace_back()); !status) return status;
      }
    }
    return Status::success();
  }
  Status tags(const dom::element& value) {
    dom::array items;
    if (value.get(items) != simdjson::SUCCESS) return wrong("'tags' must be an array of names");
    for (const dom::element item : items) {
      if (body_.tags.size() == kMostTags) {
        return {Code::exhausted, "at most 10,000 tags fit into a request; send several"};
      }
      if (Status status = text("tags", item, body_.tags.emplace_back()); !status) return status;
    }
    return Status::success();
  }
  static Status too_many() {
    return {Code::exhausted,
            "at most 1,000 series or groups and 10,000 of their runs fit into a request; send several"};
  }

  static constexpr std::size_t kMostRuns = 10'000;
  Body& body_;
  std::span<const std::string_view> required_;
  std::span<const std::string_view> known_;
};

}  // namespace

Result<Body> Body::parse(std::string_view json, std::span<const std::string_view> required,
                         std::span<const std::string_view> known) {
  if (json.size() > kLargestBody) return Status(Code::exhausted, "a request body has at most 1 MiB");
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root); error != simdjson::SUCCESS) {
    return wrong(std::string("the request body is not JSON: ") + simdjson::error_message(error));
  }
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) return wrong("the request body must be a JSON object");
  Body body;
  if (Status status = BodyReader(body, required, known).read(object); !status) return status;
  return body;
}

}  // namespace sonde::query
