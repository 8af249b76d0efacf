#include "tensor_file.h"

#include <array>

#include "formats/npy.h"
#include "formats/png.h"
#include "formats/wav.h"
#include "render/console.h"

namespace sonde::cli {
namespace {

constexpr std::array kFormats = {FileFormat::npy, FileFormat::npz, FileFormat::safetensors, FileFormat::png,
                                 FileFormat::wav};

// The format that the first bytes speak for.
std::optional<FileFormat> format_of(std::string_view bytes) {
  if (bytes.starts_with("\x93NUMPY")) return FileFormat::npy;
  if (bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6")) return FileFormat::npz;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return FileFormat::png;
  if (bytes.starts_with("RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WAVE") return FileFormat::wav;
  // The length of a header that fits the file, and the header.
  if (bytes.size() > 8 && bytes[8] == '{' && load<std::uint64_t>(bytes.data()) <= bytes.size() - 8) {
    return FileFormat::safetensors;
  }
  return std::nullopt;
}

std::optional<FileFormat> format_named(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  for (FileFormat format : kFormats) {
    if (path.substr(dot + 1) == to_string(format)) return format;
  }
  return std::nullopt;
}

// The file's name before what a format says, which knows no files.
Status in_file(const std::string& path, const Status& status) {
  const std::string between = status.message().starts_with("not a ") ? " is " : ": ";
  return {status.code(), "'" + path + "'" + between + status.message()};
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
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const std::string_view bytes = as_text(file->bytes());
  std::optional<FileFormat> format = format_of(bytes);
  if (!format) format = format_named(path);
  if (!format) {
    return Status(Code::unsupported, bytes.empty() ? "'" + path + "' is empty"
                                                   : "'" + path + "' is no npy, npz, safetensors, png or wav file");
  }
  TensorFile result(*std::move(file), path, *format);
  if (Status status = result.read_directory(); !status) return in_file(path, status);
  return result;
}

Status TensorFile::read_directory() {
  const Bytes bytes = file_.bytes();
  if (format_ == FileFormat::npz) {
    Result<std::vector<npz::Entry>> entries = npz::parse(bytes);
    if (!entries) return entries.error();
    npz_ = *std::move(entries);
    for (const npz::Entry& entry : npz_) names_.push_back(entry.name);
    return Status::success();
  }
  if (format_ == FileFormat::safetensors) {
    Result<safetensors::File> file = safetensors::parse(bytes);
    if (!file) return file.error();
    safetensors_ = *std::move(file);
    for (const safetensors::Entry& entry : safetensors_.tensors) names_.push_back(entry.name);
    return Status::success();
  }
  names_.emplace_back();
  if (format_ == FileFormat::npy) return npy::parse(bytes).status();
  if (format_ == FileFormat::png) {
    Result<Tensor> picture = png::decode(bytes);
    if (!picture) return picture.error();
    decoded_ = *std::move(picture);
  } else {
    Result<wav::Sound> sound = wav::decode(bytes);
    if (!sound) return sound.error();
    decoded_ = std::move(sound->samples);
    sample_rate_ = sound->rate;
  }
  return Status::success();
}

std::optional<std::string> TensorFile::type(std::size_t index) const {
  if (format_ != FileFormat::safetensors) return std::nullopt;
  const safetensors::Entry& entry = safetensors_.tensors[index];
  return render::type_text(entry.dtype, entry.shape);
}

Result<LoadedTensor> TensorFile::load(std::size_t index) {
  // Small arrays of an archive are copied, which verifies their checksums; large ones are looked at in place.
  constexpr std::uint64_t kSmall = std::uint64_t{256} << 20;
  if (format_ == FileFormat::safetensors) return LoadedTensor{{}, safetensors_.tensors[index].view()};
  if (format_ == FileFormat::png || format_ == FileFormat::wav) return LoadedTensor{{}, decoded_.view()};

  const bool archive = format_ == FileFormat::npz;
  if (!archive || (npz_[index].method == npz::Method::stored && npz_[index].size > kSmall)) {
    Result<TensorView> view = archive ? npz::view(npz_[index]) : npy::view(file_.bytes());
    if (view) return LoadedTensor{{}, *view};
    if (view.error().code() != Code::unsupported) return in_file(path_, view.error());
  }
  Result<Tensor> tensor = archive ? npz::decode(npz_[index]) : npy::decode(file_.bytes());
  if (!tensor) return in_file(path_, tensor.error());
  LoadedTensor loaded{*std::move(tensor), {}};
  loaded.view = loaded.copy.view();
  return loaded;
}

}  // namespace sonde::cli
