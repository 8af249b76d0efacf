// All tables of a recorder, each a TableFile in the run's directory of tables.
#pragma once

#include <map>
#include <string>

#include "sinks/sink.h"
#include "sinks/table_file.h"

namespace sonde::sinks {

class TableFiles final : public Sink {
 public:
  // `writer`: part of the names of the recorder's files. `tally` must outlive it.
  TableFiles(const std::string& run_directory, std::string writer, Tally& tally);

  // Appends every RowsValue to its table.
  Status write(const Stamp& stamp, std::span<const Value> values) override;
  Status flush() override { return Status::success(); }  // nothing is buffered
  Status close() override { return Status::success(); }

 private:
  TableFile& file_of(const std::string& table);

  const std::string directory_;
  const std::string writer_;
  Tally& tally_;
  std::map<std::string, TableFile> tables_;  // by name
};

}  // namespace sonde::sinks
