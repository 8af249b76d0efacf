// Reading captures, and making one of what a killed process left: the rest of sonde/capture.h is in origin.cc.
#include <algorithm>
#include <new>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "base/input_file.h"
#include "base/numbered_directory.h"
#include "base/process.h"
#include "formats/capture_json.h"
#include "formats/flight.h"
#include "formats/flight_layout.h"
#include "formats/run_layout.h"
#include "sonde/capture.h"
#include "sonde/tensor_io.h"
#include "tensor_files/capture_files.h"
#include "tensor_files/external_rings.h"

namespace sonde {
namespace {

// "cannot <doing> '<path>': <message>", for messages of those who know no paths.
Status about(std::string_view doing, const std::string& path, const Status& status) {
  return {status.code(), "cannot " + std::string(doing) + " '" + path + "': " + status.message()};
}

Result<std::vector<std::string>> rings(const std::string& directory) {
  const Result<base::Directory> found = base::read_directory(directory);
  if (!found) return found.error();
  std::vector<std::string> paths;
  for (const base::DirectoryEntry& entry : found->entries) {
    if (entry.type == base::DirectoryEntry::Type::file && run_layout::is_ring(entry.name)) {
      paths.push_back(base::join_path(directory, entry.name));
    }
  }
  return paths;
}

CaptureInfo crash_info(const flight::Contents& ring) {
  CaptureInfo info;
  info.cause = CaptureInfo::Cause::crash;
  info.reason = "crash";
  info.wall_time = ring.identity.start_time;  // if there is nothing later
  info.host = ring.identity.host;
  info.pid = ring.identity.pid;
  info.writer = ring.identity.writer;
  info.allow_negative_infinity = ring.allow_negative_infinity;
  for (const flight::Step& step : ring.steps) {
    if (step.evaluation && &step != &ring.steps.back()) continue;
    info.step = step.step;
    info.wall_time = step.wall_time;
  }
  if (ring.torn == 0) return info;
  CaptureGap gap;
  gap.what = "torn entries of the flight ring";
  if (!ring.steps.empty()) {
    gap.first_step = std::ranges::min(ring.steps, {}, &flight::Step::step).step;
    gap.last_step = std::ranges::max(ring.steps, {}, &flight::Step::step).step;
  }
  gap.count = ring.torn;
  gap.reason = "their checksums are wrong, so they were left out";
  info.dropped.push_back(std::move(gap));
  return info;
}

// Whether a ring is as it was made: a process that ended before it had a header recorded nothing.
bool is_blank(base::Bytes file) {
  return std::ranges::all_of(file, [](std::byte byte) { return byte == std::byte{0}; });
}

// The host in the name that a process gives its ring; nothing in other names.
std::optional<std::string_view> host_in_name(std::string_view path) {
  return run_layout::host_of_ring(path.substr(path.rfind('/') + 1));
}

// Holds a ring whose process has ended. Lock and mapping are of the same file, whatever happens to its path: another
// process that recovers it may remove it in between, and a new process may put its own ring there.
struct HeldRing {
  base::FileLock lock;
  base::FileState state;
  base::MappedFile file;

  bool is_at(const std::string& path) const {
    const Result<base::FileState> there = base::file_state(path);
    return there && there->same_file(state);
  }
};

Result<HeldRing> hold(const std::string& path) {
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    const Result<base::FileState> state = base::file_state(path);
    if (!state) return state.error();
    Result<base::FileLock> lock = base::FileLock::acquire(path);
    if (!lock && lock.error().code() == Code::exhausted) {
      return Status(
          Code::exhausted,
          "the ring '" + path + "' belongs to a running process: it can become a capture when that has " + "ended");
    }
    if (!lock) return lock.error();
    Result<base::MappedFile> file = base::MappedFile::open(path);
    if (!file) return file.error();
    HeldRing held = {*std::move(lock), *state, *std::move(file)};
    if (held.is_at(path)) return held;  // and was when it was locked and mapped
  }
  return Status(Code::exhausted, "the ring '" + path + "' is replaced again and again: try later");
}

// Whether it is a copy of the ring of a living process on this machine: then that process has its ring open, and a ring
// with the same header, which names the process and its start, is locked in the same directory. Also false if the
// system does not tell.
bool is_copy_of_living(const HeldRing& held, const flight::Identity& identity) {
  if (identity.host != base::host_name()) return false;
  const base::Bytes header = held.file.bytes().first(flight::kIdentityBytes);
  std::set<std::string> directories;
  for (const std::string& path : base::open_files(identity.pid)) {
    if (run_layout::mentions_ring(path)) directories.insert(path.substr(0, path.rfind('/')));
  }
  for (const std::string& directory : directories) {
    const Result<std::vector<std::string>> paths = rings(directory);
    for (const std::string& path : paths ? *paths : std::vector<std::string>()) {
      const Result<bool> locked = base::is_locked(path);
      if (!locked || !*locked || held.is_at(path)) continue;
      const Result<base::MappedFile> other = base::MappedFile::open(path);
      if (other && other->bytes().size() >= header.size() &&
          std::ranges::equal(other->bytes().first(header.size()), header)) {
        return true;
      }
    }
  }
  return false;
}

Result<std::string> recover(const std::string& ring_path, const std::string& run_directory) {
  // Held until the ring is gone, so that of two who come at once only one makes a capture.
  const Result<HeldRing> held = hold(ring_path);
  if (!held) return held.error();
  const base::Bytes bytes = held->file.bytes();
  // One that is blank makes an empty capture: the end of its process is known all the same. Only its name tells that it
  // is a ring, and any other blank file is somebody's.
  const bool unused = is_blank(bytes) && host_in_name(ring_path);
  const Result<flight::Contents> ring = unused ? flight::Contents() : flight::read(bytes);
  if (!ring) return about("recover the ring", ring_path, ring.error());
  if (ring->torn > 0 && ring->steps.empty()) {
    return about(
        "recover the ring", ring_path,
        {Code::corrupt, "none of its entries can be read, because their checksums are wrong; it stays where it is"});
  }
  if (is_copy_of_living(*held, ring->identity)) {
    return Status(Code::exhausted,
                  "'" + ring_path + "' is a copy of the ring of process " + std::to_string(ring->identity.pid) +
                      " on " + ring->identity.host +
                      ", which still runs: it stays as it is, and 'sonde trigger' makes a capture of " +
                      "a process that runs");
  }
  Result<std::string> path =
      tensor_files::write_capture(run_directory, crash_info(*ring), tensor_files::each_of(ring->steps));
  if (!path || !held->is_at(ring_path)) return path;  // the path now has another file
  if (Status status = base::remove_file(ring_path); !status) return status;
  return path;
}

// A ring in which nothing was ever written names no run that could take it.
void remove_blank(const std::string& path) {
  if (host_in_name(path) != base::host_name()) return;
  const Result<HeldRing> held = hold(path);
  if (!held || !is_blank(held->file.bytes()) || !held->is_at(path)) return;
  (void)base::remove_file(path);  // if it cannot be removed, it does no harm
}

// Whether the run has the event file of this writer.
bool has_writer(const base::Directory& run, const std::string& writer) {
  return std::ranges::any_of(
      run.entries, [&](const base::DirectoryEntry& entry) { return run_layout::is_event_file_of(entry.name, writer); });
}

// Whether a ring was made by a writer of the run.
bool is_of_run(base::Bytes file, const base::Directory& run) {
  const Result<flight::Contents> ring = flight::read(file);
  return ring && has_writer(run, ring->identity.writer);
}

bool is_of_run(const std::string& ring_path, const base::Directory& run) {
  const Result<base::MappedFile> file = base::MappedFile::open(ring_path);
  return file && is_of_run(file->bytes(), run);
}

// The library never throws: where memory ends, it says so.
template <class Do>
auto within_memory(std::string_view path, Do what) -> decltype(what(std::string())) {
  try {
    return what(std::string(path));
  } catch (const std::bad_alloc&) {
    return Status(Code::exhausted, "there is not enough memory for '" + std::string(path) + "'");
  }
}

}  // namespace

Result<Capture> Capture::open(std::string_view directory) {
  return within_memory(directory, [](const std::string& path) -> Result<Capture> {
    const std::string json_path = base::join_path(path, run_layout::kCaptureFile);
    const Result<std::string> json = base::read_file(json_path);
    if (!json) return json.error();
    Result<CaptureInfo> info = capture_json::decode(*json);
    if (!info) return about("read the capture", json_path, info.error());
    return Capture(path, *std::move(info));
  });
}

Result<TensorFile> Capture::step_file(const CapturedStep& step) const {
  if (step.file.empty()) {
    return Status(Code::not_found,
                  "step " + std::to_string(step.step) + " of the capture '" + directory_ + "' holds no tensors");
  }
  return TensorFile::open(base::join_path(directory_, step.file));
}

Result<std::vector<std::string>> list_captures(std::string_view run_directory) {
  return within_memory(run_directory, [](const std::string& run) -> Result<std::vector<std::string>> {
    const Result<base::Directory> whole = base::read_directory(run);
    if (!whole) return whole.error();
    std::vector<std::string> paths;
    if (std::ranges::none_of(whole->entries,
                             [](const base::DirectoryEntry& entry) { return entry.name == run_layout::kCaptures; })) {
      return paths;
    }
    const std::string parent = base::join_path(run, run_layout::kCaptures);
    const Result<base::Directory> found = base::read_directory(parent);
    if (!found) return found.error();
    std::vector<std::pair<std::uint64_t, std::string>> numbered;
    for (const base::DirectoryEntry& entry : found->entries) {
      const std::uint64_t number = base::leading_number(entry.name);
      if (number > 0 && entry.type == base::DirectoryEntry::Type::directory) numbered.emplace_back(number, entry.name);
    }
    std::ranges::sort(numbered);
    for (const auto& [number, name] : numbered) paths.push_back(base::join_path(parent, name));
    return paths;
  });
}

Result<std::string> recover_ring(std::string_view ring_path, std::string_view run_directory) {
  return within_memory(ring_path, [&](const std::string& path) { return recover(path, std::string(run_directory)); });
}

Result<std::vector<std::string>> abandoned_rings(std::string_view run_directory) {
  return within_memory(run_directory, [](const std::string& run) -> Result<std::vector<std::string>> {
    const Result<std::vector<std::string>> paths = rings(run);
    if (!paths) return paths.error();
    std::vector<std::string> abandoned;
    for (const std::string& path : *paths) {
      // One that vanished meanwhile was closed, or somebody else recovered it.
      if (const Result<bool> locked = base::is_locked(path); locked && !*locked) abandoned.push_back(path);
    }
    const std::vector<std::string> elsewhere = tensor_files::external_rings(run);
    if (elsewhere.empty()) return abandoned;
    const Result<base::Directory> directory = base::read_directory(run);
    if (!directory) return directory.error();
    for (const std::string& path : elsewhere) {
      if (const Result<bool> locked = base::is_locked(path); !locked || *locked) continue;
      // At its path there may be another run's by now.
      if (is_of_run(path, *directory) && !std::ranges::count(abandoned, path)) abandoned.push_back(path);
    }
    return abandoned;
  });
}

namespace tensor_files {

Result<std::vector<std::string>> abandoned_rings_of(const std::string& run_directory,
                                                    const std::string& ring_directory) {
  auto found = abandoned_rings(ring_directory);
  if (!found) return found.error();
  const Result<base::Directory> run = base::read_directory(run_directory);
  if (!run) return run.error();
  std::erase_if(*found, [&](const std::string& path) {
    const Result<base::MappedFile> file = base::MappedFile::open(path);
    if (!file) return true;
    if (is_blank(file->bytes())) {
      remove_blank(path);
      return true;
    }
    return !is_of_run(file->bytes(), *run);
  });
  return found;
}

}  // namespace tensor_files

}  // namespace sonde
