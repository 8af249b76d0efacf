#include "values.h"

#include <cstdint>
#include <initializer_list>
#include <span>

#include "base/bytes.h"
#include "formats/tf_dtype.h"
#include "formats/tfevents_decode.h"
#include "formats/tfevents_value.h"
#include "formats/wire.h"

namespace sonde::data_server {
namespace {

using Form = tfevents::Value::Form;
using What = tfevents::Event::What;

std::string tensor_head(int tf_dtype, std::initializer_list<std::int64_t> dims) {
  std::string tensor;
  wire::put_integer(tensor, 1, tf_dtype);
  wire::put_bytes(tensor, 2, tfevents::encode_shape(std::span(dims.begin(), dims.size())));
  return tensor;
}

std::string string_tensor(std::initializer_list<std::int64_t> dims, const std::vector<std::string_view>& strings) {
  std::string tensor = tensor_head(formats::kTfString, dims);
  for (const std::string_view text : strings) wire::put_bytes(tensor, 8, text);
  return tensor;
}

Result<std::string> histogram_tensor(const tfevents::Value& value) {
  const auto buckets = tfevents::as_histogram(value);
  if (!buckets) return buckets.error();
  std::string content;
  for (const stats::Bucket& bucket : *buckets) {
    base::put(content, bucket.left);
    base::put(content, bucket.right);
    base::put(content, bucket.count);
  }
  std::string tensor = tensor_head(formats::kTfDouble, {static_cast<std::int64_t>(buckets->size()), 3});
  wire::put_bytes_unless_empty(tensor, 4, content);
  return tensor;
}

}  // namespace

Result<std::string> tensor_proto(const store::RawValue& raw) {
  if (raw.event.what != What::summary) {  // a graph or run metadata
    return string_tensor({1}, {base::as_text(raw.event.bytes)});
  }
  const tfevents::Value& value = raw.value();
  switch (value.form) {
    case Form::tensor: return std::string(base::as_text(value.tensor.message));
    case Form::histo: return histogram_tensor(value);
    case Form::none: return tensor_head(formats::kTfFloat, {0});
    case Form::simple_value: {
      std::string tensor = tensor_head(formats::kTfFloat, {});
      wire::put_float(tensor, 5, value.simple_value);
      return tensor;
    }
    case Form::image: {
      const Blobs blobs(raw, "images");
      if (!blobs.status()) return blobs.status();
      return string_tensor({3}, blobs.items());
    }
    case Form::audio: {
      const Blobs blobs(raw, "audio");
      if (!blobs.status()) return blobs.status();
      return string_tensor({1, 2}, {blobs.items().front(), ""});
    }
  }
  return Status(Code::unsupported, "a value of an unknown form");
}

Blobs::Blobs(const store::RawValue& raw, std::string_view plugin) {
  if (raw.event.what != What::summary) {
    items_.push_back(base::as_text(raw.event.bytes));
    return;
  }
  const tfevents::Value& value = raw.value();
  if (value.form == Form::image) {
    add_images(value);
  } else if (plugin == "audio") {
    add_clips(value);
  } else if (auto strings = tfevents::as_strings(value.tensor)) {
    items_ = *std::move(strings);
  } else {
    status_ = strings.error();
  }
}

void Blobs::add_images(const tfevents::Value& value) {
  const auto images = tfevents::as_images(value);
  if (!images) {
    status_ = images.error();
    return;
  }
  size_ = {std::to_string(images->width), std::to_string(images->height)};
  items_ = {size_[0], size_[1]};
  for (const base::Bytes file : images->encoded) items_.push_back(base::as_text(file));
}

void Blobs::add_clips(const tfevents::Value& value) {
  const auto clips = tfevents::as_audio(value);
  if (!clips) {
    status_ = clips.error();
    return;
  }
  for (const tfevents::Clip& clip : *clips) items_.push_back(base::as_text(clip.encoded));
}

}  // namespace sonde::data_server
