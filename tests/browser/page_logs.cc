// Logs for the tests in a browser, recorded as a user records them.
//
//   page_logs media DIR                     run "train": images (step N has pixels of the value N), audio, texts
//   page_logs trials DIR                    runs "fast/0" ... "slow/2" with hyper-parameters lr and seed, and losses
//   page_logs tuning DIR TRIALS             runs "trial_00000" ... with five hyper-parameters and two metrics that
//   follow them;
//                                           the loss of every 50th is NaN
//   page_logs many DIR RUNS TAGS STEPS      runs "run_00000" ... with series "group_00/tag_0000" ...
//   page_logs steps DIR                     series "loss" of 20,000 steps in runs that record it differently, see
//                                           record_steps; the value of a step is that of value_at
//   page_logs network DIR BLOCKS STEPS      runs "base" and "fork" of a network of so many blocks, see record_network
//   page_logs layers DIR LAYERS STEPS       run "train": statistics of so many activations "layer_000/out" ..., without
//                                           histograms; for measuring
//   page_logs oddities DIR                  runs whose statistics are unusual, see record_oddities
//   page_logs live RUN                      a job: records "TAG STEP VALUE" from each line of standard input, and
//                                           prints the line again once it is in the file
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/sonde.h"

namespace {

sonde::Recorder open(const std::string& directory) {
  sonde::RecorderOptions options;
  options.console = nullptr;
  options.tensors = sonde::Overflow::wait;  // a slow machine loses nothing
  options.max_wait = std::chrono::minutes(5);
  options.on_error = [](const sonde::Status& status) { std::fprintf(stderr, "%s\n", status.message().c_str()); };
  auto opened = sonde::Recorder::open(directory, options);
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().message().c_str());
    std::exit(1);
  }
  return std::move(*opened);
}

int close(sonde::Recorder& recorder) {
  const sonde::Status status = recorder.close();
  if (status.ok()) return 0;
  return std::fprintf(stderr, "%s\n", status.message().c_str()), 1;
}

std::string numbered(const char* pattern, int number) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, number);
  return text;
}

int record_media(const std::string& directory) {
  sonde::Recorder recorder = open(directory + "/train");
  for (int step = 0; step < 40; ++step) {
    // Each step has its own colour, so that a test can see which one is shown.
    std::vector<std::uint8_t> pixels(std::size_t{16} * 16 * 3, 0);
    for (std::size_t i = 0; i < pixels.size(); i += 3) {
      pixels[i] = static_cast<std::uint8_t>(step * 6);
      pixels[i + 1] = static_cast<std::uint8_t>(i / 3);
    }
    recorder.image("samples/square", sonde::view(pixels, {16, 16, 3}), step * 10, sonde::Layout::HWC);
    if (step % 2 == 0) {
      recorder.image("samples/rarer", sonde::view(pixels, {16, 16, 3}), step * 10, sonde::Layout::HWC);
    }
    recorder.scalar("loss", 1.0 / (1 + step), step * 10);
  }
  for (int step = 0; step < 3; ++step) {
    std::vector<float> tone(4000);
    for (std::size_t i = 0; i < tone.size(); ++i) {
      tone[i] = static_cast<float>(std::sin(static_cast<double>(i) * 0.05 * (1 + step)) * 0.8);
    }
    recorder.audio("samples/tone", sonde::view(tone), step * 100, {.sample_rate = 8000, .label = "a *tone*"});
  }
  recorder.text("notes/markdown",
                "# Heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<script>document.title = 'taken'</script>\n"
                "[bad](javascript:alert(1)) [good](https://example.org)",
                0);
  recorder.text("notes/markdown", "the **second** text", 100);
  recorder.text("notes/answer",
                "<think>\nIs 17 prime?\n  2, 3: no divisor\n</think>\n\nYes.\nIt has <b>no</b> divisor.\n"
                "[INFO]: 17\n<div class=\"a\">\n  <img src=x onerror=\"document.title = 'taken'\">\n</div>",
                0);
  return close(recorder);
}

int record_trials(const std::string& directory) {
  for (const std::string_view group : {"fast", "slow"}) {
    for (int seed = 0; seed < 3; ++seed) {
      sonde::Recorder recorder = open(directory + "/" + std::string(group) + "/" + std::to_string(seed));
      const double rate = group == "fast" ? 0.1 : 0.01;
      recorder.hparams(
          {.values = {{"lr", rate}, {"seed", std::int64_t{seed}}, {"optimizer", "adam"}}, .metrics = {"loss"}});
      for (int step = 0; step < 200; ++step) {
        recorder.scalar("loss", std::exp(-rate * step) + 0.1 * seed, step);
        recorder.scalar("accuracy", 1 - std::exp(-rate * step) - 0.01 * seed, step);
      }
      if (close(recorder) != 0) return 1;
    }
  }
  return 0;
}

// Hyper-parameters as a search would try them, by numbers that are evenly and never repeat.
int record_tuning(const std::string& directory, int trials) {
  const auto share = [](int trial, double step) { return std::fmod(0.5 + trial * step, 1.0); };
  for (int trial = 0; trial < trials; ++trial) {
    sonde::Recorder recorder = open(directory + "/" + numbered("trial_%05d", trial));
    const double rate = std::pow(10, -5 + 4 * share(trial, 0.754877666));
    const double dropout = 0.5 * share(trial, 0.569840291);
    const std::int64_t layers = 2 + trial % 7;
    const char* const optimizer = trial % 3 == 0 ? "adam" : trial % 3 == 1 ? "sgd" : "lion";
    recorder.hparams({.values = {{"lr", rate},
                                 {"dropout", dropout},
                                 {"layers", layers},
                                 {"optimizer", optimizer},
                                 {"augment", trial % 2 == 0}},
                      .metrics = {"loss", "accuracy"}});
    const double miss = std::abs(std::log10(rate) + 3) + (trial % 3 == 1 ? 0.4 : 0.0) + dropout;
    const double loss = 0.05 + 0.3 * miss + 0.1 / static_cast<double>(layers) + 0.1 * share(trial, 0.618033989);
    for (const int step : {0, 100}) {
      recorder.scalar("loss", trial % 50 == 49 && step > 0 ? std::nan("") : loss + (step == 0 ? 2 : 0), step);
      recorder.scalar("accuracy", step == 0 ? 0.1 : std::exp(-loss), step);
    }
    if (close(recorder) != 0) return 1;
  }
  return 0;
}

int record_many(const std::string& directory, int runs, int tags, int steps) {
  for (int run = 0; run < runs; ++run) {
    sonde::Recorder recorder = open(directory + "/" + numbered("run_%05d", run));
    for (int tag = 0; tag < tags; ++tag) {
      const sonde::Scalar series = recorder.series(numbered("group_%02d", tag / 50) + numbered("/tag_%04d", tag));
      for (int step = 0; step < steps; ++step) series.record(std::sin(0.001 * step + tag) + run, step);
    }
    if (close(recorder) != 0) return 1;
  }
  return 0;
}

// A falling curve with noise. The test computes the same numbers.
double value_at(std::int64_t step) {
  return static_cast<double>(step * 7919 % 1000) / 1000 + 2000.0 / static_cast<double>(1000 + step);
}

int record_steps(const std::string& directory) {
  constexpr std::int64_t kSteps = 20'000;
  for (const std::string_view name : {"broken", "dense", "ended", "late", "sparse", "swapped"}) {
    sonde::Recorder recorder = open(directory + "/" + std::string(name));
    const sonde::Scalar loss = recorder.series("loss");
    for (std::int64_t i = 0; i < kSteps; ++i) {
      const std::int64_t step = name == "swapped" ? i ^ 1 : i;
      if (name == "ended" && step >= 9'000) continue;
      if (name == "late" && step < 7'000) continue;
      if (name == "sparse" && step % 200 != 199) continue;
      const bool broken = name == "broken" && step % 100 >= 90;
      loss.record(broken ? std::nan("") : value_at(step), step);
    }
    if (close(recorder) != 0) return 1;
  }
  return 0;
}

// Statistics of an activation for each layer, and of gradient, weight and update of its kernel. In block 1 the output
// of the attention has a spike at four fifths of the steps; in the last block the output of the mlp has an infinity at
// 60 %, and NaN from 70 % on. "fork" is the same until half of the steps, where block 1's mlp output doubles.
int record_network(const std::string& directory, int blocks, std::int64_t steps) {
  for (const bool fork : {false, true}) {
    sonde::Recorder recorder = open(directory + (fork ? "/fork" : "/base"));
    struct Layer {
      sonde::Probe probe;
      double size;
      int block;
      bool mlp;
      bool update;
    };
    std::vector<Layer> layers;
    for (int block = 0; block < blocks; ++block) {
      for (const bool mlp : {false, true}) {
        const std::string name = numbered("block_%02d", block) + (mlp ? "/mlp" : "/attention");
        const auto add = [&](sonde::Kind kind, const char* part, double size) {
          sonde::ProbeOptions options;
          options.kind = kind;
          options.keep = sonde::Keep::stats | sonde::Keep::histogram;
          layers.push_back({recorder.probe(name + part, options), size, block, mlp, kind == sonde::Kind::update});
        };
        add(sonde::Kind::activation, "/out", 1 + 0.1 * block);
        add(sonde::Kind::gradient, "/kernel", 1e-3 / (1 + block));
        add(sonde::Kind::weight, "/kernel", 0.05);
        add(sonde::Kind::update, "/kernel", 5e-5);
      }
    }
    std::vector<float> values(64);
    for (std::int64_t n = 0; n < steps; ++n) {
      const sonde::Step step = recorder.step(n);
      recorder.scalar("loss", 2.0 / static_cast<double>(1 + n), n);
      for (std::size_t i = 0; i < layers.size(); ++i) {
        const Layer& layer = layers[i];
        const bool output = i % 4 == 0;
        double size = layer.size * (1 + 0.05 * std::sin(static_cast<double>(n) * 0.7 + static_cast<double>(i)));
        if (output && layer.block == 1 && !layer.mlp && n == steps * 4 / 5) size *= 50;
        if (output && fork && layer.block == 1 && layer.mlp && n >= steps / 2) size *= 2;
        for (std::size_t k = 0; k < values.size(); ++k) {
          values[k] =
              static_cast<float>(size * std::sin(static_cast<double>(k * (i + 1)) + 0.01 * static_cast<double>(n)));
        }
        const bool last = output && layer.mlp && layer.block == blocks - 1;
        if (last && n == steps * 6 / 10) values[3] = INFINITY;
        if (last && n >= steps * 7 / 10) values[5] = NAN;
        layer.probe.record(step, sonde::view(values));
      }
    }
    if (close(recorder) != 0) return 1;
  }
  return 0;
}

int record_layers(const std::string& directory, int layers, std::int64_t steps) {
  sonde::Recorder recorder = open(directory + "/train");
  std::vector<sonde::Probe> probes;
  for (int layer = 0; layer < layers; ++layer) {
    sonde::ProbeOptions options;
    options.keep = sonde::Keep::stats;
    probes.push_back(recorder.probe(numbered("layer_%03d", layer) + "/out", options));
  }
  sonde::Statistics values;
  values.shape = {1000};
  values.count = 1000;
  values.negatives = 500;
  for (std::int64_t n = 0; n < steps; ++n) {
    const sonde::Step step = recorder.step(n);
    for (int layer = 0; layer < layers; ++layer) {
      const double noise = static_cast<double>((n * 7919 + layer * 104'729) % 1000) / 1000;
      const double size = (1 + 0.01 * layer) * (1 + 0.1 * noise + static_cast<double>(n) / static_cast<double>(steps));
      values.max = 3 * size;
      values.min = -values.max;
      values.mean = 0.1 * size;
      values.m2 = 1000 * size * size;
      values.sum_abs = 800 * size;
      probes[static_cast<std::size_t>(layer)].record(step, values);
    }
  }
  return close(recorder);
}

// Runs of one layer: "single" of one step, "bad" of NaN only, "long" with a name of 10,000 bytes; and one without
// statistics, "scalars".
int record_oddities(const std::string& directory) {
  for (const std::string_view name : {"bad", "long", "scalars", "single"}) {
    sonde::Recorder recorder = open(directory + "/" + std::string(name));
    const std::string layer = name == "long" ? std::string(10'000, 'x') + "/out" : "layer/out";
    const sonde::Probe probe = name == "scalars" ? sonde::Probe() : recorder.probe(layer);
    for (int n = 0; n < (name == "single" ? 1 : 20); ++n) {
      const sonde::Step step = recorder.step(n);
      recorder.scalar("loss", n, n);
      const std::vector<float> values(8, name == "bad" ? NAN : static_cast<float>(n + 1));
      probe.record(step, sonde::view(values));
    }
    if (close(recorder) != 0) return 1;
  }
  return 0;
}

int record_live(const std::string& run) {
  sonde::Recorder recorder = open(run);
  std::string tag;
  std::string value;
  std::int64_t step = 0;
  while (std::cin >> tag >> step >> value) {
    {
      const sonde::Step scope = recorder.step(step);                    // triggers are evaluated at its end
      recorder.scalar(tag, std::strtod(value.c_str(), nullptr), step);  // also "nan" and "inf"
    }
    if (!recorder.flush().ok()) return 1;
    std::cout << tag << ' ' << step << ' ' << value << '\n' << std::flush;
  }
  return close(recorder);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string kind = words.empty() ? "" : words[0];
  if (kind == "media" && words.size() == 2) return record_media(words[1]);
  if (kind == "trials" && words.size() == 2) return record_trials(words[1]);
  if (kind == "tuning" && words.size() == 3) return record_tuning(words[1], std::atoi(words[2].c_str()));
  if (kind == "many" && words.size() == 5) {
    return record_many(words[1], std::atoi(words[2].c_str()), std::atoi(words[3].c_str()), std::atoi(words[4].c_str()));
  }
  if (kind == "steps" && words.size() == 2) return record_steps(words[1]);
  if (kind == "network" && words.size() == 4) {
    return record_network(words[1], std::atoi(words[2].c_str()), std::atoi(words[3].c_str()));
  }
  if (kind == "layers" && words.size() == 4) {
    return record_layers(words[1], std::atoi(words[2].c_str()), std::atoi(words[3].c_str()));
  }
  if (kind == "oddities" && words.size() == 2) return record_oddities(words[1]);
  if (kind == "live" && words.size() == 2) return record_live(words[1]);
  return std::fputs("usage: page_logs media|trials|tuning|many|steps|network|layers|oddities|live DIR [SIZES]\n",
                    stderr),
         2;
}
