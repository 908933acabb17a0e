// Calibrator: measures the network of a job, and its cores and memory.
//
// All links of an axis are measured at the same time, in rounds in which each node has at most one
// partner (link_rounds.h): the time does not grow with the number of nodes. The first core of a
// node uses its links. All measurements are divided into batches, so that a temporary disturbance
// does not affect one kind of measurement alone; the result is the median over batches of the
// median in a batch.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_CALIBRATOR_H_
#define TORC_RUNTIME_RUN_CALIBRATION_CALIBRATOR_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/job/geometry.h"
#include "runtime/non_copyable.h"
#include "runtime/run/calibration/job_grid.h"
#include "runtime/run/calibration/link_rounds.h"
#include "runtime/run/calibration/message_probe.h"
#include "runtime/run/calibration/node_measurement.h"
#include "support/status.h"

namespace torc::runtime {

class Calibrator : NonCopyable {
 public:
  /// `hosts`: of all ranks. Measures for about `seconds`, but each experiment at least once. `grid`
  /// outlives it. Throws std::bad_alloc.
  Calibrator(const JobGrid& grid, const HostRanks& hosts, double seconds);

  /// Collective over MPI_COMM_WORLD. Returns this rank's measurements.
  NodeMeasurement measure();

  /// Sizes of the messages, after `measure`.
  const MeasuredSizes& sizes() const { return sizes_; }

 private:
  /// A measurement in every batch, by all nodes at the same time. `repeat` runs it `count` times,
  /// and returns this rank's times, possibly none.
  struct Experiment {
    std::function<Samples(int count)> repeat;
    double* result;  // member of the measurement: the median of the batches
    int count = 0;   // in a batch; 0: unknown so far
    Samples medians;
  };

  /// Size of a message; nullptr: a small one. Sizes are chosen after the experiments are created.
  using Size = double MeasuredSizes::*;

  void addLink(std::uint32_t axis, LinkEnd end, int peer);
  void addDistance(std::uint32_t axis);
  void addAllLinks();
  void addSends();
  /// A message of size `out` from the low end to the high one, and one of `in` back: afterwards, or
  /// at the same time if both have the same size, which is not small. The low end measures the
  /// time.
  void addMessages(double& result, LinkEnd end, int peer, Size out, Size in);
  void add(double& result, std::function<Samples(int)> repeat) {
    experiments_.push_back({std::move(repeat), &result, 0, {}});
  }

  void chooseSizes();
  void run(Experiment& experiment, double slice);
  void measureThresholds();
  void measureThresholds(int peer, double small_s);
  void measureNode();
  double largestOfAll(double mine) const;

  std::size_t bytesOf(Size size) const {
    return size == nullptr ? kSmallMessage : static_cast<std::size_t>(sizes_.*size);
  }
  LinkEnd endIn(std::uint32_t axis, int round) const;
  /// Calls `function(axis, end, peer)` for each round of each axis.
  template <typename Function>
  void forRounds(Function function) const {
    for (std::uint32_t axis = 0; axis < dimensions_; ++axis) {
      for (int round = 0; round < linkRounds(topology_.axes[axis]); ++round) {
        const LinkEnd end = endIn(axis, round);
        function(axis, end, peer(axis, end));
      }
    }
  }
  int neighbour(std::uint32_t axis, int steps) const { return grid_.rankFrom(at_, axis, steps); }
  /// The other end of the link whose end `end` is this node; -1 without a link.
  int peer(std::uint32_t axis, LinkEnd end) const {
    return end == LinkEnd::kNone ? -1 : neighbour(axis, end == LinkEnd::kLow ? 1 : -1);
  }

  const JobGrid& grid_;
  const Topology& topology_;
  const std::uint32_t dimensions_;
  const HostRanks hosts_;
  const double seconds_;
  int rank_ = 0;
  Coordinates at_{};
  bool has_links_ = false;  // this is the first core of its node
  MessageProbe probe_;
  MeasuredSizes sizes_;
  std::vector<Experiment> experiments_;
  NodeMeasurement measured_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_CALIBRATOR_H_
