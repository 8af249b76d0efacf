// sonde-data-server: a log directory for the real TensorBoard, over gRPC.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "answers.h"
#include "base/file.h"
#include "options.h"
#include "server.h"

namespace sonde::data_server {
namespace {

constexpr int kError = 2;

void say(const std::string& sentence) { std::fputs(("sonde-data-server: " + sentence + "\n").c_str(), stderr); }

// TensorBoard shows the content of the error file.
int fail(const Options& options, const std::string& sentence) {
  say(sentence);
  if (options.error_file.empty()) return kError;
  if (const Status written = base::write_file(options.error_file, sentence + "\n"); !written) say(written.message());
  return kError;
}

// Returns when the parent process has ended, or has closed our standard input.
void wait_for_end_of_input() {
  char buffer[256];
  for (;;) {
    const ssize_t size = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (size == 0 || (size < 0 && errno != EINTR)) return;
  }
}

int serve(const Options& options) {
  LogSource source;
  source.directory = options.logdir;
  source.unlimited = options.unlimited;
  source.options.follow = options.follow ? LogOptions::Follow::live : LogOptions::Follow::once;
  Answers answers(std::move(source));
  Result<Server> server = Server::start(options.host, options.port, answers);
  if (!server) return fail(options, server.error().message());
  if (!options.port_file.empty()) {
    const Status written = base::write_file(options.port_file, std::to_string(server->port()) + "\n");
    if (!written) return fail(options, written.message());
  }
  if (options.verbosity > 0) say("listening on " + options.host + ", port " + std::to_string(server->port()));
  // Not a reason to stop: TensorBoard may start before the program that creates the directory.
  if (const Status opened = answers.open(); !opened) say(opened.message());
  if (options.die_after_stdin) {
    wait_for_end_of_input();
    server->stop();
  } else {
    server->wait();
  }
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  Options options;
  if (const Status parsed = parse(arguments, options); !parsed) return fail(options, parsed.message());
  if (options.help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (options.version) {
    std::fputs("sonde-data-server " SONDE_VERSION "\n", stdout);
    return 0;
  }
  return serve(options);
}

}  // namespace
}  // namespace sonde::data_server

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // TensorBoard may be gone before we say something
  try {
    return sonde::data_server::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sonde-data-server: %s\n", error.what());
    return sonde::data_server::kError;
  }
}
