// Names of tensors and the tags under which TensorBoard shows them.
//
// A tensor's identity is (name, kind, occurrence, evaluation). TensorBoard keeps one kind of summary per tag, so each
// summary of a tensor has its own tag:
//
//   activation/dense_1/out            its histogram
//   activation/dense_1/out#2          the histogram of its third occurrence in a step
//   activation/dense_1/out/image      its picture; /audio for sound
//   eval/activation/dense_1/out       the same in an evaluation pass
//   kind 9/dense_1/out                of a kind that this version does not know
//
// The mapping is reversible for every name: in a name '%' and '#' are escaped as %25 and %23, and a last part that is
// itself "image" or "audio" gets its first letter escaped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sonde/summaries.h"

namespace sonde::tags {

// The kind that to_string gives this name, also "kind 9"; empty for any other word.
std::optional<Kind> kind_of(std::string_view name) noexcept;

enum class Plugin : std::uint8_t { scalars, histograms, images, audio, text, other };

struct TensorId {
  std::string name;
  Kind kind = Kind::activation;
  std::uint32_t occurrence = 0;
  bool evaluation = false;
  friend bool operator==(const TensorId&, const TensorId&) = default;
};

// Histograms, images and audio have tags.
std::string tag_of(const TensorId& id, Plugin plugin);

struct TaggedTensor {
  TensorId id;
  Plugin plugin = Plugin::histograms;
  friend bool operator==(const TaggedTensor&, const TaggedTensor&) = default;
};
// Empty if the tag is not one that tag_of creates.
std::optional<TaggedTensor> tensor_of(std::string_view tag);

}  // namespace sonde::tags
