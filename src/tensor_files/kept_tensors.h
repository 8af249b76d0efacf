// What a policy kept of a run: whole tensors, in RUN/tensors (sinks/tensor_store.h), and tables, in RUN/tables
// (sinks/table_file.h). formats/run_layout.h has their names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sonde/kept.h"
#include "sonde/status.h"
#include "sonde/tensor_io.h"

namespace sonde::tensor_files {

// One whole tensor: TensorFile::open(path) holds it under `name`.
struct KeptTensor {
  std::int64_t step = 0;
  std::string path;
  std::string name;  // empty in an npy file
};

// Everything under one name: a tensor's steps, or a table's rows.
struct KeptSeries {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t first_step = 0;  // the smallest
  std::int64_t last_step = 0;
  friend bool operator==(const KeptSeries&, const KeptSeries&) = default;
};

// Called for each file that cannot be read and is therefore skipped. May be empty.
using OnUnreadable = std::function<void(const Status&)>;

class KeptTensors {
 public:
  // The current content. A run that kept none has none. Nothing outside of the directory `within` is read, and no link;
  // if it is empty, anything may be read.
  explicit KeptTensors(const std::string& run_directory, const std::string& within = {},
                       OnUnreadable on_unreadable = {});

  // The last one written under this tag; at this step if one is given.
  std::optional<KeptTensor> last(const std::string& tag, std::optional<std::int64_t> step = {}) const;
  // All steps at which the tag was kept, ascending. Opens every file.
  std::vector<std::int64_t> steps(const std::string& tag) const;
  // All tags. Opens every file, but no folder.
  std::vector<std::string> tags() const;
  // All tags, including those of folders, with the number of their steps. Opens every file.
  std::vector<KeptSeries> list() const;
  // Every tensor at every step, by tag and then step; what was written last counts. Opens every file.
  std::vector<WholeTensor> all() const;

 private:
  struct Place {
    std::int64_t step = 0;
    std::string path;
    bool folder = false;
  };
  std::optional<KeptTensor> find(const Place& place, const std::string& tag) const;
  std::optional<TensorFile> open(const std::string& path) const;
  // The tags of one file or folder; empty if it cannot be read.
  std::vector<std::string> tags_of(const Place& place) const;
  std::vector<Place> places_;  // by step, in the order written
  OnUnreadable on_unreadable_;
};

// The tables of a run: their paths below its directory, as in "tables/validation.<writer>.csv".
std::vector<std::string> table_paths(const std::string& run_directory, const std::string& within = {});
// The same, each with the number of its rows. Reads all of them.
std::vector<KeptSeries> tables_of(const std::string& run_directory, const std::string& within = {},
                                  const OnUnreadable& on_unreadable = {});

}  // namespace sonde::tensor_files
