// For the tests of this module: what a recorder wrote to its directory.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/temp_dir_testing.h"
#include "formats/stats_record.h"
#include "formats/tfevents_decode.h"
#include "formats/tfrecord.h"

namespace sonde::record {

// Paths of the files in a directory whose names contain `part`, sorted.
inline std::vector<std::string> files_with(const std::string& directory, std::string_view part) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().filename().string().find(part) != std::string::npos) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

struct LoggedScalar {
  std::int64_t step = 0;
  double value = 0;
  double wall_time = 0;
};

// Everything in the event and statistics files of a directory.
struct Log {
  std::map<std::string, std::vector<LoggedScalar>> scalars;
  std::map<std::string, std::string> plugins;  // by tag, as the metadata say
  std::map<std::string, std::size_t> values;   // by tag, all kinds
  std::map<std::string, std::vector<std::vector<stats::Bucket>>> histograms;
  std::map<std::string, std::vector<std::string>> texts;
  std::vector<std::size_t> values_per_event;
  std::size_t graphs = 0;
  std::size_t partial_tails = 0;
  std::vector<std::string> damage;

  struct Tensor {
    std::string name;
    Kind kind = Kind::activation;
    std::uint32_t occurrence = 0;
    stats::Summary summary;
    std::optional<stats::Histogram> histogram = {};
  };
  struct Step {
    std::int64_t step = 0;
    bool evaluation = false;
    std::vector<Tensor> tensors;
  };
  std::vector<Step> steps;
  std::vector<stats_record::Gap> gaps;
  std::map<std::string, std::vector<std::string>> inputs;  // by the probe's name

  void read_event(base::Bytes payload) {
    auto event = tfevents::decode_event(payload);
    if (!event) {
      damage.push_back(event.error().message());
      return;
    }
    if (event->what == tfevents::Event::What::graph_def) ++graphs;
    if (event->what != tfevents::Event::What::summary) return;
    values_per_event.push_back(event->values.size());
    for (const tfevents::Value& value : event->values) {
      const std::string tag(value.tag);
      if (value.has_metadata) plugins.emplace(tag, value.metadata.plugin_name);
      ++values[tag];
      const std::string& plugin = plugins[tag];
      if (plugin == "scalars") {
        auto scalar = tfevents::as_scalar(value);
        scalars[tag].push_back({event->step, scalar ? *scalar : -12345, event->wall_time});
      } else if (plugin == "histograms") {
        auto histogram = tfevents::as_histogram(value);
        if (histogram) histograms[tag].push_back(*histogram);
      } else if (plugin == "text") {
        auto strings = tfevents::as_strings(value.tensor);
        if (strings && !strings->empty()) texts[tag].emplace_back(strings->front());
      }
    }
  }

  void read_stats(base::Bytes payload, stats_record::Definitions& definitions) {
    auto record = stats_record::decode_record(payload);
    if (!record) {
      damage.push_back(record.error().message());
    } else if (auto* definition = std::get_if<stats_record::Definition>(&*record)) {
      inputs[definition->name] = definition->inputs;
      definitions.add(*definition);
    } else if (auto* gap = std::get_if<stats_record::Gap>(&*record)) {
      gaps.push_back(*gap);
    } else if (auto* found = std::get_if<stats_record::Step>(&*record)) {
      Step& step = steps.emplace_back();
      step.step = found->step;
      step.evaluation = found->evaluation;
      for (const auto& entry : found->entries) {
        Tensor tensor = {.name = definitions.name(entry.id), .occurrence = entry.occurrence, .summary = entry.summary};
        if (const auto* known = definitions.find(entry.id)) tensor.kind = known->kind;
        if (entry.histogram) {
          auto histogram = stats_record::decode_histogram(*entry.histogram);
          if (histogram) tensor.histogram = *histogram;
        }
        step.tensors.push_back(std::move(tensor));
      }
    }
  }

  void read_file(const std::string& path, bool is_stats) {
    auto file = base::MappedFile::open(path);
    ASSERT_TRUE(file.ok()) << file.error().message();
    stats_record::Definitions definitions;
    tfrecord::RecordReader reader(file->bytes());
    using Found = tfrecord::RecordReader::Found;
    for (auto found = reader.next(); found != Found::end; found = reader.next()) {
      if (found == Found::partial) {
        ++partial_tails;
        return;
      }
      if (found == Found::damage) {
        damage.emplace_back(reader.reason());
      } else if (is_stats) {
        read_stats(reader.payload(), definitions);
      } else {
        read_event(reader.payload());
      }
    }
  }
};

inline Log read_log(const std::string& directory) {
  Log log;
  for (const auto& path : files_with(directory, "tfevents")) log.read_file(path, false);
  for (const auto& path : files_with(directory, "stats.")) log.read_file(path, true);
  return log;
}

}  // namespace sonde::record
