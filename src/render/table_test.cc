#include "render/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "tensor/convert.h"

namespace sonde::render {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Table table_of(std::vector<Column> columns) {
  Result<Table> table = Table::of(columns);
  EXPECT_TRUE(table.ok()) << table.error().message();
  return *std::move(table);
}

std::string error_of(std::vector<Column> columns) {
  const Result<Table> table = Table::of(columns);
  return table.ok() ? "no error" : table.error().message();
}

TEST(Table, HasAFieldForEachElementOfARow) {
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.0F);
  const Table table = table_of({{"one", view(values.data(), {2})},
                                {"single", view(values.data(), {2, 1, 1})},
                                {"row", view(values.data(), {2, 3})},
                                {"picture", view(values.data(), {2, 2, 2})},
                                {"empty", view(values.data(), {2, 0})}});
  EXPECT_EQ(table.rows(), 2);
  EXPECT_THAT(table.names(), ElementsAre("one", "single", "row[0]", "row[1]", "row[2]", "picture[0,0]", "picture[0,1]",
                                         "picture[1,0]", "picture[1,1]"));
  std::vector<double> second_row;
  for (std::size_t i = 0; i < table.names().size(); ++i) {
    second_row.push_back(tensor::element_as_double(table.at(1, i), table.dtype(i)));
  }
  EXPECT_THAT(second_row, ElementsAre(1, 1, 3, 4, 5, 4, 5, 6, 7));
}

TEST(Table, FollowsStrides) {
  const std::vector<std::int32_t> values = {0, 1, 2, 3, 4, 5};
  const Table table = table_of({{"transposed", view(values.data(), {3, 2}, {1, 3})},
                                {"backwards", view(values.data() + 5, {3}, {-1})},
                                {"the same", view(values.data() + 4, {3}, {0})}});
  std::vector<double> last_row;
  for (std::size_t i = 0; i < 4; ++i) last_row.push_back(tensor::element_as_double(table.at(2, i), table.dtype(i)));
  EXPECT_THAT(last_row, ElementsAre(2, 5, 3, 4));
}

TEST(Table, AScalarIsOneRow) {
  const double loss = 0.5;
  const Table table = table_of({{"loss", view(&loss, Shape{})}, {"again", view(&loss, {1})}});
  EXPECT_EQ(table.rows(), 1);
  EXPECT_THAT(table.names(), ElementsAre("loss", "again"));
}

TEST(Table, ReportsMismatchedColumns) {
  const std::vector<float> values(20'000);
  const std::complex<float> complex;
  EXPECT_EQ(error_of({{"label", view(values.data(), {3})}, {"out", view(values.data(), {4, 2})}}),
            "the column 'out' has 4 rows, but 'label' has 3: all columns of a table need the same number");
  EXPECT_THAT(error_of({{"c", view(&complex, {1})}}), HasSubstr("'c' holds complex numbers"));
  EXPECT_THAT(error_of({{"x", view(values, {3, 3})}}), HasSubstr("its shape does not match its data"));
  EXPECT_THAT(error_of({{"x", view(values.data(), {1, 20'000})}}), HasSubstr("wider than 16384 fields"));
  EXPECT_THAT(error_of({{"x", view(values.data(), {0, 4, INT64_MAX})}}), HasSubstr("wider than 16384 fields"));
  EXPECT_EQ(table_of({}).rows(), 0);
}

TEST(TableText, AlignsNumbersBelowTheirNames) {
  const std::vector<std::int64_t> labels = {7, -12, 3};
  const std::vector<float> outputs = {0.02F, 0.98F, NAN, 1e-9F, 12345.6F, -INFINITY};
  EXPECT_EQ(table_text(table_of({{"größe", view(labels)}, {"output", view(outputs, {3, 2})}})),
            "row  größe  output[0]  output[1]\n"
            "  0      7       0.02       0.98\n"
            "  1    -12        nan      1e-09\n"
            "  2      3      12346       -inf\n");
}

TEST(TableText, LeavesOutTheMiddleOfLongTables) {
  std::vector<std::int32_t> values(100);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(table_text(table_of({{"x", view(values, {10, 10})}}), {.rows = 3, .fields = 2}),
            "row  x[0]  ...  x[9]\n"
            "  0     0  ...     9\n"
            "  1    10  ...    19\n"
            "...   ...  ...   ...\n"
            "  9    90  ...    99\n");
  EXPECT_EQ(table_text(table_of({{"x", view(values.data(), {3})}}), {.rows = 3, .fields = 2}),
            "row  x\n  0  0\n  1  1\n  2  2\n");
}

TEST(TableText, KeepsEveryDigitOfIntegersAndEscapesTerminalCodes) {
  const std::vector<std::uint64_t> large = {std::numeric_limits<std::uint64_t>::max()};
  const bool yes[] = {true};
  EXPECT_EQ(table_text(table_of({{"a\x1b", view(large)}, {"yes", view(yes)}})),
            "row                 a\\x1b  yes\n"
            "  0  18446744073709551615    1\n");
  EXPECT_EQ(table_text(table_of({})), "row\n");
}

}  // namespace
}  // namespace sonde::render
