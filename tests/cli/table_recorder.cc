// Records the tensors of a safetensors file as tables, each under its own name.
//
//   table_recorder RUN TABLE FILE STEPS   at each of STEPS steps: all of them as the columns of one table, and each as
//   a
//                                         probe with a table
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "sonde/sonde.h"
#include "sonde/tensor_io.h"

namespace {

int failed(const sonde::Status& status) { return std::fprintf(stderr, "%s\n", status.message().c_str()), 1; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fputs("usage: table_recorder RUN TABLE FILE STEPS\n", stderr), 2;
  const auto file = sonde::TensorFile::open(argv[3]);
  if (!file) return failed(file.error());
  sonde::RecorderOptions options;
  options.policy.watches = {{.record = sonde::Keep::csv}};
  options.on_error = [](const sonde::Status& status) { failed(status); };
  auto recorder = sonde::Recorder::open(argv[1], options);
  if (!recorder) return failed(recorder.error());
  std::vector<sonde::TableColumn> columns;
  std::vector<sonde::Probe> probes;
  for (const std::string& name : file->names()) {
    const auto view = file->view(name);
    if (!view) return failed(view.error());
    columns.push_back({name, *view});
    probes.push_back(recorder->probe(name));
  }
  for (std::int64_t n = 0; n < std::atoll(argv[4]); ++n) {
    const sonde::Step step = recorder->step(n);
    recorder->table(argv[2], columns, n);
    for (std::size_t i = 0; i < probes.size(); ++i) probes[i].record(step, columns[i].tensor);
  }
  const sonde::Status status = recorder->close();
  return status.ok() ? 0 : failed(status);
}
