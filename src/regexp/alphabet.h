// Puts the characters that no instruction of a program tells apart into one class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "regexp/program.h"

namespace sonde::regexp {

class Alphabet {
 public:
  explicit Alphabet(const Program& program);

  std::uint32_t classes() const noexcept { return classes_; }
  std::uint32_t class_of_ascii(unsigned char byte) const noexcept { return ascii_[byte]; }
  std::uint32_t class_of(char32_t character) const noexcept;

 private:
  std::vector<char32_t> first_;       // of intervals whose characters have one class, ascending
  std::vector<std::uint32_t> class_;  // of each interval
  std::array<std::uint32_t, 128> ascii_;
  std::uint32_t classes_ = 1;
};

}  // namespace sonde::regexp
