#include "formats/tensor_bundle.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/crc32c.h"
#include "formats/tf_wire.h"

namespace sonde::formats::tf {
namespace {

using wire::get_text;
using wire::integer;
using wire::pbf_reader;
using wire::reader_of;
using wire::text;

constexpr std::size_t kFooter = 48;
constexpr std::uint64_t kMagic = 0xdb4775248b80fb57;

Status corrupt(std::string_view what) {
  return {Code::corrupt, "the index of the variables is damaged: " + std::string(what)};
}

struct Place {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

Place read_place(base::ByteReader& reader) {
  Place place;
  place.offset = reader.varint();
  place.size = reader.varint();
  return place;
}

// The entries of a block, without the offsets behind them.
Result<base::Bytes> block_at(base::Bytes table, Place place) {
  if (place.offset > table.size() || place.size > table.size() - place.offset ||
      table.size() - place.offset - place.size < 5 || place.size < 4) {
    return corrupt("a block lies outside of the file");
  }
  const base::Bytes block = table.subspan(place.offset, place.size);
  const base::Bytes checked = table.subspan(place.offset, place.size + 1);
  base::ByteReader trailer(table.subspan(place.offset + place.size, 5));
  const auto compression = trailer.get<std::uint8_t>();
  if (base::masked_crc32c(checked) != trailer.get<std::uint32_t>()) return corrupt("a checksum is wrong");
  if (compression != 0) return Status(Code::unsupported, "the index of the variables is compressed");
  const auto restarts = base::load<std::uint32_t>(block.data() + block.size() - 4);
  if (restarts > (block.size() - 4) / 4) return corrupt("a block is shorter than its own list");
  return block.first(block.size() - 4 - std::size_t{4} * restarts);
}

// Calls `take(key, value)`, which returns a Status, for each entry of a block.
template <class Take>
Status for_each_entry(base::Bytes entries, const Take& take) {
  base::ByteReader reader(entries);
  std::string key;
  while (!reader.done()) {
    const std::uint64_t shared = reader.varint();
    const std::uint64_t further = reader.varint();
    const std::uint64_t value_size = reader.varint();
    if (!reader.ok() || shared > key.size()) return corrupt("an entry is cut off");
    key.resize(shared);
    key += base::as_text(reader.take(further));
    const base::Bytes value = reader.take(value_size);
    if (!reader.ok()) return corrupt("an entry is cut off");
    if (Status status = take(std::as_const(key), value); !status) return status;
  }
  return reader.ok() ? Status::success() : corrupt("an entry is cut off");
}

Status decode_header(base::Bytes message, TensorBundle& bundle) {
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case integer(1): bundle.shards = reader.get_int32(); break;
      case integer(2):
        if (reader.get_int32() != 0) return {Code::unsupported, "the variables are stored in big-endian order"};
        break;
      default: reader.skip();
    }
  }
  if (bundle.shards < 1 || bundle.shards > 99'999) return corrupt("it has an impossible number of shards");
  return Status::success();
}

BundleEntry decode_bundle_entry(const std::string& key, base::Bytes message) {
  BundleEntry entry;
  entry.key = key;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case integer(1): entry.type = reader.get_int32(); break;
      case text(2): entry.shape = wire::decode_shape(get_text(reader)).value_or(std::vector<std::int64_t>{}); break;
      case integer(3): entry.shard = reader.get_int32(); break;
      case integer(4): entry.offset = static_cast<std::uint64_t>(reader.get_int64()); break;
      case integer(5): entry.size = static_cast<std::uint64_t>(reader.get_int64()); break;
      case text(7):
        entry.sliced = true;
        reader.skip();
        break;
      default: reader.skip();
    }
  }
  return entry;
}

Status decode_block(base::Bytes entries, TensorBundle& bundle) {
  return for_each_entry(entries, [&](const std::string& key, base::Bytes value) -> Status {
    try {
      if (key.empty()) return decode_header(value, bundle);
      bundle.entries.push_back(decode_bundle_entry(key, value));
    } catch (const protozero::exception& error) {
      return corrupt(error.what());
    }
    return Status::success();
  });
}

}  // namespace

const BundleEntry* TensorBundle::find(std::string_view key) const noexcept {
  const auto found = std::ranges::lower_bound(entries, key, {}, &BundleEntry::key);
  return found != entries.end() && found->key == key ? &*found : nullptr;
}

Result<TensorBundle> decode_tensor_bundle(base::Bytes index) {
  if (index.size() < kFooter || base::load<std::uint64_t>(index.data() + index.size() - 8) != kMagic) {
    return corrupt("it does not end as such a file must");
  }
  base::ByteReader footer(index.last(kFooter));
  read_place(footer);  // the meta index: TensorFlow writes nothing there
  const Place place = read_place(footer);
  if (!footer.ok()) return corrupt("its footer is cut off");
  TensorBundle bundle;
  const Result<base::Bytes> blocks = block_at(index, place);
  if (!blocks) return blocks.error();
  Status status = for_each_entry(*blocks, [&](const std::string&, base::Bytes value) -> Status {
    base::ByteReader reader(value);
    const Result<base::Bytes> block = block_at(index, read_place(reader));
    return block ? decode_block(*block, bundle) : block.error();
  });
  if (!status) return status;
  if (!std::ranges::is_sorted(bundle.entries, {}, &BundleEntry::key)) return corrupt("its keys are out of order");
  return bundle;
}

std::string shard_name(std::string_view prefix, std::int64_t shard, std::int64_t shards) {
  char suffix[64];
  std::snprintf(suffix, sizeof suffix, ".data-%05lld-of-%05lld", static_cast<long long>(shard),
                static_cast<long long>(shards));
  return std::string(prefix) + suffix;
}

}  // namespace sonde::formats::tf
