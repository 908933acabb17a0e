// Fair sharing: flows through resources (links, memory) of limited bandwidth, max-min fair at every
// moment, as SimGrid has it.
//
// Flows that use the same resources in the same amounts form a group: they all run at one rate, so
// that a group needs one clock, which counts the units that each of its flows has moved, and a heap
// of the readings at which they are done. A flow that starts or ends costs O(log n) where its group
// shares its resources with no other, as that of messages over one link does; else rates are found
// anew, by progressive filling, in all groups that are linked to it through shared resources.
#ifndef TORC_MODEL_SIMULATOR_FAIR_SHARE_H_
#define TORC_MODEL_SIMULATOR_FAIR_SHARE_H_

#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

namespace torc::model {

class FairShare {
 public:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  /// What a flow of a group takes of a resource for each of its units.
  struct Use {
    std::uint32_t resource = 0;
    double amount = 1;
  };

  /// A resource of `capacity` units/s; > 0, may be kInfinity.
  std::uint32_t addResource(double capacity);
  /// A group of flows that use `uses`, each resource once; each flow moves at most `rate` units/s.
  std::uint32_t addGroup(std::vector<Use> uses, double rate = kInfinity);

  /// Starts a flow of `units` (>= 0) at time `now`, which is not before any time given so far.
  void start(std::uint32_t group, std::uint32_t flow, double units, double now);
  /// When the next flow ends; kInfinity where none is under way.
  double nextEnd();
  /// Ends the flows that are due at nextEnd(), appends them to `ended`, in ascending order.
  void end(std::vector<std::uint32_t>& ended);

  /// Units/s of each flow of a group; after nextEnd(), and while any of its flows is under way.
  double rate(std::uint32_t group) const { return groups_[group].rate; }

  std::uint32_t resourceCount() const { return static_cast<std::uint32_t>(resources_.size()); }
  /// Units that a resource has carried in flows that have ended, and seconds during which any was
  /// under way.
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
    std::vector<Use> uses;
    double limit = kInfinity;
    double rate = 0;
    double clock = 0;    // units that a flow under way since clock 0 has moved
    double read_at = 0;  // time of that reading
    std::priority_queue<Flow> flows;
    bool stale = false;   // rate to be found anew
    bool is_new = false;  // when its next flow ends is to be found anew, whatever its rate
    std::uint32_t visited = 0;
  };
  struct Resource {
    double capacity = 0;
    std::vector<std::uint32_t> groups;  // with flows under way
    double carried = 0;
    double busy = 0;
    double busy_since = 0;
    // While filling: capacity not given out yet, what the groups without a rate take of it per unit
    // of rate, and how many they are.
    double left = 0;
    double wanted = 0;
    std::uint32_t waiting = 0;
    std::uint32_t visited = 0;
  };

  /// When a flow of a group ends. A heap has the earliest on top, of equals that of the lowest
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
  std::vector<End> ends_;          // a heap; some are past, as their group has another
  std::vector<double> next_ends_;  // by group; negative: not known
  double now_ = 0;
  std::uint32_t visit_ = 0;
  std::vector<std::uint32_t> component_, touched_;  // of the filling under way
};

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_FAIR_SHARE_H_
