// Calibrator: measures the network of a job, and its cores and memory.
//
// All links of an axis are measured at a time, in rounds in which no node is in two pairs
// (link_rounds.h): what it takes does not grow with the number of nodes. The first core of a node
// has its links. Everything is measured in batches, one after another, so that what disturbs the
// machine for a while disturbs no kind of measurement alone; what counts is the median of a batch,
// and of the batches.
#ifndef TORC_RUNTIME_RUN_CALIBRATION_CALIBRATOR_H_
#define TORC_RUNTIME_RUN_CALIBRATION_CALIBRATOR_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/job/geometry.h"
#include "runtime/run/calibration/job_grid.h"
#include "runtime/run/calibration/link_rounds.h"
#include "runtime/run/calibration/message_probe.h"
#include "runtime/run/calibration/node_measurement.h"
#include "support/status.h"

namespace torc::runtime {

class Calibrator {
 public:
  /// `hosts`: of all ranks. Measures for about `seconds`, once everything is measured once.
  /// `grid` outlives it. Throws std::bad_alloc.
  Calibrator(const JobGrid& grid, const HostRanks& hosts, double seconds);
  Calibrator(const Calibrator&) = delete;
  Calibrator& operator=(const Calibrator&) = delete;

  /// Collective over MPI_COMM_WORLD. What this rank has measured.
  NodeMeasurement measure();

  /// Of the messages, once it has measured.
  const MeasuredSizes& sizes() const { return sizes_; }

 private:
  /// One thing that is measured in every batch, by all nodes at a time. `repeat` does it `count`
  /// times, and gives what this rank has timed, which may be nothing.
  struct Experiment {
    std::function<Samples(int count)> repeat;
    double* result;  // of the measurement: the median of the batches
    int count = 0;   // in a batch; 0: not known yet
    Samples medians;
  };

  /// Of a message; nullptr: a small one. A size is not known before the experiments are.
  using Size = double MeasuredSizes::*;

  void addLink(std::uint32_t axis, LinkEnd end, int peer);
  void addDistance(std::uint32_t axis);
  void addAllLinks();
  void addSends();
  /// A message of size `out` from the low end to the high one, and one of `in` back: behind it, or
  /// at the same time where both are of one size that is not small. The low end times it.
  void addMessages(double& result, LinkEnd end, int peer, Size out, Size in);
  void add(double& result, std::function<Samples(int)> repeat) {
    experiments_.push_back({std::move(repeat), &result, 0, {}});
  }

  void chooseSizes();
  void run(Experiment& experiment, double slice);
  void measureThresholds();
  void measureThresholds(int peer, double small_s);
  void measureNode();
  void barrier() const;
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
  /// The other end of the link of which this node is `end`; -1 where it is none.
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
  bool has_links_ = false;  // the first core of its node
  MessageProbe probe_;
  MeasuredSizes sizes_;
  std::vector<Experiment> experiments_;
  NodeMeasurement measured_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_CALIBRATION_CALIBRATOR_H_
