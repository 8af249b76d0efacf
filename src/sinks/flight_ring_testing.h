// For the tests of the flight ring: rings, steps for them, and what another reader sees.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/temp_dir_testing.h"
#include "formats/flight.h"
#include "formats/flight_layout.h"
#include "sinks/flight_ring.h"
#include "tensor/copy.h"

namespace sonde::sinks {

using Scalars = std::vector<std::pair<std::string_view, double>>;

inline std::unique_ptr<FlightRing> make_ring(const base::TempDir& dir, std::uint64_t bytes, std::int64_t steps = 0) {
  auto ring = FlightRing::create({.directory = dir.path(), .bytes = bytes, .steps = steps, .writer = "w"});
  EXPECT_TRUE(ring.ok()) << ring.status().message();
  return ring ? *std::move(ring) : nullptr;
}

// A ring's file as another reader sees it now.
struct Found {
  explicit Found(const std::string& path) : file(*base::MappedFile::open(path)), contents(flight::read(file.bytes())) {
    EXPECT_TRUE(contents.ok()) << contents.status().message();
  }
  const std::vector<flight::Step>& steps() const { return contents->steps; }
  std::vector<std::int64_t> numbers() const {
    std::vector<std::int64_t> found;
    for (const flight::Step& step : steps()) found.push_back(step.step);
    return found;
  }

  base::MappedFile file;
  Result<flight::Contents> contents;
};

inline std::string dense(const TensorView& view) {
  std::string bytes(tensor::byte_size(view), '\0');
  tensor::copy_dense(view, bytes.data());
  return bytes;
}

inline bool add_floats(FlightRing& ring, std::int64_t step, std::string_view name, const std::vector<float>& values,
                       bool evaluation = false) {
  return ring.add({.wall_time = 1, .step = step}, evaluation, {.name = name, .view = view(values)});
}
inline void end(FlightRing& ring, std::int64_t step, bool evaluation = false, const Scalars& scalars = {}) {
  ring.end_step({.wall_time = 2, .step = step}, evaluation, scalars);
}
// A step of one tensor, with all elements equal to the step's number.
inline void add_step(FlightRing& ring, std::int64_t step, std::size_t elements = 16) {
  ASSERT_TRUE(add_floats(ring, step, "x", std::vector<float>(elements, static_cast<float>(step))));
  end(ring, step);
}

// The size of an entry with a tensor of this many floats, including what the ring keeps free.
inline std::uint64_t tensor_entry(std::string_view name, std::size_t elements) {
  std::string meta;
  flight::put_tensor_meta(meta, {.name = name, .shape = {static_cast<std::int64_t>(elements)}});
  return flight::entry_size(meta.size(), elements * sizeof(float));
}
inline constexpr std::uint64_t kReserve = 512;

}  // namespace sonde::sinks
