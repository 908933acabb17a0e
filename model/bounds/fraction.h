// Fractions of whole numbers, without rounding.
#ifndef TORC_MODEL_BOUNDS_FRACTION_H_
#define TORC_MODEL_BOUNDS_FRACTION_H_

#include <optional>
#include <string>

namespace torc::model {

using Uint128 = unsigned __int128;

/// A fraction >= 0 in lowest terms.
struct Fraction {
  Uint128 numerator = 0;
  Uint128 denominator = 1;

  bool operator==(const Fraction&) const = default;
  double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
  /// "31/96"; "2" where the denominator is 1.
  std::string text() const;
};

/// In lowest terms; denominator > 0.
Fraction makeFraction(Uint128 numerator, Uint128 denominator);

/// Nothing where the quotient does not fit 128 bits or `b` is 0.
std::optional<Fraction> divide(const Fraction& a, const Fraction& b);

/// Nothing where a product does not fit 128 bits.
std::optional<Uint128> multiply(Uint128 a, Uint128 b);

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_FRACTION_H_
