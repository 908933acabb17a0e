#include "compiler/algorithms/recursive/axis_rounds.h"

#include <algorithm>
#include <bit>

namespace torc::compiler {
namespace {

constexpr std::uint32_t kLargestPrime = 7;

/// The prime factors of `size`, ascending; the rest without factors up to kLargestPrime is one
/// factor.
std::vector<std::uint32_t> primeFactors(std::uint32_t size) {
  std::vector<std::uint32_t> factors;
  for (std::uint32_t prime = 2; prime <= kLargestPrime; ++prime) {
    for (; size % prime == 0; size /= prime)
      factors.push_back(prime);
  }
  if (size > 1) factors.push_back(size);
  return factors;
}

/// Multiplies factors while their product is at most `most`, each time by the largest possible
/// factor.
std::vector<std::uint32_t> merged(std::vector<std::uint32_t> factors, std::uint32_t most) {
  std::vector<std::uint32_t> products;
  while (!factors.empty()) {
    std::uint32_t product = factors.back();
    factors.pop_back();
    for (std::size_t i = factors.size(); i-- > 0;) {
      if (product * factors[i] > most) continue;
      product *= factors[i];
      factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(i));
    }
    products.push_back(product);
  }
  return products;
}

}  // namespace

AxisRounds axisRounds(std::uint32_t size, std::uint32_t most_messages) {
  AxisRounds axis;
  axis.size = size;
  std::vector<std::uint32_t> factors = primeFactors(size);
  if (!factors.empty() && factors.back() > kLargestPrime) {
    axis.folded = size - std::bit_floor(size);
    factors = primeFactors(axis.places());
  }
  // The least radix that needs as few rounds as the largest.
  const std::size_t fewest = merged(factors, most_messages + 1).size();
  std::uint32_t most = 1;
  while (merged(factors, most).size() > fewest)
    ++most;
  std::uint32_t stride = 1;
  for (const std::uint32_t radix : merged(std::move(factors), most)) {
    axis.rounds.push_back({radix, stride});
    stride *= radix;
  }
  return axis;
}

}  // namespace torc::compiler
