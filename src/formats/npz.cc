#include "formats/npz.h"

#include <isa-l/crc.h>
#include <simdjson.h>

#include <algorithm>
#include <array>

#include "formats/deflate.h"
#include "formats/npy.h"
#include "tensor/copy.h"

namespace sonde::npz {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::uint32_t kCentral = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kLocatorSize = 20;
constexpr std::size_t kCentralSize = 46;
constexpr std::uint16_t kZip64Field = 1;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the value is in a zip64 field
constexpr std::uint16_t kIn64Count = 0xffff;
constexpr std::uint16_t kEncrypted = 1 << 0;
constexpr std::uint16_t kUtf8Name = 1 << 11;
constexpr std::uint16_t kFirstDate = 1 << 5 | 1;  // 1980-01-01, so that equal arrays give equal archives
constexpr std::size_t kMaxName = 65'000;
constexpr std::string_view kSuffix = ".npy";

Status corrupt(std::string_view what) { return {Code::corrupt, "not a valid npz archive: " + std::string(what)}; }

std::uint32_t crc_of(base::Bytes bytes, std::uint32_t before = 0) noexcept {
  return crc32_gzip_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

// ---- Reading

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
};

Result<std::size_t> find_end(base::Bytes archive) {
  // The comment after it has at most 65,535 bytes.
  for (std::size_t back = kEndSize; back <= std::min<std::size_t>(archive.size(), kEndSize + 0xffff); ++back) {
    const std::size_t at = archive.size() - back;
    if (base::load<std::uint32_t>(archive.data() + at) == kEnd &&
        base::load<std::uint16_t>(archive.data() + at + 20) == back - kEndSize) {
      return at;
    }
  }
  return corrupt("it has no directory at its end; it may have been cut off");
}

Result<Directory> find_directory(base::Bytes archive) {
  const Result<std::size_t> end = find_end(archive);
  if (!end) return end.error();
  base::ByteReader reader(archive.subspan(*end + 10));
  Directory directory;
  directory.entries = reader.get<std::uint16_t>();
  directory.size = reader.get<std::uint32_t>();
  directory.offset = reader.get<std::uint32_t>();
  if (*end >= kLocatorSize && base::load<std::uint32_t>(archive.data() + *end - kLocatorSize) == kLocator64) {
    const auto at = base::load<std::uint64_t>(archive.data() + *end - kLocatorSize + 8);
    if (at > archive.size()) return corrupt("its zip64 end is outside the file");
    base::ByteReader end64(archive.subspan(at));
    if (end64.get<std::uint32_t>() != kEnd64) return corrupt("its zip64 end is not where it should be");
    end64.take(28);  // sizes, versions, disks, entries on this disk
    directory.entries = end64.get<std::uint64_t>();
    directory.size = end64.get<std::uint64_t>();
    directory.offset = end64.get<std::uint64_t>();
    if (!end64.ok()) return corrupt("its zip64 end is cut off");
  }
  if (directory.offset > archive.size() || directory.size > archive.size() - directory.offset) {
    return corrupt("its directory is outside the file");
  }
  if (directory.entries > directory.size / kCentralSize) {
    return corrupt("its directory is too small for " + std::to_string(directory.entries) + " entries");
  }
  return directory;
}

// An entry of the directory, as stored.
struct Central {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::string_view name;
};

Status read_zip64(base::Bytes extra, Central& entry) {
  base::ByteReader fields(extra);
  while (fields.ok() && !fields.done()) {
    const auto id = fields.get<std::uint16_t>();
    const auto length = fields.get<std::uint16_t>();
    base::ByteReader field(fields.take(length));
    if (id != kZip64Field) continue;
    for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
      if (*value == kIn64) *value = field.get<std::uint64_t>();
    }
    if (!field.ok()) return corrupt("a zip64 field is too short");
    return {};
  }
  return {};  // 0xffffffff may be the true size
}

Result<Central> read_central(base::ByteReader& reader) {
  Central entry;
  if (reader.get<std::uint32_t>() != kCentral) return corrupt("its directory is damaged");
  reader.take(4);  // versions
  entry.flags = reader.get<std::uint16_t>();
  entry.method = reader.get<std::uint16_t>();
  reader.take(4);  // time, date
  entry.crc = reader.get<std::uint32_t>();
  entry.packed = reader.get<std::uint32_t>();
  entry.size = reader.get<std::uint32_t>();
  const auto name = reader.get<std::uint16_t>();
  const auto extra = reader.get<std::uint16_t>();
  const auto comment = reader.get<std::uint16_t>();
  reader.take(8);  // disk, attributes
  entry.offset = reader.get<std::uint32_t>();
  entry.name = base::as_text(reader.take(name));
  const base::Bytes fields = reader.take(extra);
  reader.take(comment);
  if (!reader.ok()) return corrupt("its directory is cut off");
  if (Status status = read_zip64(fields, entry); !status) return status;
  return entry;
}

// The data of an entry: after its local header, whose name and extra fields may differ in length.
Result<base::Bytes> find_data(base::Bytes archive, const Central& entry) {
  if (entry.offset > archive.size()) return corrupt("an array is outside the file");
  base::ByteReader reader(archive.subspan(entry.offset));
  if (reader.get<std::uint32_t>() != kLocal) return corrupt("an array is not where the directory says");
  reader.take(22);
  const auto name = reader.get<std::uint16_t>();
  const auto extra = reader.get<std::uint16_t>();
  if (base::as_text(reader.take(name)) != entry.name) return corrupt("an array has another name than in the directory");
  reader.take(extra);
  const base::Bytes data = reader.take(entry.packed);
  if (!reader.ok()) return corrupt("the array '" + std::string(entry.name) + "' is outside the file");
  return data;
}

Result<Entry> to_entry(base::Bytes archive, const Central& central) {
  const std::string name(central.name);
  if ((central.flags & kEncrypted) != 0) {
    return Status(Code::unsupported, "'" + name + "' in the npz archive is encrypted, which cannot be read");
  }
  if (central.method != 0 && central.method != 8) {
    return Status(Code::unsupported, "'" + name + "' in the npz archive is packed with method " +
                                         std::to_string(central.method) + ": only stored and deflated can be read");
  }
  if (central.method == 0 && central.packed != central.size) return corrupt("'" + name + "' has two different sizes");
  const Result<base::Bytes> data = find_data(archive, central);
  if (!data) return data.error();
  Entry entry{name, central.method == 0 ? Method::stored : Method::deflated, *data, central.size, central.crc};
  if (entry.name.ends_with(kSuffix)) entry.name.resize(entry.name.size() - kSuffix.size());
  return entry;
}

// ---- Writing

// An entry as it is in its local header and in the directory.
struct Fields {
  std::string name;  // with its suffix
  Method method = Method::stored;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;

  // Sizes go into zip64 fields in pairs.
  bool large() const noexcept { return packed >= kIn64 || size >= kIn64; }
  bool far() const noexcept { return offset >= kIn64; }
};

std::string zip64_field(std::span<const std::uint64_t> values) {
  std::string field;
  if (values.empty()) return field;
  base::put(field, kZip64Field);
  base::put(field, static_cast<std::uint16_t>(values.size() * 8));
  for (std::uint64_t value : values) base::put(field, value);
  return field;
}

// From the version to the length of the extra fields.
void put_common(std::string& out, const Fields& fields, std::size_t extra) {
  const bool ascii = std::ranges::all_of(fields.name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  base::put(out, static_cast<std::uint16_t>(extra > 0 ? 45 : 20));
  base::put(out, ascii ? std::uint16_t{0} : kUtf8Name);
  base::put(out, static_cast<std::uint16_t>(fields.method == Method::deflated ? 8 : 0));
  base::put(out, std::uint16_t{0});
  base::put(out, kFirstDate);
  base::put(out, fields.crc);
  base::put(out, fields.large() ? kIn64 : static_cast<std::uint32_t>(fields.packed));
  base::put(out, fields.large() ? kIn64 : static_cast<std::uint32_t>(fields.size));
  base::put(out, static_cast<std::uint16_t>(fields.name.size()));
  base::put(out, static_cast<std::uint16_t>(extra));
}

std::string local_header(const Fields& fields) {
  std::vector<std::uint64_t> wide;
  if (fields.large()) wide = {fields.size, fields.packed};
  const std::string extra = zip64_field(wide);
  std::string out;
  base::put(out, kLocal);
  put_common(out, fields, extra.size());
  return out + fields.name + extra;
}

void put_central(std::string& out, const Fields& fields) {
  std::vector<std::uint64_t> wide;
  if (fields.large()) wide = {fields.size, fields.packed};
  if (fields.far()) wide.push_back(fields.offset);
  const std::string extra = zip64_field(wide);
  base::put(out, kCentral);
  base::put(out, static_cast<std::uint16_t>(3 << 8 | 45));  // made on Unix
  put_common(out, fields, extra.size());
  base::put(out, std::uint16_t{0});              // comment
  base::put(out, std::uint16_t{0});              // disk
  base::put(out, std::uint16_t{0});              // internal attributes
  base::put(out, std::uint32_t{0100644} << 16);  // a regular file that its owner may write and everybody read
  base::put(out, fields.far() ? kIn64 : static_cast<std::uint32_t>(fields.offset));
  out += fields.name;
  out += extra;
}

void put_end(std::string& out, const Directory& directory) {
  if (directory.entries >= kIn64Count || directory.size >= kIn64 || directory.offset >= kIn64) {
    base::put(out, kEnd64);
    base::put(out, std::uint64_t{44});  // size of the rest of this record
    base::put(out, static_cast<std::uint16_t>(3 << 8 | 45));
    base::put(out, std::uint16_t{45});
    base::put(out, std::uint64_t{0});  // two disks
    base::put(out, directory.entries);
    base::put(out, directory.entries);
    base::put(out, directory.size);
    base::put(out, directory.offset);
    base::put(out, kLocator64);
    base::put(out, std::uint32_t{0});  // disk
    base::put(out, directory.offset + directory.size);
    base::put(out, std::uint32_t{1});  // disks
  }
  const auto entries = static_cast<std::uint16_t>(std::min<std::uint64_t>(directory.entries, kIn64Count));
  base::put(out, kEnd);
  base::put(out, std::uint32_t{0});  // two disks
  base::put(out, entries);
  base::put(out, entries);
  base::put(out, static_cast<std::uint32_t>(std::min<std::uint64_t>(directory.size, kIn64)));
  base::put(out, static_cast<std::uint32_t>(std::min<std::uint64_t>(directory.offset, kIn64)));
  base::put(out, std::uint16_t{0});  // comment
}

// The elements in row-major order, dense, in pieces: the whole memory if it is dense, copies otherwise.
Status for_each_piece(const TensorView& tensor, const std::function<Status(base::Bytes)>& output) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  if (tensor.size() == 0) return {};
  if (tensor.contiguous()) return output({static_cast<const std::byte*>(tensor.data), tensor::byte_size(tensor)});
  const std::size_t element = size_of(tensor.dtype);
  std::vector<std::byte> buffer(kPiece);
  std::size_t used = 0;
  Status status;
  tensor::for_each_run(tensor, [&](const std::byte* from, std::int64_t count, std::int64_t stride) {
    while (count > 0 && status) {
      const auto now = std::min(count, static_cast<std::int64_t>((kPiece - used) / element));
      tensor::copy_dense(sonde::view(from, tensor.dtype, {now}, {stride}), buffer.data() + used);
      used += static_cast<std::size_t>(now) * element;
      from += now * stride * static_cast<std::int64_t>(element);
      count -= now;
      if (used == kPiece) status = output(base::Bytes(buffer).first(std::exchange(used, 0)));
    }
  });
  if (status && used > 0) status = output(base::Bytes(buffer).first(used));
  return status;
}

}  // namespace

Result<std::vector<Entry>> parse(base::Bytes archive) {
  const Result<Directory> directory = find_directory(archive);
  if (!directory) return directory.error();
  base::ByteReader reader(archive.subspan(directory->offset, directory->size));
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < directory->entries; ++i) {
    const Result<Central> central = read_central(reader);
    if (!central) return central.error();
    if (central->name.ends_with('/')) continue;  // a folder, as tools that pack one add it
    Result<Entry> entry = to_entry(archive, *central);
    if (!entry) return entry.error();
    entries.push_back(*std::move(entry));
  }
  return entries;
}

Result<Tensor> decode(const Entry& entry) {
  std::vector<std::byte> expanded;
  base::Bytes file = entry.packed;
  if (entry.method == Method::deflated) {
    Result<std::vector<std::byte>> result = deflate::expand({&entry.packed, 1}, deflate::Wrapper::none, entry.size);
    if (!result) return Status(result.error().code(), "'" + entry.name + "': " + result.error().message());
    expanded = *std::move(result);
    file = expanded;
  }
  if (crc_of(file) != entry.crc) {
    return Status(Code::corrupt, "the array '" + entry.name + "' is damaged: its checksum does not match");
  }
  Result<Tensor> tensor = npy::decode(file);
  if (!tensor) return Status(tensor.error().code(), "'" + entry.name + "': " + tensor.error().message());
  return tensor;
}

Result<TensorView> view(const Entry& entry) {
  if (entry.method != Method::stored) {
    return Status(Code::unsupported, "the array '" + entry.name + "' is compressed: decode it into a copy");
  }
  return npy::view(entry.packed);
}

bool is_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kMaxName && name.find('\0') == std::string_view::npos &&
         simdjson::validate_utf8(name.data(), name.size());
}

Status Writer::add(std::string_view name, const TensorView& tensor) {
  if (!state_) return state_;
  if (!is_name(name)) {
    return {Code::invalid_argument,
            "an array in an npz archive needs a name in UTF-8, not empty, without NUL and below 65,000 bytes"};
  }
  if (names_.contains(std::string(name))) {
    return {Code::invalid_argument, "the npz archive already has an array '" + std::string(name) + "'"};
  }
  Result<npy::Parts> parts = npy::layout(tensor);
  if (!parts) return parts.error();
  names_.emplace(name);
  state_ = method_ == Method::stored ? add_stored(name, *parts) : add_deflated(name, *parts);
  return state_;
}

Status Writer::add_stored(std::string_view name, const npy::Parts& parts) {
  Fields fields{std::string(name).append(kSuffix), Method::stored, crc_of(base::as_bytes(parts.header))};
  fields.size = fields.packed = parts.header.size() + tensor::byte_size(parts.data);
  fields.offset = written_;
  // The checksum comes before the data: they are passed twice.
  Status status = for_each_piece(parts.data, [&](base::Bytes piece) {
    fields.crc = crc_of(piece, fields.crc);
    return Status::success();
  });
  if (status) status = write(base::as_bytes(local_header(fields)));
  if (status) status = write(base::as_bytes(parts.header));
  if (status) status = for_each_piece(parts.data, [&](base::Bytes piece) { return write(piece); });
  put_central(directory_, fields);
  ++entries_;
  return status;
}

Status Writer::add_deflated(std::string_view name, const npy::Parts& parts) {
  std::string file = parts.header;
  file.resize(file.size() + tensor::byte_size(parts.data));
  tensor::copy_dense(parts.data, file.data() + parts.header.size());
  std::string packed;
  if (Status status = deflate::compress(base::as_bytes(file), deflate::Wrapper::none, packed); !status) return status;
  const Fields fields{std::string(name).append(kSuffix),
                      Method::deflated,
                      crc_of(base::as_bytes(file)),
                      packed.size(),
                      file.size(),
                      written_};
  Status status = write(base::as_bytes(local_header(fields)));
  if (status) status = write(base::as_bytes(packed));
  put_central(directory_, fields);
  ++entries_;
  return status;
}

Status Writer::finish() {
  if (!state_) return state_;
  state_ = {Code::closed, "the npz archive is finished: no array can be added"};
  const Directory directory{written_, directory_.size(), entries_};
  put_end(directory_, directory);
  return output_(base::as_bytes(directory_));
}

Status Writer::write(base::Bytes bytes) {
  written_ += bytes.size();
  return output_(bytes);
}

Result<std::string> encode(std::span<const NamedView> tensors, Method method) {
  std::string archive;
  Writer writer(
      [&](base::Bytes bytes) {
        archive += base::as_text(bytes);
        return Status::success();
      },
      method);
  for (const NamedView& entry : tensors) {
    if (Status status = writer.add(entry.name, entry.tensor); !status) return status;
  }
  if (Status status = writer.finish(); !status) return status;
  return archive;
}

}  // namespace sonde::npz
