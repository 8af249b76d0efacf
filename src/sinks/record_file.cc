#include "sinks/record_file.h"

#include "base/directory.h"

namespace sonde::sinks {

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
  if (failing_ && file_ && file_->size() == 0) {  // no empty file is left behind
    file_.reset();
    (void)remove_file(path_);
  }
  if (failing_) {
    tally_.write_errors.fetch_add(1, std::memory_order_relaxed);
    return status;
  }
  tally_.bytes_written.fetch_add(buffer_.size(), std::memory_order_relaxed);
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

Status RecordFile::give_up() {
  tally_.lost_records.fetch_add(records_, std::memory_order_relaxed);
  buffer_.clear();
  records_ = 0;
  return {Code::exhausted, "records for '" + path_ + "' were lost, since it could not be written for too long"};
}

Status RecordFile::close() {
  Status status = flush();
  if (!buffer_.empty()) (void)give_up();  // the first reason is the one to tell
  if (file_) {
    const Status closed = file_->close();
    if (status.ok()) status = closed;
  }
  return status;
}

}  // namespace sonde::sinks
