#include "embed/projector.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/read_inside.h"

namespace sonde::embed {
namespace {

constexpr std::size_t kLargestFile = std::size_t{8} << 30;
constexpr std::size_t kDeepest = 32;  // messages in messages

Status bad(std::string_view name, const std::string& what) {
  return {Code::corrupt, std::string(1, '\'').append(name).append("' ").append(what)};
}

// The tokens of the text format: names, values, braces.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() {
    skip_space();
    return at_ >= text_.size();
  }
  bool take(char wanted) {
    if (at_end() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  std::string word() {
    skip_space();
    const std::size_t first = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  std::string_view("_.+-").find(text_[at_]) != std::string_view::npos)) {
      ++at_;
    }
    return std::string(text_.substr(first, at_ - first));
  }
  // A quoted text or a word; false if there is neither.
  bool value(std::string& out) {
    skip_space();
    out.clear();
    if (at_ >= text_.size()) return false;
    const char quote = text_[at_];
    if (quote != '"' && quote != '\'') {
      out = word();
      return !out.empty();
    }
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_];
    }
    if (at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  std::size_t line() const {
    return 1 + static_cast<std::size_t>(std::count(
                   text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n'));
  }

 private:
  void skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (std::strchr(" \t\r\n,;", text_[at_]) != nullptr && text_[at_] != '\0') {
        ++at_;
      } else {
        return;
      }
    }
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

// Calls field(path, value) for each scalar, with the path of its messages: "embeddings.sprite.image_path". `opened` is
// called at the start of each message.
template <class Field, class Opened>
bool read_message(Scanner& scanner, Field field, Opened opened) {
  std::vector<std::string> path;
  while (!scanner.at_end()) {
    if (scanner.take('}')) {
      if (path.empty()) return false;
      path.pop_back();
      continue;
    }
    path.push_back(scanner.word());
    if (path.back().empty() || path.size() > kDeepest) return false;
    std::string name = path[0];
    for (std::size_t i = 1; i < path.size(); ++i) name.append(".").append(path[i]);
    const bool colon = scanner.take(':');
    if (scanner.take('{')) {
      opened(name);
      continue;
    }
    std::string value;
    const bool list = colon && scanner.take('[');
    do {
      if (!colon || !scanner.value(value)) return false;
      field(name, value);
    } while (list && !scanner.take(']'));
    path.pop_back();
  }
  return path.empty();
}

std::size_t number_of(const std::string& text) {
  std::size_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc{} ? value : 0;
}

// The lines of a text, without the empty ones at its end.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (;;) {
    const std::size_t tab = line.find('\t');
    cells.emplace_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return cells;
    line.remove_prefix(tab + 1);
  }
}

}  // namespace

Result<std::vector<ProjectorEntry>> parse_projector_config(std::string_view text, std::string_view name) {
  Scanner scanner(text);
  std::vector<ProjectorEntry> entries;
  const auto field = [&](const std::string& path, const std::string& value) {
    if (entries.empty()) return;
    ProjectorEntry& entry = entries.back();
    if (path == "embeddings.tensor_name") entry.tensor_name = value;
    if (path == "embeddings.tensor_path") entry.tensor_path = value;
    if (path == "embeddings.metadata_path") entry.metadata_path = value;
    if (path == "embeddings.tensor_shape") entry.tensor_shape.push_back(number_of(value));
    if (path == "embeddings.sprite.image_path") entry.sprite_path = value;
    if (path == "embeddings.sprite.single_image_dim") {
      (entry.sprite_width == 0 ? entry.sprite_width : entry.sprite_height) = number_of(value);
    }
  };
  const auto opened = [&](const std::string& path) {
    if (path == "embeddings") entries.emplace_back();
  };
  if (!read_message(scanner, field, opened)) {
    return bad(
        name, "is not a projector configuration: line " + std::to_string(scanner.line()) + " is not valid text format");
  }
  return entries;
}

Result<Metadata> parse_metadata(std::string_view text, std::size_t points, std::string_view name) {
  const std::vector<std::string_view> lines = lines_of(text);
  Metadata metadata;
  const bool header = !lines.empty() && lines[0].find('\t') != std::string_view::npos;
  metadata.columns = header ? cells_of(lines[0]) : std::vector<std::string>{"label"};
  const std::size_t first = header ? 1 : 0;
  if (lines.size() - first != points) {
    return bad(name, "has " + std::to_string(lines.size() - first) + " rows of metadata, but there are " +
                         std::to_string(points) + " points");
  }
  for (std::size_t i = first; i < lines.size(); ++i) {
    std::vector<std::string> cells = cells_of(lines[i]);
    cells.resize(metadata.columns.size());
    metadata.rows.push_back(std::move(cells));
  }
  return metadata;
}

Result<Matrix> parse_tsv_points(std::string_view text, std::string_view name) {
  const std::vector<std::string_view> lines = lines_of(text);
  if (lines.empty()) return bad(name, "has no rows, so there are no points");
  Matrix points;
  points.rows = lines.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const char* at = lines[i].data();
    const char* end = at + lines[i].size();
    const std::size_t before = points.values.size();
    while (at < end) {
      while (at < end && (*at == '\t' || *at == ' ' || *at == '+')) ++at;
      if (at == end) break;
      float value = 0;
      const auto parsed = std::from_chars(at, end, value);
      if (parsed.ec == std::errc::invalid_argument) {
        return bad(name, "has something that is not a number in line " + std::to_string(i + 1));
      }
      points.values.push_back(value);
      at = parsed.ptr;
    }
    if (i == 0) points.columns = points.values.size();
    if (points.values.size() - before != points.columns) {
      return bad(name, "has " + std::to_string(points.values.size() - before) + " numbers in line " +
                           std::to_string(i + 1) + ", but " + std::to_string(points.columns) + " in the first");
    }
  }
  if (points.columns == 0) return bad(name, "has no columns, so points have no features");
  if (Status status = check_finite(points, name); !status) return status;
  return points;
}

Result<ProjectorData> ProjectorData::open(ReadFile read) {
  ProjectorData data;
  data.read_ = std::move(read);
  const Result<std::string> text = data.read_(std::string(kProjectorConfig));
  if (!text) return text.error();
  Result<std::vector<ProjectorEntry>> entries = parse_projector_config(*text, kProjectorConfig);
  if (!entries) return entries.error();
  data.entries_ = *std::move(entries);
  return data;
}

Result<ProjectorData> ProjectorData::open_directory(const std::string& directory) {
  return open([directory](const std::string& path) { return base::read_inside(directory, path, kLargestFile); });
}

Result<const ProjectorEntry*> ProjectorData::find(std::string_view tensor_name) const {
  if (tensor_name.empty() && entries_.size() == 1) return &entries_[0];
  std::string names;
  for (const ProjectorEntry& entry : entries_) {
    if (entry.tensor_name == tensor_name) return &entry;
    names.append(names.empty() ? "'" : ", '").append(entry.tensor_name).append("'");
  }
  return Status{Code::not_found, std::string("the projector data has no tensor '")
                                     .append(tensor_name)
                                     .append("'; it has ")
                                     .append(names.empty() ? "none" : names)};
}

Result<Matrix> ProjectorData::points(const ProjectorEntry& entry) const {
  if (entry.tensor_path.empty()) {
    return Status{Code::unsupported, "the tensor '" + entry.tensor_name +
                                         "' is in a checkpoint, which is not read here; a tensor_path names a file"};
  }
  const Result<std::string> text = read_(entry.tensor_path);
  if (!text) return text.error();
  const bool raw = entry.tensor_path.ends_with(".bytes") || (entry.tensor_path.ends_with(".bin"));
  if (!raw) return parse_tsv_points(*text, entry.tensor_path);
  if (entry.tensor_shape.size() != 2 || entry.tensor_shape[0] == 0 || entry.tensor_shape[1] == 0 ||
      text->size() / sizeof(float) / entry.tensor_shape[0] != entry.tensor_shape[1] ||
      text->size() != entry.tensor_shape[0] * entry.tensor_shape[1] * sizeof(float)) {
    return bad(entry.tensor_path, "has " + std::to_string(text->size()) +
                                      " bytes, which is not the size of its tensor_shape in 4-byte floats");
  }
  Matrix points(entry.tensor_shape[0], entry.tensor_shape[1]);
  std::memcpy(points.values.data(), text->data(), text->size());
  if (Status status = check_finite(points, entry.tensor_path); !status) return status;
  return points;
}

Result<Metadata> ProjectorData::metadata(const ProjectorEntry& entry, std::size_t points) const {
  if (entry.metadata_path.empty()) return Metadata{};
  const Result<std::string> text = read_(entry.metadata_path);
  if (!text) return text.error();
  return parse_metadata(*text, points, entry.metadata_path);
}

Result<std::string> ProjectorData::sprite(const ProjectorEntry& entry) const {
  if (entry.sprite_path.empty())
    return Status{Code::not_found, "the tensor '" + entry.tensor_name + "' has no sprites"};
  return read_(entry.sprite_path);
}

std::string projector_config_text(const ProjectorEntry& entry) {
  std::string text = "embeddings {\n  tensor_name: \"" + entry.tensor_name + "\"\n";
  if (!entry.tensor_path.empty()) text += "  tensor_path: \"" + entry.tensor_path + "\"\n";
  for (std::size_t size : entry.tensor_shape) text += "  tensor_shape: " + std::to_string(size) + "\n";
  if (!entry.metadata_path.empty()) text += "  metadata_path: \"" + entry.metadata_path + "\"\n";
  return text + "}\n";
}

}  // namespace sonde::embed
