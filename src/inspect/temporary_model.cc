#include "inspect/temporary_model.h"

#include <atomic>
#include <cstdlib>

#include "base/directory.h"
#include "base/file.h"
#include "base/process.h"

namespace sonde::inspect {

Result<TemporaryModel> TemporaryModel::create(std::string_view bytes, std::string_view extension) {
  static std::atomic<std::uint64_t> made{0};
  const char* named = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nobody in the library changes it
  const std::string parent = named != nullptr && *named != '\0' ? named : "/tmp";
  // A new directory, which nobody else can have prepared.
  for (int tries = 0; tries < 1000; ++tries) {
    const std::string directory = base::join_path(
        parent, "sonde-model-" + std::to_string(base::process_id()) + "-" + std::to_string(made.fetch_add(1)));
    if (Status created = base::make_new_directory(directory); !created) {
      if (created.code() == Code::exhausted) continue;
      return created;
    }
    TemporaryModel model(base::join_path(directory, "model" + std::string(extension)));
    if (Status written = base::write_file(model.path_, bytes); !written) return written;
    return model;
  }
  return Status(Code::exhausted, "'" + parent + "' has too many leftovers: remove sonde-model-* there");
}

TemporaryModel::~TemporaryModel() {
  if (path_.empty()) return;
  static_cast<void>(base::remove_file(path_));
  static_cast<void>(base::remove_empty_directory(path_.substr(0, path_.rfind('/'))));
}

}  // namespace sonde::inspect
