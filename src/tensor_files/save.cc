// The saving half of sonde/tensor_io.h.
#include "tensor_files/save.h"

#include <algorithm>
#include <new>
#include <vector>

#include "base/directory.h"
#include "base/file_lock.h"
#include "base/process.h"
#include "base/replace_file.h"
#include "formats/npy.h"
#include "formats/npz.h"
#include "formats/safetensors.h"
#include "sonde/tensor_io.h"
#include "tensor/copy.h"
#include "tensor/why_invalid.h"

namespace sonde {
namespace {

// The amount gathered at a time from a tensor that is not dense.
constexpr std::size_t kPiece = std::size_t{1} << 20;

// What a format says, which knows no files.
Status saving(std::string_view path, const Status& status) {
  if (status) return status;
  return {status.code(), "cannot save '" + std::string(path) + "': " + status.message()};
}

// Appends the elements of a valid view in row-major order: dense memory as it is, other memory by some rows at a time.
Status append_elements(base::ReplaceFile& file, const TensorView& tensor, std::vector<std::byte>& buffer) {
  const std::size_t size = tensor::byte_size(tensor);
  if (size == 0) return Status::success();
  if (tensor.contiguous()) return file.append({static_cast<const char*>(tensor.data), size});
  if (size <= kPiece) {
    buffer.resize(kPiece);
    tensor::copy_dense(tensor, buffer.data());
    return file.append(base::as_text(base::Bytes(buffer).first(size)));
  }
  const std::int64_t rows = tensor.shape[0];
  const std::size_t row = size / static_cast<std::size_t>(rows);
  const auto step = static_cast<std::int64_t>(std::max<std::size_t>(kPiece / row, 1));
  const std::int64_t apart = tensor.strides[0] * static_cast<std::int64_t>(size_of(tensor.dtype));
  for (std::int64_t first = 0; first < rows; first += step) {
    TensorView part = tensor;
    part.data = static_cast<const std::byte*>(tensor.data) + first * apart;
    part.shape[0] = std::min(step, rows - first);
    if (part.shape[0] == 1) {  // so that a row which is too large falls apart along its own axes
      part.shape = Shape(std::span(tensor.shape.begin() + 1, tensor.shape.end()));
      part.strides = Shape(std::span(tensor.strides.begin() + 1, tensor.strides.end()));
    }
    if (Status status = append_elements(file, part, buffer); !status) return status;
  }
  return Status::success();
}

Status write_npy(const std::string& path, const TensorView& tensor) {
  const Result<npy::Parts> parts = npy::layout(tensor);
  if (!parts) return saving(path, parts.error());
  Result<base::ReplaceFile> file = base::ReplaceFile::create(path);
  if (!file) return file.error();
  std::vector<std::byte> buffer;
  Status status = file->append(parts->header);
  if (status) status = append_elements(*file, parts->data, buffer);
  return status ? file->commit() : status;
}

Status write_npz(const std::string& path, const std::vector<NamedView>& tensors, Compression compression) {
  Result<base::ReplaceFile> file = base::ReplaceFile::create(path);
  if (!file) return file.error();
  Status written;
  npz::Writer writer([&](base::Bytes bytes) { return written = file->append(base::as_text(bytes)); },
                     compression == Compression::deflate ? npz::Method::deflated : npz::Method::stored);
  Status status;
  for (const NamedView& named : tensors) {
    if (status) status = writer.add(named.name, named.tensor);
  }
  if (status) status = writer.finish();
  if (!written) return written;  // names the file itself
  return status ? file->commit() : saving(path, status);
}

// Locks the temporary file of this process for `path`, so that nobody removes it as a leftover. Without support for
// locks there are none: unlocked files are not removed there either.
std::vector<base::FileLock> lock_aside(const std::string& path) {
  std::vector<base::FileLock> locks;
  const std::size_t name = path.rfind('/') + 1;
  const std::string folder = name == 0 ? "." : path.substr(0, name);
  const Result<base::Directory> directory = base::read_directory(folder);
  if (!directory) return locks;
  const std::string begin = path.substr(name) + ".part-" + std::to_string(base::process_id()) + "-";
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (!entry.name.starts_with(begin)) continue;
    if (Result<base::FileLock> lock = base::FileLock::acquire(base::join_path(folder, entry.name)))
      locks.push_back(*std::move(lock));
  }
  return locks;
}

Status write_safetensors(const std::string& path, const std::vector<NamedView>& tensors, const FileMetadata& metadata,
                         bool synced) {
  std::vector<safetensors::Spec> specs;
  for (const NamedView& named : tensors) {
    if (!named.tensor.valid()) {
      return saving(path, {Code::invalid_argument, "the tensor '" + std::string(named.name) + "' cannot be written: " +
                                                       std::string(tensor::why_invalid(named.tensor))});
    }
    specs.push_back({named.name, named.tensor.dtype, named.tensor.shape});
  }
  const Result<safetensors::Plan> plan = safetensors::plan(specs, metadata);
  if (!plan) return saving(path, plan.error());
  Result<base::ReplaceFile> file = base::ReplaceFile::create(path);
  if (!file) return file.error();
  const std::vector<base::FileLock> locks = synced ? lock_aside(path) : std::vector<base::FileLock>();
  std::vector<std::byte> buffer;
  Status status = file->append(plan->header);
  for (std::size_t i : plan->order) {
    if (status) status = append_elements(*file, tensors[i].tensor, buffer);
  }
  if (!status) return status;
  return synced ? file->commit_synced() : file->commit();
}

// The library never throws: where memory ends, it says so.
template <class Write>
Status within_memory(std::string_view path, Write write) {
  try {
    return write(std::string(path));
  } catch (const std::bad_alloc&) {
    return {Code::exhausted, "cannot save '" + std::string(path) + "': there is not enough memory"};
  }
}

}  // namespace

Status save_npy(std::string_view path, const TensorView& tensor) {
  return within_memory(path, [&](const std::string& name) { return write_npy(name, tensor); });
}

Status save_npz(std::string_view path, const std::vector<NamedView>& tensors, Compression compression) {
  return within_memory(path, [&](const std::string& name) { return write_npz(name, tensors, compression); });
}

Status save_safetensors(std::string_view path, const std::vector<NamedView>& tensors, const FileMetadata& metadata) {
  return within_memory(path,
                       [&](const std::string& name) { return write_safetensors(name, tensors, metadata, false); });
}

Status tensor_files::save_synced(std::string_view path, const std::vector<NamedView>& tensors,
                                 const FileMetadata& metadata) {
  return within_memory(path, [&](const std::string& name) { return write_safetensors(name, tensors, metadata, true); });
}

}  // namespace sonde
