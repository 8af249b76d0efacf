// The flight ring, `flight-<host>-<pid>-<k>.ring`: the last steps of a process, whole, in a file. It must be readable
// after the process was killed at any moment. flight_layout.h has every byte.
//
//   header (4096 bytes), written once except its positions:
//     magic, version, byte order, header checksum, capacity, host, pid, writer, start time
//     begin, end    positions of the oldest entry that is kept and behind the last complete step; they only grow, and
//                   position p lies at byte 4096 + p % capacity
//   entries, each at a multiple of 64 and never across the end of the file: a filler leads back to its begin
//     header with magic, type (tensor, step end, filler), sequence number, sizes, checksum of itself and of the body
//
// Writing: `begin` moves first, then the released bytes are overwritten; `end` moves last. Entries after `end` belong
// to an incomplete step: they count as long as their checksums and sequence numbers continue.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "sonde/status.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"

namespace sonde::flight {

struct Identity {
  std::string host;
  std::uint64_t pid = 0;
  std::string writer;     // whose event and statistics files belong to it
  double start_time = 0;  // seconds since 1970
};

struct Tensor {
  std::string name;
  Kind kind = Kind::activation;
  std::uint32_t occurrence = 0;
  std::vector<std::string> inputs;
  TensorView view;  // in the ring's bytes
};

struct Step {
  std::int64_t step = 0;
  bool evaluation = false;
  bool complete = false;
  double wall_time = 0;  // of its end, or of its last tensor
  std::vector<std::pair<std::string, double>> scalars;
  std::vector<Tensor> tensors;  // in the order of execution
  std::uint64_t dropped = 0;    // tensors that did not fit
  std::uint64_t lost = 0;       // tensors that were dropped before they reached the ring
  bool overwritten = false;     // it was complete, but its tensors were overwritten: all of them count as dropped
  std::uint64_t damaged = 0;    // tensors that were in the ring, but cannot be read
  std::uint64_t position = 0;   // of its first entry: unique to this step
};

struct Contents {
  Identity identity;
  std::vector<Step> steps;  // oldest first
  std::uint64_t torn = 0;   // entries whose checksum is wrong, left out
  std::vector<std::string> allow_negative_infinity;
};

// `corrupt` if it is not a ring, `unsupported` if it has another version or byte order; the message says so.
Result<Contents> read(base::Bytes file);

}  // namespace sonde::flight
