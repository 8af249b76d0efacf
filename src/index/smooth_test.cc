// Smoothing, compared with its definition and with TensorBoard's.
#include "index/smooth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "index/interval.h"

namespace sonde::index {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Recorded {
  std::vector<std::int64_t> steps;
  std::vector<double> values;

  void add(std::int64_t step, double value) {
    steps.push_back(step);
    values.push_back(value);
  }
  Column column(std::size_t points) const {
    Column column;
    for (std::size_t i = 0; i < points; ++i) column.append(steps[i], 1e9 + static_cast<double>(i), values[i]);
    return column;
  }
};

std::vector<double> averages(const Column& column, const Smoothed& smoothed) {
  std::vector<double> all;
  double values[Column::kBlock];
  for (std::size_t b = 0; b < column.blocks(); ++b) {
    const std::size_t count = column.unpack_values(b, values);
    smoothed.apply(0, b, count, values);
    all.insert(all.end(), values, values + count);
  }
  return all;
}

std::vector<double> smooth(const Recorded& recorded, const Smoothing& smoothing) {
  const Column column = recorded.column(recorded.steps.size());
  const ColumnStretch whole[] = {{&column, 0, column.size(), 0}};
  return averages(column, *Smoothed::make(whole, smoothing, 1, nullptr));
}

// Every point counts by its distance in steps. NaN if the point itself is not finite.
std::vector<double> by_definition(const Recorded& recorded, double weight, double interval) {
  std::vector<double> all;
  for (std::size_t i = 0; i < recorded.steps.size(); ++i) {
    double sum = 0;
    double mass = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      if (!std::isfinite(recorded.values[j])) continue;
      const auto steps = static_cast<double>(recorded.steps[i]) - static_cast<double>(recorded.steps[j]);
      const double counts = std::pow(weight, steps / interval);
      sum += counts * recorded.values[j];
      mass += counts;
    }
    all.push_back(std::isfinite(recorded.values[i]) ? sum / mass : kNaN);
  }
  return all;
}

// The loop of TensorBoard's page.
std::vector<double> tensorboards(const std::vector<double>& values, double weight) {
  std::vector<double> all;
  double last = 0;
  double left = 1;
  for (const double value : values) {
    last = last * weight + (1 - weight) * value;
    left *= weight;
    all.push_back(last / (1 - left));
  }
  return all;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double distance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i])) {
      ASSERT_FALSE(std::isfinite(found[i])) << i;
    } else {
      ASSERT_NEAR(found[i], expected[i], distance) << i;
    }
  }
}

std::mt19937_64 random_numbers() { return std::mt19937_64(7); }  // NOLINT(cert-msc51-cpp): the same every time

TEST(Smoothing, OfOnePointAStepIsTensorBoards) {
  auto random = random_numbers();
  std::uniform_real_distribution<double> noise(-1, 1);
  for (const std::int64_t distance : {std::int64_t{1}, std::int64_t{100}}) {
    Recorded recorded;
    for (std::int64_t i = 0; i < 50'000; ++i) recorded.add(i * distance, noise(random));
    for (const double weight : {0.1, 0.6, 0.9, 0.999, 0.99999}) {
      const std::vector<double> expected = tensorboards(recorded.values, weight);
      expect_near(smooth(recorded, weight), expected, 1e-11);
      expect_near(smooth(recorded, {weight, static_cast<double>(distance)}), expected, 1e-11);
    }
  }
}

TEST(Smoothing, FollowsItsDefinition) {
  auto random = random_numbers();
  std::uniform_real_distribution<double> noise(-1, 1);
  Recorded recorded;
  std::int64_t step = -500;
  for (int i = 0; i < 2'000; ++i) {
    if (i % 7 != 3) step += static_cast<std::int64_t>(random() % 5) + (i % 100 == 50 ? 3'000 : 0);
    if (i == 1'500) step += 1'000'000'000'000;
    recorded.add(step, i % 31 == 4 ? kNaN : noise(random));
  }
  for (const double weight : {1e-6, 0.3, 0.6, 0.97}) {
    for (const double interval : {1.0, 2.5, 100.0}) {
      expect_near(smooth(recorded, {weight, interval}), by_definition(recorded, weight, interval), 1e-9);
    }
  }
}

TEST(Smoothing, WeighsPointsAtOneStepEqually) {
  Recorded recorded;
  recorded.add(1, 1);
  recorded.add(2, 4);
  recorded.add(2, 8);
  expect_near(smooth(recorded, 0.5), {1, 4.5 / 1.5, 12.5 / 2.5}, 1e-12);
}

TEST(Smoothing, ForgetsPointsBeforeAHugeGap) {
  Recorded recorded;
  for (int i = 0; i < 1'000; ++i) recorded.add(i, 1);
  for (int i = 0; i < 1'000; ++i) recorded.add(std::numeric_limits<std::int64_t>::max() - 2'000 + i, 5);
  const std::vector<double> found = smooth(recorded, 0.999);
  EXPECT_NEAR(found[999], 1, 1e-12);
  EXPECT_NEAR(found[1'000], 5, 1e-12);
}

TEST(Smoothing, DoesNotDependOnTheDensityOfASeries) {
  Recorded dense;
  Recorded sparse;
  for (std::int64_t i = 0; i < 10'000; ++i) {
    const double value = 2 - 1.8 * static_cast<double>(i) / 10'000;
    dense.add(i, value);
    if (i % 100 == 99) sparse.add(i, value);
  }
  const double last = dense.values.back();
  EXPECT_NEAR(smooth(dense, {0.9, 1}).back(), last, 0.01);
  EXPECT_NEAR(smooth(sparse, {0.9, 1}).back(), last, 0.01);
  EXPECT_GT(smooth(sparse, 0.9).back(), last + 0.1) << "of its own points it would lag far behind";
}

TEST(Smoothing, OfASeriesThatGrowsIsThatOfTheWhole) {
  auto random = random_numbers();
  std::uniform_real_distribution<double> noise(-1, 1);
  Recorded recorded;
  for (std::int64_t i = 0; i < 9'000; ++i) recorded.add(i * 2 + (i > 6'000 ? 5'000 : 0), noise(random));
  Column column = recorded.column(5'000);
  std::shared_ptr<const Smoothed> kept;
  for (const std::size_t points : {5'000U, 5'001U, 5'376U, 9'000U}) {
    for (std::size_t i = column.size(); i < points; ++i) column.append(recorded.steps[i], 0, recorded.values[i]);
    const ColumnStretch whole[] = {{&column, 0, column.size(), 0}};
    kept = Smoothed::make(whole, 0.8, 1, kept);
  }
  EXPECT_EQ(averages(column, *kept), smooth(recorded, 0.8));
}

double interval_of(const std::vector<std::int64_t>& steps) {
  Column column;
  for (const std::int64_t step : steps) column.append(step, 0, 0);
  PointInterval interval(steps.size());
  interval.add(column, 0, column.size());
  return interval.median();
}

TEST(PointInterval, IsTheUsualDistanceOfTwoPoints) {
  EXPECT_EQ(interval_of({}), 0);
  EXPECT_EQ(interval_of({5}), 0);
  EXPECT_EQ(interval_of({5, 5, 5}), 0);
  EXPECT_EQ(interval_of({0, 100, 200, 300}), 100);
  EXPECT_EQ(interval_of({0, 1, 2, 1'000'000, 1'000'001, 1'000'002}), 1);
  EXPECT_EQ(interval_of({std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}),
            18446744073709551615.0);
  std::vector<std::int64_t> many;
  for (std::int64_t i = 0; i < 100'000; ++i) many.push_back(i * 7);
  EXPECT_EQ(interval_of(many), 7);
}

}  // namespace
}  // namespace sonde::index
