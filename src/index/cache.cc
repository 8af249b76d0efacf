#include "index/cache.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "base/byte_size.h"
#include "base/crc32c.h"
#include "base/directory.h"
#include "base/file.h"
#include "formats/tfrecord.h"

namespace sonde::index {
namespace {

constexpr std::string_view kMagic = "SONDEIDX";
constexpr std::uint32_t kVersion = 6;
constexpr std::size_t kHead = 16;
constexpr std::string_view kSuffix = ".index";

// FNV-1a, with two beginnings: 128 bits, so that no two directories share a name.
std::uint64_t hash(std::string_view text, std::uint64_t begin) noexcept {
  for (const char c : text) begin = (begin ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return begin;
}
std::string hex(std::uint64_t number) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

void put_text(std::string& out, std::string_view text) {
  base::put_varint(out, text.size());
  out += text;
}
std::string_view get_text(base::ByteReader& from) { return base::as_text(from.take(from.varint())); }

void put_file(std::string& out, const SourceFile& file) {
  put_text(out, file.name);
  base::put(out, static_cast<std::uint8_t>(file.type));
  for (const std::uint64_t number : {file.state.device, file.state.inode, file.state.size, file.read})
    base::put(out, number);
  base::put(out, file.state.modified);
  base::put(out, file.guard.head);
  base::put(out, file.guard.tail);
  base::put(out, file.first_time);
  base::put(out, file.last_time);
  std::string definitions;  // as they are in a statistics file
  for (const auto& [id, definition] : file.definitions.all()) stats_record::put_definition(definitions, definition);
  put_text(out, definitions);
  file.probe_order.save(out);
  base::put_varint(out, file.undefined.size());
  for (const SourceFile::Undefined& one : file.undefined) {
    base::put_varint(out, one.id);
    base::put_varint(out, one.occurrence);
    base::put(out, static_cast<std::uint8_t>(one.evaluation));
  }
}

bool get_file(base::ByteReader& from, SourceFile& file) {
  file.name = get_text(from);
  const auto type = from.get<std::uint8_t>();
  if (type > 1) return false;
  file.type = static_cast<SourceFile::Type>(type);
  for (std::uint64_t* number : {&file.state.device, &file.state.inode, &file.state.size, &file.read}) {
    *number = from.get<std::uint64_t>();
  }
  file.state.modified = from.get<std::int64_t>();
  file.guard.head = from.get<std::uint32_t>();
  file.guard.tail = from.get<std::uint32_t>();
  file.first_time = from.get<double>();
  file.last_time = from.get<double>();
  tfrecord::RecordReader definitions(base::as_bytes(get_text(from)));
  while (definitions.next() == tfrecord::RecordReader::Found::record) {
    auto record = stats_record::decode_record(definitions.payload());
    auto* definition = record ? std::get_if<stats_record::Definition>(&*record) : nullptr;
    if (definition == nullptr) return false;
    file.definitions.add(std::move(*definition));
  }
  file.probe_order.restore(from);
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    SourceFile::Undefined one;
    one.id = static_cast<std::uint32_t>(from.varint());
    one.occurrence = static_cast<std::uint32_t>(from.varint());
    one.evaluation = from.get<std::uint8_t>() != 0;
    file.undefined.insert(one);
  }
  return from.ok();
}

void put_track(std::string& out, const RefTrack& track) {
  base::put_varint(out, track.size());
  for (std::size_t i = 0; i < track.size(); ++i) {
    const ValueRef& ref = track.at(i);
    base::put_zigzag(out, ref.step);
    base::put(out, ref.wall_time);
    base::put_varint(out, ref.offset);
    base::put_varint(out, ref.part);
  }
}

bool get_track(base::ByteReader& from, std::uint32_t file, RefTrack& track) {
  const std::uint64_t count = from.varint();
  for (std::uint64_t i = 0; i < count && from.ok(); ++i) {
    ValueRef ref;
    ref.step = from.zigzag();
    ref.wall_time = from.get<double>();
    ref.offset = from.varint();
    ref.part = static_cast<std::uint32_t>(from.varint());
    ref.file = file;
    track.append(ref);
  }
  return from.ok();
}

void put_statistics(std::string& out, const RunStatistics& statistics) {
  base::put_varint(out, statistics.streams().size());
  for (const auto& [key, stream] : statistics.streams()) {
    const auto& [file, evaluation] = key;
    base::put_varint(out, file);
    base::put(out, static_cast<std::uint8_t>(evaluation));
    stream.save(out);
    const auto& entries = statistics.steps(evaluation).columns.entries();
    std::ranges::find(entries, file, &ByFile<Column>::Entry::file)->source.save(out);
  }
}

bool get_statistics(base::ByteReader& from, RunData& run, const std::shared_ptr<const void>& owner) {
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    const auto file = static_cast<std::uint32_t>(from.varint());
    const bool evaluation = from.get<std::uint8_t>() != 0;
    if (file >= run.files.size()) return false;
    StatStream& stream = run.statistics.stream(file, evaluation);
    Column& steps = run.statistics.steps(evaluation).columns.of(file);
    if (!stream.restore(from, run.chunk_files.get()) || !steps.restore(from, owner)) return false;
    if (steps.size() != stream.records()) return false;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps.at(i).value != static_cast<double>(i)) return false;
    }
  }
  return from.ok();
}

void put_stat_track(std::string& out, const StatTrack& track) {
  base::put_varint(out, track.size);
  base::put_varint(out, track.first_record);
  base::put_varint(out, track.last_record);
  base::put_varint(out, track.places.size());
  for (const StatTrack::Place& place : track.places) {
    base::put_varint(out, place.chunk);
    base::put_varint(out, place.row);
  }
  base::put_varint(out, track.non_finite.size());
  for (const std::uint32_t record : track.non_finite) base::put_varint(out, record);
}

// Nothing in it may point outside of the stream.
bool get_stat_track(base::ByteReader& from, const StatStream& stream, StatTrack& track) {
  const auto number = [&] { return static_cast<std::uint32_t>(from.varint()); };
  track.size = from.varint();
  track.first_record = number();
  track.last_record = number();
  if (track.first_record >= stream.records() || track.last_record >= stream.records()) return false;
  std::uint64_t size = 0;
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    const StatTrack::Place place = {number(), number()};
    if (place.chunk >= stream.chunks() || place.row >= stream.chunk(place.chunk).rows()) return false;
    size += stream.chunk(place.chunk).size(place.row);
    track.places.push_back(place);
  }
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    track.non_finite.push_back(number());
    if (track.non_finite.back() >= stream.records()) return false;
  }
  return from.ok() && size == track.size;
}

void put_series(std::string& out, const Series& series) {
  put_text(out, series.tag);
  base::put(out, static_cast<std::uint8_t>(series.kind));
  base::put(out, static_cast<std::uint8_t>(series.has_metadata));
  for (const auto* text : {&series.plugin, &series.plugin_content, &series.display_name, &series.description}) {
    put_text(out, *text);
  }
  base::put_varint(out, series.restarts.size());
  for (const Restart& restart : series.restarts) {
    base::put_varint(out, restart.file);
    base::put_varint(out, restart.index);
    base::put_zigzag(out, restart.step);
    base::put(out, restart.time);
  }
  base::put_varint(out, series.columns.entries().size());
  for (const auto& entry : series.columns.entries()) {
    base::put_varint(out, entry.file);
    entry.source.save(out);
  }
  base::put_varint(out, series.tracks.entries().size());
  for (const auto& entry : series.tracks.entries()) {
    base::put_varint(out, entry.file);
    put_track(out, entry.source);
  }
  base::put(out, static_cast<std::uint8_t>(series.evaluation));
  base::put_varint(out, series.statistics.size());
  for (const auto& [file, track] : series.statistics) {
    base::put_varint(out, file);
    put_stat_track(out, track);
  }
}

bool get_series(base::ByteReader& from, RunData& run, const std::shared_ptr<const void>& owner) {
  const std::string_view tag = get_text(from);
  const auto kind = from.get<std::uint8_t>();
  const bool has_metadata = from.get<std::uint8_t>() != 0;
  const std::string_view plugin = get_text(from);
  if (!from.ok() || kind > static_cast<std::uint8_t>(TagKind::statistics)) return false;
  Series& series = run.add(tag, static_cast<TagKind>(kind), plugin);
  series.has_metadata = has_metadata;
  for (auto* text : {&series.plugin_content, &series.display_name, &series.description}) *text = get_text(from);
  const auto file_number = [&] { return static_cast<std::uint32_t>(from.varint()); };
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    Restart restart;
    restart.file = file_number();
    restart.index = from.varint();
    restart.step = from.zigzag();
    restart.time = from.get<double>();
    if (restart.file >= run.files.size()) return false;
    series.restarts.push_back(restart);
  }
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    const std::uint32_t file = file_number();
    if (file >= run.files.size() || !series.columns.of(file).restore(from, owner)) return false;
  }
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    const std::uint32_t file = file_number();
    if (file >= run.files.size() || !get_track(from, file, series.tracks.of(file))) return false;
  }
  series.evaluation = from.get<std::uint8_t>() != 0;
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    const std::uint32_t file = file_number();
    const StatStream* stream = run.statistics.find(file, series.evaluation);
    if (stream == nullptr || !get_stat_track(from, *stream, series.statistics[file])) return false;
  }
  return from.ok();
}

void put_damage(std::string& out, const RunData& run) {
  base::put_varint(out, run.damage.size());
  for (const FoundDamage& found : run.damage) {
    base::put_varint(out, found.file);
    base::put_varint(out, found.offset);
    base::put_varint(out, found.size);
    put_text(out, found.reason);
  }
  base::put_varint(out, run.gaps.size());
  for (const FoundGap& found : run.gaps) {
    base::put_varint(out, found.file);
    std::string record;
    stats_record::put_gap(record, found.gap);
    put_text(out, record);
  }
}

bool get_damage(base::ByteReader& from, RunData& run) {
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    FoundDamage found;
    found.file = static_cast<std::uint32_t>(from.varint());
    found.offset = from.varint();
    found.size = from.varint();
    found.reason = get_text(from);
    if (found.file >= run.files.size()) return false;
    run.damage.push_back(std::move(found));
  }
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    const auto file = static_cast<std::uint32_t>(from.varint());
    tfrecord::RecordReader reader(base::as_bytes(get_text(from)));
    if (file >= run.files.size() || reader.next() != tfrecord::RecordReader::Found::record) return false;
    auto record = stats_record::decode_record(reader.payload());
    auto* gap = record ? std::get_if<stats_record::Gap>(&*record) : nullptr;
    if (gap == nullptr) return false;
    run.gaps.push_back({file, std::move(*gap)});
  }
  return from.ok();
}

bool get_run(base::ByteReader& from, RunData& run, const std::shared_ptr<const void>& owner) {
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    if (!get_file(from, run.files.emplace_back())) return false;
  }
  if (!get_statistics(from, run, owner)) return false;
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    if (!get_series(from, run, owner)) return false;
  }
  return get_damage(from, run) && from.ok() && from.done();
}

// The cache files in a directory, of every kind.
std::vector<std::pair<base::FileState, std::string>> files_of(const std::string& cache_directory) {
  std::vector<std::pair<base::FileState, std::string>> files;
  const Result<base::Directory> listed = base::read_directory(cache_directory);
  if (!listed) return files;
  for (const base::DirectoryEntry& entry : listed->entries) {
    const bool is_ours = entry.name.ends_with(kSuffix) || entry.name.ends_with(ChunkFiles::kSuffix);
    if (entry.type != base::DirectoryEntry::Type::file || !is_ours) continue;
    const std::string path = base::join_path(cache_directory, entry.name);
    if (const Result<base::FileState> state = base::file_state(path)) files.emplace_back(*state, path);
  }
  return files;
}

}  // namespace

std::uint64_t cache_limit() noexcept {
  const char* const setting = std::getenv("SONDE_CACHE_SIZE");
  return setting == nullptr ? kCacheLimit : base::parse_byte_size(setting).value_or(kCacheLimit);
}

CacheUse cache_use(const std::string& cache_directory) {
  CacheUse use;
  for (const auto& [state, path] : files_of(cache_directory)) {
    ++use.files;
    use.bytes += state.size;
  }
  return use;
}

void prune_cache(const std::string& cache_directory, std::uint64_t limit) {
  auto files = files_of(cache_directory);
  std::uint64_t total = 0;
  for (const auto& [state, path] : files) total += state.size;
  std::ranges::sort(files, {}, [](const auto& file) { return file.first.modified; });  // load_cache moves it on
  for (const auto& [state, path] : files) {
    if (total <= limit) return;
    if (base::remove_file(path)) total -= state.size;
  }
}

std::string cache_file(const std::string& cache_directory, const std::string& run_directory) {
  const std::string name =
      hex(hash(run_directory, 0xcbf29ce484222325)) + "-" + hex(hash(run_directory, 0x9e3779b97f4a7c15));
  return base::join_path(cache_directory, name + std::string(kSuffix));
}

Result<std::string> encode_cache(const RunData& run) {
  std::string out(kMagic);
  base::put(out, kVersion);
  base::put(out, std::uint32_t{0});
  for (const SourceFile& file : run.files) {
    // Numbers of files are their places, so a run that lost files is not kept.
    if (file.gone) return Status(Code::unsupported, "files of the run were deleted");
  }
  base::put_varint(out, run.files.size());
  for (const SourceFile& file : run.files) put_file(out, file);
  put_statistics(out, run.packed_statistics());
  base::put_varint(out, run.series().size());
  for (const Series& series : run.series()) put_series(out, series);
  put_damage(out, run);
  const std::uint32_t crc = base::crc32c(base::as_bytes(out).subspan(kHead));
  std::memcpy(out.data() + kMagic.size() + sizeof kVersion, &crc, sizeof crc);
  return out;
}

bool decode_cache(base::Bytes bytes, const std::shared_ptr<const void>& owner, RunData& run) {
  if (bytes.size() < kHead || base::as_text(bytes.first(kMagic.size())) != kMagic) return false;
  if (base::load<std::uint32_t>(bytes.data() + 8) != kVersion) return false;
  if (base::load<std::uint32_t>(bytes.data() + 12) != base::crc32c(bytes.subspan(kHead))) return false;
  base::ByteReader from(bytes.subspan(kHead));
  return get_run(from, run, owner);
}

Status save_cache(const std::string& path, const RunData& run) {
  const Result<std::string> encoded = encode_cache(run);
  if (!encoded) return encoded.error();
  return base::write_file(path, *encoded);
}

bool load_cache(const std::string& path, RunData& run) {
  Result<base::MappedFile> mapped = base::MappedFile::open(path);
  if (!mapped) return false;
  const auto file = std::make_shared<base::MappedFile>(std::move(*mapped));
  if (!decode_cache(file->bytes(), file, run)) return false;
  base::touch_file(path);  // prune_cache removes the least recently used files
  return true;
}

}  // namespace sonde::index
