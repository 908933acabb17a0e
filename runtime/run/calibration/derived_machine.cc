#include "runtime/run/calibration/derived_machine.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/run/calibration/link_rounds.h"
#include "runtime/run/calibration/repeated_samples.h"
#include "support/columns.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

/// Start-up times below this share of a small message's time count as zero.
constexpr double kNothing = 0.02;

/// Bytes/s from the additional time of the longer message; if noise makes that zero, from its whole
/// time.
double bandwidthOf(const TimesOfTwo& times, double shorter, double longer) {
  const double more = times.long_s - times.short_s;
  return more > 0 ? (longer - shorter) / more : longer / times.long_s;
}

/// Measurements of all links of an axis.
struct AxisSamples {
  Samples one_way, distant, up, down, both;
};

class Deriver {
 public:
  Deriver(const Topology& topology, std::span<const NodeMeasurement> measurements,
          const std::function<Coordinates(std::int32_t)>& coordinates_of,
          const MeasuredSizes& sizes)
      : topology_(topology),
        measurements_(measurements),
        coordinates_of_(coordinates_of),
        sizes_(sizes),
        axes_(static_cast<std::size_t>(topology.dimensions())) {}

  DerivedMachine derive() {
    for (std::uint32_t axis = 0; axis < axes_.size(); ++axis)
      summarize(axis);
    machine_.size_source =
        message("the job: ", measurements_.size(), " ranks on ", topology_.shape());
    bandwidths();
    cores();
    ports();
    startUps();
    thresholds();
    nodes();
    return std::move(machine_);
  }

 private:
  void add(const char* key, double value, const std::string& source) {
    machine_.numbers.push_back({key, value, source});
  }

  /// Samples of a number over all nodes.
  Samples ofNodes(double NodeMeasurement::*number) const {
    Samples samples;
    for (const NodeMeasurement& node : measurements_) {
      if (node.*number > 0) samples.add(node.*number);
    }
    return samples;
  }

  /// Keeps the slower of `slowest` and a link of the node of `rank`; `sign` is 1 if larger values
  /// are slower.
  void keepSlowest(SlowestLink& slowest, double value, int sign, std::size_t rank,
                   std::uint32_t axis) const {
    if (slowest.value > 0 && sign * value <= sign * slowest.value) return;
    slowest.value = value;
    slowest.from = slowest.to = coordinates_of_(static_cast<std::int32_t>(rank));
    const auto size = static_cast<std::int32_t>(topology_.axes[axis].size);
    slowest.to[axis] = (slowest.to[axis] + 1) % size;
  }

  void summarize(std::uint32_t axis) {
    AxisSamples& samples = axes_[axis];
    LinkSummary& summary = machine_.links.emplace_back();
    for (std::size_t rank = 0; rank < measurements_.size(); ++rank) {
      const LinkMeasurement& link = measurements_[rank].links[axis];
      if (link.distant_s > 0) samples.distant.add(link.distant_s / 2);
      if (link.small_s <= 0) continue;
      const double up = bandwidthOf(link.up, sizes_.shorter, sizes_.longer);
      const double down = bandwidthOf(link.down, sizes_.shorter, sizes_.longer);
      samples.one_way.add(link.small_s / 2);
      samples.up.add(up);
      samples.down.add(down);
      samples.both.add(2 * bandwidthOf(link.both, sizes_.shorter, sizes_.longer));
      keepSlowest(summary.slowest_latency, link.small_s / 2, 1, rank, axis);
      keepSlowest(summary.slowest_up, up, -1, rank, axis);
      keepSlowest(summary.slowest_down, down, -1, rank, axis);
    }
    summary.links = samples.one_way.size();
    if (summary.links == 0) return;
    summary.latency_s = samples.one_way.median();
    summary.up = samples.up.median();
    summary.down = samples.down.median();
    summary.both_factor = samples.both.median() / std::min(summary.up, summary.down);
  }

  void bandwidths() {
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t axis = 0; axis < axes_.size(); ++axis) {
      const Axis& of = topology_.axes[axis];
      DerivedDimension& dimension = machine_.dimensions.emplace_back();
      dimension.size = of.size;
      dimension.torus = of.kind == AxisKind::kTorus;
      const LinkSummary& summary = machine_.links[axis];
      if (summary.links == 0) continue;
      // Messages between the two nodes of a ring of two share its two cables.
      const double cables = of.size == 2 && dimension.torus ? 2 : 1;
      dimension.bandwidth = std::min(summary.up, summary.down) / cables;
      least = std::min(least, dimension.bandwidth);
    }
    for (DerivedDimension& dimension : machine_.dimensions) {
      if (dimension.bandwidth == 0) dimension.bandwidth = least;         // one node, no link
      dimension.bandwidth = std::clamp(dimension.bandwidth, 1.0, 1e18);  // the schema's range
    }
    machine_.bandwidth_source = message(
        "measured: messages of ", static_cast<std::uint64_t>(sizes_.longer), " and ",
        static_cast<std::uint64_t>(sizes_.shorter),
        " bytes, all links of a dimension, median, the slower direction",
        std::ranges::any_of(machine_.dimensions,
                            [](const DerivedDimension& d) { return d.torus && d.size == 2; })
            ? "; where two nodes are a ring, half of what goes between them"
            : "");
  }

  void cores() {
    if (!topology_.hasCores()) return;
    add("cores", topology_.axes[topology_.axis_count - 1].size, "the job: ranks of a node");
  }

  void ports() {
    machine_.links_of_node = linksOfNode(topology_);
    // Neighbours wait for each other: the slowest link limits each node.
    double alone = std::numeric_limits<double>::infinity();
    for (const AxisSamples& samples : axes_) {
      if (!samples.both.empty()) alone = std::min(alone, samples.both.quantile(0) / 2);
    }
    Samples shares;  // relative to the same link used alone
    for (const NodeMeasurement& node : measurements_) {
      if (node.all.long_s <= 0) continue;
      shares.add(bandwidthOf(node.all, sizes_.all_shorter, sizes_.all_longer) / alone);
    }
    machine_.links_at_once = shares.median() * machine_.links_of_node;
    const double ports = std::max(1.0, std::round(machine_.links_at_once));
    if (shares.empty() || ports >= machine_.links_of_node) return;
    add("ports", ports,
        formatted("measured: all links of a node both ways at once carry %.2f times what one does "
                  "alone, of %d",
                  machine_.links_at_once, machine_.links_of_node));
  }

  /// alpha, the overhead, and the latency of hops.
  void startUps() {
    std::vector<double> hops(axes_.size(), 0.0);
    std::size_t quickest = axes_.size();
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      const AxisSamples& samples = axes_[axis];
      if (samples.one_way.empty()) continue;
      if (samples.distant.isClearlyAbove(samples.one_way)) {
        hops[axis] = (samples.distant.median() - samples.one_way.median()) /
                     (farthest(topology_.axes[axis]) - 1);
      }
      const auto withoutHop = [&](std::size_t of) { return axes_[of].one_way.median() - hops[of]; };
      if (quickest == axes_.size() || withoutHop(axis) < withoutHop(quickest)) quickest = axis;
    }
    const double small = axes_[quickest].one_way.median();
    const LinkSummary& links = machine_.links[quickest];
    const double bytes_s = static_cast<double>(kSmallMessage) / std::min(links.up, links.down);
    const double rest = std::max(0.0, small - hops[quickest] - bytes_s);
    const double sending = ofNodes(&NodeMeasurement::send_s).median(),
                 receiving = ofNodes(&NodeMeasurement::receive_s).median();
    const bool arrives_ahead = threshold(&NodeMeasurement::ahead_bytes) >= kSmallMessage;
    const double overhead = std::min(arrives_ahead ? (sending + receiving) / 2 : sending, rest / 2);
    const double alpha = rest - 2 * overhead;
    if (alpha > kNothing * small) {
      add("alpha", alpha,
          message("measured: half of what a message of ", kSmallMessage,
                  " bytes takes there and back, without its bytes, twice the overhead and a hop; "
                  "the latency L is in it"));
    }
    if (overhead > kNothing * small) {
      add("overhead", overhead,
          arrives_ahead ? "measured: mean of what a send call takes, and the receipt of a message "
                          "that has arrived"
                        : "measured: what a send call takes");
    }
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      const Samples& one_way = axes_[axis].one_way;
      double& latency = machine_.dimensions[axis].latency_s;
      latency = hops[axis];
      if (one_way.empty() || latency > 0) continue;
      if (hops[quickest] > 0 || one_way.isClearlyAbove(axes_[quickest].one_way)) {
        latency = std::max(0.0, one_way.median() - (small - hops[quickest]));
      }
    }
    if (std::ranges::any_of(machine_.dimensions,
                            [](const DerivedDimension& d) { return d.latency_s > 0; })) {
      machine_.latency_source =
          "measured: what a small message to the farthest node of a dimension takes longer than "
          "one to a neighbour, a hop; where that cannot be told, what one to a neighbour takes "
          "longer than one without a hop in the quickest dimension";
    }
  }

  /// The minimum over all pairs; 0 without pairs.
  double threshold(double NodeMeasurement::*bytes) const {
    const double least = (*std::ranges::min_element(measurements_, {}, bytes)).*bytes;
    return std::isinf(least) ? 0 : least;
  }

  void thresholds() {
    const double at_once = threshold(&NodeMeasurement::at_once_bytes);
    const double ahead = std::min(at_once, threshold(&NodeMeasurement::ahead_bytes));
    const std::string most = at_once >= sizes_.longer ? ", the largest that was tried" : "";
    if (ahead > 0) {
      add("eager", ahead,
          "measured: the send is over, and the data are there, before the receive is" + most);
    }
    if (at_once > ahead) {
      add("buffered", at_once,
          "measured: the send is over before its receive is there, the data are not" + most);
    }
  }

  void nodes() {
    const Samples reduce = ofNodes(&NodeMeasurement::reduce_s),
                  share = ofNodes(&NodeMeasurement::memory_share);
    if (!reduce.empty()) {
      add("gamma", reduce.median(),
          "measured: sum of floats in the cache, by the runtime's kernel");
    }
    machine_.memory_alone = ofNodes(&NodeMeasurement::memory_alone).median();
    if (share.empty()) return;
    const double ranks = topology_.hasCores() ? topology_.axes[topology_.axis_count - 1].size : 1.0;
    add("memory_bandwidth", ranks * share.median(),
        "measured: sums of floats from and to memory on all ranks at once, three bytes moved a "
        "byte, of the ranks of a node");
  }

  const Topology& topology_;
  const std::span<const NodeMeasurement> measurements_;
  const std::function<Coordinates(std::int32_t)>& coordinates_of_;
  const MeasuredSizes& sizes_;
  std::vector<AxisSamples> axes_;
  DerivedMachine machine_;
};

}  // namespace

DerivedMachine deriveMachine(const Topology& topology,
                             std::span<const NodeMeasurement> measurements,
                             const std::function<Coordinates(std::int32_t)>& coordinates_of,
                             const MeasuredSizes& sizes) {
  return Deriver(topology, measurements, coordinates_of, sizes).derive();
}

}  // namespace torc::runtime
