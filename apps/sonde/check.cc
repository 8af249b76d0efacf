// sonde check: verifies the files of a log, and can write a copy without damage.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/json_writer.h"
#include "interrupt.h"
#include "progress.h"
#include "render/console.h"
#include "repair.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"
#include "verify.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kDamaged = 1;

class Check final : public Subcommand {
 public:
  Check()
      : Subcommand(
            {.name = "check",
             .usage = "check LOGDIR|FILE [options]",
             .summary = "verify every checksum of a log directory",
             .details =
                 "Reads all event and statistics files: verifies the checksums of every record, and that its "
                 "content can be decoded. Each damaged place is printed with its file, offset, size and the "
                 "reason. A record that is cut off at the end of a file counts as damage; in a log that is "
                 "being written it may just not be complete yet.\n"
                 "--repair writes a copy of the directory with the intact records of those files, byte for "
                 "byte, and all other files unchanged. The log itself is never changed.\n"
                 "Exit status: 0 everything is intact, 1 something is damaged (repaired or not), 2 something cannot "
                 "be read.",
             .examples = {"sonde check logs", "sonde check logs --repair clean", "sonde check logs --json"}}) {}

  void setup(Flags& flags) override {
    flags.argument(path_, "LOGDIR|FILE", "a directory with runs, or one event or statistics file");
    flags.path_option(out_, "--repair", "OUT",
                      "write a copy without the damaged records; OUT is new, or an empty directory");
    flags.toggle(json_, "--json", "for programs");
  }

  int run() override {
    if (Status status = find_files(); !status) return fail(status);
    if (!out_.empty()) {
      if (Status status = CleanCopy::check_target(path_, out_); !status) return fail(status);
      copy_.emplace(out_, single_file_);
    }
    if (Status status = look(); !status) return fail(status);
    if (copy_) {
      if (Status status = copy_->finish(); !status) return fail(status);
    }
    print(json_ ? json() : text());
    int code = damaged_places_ > 0 ? kDamaged : kSuccess;
    for (const std::string& problem : tree_.problems) code = fail(problem);
    return code;
  }

 private:
  struct Finding {
    const TreeFile* file;
    Verdict verdict;
  };

  Status find_files() {
    std::error_code error;
    if (!fs::exists(path_, error)) {
      return {Code::not_found, error ? "cannot access '" + path_ + "': " + error.message()
                                     : "there is no file or directory '" + path_ + "'"};
    }
    single_file_ = !fs::is_directory(path_, error);
    if (single_file_) {
      const Result<base::FileState> state = base::file_state(path_);
      if (!state) return state.error();
      const std::string name = fs::path(path_).filename().string();
      tree_.files.push_back({path_, name, record_kind(name), state->size});
      return Status::success();
    }
    Result<Tree> tree = walk(path_);
    if (!tree) return tree.error();
    tree_ = *std::move(tree);
    return Status::success();
  }

  // Reads all files, and copies them if a copy is wanted.
  Status look() {
    Progress progress(std::string(copy_ ? "repairing " : "checking ") + path_);
    std::uint64_t total = 0;
    for (const TreeFile& file : tree_.files) total += relevant(file) ? file.size : 0;
    std::uint64_t before = 0;
    std::size_t looked_at = 0;
    for (const TreeFile& file : tree_.files) {
      if (!relevant(file)) continue;
      if (Status status = not_interrupted(); !status) return status;
      if (is_records(file)) {
        ++looked_at;
        const auto tell = [&](std::uint64_t bytes) { progress.update(before + bytes, total); };
        if (Status status = look_at(file, tell); !status) return status;
      } else {
        std::string problem;
        if (Status status = copy_->add_file(file, problem); !status) return status;
        if (!problem.empty()) tree_.problems.push_back(std::move(problem));
      }
      progress.update(before += file.size, total);
    }
    if (looked_at == 0 && tree_.problems.empty()) {
      return {Code::not_found, "there are no event or statistics files in '" + path_ + "'"};
    }
    return Status::success();
  }

  bool is_records(const TreeFile& file) const noexcept { return file.kind != RecordKind::none || single_file_; }
  bool relevant(const TreeFile& file) const noexcept { return is_records(file) || copy_; }

  // A file that cannot be read is a problem, and the others are still checked. Fails if the copy cannot be written.
  Status look_at(const TreeFile& file, const std::function<void(std::uint64_t)>& tell) {
    const Result<base::InputFile> content = base::InputFile::open(file.path);
    if (!content) {
      tree_.problems.push_back(content.error().message());
      return Status::success();
    }
    Result<Verdict> verdict = verify(*content, file.kind, tell);
    if (!verdict) {
      if (Status status = not_interrupted(); !status) return status;
      tree_.problems.push_back("cannot read '" + file.path + "': " + verdict.error().message());
      return Status::success();
    }
    if (file.kind == RecordKind::none && verdict->records == 0) {
      return {Code::unsupported, "'" + file.path + "' is not an event or statistics file"};
    }
    if (copy_) {
      if (Status status = copy_->add_records(file, *content, *verdict); !status) return status;
    }
    ++files_;
    if (verdict->size == 0) empty_files_.push_back(file.path);
    bytes_ += verdict->size;
    records_ += verdict->records;
    newer_ += verdict->newer;
    damaged_places_ += verdict->damage.size();
    for (const DamagedPart& part : verdict->damage) damaged_bytes_ += part.size;
    if (!verdict->damage.empty()) findings_.push_back({&file, *std::move(verdict)});
    return Status::success();
  }

  std::string text() const {
    std::string out = styled(harmless(path_), Style::bold, color_) + "  " + counted(files_, "file") + ", " +
                      counted(records_, "intact record") + ", " + size_text(bytes_) + "\n";
    for (const Finding& finding : findings_) out += finding_text(finding);
    if (!findings_.empty()) out += "\n";
    if (!empty_files_.empty()) {
      out += listed(empty_files_) + (empty_files_.size() == 1 ? " is empty\n" : " are empty\n");
    }
    if (newer_ > 0) out += counted(newer_, "record") + " of a newer Sonde, which this one cannot decode\n";
    if (findings_.empty()) {
      out += tree_.problems.empty() ? styled("everything is intact", Style::green, color_) + "\n" : "";
    } else {
      out += styled(counted(damaged_places_, "damaged place"), Style::red, color_) + " in " +
             counted(findings_.size(), "file") + ", " + size_text(damaged_bytes_);
      out += copy_ ? "\n" : "; --repair OUT writes a copy without them\n";
    }
    if (!copy_) return out;
    out += styled(harmless(out_), Style::bold, color_) + "  a copy";
    out +=
        findings_.empty() ? "" : " with all " + counted(records_, "intact record") + ", without what is listed above";
    if (!tree_.problems.empty()) {
      out += ", without what cannot be read\n";
    } else {
      out += findings_.empty() ? ", with nothing left out\n" : "\n";
    }
    for (const std::string& other : tree_.others) {
      out += "left out: " + render::printable(other) + ", which is neither a file nor a directory\n";
    }
    return out;
  }

  std::string finding_text(const Finding& finding) const {
    std::string out = "\n";
    out.append(harmless(finding.file->path)).append("\n");
    std::size_t offset_width = 0;
    std::size_t size_width = 0;
    for (const DamagedPart& part : finding.verdict.damage) {
      offset_width = std::max(offset_width, std::to_string(part.offset).size());
      size_width = std::max(size_width, counted(part.size, "byte").size());
    }
    for (const DamagedPart& part : finding.verdict.damage) {
      out += "  at " + padded_left(std::to_string(part.offset), offset_width) + "  " +
             padded_left(counted(part.size, "byte"), size_width) + "  " +
             styled(render::printable(part.reason), part.unfinished ? Style::yellow : Style::red, color_) + "\n";
    }
    return out;
  }

  std::string json() const {
    formats::JsonWriter json;
    json.object().key("verdict").text(damaged_places_ > 0 ? "damaged" : "sound").key("files").integer(files_);
    json.key("records").integer(records_).key("bytes").integer(bytes_).key("damage").array();
    for (const Finding& finding : findings_) {
      for (const DamagedPart& part : finding.verdict.damage) {
        json.object().key("file").text(finding.file->path).key("offset").integer(part.offset);
        json.key("size").integer(part.size).key("reason").text(part.reason);
        json.key("unfinished").truth(part.unfinished).end();
      }
    }
    json.end().key("unreadable").texts(tree_.problems);
    if (copy_) json.key("repaired").text(out_);
    return json.end().take() + "\n";
  }

  std::string path_;
  std::string out_;
  bool json_ = false;
  bool color_ = colored(stdout);
  bool single_file_ = false;
  Tree tree_;
  std::optional<CleanCopy> copy_;
  std::vector<Finding> findings_;  // of damaged files
  std::vector<std::string> empty_files_;
  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t newer_ = 0;
  std::uint64_t damaged_places_ = 0;
  std::uint64_t damaged_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Subcommand> make_check_command() { return std::make_unique<Check>(); }

}  // namespace sonde::cli
