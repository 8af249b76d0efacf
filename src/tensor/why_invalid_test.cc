#include "tensor/why_invalid.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::tensor {
namespace {

TEST(WhyInvalid, NamesTheErrorOfAView) {
  const std::vector<float> values(6);
  const auto why = [](const TensorView& view) {
    EXPECT_FALSE(view.valid());
    return why_invalid(view);
  };
  EXPECT_EQ(why(view(values, {2, 2})), "its shape does not match its data");
  EXPECT_EQ(why(view(values.data(), {1, 1, 1, 1, 1, 1, 1, 1, 6})),
            "it has more than 8 axes, and tensors have at most 8");
  EXPECT_EQ(why(view(static_cast<const float*>(nullptr), {2, 3})), "its data is a null pointer");
  EXPECT_EQ(why(view(values.data(), {-1})), "its shape has a negative size");
  EXPECT_EQ(why(view(values.data(), {std::int64_t{1} << 40, std::int64_t{1} << 40})),
            "its shape has more elements than memory can hold");
  EXPECT_EQ(why(view(values.data(), {2, 3}, {1})), "its numbers of strides and axes differ");
  EXPECT_EQ(why(view(values.data(), static_cast<DType>(200), {6})), "its element type is unknown");
}

}  // namespace
}  // namespace sonde::tensor
