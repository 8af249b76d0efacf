#include "formats/run_layout.h"

#include <charconv>
#include <cstdio>

namespace sonde::run_layout {
namespace {

constexpr std::string_view kEventsBegin = "events.out.tfevents.";
constexpr std::string_view kEventsMark = "tfevents";
constexpr std::string_view kStatisticsBegin = "stats.";
constexpr std::string_view kStatisticsEnd = ".tfrecord";
constexpr std::string_view kRingBegin = "flight-";
constexpr std::string_view kExternalRings = ".elsewhere";
constexpr std::string_view kEvaluation = "eval-";
constexpr std::string_view kDigits = "0123456789";

std::string joined(std::string_view a, std::string_view b, std::string_view c, std::string_view d = {}) {
  std::string text(a);
  return text.append(b).append(c).append(d);
}

}  // namespace

bool is_folder(std::string_view name) noexcept {
  return name == kTensors || name == kTables || name == kCheckpoints || name == kCaptures;
}

std::string event_file(std::string_view writer, std::string_view suffix) {
  return joined(kEventsBegin, writer, suffix);
}

bool is_event_file(std::string_view name) noexcept { return name.find(kEventsMark) != std::string_view::npos; }

bool is_event_file_of(std::string_view name, std::string_view writer) noexcept {
  if (writer.empty() || !name.starts_with(kEventsBegin)) return false;
  name.remove_prefix(kEventsBegin.size());
  if (!name.starts_with(writer)) return false;
  return name.size() == writer.size() || kDigits.find(name[writer.size()]) == std::string_view::npos;
}

std::string statistics_file(std::string_view writer, std::string_view suffix) {
  return joined(kStatisticsBegin, writer, suffix, kStatisticsEnd);
}

bool is_statistics_file(std::string_view name) noexcept {
  return name.starts_with(kStatisticsBegin) && name.ends_with(kStatisticsEnd) && !is_event_file(name);
}

std::string_view writer_of(std::string_view name) noexcept {
  if (name.starts_with(kEventsBegin)) {
    name.remove_prefix(kEventsBegin.size());
  } else if (is_statistics_file(name) && name.size() > kStatisticsBegin.size() + kStatisticsEnd.size()) {
    name.remove_prefix(kStatisticsBegin.size());
    name.remove_suffix(kStatisticsEnd.size());
  }
  return name;
}

std::string ring_prefix(std::string_view host, std::uint64_t pid) {
  return joined(kRingBegin, host, "-", std::to_string(pid) + "-");
}

bool is_ring(std::string_view name) noexcept { return name.starts_with(kRingBegin) && name.ends_with(kRing); }

std::optional<std::string_view> host_of_ring(std::string_view name) noexcept {
  if (!is_ring(name) || name.size() < kRingBegin.size() + kRing.size()) return std::nullopt;
  name.remove_prefix(kRingBegin.size());
  name.remove_suffix(kRing.size());
  for (int i = 0; i < 2; ++i) {  // <k>, then <pid>; a host name may contain dashes
    const std::size_t dash = name.rfind('-');
    if (dash == std::string_view::npos || dash + 1 == name.size()) return std::nullopt;
    if (name.find_first_not_of(kDigits, dash + 1) != std::string_view::npos) return std::nullopt;
    name = name.substr(0, dash);
  }
  return name;
}

bool mentions_ring(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash != std::string_view::npos && path.find(kRingBegin, slash) != std::string_view::npos;
}

std::string external_rings_file(std::string_view writer) { return joined(kRingBegin, writer, kExternalRings); }

bool is_external_rings_file(std::string_view name) noexcept {
  return name.starts_with(kRingBegin) && name.ends_with(kExternalRings);
}

std::string tensors_stem(std::int64_t step, bool evaluation, std::string_view writer) {
  char text[32];
  const int length = std::snprintf(text, sizeof text, "%012lld", static_cast<long long>(step));
  return joined(evaluation ? kEvaluation : "", {text, static_cast<std::size_t>(length)}, ".", writer);
}

std::optional<std::int64_t> step_of_tensors(std::string_view name) noexcept {
  if (name.starts_with(kEvaluation)) name.remove_prefix(kEvaluation.size());
  const char* const end = name.data() + name.size();
  std::int64_t step = 0;
  const auto parsed = std::from_chars(name.data(), end, step);
  if (parsed.ec != std::errc{} || parsed.ptr == end || *parsed.ptr != '.') return std::nullopt;
  return step;
}

bool is_file_of_run(std::string_view name) noexcept {
  return is_event_file(name) || is_statistics_file(name) || is_ring(name) || is_external_rings_file(name) ||
         name == kControl || name == kControlState || name == kNote;
}

}  // namespace sonde::run_layout
