// Fractions of whole numbers, without rounding.
#ifndef TORC_MODEL_BOUNDS_FRACTION_H_
#define TORC_MODEL_BOUNDS_FRACTION_H_

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace torc::model {

using Uint128 = unsigned __int128;

/// std::gcd does not accept 128 bits.
inline Uint128 greatestCommonDivisor(Uint128 a, Uint128 b) {
  while (b != 0) {
    a %= b;
    std::swap(a, b);
  }
  return a;
}

inline std::string digits(Uint128 number) {
  std::string text;
  do {
    text += static_cast<char>('0' + static_cast<int>(number % 10));
    number /= 10;
  } while (number > 0);
  std::reverse(text.begin(), text.end());
  return text;
}

/// A fraction >= 0 in lowest terms.
struct Fraction {
  Uint128 numerator = 0;
  Uint128 denominator = 1;

  bool operator==(const Fraction&) const = default;
  double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
  /// "31/96"; "2" where the denominator is 1.
  std::string text() const {
    return denominator == 1 ? digits(numerator) : digits(numerator) + "/" + digits(denominator);
  }
};

/// In lowest terms; denominator > 0.
inline Fraction makeFraction(Uint128 numerator, Uint128 denominator) {
  const Uint128 divisor = greatestCommonDivisor(numerator, denominator);
  return {numerator / divisor, denominator / divisor};
}

/// std::nullopt if the product does not fit 128 bits.
inline std::optional<Uint128> multiply(Uint128 a, Uint128 b) {
  Uint128 product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// std::nullopt if the quotient does not fit 128 bits or `b` is 0.
inline std::optional<Fraction> divide(const Fraction& a, const Fraction& b) {
  if (b.numerator == 0) return std::nullopt;
  // Reduced crosswise, so that the products are in lowest terms as well.
  const Fraction above = makeFraction(a.numerator, b.numerator);
  const Fraction below = makeFraction(b.denominator, a.denominator);
  const std::optional<Uint128> numerator = multiply(above.numerator, below.numerator);
  const std::optional<Uint128> denominator = multiply(above.denominator, below.denominator);
  if (!numerator || !denominator) return std::nullopt;
  return Fraction{*numerator, *denominator};
}

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_FRACTION_H_
