// Reading the files of a run; questions about it are in run_questions.cc.
#include "index/run_index.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/crc32c.h"
#include "base/directory.h"
#include "base/file.h"
#include "formats/run_layout.h"
#include "formats/tfrecord.h"
#include "index/cache.h"
#include "index/record_readers.h"
#include "index/run_files.h"

namespace sonde::index {
namespace {

using tfrecord::RecordReader;

// Large enough that system calls do not count, small enough for the caches: copies of 256 KiB at a time out of the page
// cache were four times slower here.
constexpr std::size_t kWindow = std::size_t{64} << 10;

std::uint32_t checksum_at(const base::InputFile& input, std::uint64_t begin, std::uint64_t end) {
  std::byte bytes[Guard::kSize];
  const Result<std::size_t> got = input.read_at(begin, std::span(bytes).first(end - begin));
  return got ? base::crc32c(std::span(bytes).first(*got)) : 0;
}

Guard guard_of(const base::InputFile& input, std::uint64_t end) {
  const std::uint64_t size = std::min(end, Guard::kSize);
  return {checksum_at(input, 0, size), checksum_at(input, end - size, end)};
}

}  // namespace

RunIndex::RunIndex(std::string name, std::string directory, std::string cache_path, std::vector<RunFile> files,
                   std::string within)
    : name_(std::move(name)),
      directory_(std::move(directory)),
      cache_path_(std::move(cache_path)),
      within_(std::move(within)),
      just_found_(std::move(files)) {
  if (!cache_path_.empty()) data_.chunk_files = std::make_shared<const ChunkFiles>(cache_path_);
}

std::string RunIndex::path_of(const SourceFile& source) const { return base::join_path(directory_, source.name); }

void RunIndex::ensure_read() {
  if (read_once()) return;
  {
    const std::lock_guard others_are_done(updating_);
  }
  if (!read_once()) update();
}

bool RunIndex::alive() const {
  const std::shared_lock lock(data_mutex_);
  return !read_once() || std::ranges::any_of(data_.files, [](const SourceFile& file) { return !file.gone; });
}

bool RunIndex::update() {
  const std::lock_guard updating(updating_);
  if (!std::exchange(restored_, true)) restore();
  bool changed = find_files();
  std::vector<Result<base::FileState>> states;  // by number of the file
  std::uint64_t bytes = 0;
  for (const SourceFile& file : data_.files) {
    states.push_back(file.gone ? base::FileState{} : base::file_state(path_of(file)));
    if (states.back()) bytes += states.back()->size;
  }
  bytes_found_.store(bytes, std::memory_order_relaxed);
  for (const std::uint32_t file : data_.file_order()) {
    if (!data_.files[file].gone) changed |= read_file(file, states[file]);
  }
  if (changed) {
    pack();
    recover_kinds();
  }
  changed |= look_beside();
  bytes = 0;
  for (const SourceFile& file : data_.files) bytes += file.read;
  bytes_read_.store(bytes, std::memory_order_relaxed);  // less than before if a file was read again
  const bool first = !read_once_.exchange(true, std::memory_order_acq_rel);
  if (changed || first) revision_.fetch_add(1, std::memory_order_release);
  return changed;
}

// Only update() changes what data_ holds, so reading it there needs no lock.
bool RunIndex::find_files() {
  std::vector<RunFile> found = std::exchange(just_found_, {});
  if (found.empty()) {
    const Result<base::Directory> listed = base::read_directory(directory_, within_);
    // Only a directory that does not exist, or no longer in the log, has lost its files; one that cannot be read now
    // may be readable later.
    const Code code = listed.status().code();
    if (!listed && code != Code::not_found && code != Code::unsupported) return false;
    if (listed) found = run_files(*listed);
  }
  bool changed = false;
  const std::unique_lock lock(data_mutex_);
  for (std::uint32_t number = 0; number < data_.files.size(); ++number) {
    SourceFile& known = data_.files[number];
    const auto at = std::ranges::find(found, known.name, &RunFile::name);
    const bool gone = at == found.end();
    if (gone && !known.gone) {
      data_.drop_file(number);
      changed = true;
    }
    known.gone = gone;
    if (!gone) found.erase(at);
  }
  for (RunFile& file : found) {
    SourceFile& added = data_.files.emplace_back();
    added.name = std::move(file.name);
    added.type = file.type;
    changed = true;
  }
  return changed;
}

// Whether the other files of the run have changed.
bool RunIndex::look_beside() {
  Beside now;
  if (const Result<base::FileState> note = base::file_state(base::join_path(directory_, run_layout::kNote)))
    now.note = *note;
  // By their names, since the time of the directory does not tell changes within a few milliseconds apart.
  if (const Result<base::Directory> captures =
          base::read_directory(base::join_path(directory_, run_layout::kCaptures), within_)) {
    for (const base::DirectoryEntry& entry : captures->entries) {
      if (!entry.name.starts_with('.')) now.captures.append(entry.name).append("/");  // hidden: still being written
    }
  }
  if (now == beside_) return false;
  beside_ = std::move(now);
  return true;
}

void RunIndex::note_error(std::uint32_t file, const Status& status) {
  const std::unique_lock lock(data_mutex_);
  data_.files[file].error = status.message();
}

// Whether the part that was read before is still the beginning of this file.
bool RunIndex::unchanged(const SourceFile& source, const base::InputFile& input, const base::FileState& state) const {
  if (source.read == 0) return true;
  return state.same_file(source.state) && state.size >= source.read && guard_of(input, source.read) == source.guard;
}

bool RunIndex::read_file(std::uint32_t file, const Result<base::FileState>& seen) {
  const SourceFile& source = data_.files[file];
  const std::string path = path_of(source);
  if (seen && *seen == source.state && source.error.empty()) return false;
  const Result<base::InputFile> input = base::InputFile::open(path, within_);
  if (!input) {
    // Between listing the directory and now it may have been deleted, which the next update finds.
    const bool news = source.error != input.error().message();
    note_error(file, input.error());
    return news;
  }
  const Result<base::FileState> state = input->state();
  if (!state) {
    note_error(file, state.error());
    return true;
  }
  bool changed = !source.error.empty();
  {
    const bool same = unchanged(source, *input, *state);
    const std::unique_lock lock(data_mutex_);
    if (!same) {
      data_.drop_file(file);
      changed = true;
    }
    data_.files[file].state = *state;
    data_.files[file].error.clear();
  }
  const std::uint64_t before = source.read;
  Status status;
  try {
    status = source.type == SourceFile::Type::events ? read_records<EventReader>(file, *input, state->size)
                                                     : read_records<StatisticsReader>(file, *input, state->size);
  } catch (const std::bad_alloc&) {
    status = {Code::exhausted, "there is not enough memory to read '" + path + "'"};
  }
  if (!status) note_error(file, status);
  if (source.read != before) {
    const Guard guard = guard_of(*input, source.read);
    const std::unique_lock lock(data_mutex_);
    data_.files[file].guard = guard;
    not_remembered_ += source.read - before;
  }
  return changed || source.read != before;
}

// Reads window by window from the end of the last reading. A record that is cut off by the end of a window is read
// again at the start of the next; one that is longer than a window gets a larger one, but never for a length that the
// file does not have.
template <class Reader>
Status RunIndex::read_records(std::uint32_t file, const base::InputFile& input, std::uint64_t size) {
  static thread_local std::vector<std::byte> buffer;
  Reader reader(data_, file);
  std::size_t window = kWindow;
  std::uint64_t at = data_.files[file].read;
  while (at < size) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(window, size - at));
    if (buffer.size() < wanted) buffer.resize(wanted);
    const Result<std::size_t> got = input.read_at(at, std::span(buffer).first(wanted));
    if (!got) return got.error();
    if (*got == 0) break;  // it has become shorter since
    const bool is_end = *got < wanted || at + *got == size;

    RecordReader records(base::Bytes(buffer.data(), *got), RecordReader::Tail::growing, at);
    const std::unique_lock lock(data_mutex_);
    const std::uint64_t begin = at;
    auto found = records.next();
    for (; found == RecordReader::Found::record || found == RecordReader::Found::damage; found = records.next()) {
      if (found == RecordReader::Found::record) [[likely]] {
        reader.read(records.offset(), records.payload());
      } else {
        data_.add_damage({file, records.offset(), records.size(), std::string(records.reason())});
      }
    }
    at = found == RecordReader::Found::partial ? records.offset() : begin + *got;
    data_.files[file].read = at;
    bytes_read_.fetch_add(at - begin, std::memory_order_relaxed);
    if (is_end) break;  // the rest is an incomplete record
    window = kWindow;
    if (at == begin) {
      const auto length = base::load<std::uint64_t>(buffer.data());
      const std::uint64_t framing = tfrecord::kHeaderSize + tfrecord::kFooterSize;
      if (length > size - at || length + framing > size - at) break;
      window = static_cast<std::size_t>(length + framing);
    }
  }
  if (buffer.size() > 4 * kWindow) buffer = {};
  return Status::success();
}

void RunIndex::pack() {
  const std::unique_lock lock(data_mutex_);
  for (Series& series : data_.series()) {
    for (auto& entry : series.columns.entries()) entry.source.pack();
  }
  for (const bool evaluation : {false, true}) {
    for (auto& entry : data_.statistics.steps(evaluation).columns.entries()) entry.source.pack();
  }
  data_.statistics.pack();
}

void RunIndex::restore() {
  if (cache_path_.empty()) return;
  RunData restored;
  restored.chunk_files = std::make_shared<const ChunkFiles>(cache_path_);
  if (!load_cache(cache_path_, restored)) return;
  // Believed only if every file is still there and begins as it did.
  std::uint64_t bytes = 0;
  for (const SourceFile& file : restored.files) {
    const Result<base::InputFile> input = base::InputFile::open(path_of(file), within_);
    if (!input) return;
    const Result<base::FileState> state = input->state();
    if (!state || !unchanged(file, *input, *state)) return;
    if (state->size == file.state.size && state->modified != file.state.modified) return;
    bytes += file.read;
  }
  const std::unique_lock lock(data_mutex_);
  data_ = std::move(restored);
  bytes_read_.store(bytes, std::memory_order_relaxed);
}

bool RunIndex::remember(std::uint64_t worth) {
  const std::lock_guard updating(updating_);
  if (cache_path_.empty() || not_remembered_ < worth) return false;
  not_remembered_ = 0;
  // A cache that cannot be written costs time the next time, and nothing else.
  if (!save_cache(cache_path_, data_)) return false;
  std::vector<std::string> files;
  for (const auto& [key, stream] : data_.statistics.streams()) stream.add_files(files);
  std::ranges::sort(files);
  data_.chunk_files->remove_others(files);
  return true;
}

}  // namespace sonde::index
