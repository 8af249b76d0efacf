// sonde doctor: checks whether this machine is suitable for recording, one line per check.
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/byte_size.h"
#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/system_limits.h"
#include "formats/json_writer.h"
#include "index/cache.h"
#include "render/digits.h"
#include "sinks/flight_ring.h"
#include "stats/target.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

struct Check {
  std::string name;
  bool good = true;
  std::string text;  // the finding; if it is not good, also what to do
};

std::string bytes_text(double bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1023.5 && unit < 4; ++unit) bytes /= 1024;
  return render::brief(bytes) + " " + std::string(kUnits[unit]);
}

// The content of a kernel file; empty if there is none.
std::string content_of(const std::string& path) {
  Result<std::string> content = base::read_file(path);
  return content ? *std::move(content) : "";
}
std::string kernel_value(const std::string& path) {
  const std::string content = content_of(path);
  return content.substr(0, content.find('\n'));
}

// The text after "<key> ... :" in files like /proc/cpuinfo.
std::string field(const std::string& content, std::string_view key) {
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    if (colon != std::string::npos && value != std::string::npos) return line.substr(value);
  }
  return "";
}

Check check_build() {
  const std::string type = SONDE_BUILD_TYPE;
  Check check{"build", true, type.empty() ? "no build type" : type};
  check.good = type == "Release" || type == "RelWithDebInfo" || type == "MinSizeRel";
#if defined(__clang__)
  check.text += ", clang " __clang_version__;
#else
  check.text += ", g++ " __VERSION__;
#endif
  if (!check.good) check.text += "; recording is slow in this build: use -DCMAKE_BUILD_TYPE=Release";
  return check;
}

Check check_cpu() {
  const std::string info = content_of("/proc/cpuinfo");
  std::string model = field(info, "model name");
  if (model.empty()) model = "unknown model";
  Check check{"cpu", true, std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + " x " + model};
  std::istringstream flags(field(info, "flags"));
  constexpr std::array kInteresting = {"sse4_2",  "avx2",     "fma",         "f16c",
                                       "avx512f", "avx512bw", "avx512_bf16", "avx512_fp16"};
  std::string_view separator = ", ";
  for (std::string flag; flags >> flag;) {
    if (std::ranges::find(kInteresting, flag) == kInteresting.end()) continue;
    check.text.append(separator).append(flag);
    separator = " ";
  }
  return check;
}

Check check_simd() {
  const std::string target = stats::simd_target();
  const bool good = target != "SCALAR" && target != "EMU128" && !target.starts_with("SSE") && target != "SSSE3";
  return {"simd", good, target + (good ? "" : ": statistics are much slower than with AVX2")};
}

Check check_clock() {
  const std::string source = kernel_value("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const std::string name = source.empty() ? "unknown source" : source;
  if (base::tsc_is_clock()) return {"clock", true, name + ", read without a system call"};
  return {"clock", false, name + ", not tsc: a time stamp takes longer than recording a number"};
}

struct FileSystem {
  long magic;
  std::string_view name;
  bool network;
};
constexpr std::array kFileSystems = {
    FileSystem{0xEF53, "ext4", false},        FileSystem{0x58465342, "xfs", false},
    FileSystem{0x9123683E, "btrfs", false},   FileSystem{0x01021994, "tmpfs", false},
    FileSystem{0x794C7630, "overlay", false}, FileSystem{0x2FC12FC1, "zfs", false},
    FileSystem{0xF2F52010, "f2fs", false},    FileSystem{0x6969, "nfs", true},
    FileSystem{0xFF534D42, "cifs", true},     FileSystem{0xFE534D42, "smb2", true},
    FileSystem{0x517B, "smb", true},          FileSystem{0x65735546, "fuse", true},
    FileSystem{0x0BD00BD0, "lustre", true},   FileSystem{0x00C36400, "ceph", true},
    FileSystem{0x47504653, "gpfs", true},     FileSystem{0x01021997, "9p", true},
    FileSystem{0x19830326, "beegfs", true},
};

void check_directory(const std::string& directory, std::vector<Check>& checks) {
  std::error_code error;
  const std::string path = std::filesystem::canonical(directory, error).string();
  const bool writable = ::access(directory.c_str(), W_OK | X_OK) == 0;
  checks.push_back({"directory", writable, path + (writable ? ", writable" : ": nothing can be written here")});
  struct statfs info{};
  if (::statfs(directory.c_str(), &info) != 0) return;
  const double free = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_bsize);
  const bool enough = free >= 1024.0 * 1024 * 1024;
  checks.push_back({"space", enough, bytes_text(free) + " free" + (enough ? "" : ": a long run needs more")});
  const auto known = std::ranges::find_if(
      kFileSystems, [&](const FileSystem& one) { return one.magic == static_cast<long>(info.f_type); });
  if (known == kFileSystems.end()) {
    checks.push_back({"file system", true, "unknown type"});
  } else if (known->network) {
    checks.push_back({"file system", false,
                      std::string(known->name) + ", a network file system: record on a local disk, copy later"});
  } else {
    checks.push_back({"file system", true, std::string(known->name)});
  }
}

Check check_open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const bool good = limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= 1024;
  const std::string count = limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur);
  return {"open files", good, count + (good ? "" : ": raise it with 'ulimit -n 4096'")};
}

// Above this limit the kernel writes dirty pages back in the background: the flight ring should stay below it.
Check check_dirty_limit() {
  const std::string ring =
      "; a flight ring has " + bytes_text(static_cast<double>(sinks::FlightRing::default_bytes())) + " by default";
  const std::optional<std::uint64_t> limit = base::background_dirty_limit();
  if (!limit) return {"dirty pages", true, "unknown limit" + ring};
  const bool good = *limit >= std::uint64_t{64} << 20;
  return {"dirty pages", good,
          "written back in the background from " + bytes_text(static_cast<double>(*limit)) + " on" +
              (good ? ring : ": raise vm.dirty_background_bytes for bursts of tensors and the flight ring")};
}

Check check_tensorboard() {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string candidate = base::join_path(directory.empty() ? "." : directory, "tensorboard");
    if (::access(candidate.c_str(), X_OK) == 0) return {"tensorboard", true, candidate};
  }
  return {"tensorboard", true, "not on PATH (optional: pip install tensorboard)"};
}

// Where the index caches what it has read of logs.
Check check_cache() {
  const Result<std::string> directory = base::user_cache_directory();
  if (!directory) return {"cache", true, "none: " + directory.error().message()};
  const std::string path = base::join_path(*directory, "sonde");
  const char* const setting = std::getenv("SONDE_CACHE_SIZE");
  if (setting != nullptr && !base::parse_byte_size(setting)) {
    return {"cache", false, path + ": SONDE_CACHE_SIZE is '" + setting + "', which is not a size such as 500MB"};
  }
  const index::CacheUse use = index::cache_use(path);
  return {"cache", true,
          path + ": " + counted(use.files, "file") + ", " + bytes_text(static_cast<double>(use.bytes)) +
              " of at most " + bytes_text(static_cast<double>(index::cache_limit()))};
}

class Doctor final : public Subcommand {
 public:
  Doctor()
      : Subcommand({.name = "doctor",
                    .usage = "doctor [options]",
                    .summary = "check whether this machine is suitable for recording",
                    .examples = {"sonde doctor", "sonde doctor --dir /data/logs"}}) {}

  void setup(Flags& flags) override {
    flags.path_option(directory_, "--dir", "D", "where logs will be written (the current directory)");
    flags.toggle(json_, "--json", "for programs");
  }

  int run() override {
    std::error_code error;
    if (!std::filesystem::is_directory(directory_, error)) return fail("'" + directory_ + "' is not a directory");
    std::vector<Check> checks = {{"version", true, SONDE_VERSION},
                                 check_build(),
                                 check_cpu(),
                                 check_simd(),
                                 check_clock(),
                                 {"page size", true, bytes_text(static_cast<double>(::sysconf(_SC_PAGESIZE)))}};
    check_directory(directory_, checks);
    checks.push_back(check_open_files());
    checks.push_back(check_dirty_limit());
    checks.push_back(check_cache());
    checks.push_back(check_tensorboard());
    json_ ? print_json(checks) : print_text(checks);
    return kSuccess;
  }

 private:
  static void print_text(const std::vector<Check>& checks) {
    const bool color = colored(stdout);
    std::size_t width = 0;
    for (const Check& check : checks) width = std::max(width, check.name.size());
    for (const Check& check : checks) {
      print((check.good ? styled("ok  ", Style::green, color) : styled("warn", Style::yellow, color)) + "  " +
            styled(check.name, Style::bold, color) + std::string(width + 2 - check.name.size(), ' ') +
            harmless(check.text) + "\n");
    }
  }

  static void print_json(const std::vector<Check>& checks) {
    formats::JsonWriter json;
    json.object().list("checks", checks, [&](const Check& check) {
      json.object().key("name").text(check.name).key("status").text(check.good ? "ok" : "warn");
      json.key("text").text(check.text).end();
    });
    print(json.end().take() + "\n");
  }

  std::string directory_ = ".";
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> make_doctor_command() { return std::make_unique<Doctor>(); }

}  // namespace sonde::cli
