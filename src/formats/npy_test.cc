#include "formats/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/file_testing.h"

namespace sonde::npy {
namespace {

using testing::all_dtypes;
using testing::corpus_file;
using ::testing::ElementsAre;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::random_tensor;
using testing::values_of;

// A file with a given header, padded, and 64 bytes of data.
std::string file_with(const std::string& header) {
  std::string file = "\x93NUMPY\1";
  file.push_back('\0');
  base::put(file, static_cast<std::uint16_t>(header.size()));
  return file + header + std::string(64, '\1');
}

Code code_of(const std::string& header) { return parse(base::as_bytes(file_with(header))).status().code(); }

TEST(NpyDecode, ReadsWhatNumPyWrites) {
  const auto f4 = decode(base::as_bytes(corpus_file("npy/f4.npy")));
  ASSERT_TRUE(f4) << f4.error().message();
  EXPECT_EQ(f4->shape, (Shape{2, 3}));
  EXPECT_THAT(values_of<float>(*f4), ElementsAre(0, 1, 2, 3, 4, 5));

  const auto scalar = decode(base::as_bytes(corpus_file("npy/scalar_f8.npy")));
  ASSERT_TRUE(scalar) << scalar.error().message();
  EXPECT_EQ(scalar->shape.rank(), 0);
  EXPECT_THAT(values_of<double>(*scalar), ElementsAre(0.25));

  const auto empty = decode(base::as_bytes(corpus_file("npy/empty_bool.npy")));
  ASSERT_TRUE(empty) << empty.error().message();
  EXPECT_EQ(empty->dtype, DType::boolean);
  EXPECT_EQ(empty->shape, (Shape{3, 0}));
}

TEST(NpyDecode, TurnsFortranOrderAround) {
  const std::string file = corpus_file("npy/fortran_i2.npy");
  EXPECT_TRUE(parse(base::as_bytes(file))->fortran_order);
  const auto decoded = decode(base::as_bytes(file));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_THAT(values_of<std::int16_t>(*decoded), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(NpyDecode, SwapsBigEndianElementsAndTheHalvesOfComplexOnes) {
  const std::string file = corpus_file("npy/big_endian_c8.npy");
  const auto decoded = decode(base::as_bytes(file));
  ASSERT_TRUE(decoded) << decoded.error().message();
  using Complex = std::complex<float>;
  EXPECT_THAT(values_of<Complex>(*decoded), ElementsAre(Complex(0, .5F), Complex(1, .5F), Complex(2, .5F),
                                                        Complex(3, .5F), Complex(4, .5F), Complex(5, .5F)));
  EXPECT_EQ(view(base::as_bytes(file)).status().code(), Code::unsupported);
}

TEST(NpyDecode, ReadsVersions2And3) {
  const auto two = decode(base::as_bytes(corpus_file("npy/version_2_u1.npy")));
  ASSERT_TRUE(two) << two.error().message();
  EXPECT_THAT(values_of<std::uint8_t>(*two), ElementsAre(0, 1, 2, 3, 4, 5));
  const auto three = decode(base::as_bytes(corpus_file("npy/version_3_i8.npy")));
  ASSERT_TRUE(three) << three.error().message();
  EXPECT_THAT(values_of<std::int64_t>(*three), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(NpyDecode, ReadsTheSmallFloatsOfMlDtypes) {
  EXPECT_EQ(parse(base::as_bytes(corpus_file("npy/bfloat16.npy")))->dtype, DType::bf16);
  EXPECT_EQ(parse(base::as_bytes(corpus_file("npy/float8_e4m3fn.npy")))->dtype, DType::f8_e4m3);
  EXPECT_EQ(parse(base::as_bytes(corpus_file("npy/float8_e5m2.npy")))->dtype, DType::f8_e5m2);
}

TEST(NpyDecode, SaysThatStructuresAndStringsAreUnsupported) {
  const auto structured = decode(base::as_bytes(corpus_file("npy/structured.npy")));
  EXPECT_EQ(structured.status().code(), Code::unsupported);
  EXPECT_THAT(structured.error().message(), HasSubstr("named fields"));
  const auto strings = decode(base::as_bytes(corpus_file("npy/strings.npy")));
  EXPECT_EQ(strings.status().code(), Code::unsupported);
  EXPECT_THAT(strings.error().message(), HasSubstr("<U2"));
  EXPECT_EQ(code_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), Code::unsupported);
  EXPECT_EQ(code_of("{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}"), Code::unsupported);
  EXPECT_EQ(code_of("{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,)}"), Code::unsupported);
}

TEST(NpyHeader, MayHaveItsKeysInAnyOrderWithBlanksAndTrailingCommas) {
  for (const char* header : {
           "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
           "{ \"descr\" :'<f4' ,\n\t'shape':(2,3,),'fortran_order':False , } \n",
           "{'descr': '=f4', 'fortran_order': False, 'shape': (2L, 3L), }",
           "{'descr': 'f4', 'fortran_order': False, 'shape': (2, 3), }",
       }) {
    const auto parsed = parse(base::as_bytes(file_with(header)));
    ASSERT_TRUE(parsed) << header << ": " << parsed.error().message();
    EXPECT_EQ(parsed->dtype, DType::f32) << header;
    EXPECT_EQ(parsed->shape, (Shape{2, 3})) << header;
    EXPECT_EQ(parsed->data.size(), 24u) << header;
  }
}

TEST(NpyHeader, IsReadStrictly) {
  for (const char* header : {
           "",
           "{}",
           "[]",
           "{'descr': '<f4', 'fortran_order': False}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} or 1",
           "{'descr': '<f4",
           "{'des\\x63r': '<f4', 'fortran_order': False, 'shape': (1,)}",
       }) {
    EXPECT_EQ(code_of(header), Code::corrupt) << header;
  }
}

TEST(NpyHeader, WithAHugeShapeIsRejectedBeforeAnythingIsAllocated) {
  for (const char* shape :
       {"(1000000000000,)", "(4611686018427387904,)", "(4611686018427387904, 4611686018427387904, 0)",
        "(0, 4611686018427387904, 4611686018427387904)"}) {
    EXPECT_EQ(code_of("{'descr': '<f8', 'fortran_order': True, 'shape': " + std::string(shape) + "}"), Code::corrupt);
  }
  EXPECT_EQ(code_of("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1)}"),
            Code::unsupported);
  std::string huge_header = "\x93NUMPY\2";
  huge_header.push_back('\0');
  base::put(huge_header, std::uint32_t{0xffffffff});
  EXPECT_EQ(parse(base::as_bytes(huge_header)).status().code(), Code::corrupt);
}

TEST(NpyHeader, OfAnUnknownVersionIsUnsupported) {
  std::string file = corpus_file("npy/f4.npy");
  file[6] = 4;
  EXPECT_EQ(parse(base::as_bytes(file)).status().code(), Code::unsupported);
}

TEST(NpyEncode, GivesBackEveryDTypeAndShapeBitForBit) {
  std::mt19937 random(1);
  for (DType dtype : all_dtypes()) {
    for (const Shape& shape :
         {Shape{}, Shape{0}, Shape{5}, Shape{2, 3}, Shape{4, 0, 2}, Shape{1, 2, 1, 3, 1, 2, 1, 2}}) {
      const Tensor tensor = random_tensor(random, dtype, shape);
      const auto file = encode(tensor.view());
      ASSERT_TRUE(file) << file.error().message();
      EXPECT_EQ((file->size() - tensor.data.size()) % 64, 0u);
      const auto decoded = decode(base::as_bytes(*file));
      ASSERT_TRUE(decoded) << decoded.error().message();
      expect_same(decoded->view(), tensor.view());
      const auto in_place = view(base::as_bytes(*file));
      ASSERT_TRUE(in_place) << in_place.error().message();
      expect_same(*in_place, tensor.view());
    }
  }
}

TEST(NpyEncode, WritesTheBytesThatNumPyWrites) {
  const float matrix[] = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(*encode(sonde::view(matrix, {2, 3})), corpus_file("npy/f4.npy"));
  const double scalar = 0.25;
  EXPECT_EQ(*encode(sonde::view(&scalar, {})), corpus_file("npy/scalar_f8.npy"));
  EXPECT_EQ(*encode(sonde::view(static_cast<bool*>(nullptr), {3, 0})), corpus_file("npy/empty_bool.npy"));
  const BFloat16 small[] = {{0}, {0x3f80}, {0x4000}, {0x4040}, {0x4080}, {0x40a0}};
  EXPECT_EQ(*encode(sonde::view(small, {2, 3})), corpus_file("npy/bfloat16.npy"));
}

TEST(NpyEncode, WritesColumnMajorMemoryAsItIs) {
  const std::int16_t columns[] = {0, 3, 1, 4, 2, 5};
  EXPECT_EQ(*encode(sonde::view(columns, {2, 3}, {1, 2})), corpus_file("npy/fortran_i2.npy"));
}

TEST(NpyEncode, CopiesStridedViews) {
  const std::int32_t values[] = {0, 1, 2, 3, 4, 5};
  const auto decoded = decode(base::as_bytes(*encode(sonde::view(values + 5, {3}, {-2}))));
  ASSERT_TRUE(decoded);
  EXPECT_THAT(values_of<std::int32_t>(*decoded), ElementsAre(5, 3, 1));
}

TEST(NpyEncode, RejectsAShapeThatDoesNotMatchItsData) {
  const std::vector<float> values(5);
  EXPECT_EQ(encode(sonde::view(values, {2, 3})).status().code(), Code::invalid_argument);
}

TEST(NpyDecode, SurvivesEveryDamageOfOneByteAndEveryTruncation) {
  for (const char* name : {"npy/f4.npy", "npy/big_endian_c8.npy", "npy/version_2_u1.npy"}) {
    testing::for_each_damage(corpus_file(name), [](base::Bytes damaged) {
      const auto decoded = decode(damaged);
      if (decoded) {
        EXPECT_TRUE(decoded->view().valid());
        EXPECT_LE(decoded->data.size(), damaged.size());
      } else {
        EXPECT_FALSE(decoded.error().message().empty());
      }
    });
  }
}

}  // namespace
}  // namespace sonde::npy
