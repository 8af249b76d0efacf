// What each call of TensorBoard's data provider answers, from a log directory; server.cc makes a service of it.
//
// Nothing is sampled when a log is read: every point is there, and a request says how many it wants. Of a restarted job
// the newest history is shown.
//
// All calls are safe from any thread. Errors: Code::invalid_argument for requests that make no sense, Code::not_found
// for a blob that does not exist.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data_provider.pb.h"
#include "sonde/log.h"
#include "sonde/status.h"

namespace sonde::data_server {

namespace rpc = tensorboard::data;

struct LogSource {
  std::string directory;
  LogOptions options;
  // Plugins of which TensorBoard was told to keep everything: it then asks for 0 points, and means all.
  std::set<std::string, std::less<>> unlimited;
};

class Answers {
 public:
  explicit Answers(LogSource source) : source_(std::move(source)) {}

  // Opens the log where that has not happened yet. A directory that does not exist may come later, so every call tries
  // again; until then there are no runs.
  Status open();

  Status get_experiment(const rpc::GetExperimentRequest& request, rpc::GetExperimentResponse& response);
  Status list_plugins(const rpc::ListPluginsRequest& request, rpc::ListPluginsResponse& response);
  Status list_runs(const rpc::ListRunsRequest& request, rpc::ListRunsResponse& response);
  Status list_scalars(const rpc::ListScalarsRequest& request, rpc::ListScalarsResponse& response);
  Status read_scalars(const rpc::ReadScalarsRequest& request, rpc::ReadScalarsResponse& response);
  Status list_tensors(const rpc::ListTensorsRequest& request, rpc::ListTensorsResponse& response);
  Status read_tensors(const rpc::ReadTensorsRequest& request, rpc::ReadTensorsResponse& response);
  Status list_blob_sequences(const rpc::ListBlobSequencesRequest& request, rpc::ListBlobSequencesResponse& response);
  Status read_blob_sequences(const rpc::ReadBlobSequencesRequest& request, rpc::ReadBlobSequencesResponse& response);
  // The whole blob.
  Result<std::string> read_blob(const rpc::ReadBlobRequest& request);

 private:
  std::vector<Run> runs();
  // How many points of a series to give.
  Result<std::uint64_t> limit(bool given, const rpc::Downsample& downsample, const std::string& plugin) const;

  const LogSource source_;
  std::mutex mutex_;  // of the following
  std::optional<Log> log_;
  std::chrono::steady_clock::time_point last_attempt_{};
  Status last_error_;
};

}  // namespace sonde::data_server
