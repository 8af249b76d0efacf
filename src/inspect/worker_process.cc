#include "inspect/worker_process.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "base/input_file.h"
#include "base/process.h"
#include "base/shared_library.h"

namespace sonde::inspect {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 28;  // descriptions of models have a line each
constexpr std::uint64_t kLargestTensor = std::uint64_t{1} << 40;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// Generous: a framework may wait for a slow disk when it starts.
std::chrono::milliseconds patience() {
  const std::string text = environment("SONDE_WORKER_TIMEOUT");
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(seconds > 0) || seconds > 1e6) return std::chrono::minutes(5);
  return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds));
}

// The last lines, in one.
std::string last_words(base::ChildProcess& child) {
  const std::string words = child.last_words();
  std::vector<std::string_view> lines;
  std::string_view rest(words);
  while (!rest.empty() && lines.size() < 3) {
    const std::size_t end = rest.rfind('\n');
    const std::string_view line = end == std::string_view::npos ? rest : rest.substr(end + 1);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
    const std::size_t begin = line.find_first_not_of(" \r\t");
    if (begin != std::string_view::npos) lines.push_back(line.substr(begin, 300));
  }
  std::string text;
  std::ranges::reverse(lines);
  for (const std::string_view line : lines) text.append(text.empty() ? "" : " | ").append(line);
  return text;
}

}  // namespace

Result<std::shared_ptr<WorkerProcess>> WorkerProcess::of_runtime(const std::string& runtime) {
  // A forked child must not talk to the worker of its parent.
  using Key = std::pair<std::uint64_t, std::string>;
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<WorkerProcess>> known;
  const std::lock_guard lock(mutex);
  const Key key(base::process_id(), environment("SONDE_PYTHON") + "\n" + runtime);
  if (auto running = known[key].lock()) {
    if (running->child_) return running;
  }
  Result<std::shared_ptr<WorkerProcess>> started = start();
  if (started) known[key] = *started;
  return started;
}

Result<std::shared_ptr<WorkerProcess>> WorkerProcess::start() {
  std::string interpreter = environment("SONDE_PYTHON");
  if (interpreter.empty()) interpreter = "python3";
  base::ChildProcess::Options options;
  options.command = {interpreter, "-m", "sonde._worker"};
  // Otherwise Python would search for modules in the current directory first.
  options.environment = {{"PYTHONSAFEPATH", "1"}};
  // In a build folder the package is not installed.
  const std::string built = base::directory_of_this_code() + "/../python";
  if (base::file_state(built + "/sonde/_worker.py")) {
    const std::string path = environment("PYTHONPATH");
    options.environment.emplace_back("PYTHONPATH", path.empty() ? built : path + ":" + built);
  }
  options.patience = patience();
  auto child = base::ChildProcess::start(options);
  if (!child) {
    return Status(Code::unsupported,
                  child.error().message() + "; name a Python interpreter that has the package sonde in SONDE_PYTHON");
  }
  std::shared_ptr<WorkerProcess> worker(new WorkerProcess(std::move(*child), interpreter));
  if (Status greeted = worker->greet(); !greeted) return greeted;
  return worker;
}

Status WorkerProcess::greet() {
  const Result<WorkerAnswer> hello = read_answer();
  if (!hello) {
    std::string words = last_words(*child_);
    if (words.find("No module named 'sonde'") != std::string::npos) {
      return {Code::unsupported, "'" + interpreter_ + "' has no Python package sonde: install it there with 'make " +
                                     "install-python PYTHON=" + interpreter_ +
                                     "', or name another interpreter in SONDE_PYTHON"};
    }
    return {Code::unsupported, "the worker process of '" + interpreter_ + "' did not start: " +
                                   hello.error().message() + (words.empty() ? "" : "; its last words: " + words)};
  }
  if (hello->kind != WorkerAnswer::Kind::hello || hello->protocol != kWorkerProtocol) {
    return {Code::unsupported, "the Python package sonde of '" + interpreter_ + "' is version " + hello->package +
                                   ", which does not fit this program; install the version of this program there"};
  }
  interpreter_ = hello->interpreter;
  return Status::success();
}

Result<WorkerAnswer> WorkerProcess::read_answer() {
  const auto line = child_->read_line(kLongestLine);
  if (!line) return line.error();
  Result<WorkerAnswer> answer = parse_worker_answer(*line);
  if (answer && answer->bytes > kLargestTensor)
    return Status(Code::corrupt, "it announced a tensor of impossible size");
  return answer;
}

// Says which model it happened to, in which interpreter, and what the worker printed last. It is not used again.
Status WorkerProcess::died(std::string_view model, const Status& how) {
  const std::string words = last_words(*child_);
  const Code code = how.code() == Code::closed ? Code::io : how.code();
  Status status(code, "the worker process of '" + interpreter_ + "' failed with '" + std::string(model) +
                          "': " + how.message() + (words.empty() ? "" : "; its last words: " + words));
  child_.reset();
  return status;
}

Result<WorkerAnswer> WorkerProcess::call(std::string_view model, std::string request, std::string_view bytes,
                                         const Take& take) {
  const std::lock_guard lock(mutex_);
  if (!child_) return Status(Code::closed, "the worker process with '" + std::string(model) + "' has ended before");
  request += '\n';
  Status status = child_->write(request);
  if (status) status = child_->write(bytes);
  if (!status) return died(model, status);
  Status taken;
  for (;;) {
    Result<WorkerAnswer> answer = read_answer();
    if (!answer) return died(model, answer.error());
    if (answer->bytes > capacity_) {
      capacity_ = answer->bytes;
      buffer_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
    }
    const std::span<std::byte> content(buffer_.get(), answer->bytes);
    if (status = child_->read(content); !status) return died(model, status);
    if (answer->kind == WorkerAnswer::Kind::error) return taken ? answer->error : taken;
    if (answer->kind == WorkerAnswer::Kind::done) {
      if (!taken) return taken;
      return answer;
    }
    if (taken && take) taken = take(*answer, content);
  }
}

}  // namespace sonde::inspect
