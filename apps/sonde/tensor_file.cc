#include "tensor_file.h"

#include "base/file.h"
#include "formats/png.h"
#include "formats/wav.h"
#include "render/console.h"
#include "tensor/copy.h"

namespace sonde::cli {
namespace {

// Recognises a picture or sound by its first bytes.
std::optional<FileFormat> medium_of(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return FileFormat::png;
  if (bytes.starts_with("RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WAVE") return FileFormat::wav;
  return std::nullopt;
}

std::optional<FileFormat> medium_named(const std::string& path) {
  if (path.ends_with(".png")) return FileFormat::png;
  if (path.ends_with(".wav")) return FileFormat::wav;
  return std::nullopt;
}

FileFormat format_of(TensorFormat format) noexcept {
  switch (format) {
    case TensorFormat::npy: return FileFormat::npy;
    case TensorFormat::npz: return FileFormat::npz;
    case TensorFormat::safetensors: break;
  }
  return FileFormat::safetensors;
}

// Adds the file's name to a message of a format, which knows no files.
Status in_file(const std::string& path, const Status& status) {
  const std::string between = status.message().starts_with("not a ") ? " is " : ": ";
  return {status.code(), "'" + path + "'" + between + status.message()};
}

// The library lists the formats that it knows; this adds two more.
Status with_media(const Status& error) {
  constexpr std::string_view kListed = "npz or safetensors file";
  std::string message = error.message();
  if (message.ends_with(kListed)) {
    message.resize(message.size() - kListed.size());
    message += "npz, safetensors, png or wav file";
  }
  return {error.code(), std::move(message)};
}

}  // namespace

std::string_view to_string(FileFormat format) noexcept {
  switch (format) {
    case FileFormat::npy: return "npy";
    case FileFormat::npz: return "npz";
    case FileFormat::safetensors: return "safetensors";
    case FileFormat::png: return "png";
    case FileFormat::wav: return "wav";
  }
  return "?";
}

Result<TensorFile> TensorFile::open(const std::string& path) {
  std::optional<FileFormat> medium;
  {
    Result<base::MappedFile> file = base::MappedFile::open(path);
    if (!file) return file.error();
    medium = medium_of(base::as_text(file->bytes()));
  }
  if (medium) return decode(*medium, path);
  Result<sonde::TensorFile> file = sonde::TensorFile::open(path);
  if (!file) {
    // A file that is named like a picture or sound, but is not a tensor file either, is damaged.
    medium = medium_named(path);
    return medium ? decode(*medium, path) : with_media(file.error());
  }
  TensorFile result(format_of(file->format()), file->bytes());
  result.names_ = file->names();
  result.metadata_ = file->metadata();
  result.tensors_ = *std::move(file);
  return result;
}

Result<TensorFile> TensorFile::decode(FileFormat format, const std::string& path) {
  Result<base::MappedFile> file = base::MappedFile::open(path);
  if (!file) return file.error();
  TensorFile result(format, file->bytes().size());
  if (format == FileFormat::png) {
    Result<Tensor> picture = png::decode(file->bytes());
    if (!picture) return in_file(path, picture.error());
    result.decoded_ = *std::move(picture);
  } else {
    Result<wav::Sound> sound = wav::decode(file->bytes());
    if (!sound) return in_file(path, sound.error());
    result.decoded_ = std::move(sound->samples);
    result.sample_rate_ = sound->rate;
  }
  return result;
}

std::optional<std::string> TensorFile::type(std::size_t index) const {
  if (format_ != FileFormat::safetensors) return std::nullopt;
  const Result<TensorInfo> info = tensors_->info(names_[index]);
  if (!info) return std::nullopt;
  return render::type_text(info->dtype, info->shape);
}

Result<LoadedTensor> TensorFile::load(std::size_t index) const {
  // Small arrays of an archive are copied, which verifies their checksums; large ones are used in place.
  constexpr std::uint64_t kSmall = std::uint64_t{256} << 20;
  if (!tensors_) return LoadedTensor{{}, decoded_.view()};

  const Result<TensorView> view = tensors_->view(names_[index]);
  if (view && (format_ != FileFormat::npz || tensor::byte_size(*view) > kSmall)) return LoadedTensor{{}, *view};
  Result<Tensor> tensor = tensors_->load(names_[index]);
  if (!tensor) return tensor.error();
  LoadedTensor loaded{*std::move(tensor), {}};
  loaded.view = loaded.copy.view();
  return loaded;
}

}  // namespace sonde::cli
