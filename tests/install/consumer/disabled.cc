// Calls everything that a program may call which only records. Compiled with SONDE_DISABLED it needs no library and
// writes nothing into the directory that it is given.
#include <sonde/sonde.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

namespace {

// A condition that reads the step's values compiles, and is never asked.
sonde::ProbeOptions while_loss_is_high(bool& asked) {
  return {.record = {{sonde::Keep::stats, 1}, {sonde::Keep::image, 100}},
          .when = [&asked](const sonde::StepValues& values) {
            asked = true;
            return values.scalar("loss") > 1.0 && values.step() > 10 && !std::isnan(values.scalar("accuracy"));
          }};
}

bool handles_are_inert(const sonde::TensorView& values) {
  sonde::Recorder rec;
  sonde::Step step;
  sonde::Group group;
  const sonde::Scalar loss;
  const sonde::Probe probe;
  loss.record(1, 0);
  probe.record(step, values);
  group.scalar("loss", 1);
  rec = sonde::Recorder();
  return !rec.enabled() && !probe.wanted(step) && rec.directory().empty();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto opened = sonde::Recorder::open(argv[1]);
  if (!opened || opened->enabled()) return 3;
  sonde::Recorder rec = std::move(*opened);

  bool asked = false;
  const sonde::Probe out = rec.probe("out", while_loss_is_high(asked));
  const std::vector<float> data(8, 0.5F);
  const sonde::TensorView values = sonde::view(data, {8});
  sonde::Graph graph;
  graph.add({.name = "input", .op = "Placeholder"}).add({.name = "out", .op = "Relu", .inputs = {"input"}});
  if (graph.nodes().size() != 2 || !graph.check()) return 4;
  rec.graph(graph);
  {
    const auto step = rec.step(12);
    if (step.number() != 12 || step.evaluation() || out.wanted(step)) return 5;
    out.record(step, values);
    rec.scalar("loss", 2.0, 12);
    rec.group(12).text("note", "a");
    rec.table("rows", {{"out", values}}, 12);
    rec.print("out", values, 12);
    rec.trigger("by hand");
    const auto request = rec.pass(99);
    const auto held_out = rec.evaluation(12);
    if (request.number() != 99 || held_out.number() != 12 || !held_out.evaluation()) return 8;
    const sonde::Statistics found = {.shape = {1}, .count = 1, .min = 1, .max = 1, .mean = 1, .sum_abs = 1};
    if (!found.check()) return 9;
    out.record(request, found);
    if (!rec.print_now("out", values, 12, {.summarize = -1})) return 10;
  }
  const sonde::Status saved = rec.checkpoint("weights", 12, {{"out", values}});
  if (saved.ok() || saved.message().find("not saved") == std::string::npos) return 6;
  if (asked || !handles_are_inert(values) || rec.committed_step() != -1 || rec.counters().tensors != 0) return 7;
  std::cout << saved.message() << '\n';
  return rec.flush() && rec.close() ? 0 : 1;
}
