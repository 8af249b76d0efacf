// Log, Run and TensorFile: what was recorded, as columns that NumPy sees in place.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <optional>

#include "convert.h"
#include "owner.h"
#include "sonde/log.h"
#include "sonde/tensor_io.h"
#include "state.h"

namespace sonde::python {
namespace {

using namespace nb::literals;

template <class T>
using Column = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;

// The three columns of a series, which stay where the library has put them.
nb::tuple columns(Scalars found) {
  auto* kept = new Scalars(std::move(found));
  const nb::capsule owner(kept, [](void* scalars) noexcept { delete static_cast<Scalars*>(scalars); });
  const std::size_t size = kept->size();
  return nb::make_tuple(Column<std::int64_t>(kept->steps.data(), {size}, owner),
                        Column<double>(kept->wall_times.data(), {size}, owner),
                        Column<double>(kept->values.data(), {size}, owner));
}

TagKind to_tag_kind(nb::handle object) {
  const std::string_view text = to_text(object, "kind");
  std::string names;
  for (int i = 0; i <= static_cast<int>(TagKind::statistics); ++i) {
    const std::string_view name = to_string(static_cast<TagKind>(i));
    if (name == text) return static_cast<TagKind>(i);
    names.append(names.empty() ? "'" : ", '").append(name) += '\'';
  }
  raise_value_error("kind must be one of " + names + ", not '" + std::string(text) + "'");
}

Range range_of(std::optional<std::int64_t> first, std::optional<std::int64_t> last) {
  Range range;
  if (first) range.first_step = *first;
  if (last) range.last_step = *last;
  return range;
}

History history_of(bool all) { return all ? History::all : History::newest; }

// Runs a question without the interpreter's lock: it may wait until files have been read.
template <class Question>
auto ask(Question&& question) {
  using Answer = decltype(question());
  std::optional<Answer> answer;
  {
    const Unlocked unlocked;
    answer.emplace(question());
  }
  return std::move(*answer);
}

nb::tuple shape_tuple(const Shape& shape) {
  nb::list sizes;
  for (const std::int64_t size : shape) sizes.append(size);
  return nb::tuple(sizes);
}

nb::dict tag_dict(const Tag& tag) {
  nb::dict dict;
  dict["name"] = tag.name;
  dict["kind"] = std::string(to_string(tag.kind));
  dict["points"] = tag.points;
  dict["first_step"] = tag.first_step;
  dict["last_step"] = tag.last_step;
  dict["description"] = tag.description;
  dict["last_time"] = tag.last_time;
  dict["written_again"] = tag.written_again;
  return dict;
}

nb::list bucket_list(const std::vector<Bucket>& buckets) {
  nb::list list;
  for (const Bucket& each : buckets) list.append(nb::make_tuple(each.left, each.right, each.count));
  return list;
}

nb::dict statistics_dict(const TensorStatistics& statistics) {
  nb::dict dict;
  dict["dtype"] = std::string(to_string(statistics.dtype));
  dict["shape"] = shape_tuple(statistics.shape);
  dict["count"] = statistics.count;
  dict["nan"] = statistics.nan;
  dict["positive_infinity"] = statistics.positive_infinity;
  dict["negative_infinity"] = statistics.negative_infinity;
  dict["zeros"] = statistics.zeros;
  dict["negatives"] = statistics.negatives;
  dict["min"] = statistics.min;
  dict["max"] = statistics.max;
  dict["mean"] = statistics.mean;
  dict["std"] = statistics.std;
  dict["sum_abs"] = statistics.sum_abs;
  dict["histogram"] = bucket_list(statistics.histogram);
  return dict;
}

nb::list list_of(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(text);
  return list;
}

nb::list sentences(const std::vector<Status>& problems) {
  nb::list list;
  for (const Status& problem : problems) list.append(problem.message());
  return list;
}

// Bytes that NumPy sees as an array of this type; types that it does not have as their bits.
nb::object to_numpy(const void* data, DType dtype, const Shape& shape, const nb::object& owner) {
  static constexpr const char* kNames[kDTypeCount] = {
      "bool",  "int8",  "int16",   "int32",  "int64",   "uint8",   "uint16",    "uint32",    "uint64",
      "uint8", "uint8", "float16", "uint16", "float32", "float64", "complex64", "complex128"};
  const auto bytes = static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
  const nb::object flat = nb::cast(nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(data, {bytes}, owner));
  return flat.attr("view")(kNames[static_cast<int>(dtype)]).attr("reshape")(shape_tuple(shape));
}

nb::tuple tensor_of(const TensorFile& file, std::string_view name) {
  const TensorView view = take(file.view(name));
  auto* kept = new TensorFile(file);
  const nb::capsule owner(kept, [](void* mapping) noexcept { delete static_cast<TensorFile*>(mapping); });
  return nb::make_tuple(to_numpy(view.data, view.dtype, view.shape, owner), std::string(to_string(view.dtype)));
}

nb::tuple copy_of(Tensor tensor) {
  auto* kept = new Tensor(std::move(tensor));
  const nb::capsule owner(kept, [](void* data) noexcept { delete static_cast<Tensor*>(data); });
  return nb::make_tuple(to_numpy(kept->data.data(), kept->dtype, kept->shape, owner),
                        std::string(to_string(kept->dtype)));
}

void bind_run(nb::module_& module) {
  nb::class_<Run>(module, "Run")
      .def_prop_ro("name", [](const Run& self) { return self.name(); })
      .def_prop_ro("directory", [](const Run& self) { return ask([&] { return self.directory(); }); })
      .def("tags",
           [](const Run& self) {
             nb::list tags;
             for (const Tag& tag : ask([&] { return self.tags(); })) tags.append(tag_dict(tag));
             return tags;
           })
      .def(
          "scalars",
          [](const Run& self, nb::handle tag, std::optional<std::int64_t> first, std::optional<std::int64_t> last,
             bool all) {
            const std::string name(to_text(tag, "tag"));
            return columns(take(ask([&] { return self.scalars(name, range_of(first, last), history_of(all)); })));
          },
          "tag"_a, "first_step"_a.none(), "last_step"_a.none(), "all"_a)
      .def(
          "statistic",
          [](const Run& self, nb::handle tag, nb::handle statistic, std::optional<std::int64_t> first,
             std::optional<std::int64_t> last, bool all) {
            const std::string name(to_text(tag, "tag"));
            const Statistic which = take(statistic_of(to_text(statistic, "statistic")));
            return columns(
                take(ask([&] { return self.statistic(name, which, range_of(first, last), history_of(all)); })));
          },
          "tag"_a, "statistic"_a, "first_step"_a.none(), "last_step"_a.none(), "all"_a)
      .def("probes",
           [](const Run& self) {
             nb::list probes;
             for (const ProbeInfo& probe : ask([&] { return self.probes(); })) {
               nb::list inputs;
               for (const std::string& input : probe.inputs) inputs.append(input);
               nb::dict dict;
               dict["name"] = probe.name;
               dict["kind"] = std::string(to_string(probe.kind));
               dict["tag"] = probe.tag;
               dict["dtype"] = std::string(to_string(probe.dtype));
               dict["shape"] = shape_tuple(probe.shape);
               dict["inputs"] = inputs;
               probes.append(dict);
             }
             return probes;
           })
      .def(
          "values",
          [](const Run& self, nb::handle tag, nb::handle kind) {
            const std::string name(to_text(tag, "tag"));
            const TagKind wanted = to_tag_kind(kind);
            nb::list values;
            for (const ValueRef& value : take(ask([&] { return self.values(name, wanted); }))) values.append(value);
            return values;
          },
          "tag"_a, "kind"_a)
      .def("histogram",
           [](const Run& self, const ValueRef& value) {
             return bucket_list(take(ask([&] { return self.histogram(value); })));
           })
      .def("images",
           [](const Run& self, const ValueRef& value) {
             nb::list files;
             for (const std::string& file : take(ask([&] { return self.images(value); })).files) {
               files.append(nb::bytes(file.data(), file.size()));
             }
             return files;
           })
      .def("audio",
           [](const Run& self, const ValueRef& value) {
             nb::list files;
             for (const AudioClip& clip : take(ask([&] { return self.audio(value); }))) {
               files.append(nb::bytes(clip.file.data(), clip.file.size()));
             }
             return files;
           })
      .def("text",
           [](const Run& self, const ValueRef& value) {
             nb::list texts;
             for (const std::string& text : take(ask([&] { return self.text(value); }))) {
               texts.append(
                   nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
             }
             return texts;
           })
      .def("graph",
           [](const Run& self, const ValueRef& value) {
             const std::string graph = take(ask([&] { return self.graph(value); }));
             return nb::bytes(graph.data(), graph.size());
           })
      .def("statistics",
           [](const Run& self, const ValueRef& value) {
             return statistics_dict(take(ask([&] { return self.statistics(value); })));
           })
      .def("tensor", [](const Run& self, const ValueRef& value) {
        return copy_of(take(ask([&] { return self.tensor(value); })));
      });
}

void bind_log(nb::module_& module) {
  nb::class_<Log>(module, "Log")
      .def(
          "__init__",
          [](Log* self, nb::handle directory, bool follow, bool cache) {
            LogOptions options;
            options.follow = follow ? LogOptions::Follow::live : LogOptions::Follow::once;
            options.cache = cache ? LogOptions::Cache::on : LogOptions::Cache::off;
            const std::string path(to_text(directory, "logdir"));
            new (self) Log(take(ask([&] { return Log::open(path, options); })));
          },
          "directory"_a, "follow"_a, "cache"_a)
      .def_prop_ro("directory", [](const Log& self) { return self.directory(); })
      .def("runs",
           [](const Log& self) {
             nb::list runs;
             for (Run& run : ask([&] { return self.runs(); })) runs.append(std::move(run));
             return runs;
           })
      .def("run",
           [](const Log& self, nb::handle name) {
             const std::string text(to_text(name, "run"));
             return take(ask([&] { return self.run(text); }));
           })
      .def("refresh", &Log::refresh, nb::call_guard<Unlocked>())
      .def("wait", &Log::wait, nb::call_guard<Unlocked>())
      .def_prop_ro("version", &Log::version)
      .def("wait_for_change",
           [](const Log& self, std::uint64_t seen, double seconds) {
             const auto time = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
             return ask([&] { return self.wait_for_change(seen, time); });
           })
      .def("problems", [](const Log& self) {
        nb::list sentences;
        for (const std::string& problem : ask([&] { return self.problems(); })) sentences.append(problem);
        return sentences;
      });
}

void bind_files(nb::module_& module) {
  nb::class_<TensorFile>(module, "TensorFile")
      .def("__init__",
           [](TensorFile* self, nb::handle path) {
             const std::string text(to_text(path, "path"));
             new (self) TensorFile(take(ask([&] { return TensorFile::open(text); })));
           })
      .def("names", [](const TensorFile& self) { return list_of(self.names()); })
      .def("metadata",
           [](const TensorFile& self) {
             nb::dict metadata;
             for (const auto& [key, value] : self.metadata()) metadata[key.c_str()] = value;
             return metadata;
           })
      .def("view", [](const TensorFile& self, nb::handle name) { return tensor_of(self, to_text(name, "name")); })
      .def("load", [](const TensorFile& self, nb::handle name) {
        const std::string text(to_text(name, "name"));
        return copy_of(take(ask([&] { return self.load(text); })));
      });
  module.def("list_captures", [](nb::handle directory) {
    const std::string path(to_text(directory, "directory"));
    return list_of(take(ask([&] { return list_captures(path); })));
  });
  // (tag, step, path, name) of every tensor, and sentences about files that cannot be read.
  module.def("list_whole_tensors", [](nb::handle directory) {
    const std::string path(to_text(directory, "directory"));
    const WholeTensorList list = take(ask([&] { return list_whole_tensors(path); }));
    nb::list tensors;
    for (const WholeTensor& each : list.tensors) {
      tensors.append(nb::make_tuple(each.tag, each.step, each.path, each.name));
    }
    return nb::make_tuple(tensors, sentences(list.unreadable));
  });
  module.def("list_tables", [](nb::handle directory) {
    const std::string path(to_text(directory, "directory"));
    return list_of(take(ask([&] { return list_tables(path); })));
  });
  module.def("list_checkpoints", [](nb::handle directory) {
    const std::string path(to_text(directory, "directory"));
    const CheckpointList list = take(ask([&] { return list_checkpoints(path); }));
    nb::list checkpoints;
    for (const CheckpointInfo& each : list.checkpoints) {
      nb::dict dict;
      dict["name"] = each.name;
      dict["step"] = each.step;
      dict["path"] = each.path;
      dict["wall_time"] = each.wall_time;
      dict["metric"] = each.metric;
      checkpoints.append(dict);
    }
    return nb::make_tuple(checkpoints, sentences(list.unreadable));
  });
  module.def("capture", [](nb::handle directory) {
    const std::string path(to_text(directory, "path"));
    const Capture capture = take(ask([&] { return Capture::open(path); }));
    const CaptureInfo& info = capture.info();
    nb::list steps;
    for (const CapturedStep& step : info.steps) {
      nb::dict scalars;
      for (const auto& [name, value] : step.scalars) scalars[name.c_str()] = value;
      nb::dict dict;
      dict["step"] = step.step;
      dict["evaluation"] = step.evaluation;
      dict["complete"] = step.complete;
      dict["file"] = step.file;
      dict["scalars"] = scalars;
      nb::list keys;  // in the order of execution
      for (const CapturedTensor& tensor : step.tensors) keys.append(tensor.key);
      dict["keys"] = keys;
      steps.append(dict);
    }
    nb::dict dict;
    dict["reason"] = info.reason;
    dict["when"] = info.when;
    dict["step"] = info.step;
    dict["steps"] = steps;
    dict["origin"] = find_origin(info).text();
    return dict;
  });
}

}  // namespace

void bind_reader(nb::module_& module) {
  nb::class_<ValueRef>(module, "ValueRef").def_ro("step", &ValueRef::step).def_ro("wall_time", &ValueRef::wall_time);
  bind_run(module);
  bind_log(module);
  bind_files(module);
}

}  // namespace sonde::python
