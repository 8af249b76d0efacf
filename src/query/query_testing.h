// For the tests of this module: an Api on a directory, and parsers for its answers.
#pragma once

#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/index_testing.h"
#include "query/api.h"
#include "tests/test_data.h"

namespace sonde::query {

class Asked {
 public:
  explicit Asked(const std::string& directory, std::shared_ptr<Actions> actions = nullptr,
                 const LogOptions& options = {.cache = LogOptions::Cache::off})
      : log_(index::open(directory, options)) {
    log_.wait();
    std::vector<Served> logs;
    logs.push_back({.label = "", .directory = directory, .log = log_});
    api_ = std::make_unique<Api>(std::move(logs), std::move(actions));
  }

  // "tags?kind=text"
  Answer get(std::string_view address) const {
    const std::size_t mark = std::min(address.find('?'), address.size());
    return api_->answer({.method = Question::Method::get,
                         .path = address.substr(0, mark),
                         .query = address.substr(std::min(address.size(), mark + 1)),
                         .body = ""});
  }
  Answer post(std::string_view path, std::string_view body, bool may_write = false) const {
    return api_->answer(
        {.method = Question::Method::post, .path = path, .query = "", .body = body, .may_write = may_write});
  }
  Log& log() { return log_; }
  const Api& api() const { return *api_; }

 private:
  Log log_;
  std::unique_ptr<Api> api_;
};

// A JSON text that lives as long as the values taken from it.
class Json {
 public:
  explicit Json(const std::string& text) { EXPECT_EQ(parser_.parse(text).get(root_), simdjson::SUCCESS) << text; }
  // "/runs/0/state"
  simdjson::simdjson_result<simdjson::dom::element> at(std::string_view pointer) const {
    return root_.at_pointer(pointer);
  }
  std::string text(std::string_view pointer) const {
    std::string_view found;
    EXPECT_EQ(at(pointer).get(found), simdjson::SUCCESS) << pointer;
    return std::string(found);
  }
  double number(std::string_view pointer) const {
    double found = -12345;
    EXPECT_EQ(at(pointer).get(found), simdjson::SUCCESS) << pointer;
    return found;
  }
  std::size_t size(std::string_view pointer) const {
    simdjson::dom::array found;
    EXPECT_EQ(at(pointer).get(found), simdjson::SUCCESS) << pointer;
    return found.size();
  }
  std::vector<double> numbers(std::string_view pointer) const {
    std::vector<double> found;
    for (std::size_t i = 0; i < size(pointer); ++i)
      found.push_back(number(std::string(pointer) + "/" + std::to_string(i)));
    return found;
  }
  std::vector<std::string> texts(std::string_view pointer) const {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < size(pointer); ++i)
      found.push_back(text(std::string(pointer) + "/" + std::to_string(i)));
    return found;
  }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

// One series of an answer to POST series.
struct ReadSeries {
  std::uint32_t status = 0;
  std::uint64_t total = 0;
  std::vector<double> steps, times, values;
  std::vector<double> smooth_steps, smooth_times, smooth_values;
  std::vector<double> bad_steps, bad_times;
  std::vector<std::uint32_t> nan, positive, negative;
};

class Columns {
 public:
  explicit Columns(std::string_view bytes) : bytes_(bytes) {}
  template <class Number>
  Number one() {
    return column<Number>(1).front();
  }
  template <class Number>
  std::vector<Number> column(std::size_t count) {
    std::vector<Number> numbers(count);
    EXPECT_LE(at_ + count * sizeof(Number), bytes_.size());
    if (at_ + count * sizeof(Number) > bytes_.size()) return numbers;
    if (count > 0) std::memcpy(numbers.data(), bytes_.data() + at_, count * sizeof(Number));
    at_ += count * sizeof(Number);
    return numbers;
  }
  std::string four() {
    const auto letters = column<char>(4);
    return {letters.begin(), letters.end()};
  }
  void align() { at_ = (at_ + 7) / 8 * 8; }
  bool done() const { return at_ == bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

inline std::vector<ReadSeries> read_series(const Answer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.content_type, "application/octet-stream");
  Columns from(answer.body);
  EXPECT_EQ(from.four(), "SNDS");
  EXPECT_EQ(from.one<std::uint32_t>(), 1U);
  std::vector<ReadSeries> all(from.one<std::uint32_t>());
  EXPECT_EQ(from.one<std::uint32_t>(), 0U);
  for (ReadSeries& one : all) {
    one.status = from.one<std::uint32_t>();
    const auto counts = from.column<std::uint32_t>(3);
    one.total = from.one<std::uint64_t>();
    for (auto* column : {&one.steps, &one.times, &one.values}) *column = from.column<double>(counts[0]);
    for (auto* column : {&one.smooth_steps, &one.smooth_times, &one.smooth_values})
      *column = from.column<double>(counts[1]);
    for (auto* column : {&one.bad_steps, &one.bad_times}) *column = from.column<double>(counts[2]);
    for (auto* column : {&one.nan, &one.positive, &one.negative}) *column = from.column<std::uint32_t>(counts[2]);
    from.align();
  }
  EXPECT_TRUE(from.done());
  return all;
}

inline const std::string kGolden = SONDE_TEST_DATA;

}  // namespace sonde::query
