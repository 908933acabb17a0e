#include "studies/logp/placed_ranks.h"

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

/// The links of a torus by number: two of each node for each dimension, down and up.
class Links {
 public:
  explicit Links(const model::Machine& machine) : machine_(machine) {
    for (const model::MachineDimension& dimension : machine.dimensions) {
      strides_.push_back(nodes_);
      nodes_ *= dimension.size;
    }
  }

  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t size() const { return kWays * nodes_ * dimensions(); }
  std::uint32_t dimensionOf(std::uint32_t link) const { return link / kWays % dimensions(); }
  Coordinates placeOf(std::uint32_t node) const {
    Coordinates at{};
    for (std::uint32_t i = 0; i < dimensions(); ++i) {
      at[i] = static_cast<std::int32_t>(node % machine_.dimensions[i].size);
      node /= machine_.dimensions[i].size;
    }
    return at;
  }

  /// Calls `use` with each link of the route, dimension by dimension, the shorter way around.
  template <typename Use>
  void forEachOnWay(Coordinates at, const Coordinates& to, Use use) const {
    for (std::uint32_t i = 0; i < dimensions(); ++i) {
      const model::MachineDimension& dimension = machine_.dimensions[i];
      const auto size = static_cast<std::int32_t>(dimension.size);
      std::int32_t left = to[i] - at[i];
      if (dimension.torus && 2 * std::abs(left) > size) left += left > 0 ? -size : size;
      const bool is_up = left > 0;
      for (; left != 0; left += is_up ? -1 : 1) {
        use(linkAt(at, i, is_up));
        at[i] = (at[i] + (is_up ? 1 : size - 1)) % size;
      }
    }
  }

 private:
  static constexpr std::uint32_t kWays = 2;

  std::uint32_t dimensions() const { return static_cast<std::uint32_t>(strides_.size()); }
  std::uint32_t linkAt(const Coordinates& at, std::uint32_t dimension, bool is_up) const {
    std::uint32_t node = 0;
    for (std::uint32_t i = 0; i < dimensions(); ++i)
      node += strides_[i] * static_cast<std::uint32_t>(at[i]);
    return kWays * (node * dimensions() + dimension) + (is_up ? 1 : 0);
  }

  const model::Machine& machine_;
  std::uint32_t nodes_ = 1;
  std::vector<std::uint32_t> strides_;
};

class PlacedTree {
 public:
  PlacedTree(const model::Machine& machine, llvm::ArrayRef<Coordinates> places, double bytes)
      : machine_(machine), places_(places), bytes_(bytes), links_(machine) {
    for (std::uint32_t link = 0; link < links_.size(); ++link)
      flows_.addResource(machine.linkBandwidth(links_.dimensionOf(link)));
  }

  double run() {
    sendOn(0, std::bit_ceil(places_.size()) / 2, 0);
    double now = 0;
    std::vector<std::uint32_t> arrived;
    while (true) {
      const double end = flows_.nextEnd();
      if (!starts_.empty() && starts_.top().first <= end) {
        now = starts_.top().first;
        const std::uint32_t child = starts_.top().second;
        starts_.pop();
        flows_.start(groups_[child], child, bytes_, now);
      } else if (end < model::FairShare::kInfinity) {
        now = end;
        arrived.clear();
        flows_.end(arrived);
        for (const std::uint32_t child : arrived) {
          const std::uint32_t half = child & -child;  // number of ranks in the child's subtree
          sendOn(child, half / 2, now);
          sendOn(child - half, half / 2, now);
        }
      } else {
        return now;
      }
    }
  }

 private:
  /// Sends the next message of a rank at `now`, to the rank `distance` above or, if there is none,
  /// to a nearer one.
  void sendOn(std::uint32_t parent, std::size_t distance, double now) {
    while (distance > 0 && parent + distance >= places_.size())
      distance /= 2;
    if (distance == 0) return;
    const auto child = static_cast<std::uint32_t>(parent + distance);
    double start_up = machine_.overhead + machine_.alpha + machine_.latency;
    std::vector<model::FairShare::Use> uses;
    links_.forEachOnWay(places_[parent], places_[child], [&](std::uint32_t link) {
      uses.push_back({link, 1});
      start_up += machine_.dimensions[links_.dimensionOf(link)].latency;
    });
    groups_.resize(std::max<std::size_t>(groups_.size(), child + 1));
    // Within a router the limit is the memory, which reads and writes.
    const double rate = uses.empty() && machine_.memory_bandwidth > 0
                            ? machine_.memory_bandwidth / 2
                            : model::FairShare::kInfinity;
    groups_[child] = flows_.addGroup(std::move(uses), rate);
    starts_.push({now + start_up, child});
  }

  const model::Machine& machine_;
  const llvm::ArrayRef<Coordinates> places_;
  const double bytes_;
  const Links links_;
  model::FairShare flows_;
  std::vector<std::uint32_t> groups_;              // of the message to each rank
  using Start = std::pair<double, std::uint32_t>;  // departure of a message, its rank
  std::priority_queue<Start, std::vector<Start>, std::greater<>> starts_;
};

}  // namespace

double placedBinomialMulticast(const model::Machine& machine, llvm::ArrayRef<Coordinates> places,
                               double bytes) {
  return PlacedTree(machine, places, bytes).run();
}

std::uint32_t mostMessagesOnALink(const model::Machine& machine,
                                  llvm::ArrayRef<std::uint32_t> receivers) {
  const Links links(machine);
  std::vector<std::uint32_t> messages(links.size());
  for (std::uint32_t node = 0; node < links.nodes(); ++node)
    links.forEachOnWay(links.placeOf(node), links.placeOf(receivers[node]),
                       [&](std::uint32_t link) { ++messages[link]; });
  return *std::max_element(messages.begin(), messages.end());
}

}  // namespace torc::studies
