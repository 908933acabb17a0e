// Fair sharing: flows through resources (links, memory) of limited bandwidth, max-min fair at every
// moment, as in SimGrid.
//
// Flows that use the same resources in the same amounts form a group with a common rate. A group
// needs one clock, which counts the units moved by each of its flows, and a heap of the readings at
// which they end. The start or end of a flow costs O(log n) if its group shares its resources with
// no other, like messages over one link; else rates are recomputed, by progressive filling, in all
// groups linked to it through shared resources.
#ifndef TORC_MODEL_SIMULATOR_FAIR_SHARE_H_
#define TORC_MODEL_SIMULATOR_FAIR_SHARE_H_

#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

namespace torc::model {

class FairShare {
 public:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  /// Amount of a resource that a flow of a group takes for each of its units.
  struct Use {
    std::uint32_t resource = 0;
    double amount = 1;
  };

  /// A resource of `capacity` units/s; > 0, may be kInfinity.
  std::uint32_t addResource(double capacity);
  /// A group of flows that use `uses`, each resource once; each flow moves at most `rate` units/s.
  std::uint32_t addGroup(llvm::ArrayRef<Use> uses, double rate = kInfinity);

  /// Starts a flow of `units` (>= 0) at time `now`, not before any earlier call.
  void start(std::uint32_t group, std::uint32_t flow, double units, double now);
  /// Time of the next flow's end; kInfinity if there is none.
  double nextEnd();
  /// Ends the flows due at nextEnd(), and appends them to `ended`, in ascending order.
  void end(std::vector<std::uint32_t>& ended);

  /// Units/s of each flow of a group; valid after nextEnd(), while any of its flows is active.
  double rate(std::uint32_t group) const { return groups_[group].rate; }

  /// Units of ended flows through a resource, and seconds with any active flow.
  double carried(std::uint32_t resource) const { return resources_[resource].carried; }
  double busy(std::uint32_t resource) const { return resources_[resource].busy; }

 private:
  struct Flow {
    double due = 0;  // reading of the group's clock at which it ends
    double units = 0;
    std::uint32_t id = 0;

    bool operator<(const Flow& other) const {  // the top of a heap is the one due first
      return due != other.due ? due > other.due : id > other.id;
    }
  };
  struct Group {
    llvm::SmallVector<Use, 1> uses;
    double limit = kInfinity;
    double rate = 0;
    double clock = 0;    // units moved by a flow active since clock 0
    double read_at = 0;  // time of that reading
    std::priority_queue<Flow, llvm::SmallVector<Flow, 1>> flows;
    bool stale = false;   // rate must be recomputed
    bool is_new = false;  // the end of its next flow must be recomputed, whatever its rate
    std::uint32_t visited = 0;
  };
  struct Resource {
    double capacity = 0;
    llvm::SmallVector<std::uint32_t, 2> groups;  // with active flows
    double carried = 0;
    double busy = 0;
    double busy_since = 0;
    // While filling: remaining capacity, its use per unit of rate by the groups without a rate, and
    // their number.
    double left = 0;
    double wanted = 0;
    std::uint32_t waiting = 0;
    std::uint32_t visited = 0;
  };

  /// End of a flow of a group. The heap has the earliest on top, of equals that of the lowest
  /// group.
  struct End {
    double time = 0;
    std::uint32_t group = 0;

    bool operator<(const End& other) const {
      return time != other.time ? time > other.time : group > other.group;
    }
  };

  void join(std::uint32_t group, double now);
  void leave(std::uint32_t group, double now);
  void readClock(Group& group, double now);
  void makeStale(std::uint32_t group);
  void share();
  void fill(std::uint32_t group);
  void setRate(std::uint32_t group, double rate);
  bool isPast(const End& end) const { return next_ends_[end.group] != end.time; }
  double firstEnd();
  void setEnd(std::uint32_t group, double time);

  std::vector<Group> groups_;
  std::vector<Resource> resources_;
  std::vector<std::uint32_t> stale_;
  std::vector<End> ends_;          // a heap; some are outdated, as their group has another
  std::vector<double> next_ends_;  // by group; negative: not known
  double now_ = 0;
  std::uint32_t visit_ = 0;
  std::vector<std::uint32_t> component_, touched_;  // of the current filling
};

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_FAIR_SHARE_H_
