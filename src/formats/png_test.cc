#include "formats/png.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <isa-l/crc.h>
#include <spng.h>

#include <memory>

#include "formats/file_testing.h"

namespace sonde::png {
namespace {

using testing::corpus_file;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::random_tensor;

// A picture as libspng reads it.
Tensor decode_with_spng(std::string_view file) {
  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(0), spng_ctx_free);
  EXPECT_EQ(spng_set_png_buffer(context.get(), file.data(), file.size()), 0);
  spng_ihdr header{};
  EXPECT_EQ(spng_get_ihdr(context.get(), &header), 0);
  std::size_t bytes = 0;
  EXPECT_EQ(spng_decoded_image_size(context.get(), SPNG_FMT_PNG, &bytes), 0);
  const std::int64_t channels = header.color_type == 0   ? 1
                                : header.color_type == 4 ? 2
                                : header.color_type == 2 ? 3
                                                         : 4;
  Tensor picture{header.bit_depth == 16 ? DType::u16 : DType::u8,
                 {header.height, header.width, channels},
                 std::vector<std::byte>(bytes)};
  EXPECT_EQ(spng_decode_image(context.get(), picture.data.data(), bytes, SPNG_FMT_PNG, 0), 0);  // in host byte order
  return picture;
}

TEST(PngEncode, IsReadBackByLibspngInEveryFormat) {
  std::mt19937 random(17);
  for (DType dtype : {DType::u8, DType::u16}) {
    for (std::int64_t channels = 1; channels <= 4; ++channels) {
      for (const Shape& shape : {Shape{1, 1, channels}, Shape{7, 5, channels}, Shape{64, 200, channels}}) {
        const Tensor picture = random_tensor(random, dtype, shape);
        const auto file = encode(picture.view());
        ASSERT_TRUE(file) << file.error().message();
        expect_same(decode_with_spng(*file).view(), picture.view());
        const auto decoded = decode(base::as_bytes(*file));
        ASSERT_TRUE(decoded) << decoded.error().message();
        expect_same(decoded->view(), picture.view());
      }
    }
  }
}

TEST(PngEncode, TakesGreyPicturesWithoutAChannelAxis) {
  std::mt19937 random(19);
  const Tensor picture = random_tensor(random, DType::u8, {6, 9});
  const Tensor decoded = decode_with_spng(*encode(picture.view()));
  EXPECT_EQ(decoded.shape, (Shape{6, 9, 1}));
  EXPECT_EQ(decoded.data, picture.data);
}

TEST(PngEncode, TakesStridedViews) {
  std::mt19937 random(23);
  const Tensor planes = random_tensor(random, DType::u16, {3, 8, 10});  // channels first
  const TensorView picture = view(planes.data.data(), DType::u16, {8, 10, 3}, {10, 1, 80});
  expect_same(decode_with_spng(*encode(picture)).view(), picture);
}

TEST(PngEncode, SplitsNothingAndPacksAFlatPictureWell) {
  const std::vector<std::uint8_t> black(256 * 256 * 3);
  const auto file = encode(view(black, {256, 256, 3}));
  ASSERT_TRUE(file);
  EXPECT_LT(file->size(), 4000u);
}

TEST(PngEncode, RejectsInvalidPictures) {
  const std::vector<std::uint8_t> bytes(60);
  const std::vector<float> floats(12);
  for (const TensorView& wrong :
       {view(bytes, {60}), view(bytes, {2, 6, 5}), view(bytes, {0, 5}), view(bytes, {5, 0, 3}), view(bytes, {3, 3}),
        view(floats, {3, 4}), view(bytes, {1, 4, 5, 3})}) {
    EXPECT_EQ(encode(wrong).status().code(), Code::invalid_argument);
  }
}

TEST(PngDecode, ReadsWhatPillowWrites) {
  for (const char* name : {"png/grey.png", "png/grey_16.png", "png/rgb.png", "png/rgba.png"}) {
    const std::string file = corpus_file(name);
    const auto decoded = decode(base::as_bytes(file));
    ASSERT_TRUE(decoded) << name << ": " << decoded.error().message();
    expect_same(decoded->view(), decode_with_spng(file).view());
  }
}

TEST(PngDecode, UndoesAllFiveFiltersOverSeveralDataChunks) {
  const auto filtered = decode(base::as_bytes(corpus_file("png/filters.png")));
  ASSERT_TRUE(filtered) << filtered.error().message();
  expect_same(filtered->view(), decode(base::as_bytes(corpus_file("png/rgb.png")))->view());
}

TEST(PngDecode, SaysThatPalettesAndInterlacingAreUnsupported) {
  const auto palette = decode(base::as_bytes(corpus_file("png/palette.png")));
  EXPECT_EQ(palette.status().code(), Code::unsupported);
  EXPECT_THAT(palette.error().message(), HasSubstr("palette"));
  const auto interlaced = decode(base::as_bytes(corpus_file("png/interlaced.png")));
  EXPECT_EQ(interlaced.status().code(), Code::unsupported);
  EXPECT_THAT(interlaced.error().message(), HasSubstr("interlacing"));
}

// Overwrites bytes of IHDR and puts its checksum right.
std::string with_header(std::string file, std::size_t at, std::string_view bytes) {
  file.replace(16 + at, bytes.size(), bytes);
  const std::uint32_t crc = crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(file.data() + 12), 17);
  for (std::size_t i = 0; i < 4; ++i) file[29 + i] = static_cast<char>(crc >> (24 - 8 * i));
  return file;
}

TEST(PngDecode, RejectsHugeSizesBeforeAnythingIsAllocated) {
  const std::string file = corpus_file("png/rgb.png");
  EXPECT_TRUE(decode(base::as_bytes(with_header(file, 0, {}))));
  for (std::string_view size : {"\x7f\xff\xff\xff\x7f\xff\xff\xff", "\x00\x10\x00\x00\x00\x10\x00\x00",
                                "\xff\xff\xff\xff\x00\x00\x00\x01", "\x00\x00\x00\x00\x00\x00\x00\x01"}) {
    EXPECT_EQ(decode(base::as_bytes(with_header(file, 0, std::string_view(size.data(), 8)))).status().code(),
              Code::corrupt);
  }
}

TEST(PngDecode, RejectsImpossibleHeaders) {
  const std::string file = corpus_file("png/rgb.png");
  EXPECT_EQ(decode(base::as_bytes(with_header(file, 8, "\x07"))).status().code(), Code::corrupt);
  EXPECT_EQ(decode(base::as_bytes(with_header(file, 9, "\x05"))).status().code(), Code::corrupt);
  EXPECT_EQ(decode(base::as_bytes(with_header(file, 10, "\x01"))).status().code(), Code::corrupt);
  EXPECT_EQ(decode(base::as_bytes(with_header(file, 8, "\x04"))).status().code(), Code::unsupported);
}

TEST(PngDecode, NoticesEveryDamageOfOneByteAndEveryTruncation) {
  const std::string file = corpus_file("png/filters.png");
  const Tensor right = *decode(base::as_bytes(file));
  testing::for_each_damage(
      file, [&](base::Bytes damaged) { EXPECT_FALSE(decode(damaged)) << "every byte is under a checksum"; });
  EXPECT_EQ(decode(base::as_bytes(file))->data, right.data);
}

}  // namespace
}  // namespace sonde::png
