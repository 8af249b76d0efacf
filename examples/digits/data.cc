#include "digits/data.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

// Puts a file into the program as it is, between the symbols <name> and <name>_end. DIGITS_FOLDER comes from CMake.
// clang-format off
#define EMBED(name, file)                                \
  asm(".pushsection .rodata\n"                           \
      ".global " #name ", " #name "_end\n"               \
      ".hidden " #name ", " #name "_end\n"               \
      #name ":\n"                                        \
      ".incbin \"" DIGITS_FOLDER "/" file "\"\n"         \
      #name "_end:\n"                                    \
      ".popsection\n")
// clang-format on

EMBED(digits_images, "images.npy");
EMBED(digits_labels, "labels.npy");
extern "C" const unsigned char digits_images[], digits_images_end[], digits_labels[], digits_labels_end[];

namespace digits {
namespace {

// The data after the header of an .npy file: eight bytes, the header's length in two, the header.
std::span<const unsigned char> npy_values(const unsigned char* begin, const unsigned char* end) {
  const std::size_t header = 10 + begin[8] + 256u * begin[9];
  return std::span(begin, end).subspan(header);
}

// Written out, because std::shuffle gives another order with each standard library.
void shuffle(std::vector<std::size_t>& order, Random& random) {
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
}

std::vector<std::size_t> indices(std::size_t count) {
  std::vector<std::size_t> result(count);
  std::iota(result.begin(), result.end(), std::size_t{0});
  return result;
}

}  // namespace

Dataset pick(const Dataset& data, std::span<const std::size_t> chosen) {
  const std::size_t pixels = data.images.size() / data.labels.size();
  Dataset result;
  Shape shape = data.images.shape;
  shape[0] = chosen.size();
  result.images.reshape(std::move(shape));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto image = std::span(data.images.values).subspan(chosen[i] * pixels, pixels);
    std::ranges::copy(image, result.images.values.begin() + static_cast<std::ptrdiff_t>(i * pixels));
    result.labels.push_back(data.labels[chosen[i]]);
  }
  return result;
}

Split load() {
  const auto pixels = npy_values(digits_images, digits_images_end);
  const auto labels = npy_values(digits_labels, digits_labels_end);
  Dataset all{.images = Tensor({labels.size(), 8, 8, 1}), .labels = Labels(labels.begin(), labels.end())};
  std::ranges::transform(pixels, all.images.values.begin(),
                         [](unsigned char ink) { return static_cast<float>(ink) / 16; });

  std::vector<std::size_t> order = indices(labels.size());
  Random random(0);
  shuffle(order, random);
  const std::size_t held_out = order.size() / 5;
  return {.train = pick(all, std::span(order).subspan(held_out)), .test = pick(all, std::span(order).first(held_out))};
}

Batches::Batches(const Dataset& data, std::size_t batch_size, std::uint64_t seed)
    : data_(data), batch_size_(batch_size), random_(seed), order_(indices(data.labels.size())) {
  shuffle(order_, random_);
}

const Dataset& Batches::next() {
  if (position_ + batch_size_ > order_.size()) {
    shuffle(order_, random_);
    position_ = 0;
  }
  batch_ = pick(data_, std::span(order_).subspan(position_, batch_size_));
  position_ += batch_size_;
  return batch_;
}

}  // namespace digits
