// TensorFlow's checkpoints: PREFIX.index names the tensors, PREFIX.data-00000-of-00001 and further shards hold them.
//
// The index is a sorted table of keys and values in blocks:
//   block     entries, then the offset of every 16th entry (u32 each) and their number (u32)
//   entry     varint shared: bytes that the key has in common with the one before; varint: further bytes of the key;
//             varint: bytes of the value; these bytes
//   after each block: u8 compression (0 none), u32 masked CRC-32C of the block and that byte
//   footer    the last 48 bytes: place of the meta index (2 varints: offset, size), place of the index block, zeros,
//   and
//             u64 0xdb4775248b80fb57. The index block's values are the places of the data blocks
// Key "" is BundleHeaderProto { num_shards=1, endianness=2 (0 little) }, the others are BundleEntryProto { dtype=1,
// shape=2, shard_id=3, offset=4, size=5, crc32c=6 fixed32 masked, slices=7 }.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "sonde/status.h"

namespace sonde::formats::tf {

struct BundleEntry {
  std::string key;
  int type = 0;  // formats/tf_dtype.h
  std::vector<std::int64_t> shape;
  std::int64_t shard = 0;
  std::uint64_t offset = 0;  // in the shard
  std::uint64_t size = 0;
  bool sliced = false;  // it is stored in parts, under other keys
};

struct TensorBundle {
  std::int64_t shards = 1;
  std::vector<BundleEntry> entries;  // by key

  const BundleEntry* find(std::string_view key) const noexcept;
};
// Code::corrupt if the bytes are not a table with good checksums, `unsupported` for compressed and big-endian ones.
Result<TensorBundle> decode_tensor_bundle(base::Bytes index);

// "PREFIX.data-00003-of-00008"
std::string shard_name(std::string_view prefix, std::int64_t shard, std::int64_t shards);

}  // namespace sonde::formats::tf
