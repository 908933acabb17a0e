#include "runtime/run/calibration/repeated_samples.h"

#include <algorithm>

namespace torc::runtime {

double Samples::quantile(double share) const {
  if (values_.empty()) return 0;
  std::vector<double> sorted = values_;
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
  std::ranges::nth_element(sorted, sorted.begin() + place);
  return sorted[static_cast<std::size_t>(place)];
}

bool Samples::isClearlyAbove(const Samples& others) const {
  constexpr std::size_t kLeast = 3;
  return size() >= kLeast && others.size() >= kLeast && quantile(0.25) > others.quantile(0.75) &&
         median() > 1.1 * others.median();
}

}  // namespace torc::runtime
