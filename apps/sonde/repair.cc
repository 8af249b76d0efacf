#include "repair.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "base/file.h"
#include "interrupt.h"
#include "output.h"

namespace sonde::cli {

namespace fs = std::filesystem;

namespace {

// A read error goes to `unreadable` if that is set.
Status copy_bytes(const base::InputFile& from, std::uint64_t begin, std::uint64_t end, base::AppendFile& to,
                  Status* unreadable = nullptr) {
  constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
  std::string piece;
  while (begin < end) {
    piece.resize(static_cast<std::size_t>(std::min(kPiece, end - begin)));
    const Result<std::size_t> read = from.read_at(begin, std::as_writable_bytes(std::span(piece)));
    Status status = read.status();
    if (read && *read < piece.size()) {
      status = {Code::io, "a file became shorter while it was copied to '" + to.path() + "'"};
    }
    if (!status && unreadable != nullptr) {
      *unreadable = status;
      return Status::success();
    }
    if (!status) return status;
    if (Status going = not_interrupted(); !going) return going;
    if (Status written = to.append(piece); !written) return written;
    begin += piece.size();
  }
  return Status::success();
}

}  // namespace

CleanCopy::CleanCopy(std::string out, bool single_file)
    : out_(std::move(out)), temporary_(temporary_path(out_)), single_file_(single_file) {
  catch_interrupts();
}

CleanCopy::~CleanCopy() {
  std::error_code error;
  if (!finished_) fs::remove_all(temporary_, error);
}

Status CleanCopy::check_target(const std::string& source, const std::string& out) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(out, error)) &&
      !(fs::is_directory(source, error) && fs::is_directory(out, error) && fs::is_empty(out, error))) {
    return {Code::invalid_argument, "'" + out + "' already exists, and --repair writes a new copy"};
  }
  const fs::path inner = fs::weakly_canonical(out, error);
  const fs::path outer = fs::weakly_canonical(source, error);
  const fs::path between = inner.lexically_relative(outer);
  if (fs::is_directory(source, error) && !between.empty() && *between.begin() != "..") {
    return {Code::invalid_argument, "'" + out + "' is inside '" + source + "': the copy must be outside of it"};
  }
  return Status::success();
}

Result<std::string> CleanCopy::place(const TreeFile& file) const {
  const std::string path = single_file_ ? temporary_ : base::join_path(temporary_, file.relative);
  const std::string folder = fs::path(path).parent_path().string();
  if (!folder.empty()) {
    if (Status status = base::make_directories(folder); !status) return about_path(status, out_);
  }
  return path;
}

Status CleanCopy::add_records(const TreeFile& file, const base::InputFile& content, const Verdict& verdict) {
  const Result<std::string> path = place(file);
  if (!path) return path.error();
  Result<base::AppendFile> copy = base::AppendFile::create(*path);
  if (!copy) return copy.error();
  std::uint64_t sound = 0;  // start of the intact bytes that are not copied yet
  for (const DamagedPart& part : verdict.damage) {
    if (Status status = copy_bytes(content, sound, part.offset, *copy); !status) return status;
    sound = part.offset + part.size;
  }
  if (Status status = copy_bytes(content, sound, verdict.size, *copy); !status) return status;
  return copy->close();
}

Status CleanCopy::add_file(const TreeFile& file, std::string& problem) {
  const Result<base::InputFile> content = base::InputFile::open(file.path);
  const Result<base::FileState> state = content ? content->state() : content.error();
  if (!state) {
    problem = state.error().message();
    return Status::success();
  }
  const Result<std::string> path = place(file);
  if (!path) return path.error();
  Result<base::AppendFile> copy = base::AppendFile::create(*path);
  if (!copy) return copy.error();
  Status unreadable;
  if (Status status = copy_bytes(*content, 0, state->size, *copy, &unreadable); !status) return status;
  if (Status status = copy->close(); !status) return status;
  std::error_code error;
  if (!unreadable) {
    problem = "cannot copy '" + file.path + "': " + unreadable.message();
    fs::remove(*path, error);
    return Status::success();
  }
  // Keeps permissions, so that programs stay executable. If the system does not allow it, the copy continues.
  fs::permissions(*path, fs::status(file.path, error).permissions(), error);
  return Status::success();
}

Status CleanCopy::finish() {
  if (Status status = not_interrupted(); !status) return status;
  if (!single_file_) {
    if (Status status = base::make_directories(temporary_); !status) return status;
  }
  if (Status status = move_into_place(temporary_, out_); !status) return status;
  finished_ = true;
  return Status::success();
}

}  // namespace sonde::cli
