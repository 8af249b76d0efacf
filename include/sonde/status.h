// Errors as values. The library never throws: a call that can fail returns a Status, or a Result that holds
// either the value or the Status that says why there is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "sonde/export.h"

namespace sonde {

enum class Code : std::uint8_t {
  ok,
  invalid_argument,   // the caller's value is invalid: a shape that does not match its data, an empty name
  not_found,          // no such file, run or tag
  permission_denied,  // the operating system denied it
  no_space,           // the disk or the quota is full
  io,                 // any other failure of the operating system
  corrupt,            // bytes that do not follow their format
  unsupported,        // valid, but not something this version can do
  closed,             // used after close
  exhausted,          // a set limit was reached
};

// The name of a code as written above, for messages and JSON.
SONDE_API std::string_view to_string(Code code) noexcept;

// Whether something worked, and if not, one sentence for people: what happened, to which file or
// argument, what to do. Cheap to return on success.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status success() noexcept { return {}; }

  bool ok() const noexcept { return code_ == Code::ok; }
  explicit operator bool() const noexcept { return ok(); }
  Code code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }

 private:
  Code code_ = Code::ok;
  std::string message_;
};

// A value, or the Status that says why there is none. Read the value with `*result` or `result->` after
// `if (result)`; reading it without one is a programming error, as with std::optional.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Status error) : held_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& operator*() & noexcept { return *std::get_if<0>(&held_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&held_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&held_)); }
  T* operator->() noexcept { return std::get_if<0>(&held_); }
  const T* operator->() const noexcept { return std::get_if<0>(&held_); }

  // The reason; only when !ok().
  const Status& error() const noexcept { return *std::get_if<1>(&held_); }
  // The outcome without the value.
  Status status() const { return ok() ? Status::success() : error(); }

 private:
  std::variant<T, Status> held_;
};

}  // namespace sonde
