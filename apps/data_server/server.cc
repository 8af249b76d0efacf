#include "server.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

#include "data_provider.grpc.pb.h"

namespace sonde::data_server {
namespace {

// TensorBoard reads a blob in parts, and a message of gRPC should not grow without limit.
constexpr std::size_t kBlobPart = std::size_t{8} << 20;

grpc::StatusCode code_of(Code code) noexcept {
  switch (code) {
    case Code::ok: return grpc::StatusCode::OK;
    case Code::invalid_argument: return grpc::StatusCode::INVALID_ARGUMENT;
    case Code::not_found: return grpc::StatusCode::NOT_FOUND;
    case Code::permission_denied: return grpc::StatusCode::PERMISSION_DENIED;
    case Code::unsupported: return grpc::StatusCode::UNIMPLEMENTED;
    case Code::corrupt: return grpc::StatusCode::DATA_LOSS;
    case Code::exhausted:
    case Code::no_space: return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case Code::io:
    case Code::closed: return grpc::StatusCode::UNAVAILABLE;
  }
  return grpc::StatusCode::INTERNAL;
}

grpc::Status grpc_status(const Status& status) { return {code_of(status.code()), status.message()}; }

class Service final : public rpc::TensorBoardDataProvider::Service {
 public:
  explicit Service(Answers& answers) noexcept : answers_(answers) {}

  grpc::Status GetExperiment(grpc::ServerContext*, const rpc::GetExperimentRequest* request,
                             rpc::GetExperimentResponse* response) override {
    return answer(&Answers::get_experiment, request, response);
  }
  grpc::Status ListPlugins(grpc::ServerContext*, const rpc::ListPluginsRequest* request,
                           rpc::ListPluginsResponse* response) override {
    return answer(&Answers::list_plugins, request, response);
  }
  grpc::Status ListRuns(grpc::ServerContext*, const rpc::ListRunsRequest* request,
                        rpc::ListRunsResponse* response) override {
    return answer(&Answers::list_runs, request, response);
  }
  grpc::Status ListScalars(grpc::ServerContext*, const rpc::ListScalarsRequest* request,
                           rpc::ListScalarsResponse* response) override {
    return answer(&Answers::list_scalars, request, response);
  }
  grpc::Status ReadScalars(grpc::ServerContext*, const rpc::ReadScalarsRequest* request,
                           rpc::ReadScalarsResponse* response) override {
    return answer(&Answers::read_scalars, request, response);
  }
  grpc::Status ListTensors(grpc::ServerContext*, const rpc::ListTensorsRequest* request,
                           rpc::ListTensorsResponse* response) override {
    return answer(&Answers::list_tensors, request, response);
  }
  grpc::Status ReadTensors(grpc::ServerContext*, const rpc::ReadTensorsRequest* request,
                           rpc::ReadTensorsResponse* response) override {
    return answer(&Answers::read_tensors, request, response);
  }
  grpc::Status ListBlobSequences(grpc::ServerContext*, const rpc::ListBlobSequencesRequest* request,
                                 rpc::ListBlobSequencesResponse* response) override {
    return answer(&Answers::list_blob_sequences, request, response);
  }
  grpc::Status ReadBlobSequences(grpc::ServerContext*, const rpc::ReadBlobSequencesRequest* request,
                                 rpc::ReadBlobSequencesResponse* response) override {
    return answer(&Answers::read_blob_sequences, request, response);
  }
  grpc::Status ReadBlob(grpc::ServerContext*, const rpc::ReadBlobRequest* request,
                        grpc::ServerWriter<rpc::ReadBlobResponse>* writer) override {
    return guarded([&] { return send_blob(*request, *writer); });
  }

 private:
  // Memory that runs out fails one call, not the server.
  template <class Call>
  static grpc::Status guarded(const Call& call) {
    try {
      return call();
    } catch (const std::exception& error) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, error.what()};
    }
  }

  template <class Request, class Response>
  grpc::Status answer(Status (Answers::*call)(const Request&, Response&), const Request* request, Response* response) {
    return guarded([&] { return grpc_status((answers_.*call)(*request, *response)); });
  }

  grpc::Status send_blob(const rpc::ReadBlobRequest& request, grpc::ServerWriter<rpc::ReadBlobResponse>& writer) {
    const Result<std::string> blob = answers_.read_blob(request);
    if (!blob) return grpc_status(blob.error());
    std::string_view rest = *blob;
    do {
      const std::string_view part = rest.substr(0, kBlobPart);
      rest.remove_prefix(part.size());
      rpc::ReadBlobResponse response;
      response.set_data(part.data(), part.size());
      if (!writer.Write(response)) break;  // nobody listens any more
    } while (!rest.empty());
    return grpc::Status::OK;
  }

  Answers& answers_;
};

}  // namespace

struct Server::State {
  explicit State(Answers& answers) : service(answers) {}
  Service service;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
};

Server::Server(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() {
  if (state_) stop();
}

Result<Server> Server::start(const std::string& host, int port, Answers& answers) {
  auto state = std::make_unique<State>(answers);
  // An IPv6 address needs brackets before a port.
  const bool bare_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
  const std::string address = (bare_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  grpc::ServerBuilder builder;
  // Otherwise a second server could listen on the same port, and calls would go to either.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxSendMessageSize(-1);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &state->port);
  builder.RegisterService(&state->service);
  state->server = builder.BuildAndStart();
  if (!state->server || state->port == 0) {
    return Status(Code::io, "cannot listen on '" + address + "': the address is in use or not one of this machine");
  }
  return Server(std::move(state));
}

int Server::port() const noexcept { return state_->port; }
void Server::wait() { state_->server->Wait(); }
void Server::stop() { state_->server->Shutdown(std::chrono::system_clock::now()); }

}  // namespace sonde::data_server
