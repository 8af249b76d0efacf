// sonde serve: serves the page and its API for log directories.
#include "serve.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "arming.h"
#include "base/directory.h"
#include "base/process.h"
#include "base/thread.h"
#include "control.h"
#include "policy/rules.h"
#include "query/api.h"
#include "server/assets.h"
#include "server/server.h"
#include "server/token.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

constexpr std::uint16_t kUsualPort = 6006;

// What the page may change through the writing modules.
class PageActions final : public query::Actions {
 public:
  Result<query::ArmedTriggers> armed(const std::string& run_directory) override {
    const Result<Control> control = read_control(run_directory);
    if (!control) return control.error();
    query::ArmedTriggers found;
    for (const TriggerPolicy& trigger : armed_triggers(control->content)) {
      const Result<std::string> expression = policy::expression_of(trigger);
      found.triggers.push_back({.when = expression ? *expression : trigger.when,
                                .name = trigger.name.empty() ? trigger.rule : trigger.name,
                                .before = trigger.before,
                                .after = trigger.after});
    }
    const State state = state_of(*control);
    found.standing = state.standing == Standing::in_force  ? query::ArmedTriggers::Standing::in_force
                     : state.standing == Standing::refused ? query::ArmedTriggers::Standing::refused
                                                           : query::ArmedTriggers::Standing::not_read;
    found.but = state.but;
    return found;
  }

  Status disarm(const std::string& run_directory, std::size_t number, std::string_view when) override {
    const std::lock_guard lock(mutex_);
    return cli::disarm(run_directory, number, when).status();
  }

  Status arm(const std::string& run_directory, std::string_view when, std::int64_t before,
             std::int64_t after) override {
    TriggerPolicy trigger;
    trigger.when = when;
    trigger.before = before;
    trigger.after = after;
    if (Status status = check_trigger(trigger); !status) {
      const std::string& message = status.message();  // about an option, which the page does not have
      return {status.code(), message.starts_with("--") ? message.substr(2) : message};
    }
    const std::lock_guard lock(mutex_);  // guards the read-modify-write of the control file
    return cli::arm(run_directory, trigger).status();
  }

 private:
  std::mutex mutex_;
};

// The last part of a directory's path, which prefixes the names of its runs if several are served.
std::string last_part(const std::string& directory) {
  const Result<std::string> real = base::real_path(directory);
  const std::string path = real ? *real : directory;
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return "root";
  const std::size_t begin = path.rfind('/', end);
  return path.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

Result<std::vector<query::Served>> open_logs(const std::vector<std::string>& directories) {
  std::vector<query::Served> logs;
  std::map<std::string, int> labels;
  for (const std::string& directory : directories) {
    Result<Log> log = Log::open(directory, {.follow = LogOptions::Follow::live, .links = LogOptions::Links::inside});
    if (!log) return log.error();
    std::string label;
    if (directories.size() > 1) {
      label = last_part(directory);
      // "b-2" may be the name of a directory, too.
      std::string unique = label;
      for (int n = 2; labels.contains(unique); ++n) unique = label + "-" + std::to_string(n);
      label = unique;
      labels[label] = 1;
    }
    logs.push_back({std::move(label), directory, *std::move(log)});
  }
  return logs;
}

// Each connection takes a file descriptor; half of them are reserved for logs. Systems often start with few.
std::size_t raise_connection_limit(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlim_t enough = std::min<rlim_t>(limit.rlim_max, 4 * wanted);
  if (limit.rlim_cur < enough) {
    const rlimit raised = {enough, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = enough;
  }
  return std::min<std::size_t>(wanted, limit.rlim_cur / 2);
}

// Listens on the given port; without one, on the default or the next free one.
Result<std::unique_ptr<server::Server>> start(server::ServerOptions options, const ServeOptions& wanted,
                                              const std::shared_ptr<query::Api>& api) {
  options.port = wanted.port.value_or(kUsualPort);
  Result<std::unique_ptr<server::Server>> started = server::Server::start(options, api);
  if (started || started.error().code() != Code::exhausted) return started;
  const std::string sentence = started.error().message();
  const std::uint16_t free = server::free_port(options.host, options.port + 1);
  if (free == 0) return Status(Code::exhausted, sentence + ", and so are the following ones: choose one with --port");
  if (wanted.port) {
    return Status(Code::exhausted, sentence + ": the next free one is " + std::to_string(free) + " (--port " +
                                       std::to_string(free) + ")");
  }
  note(sentence + ", using port " + std::to_string(free));
  options.port = free;
  return server::Server::start(options, api);
}

// The ssh command with which a remote user can reach this page; empty if the user does not seem to be remote.
std::string tunnel(const server::Server& server) {
  const char* const connection = std::getenv("SSH_CONNECTION");
  if (connection == nullptr || !server.loopback()) return {};
  // The client's address and port, then this machine's as the client sees them.
  std::vector<std::string> parts;
  for (std::string_view rest = connection; !rest.empty();) {
    parts.emplace_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(parts.back().size() + 1, rest.size()));
  }
  if (parts.size() != 4) return {};
  const char* const user = std::getenv("USER");
  const std::string port = std::to_string(server.port());
  std::string text = "ssh -L " + port + ":" + server.address() + ":" + port + " ";
  if (parts[3] != "22") text += "-p " + parts[3] + " ";
  if (user != nullptr && *user != '\0') text.append(user).append("@");
  return text + parts[2];
}

void print_address(const server::Server& server, const ServeOptions& options, const std::string& token) {
  const bool color = colored(stdout);
  const auto heading = [&](std::string_view text) { return styled(text, Style::bold, color); };
  const bool everywhere = server.address() == "0.0.0.0" || server.address() == "[::]";
  const std::string host = everywhere ? base::host_name() : server.address();
  std::string prefix = options.path_prefix;
  prefix.erase(0, std::min(prefix.find_first_not_of('/'), prefix.size()));
  while (prefix.ends_with('/')) prefix.pop_back();
  std::string directories;
  for (const std::string& directory : options.directories) {
    directories.append(directories.empty() ? "" : ", ").append(harmless(directory));
  }
  print(heading("Log   ") + directories + "\n");
  print(heading("Page  ") +
        styled("http://" + host + ":" + std::to_string(server.port()) + "/" + prefix + (prefix.empty() ? "" : "/") +
                   "?token=" + token,
               Style::cyan, color) +
        "\n");
  if (const std::string line = tunnel(server); !line.empty()) {
    print(heading("Far   ") + harmless(line) + "   run this first on the machine with your browser\n");
  }
  print("      Ctrl-C stops it.\n");
  std::fflush(stdout);
}

// Blocks Ctrl-C and SIGTERM until somebody waits for them. Other threads never get them.
class Interrupts {
 public:
  Interrupts() noexcept {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  void wait() const noexcept {
    int signal = 0;
    sigwait(&signals_, &signal);
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

// Reading a large log or answering an expensive question may take seconds, and it is safe to abandon them: files get
// their final names only when they are complete. So the process ends soon after this, whatever it is doing.
void end_soon() {
  constexpr std::chrono::milliseconds kPatience{100};
  Result<base::Thread> last = base::Thread::start("sonde-end", [kPatience] {
    std::this_thread::sleep_for(kPatience);
    std::_Exit(kSuccess);
  });
  if (last) last->detach();
}

// A program that starts this one holds the other end of a pipe, which the system closes however that program ends.
Status stop_at_end_of_input() {
  Result<base::Thread> thread = base::Thread::start("sonde-input", [] {
    while (std::fgetc(stdin) != EOF) {
    }
    kill(getpid(), SIGTERM);
  });
  if (!thread) return thread.error();
  thread->detach();
  return Status::success();
}

class Serve final : public Subcommand {
 public:
  Serve()
      : Subcommand({.name = "serve",
                    .usage = "serve LOGDIR... [options]",
                    .summary = "show logs in the browser, live",
                    .details =
                        "Serves the page for one or more log directories: those of Sonde and all that TensorBoard can "
                        "open. New data appears by itself.\n"
                        "Only this machine can reach it unless --host says otherwise; then everything needs the token, "
                        "which is part of the address that is printed. Notes, deleting and arming always need it. "
                        "--allow-origin lets other pages query and embed this one, with the token: notebooks, and "
                        "proxies by the address that browsers see. 'sonde LOGDIR' does the same.",
                    .examples = {"sonde serve logs", "sonde serve logs/a logs/b --port 7000",
                                 "sonde serve logs --host 0.0.0.0",
                                 "sonde serve logs --path-prefix /board --allow-origin https://example.org"}}) {}

  void setup(Flags& flags) override {
    flags.optional_arguments(options_.directories, "LOGDIR", "directories with runs");
    flags.option(more_, "--logdir", "D", "the same, as in TensorBoard");
    flags.option(options_.host, "--host", "H", "the address to listen on (127.0.0.1)");
    flags.option(port_, "--port", "N", "the port (6006, or the next free one); 0: any");
    flags.option(options_.path_prefix, "--path-prefix", "/X", "the path below which a proxy serves the page");
    flags.option(options_.allow_origins, "--allow-origin", "O", "an origin that may query and embed the page");
    flags.option(options_.token, "--token", "T", "the token (generated)");
    flags.toggle(options_.stop_at_eof, "--stop-at-eof", "stop when standard input ends: for programs that start it");
  }

  int run() override {
    options_.directories.insert(options_.directories.end(), more_.begin(), more_.end());
    if (options_.directories.empty()) return fail("LOGDIR is missing: directories with runs; see 'sonde help serve'");
    if (port_ != kNoPort) {
      if (port_ < 0 || port_ > std::numeric_limits<std::uint16_t>::max()) {
        return fail("--port is " + std::to_string(port_) + ", but must be 0 to 65535");
      }
      options_.port = static_cast<std::uint16_t>(port_);
    }
    return serve(options_);
  }

 private:
  static constexpr std::int64_t kNoPort = std::numeric_limits<std::int64_t>::min();
  ServeOptions options_;
  std::vector<std::string> more_;
  std::int64_t port_ = kNoPort;
};

}  // namespace

int serve(const ServeOptions& options) {
  Result<std::vector<query::Served>> logs = open_logs(options.directories);
  if (!logs) return fail(logs.error());
  Result<std::string> token = options.token.empty() ? server::make_token() : options.token;
  if (!token) return fail(token.error());
  const Interrupts interrupts;
  const auto api = std::make_shared<query::Api>(*std::move(logs), std::make_shared<PageActions>());
  server::ServerOptions server_options;
  server_options.host = options.host;
  server_options.path_prefix = options.path_prefix;
  server_options.allow_origins = options.allow_origins;
  server_options.token = *token;
  server_options.assets = server::assets();
  server_options.limits.connections = raise_connection_limit(server_options.limits.connections);
  const Result<std::unique_ptr<server::Server>> server = start(server_options, options, api);
  if (!server) return fail(server.error());
  if (server::assets().empty()) note("this program was built without the page: only its API is served");
  print_address(**server, options, *token);
  if (options.stop_at_eof) {
    if (const Status status = stop_at_end_of_input(); !status) return fail(status);
  }
  interrupts.wait();
  (*server)->stop();
  end_soon();
  return kSuccess;
}

std::unique_ptr<Subcommand> make_serve_command() { return std::make_unique<Serve>(); }

}  // namespace sonde::cli
