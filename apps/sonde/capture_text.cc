#include "capture_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <sstream>

#include "base/clock.h"
#include "base/file.h"
#include "base/input_file.h"
#include "base/utf8.h"
#include "formats/run_layout.h"
#include "sonde/tensor_io.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

constexpr std::size_t kLabel = 9;  // the widest label and two blanks
constexpr std::size_t kIndent = 4;
constexpr std::size_t kGapsShown = 10;

std::string local_time(double seconds) {
  const bool usable = seconds > 0 && seconds < 1e11;  // not NaN
  if (!usable) return "";
  const auto whole = static_cast<std::time_t>(std::floor(seconds));
  std::tm parts{};
  localtime_r(&whole, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

// Wrapped to the width of the terminal; in a pipe nothing is wrapped. Leading blanks stay.
std::vector<std::string> broken(const std::string& line, std::size_t room) {
  if (!is_terminal(stdout) || base::count_characters(line) <= room) return {line};
  const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
  std::vector<std::string> lines;
  std::string current(blanks, ' ');
  std::istringstream words(line);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && base::count_characters(current) + 1 + base::count_characters(word) > room) {
      lines.push_back(std::move(current));
      current.assign(blanks + 2, ' ');
    } else if (!first) {
      current += ' ';
    }
    current += word;
  }
  lines.push_back(std::move(current));
  return lines;
}

// "    label    text", with further lines of the text below each other.
std::string field(std::string_view label, const std::string& text, Style style, bool color) {
  const auto width = static_cast<std::size_t>(std::max(terminal_width(), 60));
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    for (const std::string& part : broken(harmless(line), width - kIndent - kLabel)) {
      const std::string left = out.empty() ? padded(std::string(label), kLabel) : std::string(kLabel, ' ');
      out.append(kIndent, ' ').append(styled(left, Style::dim, color));
      out.append(styled(part, style, color)).append("\n");
    }
  }
  return out;
}

std::string range_text(std::int64_t first, std::int64_t last) {
  return first == last ? "step " + std::to_string(first)
                       : "steps " + std::to_string(first) + " .. " + std::to_string(last);
}

// "steps 3 .. 9"; a job may also go back, or give all of its steps the same number. For training steps; not empty.
std::string numbers_text(const std::vector<std::int64_t>& steps) {
  const auto [least, most] = std::ranges::minmax(steps);
  const bool ascending = std::ranges::adjacent_find(steps, std::ranges::greater_equal()) == steps.end();
  if (steps.size() == 1 || ascending) return range_text(least, most);
  if (least == most) return counted(steps.size(), "time") + " step " + std::to_string(least);
  return counted(steps.size(), "step") + " with numbers from " + std::to_string(least) + " to " + std::to_string(most) +
         ", not ascending";
}

// For a step without an end. The reason is known only for the last step of a ring that can be read completely.
std::string unfinished_text(const CaptureInfo& info, const CapturedStep& step) {
  const std::string which = (step.evaluation ? "evaluation pass " : "step ") + std::to_string(step.step);
  const bool torn =
      std::ranges::any_of(info.dropped, [](const CaptureGap& gap) { return gap.what.starts_with("torn"); });
  if (info.cause == CaptureInfo::Cause::crash && !torn && &step == &info.steps.back()) {
    return "the ring ends in the middle of " + which +
           ": what came after it had not reached the ring when the process ended";
  }
  return "the end of " + which + " is missing";
}

std::string kept_text(const CaptureInfo& info, std::uint64_t bytes) {
  const std::vector<CapturedStep>& steps = info.steps;
  // If a trigger's capture holds nothing, the gaps say why.
  if (steps.empty() && info.cause != CaptureInfo::Cause::crash) return "nothing";
  if (steps.empty()) return "nothing: the ring holds no step, because the process ended before any had reached it";
  std::uint64_t tensors = 0;
  const CapturedStep* unfinished = nullptr;
  std::vector<std::int64_t> numbers;
  for (const CapturedStep& step : steps) {
    tensors += step.tensors.size();
    if (!step.complete) unfinished = &step;
    if (!step.evaluation) numbers.push_back(step.step);
  }
  const std::size_t evaluations = steps.size() - numbers.size();
  std::string text = numbers.empty() ? "" : numbers_text(numbers);
  if (evaluations > 0) {
    text += (text.empty() ? "" : ", ") + grouped(evaluations) +
            (evaluations == 1 ? " evaluation pass" : " evaluation passes");
  }
  text += ", " + counted(tensors, "tensor") + ", " + size_text(bytes);
  return unfinished == nullptr ? text : text + "; " + unfinished_text(info, *unfinished);
}

std::string values_text(const std::vector<std::pair<std::string, double>>& values) {
  std::string text;
  for (const auto& [expression, value] : values) {
    text.append(text.empty() ? "" : ", ").append(expression).append(" = ").append(number_text(value));
  }
  return text;
}

// Joins gaps with the same reason in consecutive steps.
std::vector<CaptureGap> joined_gaps(const CaptureInfo& info) {
  const auto follows = [&](const CaptureGap& next, const CaptureGap& gap) {
    return next.what == gap.what && next.reason == gap.reason && next.first_step >= gap.first_step &&
           std::ranges::none_of(info.steps, [&](const CapturedStep& step) {
             return step.step > gap.last_step && step.step < next.first_step;
           });
  };
  std::vector<CaptureGap> joined;
  for (const CaptureGap& next : info.dropped) {
    const auto gap = std::ranges::find_if(joined, [&](const CaptureGap& one) { return follows(next, one); });
    if (gap == joined.end()) {
      joined.push_back(next);
      continue;
    }
    gap->last_step = std::max(gap->last_step, next.last_step);
    gap->count += next.count;
  }
  return joined;
}

// "200 tensors, steps 10 .. 19: the flight ring had no room"
std::string gap_text(const CaptureGap& gap) {
  // For steps that never reached the capture only their number is known.
  if (gap.what == "all tensors" && gap.count > 0) {
    return "all tensors of " + counted(gap.count, "step") + ": " + gap.reason;
  }
  std::string what = gap.what;
  if (what == "tensors") {
    what = counted(gap.count, "tensor");
  } else if (gap.count > 1) {
    what += " (" + grouped(gap.count) + ")";
  }
  return what + ", " + range_text(gap.first_step, gap.last_step) + ": " + gap.reason;
}

Style style_of(const Origin& origin) {
  if (!origin.found) return origin.caveats.empty() ? Style::green : Style::plain;
  return origin.producers.front().unseen.empty() ? Style::red : Style::yellow;
}

// The first line says what happened; the others give details.
std::string origin_text(const Origin& origin, bool color) {
  const std::string text = origin.text();
  const std::size_t end = std::min(text.find('\n') + 1, text.size());
  return field("origin", text.substr(0, end), style_of(origin), color) +
         field("", text.substr(end), Style::plain, color);
}

// Where a step's file contradicts capture.json, as the end of a sentence. Reads only the header of the file, which also
// gives its length.
std::string damage(const Capture& capture, const CapturedStep& step) {
  const Result<TensorFile> file = capture.step_file(step);
  if (!file) return " are damaged: " + file.error().message();
  const std::string begin = " are damaged: '" + file->path() + "' ";
  for (const CapturedTensor& tensor : step.tensors) {
    const Result<TensorInfo> info = file->info(tensor.key);
    if (!info) return begin + "lacks " + tensor.key + ", which capture.json names";
    if (info->dtype != tensor.dtype || info->shape != tensor.shape) {
      return begin + "holds " + tensor.key + " with another type or shape than capture.json says";
    }
  }
  if (file->names().size() == step.tensors.size()) return "";
  return begin + "holds " + counted(file->names().size(), "tensor") + ", and capture.json names " +
         grouped(step.tensors.size());
}

}  // namespace

CaptureFiles files_of(const Capture& capture) {
  CaptureFiles files;
  if (const auto json = base::file_state(base::join_path(capture.directory(), run_layout::kCaptureFile)))
    files.bytes += json->size;
  std::uint64_t problems = 0;
  for (const CapturedStep& step : capture.steps()) {
    if (step.file.empty()) continue;
    const Result<base::FileState> state = base::file_state(base::join_path(capture.directory(), step.file));
    if (state) files.bytes += state->size;
    const std::string problem = state ? damage(capture, step) : " are missing: " + state.error().message();
    if (!problem.empty() && ++problems == 1) {
      files.problem = "the tensors of step " + std::to_string(step.step) + problem;
    }
  }
  if (problems > 1) files.problem += ", and " + grouped(problems - 1) + " more";
  return files;
}

std::string capture_text(const Capture& capture, const CaptureFiles& files, bool color) {
  CaptureInfo info = capture.info();
  info.dropped = joined_gaps(info);
  std::string directory = capture.directory();
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  // If nothing has reached the ring, no step is known.
  const bool stepless = info.steps.empty() && info.cause == CaptureInfo::Cause::crash;
  std::string facts = stepless ? "" : ", step " + std::to_string(info.step);
  if (const std::string time = local_time(info.wall_time); !time.empty()) {
    facts += ", " + time + ", " + duration_text(base::wall_seconds() - info.wall_time) + " ago";
  }
  if (!facts.empty()) facts.erase(0, 2);
  std::string out = "  " + styled(harmless(directory.substr(directory.rfind('/') + 1)), Style::cyan, color) + "  " +
                    styled(facts, Style::dim, color) + "\n";
  const auto add = [&](std::string_view label, const std::string& text, Style style = Style::plain) {
    if (!text.empty()) out += field(label, text, style, color);
  };
  if (info.cause == CaptureInfo::Cause::crash && info.pid != 0) {
    add("process", std::to_string(info.pid) + " on " + info.host + " ended without closing its log");
  }
  add("when", info.when);
  add("values", values_text(info.values));
  add("kept", kept_text(info, files.bytes));
  add("damaged", files.problem, Style::red);
  for (std::size_t i = 0; i < std::min(info.dropped.size(), kGapsShown); ++i) {
    add("lost", gap_text(info.dropped[i]), Style::yellow);
  }
  if (info.dropped.size() > kGapsShown) {
    add("lost", "and more: capture.json names all " + grouped(info.dropped.size()), Style::yellow);
  }
  // With no steps, "all values are finite" would be true but useless.
  if (info.steps.empty()) return out + field("origin", "unknown, because nothing was kept", Style::plain, color);
  return out + origin_text(find_origin(info), color);
}

}  // namespace sonde::cli
