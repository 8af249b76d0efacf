#include "compare/model_set.h"

#include <algorithm>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "base/temporary_file.h"
#include "tensor/copy.h"

namespace sonde::compare {
namespace {

constexpr std::uint64_t kAlignment = 64;

Entry entry_of(const inspect::Layer& layer) {
  return {.name = layer.value.name,
          .dtype = layer.value.dtype,
          .shape = layer.value.shape,
          .op = layer.op,
          .node = layer.node,
          .scope = layer.scope,
          .inputs = layer.inputs};
}

}  // namespace

Status select_all_layers(inspect::Runtime& runtime) {
  std::vector<std::int64_t> all;
  for (const inspect::Layer& layer : runtime.description().layers) all.push_back(layer.index);
  return runtime.select(all);
}

Result<std::unique_ptr<ModelSet>> ModelSet::run(const inspect::ModelName& name, inspect::Runtime& runtime,
                                                std::vector<NamedView> inputs) {
  std::unique_ptr<ModelSet> set(new ModelSet(name, std::move(inputs)));
  set->info_ = runtime.info();
  set->description_ = runtime.description();
  // The caller's names may belong to the runtime, which ends before the set.
  for (NamedView& input : set->inputs_) {
    const auto found = std::ranges::find(set->description_.inputs, input.name, &inspect::Value::name);
    if (found != set->description_.inputs.end()) input.name = found->name;
  }
  for (const inspect::Layer& layer : set->description_.layers) set->entries_.push_back(entry_of(layer));
  set->places_.resize(set->entries_.size());
  if (Status status = set->keep_outputs(runtime); !status) return status;
  return set;
}

Status ModelSet::keep_outputs(inspect::Runtime& runtime) {
  const std::string path = base::temporary_path("tensors");
  Result<base::AppendFile> file = base::AppendFile::create(path);
  if (!file) return file.error();
  std::string buffer;
  const auto take = [&](const inspect::Output& output) -> Status {
    const auto index = static_cast<std::size_t>(output.layer->index);
    if (!output.tensor) {
      entries_[index].missing = output.missing.empty() ? "the runtime does not give it" : output.missing;
      return Status::success();
    }
    const std::uint64_t offset = file->size();
    const std::size_t size = tensor::byte_size(*output.tensor);
    places_[index] = {offset, output.tensor->dtype, output.tensor->shape};
    entries_[index].dtype = output.tensor->dtype;
    entries_[index].shape = output.tensor->shape;
    buffer.assign((size + kAlignment - 1) / kAlignment * kAlignment, '\0');
    tensor::copy_dense(*output.tensor, buffer.data());
    return file->append(buffer);
  };
  Status status = runtime.run(inputs_, take, {});
  if (status) status = file->append(std::string(kAlignment, '\0'));  // an empty file cannot be mapped
  if (status) status = file->close();
  if (status) {
    Result<base::MappedFile> mapped = base::MappedFile::open(path);
    if (mapped) {
      const auto kept = std::make_shared<base::MappedFile>(std::move(*mapped));
      data_ = reinterpret_cast<const std::byte*>(kept->bytes().data());
      mapping_ = kept;
    } else {
      status = mapped.error();
    }
  }
  const Status removed = base::remove_file(path);  // the mapping keeps its content
  return status ? removed : status;
}

std::string ModelSet::kind() const {
  return description_.format + " model, " + info_.name + " " + info_.version + ", " + info_.precision;
}

std::vector<std::string> ModelSet::model_inputs() const {
  std::vector<std::string> names;
  names.reserve(description_.inputs.size());
  for (const inspect::Value& input : description_.inputs) names.push_back(input.name);
  return names;
}

Result<Loaded> ModelSet::load(std::size_t index) {
  const Place& place = places_[index];
  return Loaded{view(data_ + place.offset, place.dtype, place.shape), mapping_};
}

}  // namespace sonde::compare
