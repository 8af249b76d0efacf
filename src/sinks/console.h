// Prints tensors for people: RecorderOptions::console.
#pragma once

#include <cstdio>
#include <string>

#include "sinks/sink.h"

namespace sonde::sinks {

class Console final : public Sink {
 public:
  explicit Console(std::FILE* out) noexcept : out_(out) {}

  Status write(const Stamp& stamp, std::span<const Value> values) override;
  Status flush() override;
  Status close() override { return flush(); }

 private:
  Status print(const Stamp& stamp, const PrintValue& value);
  Status print(const Stamp& stamp, const TableValue& value);
  Status put(const std::string& text);
  std::FILE* out_;
};

}  // namespace sonde::sinks
