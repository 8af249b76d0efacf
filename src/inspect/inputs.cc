#include "inspect/inputs.h"

#include <algorithm>
#include <array>

#include "base/directory.h"
#include "base/file.h"
#include "base/suggest.h"
#include "formats/csv.h"
#include "formats/png.h"
#include "inspect/fill.h"
#include "render/console.h"
#include "tensor/convert.h"

namespace sonde::inspect {
namespace {

constexpr std::array<std::string_view, 5> kExtensions = {".npy", ".npz", ".safetensors", ".png", ".csv"};

bool is_input_file(std::string_view name) {
  return std::ranges::any_of(kExtensions, [&](std::string_view extension) { return name.ends_with(extension); });
}

// "x" of "some/x.npy".
std::string stem_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
  return std::string(path.substr(0, path.rfind('.')));
}

Status in_file(const std::string& path, const Status& error) {
  return {error.code(), "'" + path + "': " + error.message()};
}

}  // namespace

bool accepts(const Value& value, const TensorView& given) {
  if (value.dtype && *value.dtype != given.dtype) return false;
  if (!value.shape) return true;
  if (value.shape->rank() != given.shape.rank()) return false;
  for (int axis = 0; axis < given.shape.rank(); ++axis) {
    if ((*value.shape)[axis] >= 0 && (*value.shape)[axis] != given.shape[axis]) return false;
  }
  return true;
}

std::string type_text(const Value& value) {
  std::string text = value.type.empty() ? "?" : value.type;
  if (!value.shape) return text + "[...]";
  text += '[';
  for (int axis = 0; axis < value.shape->rank(); ++axis) {
    const std::int64_t dim = (*value.shape)[axis];
    text.append(axis == 0 ? "" : ",").append(dim < 0 ? "?" : std::to_string(dim));
  }
  return text + "]";
}

const Value* InputSource::find(const std::string& name) const {
  const auto found = std::ranges::find(inputs_, name, &Value::name);
  return found == inputs_.end() ? nullptr : &*found;
}

Status InputSource::add_directory(const std::string& input, const std::string& path) {
  const Result<base::Directory> listed = base::read_directory(path);
  if (!listed) return listed.error();
  std::vector<std::string> names;
  for (const base::DirectoryEntry& entry : listed->entries) {
    if (entry.type == base::DirectoryEntry::Type::file && is_input_file(entry.name)) names.push_back(entry.name);
  }
  if (names.empty()) {
    return {Code::not_found, "the folder '" + path + "' has no npy, npz, safetensors, png or csv file"};
  }
  const bool first = batches_.empty();
  if (!first && batches_.size() != names.size()) {
    return {Code::invalid_argument, "the folder '" + path + "' has " + std::to_string(names.size()) +
                                        " files, but the one before it has " + std::to_string(batches_.size())};
  }
  if (first) batches_.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (first) batches_[i].name = stem_of(names[i]);
    batches_[i].files.push_back({input, base::join_path(path, names[i])});
  }
  return {};
}

Result<InputSource> InputSource::open(const Description& model, const InputOptions& options) {
  InputSource source;
  source.model_ = model.path;
  source.inputs_ = model.inputs;
  source.options_ = options;
  if (options.files.empty() && !options.seed && !model.inputs.empty()) {
    return Status(Code::invalid_argument, "model '" + model.path + "' needs an input '" + model.inputs.front().name +
                                              "' of " + type_text(model.inputs.front()) +
                                              ": give --input FILE, or --random SEED");
  }
  if (!options.files.empty() && options.seed) {
    return Status(Code::invalid_argument, "--input and --random exclude each other");
  }
  std::vector<File> singles;
  for (const std::string& text : options.files) {
    const std::size_t equals = text.find('=');
    const bool named = equals != std::string::npos && !base::file_state(text);
    File file{named ? text.substr(0, equals) : "", named ? text.substr(equals + 1) : text};
    if (named && source.find(file.input) == nullptr) {
      std::vector<std::string> names;
      for (const Value& input : model.inputs) names.push_back(input.name);
      return Status(Code::not_found,
                    "model '" + model.path + "' has no input '" + file.input + "'; it has " + base::enumerated(names));
    }
    if (base::read_directory(file.path)) {
      if (Status added = source.add_directory(file.input, file.path); !added) return added;
      continue;
    }
    if (const auto state = base::file_state(file.path); !state) return state.error();
    singles.push_back(std::move(file));
  }
  if (source.batches_.empty()) {
    source.batches_.push_back(
        {singles.empty() ? (options.seed ? "random" : "none") : stem_of(singles.front().path), {}});
  }
  for (Batch& batch : source.batches_) batch.files.insert(batch.files.end(), singles.begin(), singles.end());
  return source;
}

Status InputSource::add(InputBatch& batch, const std::string& input, const TensorView& given,
                        const std::string& path) const {
  const Value* value = find(input);
  if (value == nullptr) {
    if (inputs_.empty())
      return {Code::invalid_argument, "model '" + model_ + "' has no inputs, but '" + path + "' was given"};
    std::vector<std::string> names;
    for (const Value& each : inputs_) names.push_back(each.name);
    return {Code::not_found, "'" + path + "' holds '" + input + "', but the inputs of model '" + model_ + "' are " +
                                 base::enumerated(names) + "; name one as in --input " + names.front() + "=" + path};
  }
  if (std::ranges::any_of(batch.views_, [&](const NamedView& view) { return view.name == input; })) {
    return {Code::invalid_argument, "input '" + input + "' of '" + model_ + "' was given twice"};
  }
  if (!accepts(*value, given)) {
    return {Code::invalid_argument, "input '" + input + "' of '" + model_ + "' is " + type_text(*value) + ", but '" +
                                        path + "' holds " + render::type_text(given.dtype, given.shape)};
  }
  batch.views_.push_back({batch.names_.emplace_back(input), given});
  return {};
}

Status InputSource::add_file(InputBatch& batch, const File& file) const {
  const std::string only = !file.input.empty() || inputs_.empty() ? file.input : inputs_.front().name;
  const bool several = inputs_.size() > 1 && file.input.empty();
  const auto unnamed = [&] {
    return Status(Code::invalid_argument, "model '" + model_ + "' has " + std::to_string(inputs_.size()) +
                                              " inputs; say which one '" + file.path + "' is, as in --input " +
                                              inputs_.front().name + "=" + file.path);
  };
  const bool png = file.path.ends_with(".png");
  if (png || file.path.ends_with(".csv")) {
    if (several) return unnamed();
    const Result<std::string> bytes = base::read_file(file.path);
    if (!bytes) return bytes.error();
    Result<Tensor> values = png ? png::decode(base::as_bytes(*bytes)) : csv::decode_tensor(*bytes);
    if (!values) return in_file(file.path, values.error());
    const Value* value = find(only);
    if (value != nullptr) values = png ? picture_for(*value, *values) : table_for(*value, *values);
    if (!values) return in_file(file.path, values.error());
    return add(batch, only, batch.tensors_.emplace_back(*std::move(values)).view(), file.path);
  }
  Result<TensorFile> opened = TensorFile::open(file.path);
  if (!opened) return opened.error();
  batch.files_.push_back(*opened);
  const std::vector<std::string>& names = opened->names();
  // A file of one tensor is the input that is meant, whatever it is called in the file, if there is only one.
  const bool single = names.size() == 1 && (find(names.front()) == nullptr || !file.input.empty());
  if (single && several) return unnamed();
  for (const std::string& name : names) {
    if (!single && !file.input.empty() && name != file.input) continue;
    Result<TensorView> view = opened->view(name);
    if (!view) {
      Result<Tensor> loaded = opened->load(name);
      if (!loaded) return loaded.error();
      view = batch.tensors_.emplace_back(*std::move(loaded)).view();
    }
    if (Status added = add(batch, single ? only : name, *view, file.path); !added) return added;
  }
  return {};
}

Result<InputBatch> InputSource::random() const {
  InputBatch batch;
  std::uint64_t state = static_cast<std::uint64_t>(*options_.seed);
  for (const Value& input : inputs_) {
    Result<Tensor> made = random_for(input, options_.range, state);
    if (!made) return Status(made.error().code(), "model '" + model_ + "': " + made.error().message());
    const TensorView view = batch.tensors_.emplace_back(*std::move(made)).view();
    if (Status added = add(batch, input.name, view, "random values"); !added) return added;
  }
  return batch;
}

Status InputSource::check_complete(const InputBatch& batch) const {
  for (const Value& input : inputs_) {
    if (std::ranges::any_of(batch.views_, [&](const NamedView& view) { return view.name == input.name; })) continue;
    return {Code::invalid_argument, "model '" + model_ + "' needs an input '" + input.name + "' of " +
                                        type_text(input) + ": give --input " + input.name + "=FILE"};
  }
  return {};
}

Result<InputBatch> InputSource::load(std::size_t batch) const {
  if (options_.seed) {
    Result<InputBatch> made = random();
    if (made) made->name_ = batches_[batch].name;
    return made;
  }
  InputBatch made;
  made.name_ = batches_[batch].name;
  for (const File& file : batches_[batch].files) {
    if (Status added = add_file(made, file); !added) return added;
  }
  if (Status complete = check_complete(made); !complete) return complete;
  return made;
}

}  // namespace sonde::inspect
