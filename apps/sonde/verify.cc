#include "verify.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "base/directory.h"
#include "base/file.h"
#include "formats/stats_record.h"
#include "formats/tfevents_decode.h"
#include "formats/tfrecord.h"
#include "index/run_files.h"
#include "interrupt.h"

namespace sonde::cli {
namespace {

using tfrecord::RecordReader;

constexpr std::string_view kUnfinished = "the file ends in the middle of a record: cut off, or still being written";

class TreeWalker {
 public:
  Status add(const std::string& path, const std::string& relative) {
    const Result<base::Directory> directory = base::read_directory(path);
    if (!directory) return directory.error();
    // A link to a directory above would never end.
    if (std::ranges::any_of(above_, [&](const base::FileState& state) { return state.same_file(directory->state); })) {
      return Status::success();
    }
    above_.push_back(directory->state);
    for (const base::DirectoryEntry& entry : directory->entries) {
      add_entry(entry, base::join_path(path, entry.name),
                relative.empty() ? entry.name : base::join_path(relative, entry.name));
    }
    above_.pop_back();
    return Status::success();
  }

  Tree tree;

 private:
  void add_entry(const base::DirectoryEntry& entry, const std::string& path, const std::string& relative) {
    if (entry.type == base::DirectoryEntry::Type::directory) {
      if (Status status = add(path, relative); !status) tree.problems.push_back(status.message());
    } else if (entry.type == base::DirectoryEntry::Type::file) {
      const Result<base::FileState> state = base::file_state(path);
      tree.files.push_back({path, relative, record_kind(entry.name), state ? state->size : 0});
    } else {
      tree.others.push_back(path);
    }
  }

  std::vector<base::FileState> above_;
};

// Checks the payloads of one file, in order.
class Payloads {
 public:
  explicit Payloads(RecordKind kind) : kind_(kind) {}

  // The error, half a sentence; empty if there is none.
  std::string flaw(base::Bytes payload) {
    return kind_ == RecordKind::statistics ? statistics(payload) : event(payload);
  }
  std::uint64_t newer() const noexcept { return newer_; }

 private:
  std::string event(base::Bytes payload) {
    if (const Status status = tfevents::decode_event(payload, event_); !status) {
      return "the event cannot be decoded: " + status.message();
    }
    for (const tfevents::Value& value : event_.values) {
      if (!is_scalar(value)) continue;
      if (const Result<double> number = as_scalar(value); !number) {
        return "the value of the scalar '" + std::string(value.tag) + "' cannot be used: " + number.error().message();
      }
    }
    return "";
  }

  // Only the first value of a tag says what its tensors are.
  bool is_scalar(const tfevents::Value& value) {
    if (value.form == tfevents::Value::Form::simple_value) return true;
    if (value.form != tfevents::Value::Form::tensor) return false;
    const std::string_view plugin = value.plugin_name();
    if (!plugin.empty()) return scalar_tags_.try_emplace(std::string(value.tag), plugin == "scalars").first->second;
    const auto known = scalar_tags_.find(std::string(value.tag));
    return known != scalar_tags_.end() && known->second;
  }

  std::string statistics(base::Bytes payload) {
    const Result<stats_record::Record> record = stats_record::decode_record(payload);
    if (!record) return "the statistics cannot be decoded: " + record.error().message();
    if (std::holds_alternative<stats_record::Newer>(*record)) ++newer_;
    const auto* step = std::get_if<stats_record::Step>(&*record);
    if (step == nullptr) return "";
    for (const stats_record::Entry& entry : step->entries) {
      if (!entry.histogram) continue;
      const Status status = stats_record::decode_histogram(*entry.histogram).status();
      if (!status) return "a histogram cannot be decoded: " + status.message();
    }
    return "";
  }

  RecordKind kind_;
  tfevents::Event event_;
  std::unordered_map<std::string, bool> scalar_tags_;
  std::uint64_t newer_ = 0;
};

class Verifier {
 public:
  Verifier(RecordKind kind, std::uint64_t size) : payloads_(kind) { verdict_.size = size; }

  // Checks the records that begin in `window`, which begins at `base`, and returns the number of bytes that are
  // finished. In the last window that is all of it.
  std::size_t look(base::Bytes window, std::uint64_t base) {
    const bool last = base + window.size() >= verdict_.size;
    // For a complete file: also checks what follows a truncated record.
    RecordReader reader(window, last ? RecordReader::Tail::complete : RecordReader::Tail::growing, base);
    while (true) {
      const RecordReader::Found found = reader.next();
      if (found == RecordReader::Found::end) return window.size();
      if (found == RecordReader::Found::partial) return static_cast<std::size_t>(reader.offset() - base);
      if (found == RecordReader::Found::record) {
        look_at_record(reader);
      } else {
        RecordReader growing(window.subspan(static_cast<std::size_t>(reader.offset() - base)));
        const bool at_end = reader.offset() + reader.size() == verdict_.size;
        add_damage(reader, at_end && growing.next() == RecordReader::Found::partial);
      }
    }
  }

  Verdict take() {
    verdict_.newer = payloads_.newer();
    return std::move(verdict_);
  }

 private:
  void look_at_record(const RecordReader& reader) {
    std::string flaw = payloads_.flaw(reader.payload());
    if (flaw.empty()) {
      ++verdict_.records;
    } else {
      verdict_.damage.push_back({reader.offset(), reader.size(), std::move(flaw)});
    }
  }

  void add_damage(const RecordReader& reader, bool unfinished) {
    std::vector<DamagedPart>& damage = verdict_.damage;
    // Garbage continues, perhaps in another window: it counts as one place.
    if (!damage.empty() && damage.back().offset + damage.back().size == reader.offset() &&
        damage.back().reason == reader.reason()) {
      damage.back().size += reader.size();
      return;
    }
    damage.push_back(
        {reader.offset(), reader.size(), std::string(unfinished ? kUnfinished : reader.reason()), unfinished});
  }

  Payloads payloads_;
  Verdict verdict_;
};

}  // namespace

RecordKind record_kind(const std::string& file_name) {
  const auto type = index::type_of_file(file_name);
  if (!type) return RecordKind::none;
  return *type == index::SourceFile::Type::events ? RecordKind::events : RecordKind::statistics;
}

Result<Tree> walk(const std::string& directory) {
  TreeWalker walker;
  if (Status status = walker.add(directory, ""); !status) return status;
  return std::move(walker.tree);
}

Result<Verdict> verify(const base::InputFile& file, RecordKind kind,
                       const std::function<void(std::uint64_t)>& progress) {
  constexpr std::uint64_t kWindow = std::uint64_t{4} << 20;
  const Result<base::FileState> state = file.state();
  if (!state) return state.error();
  const std::uint64_t size = state->size;
  Verifier verifier(kind, size);
  std::vector<std::byte> window;
  std::uint64_t base = 0;  // of the window in the file
  std::size_t filled = 0;  // bytes of the window that are filled
  std::uint64_t want = kWindow;
  while (base + filled < size) {
    // Doubles it if a record is larger than the window, but never beyond the size of the file.
    window.resize(static_cast<std::size_t>(std::min(std::max(want, filled + kWindow), size - base)));
    const Result<std::size_t> read = file.read_at(base + filled, std::span(window).subspan(filled));
    if (!read) return read.error();
    if (filled + *read < window.size()) return Status(Code::io, "the file became shorter while it was read");
    const std::size_t done = verifier.look(window, base);
    want = done == 0 ? 2 * window.size() : kWindow;
    filled = window.size() - done;
    std::copy(window.begin() + static_cast<std::ptrdiff_t>(done), window.end(), window.begin());
    base += done;
    progress(base);
    if (Status status = not_interrupted(); !status) return status;
  }
  return verifier.take();
}

}  // namespace sonde::cli
