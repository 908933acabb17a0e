// When flows end: a queue of groups by time, whose times may change.
#ifndef TORC_MODEL_SIMULATOR_END_QUEUE_H_
#define TORC_MODEL_SIMULATOR_END_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torc::model {

/// A binary heap that knows where each group is. A time that hardly changes what is before what
/// costs little to set. Of groups with one time the lowest index is first.
class EndQueue {
 public:
  bool isEmpty() const { return heap_.empty(); }
  double firstTime() const { return heap_.front().time; }
  std::uint32_t firstGroup() const { return heap_.front().group; }

  /// Inserts the group, or gives it another time.
  void set(std::uint32_t group, double time) {
    if (group >= places_.size()) places_.resize(group + 1, kNowhere);
    if (places_[group] == kNowhere) {
      heap_.push_back({});
      places_[group] = heap_.size() - 1;
    }
    place(places_[group], {time, group});
  }

  void removeFirst() {
    places_[firstGroup()] = kNowhere;
    const End last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) place(0, last);
  }

 private:
  struct End {
    double time = 0;
    std::uint32_t group = 0;

    bool operator<(const End& other) const {
      return time != other.time ? time < other.time : group < other.group;
    }
  };
  static constexpr std::size_t kNowhere = -1;

  /// Puts `end` where `at` is, or where it belongs above or below that.
  void place(std::size_t at, End end) {
    while (at > 0 && end < heap_[(at - 1) / 2])
      at = fill(at, (at - 1) / 2);
    for (std::size_t below = 2 * at + 1; below < heap_.size(); below = 2 * at + 1) {
      if (below + 1 < heap_.size() && heap_[below + 1] < heap_[below]) ++below;
      if (!(heap_[below] < end)) break;
      at = fill(at, below);
    }
    heap_[at] = end;
    places_[end.group] = at;
  }

  /// Moves what is at `from` to `to`; what is free then.
  std::size_t fill(std::size_t to, std::size_t from) {
    heap_[to] = heap_[from];
    places_[heap_[to].group] = to;
    return from;
  }

  std::vector<End> heap_;
  std::vector<std::size_t> places_;  // in it, of each group
};

}  // namespace torc::model

#endif  // TORC_MODEL_SIMULATOR_END_QUEUE_H_
