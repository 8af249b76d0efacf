#include "formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/file_testing.h"

namespace sonde::safetensors {
namespace {

using testing::all_dtypes;
using testing::corpus_file;
using ::testing::ElementsAre;
using testing::expect_same;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::random_tensor;

std::string file_with(std::string_view header, std::size_t data = 0) {
  std::string file;
  base::put(file, std::uint64_t{header.size()});
  return file.append(header).append(data, 'x');
}

Code code_of(std::string_view header, std::size_t data = 0) {
  return parse(base::as_bytes(file_with(header, data))).status().code();
}

std::string describe(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return R"({"dtype":")" + std::string(dtype) + R"(","shape":)" + std::string(shape) + R"(,"data_offsets":)" +
         std::string(offsets) + "}";
}

TEST(SafetensorsParse, ReadsWhatTheReferenceWrites) {
  const std::string bytes = corpus_file("safetensors/numpy.safetensors");
  const auto file = parse(base::as_bytes(bytes));
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_THAT(file->metadata, ElementsAre(Pair("step", "7")));
  ASSERT_EQ(file->tensors.size(), 3u);
  for (const Entry& entry : file->tensors) {
    if (entry.name == "a") {
      const float expected[] = {0, 1, 2, 3, 4, 5};
      expect_same(entry.view(), sonde::view(expected, {2, 3}));
    } else if (entry.name == "b/ü") {
      const bool expected = true;
      expect_same(entry.view(), sonde::view(&expected, {}));
    } else {
      EXPECT_EQ(entry.name, "none");
      EXPECT_EQ(entry.dtype, DType::i64);
      EXPECT_EQ(entry.shape, (Shape{0, 4}));
    }
  }
}

TEST(SafetensorsParse, ReadsAnEmptyFileOfTheReference) {
  const auto file = parse(base::as_bytes(corpus_file("safetensors/empty.safetensors")));
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_TRUE(file->tensors.empty());
}

TEST(SafetensorsParse, ReadsSmallFloats) {
  const std::string bytes = corpus_file("safetensors/small_floats.safetensors");
  const auto file = parse(base::as_bytes(bytes));
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_EQ(file->tensors.size(), 3u);
  const BFloat16 bf16[] = {{0x3f80}, {0xc000}};
  const Float8E4M3 e4m3[] = {{0x38}, {0xc0}};
  const Float8E5M2 e5m2[] = {{0x3c}, {0xc0}};
  for (const Entry& entry : file->tensors) {
    expect_same(entry.view(), entry.name == "bfloat16"        ? sonde::view(bf16, {2})
                              : entry.name == "float8_e4m3fn" ? sonde::view(e4m3, {2})
                                                              : sonde::view(e5m2, {2}));
  }
}

TEST(SafetensorsParse, RejectsHolesOverlapsAndOffsetsOutOfRange) {
  const std::string u1 = R"({"a":)" + describe("U8", "[1]", "[0,1]") + R"(,"b":)";
  EXPECT_EQ(code_of(u1 + describe("U8", "[1]", "[1,2]") + "}", 2), Code::ok);
  EXPECT_EQ(code_of(u1 + describe("U8", "[1]", "[2,3]") + "}", 3), Code::corrupt);
  EXPECT_EQ(code_of(u1 + describe("U8", "[1]", "[0,1]") + "}", 2), Code::corrupt);
  EXPECT_EQ(code_of(u1 + describe("U8", "[2]", "[1,2]") + "}", 2), Code::corrupt);
  EXPECT_EQ(code_of(u1 + describe("U8", "[0]", "[1,0]") + "}", 2), Code::corrupt);
  EXPECT_EQ(code_of(u1 + describe("U8", "[1]", "[1,2]") + "}", 1), Code::corrupt);
  EXPECT_EQ(code_of(u1 + describe("U8", "[1]", "[1,2]") + "}", 3), Code::corrupt);
  EXPECT_EQ(code_of(u1 + describe("U8", "[0]", "[1,1]") + "}", 1), Code::ok);
  EXPECT_EQ(code_of(R"({"a":)" + describe("U8", "[1]", "[1,2]") + "}", 2), Code::corrupt);
}

TEST(SafetensorsParse, RejectsHeadersThatTheReferenceRejects) {
  for (std::string_view header : {
           R"()",
           R"([])",
           R"({"a":1})",
           R"({"a":{"dtype":"U8","shape":[1]}})",
           R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
           R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})",
           R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})",
           R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2,3,4,5,6,7,8,9]}})",
           R"({"a":{"dtype":"U8","shape":[1],"data_offsets":["0",1,1,1,1,1]}})",
           R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})",
           R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})",
           R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})",
           R"({"a":{"dtype":8,"shape":[1],"data_offsets":[0,1]}})",
           R"({"__metadata__":{"a":1}})",
           R"({"__metadata__":1})",
           R"({"__metadata__":{},"__metadata__":{}})",
           R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},})",
           R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}} x)",
           "{\"\xff\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
       }) {
    EXPECT_EQ(code_of(header, header.find("offsets") == std::string_view::npos ? 0 : 1), Code::corrupt) << header;
  }
  EXPECT_EQ(code_of(R"({"a":{"dtype":"U8","new":[{}],"shape":[1],"data_offsets":[0,1]}}   )", 1), Code::ok);
  EXPECT_EQ(code_of(R"({"__metadata__":null})"), Code::ok);
}

TEST(SafetensorsParse, RejectsANameThatOccursTwice) {
  const std::string one = R"("a":)" + describe("U8", "[1]", "[0,1]");
  EXPECT_EQ(code_of("{" + one + "," + one + "}", 1), Code::corrupt);
  EXPECT_EQ(code_of(R"({"__metadata__":{"a":"1","a":"2"}})"), Code::corrupt);
}

TEST(SafetensorsParse, SaysWhichTypeIsUnsupported) {
  const auto file = parse(base::as_bytes(file_with(R"({"scales":)" + describe("F8_E8M0", "[1]", "[0,1]") + "}", 1)));
  EXPECT_EQ(file.status().code(), Code::unsupported);
  EXPECT_THAT(file.error().message(), HasSubstr("'scales'"));
  EXPECT_THAT(file.error().message(), HasSubstr("F8_E8M0"));
  EXPECT_EQ(code_of(R"({"a":)" + describe("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]") + "}", 1), Code::unsupported);
}

TEST(SafetensorsParse, RejectsHugeClaimsBeforeAnythingIsAllocated) {
  for (std::uint64_t length : {std::uint64_t{100'000'001}, std::uint64_t{99'999'999}, ~std::uint64_t{0}}) {
    std::string file;
    base::put(file, length);
    EXPECT_EQ(parse(base::as_bytes(file + "{}")).status().code(), Code::corrupt) << length;
  }
  EXPECT_EQ(code_of(R"({"a":)" + describe("U8", "[4611686018427387904]", "[0,4611686018427387904]") + "}", 1),
            Code::corrupt);
  EXPECT_EQ(code_of(R"({"a":)" + describe("U8", "[18446744073709551615,0]", "[0,0]") + "}"), Code::corrupt);
  EXPECT_EQ(code_of(R"({"a":)" + describe("U8", "[4611686018427387904,4611686018427387904,0]", "[0,0]") + "}"),
            Code::corrupt);
  EXPECT_EQ(code_of(std::string(100'000, '{')), Code::corrupt);
}

TEST(SafetensorsEncode, GivesBackEveryDTypeBitForBit) {
  std::mt19937 random(7);
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  for (DType dtype : all_dtypes()) {
    if (dtype == DType::c128) continue;
    for (const Shape& shape : {Shape{}, Shape{0, 2}, Shape{3, 5}}) {
      names.push_back("ü\"\\\n/" + std::to_string(names.size()));
      tensors.push_back(random_tensor(random, dtype, shape));
    }
  }
  std::vector<NamedView> named;
  for (std::size_t i = 0; i < names.size(); ++i) named.push_back({names[i], tensors[i].view()});
  const Metadata metadata = {{"zwei", "2\t"}, {"eins", ""}};
  const auto bytes = encode(named, metadata);
  ASSERT_TRUE(bytes) << bytes.error().message();
  const auto file = parse(base::as_bytes(*bytes));
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->metadata, metadata);
  ASSERT_EQ(file->tensors.size(), names.size());
  for (const Entry& entry : file->tensors) {
    const auto at = static_cast<std::size_t>(std::ranges::find(names, entry.name) - names.begin());
    ASSERT_LT(at, names.size());
    expect_same(entry.view(), tensors[at].view());
    const auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(entry.data.data()) - bytes->data());
    EXPECT_EQ(offset % std::min<std::size_t>(size_of(entry.dtype), 8), 0u) << "unaligned: " << entry.name;
  }
}

TEST(SafetensorsEncode, KeepsTheGivenOrderWithinASizeOfElements) {
  const std::uint8_t byte = 1;
  const float one = 1;
  const NamedView named[] = {
      {"z", sonde::view(&byte, {1})}, {"y", sonde::view(&one, {1})}, {"x", sonde::view(&one, {1})}};
  const auto bytes = encode(named);
  ASSERT_TRUE(bytes);
  const auto file = parse(base::as_bytes(*bytes));
  ASSERT_TRUE(file);
  ASSERT_EQ(file->tensors.size(), 3u);
  EXPECT_EQ(file->tensors[0].name, "y");
  EXPECT_EQ(file->tensors[1].name, "x");
  EXPECT_EQ(file->tensors[2].name, "z");
  EXPECT_EQ(*bytes, *encode(named));
}

TEST(SafetensorsPlan, GivesHeaderOrderAndSizeBeforeTheData) {
  const Spec specs[] = {{"small", DType::u8, {3}}, {"huge", DType::f32, {1 << 20, 1 << 20}}};
  const auto planned = plan(specs);
  ASSERT_TRUE(planned) << planned.error().message();
  EXPECT_EQ(planned->header.size() % 8, 0u);
  EXPECT_THAT(planned->order, ElementsAre(1, 0));
  EXPECT_EQ(planned->data_bytes, (std::uint64_t{1} << 42) + 3);
}

TEST(SafetensorsPlan, RejectsWhatNoReaderWouldAccept) {
  const auto code = [](std::vector<Spec> specs, const Metadata& metadata = {}) {
    return plan(specs, metadata).status().code();
  };
  EXPECT_EQ(code({{"a", DType::f32, {1}}, {"a", DType::f32, {1}}}), Code::invalid_argument);
  EXPECT_EQ(code({{"__metadata__", DType::f32, {1}}}), Code::invalid_argument);
  EXPECT_EQ(code({{"\xff", DType::f32, {1}}}), Code::invalid_argument);
  EXPECT_EQ(code({{"a", DType::f32, {-1}}}), Code::invalid_argument);
  EXPECT_EQ(code({{"a", DType::u8, {std::int64_t{1} << 62}}, {"b", DType::u8, {1}}}), Code::invalid_argument);
  EXPECT_EQ(code({{"a", DType::c128, {1}}}), Code::unsupported);
  EXPECT_EQ(code({}, {{"a", "1"}, {"a", "2"}}), Code::invalid_argument);
  EXPECT_EQ(code({}, {{"a", "\xff"}}), Code::invalid_argument);
}

TEST(SafetensorsEncode, CopiesStridedViewsAndRejectsMismatchedOnes) {
  const std::int32_t values[] = {0, 1, 2, 3, 4, 5};
  const NamedView strided{"a", sonde::view(values, {3, 2}, {1, 3})};
  const auto bytes = encode({&strided, 1});
  ASSERT_TRUE(bytes);
  expect_same(parse(base::as_bytes(*bytes))->tensors[0].view(), strided.tensor);
  const NamedView wrong{"a", sonde::view(std::vector<float>(5), {2, 3})};
  EXPECT_EQ(encode({&wrong, 1}).status().code(), Code::invalid_argument);
}

TEST(SafetensorsParse, SurvivesEveryDamageOfOneByteAndEveryTruncation) {
  for (const char* name : {"safetensors/numpy.safetensors", "safetensors/small_floats.safetensors"}) {
    testing::for_each_damage(corpus_file(name), [](base::Bytes damaged) {
      const auto file = parse(damaged);
      if (!file) {
        EXPECT_FALSE(file.error().message().empty());
        return;
      }
      for (const Entry& entry : file->tensors) {
        EXPECT_TRUE(entry.view().valid());
        EXPECT_EQ(tensor::to_tensor(entry.view()).data.size(), entry.data.size());
      }
    });
  }
}

}  // namespace
}  // namespace sonde::safetensors
