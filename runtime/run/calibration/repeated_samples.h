// Samples of repeated measurements: medians, and whether one kind is clearly larger than another.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_REPEATED_SAMPLES_H_
#define TORC_RUNTIME_RUN_CALIBRATION_REPEATED_SAMPLES_H_

#include <cstddef>
#include <vector>

namespace torc::runtime {

class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  bool empty() const { return values_.empty(); }
  std::size_t size() const { return values_.size(); }

  /// The quantile of the samples for `share`, from 0 to 1; 0 without samples.
  double quantile(double share) const;
  double median() const { return quantile(0.5); }

  /// Whether the lower quartile is above the upper quartile of `others`, and the median more than a
  /// tenth above theirs: smaller differences are noise. Fewer than three samples are never clearly
  /// above.
  bool isClearlyAbove(const Samples& others) const;

 private:
  std::vector<double> values_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_REPEATED_SAMPLES_H_
