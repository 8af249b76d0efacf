// sonde/checkpoint.h.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "base/replace_file.h"
#include "base/utf8.h"
#include "formats/run_layout.h"
#include "sonde/checkpoint.h"
#include "tensor_files/save.h"

namespace sonde {
namespace {

constexpr std::string_view kExtension = run_layout::kSafetensors;
constexpr std::string_view kOwnKeys = "sonde.";
constexpr std::size_t kLongestName = 100;

std::string folder_of(std::string_view run_directory) {
  return base::join_path(run_directory, run_layout::kCheckpoints);
}

std::string file_name(std::string_view name, std::int64_t step) {
  return std::string(name) + "-" + std::to_string(step) + std::string(kExtension);
}

struct Identity {
  std::string name;
  std::int64_t step = 0;
};

// The name and step that a file is named after. A name never ends with a dash, so "a--5" is step -5 of "a".
std::optional<Identity> parse_file_name(std::string_view file) {
  if (!file.ends_with(kExtension)) return std::nullopt;
  file.remove_suffix(kExtension.size());
  const std::size_t last = file.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == file.size() || file[last] != '-') return std::nullopt;
  const bool negative = last > 0 && file[last - 1] == '-';
  Identity found{std::string(file.substr(0, last - (negative ? 1 : 0)))};
  if (found.name.empty() || found.name.starts_with('.') || found.name.ends_with('-')) return std::nullopt;
  const char* const begin = file.data() + last + (negative ? 0 : 1);
  if (std::from_chars(begin, file.data() + file.size(), found.step).ec != std::errc()) return std::nullopt;
  return found;
}

Status check_name(std::string_view name) {
  const auto wrong = [&](std::string_view why) {
    return Status(Code::invalid_argument,
                  "the checkpoint's name '" + base::valid_utf8(name.substr(0, kLongestName)) + "' " + std::string(why));
  };
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (name.empty()) return {Code::invalid_argument, "a checkpoint needs a name, and this one is empty"};
  if (name.size() > kLongestName) return wrong("... is longer than 100 bytes");
  if (base::valid_utf8(name) != name) return wrong("is not UTF-8");
  if (std::ranges::any_of(name, is_control)) {
    return {Code::invalid_argument, "the checkpoint's name has a control character in it"};
  }
  if (name.find('/') != std::string_view::npos) return wrong("has a slash in it, but it becomes the name of a file");
  if (name.starts_with('.')) return wrong("begins with a dot, which would hide its files");
  if (name.ends_with('-')) return wrong("ends with a dash, which would look like the sign of the step");
  return Status::success();
}

Status check_count(std::string_view option, int count, std::string_view zero_keeps) {
  if (count >= 0) return Status::success();
  std::string message(option);
  message.append(" is ").append(std::to_string(count)).append(", but must be 0 or more: 0 keeps ");
  return {Code::invalid_argument, message.append(zero_keeps)};
}

std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Found {
  CheckpointInfo info;
  bool own = false;  // written by save_checkpoint under this name
};

Result<Found> read_head(const std::string& path, Identity identity) {
  const Result<base::FileState> state = base::file_state(path);
  if (!state) return state.error();
  const Result<TensorFile> file = TensorFile::open(path);
  if (!file) return file.error();
  if (file->format() != TensorFormat::safetensors) {
    return Status(Code::corrupt,
                  "'" + path + "' is not a safetensors file but " + std::string(to_string(file->format())));
  }
  Found found;
  CheckpointInfo& info = found.info;
  info.name = std::move(identity.name);
  info.step = identity.step;
  info.path = path;
  info.bytes = file->bytes();
  info.tensors = file->names().size();
  info.wall_time = static_cast<double>(state->modified) / 1e9;
  for (const auto& [key, value] : file->metadata()) {
    if (key == "sonde.name") {
      found.own = value == info.name;
    } else if (key == "sonde.time") {
      info.wall_time = to_number(value).value_or(info.wall_time);
    } else if (key == "sonde.metric") {
      info.metric = to_number(value).value_or(info.metric);
    } else if (key == "sonde.best") {
      info.lower_is_better = value != "highest";
    } else if (!key.starts_with(kOwnKeys)) {
      info.metadata.emplace_back(key, value);
    }
  }
  return found;
}

struct Candidate {
  Identity identity;
  std::string path;
  bool regular = true;
};

// Files that are named like a checkpoint; none if the folder does not exist yet.
Result<std::vector<Candidate>> candidates(const std::string& folder) {
  std::vector<Candidate> found;
  Result<base::Directory> directory = base::read_directory(folder);
  if (!directory) {
    if (directory.error().code() == Code::not_found && !base::file_state(folder).ok()) return found;
    return directory.error();
  }
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.type == base::DirectoryEntry::Type::directory) continue;
    std::optional<Identity> identity = parse_file_name(entry.name);
    if (!identity) continue;
    found.push_back(
        {*std::move(identity), base::join_path(folder, entry.name), entry.type == base::DirectoryEntry::Type::file});
  }
  return found;
}

// Removes those of this name that the options do not ask to keep, but never the one that was just saved.
Status retain(const std::string& folder, std::string_view name, const std::string& saved,
              const CheckpointOptions& options) {
  if (options.keep_last == 0) return Status::success();
  Result<std::vector<Candidate>> files = candidates(folder);
  if (!files) return files.error();
  std::vector<CheckpointInfo> own;
  for (Candidate& file : *files) {
    if (!file.regular || file.identity.name != name) continue;
    Result<Found> found = read_head(file.path, std::move(file.identity));
    if (found && found->own) own.push_back(std::move(found->info));  // unreadable files are not touched
  }
  const auto saved_later = [&](const CheckpointInfo& a, const CheckpointInfo& b) {
    if ((a.path == saved) != (b.path == saved)) return a.path == saved;
    return std::pair(a.wall_time, a.step) > std::pair(b.wall_time, b.step);
  };
  std::ranges::sort(own, saved_later);
  const auto keep_last = std::min(own.size(), static_cast<std::size_t>(options.keep_last));
  std::vector<CheckpointInfo> older(own.begin() + static_cast<std::ptrdiff_t>(keep_last), own.end());

  // The best of all, including those among the last: only the others are removed.
  std::erase_if(own, [](const CheckpointInfo& info) { return !std::isfinite(info.metric); });
  std::ranges::sort(own, [&](const CheckpointInfo& a, const CheckpointInfo& b) {
    if (a.metric != b.metric) return options.lower_is_better ? a.metric < b.metric : a.metric > b.metric;
    return saved_later(b, a);  // of equals the first that was reached
  });
  own.resize(std::min(own.size(), static_cast<std::size_t>(options.keep_best)));
  for (const CheckpointInfo& info : older) {
    if (std::ranges::find(own, info.path, &CheckpointInfo::path) != own.end()) continue;
    if (Status status = base::remove_file(info.path); !status) {
      return {status.code(), "the checkpoint '" + saved + "' is saved, but " + status.message()};
    }
  }
  return Status::success();
}

// The process that wrote a temporary file, "<name>-<step>.safetensors.part-<pid>-<count>".
std::optional<std::uint64_t> writer_of_part(std::string_view file) {
  constexpr std::string_view kPart = ".part-";
  const std::size_t part = file.rfind(kPart);
  if (part == std::string_view::npos || !parse_file_name(file.substr(0, part))) return std::nullopt;
  const std::string_view numbers = file.substr(part + kPart.size());
  std::uint64_t pid = 0;
  std::uint64_t count = 0;
  const auto first = std::from_chars(numbers.data(), numbers.data() + numbers.size(), pid);
  const char* const end = numbers.data() + numbers.size();
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, count);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return pid;
}

bool may_live(std::uint64_t pid) {
  return !base::file_state("/proc/self").ok() || base::file_state("/proc/" + std::to_string(pid)).ok();
}

// Removes temporary files of killed processes. The pid of a process on another machine means nothing here, and one of
// this machine may be in another container: for those the lock decides.
void tidy(const std::string& folder) {
  const Result<base::Directory> directory = base::read_directory(folder);
  if (!directory) return;
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.type != base::DirectoryEntry::Type::file || entry.link) continue;
    const std::optional<std::uint64_t> pid = writer_of_part(entry.name);
    if (!pid || may_live(*pid)) continue;
    const std::string path = base::join_path(folder, entry.name);
    const Result<base::FileLock> lock = base::FileLock::acquire(path);
    if (lock) (void)base::remove_file(path);  // if that fails, it only costs space
  }
}

// RUN/checkpoints, whose own name is on the disk too.
Status make_folder(std::string_view run_directory, const std::string& folder) {
  if (base::file_state(folder).ok()) return base::make_directories(folder);  // which reports if it is not a directory
  if (Status status = base::make_directories(folder); !status) return status;
  return base::sync_directory(run_directory.empty() ? "." : std::string(run_directory));
}

FileMetadata metadata_of(std::string_view name, std::int64_t step, const CheckpointOptions& options) {
  FileMetadata metadata = {{"sonde.name", std::string(name)},
                           {"sonde.step", std::to_string(step)},
                           {"sonde.time", number_text(base::wall_seconds())}};
  if (!std::isnan(options.metric)) {
    metadata.emplace_back("sonde.metric", number_text(options.metric));
    metadata.emplace_back("sonde.best", options.lower_is_better ? "lowest" : "highest");
  }
  metadata.insert(metadata.end(), options.metadata.begin(), options.metadata.end());
  return metadata;
}

// The existing names, each once.
std::string names_text(const std::vector<Candidate>& files) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> names;
  for (const Candidate& file : files) {
    if (std::ranges::find(names, file.identity.name) == names.end()) names.push_back(file.identity.name);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "'" : i + 1 == names.size() ? " or '" : ", '") + names[i] + "'";
  }
  return names.size() <= kShown ? text : text + " and " + std::to_string(names.size() - kShown) + " more";
}

}  // namespace

Status save_checkpoint(std::string_view run_directory, std::string_view name, std::int64_t step,
                       const std::vector<NamedView>& tensors, const CheckpointOptions& options) {
  if (Status status = check_name(name); !status) return status;
  if (Status status = check_count("keep_last", options.keep_last, "all"); !status) return status;
  if (Status status = check_count("keep_best", options.keep_best, "none of them"); !status) return status;
  for (const auto& [key, value] : options.metadata) {
    if (key.starts_with(kOwnKeys)) {
      return {Code::invalid_argument, "the metadata of a checkpoint cannot have the key '" + key +
                                          "': those that begin with 'sonde.' are reserved"};
    }
  }
  const std::string folder = folder_of(run_directory);
  if (Status status = make_folder(run_directory, folder); !status) return status;
  tidy(folder);  // before, since the room may be needed
  const std::string path = base::join_path(folder, file_name(name, step));
  if (Status status = tensor_files::save_synced(path, tensors, metadata_of(name, step, options)); !status) {
    return status;
  }
  return retain(folder, name, path, options);
}

Result<CheckpointList> list_checkpoints(std::string_view run_directory) {
  const std::string run(run_directory.empty() ? "." : run_directory);
  Result<base::Directory> directory = base::read_directory(run);
  if (!directory) return directory.error();
  Result<std::vector<Candidate>> files = candidates(folder_of(run));
  if (!files) return files.error();
  CheckpointList list;
  for (Candidate& file : *files) {
    if (!file.regular) {
      list.unreadable.emplace_back(Code::invalid_argument, "cannot read '" + file.path + "': it is not a file");
      continue;
    }
    Result<Found> found = read_head(file.path, std::move(file.identity));
    if (found) {
      list.checkpoints.push_back(std::move(found->info));
    } else if (found.error().code() != Code::not_found) {  // otherwise somebody has removed it meanwhile
      list.unreadable.push_back(found.error());
    }
  }
  std::ranges::stable_sort(list.checkpoints, {}, [](const CheckpointInfo& info) {
    return std::pair<const std::string&, std::int64_t>(info.name, info.step);
  });
  return list;
}

Result<Safetensors> load_checkpoint(std::string_view run_directory, std::int64_t step, std::string_view name) {
  const std::string folder = folder_of(run_directory);
  Result<std::vector<Candidate>> files = candidates(folder);
  if (!files) return files.error();
  const auto error = [&](Code code, const std::string& text) {
    return Status(code, std::string("'").append(folder).append("' has ").append(text));
  };
  std::erase_if(*files, [&](const Candidate& file) { return !name.empty() && file.identity.name != name; });
  const std::string of_name = name.empty() ? "" : " of '" + base::valid_utf8(name) + "'";
  if (files->empty()) return error(Code::not_found, "no checkpoints" + of_name);
  std::erase_if(*files, [&](const Candidate& file) { return file.identity.step != step; });
  const std::string of_step = " of step " + std::to_string(step);
  if (files->empty()) return error(Code::not_found, "no checkpoint" + of_name + of_step);
  const auto other = [&](const Candidate& file) { return file.identity.name != files->front().identity.name; };
  if (std::ranges::any_of(*files, other)) {
    return error(Code::invalid_argument,
                 "several checkpoints" + of_step + ", so a name must be given: " + names_text(*files));
  }
  // "a-05", which another program may have written, is step 5 too, but the one of Sonde is "a-5".
  const std::string own = file_name(files->front().identity.name, step);
  const auto exact =
      std::ranges::find_if(*files, [&](const Candidate& file) { return file.path.ends_with("/" + own); });
  return load_safetensors(exact == files->end() ? files->front().path : exact->path);
}

}  // namespace sonde
