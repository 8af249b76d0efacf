#include "media_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <utility>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/utf8.h"
#include "formats/csv.h"
#include "interrupt.h"
#include "output.h"
#include "tables.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHex = "0123456789ABCDEF";

void put_escaped(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  out += {'%', kHex[byte >> 4], kHex[byte & 15]};
}

std::string checksum(std::string_view text) {
  std::array<char, 16> sum;
  const auto end = std::to_chars(sum.data(), sum.data() + sum.size(), base::crc32c(base::as_bytes(text)), 16);
  return "%~" + std::string(sum.data(), end.ptr);
}

// Whether a file that is written here may have this name.
bool like_a_file(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 11> kEnds = {".png", ".jpg", ".gif",  ".bmp", ".bin",  ".wav",
                                                      ".md",  ".csv", ".json", ".pb",  ".pbtxt"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

// One folder of a path. Different names stay different, except names of more than 200 bytes, which end with a checksum.
std::string path_part(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  const bool is_utf8 = base::valid_utf8(name) == name;
  const std::size_t dot = like_a_file(name) ? name.rfind('.') : std::string_view::npos;
  constexpr std::string_view kUnsafe = "%/\\:*?\"<>|";
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    const bool unsafe =
        byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_utf8) || kUnsafe.find(name[i]) != std::string_view::npos;
    if (unsafe || i == dot || name == "." || name == "..") {
      put_escaped(out, name[i]);
    } else {
      out += name[i];
    }
  }
  if (out.empty()) return "%";
  if (out.size() <= kLongest) return out;
  std::size_t cut = kLongest - 10;
  while (!base::begins_character(out[cut])) --cut;  // between characters
  return out.substr(0, cut) + checksum(name);
}

void put_parts(std::string& out, std::string_view name) {
  while (true) {
    const std::size_t slash = name.find('/');
    out += path_part(name.substr(0, slash)) + "/";
    if (slash == std::string_view::npos) return;
    name.remove_prefix(slash + 1);
  }
}

std::string_view image_extension(std::string_view bytes) noexcept {
  if (bytes.starts_with("\x89PNG")) return "png";
  if (bytes.starts_with("\xff\xd8\xff")) return "jpg";
  if (bytes.starts_with("GIF8")) return "gif";
  return bytes.starts_with("BM") ? "bmp" : "bin";
}

std::string_view audio_extension(std::string_view bytes) noexcept { return bytes.starts_with("RIFF") ? "wav" : "bin"; }

}  // namespace

std::string media_path(std::string_view run, std::string_view tag) {
  std::string path;
  if (run != ".") put_parts(path, run);
  put_parts(path, tag);
  constexpr std::size_t kLongest = 1000;  // the system accepts four times as much, including the path before it
  if (path.size() <= kLongest) return path;
  const std::string sum = checksum(path);
  path.resize(path.rfind('/', kLongest) + 1);
  return path + sum + "/";
}

MediaFiles::MediaFiles(std::string folder) : folder_(std::move(folder)), temporary_(temporary_path(folder_)) {
  csv::put_row(manifest_, {"file", "run", "tag", "step", "wall_time", "label"}, csv::LineEnd::lf);
}

MediaFiles::~MediaFiles() {
  std::error_code error;
  if (!finished_) fs::remove_all(temporary_, error);
}

Result<std::unique_ptr<MediaFiles>> MediaFiles::create(const std::string& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && (!fs::is_directory(folder, error) || !fs::is_empty(folder, error))) {
    return Status(Code::invalid_argument, "'" + folder + "' already exists: name a new or an empty folder with -o");
  }
  catch_interrupts();
  std::unique_ptr<MediaFiles> files(new MediaFiles(folder));
  if (Status status = base::make_directories(files->temporary_); !status) return about_path(status, folder);
  return files;
}

Status MediaFiles::add(const Run& run, const Tag& tag, const ValueRef& value) {
  std::vector<Item> items;
  if (tag.kind == TagKind::images) {
    const Result<EncodedImages> images = run.images(value);
    if (!images) return images.error();
    for (const std::string& file : images->files) items.push_back({file, image_extension(file), ""});
    return write(run, tag, value, items);
  }
  if (tag.kind == TagKind::audio) {
    const Result<std::vector<AudioClip>> clips = run.audio(value);
    if (!clips) return clips.error();
    for (const AudioClip& clip : *clips) items.push_back({clip.file, audio_extension(clip.file), clip.label});
    return write(run, tag, value, items);
  }
  const Result<std::vector<std::string>> texts = run.text(value);
  if (!texts) return texts.error();
  for (const std::string& text : *texts) items.push_back({text, "md", ""});
  return write(run, tag, value, items);
}

Status MediaFiles::add(const Run& run, const Tag& tag, const ValueRef& value, std::string_view bytes,
                       std::string_view extension) {
  return write(run, tag, value, {{bytes, extension, ""}});
}

Status MediaFiles::write(const Run& run, const Tag& tag, const ValueRef& value, const std::vector<Item>& items) {
  const std::string step = std::to_string(value.step);
  const std::string folder = media_path(run.name(), tag.name);
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::string stem = folder + step;
    if (items.size() > 1) stem.append("-").append(std::to_string(i));
    // The same step twice, or run "a/b" with tag "c" beside run "a" with tag "b/c".
    std::string name = stem + "." + std::string(items[i].extension);
    for (int again = 2; !names_.insert(name).second; ++again) {
      name = stem + "~" + std::to_string(again) + "." + std::string(items[i].extension);
    }
    if (i == 0) {
      if (Status status = base::make_directories(base::join_path(temporary_, folder)); !status) return status;
    }
    if (Status status = base::write_file(base::join_path(temporary_, name), items[i].bytes); !status) return status;
    std::string time;
    put_finite(time, Cell::Type::time, value.wall_time);
    csv::put_row(manifest_,
                 {base::valid_utf8(name), base::valid_utf8(run.name()), base::valid_utf8(tag.name), step, time,
                  base::valid_utf8(items[i].label)},
                 csv::LineEnd::lf);
  }
  return Status::success();
}

Status MediaFiles::finish() {
  if (Status status = base::write_file(base::join_path(temporary_, "manifest.csv"), manifest_); !status) return status;
  if (Status status = move_into_place(temporary_, folder_); !status) return status;
  finished_ = true;
  return Status::success();
}

}  // namespace sonde::cli
