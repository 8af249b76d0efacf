#include "render/digits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "tensor/convert.h"

namespace sonde::render {
namespace {

// d.ddd * 10^exponent; no zeros at the end, "0" for zero.
struct Decimal {
  std::string digits;
  int exponent = 0;

  int behind_point() const noexcept { return std::max(0, static_cast<int>(digits.size()) - 1 - exponent); }
};

// The longest text: 309 digits before the point of the largest double, and the requested digits after it.
using Buffer = std::array<char, 512>;

template <class T, class... Format>
std::string_view write(Buffer& buffer, T value, Format... format) noexcept {
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format...);
  return {buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data())};
}

// From "d.ddde+xx".
Decimal parse(std::string_view text) {
  Decimal decimal;
  const std::size_t e = text.find('e');
  for (char c : text.substr(0, e)) {
    if (c != '.') decimal.digits.push_back(c);
  }
  while (decimal.digits.size() > 1 && decimal.digits.back() == '0') decimal.digits.pop_back();
  const std::size_t sign = e + 1;
  std::from_chars(text.data() + sign + (text[sign] == '+' ? 1 : 0), text.data() + text.size(), decimal.exponent);
  return decimal;
}

bool reads_as_f16(std::string_view digits, int exponent, Float16 wanted) noexcept {
  std::string text(digits);
  text += 'e' + std::to_string(exponent - static_cast<int>(digits.size()) + 1);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return tensor::to_float16(static_cast<float>(value)).bits == wanted.bits;
}

// The standard library has no half precision. Of the exact digits, the first few are kept, or the decimal above them,
// as soon as one of the two reads back; five digits always suffice.
Decimal shortest_f16(double magnitude) {
  Buffer buffer;
  Decimal exact = parse(write(buffer, magnitude, std::chars_format::scientific, 30));
  const Float16 wanted = tensor::to_float16(static_cast<float>(magnitude));
  for (std::size_t count = 1; count < exact.digits.size(); ++count) {
    Decimal below{exact.digits.substr(0, count), exact.exponent};
    std::uint64_t number = 0;
    std::from_chars(below.digits.data(), below.digits.data() + count, number);
    Decimal above{std::to_string(number + 1), exact.exponent};
    if (above.digits.size() > count) ++above.exponent;
    const bool low = reads_as_f16(below.digits, below.exponent, wanted);
    const bool high = reads_as_f16(above.digits, above.exponent, wanted);
    if (!low && !high) continue;
    const std::string_view rest = std::string_view(exact.digits).substr(count);
    const bool nearer_above = rest > "5" || (rest == "5" && number % 2 != 0);
    Decimal& best = high && (!low || nearer_above) ? above : below;
    while (best.digits.size() > 1 && best.digits.back() == '0') best.digits.pop_back();
    return best;
  }
  return exact;
}

Decimal shortest(double magnitude, FloatType type) {
  if (magnitude == 0) return {"0", 0};
  Buffer buffer;
  switch (type) {
    case FloatType::f16: return shortest_f16(magnitude);
    case FloatType::f32: return parse(write(buffer, static_cast<float>(magnitude), std::chars_format::scientific));
    case FloatType::f64: break;
  }
  return parse(write(buffer, magnitude, std::chars_format::scientific));
}

std::string with_point(const Decimal& decimal) {
  const auto count = static_cast<int>(decimal.digits.size());
  std::string text;
  if (decimal.exponent < 0) {
    text = "0." + std::string(static_cast<std::size_t>(-1 - decimal.exponent), '0') + decimal.digits;
  } else if (count <= decimal.exponent + 1) {
    text = decimal.digits + std::string(static_cast<std::size_t>(decimal.exponent + 1 - count), '0') + '.';
  } else {
    text = decimal.digits;
    text.insert(static_cast<std::size_t>(decimal.exponent) + 1, 1, '.');
  }
  return text;
}

void drop_trailing_zeros(std::string& text) {
  while (text.back() == '0') text.pop_back();
}

}  // namespace

std::string positional(double value, FloatType type, int precision) {
  const double magnitude = std::abs(value);
  const Decimal decimal = shortest(magnitude, type);
  std::string text;
  if (decimal.behind_point() > precision) {
    Buffer buffer;
    text = write(buffer, magnitude, std::chars_format::fixed, precision);
    if (precision == 0) text += '.';
    drop_trailing_zeros(text);
  } else {
    text = with_point(decimal);
  }
  return std::signbit(value) ? '-' + text : text;
}

std::string scientific(double value, FloatType type, int precision, int min_digits, int exponent_digits) {
  const double magnitude = std::abs(value);
  Decimal decimal = shortest(magnitude, type);
  const int shown = static_cast<int>(decimal.digits.size()) - 1;
  const int wanted = std::clamp(shown, std::min(min_digits, precision), precision);
  if (shown != wanted) {
    Buffer buffer;
    decimal = parse(write(buffer, magnitude, std::chars_format::scientific, wanted));
    decimal.digits.resize(std::max(decimal.digits.size(), static_cast<std::size_t>(min_digits) + 1), '0');
  }
  std::string text = std::signbit(value) ? "-" : "";
  text += decimal.digits[0];
  text += '.';
  text.append(decimal.digits, 1);
  const std::string exponent = std::to_string(std::abs(decimal.exponent));
  const auto width = static_cast<std::size_t>(std::max(2, exponent_digits));
  text += decimal.exponent < 0 ? "e-" : "e+";
  text.append(width - std::min(width, exponent.size()), '0');
  return text + exponent;
}

std::string brief(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return "0";
  Buffer buffer;
  const Decimal decimal = parse(write(buffer, std::abs(value), std::chars_format::scientific, 2));
  const std::string sign = value < 0 ? "-" : "";
  if (decimal.exponent >= -4 && decimal.exponent < 6) {
    // Digits before the point are never rounded away: 12345, not 12300.
    std::string text = decimal.exponent < 3
                           ? with_point(decimal)
                           : std::string(write(buffer, std::abs(value), std::chars_format::fixed, 0)) + '.';
    if (text.back() == '.') text.pop_back();
    return sign + text;
  }
  std::string text = scientific(value, FloatType::f64, 2);
  const std::size_t point = text.find(".e");
  if (point != std::string::npos) text.erase(point, 1);
  return text;
}

}  // namespace sonde::render
