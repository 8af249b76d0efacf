#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "policy/expression_testing.h"

// Any text is a condition or an error with its place; a condition takes any facts, and its text is parsed again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  using namespace sonde::policy;
  const std::string text(reinterpret_cast<const char*>(data), size);
  auto expression = Expression::parse(text);
  if (!expression) {
    const std::string& message = expression.error().message();
    const bool in_line = message.starts_with("line ") && message.find(", column ") != std::string::npos;
    if (!in_line && !message.starts_with("column ")) std::abort();
    return 0;
  }
  if (!Expression::parse(expression->text())) std::abort();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const double losses[] = {1, 2, std::numeric_limits<double>::quiet_NaN(), 1e300,
                           -std::numeric_limits<double>::infinity()};
  Step step;
  for (int i = 0; i < 40; ++i) {
    step.clear();
    if (i % 7 != 0) step.scalar("loss", losses[i % 5]).scalar("x", i);
    if (i % 11 != 0) step.tensor<float>("a", Kind::update, {1, -kInf, static_cast<float>(i)}, i % 2 == 0);
    if (i % 3 != 0) step.tensor<float>("a", Kind::weight, {0, 0.5F}).tensor<float>("b", Kind::gradient, {});
    step.holds(*expression, i);
  }
  for (const auto& [part, value] : expression->values()) {
    if (part.empty()) std::abort();
  }
  for (const std::string& pattern : expression->patterns()) expression->looks_at(pattern, Kind::weight);
  return 0;
}
