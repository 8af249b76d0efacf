// Recorder and Counters.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "convert.h"
#include "owner.h"
#include "state.h"
#include "tensor_import.h"

namespace sonde::python {
namespace {

using namespace nb::literals;

// What a condition of a probe gets. The values are gone when the condition has returned.
struct StepValuesObject {
  const StepValues* values = nullptr;
};

const StepValues& values_of(const StepValuesObject& self) {
  if (self.values == nullptr) raise_value_error("the values of a step are gone when its condition has returned");
  return *self.values;
}

// A Python function as a condition. One that raises keeps the tensor, and its error is told.
std::function<bool(const StepValues&)> condition(nb::handle function, std::string probe,
                                                 std::weak_ptr<ErrorBox> errors) {
  return [held = share(function), probe = std::move(probe), errors = std::move(errors)](const StepValues& values) {
    if (!releasing()) return true;
    const nb::gil_scoped_acquire locked;
    const nb::object given = nb::cast(StepValuesObject{&values});
    bool keep = true;
    try {
      keep = nb::cast<bool>(nb::bool_(object_of(held)(given)));
    } catch (nb::python_error& error) {
      if (const auto to = errors.lock()) {
        to->push({Code::invalid_argument, "the condition of the probe '" + probe + "' raised " + sentence_of(error)});
      }
    }
    nb::inst_ptr<StepValuesObject>(given)->values = nullptr;
    return keep;
  };
}

Policy to_policy(nb::handle text, nb::handle source) {
  if (text.is_none()) return {};
  return take(Policy::parse(to_text(text, "policy"), to_text(source, "policy_source")));
}

// Raises ValueError where a policy is wrong.
void check_policy(nb::handle text, nb::handle source) { (void)to_policy(text, source); }

template <class Object>
void open(Object* self, nb::handle directory, nb::handle policy, nb::handle policy_source, std::size_t memory,
          nb::handle scalars, nb::handle tensors, double max_wait, int threads, double flush_interval,
          nb::handle precision, int histogram_buckets, bool console, nb::handle file_suffix, bool live_control,
          int trigger_signal, std::optional<std::int64_t> purge_step, nb::object on_error) {
  using std::chrono::milliseconds;
  auto errors = std::make_shared<ErrorBox>();
  RecorderOptions options;
  options.memory = memory;
  options.scalars = to_overflow(scalars, "scalars");
  options.tensors = to_overflow(tensors, "tensors");
  options.max_wait = milliseconds(static_cast<std::int64_t>(max_wait * 1000));
  options.threads = threads;
  options.flush_interval = milliseconds(static_cast<std::int64_t>(flush_interval * 1000));
  options.precision = to_precision(precision, "precision");
  options.histogram_buckets = histogram_buckets;
  options.console = console ? stdout : nullptr;
  options.file_suffix = to_text(file_suffix, "file_suffix");
  options.policy = to_policy(policy, policy_source);
  options.live_control = live_control;
  options.trigger_signal = trigger_signal;
  options.purge_step = purge_step;
  options.release_owners = release;
  options.on_error = [errors](const Status& status) { errors->push(status); };
  options.callbacks = Callbacks::on_caller;
  if (!on_error.is_none() && PyCallable_Check(on_error.ptr()) == 0) {
    raise_type_error("on_error", "a function of one str, or None", on_error);
  }
  const std::string path(to_text(directory, "directory"));
  std::optional<Result<Recorder>> opened;
  {
    const Unlocked unlocked;
    opened.emplace(Recorder::open(path, options));
  }
  new (self) Object(std::make_shared<RecorderState>(take(std::move(*opened)), std::move(errors), std::move(on_error)));
}

ProbeObject make_probe(RecorderObject& self, nb::handle name, nb::handle kind, nb::handle inputs, nb::handle keep,
                       nb::handle every, nb::handle record, nb::handle when, nb::handle layout, nb::handle colors,
                       nb::handle max_cells, nb::handle low, nb::handle high, nb::handle sample_rate) {
  Recorder& to = self.state->recorder();
  const std::string_view text = to_text(name, "name");
  if (text.empty()) raise_value_error("name must not be empty");
  ProbeOptions options;
  options.kind = to_kind(kind, "kind");
  options.inputs = to_texts(inputs, "inputs");
  options.keep = to_keep(keep, "keep");
  options.every = to_integer(every, "every");
  if (options.every < 0) raise_value_error("every must be at least 0, not " + std::to_string(options.every));
  for (const nb::object& item : to_items(record, "record", "a sequence of (keep, every)")) {
    const std::vector<nb::object> pair = to_items(item, "record", "a sequence of (keep, every)");
    if (pair.size() != 2) raise_value_error("record must be a sequence of (keep, every)");
    options.record.push_back({to_keep(pair[0], "record"), to_integer(pair[1], "record")});
  }
  if (!when.is_none()) {
    if (PyCallable_Check(when.ptr()) == 0) raise_type_error("when", "a function of the step's values, or None", when);
    options.when = condition(when, std::string(text), self.state->errors());
  }
  if (!layout.is_none()) options.layout = to_layout(layout, "layout");
  options.image = to_image_options(colors, max_cells, low, high);
  options.audio.sample_rate = to_int(sample_rate, "sample_rate");
  ProbeObject made = {to.probe(text, options), self.state, std::string(text)};
  self.state->report();
  return made;
}

// One of the pairs of record(): what is lent or copied, and where it goes.
struct Pair {
  const ProbeObject* probe;
  std::optional<ImportedTensor> tensor;
  const Statistics* statistics;
};

void record_batch(RecorderObject& self, nb::handle into, nb::handle pairs, nb::handle lend) {
  (void)self.state->recorder();
  const StepObject& step = to_step_object(into);
  const bool hold = to_flag(lend, "hold");
  const std::vector<nb::object> items = to_items(pairs, "tensors", "a sequence of (probe, tensor)");
  std::vector<Pair> batch;
  batch.reserve(items.size());
  std::int64_t bytes = 0;
  for (const nb::object& item : items) {
    if (PyTuple_Check(item.ptr()) == 0 || PyTuple_Size(item.ptr()) != 2) {
      raise_type_error("tensors", "a sequence of (probe, tensor)", item);
    }
    const nb::handle probe = PyTuple_GetItem(item.ptr(), 0);
    const nb::handle tensor = PyTuple_GetItem(item.ptr(), 1);
    if (!nb::isinstance<ProbeObject>(probe)) raise_type_error("the first of each pair", "a Probe", probe);
    const auto* to = nb::inst_ptr<ProbeObject>(probe);
    if (nb::isinstance<Statistics>(tensor)) {
      batch.push_back({to, {}, nb::inst_ptr<Statistics>(tensor)});
      continue;
    }
    if (!to->probe.wanted(step.step)) continue;
    batch.push_back({to, ImportedTensor(tensor, "the tensor of a pair"), nullptr});
    bytes += batch.back().tensor->bytes();
  }
  const auto all = [&] {
    for (const Pair& pair : batch) {
      if (pair.statistics != nullptr) {
        pair.probe->probe.record(step.step, *pair.statistics);
      } else if (hold) {
        pair.probe->probe.record(step.step, pair.tensor->shared());
      } else {
        pair.probe->probe.record(step.step, pair.tensor->view());
      }
    }
  };
  if (hold || bytes < kLargeCopy) {
    all();
  } else {
    const Unlocked unlocked;
    all();
  }
  self.state->report();
}

StepObject begin(RecorderObject& self, nb::handle number, const char* argument,
                 Step (Recorder::*kind)(std::int64_t) noexcept) {
  Recorder& to = self.state->recorder();
  StepObject step = {(to.*kind)(to_integer(number, argument)), self.state};
  self.state->report();
  return step;
}

nb::class_<RecorderObject> bind_class(nb::module_& module) {
  // What a recorder holds, for the garbage collector: on_error may refer to the recorder.
  static const PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(+[](PyObject* self, visitproc visit, void* arg) -> int {
         Py_VISIT(Py_TYPE(self));
         if (!nb::inst_ready(self)) return 0;
         const auto* object = nb::inst_ptr<RecorderObject>(self);
         if (object->state) Py_VISIT(object->state->on_error().ptr());
         return 0;
       })},
      {Py_tp_clear, reinterpret_cast<void*>(+[](PyObject* self) -> int {
         const auto* object = nb::inst_ptr<RecorderObject>(self);
         if (object->state) object->state->on_error() = nb::none();
         return 0;
       })},
      {0, nullptr}};
  return nb::class_<RecorderObject>(module, "Recorder", nb::type_slots(slots), nb::is_weak_referenceable());
}

template <class Object, class Class>
void bind_open(Class& type) {
  type.def("__init__", &open<Object>, "directory"_a, nb::kw_only(), "policy"_a.none(), "policy_source"_a, "memory"_a,
           "scalars"_a, "tensors"_a.none(), "max_wait"_a, "threads"_a, "flush_interval"_a, "precision"_a,
           "histogram_buckets"_a, "console"_a, "file_suffix"_a, "live_control"_a, "trigger_signal"_a,
           "purge_step"_a.none(), "on_error"_a.none());
}

void bind_steps(nb::class_<RecorderObject>& type) {
  type.def(
          "series",
          [](RecorderObject& self, nb::handle name) {
            Recorder& to = self.state->recorder();
            SeriesObject made = {to.series(to_text(name, "name")), self.state};
            self.state->report();
            return made;
          },
          "name"_a.none(), nb::sig("def series(self, name: str) -> Series"),
          R"(A series of numbers by name. Resolve a name once; recording then takes about a tenth of a microsecond.

>>> loss = rec.series("loss")
>>> for n in range(3):
...     loss.record(1 / (n + 1), n))")
      .def(
          "probe", &make_probe, "name"_a.none(), nb::kw_only(), "kind"_a = "activation", "inputs"_a = nb::make_tuple(),
          "keep"_a = nb::make_tuple("stats", "histogram"), "every"_a = 1, "record"_a = nb::make_tuple(),
          "when"_a = nb::none(), "layout"_a = nb::none(), "colors"_a = "automatic", "max_cells"_a = 64, "low"_a = 0.0,
          "high"_a = 0.0, "sample_rate"_a = 44100,
          nb::sig("def probe(self, name: str, *, kind: str = 'activation', inputs: Sequence[str] = (), keep: str | "
                  "Sequence[str] = ('stats', 'histogram'), every: int = 1, record: Sequence[tuple[str | "
                  "Sequence[str], int]] = (), when: Callable[[StepValues], bool] | None = None, layout: str | None = "
                  "None, colors: str = 'automatic', max_cells: int = 64, low: float = 0.0, high: float = 0.0, "
                  "sample_rate: int = 44100) -> Probe"),
          R"(A place in the network. The policy decides what is kept of it; without one, `keep` and `every`, or `record`
where one interval is not enough. `when` is asked when the step has ended, with all of its values.

>>> out = rec.probe("conv/out", inputs=["input"], record=[("stats", 1), ("image", 100)])
>>> bad = rec.probe("logits", keep="whole", when=lambda step: step.scalar("loss") > 1.0))")
      .def(
          "step",
          [](RecorderObject& self, nb::handle number) { return begin(self, number, "number", &Recorder::step); },
          "number"_a.none(), nb::sig("def step(self, number: SupportsIndex) -> Step"),
          R"(Begin a step of training. The one before it ends, if it has not.

>>> with rec.step(10) as step:
...     rec.scalar("loss", 0.1, 10))")
      .def(
          "evaluation",
          [](RecorderObject& self, nb::handle step) { return begin(self, step, "step", &Recorder::evaluation); },
          "step"_a, nb::sig("def evaluation(self, step: SupportsIndex) -> Step"),
          R"(Begin a pass over held-out data, at the training step that it belongs to.

>>> with rec.evaluation(10) as step:
...     rec.probe("dense/out").record(step, [1.0, 2.0]))")
      .def(
          "pass_",
          [](RecorderObject& self, nb::handle number) { return begin(self, number, "number", &Recorder::pass); },
          "number"_a.none(), nb::sig("def pass_(self, number: SupportsIndex) -> Step"),
          R"(Begin a pass of inference, such as one request. Any number of them may be open side by side.

>>> with rec.pass_(11) as one, rec.pass_(12) as other:
...     one.number, other.number
(11, 12))")
      .def(
          "epoch",
          [](RecorderObject& self, nb::handle number) { self.state->recorder().epoch(to_integer(number, "number")); },
          "number"_a.none(), nb::sig("def epoch(self, number: SupportsIndex) -> None"),
          R"(An epoch begins with the next step, for policies that say `every = "epoch"`.

>>> rec.epoch(1))")
      .def("record", &record_batch, "step"_a.none(), "tensors"_a.none(), nb::kw_only(), "hold"_a = false,
           nb::sig("def record(self, step: Step, tensors: Iterable[tuple[Probe, TensorLike | Statistics]], *, hold: "
                   "bool = False) -> None"),
           R"(Record many tensors in one call, without the interpreter's lock where much is copied.

With `hold` their memory is shared instead of copied: nothing may write to it until the recorder has let go of it.

>>> import numpy
>>> with rec.step(13) as step:
...     rec.record(step, [(rec.probe("a"), numpy.ones(3)), (rec.probe("b"), numpy.ones(4))]))")
      .def(
          "group",
          [](RecorderObject& self, nb::handle step, nb::handle wall_time) {
            Recorder& to = self.state->recorder();
            const double time =
                wall_time.is_none() ? std::numeric_limits<double>::quiet_NaN() : to_double(wall_time, "wall_time");
            return GroupObject{to.group(to_integer(step, "step"), time), self.state};
          },
          "step"_a, "wall_time"_a = nb::none(),
          nb::sig("def group(self, step: SupportsIndex, wall_time: float | None = None) -> Group"),
          R"(Begin a group: values of one step that are written as one event. `wall_time`, in seconds since 1970, is for what
happened at another time than now.

>>> with rec.group(14) as group:
...     group.scalar("loss", 0.5))");
}

void bind_control(nb::class_<RecorderObject>& type) {
  type.def(
          "trigger",
          [](RecorderObject& self, nb::handle reason, nb::handle before, nb::handle after) {
            Recorder& to = self.state->recorder();
            to.trigger(to_text(reason, "reason"), to_integer(before, "before"), to_integer(after, "after"));
            self.state->report();
          },
          "reason"_a = "manual", "before"_a = 5, "after"_a = 0,
          nb::sig("def trigger(self, reason: str = 'manual', before: int = 5, after: int = 0) -> None"),
          R"(Save a capture when the step in progress ends, with the steps before it out of the flight ring.

>>> rec.trigger("by hand"))")
      .def(
          "_set_policy",
          [](RecorderObject& self, nb::handle policy, nb::handle source) {
            check(self.state->recorder().set_policy(to_policy(policy, source)));
            self.state->report();
          },
          "policy"_a.none(), "source"_a)
      .def_prop_ro(
          "committed_step", [](RecorderObject& self) { return self.state->peek().committed_step(); },
          R"(The last step that is complete, -1 before the first.

>>> rec.committed_step >= -1
True)")
      .def_prop_ro(
          "counters", [](RecorderObject& self) { return self.state->peek().counters(); },
          R"(What happened so far; every number only grows.

>>> rec.counters.dropped_scalars
0)")
      .def_prop_ro(
          "directory", [](RecorderObject& self) { return self.state->peek().directory(); },
          R"(Where the run is written.

>>> import os
>>> os.path.isdir(rec.directory)
True)")
      .def_prop_ro(
          "closed", [](RecorderObject& self) { return self.state->closed(); }, R"(Whether it was closed.

>>> rec.closed
False)")
      .def(
          "run_callbacks",
          [](RecorderObject& self) {
            (void)self.state->recorder();
            self.state->report();
          },
          R"(Run the conditions of probes that wait, and report errors. Every other call does so too; this is for a program
that records nothing for a while.

>>> rec.run_callbacks())")
      .def(
          "flush", [](RecorderObject& self) { self.state->flush(); },
          R"(Return when everything recorded so far is in the files. Raises OSError where a file refused it.

>>> rec.flush())")
      .def(
          "close", [](RecorderObject& self) { self.state->close(); },
          R"(Flush and end the files. A second call does nothing; recording after it raises ValueError.

>>> other = sonde.Recorder(directory + "/closed")
>>> other.close()
>>> other.scalar("loss", 1.0, 1)
Traceback (most recent call last):
ValueError: the recorder is closed)")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Self"))
      .def(
          "__exit__", [](RecorderObject& self, nb::handle, nb::handle, nb::handle) { self.state->close(); },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none(),
          nb::sig("def __exit__(self, type: object, value: object, traceback: object) -> None"));
}

}  // namespace

void bind_recorder(nb::module_& module) {
  nb::class_<StepValuesObject>(module, "StepValues", "What the condition of a probe gets: the values of the step.")
      .def_prop_ro(
          "step", [](const StepValuesObject& self) { return values_of(self).step(); }, "Its number.")
      .def(
          "scalar",
          [](const StepValuesObject& self, nb::handle name) { return values_of(self).scalar(to_text(name, "name")); },
          "name"_a.none(), nb::sig("def scalar(self, name: str) -> float"),
          "The last value of a scalar recorded during the step; NaN if there was none.");
  nb::class_<Counters>(module, "Counters", "What a recorder has done so far; every number only grows.")
      .def_ro("scalars", &Counters::scalars, "Numbers taken from callers.")
      .def_ro("tensors", &Counters::tensors, "Tensors taken from callers.")
      .def_ro("dropped_scalars", &Counters::dropped_scalars, "Numbers lost because the buffer was full.")
      .def_ro("dropped_tensors", &Counters::dropped_tensors, "Tensors lost because the buffer was full.")
      .def_ro("rejected", &Counters::rejected, "Calls that were unusable: a bad shape, two kinds under one name.")
      .def_ro("dropped_step_marks", &Counters::dropped_step_marks, "Begins and ends of steps that were lost.")
      .def_ro("out_of_memory", &Counters::out_of_memory, "Times that memory was short.")
      .def_ro("write_errors", &Counters::write_errors, "Batches that the disk refused.")
      .def_ro("lost_records", &Counters::lost_records, "Records in those batches.")
      .def_ro("bytes_written", &Counters::bytes_written, "Bytes in all files.")
      .def_ro("captures", &Counters::captures, "Captures saved.")
      .def_ro("flight_dropped", &Counters::flight_dropped, "Tensors that found no room in the flight ring.")
      .def_ro("overflowed_scalars", &Counters::overflowed_scalars, "Finite numbers that are infinite as f32.")
      .def("__repr__", [](const Counters& self) {
        return "Counters(scalars=" + std::to_string(self.scalars) + ", tensors=" + std::to_string(self.tensors) +
               ", dropped_scalars=" + std::to_string(self.dropped_scalars) +
               ", dropped_tensors=" + std::to_string(self.dropped_tensors) +
               ", rejected=" + std::to_string(self.rejected) + ", lost_records=" + std::to_string(self.lost_records) +
               ", bytes_written=" + std::to_string(self.bytes_written) + ")";
      });
  nb::class_<RecorderObject> type = bind_class(module);
  bind_open<RecorderObject>(type);
  bind_steps(type);
  bind_summaries(type);
  bind_control(type);
  nb::class_<WriterObject, RecorderObject> writer(module, "Writer", nb::is_weak_referenceable());
  bind_open<WriterObject>(writer);
  bind_add_scalar(writer);
  module.def("_close_all", &close_all);
  module.def("check_policy", &check_policy);
  module.def(
      "release_owners", [] { Recorder::release_owners(); },
      R"(Let go of tensors recorded with `hold` that the recorders are done with. Recording does so by itself.

>>> sonde.release_owners())");
}

}  // namespace sonde::python
