// The loading half of sonde/tensor_io.h.
#include <array>
#include <new>
#include <optional>
#include <unordered_map>

#include "base/file.h"
#include "formats/npy.h"
#include "formats/npz.h"
#include "formats/safetensors.h"
#include "sonde/tensor_io.h"

namespace sonde {
namespace {

constexpr std::array kFormats = {TensorFormat::npy, TensorFormat::npz, TensorFormat::safetensors};

// The format that the first bytes indicate.
std::optional<TensorFormat> format_of(std::string_view bytes) noexcept {
  if (bytes.starts_with("\x93NUMPY")) return TensorFormat::npy;
  // The second is an archive of nothing.
  if (bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6")) return TensorFormat::npz;
  // The length of a header that fits the file, and its first character.
  if (bytes.size() > 8 && bytes[8] == '{' && base::load<std::uint64_t>(bytes.data()) <= bytes.size() - 8) {
    return TensorFormat::safetensors;
  }
  return std::nullopt;
}

// The format that a damaged file should have had.
std::optional<TensorFormat> format_named(std::string_view path) noexcept {
  for (const TensorFormat format : kFormats) {
    const std::string_view name = to_string(format);
    if (path.ends_with(name) && path.substr(0, path.size() - name.size()).ends_with('.')) return format;
  }
  return std::nullopt;
}

// The name of a file, or of an array in it, before what a format says, which knows neither.
Status in_file(const std::string& name, const Status& status) {
  const std::string between = status.message().starts_with("not a ") ? " is " : ": ";
  return {status.code(), "'" + name + "'" + between + status.message()};
}

template <class T>
Result<T> in_file(const std::string& name, Result<T> result) {
  if (result) return result;
  return in_file(name, result.error());
}

}  // namespace

namespace tensor_files {

// A mapped file and its directory. Does not change once it is open.
class Contents {
 public:
  Contents(base::MappedFile file, std::string path, TensorFormat format)
      : file_(std::move(file)), path_(std::move(path)), format_(format) {}

  Status read_directory();
  Result<std::size_t> find(std::string_view name) const;

  const std::string& path() const noexcept { return path_; }
  TensorFormat format() const noexcept { return format_; }
  base::Bytes bytes() const noexcept { return file_.bytes(); }
  const std::vector<std::string>& names() const noexcept { return names_; }
  const FileMetadata& metadata() const noexcept { return metadata_; }

  // Of the tensor that names()[index] names.
  Result<TensorInfo> info(std::size_t index) const;
  Result<TensorView> view(std::size_t index) const;
  Result<Tensor> load(std::size_t index) const;

 private:
  base::MappedFile file_;
  std::string path_;
  TensorFormat format_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> places_;  // in names_
  std::vector<npz::Entry> npz_;                          // beside names_
  std::vector<safetensors::Entry> safetensors_;          // beside names_
  FileMetadata metadata_;
};

Status Contents::read_directory() {
  if (format_ == TensorFormat::npz) {
    Result<std::vector<npz::Entry>> entries = npz::parse(bytes());
    if (!entries) return entries.error();
    for (npz::Entry& entry : *entries) {
      const auto [place, first] = places_.try_emplace(entry.name, npz_.size());
      if (first) {
        names_.push_back(entry.name);
        npz_.push_back(std::move(entry));
      } else {
        npz_[place->second] = std::move(entry);
      }
    }
    return Status::success();
  }
  if (format_ == TensorFormat::safetensors) {
    Result<safetensors::File> file = safetensors::parse(bytes());
    if (!file) return file.error();
    safetensors_ = std::move(file->tensors);
    metadata_ = std::move(file->metadata);
    for (const safetensors::Entry& entry : safetensors_) {
      places_.emplace(entry.name, names_.size());
      names_.push_back(entry.name);
    }
    return Status::success();
  }
  names_.emplace_back();
  places_.emplace("", 0);
  return npy::parse(bytes()).status();
}

Result<std::size_t> Contents::find(std::string_view name) const {
  if (const auto found = places_.find(std::string(name)); found != places_.end()) return found->second;
  if (name.empty() && names_.size() == 1) return std::size_t{0};
  std::string message = "'" + path_ + "' has ";
  if (!name.empty()) {
    message.append("no tensor '").append(name).append("'");
  } else {
    message += names_.empty() ? "no tensors" : std::to_string(names_.size()) + " tensors, so a name must be given";
  }
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < names_.size() && i < kShown; ++i) {
    message += (i == 0 ? "; it has '" : ", '") + names_[i] + "'";
  }
  if (names_.size() > kShown) message += " and " + std::to_string(names_.size() - kShown) + " more";
  return Status(Code::not_found, std::move(message));
}

Result<TensorInfo> Contents::info(std::size_t index) const {
  if (format_ == TensorFormat::safetensors) {
    return TensorInfo{safetensors_[index].dtype, safetensors_[index].shape};
  }
  if (format_ == TensorFormat::npz && npz_[index].method != npz::Method::stored) {
    const Result<Tensor> tensor = load(index);
    if (!tensor) return tensor.error();
    return TensorInfo{tensor->dtype, tensor->shape};
  }
  const Result<npy::Header> header = format_ == TensorFormat::npy
                                         ? in_file(path_, npy::parse(bytes()))
                                         : in_file(path_, in_file(names_[index], npy::parse(npz_[index].packed)));
  if (!header) return header.error();
  return TensorInfo{header->dtype, header->shape};
}

Result<TensorView> Contents::view(std::size_t index) const {
  switch (format_) {
    case TensorFormat::npy: return in_file(path_, npy::view(bytes()));
    case TensorFormat::npz: {
      Result<TensorView> view = npz::view(npz_[index]);
      // That it is compressed names the array already.
      if (npz_[index].method == npz::Method::stored) view = in_file(names_[index], std::move(view));
      return in_file(path_, std::move(view));
    }
    case TensorFormat::safetensors: break;
  }
  return safetensors_[index].view();
}

Result<Tensor> Contents::load(std::size_t index) const {
  try {
    switch (format_) {
      case TensorFormat::npy: return in_file(path_, npy::decode(bytes()));
      case TensorFormat::npz: return in_file(path_, npz::decode(npz_[index]));
      case TensorFormat::safetensors: break;
    }
    return tensor::to_tensor(safetensors_[index].view());
  } catch (const std::bad_alloc&) {  // the library never throws
    return Status(Code::exhausted, "'" + path_ + "': there is not enough memory for a copy of '" + names_[index] + "'");
  }
}

}  // namespace tensor_files

namespace {

// Opens a file that must have a certain format.
Result<TensorFile> open_as(TensorFormat format, std::string_view path) {
  Result<TensorFile> file = TensorFile::open(path);
  if (file && file->format() != format) {
    return Status(Code::invalid_argument, "'" + file->path() + "' has the format " +
                                              std::string(to_string(file->format())) + ", not " +
                                              std::string(to_string(format)));
  }
  return file;
}

Result<std::vector<NamedTensor>> load_all(const TensorFile& file) {
  std::vector<NamedTensor> tensors;
  for (const std::string& name : file.names()) {
    Result<Tensor> tensor = file.load(name);
    if (!tensor) return tensor.error();
    tensors.push_back({name, *std::move(tensor)});
  }
  return tensors;
}

}  // namespace

std::string_view to_string(TensorFormat format) noexcept {
  switch (format) {
    case TensorFormat::npy: return "npy";
    case TensorFormat::npz: return "npz";
    case TensorFormat::safetensors: return "safetensors";
  }
  return "?";
}

TensorFile::TensorFile(std::shared_ptr<const tensor_files::Contents> contents) noexcept
    : contents_(std::move(contents)) {}

Result<TensorFile> TensorFile::open(std::string_view path) {
  std::string name(path);
  Result<base::MappedFile> file = base::MappedFile::open(name);
  if (!file) return file.error();
  const std::string_view bytes = base::as_text(file->bytes());
  std::optional<TensorFormat> format = format_of(bytes);
  if (!format) format = format_named(path);
  if (!format) {
    return Status(Code::unsupported,
                  "'" + name + (bytes.empty() ? "' is empty" : "' is not an npy, npz or safetensors file"));
  }
  auto contents = std::make_shared<tensor_files::Contents>(*std::move(file), std::move(name), *format);
  if (Status status = contents->read_directory(); !status) return in_file(contents->path(), status);
  return TensorFile(std::move(contents));
}

const std::string& TensorFile::path() const noexcept { return contents_->path(); }
TensorFormat TensorFile::format() const noexcept { return contents_->format(); }
std::uint64_t TensorFile::bytes() const noexcept { return contents_->bytes().size(); }
const std::vector<std::string>& TensorFile::names() const noexcept { return contents_->names(); }
const FileMetadata& TensorFile::metadata() const noexcept { return contents_->metadata(); }

Result<TensorInfo> TensorFile::info(std::string_view name) const {
  const Result<std::size_t> index = contents_->find(name);
  if (!index) return index.error();
  return contents_->info(*index);
}

Result<TensorView> TensorFile::view(std::string_view name) const {
  const Result<std::size_t> index = contents_->find(name);
  if (!index) return index.error();
  return contents_->view(*index);
}

Result<Tensor> TensorFile::load(std::string_view name) const {
  const Result<std::size_t> index = contents_->find(name);
  if (!index) return index.error();
  return contents_->load(*index);
}

Result<Tensor> load_npy(std::string_view path) {
  const Result<TensorFile> file = open_as(TensorFormat::npy, path);
  if (!file) return file.error();
  return file->load();
}

Result<std::vector<NamedTensor>> load_npz(std::string_view path) {
  const Result<TensorFile> file = open_as(TensorFormat::npz, path);
  if (!file) return file.error();
  return load_all(*file);
}

Result<Safetensors> load_safetensors(std::string_view path) {
  const Result<TensorFile> file = open_as(TensorFormat::safetensors, path);
  if (!file) return file.error();
  Result<std::vector<NamedTensor>> tensors = load_all(*file);
  if (!tensors) return tensors.error();
  return Safetensors{*std::move(tensors), file->metadata()};
}

}  // namespace sonde
