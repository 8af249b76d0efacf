// One capture of a run.
#include <algorithm>
#include <utility>

#include "formats/capture_json.h"
#include "query/answers.h"
#include "store/access.h"

namespace sonde::query {

Result<Answer> answer_capture(const Context& context, const Params& params) {
  constexpr std::size_t kLargest = std::size_t{16} << 20;  // bytes
  const auto run_name = params.text("run");
  if (!run_name) return run_name.error();
  const auto name = params.text("name");
  if (!name) return name.error();
  const auto item = context.catalogue->run(*run_name);
  if (!item) return item.error();
  const store::RunSource& source = store::Access::source(item->entry->run);
  const std::vector<std::string> paths = source.captures();
  const auto found = std::ranges::find_if(
      paths, [&](const std::string& path) { return std::string_view(path).substr(path.rfind('/') + 1) == *name; });
  if (found == paths.end()) {
    return Status(Code::not_found, "the run " + in_quotes(*run_name) + " has no capture " + in_quotes(*name));
  }
  const Result<CaptureInfo> info = source.capture(*found);
  if (!info) return info.error();
  std::string json = capture_json::encode(*info, find_origin(*info));
  if (json.size() > kLargest) {
    return Status(Code::exhausted,
                  "the capture " + in_quotes(*name) + " is too large for a page; 'sonde captures' prints it");
  }
  return json_answer(std::move(json));
}

}  // namespace sonde::query
