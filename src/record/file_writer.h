// Encodes pictures and writes whole tensors and tables on a thread of its own, in the order in which they come: that
// takes long, and the log itself need not wait for it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/serial_queue.h"
#include "record/pool.h"
#include "record/return_list.h"
#include "sinks/table_files.h"
#include "sinks/tensor_store.h"

namespace sonde::record {

class FileWriter {
 public:
  // `writer`: part of the names of the recorder's files. `tally` must outlive it.
  FileWriter(const std::string& run_directory, const std::string& writer, sinks::Tally& tally);
  ~FileWriter();

  // What became of something, once its batch is back.
  struct Outcome {
    Status status;
    std::uint64_t lost = 0;  // records missing in the files
  };
  struct Table {
    std::string name;
    std::vector<std::pair<std::string, TensorView>> columns = {};
    std::vector<std::int64_t> rows = {};  // their numbers in the batch; empty: the first ones
    Outcome outcome = {};
  };
  struct Picture {
    sinks::Tag tag;
    TensorView view;
    std::optional<Layout> layout = {};  // none: as render::draw decides
    const ImageOptions* options = nullptr;
    std::optional<sinks::ProbeName> probe = {};  // none: recorded by name
    int width = 0;
    int height = 0;
    std::string png = {};
    Outcome outcome = {};
  };
  // What belongs together: what is kept of a step, or a call of its own. Keeps all that its views point to.
  struct Batch {
    sinks::Stamp stamp;
    bool evaluation = false;
    std::vector<sinks::StoredTensor> tensors = {};
    Outcome stored = {};  // of the tensors
    std::vector<Table> tables = {};
    std::vector<Picture> pictures = {};
    std::deque<std::string> keys = {};      // of the tensors
    std::deque<Tensor> buffers = {};        // of gathered rows
    std::vector<PayloadPtr> payloads = {};  // they go back to their pool when it is done
    bool counts = false;                    // a call of its own: it is counted when it is done
    std::unique_ptr<Batch> next = {};

    bool empty() const noexcept { return tensors.empty() && tables.empty() && pictures.empty(); }
  };
  void push(std::unique_ptr<Batch> batch) noexcept;
  // The oldest one that is done and was not taken yet, or null.
  std::unique_ptr<Batch> take() noexcept { return done_.take(); }
  // Returns when all are done.
  void wait() { queue_.wait(); }

 private:
  void work(Batch& batch) noexcept;
  void write(const Batch& batch, Table& table);
  static void encode(Picture& picture);

  sinks::Tally& tally_;
  ReturnList<Batch> done_;
  sinks::TensorStore store_;                // used by the queue's thread
  sinks::TableFiles tables_;                // the same
  base::SerialQueue queue_{"sonde-files"};  // the last member: it uses all others
};

// As the log counts them.
std::uint64_t rows_of(const FileWriter::Table& table) noexcept;

}  // namespace sonde::record
