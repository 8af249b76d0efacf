// Parses and checks the parts of a question: unknown or out-of-range values are errors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/log.h"
#include "sonde/status.h"

namespace sonde::query {

// In single quotes, truncated if it is long.
std::string in_quotes(std::string_view text);

// A query string: "run=a&tag=b%2Fc".
class Params {
 public:
  // `known`: the allowed names, each at most once.
  static Result<Params> parse(std::string_view query, std::span<const std::string_view> known);

  // Null if it is missing.
  const std::string* find(std::string_view name) const noexcept;
  // Fails if it is missing.
  Result<std::string> text(std::string_view name) const;
  Result<std::int64_t> integer(std::string_view name, std::int64_t otherwise, std::int64_t least,
                               std::int64_t most) const;
  // Empty if it is missing.
  Result<std::optional<TagKind>> kind() const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

std::optional<TagKind> kind_of(std::string_view name) noexcept;

// One series of a request body.
struct SeriesName {
  std::string run;
  std::string tag;
  std::optional<std::int64_t> step = {};  // instead of that of the whole request
  double interval = 0;                    // steps, for smoothing; 0: that of the series
};

enum class AxisName : std::uint8_t { step, wall, relative };

// Either end may be open.
struct Span {
  std::optional<double> first;
  std::optional<double> last;
};

struct GroupName {
  std::string tag;
  std::vector<std::string> runs;
};

// A request body. Each caller decides which fields are allowed.
struct Body {
  std::vector<SeriesName> series;
  std::vector<GroupName> groups;
  AxisName axis = AxisName::step;
  Span range;
  std::optional<std::int64_t> step;
  int width = 800;
  double smooth = 0;
  std::string run;
  std::vector<std::string> tags;
  std::string statistic;
  int level = 0;
  std::int64_t tile = 0;
  std::string cell;
  std::string when;
  std::string note;
  std::int64_t before = 0;
  std::int64_t after = 0;
  std::int64_t number = 0;

  // `required` must be present, `known` may be.
  static Result<Body> parse(std::string_view json, std::span<const std::string_view> required,
                            std::span<const std::string_view> known);
};

inline constexpr std::size_t kMostSeries = 1'000;
inline constexpr std::size_t kMostTags = 10'000;
inline constexpr int kWidest = 16'384;
inline constexpr std::size_t kLargestBody = std::size_t{1} << 20;
inline constexpr std::size_t kLargestAnswer = std::size_t{256} << 20;  // of binary columns
inline constexpr std::size_t kLongestQuery = std::size_t{64} << 10;

}  // namespace sonde::query
