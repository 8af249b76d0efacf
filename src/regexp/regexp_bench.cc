// How long it takes to match the names of many tags, ours beside RE2. Each checks that both select the same names.
#include <benchmark/benchmark.h>
#include <re2/re2.h>

#include <string>
#include <vector>

#include "regexp/regexp.h"

namespace sonde::regexp {
namespace {

const std::vector<std::string>& names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> all;
    for (int layer = 0; all.size() < 100'000; ++layer) {
      const std::string number = std::to_string(layer);
      for (const char* part : {"kernel", "bias"}) all.push_back("layer_" + number + "/" + part);
      for (const char* part : {"attention/query/weight", "attention/out", "mlp/fc1/weight", "norm/weight"}) {
        all.push_back("encoder.block." + number + "/" + part);
      }
      for (const char* split : {"train", "test"}) {
        for (const char* metric : {"accuracy", "acc", "loss_total", "learning_rate"}) {
          all.push_back(std::string(split) + "/" + metric + (layer == 0 ? "" : "/task_" + number));
        }
      }
    }
    return all;
  }();
  return kNames;
}

constexpr const char* kPatterns[] = {R"(encoder\..*)",           ".*loss.*",
                                     "(train|test)/acc(uracy)?", "layer_[0-9]+/(kernel|bias)",
                                     R"((?i).*\bATTENTION\b.*)", R"([\pL_.]+[0-9]*/.*weight)"};

template <class Matches>
void run(benchmark::State& state, Matches matches, std::size_t expected) {
  std::size_t found = 0;
  for (auto _ : state) {
    found = 0;
    for (const std::string& name : names()) found += matches(name) ? 1U : 0U;
  }
  if (found != expected) state.SkipWithError("the two do not select the same names");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(names().size()));
}

std::size_t expected(const std::string& pattern, bool whole) {
  const re2::RE2 theirs(pattern);
  std::size_t count = 0;
  for (const std::string& name : names()) {
    count += (whole ? re2::RE2::FullMatch(name, theirs) : re2::RE2::PartialMatch(name, theirs)) ? 1U : 0U;
  }
  return count;
}

void ours(benchmark::State& state, const std::string& pattern, bool whole) {
  const auto compiled = Regexp::compile(pattern, whole ? Extent::whole : Extent::anywhere);
  run(state, [&](const std::string& name) { return compiled->matches(name); }, expected(pattern, whole));
}

void re2_library(benchmark::State& state, const std::string& pattern, bool whole) {
  const re2::RE2 compiled(pattern);
  const auto matches = [&](const std::string& name) {
    return whole ? re2::RE2::FullMatch(name, compiled) : re2::RE2::PartialMatch(name, compiled);
  };
  run(state, matches, expected(pattern, whole));
}

void compile_ours(benchmark::State& state, const std::string& pattern) {
  for (auto _ : state) benchmark::DoNotOptimize(Regexp::compile(pattern, Extent::whole)->matches("x"));
}

void compile_re2(benchmark::State& state, const std::string& pattern) {
  for (auto _ : state) benchmark::DoNotOptimize(re2::RE2::FullMatch("x", re2::RE2(pattern)));
}

const bool kRegistered = [] {
  for (const std::string pattern : kPatterns) {
    for (const bool whole : {true, false}) {
      const std::string name = (whole ? "all of a name: " : "in a name: ") + pattern;
      benchmark::RegisterBenchmark(("ours, " + name).c_str(), ours, pattern, whole)->Unit(benchmark::kMillisecond);
      benchmark::RegisterBenchmark(("RE2, " + name).c_str(), re2_library, pattern, whole)
          ->Unit(benchmark::kMillisecond);
    }
    benchmark::RegisterBenchmark(("ours, compile: " + pattern).c_str(), compile_ours, pattern);
    benchmark::RegisterBenchmark(("RE2, compile: " + pattern).c_str(), compile_re2, pattern);
  }
  return true;
}();

}  // namespace
}  // namespace sonde::regexp
