// What can be recorded besides plain numbers and tensors, and how it is displayed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sonde/tensor.h"

namespace sonde {

// The role of a tensor in a network; role and name together identify the tensor.
// More kinds may follow: a file of a newer version can hold numbers beyond these. A reader keeps such a kind as its
// number and names it "kind 9".
enum class Kind : std::uint8_t {
  activation,
  gradient,
  weight,
  update,
  input,
  output,
  unknown = 255,  // has a name that this version does not know; never recorded
};
inline constexpr int kKindCount = 6;  // the known ones
SONDE_API std::string_view to_string(Kind kind) noexcept;

// The meaning of the axes of a tensor that is drawn. The axes left out have size 1.
enum class Layout : std::uint8_t { HW, HWC, CHW, NHW, NHWC, NCHW };

enum class ColorMap : std::uint8_t {
  automatic,  // 1, 3 or 4 channels: grey, RGB, RGBA as they are; other counts: diverging if signed, else viridis
  grey,
  viridis,    // magnitude: dark blue to yellow
  diverging,  // signed: blue, white at zero, red
};

struct ImageOptions {
  ColorMap colors = ColorMap::automatic;
  // A batch of N images is one grid; so are the channels if they are not colours. At most this many cells are drawn.
  int max_cells = 64;
  // Floats are scaled from [low, high] to the full range. Equal bounds (the default) mean: [0, 1] for colours, and the
  // finite minimum and maximum of the tensor (symmetric about zero where diverging) for colour maps. `low` above `high`
  // is an error.
  double low = 0;
  double high = 0;
};

struct AudioOptions {
  int sample_rate = 44100;
  enum class Encoding : std::uint8_t { pcm16, float32 } encoding = Encoding::pcm16;
  std::string label = {};  // Markdown, shown beside the player
};

// A histogram as TensorBoard keeps it: how many values lie between two edges.
struct Bucket {
  double left = 0;
  double right = 0;
  double count = 0;
};

struct EncodedImages {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::string> files;  // usually PNG
};

using HParam = std::variant<bool, std::int64_t, double, std::string>;
struct HParams {
  std::vector<std::pair<std::string, HParam>> values = {};
  // All values that one of them can have, where they are a few.
  std::vector<std::pair<std::string, std::vector<HParam>>> domains = {};
  std::vector<std::string> metrics = {};  // tags of scalars to show in the table of runs
  std::string group = {};                 // runs of one group are repetitions; empty: the run forms its own group
};

struct MeshOptions {
  // Colours u8 and faces i32 or i64, both [points, 3] like the vertices, or with a leading batch axis. Optional.
  const TensorView* colors = nullptr;
  const TensorView* faces = nullptr;
  std::string config = {};  // JSON for TensorBoard's viewer: camera, lights, material
};

// A page of TensorBoard's custom scalars.
struct Chart {
  std::string title;
  std::vector<std::string> tags;  // regular expressions; for a margin chart: value, lower, upper
  bool margin = false;
};
struct ChartCategory {
  std::string title;
  std::vector<Chart> charts;
};

}  // namespace sonde
