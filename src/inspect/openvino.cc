#include "inspect/openvino.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/directory.h"
#include "base/file.h"
#include "base/shared_library.h"

namespace sonde::inspect {
namespace {

constexpr const char* kPlugin = "libsonde_openvino.so";

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody in the library changes it
  return value != nullptr ? value : "";
}

bool exists(const std::string& path) { return base::file_state(path).ok(); }

// The places of the plugin, from the directory of the program or library: in a build folder, in an installed tree, in
// the Python package.
std::string find_plugin() {
  const std::string here = base::directory_of_this_code();
  for (const char* place : {"../lib/sonde", "../" SONDE_LIBDIR "/sonde", "sonde", "lib/sonde", ".", "..",
                            "../../lib/sonde", "../../" SONDE_LIBDIR "/sonde"}) {
    std::string path = here + "/" + place + "/" + kPlugin;
    if (exists(path)) return path;
  }
  return {};
}

// Below a prefix such as /usr, where Python keeps packages.
void add_packages(const std::string& prefix, std::vector<std::string>& found) {
  for (const char* lib : {"/lib", "/local/lib"}) {
    const auto listed = base::read_directory(prefix + lib);
    if (!listed) continue;
    for (const base::DirectoryEntry& entry : listed->entries) {
      if (!entry.name.starts_with("python3")) continue;
      for (const char* packages : {"/site-packages", "/dist-packages"}) {
        found.push_back(prefix + lib + "/" + entry.name + packages);
      }
    }
  }
}

// Directories that may hold the Python package `openvino`.
std::vector<std::string> package_directories() {
  const std::string here = base::directory_of_this_code();
  std::vector<std::string> found = {here + "/..", here + "/../.."};  // beside the Python package of Sonde
  std::vector<std::string> programs = {environment("SONDE_PYTHON")};
  std::string path = environment("PATH");
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    programs.push_back(std::string(rest.substr(0, end)) + "/python3");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const std::string& program : programs) {
    const std::size_t bin = program.rfind("/bin/");
    if (bin != std::string::npos && exists(program)) add_packages(program.substr(0, bin), found);
  }
  if (const std::string home = environment("HOME"); !home.empty()) add_packages(home + "/.local", found);
  return found;
}

std::string how_to_get_it() {
  return "install it with 'pip install openvino==" SONDE_OPENVINO_VERSION
         "', or name its folder in the environment variable SONDE_OPENVINO";
}

// Makes libopenvino known to the loader, so that the plugin finds it under its name.
Status load_openvino() {
  if (const std::string named = environment("SONDE_OPENVINO"); !named.empty()) {
    for (const char* place : {"", "/libs", "/openvino/libs", "/lib"}) {
      const std::string path = named + place + "/" SONDE_OPENVINO_LIBRARY;
      if (exists(path)) return base::SharedLibrary::open(path).status();
    }
    return {Code::not_found, "SONDE_OPENVINO is '" + named +
                                 "', but there is no " SONDE_OPENVINO_LIBRARY
                                 "; install OpenVINO there with 'pip install --target " +
                                 named + " openvino==" SONDE_OPENVINO_VERSION "'"};
  }
  for (const std::string& packages : package_directories()) {
    const std::string path = packages + "/openvino/libs/" SONDE_OPENVINO_LIBRARY;
    if (exists(path)) return base::SharedLibrary::open(path).status();
  }
  return {};  // the loader may know it
}

Result<const Plugin*> load_plugin() {
  const std::string path = find_plugin();
  if (path.empty()) {
    return Status(
        Code::unsupported,
        "this build of Sonde cannot run models: it has no " + std::string(kPlugin) +
            "; build it where OpenVINO can be installed, or name another runtime, as in model.onnx@onnxruntime");
  }
  // In a build folder the plugin itself knows where OpenVINO is.
  Result<base::SharedLibrary> library = Status(Code::not_found, "");
  if (environment("SONDE_OPENVINO").empty()) library = base::SharedLibrary::open(path);
  if (!library) {
    if (Status loaded = load_openvino(); !loaded) return loaded;
    library = base::SharedLibrary::open(path);
  }
  if (!library) {
    const bool absent = library.error().message().find("libopenvino") != std::string::npos;
    return Status(Code::not_found, absent ? "OpenVINO, which runs saved models, was not found; " + how_to_get_it()
                                          : "cannot load '" + path + "': " + library.error().message());
  }
  const Result<void*> function = library->find(kOpenvinoFunction);
  if (!function) return function.error();
  const Plugin* plugin = reinterpret_cast<PluginFunction>(*function)();
  if (std::string_view(plugin->sonde_version) != SONDE_VERSION) {
    return Status(Code::unsupported, "'" + path + "' belongs to Sonde " + plugin->sonde_version +
                                         ", but this is Sonde " SONDE_VERSION "; install both again");
  }
  return plugin;
}

}  // namespace

Result<const Plugin*> openvino_plugin() {
  static std::mutex mutex;
  static const Plugin* loaded = nullptr;  // a failure is not kept: it may be mended
  const std::scoped_lock lock(mutex);
  if (loaded != nullptr) return loaded;
  Result<const Plugin*> found = load_plugin();
  if (found) loaded = *found;
  return found;
}

}  // namespace sonde::inspect
