#include "sinks/record_file.h"

#include <utility>

#include "base/directory.h"

namespace sonde::sinks {

void Tally::lose(LostRecords lost) {
  lost_records.fetch_add(lost.count, std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  lost_.push_back(std::move(lost));
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

Status RecordFile::flush() {
  if (buffer_.empty()) return Status::success();
  Status status;
  if (!file_) {
    auto created = AppendFile::create(path_);
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
    (void)remove_file(path_);
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
    deleted_ = true;
    return {Code::not_found, "'" + path_ +
                                 "' was deleted while it was being written: nobody will read what is recorded from now "
                                 "on, unless the recorder is opened again"};
  }
  return status;
}

Status RecordFile::give_up(const std::string& why) {
  std::string message = std::to_string(records_) + " records for '" + path_ + "' were lost: " + why;
  if (records_ > 0) tally_.lose({first_step_, last_step_, records_, message});
  ++losses_;
  buffer_.clear();
  records_ = 0;
  return {Code::exhausted, std::move(message)};
}

Status RecordFile::close() {
  Status status = flush();
  if (!buffer_.empty()) (void)give_up(status.message());  // the first reason is the one to tell
  if (file_) {
    const Status closed = file_->close();
    if (status.ok()) status = closed;
  }
  return status;
}

}  // namespace sonde::sinks
