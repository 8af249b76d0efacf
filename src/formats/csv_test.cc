#include "formats/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "formats/file_testing.h"

namespace sonde::csv {
namespace {

using testing::corpus_file;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::random_tensor;
using testing::values_of;

std::string row(std::initializer_list<std::string_view> fields, LineEnd line_end = LineEnd::crlf) {
  std::string out;
  put_row(out, fields, line_end);
  return out;
}

template <class T>
std::string number(T value) {
  std::string out;
  put_number(out, value);
  return out;
}

TEST(CsvWrite, QuotesOnlyFieldsThatNeedIt) {
  EXPECT_EQ(row({"a", "b c", ""}), "a,b c,\r\n");
  EXPECT_EQ(row({"a,b", "say \"hi\"", "x\ny", "\r"}), "\"a,b\",\"say \"\"hi\"\"\",\"x\ny\",\"\r\"\r\n");
  EXPECT_EQ(row({"ü"}, LineEnd::lf), "ü\n");
}

TEST(CsvWrite, DistinguishesALoneEmptyFieldFromAnEmptyRow) {
  EXPECT_EQ(row({""}), "\"\"\r\n");
  EXPECT_EQ(row({}), "\r\n");
}

TEST(CsvWrite, WritesTheShortestNumberThatReadsBackTheSame) {
  EXPECT_EQ(number(0.1), "0.1");
  EXPECT_EQ(number(0.1F), "0.1");
  EXPECT_EQ(number(1e300), "1e+300");
  EXPECT_EQ(number(-0.0), "-0");
  EXPECT_EQ(number(std::int64_t{-5}), "-5");
  EXPECT_EQ(number(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(number(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(number(std::nan("")), "NaN");
  EXPECT_EQ(number(-std::numeric_limits<float>::quiet_NaN()), "NaN");
  EXPECT_EQ(number(std::numeric_limits<float>::infinity()), "Infinity");
  EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(CsvRead, ReadsWhatPythonWrites) {
  const auto rows = decode(corpus_file("csv/python.csv"));
  ASSERT_TRUE(rows) << rows.error().message();
  EXPECT_THAT(*rows, ElementsAre(ElementsAre("run", "tag", "value"), ElementsAre("a", "x,\"y\"", "1.5"),
                                 ElementsAre("b", "two\r\nlines", "NaN"), ElementsAre(""), IsEmpty(),
                                 ElementsAre("é", "", "-Infinity")));
}

TEST(CsvRead, TakesEveryLineEndAndSkipsAByteOrderMark) {
  EXPECT_THAT(*decode("a\r\nb\nc\rd"),
              ElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c"), ElementsAre("d")));
  EXPECT_THAT(*decode(corpus_file("csv/bom_without_last_line_end.csv")),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
  EXPECT_THAT(*decode(""), IsEmpty());
  EXPECT_THAT(*decode("a,"), ElementsAre(ElementsAre("a", "")));
  EXPECT_THAT(*decode("\"\""), ElementsAre(ElementsAre("")));
}

TEST(CsvRead, NamesTheLineOfAMisplacedQuote) {
  const auto inside = decode("a\nb\"c\n");
  EXPECT_EQ(inside.status().code(), Code::corrupt);
  EXPECT_THAT(inside.error().message(), HasSubstr("line 2"));
  const auto behind = decode("\"a\nb\"c\n");
  EXPECT_EQ(behind.status().code(), Code::corrupt);
  EXPECT_THAT(behind.error().message(), HasSubstr("line 2"));
  const auto open = decode("a\n\"b\n\n");
  EXPECT_EQ(open.status().code(), Code::corrupt);
  EXPECT_THAT(open.error().message(), HasSubstr("line 2"));
}

TEST(CsvRead, GivesBackRowsOfRandomText) {
  std::mt19937 random(11);
  constexpr std::string_view kAlphabet = "a,\"\r\n ü";
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::vector<std::string>> rows(random() % 5);
    std::string text;
    for (auto& fields : rows) {
      fields.resize(random() % 4);
      for (std::string& field : fields) {
        for (std::size_t n = random() % 6; n > 0; --n) field.push_back(kAlphabet[random() % kAlphabet.size()]);
      }
      const std::vector<std::string_view> views(fields.begin(), fields.end());
      put_row(text, views, round % 2 == 0 ? LineEnd::crlf : LineEnd::lf);
    }
    const auto decoded = decode(text);
    ASSERT_TRUE(decoded) << decoded.error().message() << "\n" << text;
    ASSERT_EQ(*decoded, rows) << text;
  }
}

TEST(CsvTensor, IsATableWithTheLastAxisAcross) {
  const std::int32_t values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(*encode_tensor(view(values, {2, 4})), "1,2,3,4\r\n5,6,7,8\r\n");
  EXPECT_EQ(*encode_tensor(view(values, {2, 2, 2}), LineEnd::lf), "1,2\n3,4\n5,6\n7,8\n");
  EXPECT_EQ(*encode_tensor(view(values, {2, 2}, {1, 2}), LineEnd::lf), "1,3\n2,4\n");
  EXPECT_EQ(*encode_tensor(view(values, {2}), LineEnd::lf), "1\n2\n");
  EXPECT_EQ(*encode_tensor(view(values, {}), LineEnd::lf), "1\n");
  EXPECT_EQ(*encode_tensor(view(values, {0, 4})), "");
}

TEST(CsvTensor, WritesEveryRealDType) {
  const bool flags[] = {true, false};
  EXPECT_EQ(*encode_tensor(view(flags, {1, 2})), "1,0\r\n");
  const Float16 half[] = {{0x3c00}, {0xfc00}};
  EXPECT_EQ(*encode_tensor(view(half, {1, 2})), "1,-Infinity\r\n");
  const Float8E4M3 small[] = {{0x38}, {0x7f}};
  EXPECT_EQ(*encode_tensor(view(small, {1, 2})), "1,NaN\r\n");
  const std::int64_t large[] = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(*encode_tensor(view(large, {1, 2})), "-9223372036854775808,9223372036854775807\r\n");
  const std::complex<float> complex[] = {{1, 2}};
  EXPECT_EQ(encode_tensor(view(complex, {1})).status().code(), Code::unsupported);
}

TEST(CsvTensor, GivesBackDoublesBitForBit) {
  std::mt19937 random(13);
  const Tensor tensor = random_tensor(random, DType::f64, {200, 3});
  const auto decoded = decode_tensor(*encode_tensor(tensor.view()));
  ASSERT_TRUE(decoded) << decoded.error().message();
  ASSERT_TRUE(decoded->shape == tensor.shape);
  const auto expected = values_of<double>(tensor);
  const auto values = values_of<double>(*decoded);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(values[i]));
    } else {
      EXPECT_EQ(values[i], expected[i]);
    }
  }
}

TEST(CsvTensor, IsReadWithNaNAndInfinities) {
  const auto decoded = decode_tensor(corpus_file("csv/numbers_lf.csv"));
  ASSERT_TRUE(decoded) << decoded.error().message();
  ASSERT_EQ(decoded->shape, (Shape{2, 3}));
  const auto values = values_of<double>(*decoded);
  EXPECT_EQ(values[2], -3e-05);
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_EQ(values[5], -std::numeric_limits<double>::infinity());
}

TEST(CsvTensor, NamesTheRowThatIsNoRowOfNumbers) {
  EXPECT_THAT(decode_tensor("1,2\n3\n").error().message(), HasSubstr("row 2"));
  EXPECT_THAT(decode_tensor("1\n\n x \n").error().message(), HasSubstr("' x '"));
  EXPECT_FALSE(decode_tensor("1,\n"));
  EXPECT_FALSE(decode_tensor("1x\n"));
  EXPECT_TRUE(decode_tensor(" 1\t, 2\n"));
}

TEST(CsvRead, SurvivesEveryDamageOfOneByteAndEveryTruncation) {
  for (const char* name : {"csv/python.csv", "csv/numbers_lf.csv"}) {
    testing::for_each_damage(corpus_file(name), [](base::Bytes damaged) {
      std::size_t fields = 0;
      const auto rows = decode(base::as_text(damaged));
      if (rows) {
        for (const auto& r : *rows) fields += r.size();
      }
      EXPECT_LE(fields, damaged.size() + 1);
      const auto tensor = decode_tensor(base::as_text(damaged));
      EXPECT_TRUE(!tensor || tensor->view().valid());
    });
  }
}

}  // namespace
}  // namespace sonde::csv
