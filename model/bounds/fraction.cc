#include "model/bounds/fraction.h"

#include <algorithm>

namespace torc::model {
namespace {

/// std::gcd is not for 128 bits.
Uint128 greatestCommonDivisor(Uint128 a, Uint128 b) {
  while (b != 0) {
    a %= b;
    std::swap(a, b);
  }
  return a;
}

std::string digits(Uint128 number) {
  std::string text;
  do {
    text += static_cast<char>('0' + static_cast<int>(number % 10));
    number /= 10;
  } while (number > 0);
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace

std::string Fraction::text() const {
  return denominator == 1 ? digits(numerator) : digits(numerator) + "/" + digits(denominator);
}

Fraction makeFraction(Uint128 numerator, Uint128 denominator) {
  const Uint128 divisor = greatestCommonDivisor(numerator, denominator);
  return {numerator / divisor, denominator / divisor};
}

std::optional<Uint128> multiply(Uint128 a, Uint128 b) {
  Uint128 product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

std::optional<Fraction> divide(const Fraction& a, const Fraction& b) {
  if (b.numerator == 0) return std::nullopt;
  // In lowest terms crosswise, so that the products are in lowest terms as well.
  const Fraction above = makeFraction(a.numerator, b.numerator);
  const Fraction below = makeFraction(b.denominator, a.denominator);
  const std::optional<Uint128> numerator = multiply(above.numerator, below.numerator);
  const std::optional<Uint128> denominator = multiply(above.denominator, below.denominator);
  if (!numerator || !denominator) return std::nullopt;
  return Fraction{*numerator, *denominator};
}

}  // namespace torc::model
