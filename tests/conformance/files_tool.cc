// Reads and writes the file formats for test_files.py. Standard input holds requests, each a list of fields, standard
// output one answer for each. A list is the number of its fields in a line; a field its length in a line, and its
// bytes. A request is a command and its arguments; an answer the name of a status code, a message, and the results.
//
// A tensor is four fields: dtype, "C" or "F" for the order of the elements, the sizes separated by blanks, the raw
// elements. Tensors are answered in C order.
#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "formats/csv.h"
#include "formats/npy.h"
#include "formats/npz.h"
#include "formats/png.h"
#include "formats/safetensors.h"
#include "formats/wav.h"
#include "sonde/tensor_io.h"

namespace {

using namespace sonde;
using Fields = std::vector<std::string>;

// The arguments of a request, one after the other; `at_end` makes a call with too few of them stop.
class Arguments {
 public:
  explicit Arguments(Fields fields) : fields_(std::move(fields)) {}

  bool at_end() const { return next_ >= fields_.size(); }
  const std::string& text() {
    static const std::string none;
    return at_end() ? none : fields_[next_++];
  }
  // Valid as long as the arguments are.
  TensorView tensor() {
    const std::string& name = text();
    const bool fortran_order = text() == "F";
    Shape shape;
    std::istringstream sizes(text());
    for (std::int64_t size = 0; sizes >> size;) shape.push_back(size);
    const std::string& data = text();
    DType dtype{};
    for (int i = 0; i < kDTypeCount; ++i) {
      if (to_string(static_cast<DType>(i)) == name) dtype = static_cast<DType>(i);
    }
    TensorView result = view(data.data(), dtype, shape, fortran_order ? tensor::column_major(shape) : row_major(shape));
    result.mismatched = tensor::dense_bytes(dtype, shape) != data.size();
    return result;
  }

 private:
  Fields fields_;
  std::size_t next_ = 0;
};

void put_tensor(Fields& out, const TensorView& tensor) {
  std::string sizes;
  for (std::int64_t size : tensor.shape) sizes += std::to_string(size) + " ";
  const Tensor dense = tensor::to_tensor(tensor);
  out.insert(out.end(), {std::string(to_string(tensor.dtype)), "C", sizes, std::string(base::as_text(dense.data))});
}

Status put(Fields& out, Result<std::string> result) {
  if (!result) return result.error();
  out.push_back(*std::move(result));
  return {};
}
Status put(Fields& out, const Result<Tensor>& result) {
  if (result) put_tensor(out, result->view());
  return result.status();
}

template <class Named>
std::vector<Named> named_tensors(Arguments& arguments, std::vector<std::string>& names) {
  std::vector<TensorView> tensors;
  while (!arguments.at_end()) {
    names.push_back(arguments.text());
    tensors.push_back(arguments.tensor());
  }
  std::vector<Named> named;
  named.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) named.push_back({names[i], tensors[i]});
  return named;
}

Status npz_encode(Arguments& arguments, Fields& out) {
  const auto method = arguments.text() == "deflated" ? npz::Method::deflated : npz::Method::stored;
  std::vector<std::string> names;
  return put(out, npz::encode(named_tensors<npz::NamedView>(arguments, names), method));
}

Status npz_decode(Arguments& arguments, Fields& out) {
  const auto entries = npz::parse(base::as_bytes(arguments.text()));
  if (!entries) return entries.error();
  for (const npz::Entry& entry : *entries) {
    out.push_back(entry.name);
    if (Status status = put(out, npz::decode(entry)); !status) return status;
  }
  return {};
}

// Writes an archive of three arrays into a sparse file: "large", 4 GiB of zeros and one element more, between "before"
// and "after", which hold a 7.
Status npz_large(Arguments& arguments, Fields&) {
  std::FILE* file = std::fopen(arguments.text().c_str(), "wb");
  if (file == nullptr) return {Code::io, "cannot open the file"};
  npz::Writer writer([&](base::Bytes bytes) {
    const bool zeros = std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
    const bool written = zeros ? std::fseek(file, static_cast<long>(bytes.size()), SEEK_CUR) == 0
                               : std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return written ? Status::success() : Status(Code::io, "cannot write the file");
  });
  const std::int32_t seven = 7;
  const std::complex<double> zero = 0;
  Status status = writer.add("before", view(&seven, {1}));
  if (status) status = writer.add("large", view(&zero, {(1 << 28) + 1}, {0}));
  if (status) status = writer.add("after", view(&seven, {1}));
  if (status) status = writer.finish();
  return std::fclose(file) == 0 ? status : Status(Code::io, "cannot close the file");
}

// The names and sizes of an archive's arrays, and the last array.
Status npz_list(Arguments& arguments, Fields& out) {
  const auto file = base::MappedFile::open(arguments.text());
  if (!file) return file.error();
  const auto entries = npz::parse(file->bytes());
  if (!entries) return entries.error();
  for (const npz::Entry& entry : *entries) {
    out.push_back(entry.name);
    out.push_back(std::to_string(entry.size));
  }
  return put(out, npz::decode(entries->back()));
}

Status safetensors_encode(Arguments& arguments, Fields& out) {
  safetensors::Metadata metadata;
  for (int pairs = std::atoi(arguments.text().c_str()); pairs > 0; --pairs) {
    const std::string key = arguments.text();
    metadata.emplace_back(key, arguments.text());
  }
  std::vector<std::string> names;
  return put(out, safetensors::encode(named_tensors<safetensors::NamedView>(arguments, names), metadata));
}

Status safetensors_decode(Arguments& arguments, Fields& out) {
  const auto file = safetensors::parse(base::as_bytes(arguments.text()));
  if (!file) return file.error();
  out.push_back(std::to_string(file->metadata.size()));
  for (const auto& [key, value] : file->metadata) out.insert(out.end(), {key, value});
  for (const safetensors::Entry& entry : file->tensors) {
    out.push_back(entry.name);
    put_tensor(out, entry.view());
  }
  return {};
}

Status csv_row(Arguments& arguments, Fields& out) {
  const auto line_end = arguments.text() == "lf" ? csv::LineEnd::lf : csv::LineEnd::crlf;
  std::vector<std::string_view> fields;
  while (!arguments.at_end()) fields.push_back(arguments.text());
  csv::put_row(out.emplace_back(), fields, line_end);
  return {};
}

// Each row as the number of its fields, and the fields.
Status csv_decode(Arguments& arguments, Fields& out) {
  const auto rows = csv::decode(arguments.text());
  if (!rows) return rows.error();
  for (const auto& row : *rows) {
    out.push_back(std::to_string(row.size()));
    out.insert(out.end(), row.begin(), row.end());
  }
  return {};
}

Status wav_encode(Arguments& arguments, Fields& out) {
  const auto rate = static_cast<std::uint32_t>(std::atoi(arguments.text().c_str()));
  const auto encoding = arguments.text() == "float32" ? wav::Encoding::float32 : wav::Encoding::pcm16;
  return put(out, wav::encode(arguments.tensor(), rate, encoding));
}

Status wav_decode(Arguments& arguments, Fields& out) {
  const auto sound = wav::decode(base::as_bytes(arguments.text()));
  if (!sound) return sound.error();
  out.push_back(std::to_string(sound->rate));
  put_tensor(out, sound->samples.view());
  return {};
}

// ---- Files by path: sonde/tensor_io.h

Status save_npz_file(Arguments& arguments, Fields&) {
  const std::string path = arguments.text();
  const auto compression = arguments.text() == "deflate" ? Compression::deflate : Compression::none;
  std::vector<std::string> names;
  return save_npz(path, named_tensors<NamedView>(arguments, names), compression);
}

Status save_safetensors_file(Arguments& arguments, Fields&) {
  const std::string path = arguments.text();
  FileMetadata metadata(static_cast<std::size_t>(std::atoi(arguments.text().c_str())));
  for (auto& [key, value] : metadata) {
    key = arguments.text();
    value = arguments.text();
  }
  std::vector<std::string> names;
  return save_safetensors(path, named_tensors<NamedView>(arguments, names), metadata);
}

// The format, the metadata, and every tensor with its name; in-place views must be the same.
Status load_file(Arguments& arguments, Fields& out) {
  const auto file = TensorFile::open(arguments.text());
  if (!file) return file.error();
  out.insert(out.end(), {std::string(to_string(file->format())), std::to_string(file->metadata().size())});
  for (const auto& [key, value] : file->metadata()) out.insert(out.end(), {key, value});
  for (const std::string& name : file->names()) {
    const auto tensor = file->load(name);
    out.push_back(name);
    if (Status status = put(out, tensor); !status) return status;
    const auto info = file->info(name);
    if (!info || info->dtype != tensor->dtype || info->shape != tensor->shape) {
      return {Code::io, "the type of '" + name + "' differs from what was loaded"};
    }
    const auto seen = file->view(name);
    if (!seen && seen.error().code() != Code::unsupported) return seen.error();
    if (seen && (seen->shape != tensor->shape || tensor::to_tensor(*seen).data != tensor->data)) {
      return {Code::io, "'" + name + "' in place differs from what was loaded"};
    }
  }
  return {};
}

const std::map<std::string, std::function<Status(Arguments&, Fields&)>> kCommands = {
    {"npy_encode", [](Arguments& in, Fields& out) { return put(out, npy::encode(in.tensor())); }},
    {"npy_decode", [](Arguments& in, Fields& out) { return put(out, npy::decode(base::as_bytes(in.text()))); }},
    {"npz_encode", npz_encode},
    {"npz_decode", npz_decode},
    {"npz_large", npz_large},
    {"npz_list", npz_list},
    {"safetensors_encode", safetensors_encode},
    {"safetensors_decode", safetensors_decode},
    {"csv_row", csv_row},
    {"csv_decode", csv_decode},
    {"csv_encode_tensor", [](Arguments& in, Fields& out) { return put(out, csv::encode_tensor(in.tensor())); }},
    {"csv_decode_tensor", [](Arguments& in, Fields& out) { return put(out, csv::decode_tensor(in.text())); }},
    {"png_encode", [](Arguments& in, Fields& out) { return put(out, png::encode(in.tensor())); }},
    {"png_decode", [](Arguments& in, Fields& out) { return put(out, png::decode(base::as_bytes(in.text()))); }},
    {"wav_encode", wav_encode},
    {"wav_decode", wav_decode},
    {"save_npy",
     [](Arguments& in, Fields&) {
       const std::string path = in.text();
       return save_npy(path, in.tensor());
     }},
    {"save_npz", save_npz_file},
    {"save_safetensors", save_safetensors_file},
    {"load", load_file},
};

bool read_request(Fields& fields) {
  std::size_t count = 0;
  if (!(std::cin >> count)) return false;
  fields.resize(count);
  for (std::string& field : fields) {
    std::size_t length = 0;
    std::cin >> length;
    std::cin.get();
    field.resize(length);
    std::cin.read(field.data(), static_cast<std::streamsize>(length));
  }
  return static_cast<bool>(std::cin);
}

void answer(const Status& status, const Fields& results) {
  Fields fields = {std::string(to_string(status.code())), status.message()};
  if (status) fields.insert(fields.end(), results.begin(), results.end());
  std::cout << fields.size() << '\n';
  for (const std::string& field : fields) std::cout << field.size() << '\n' << field;
  std::cout.flush();
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  Fields request;
  while (read_request(request)) {
    const auto command = request.empty() ? kCommands.end() : kCommands.find(request.front());
    if (command == kCommands.end()) return 2;
    Arguments arguments({request.begin() + 1, request.end()});
    Fields results;
    const Status status = command->second(arguments, results);
    answer(status, results);
  }
  return 0;
}
