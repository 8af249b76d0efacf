// The parts of a question, taken apart and checked: what is not known or out of range is an error that says so.
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

// In single quotes, cut short where it is long.
std::string in_quotes(std::string_view text);

// A query string: "run=a&tag=b%2Fc".
class Params {
 public:
  // `known`: the names that may occur, each once.
  static Result<Params> parse(std::string_view query, std::span<const std::string_view> known);

  // Null where it is not there.
  const std::string* find(std::string_view name) const noexcept;
  // Fails where it is not there.
  Result<std::string> text(std::string_view name) const;
  Result<std::int64_t> integer(std::string_view name, std::int64_t otherwise, std::int64_t least,
                               std::int64_t most) const;
  // Nothing where it is not there.
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
  double interval = 0;                    // steps, of smoothing; 0: that of the series
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

// A request body. Which of the fields may be there is said by whoever reads it.
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
  std::string when;
  std::string note;
  std::int64_t before = 0;
  std::int64_t after = 0;

  // `required` must be there, `known` may be.
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
