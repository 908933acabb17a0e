#include "studies/logp/placed_tree.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "model/simulator/fair_share.h"

namespace torc::studies {
namespace {

class PlacedTree {
 public:
  PlacedTree(const model::Machine& machine, llvm::ArrayRef<Coordinates> places, double bytes)
      : machine_(machine), places_(places), bytes_(bytes) {
    std::uint32_t before = 1;
    for (std::uint32_t i = 0; i < machine.dimensions.size(); ++i) {
      strides_.push_back(before);
      before *= machine.dimensions[i].size;
    }
    for (std::uint32_t node = 0; node < before; ++node) {
      for (std::uint32_t i = 0; i < machine.dimensions.size(); ++i) {
        for (int way = 0; way < kWays; ++way)
          links_.addResource(machine.linkBandwidth(i));
      }
    }
  }

  double run() {
    sendOn(0, std::bit_ceil(places_.size()) / 2, 0);
    double now = 0;
    std::vector<std::uint32_t> arrived;
    while (true) {
      const double end = links_.nextEnd();
      if (!starts_.empty() && starts_.top().first <= end) {
        now = starts_.top().first;
        const std::uint32_t child = starts_.top().second;
        starts_.pop();
        links_.start(groups_[child], child, bytes_, now);
      } else if (end < model::FairShare::kInfinity) {
        now = end;
        arrived.clear();
        links_.end(arrived);
        for (const std::uint32_t child : arrived) {
          const std::uint32_t half = child & -child;  // what a child stands for
          sendOn(child, half / 2, now);
          sendOn(child - half, half / 2, now);
        }
      } else {
        return now;
      }
    }
  }

 private:
  static constexpr int kWays = 2;

  /// The next message of a rank at `now`, to the rank `distance` above or, if there is none,
  /// nearer.
  void sendOn(std::uint32_t parent, std::size_t distance, double now) {
    while (distance > 0 && parent + distance >= places_.size())
      distance /= 2;
    if (distance == 0) return;
    const auto child = static_cast<std::uint32_t>(parent + distance);
    double start_up = machine_.overhead + machine_.alpha + machine_.latency;
    std::vector<model::FairShare::Use> uses;
    Coordinates at = places_[parent];
    for (std::uint32_t i = 0; i < machine_.dimensions.size(); ++i) {
      const model::MachineDimension& dimension = machine_.dimensions[i];
      const auto size = static_cast<std::int32_t>(dimension.size);
      std::int32_t left = places_[child][i] - at[i];
      if (dimension.torus && 2 * std::abs(left) > size) left += left > 0 ? -size : size;
      const bool is_up = left > 0;
      for (; left != 0; left += is_up ? -1 : 1) {
        uses.push_back({link(at, i, is_up), 1});
        at[i] = (at[i] + (is_up ? 1 : size - 1)) % size;
        start_up += dimension.latency;
      }
    }
    groups_.resize(std::max<std::size_t>(groups_.size(), child + 1));
    // Within a router the memory reads and writes.
    const double rate = uses.empty() && machine_.memory_bandwidth > 0
                            ? machine_.memory_bandwidth / 2
                            : model::FairShare::kInfinity;
    groups_[child] = links_.addGroup(std::move(uses), rate);
    starts_.push({now + start_up, child});
  }

  std::uint32_t link(const Coordinates& at, std::uint32_t dimension, bool is_up) const {
    std::uint32_t node = 0;
    for (std::uint32_t i = 0; i < strides_.size(); ++i)
      node += strides_[i] * static_cast<std::uint32_t>(at[i]);
    const auto dimensions = static_cast<std::uint32_t>(strides_.size());
    return kWays * (node * dimensions + dimension) + (is_up ? 1 : 0);
  }

  const model::Machine& machine_;
  const llvm::ArrayRef<Coordinates> places_;
  const double bytes_;
  std::vector<std::uint32_t> strides_;
  model::FairShare links_;
  std::vector<std::uint32_t> groups_;              // of the message to each rank
  using Start = std::pair<double, std::uint32_t>;  // when the bytes of the message to a rank leave
  std::priority_queue<Start, std::vector<Start>, std::greater<>> starts_;
};

}  // namespace

double placedBinomialMulticast(const model::Machine& machine, llvm::ArrayRef<Coordinates> places,
                               double bytes) {
  return PlacedTree(machine, places, bytes).run();
}

}  // namespace torc::studies
