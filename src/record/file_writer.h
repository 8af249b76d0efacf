// Writes whole tensors and tables on its own thread, in order: their files are many and large, and the log itself need
// not wait for them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/serial_queue.h"
#include "record/pool.h"
#include "sinks/table_files.h"
#include "sinks/tensor_store.h"

namespace sonde::record {

class FileWriter {
 public:
  // `writer`: part of the names of the recorder's files. `tally` must outlive it.
  FileWriter(const std::string& run_directory, const std::string& writer, sinks::Tally& tally);

  struct Table {
    std::string name;
    std::vector<std::pair<std::string, TensorView>> columns;
    std::vector<std::int64_t> rows = {};  // their numbers in the batch; empty: the first ones
  };
  // A unit of work: the tensors and tables of a step, or a single table. Owns everything that its views point to.
  struct Batch {
    Batch() = default;
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    sinks::Stamp stamp;
    bool evaluation = false;
    std::vector<sinks::StoredTensor> tensors = {};
    std::vector<Table> tables = {};
    std::deque<std::string> keys = {};      // of the tensors
    std::deque<Tensor> buffers = {};        // of gathered rows
    std::vector<PayloadPtr> payloads = {};  // returned to their pool afterwards
    bool counts = false;                    // a separate call: its outcome is reported
  };
  // Returns the number of the batch, counted from 1.
  std::uint64_t push(std::shared_ptr<Batch> batch);
  std::uint64_t last() const noexcept { return last_; }

  // Batches that are written or failed. Any thread.
  std::uint64_t done() const noexcept { return done_.load(std::memory_order_acquire); }
  // Returns when all are done.
  void wait() { queue_.wait(); }

  // Errors since the last call, in order, and the outcomes of batches that count.
  struct Outcome {
    sinks::Stamp stamp;
    bool evaluation = false;
    bool counts = false;
    Status status;
    std::uint64_t lost = 0;  // records missing in the files
  };
  std::vector<Outcome> take_outcomes();

 private:
  void write(const Batch& batch);
  void tell(const Batch& batch, Status status, std::uint64_t lost);

  std::uint64_t last_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::mutex mutex_;  // guards the next member
  std::vector<Outcome> outcomes_;
  sinks::TensorStore store_;          // used by the queue's thread
  sinks::TableFiles tables_;          // the same
  SerialQueue queue_{"sonde-files"};  // the last member: it uses all others
};

}  // namespace sonde::record
