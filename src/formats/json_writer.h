// A sequential JSON writer, used for all JSON that this project writes.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/tensor.h"

namespace sonde::formats {

// Writes values one after the other; commas and closing brackets are added automatically.
//
//   JsonWriter json;
//   json.object().key("runs").array();
//   for (...) json.text(name);
//   json.end().end();
class JsonWriter {
 public:
  JsonWriter() = default;
  // Appends to the given text.
  explicit JsonWriter(std::string begin) : out_(std::move(begin)) {}

  JsonWriter& object() { return open('{', '}'); }
  JsonWriter& array() { return open('[', ']'); }
  JsonWriter& end() {
    break_line();
    out_ += closing_.back();
    closing_.pop_back();
    comma_ = true;
    return *this;
  }
  JsonWriter& key(std::string_view name) {
    separate();
    out_.append("\"").append(name).append("\":");
    comma_ = false;
    return *this;
  }
  // A key that needs escaping.
  JsonWriter& text_key(std::string_view name) {
    text(name);
    out_ += ':';
    comma_ = false;
    return *this;
  }
  // Bytes that are not UTF-8 become U+FFFD.
  JsonWriter& text(std::string_view value);
  // Parses to the same double. JSON has no NaN and infinities: they are the texts "NaN", "Infinity" and
  // "-Infinity".
  JsonWriter& number(double value);
  template <std::integral Integer>
  JsonWriter& integer(Integer value) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return raw({digits.data(), end.ptr});
  }
  JsonWriter& truth(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  JsonWriter& shape(const Shape& value);
  template <class Texts = std::vector<std::string>>
  JsonWriter& texts(const Texts& values) {
    array();
    for (const auto& value : values) text(value);
    return end();
  }
  // Puts the next value or closing bracket on a new line.
  JsonWriter& line(std::string_view indent = {}) {
    break_.assign("\n").append(indent);
    return *this;
  }
  // Text that is already JSON: a value, or members of an object.
  JsonWriter& raw(std::string_view json) {
    separate();
    out_ += json;
    comma_ = true;
    return *this;
  }

  // An array with one value per item, written by `put(item)`.
  template <class Items, class Put>
  JsonWriter& list(std::string_view name, const Items& items, Put put) {
    key(name).array();
    for (const auto& item : items) put(item);
    return end();
  }

  std::size_t size() const noexcept { return out_.size(); }
  // The output so far; the rest follows.
  std::string take() { return std::exchange(out_, {}); }

 private:
  JsonWriter& open(char begin, char end) {
    separate();
    out_ += begin;
    closing_ += end;
    comma_ = false;
    return *this;
  }
  void separate() {
    if (comma_) out_ += ',';
    break_line();
  }
  void break_line() {
    if (!break_.empty()) out_ += std::exchange(break_, {});
  }

  std::string out_;
  std::string closing_;
  std::string break_;
  bool comma_ = false;
};

}  // namespace sonde::formats
