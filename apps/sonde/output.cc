#include "output.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/process.h"
#include "interrupt.h"

namespace sonde::cli {

namespace fs = std::filesystem;

Status writable_as_file(const std::string& path, Existing existing) {
  std::error_code error;
  if (!fs::exists(path, error)) return Status::success();
  if (fs::is_regular_file(path, error)) {
    if (existing == Existing::replace) return Status::success();
    return {Code::invalid_argument, "'" + path + "' already exists: name another file, or replace it with --force"};
  }
  if (fs::is_directory(path, error)) {
    return {Code::invalid_argument, "'" + path + "' is a directory, but the output is a file"};
  }
  return {Code::invalid_argument, "'" + path + "' is not a regular file; omit -o to write to standard output"};
}

std::string temporary_path(const std::string& path) {
  std::string plain = path;
  while (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  return plain + ".part-" + std::to_string(base::process_id());
}

Status about_path(const Status& error, const std::string& path) {
  std::string message = error.message();
  const std::string temporary = temporary_path(path);
  if (const std::size_t at = message.find(temporary); at != std::string::npos)
    message.replace(at, temporary.size(), path);
  return {error.code(), message};
}

Status move_into_place(const std::string& temporary, const std::string& path) {
  std::error_code error;
  fs::rename(temporary, path, error);
  if (!error) return Status::success();
  return {Code::io, "cannot rename '" + temporary + "' to '" + path + "': " + error.message()};
}

Status standard_output_error(int error) {
  const std::string reason = error == 0 ? "" : ": " + std::generic_category().message(error);
  return {Code::io, "cannot write to standard output" + reason};
}

Result<Output> Output::open(const std::string& path, Existing existing) {
  Output output;
  if (path.empty()) return output;
  if (Status status = writable_as_file(path, existing); !status) return status;
  catch_interrupts();
  Result<base::ReplaceFile> file = base::ReplaceFile::create(path);
  if (!file) return file.error();
  output.file_.emplace(*std::move(file));
  return output;
}

Status Output::flush() {
  if (Status status = not_interrupted(); !status) return status;
  std::string_view left = buffer_;
  if (file_) {
    if (Status status = file_->append(left); !status) return status;
    left = {};
  }
  while (!left.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      reader_left_ = errno == EPIPE;
      return standard_output_error(errno);
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
  return Status::success();
}

Status Output::finish() {
  if (Status status = flush(); !status || !file_) return status;
  return file_->commit();
}

}  // namespace sonde::cli
