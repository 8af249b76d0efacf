#include "sinks/record_file.h"

#include <utility>

#include "base/directory.h"

namespace sonde::sinks {

void Tally::lose(LostRecords lost) noexcept {
  lost_records.fetch_add(lost.count, std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  try {
    lost_.push_back(std::move(lost));
  } catch (...) {
    out_of_memory.fetch_add(1, std::memory_order_relaxed);
  }
}

std::vector<LostRecords> Tally::take_lost() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(lost_, {});
}

void RecordFile::take_back(std::size_t size) noexcept {
  if (buffer_.size() > size) buffer_.resize(size);
  taken_back_ = true;
}

bool RecordFile::must_repeat() noexcept {
  if (std::exchange(taken_back_, false)) return true;
  const bool lost = std::exchange(known_losses_, losses_) != losses_;
  if (!lost && end() < repeat_at_) return false;
  repeat_at_ = end() + std::clamp(end(), kRepeatFirst, kRepeatAtMost);
  return true;
}

Status RecordFile::flush() noexcept {
  if (buffer_.empty()) return Status::success();
  try {
    return write();
  } catch (...) {
    failing_ = true;
    tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
    return {Code::io, "out of memory"};  // short enough to need none
  }
}

Status RecordFile::write() {
  Status status;
  if (!file_) {
    auto created = base::AppendFile::create(path_);
    if (created) {
      file_.emplace(std::move(*created));
    } else {
      status = created.error();
    }
  }
  if (status.ok()) status = file_->append(buffer_);
  failing_ = !status.ok();
  if (failing_ && file_ && file_->size() == 0) {  // leaves no empty file
    file_.reset();
    (void)base::remove_file(path_);
  }
  if (failing_) {
    tally_.write_errors.fetch_add(1, std::memory_order_relaxed);
    return status;
  }
  tally_.bytes_written.fetch_add(buffer_.size(), std::memory_order_relaxed);
  written_ += buffer_.size();
  buffer_.clear();
  records_ = 0;
  if (!deleted_ && file_->is_deleted()) {
    status = {Code::not_found, "'" + path_ +
                                   "' was deleted while it was being written: nobody will read what is recorded from "
                                   "now on, unless the recorder is opened again"};
    deleted_ = true;
  }
  return status;
}

Status RecordFile::give_up(std::string_view why) noexcept {
  std::string message = "out of memory";  // short enough to need none
  std::string detail = message;
  try {
    std::string text = std::to_string(records_) + " records for '" + path_ + "' were lost: ";
    text.append(why);
    detail = text;
    message = std::move(text);
  } catch (...) {
    tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
  }
  if (records_ > 0) tally_.lose({first_step_, last_step_, records_, std::move(detail)});
  ++losses_;
  buffer_.clear();
  records_ = 0;
  return {Code::exhausted, std::move(message)};
}

Status RecordFile::close() noexcept {
  Status status = flush();
  if (!buffer_.empty()) (void)give_up(status.message());  // the first reason is the one to tell
  if (!file_) return status;
  try {
    if (Status closed = file_->close(); status.ok()) status = std::move(closed);
  } catch (...) {
    tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
  }
  return status;
}

}  // namespace sonde::sinks
