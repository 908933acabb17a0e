// Event wheel: events by time, a bucket for each tick of the near future, a heap for the rest.
#ifndef TORC_MODEL_PACKETS_EVENT_WHEEL_H_
#define TORC_MODEL_PACKETS_EVENT_WHEEL_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace torc {

/// What happens: to what (`place` and `kind`), and one more number.
struct PacketEvent {
  std::uint32_t place = 0;
  std::uint32_t detail = 0;
};

/// Events of the same time come in the order in which they were added.
class EventWheel {
 public:
  EventWheel() : buckets_(kBuckets), occupied_(kBuckets / 64) {}

  std::uint64_t now() const { return now_; }

  /// `time` is not before now().
  void add(std::uint64_t time, PacketEvent event) {
    if (time - now_ >= kBuckets) {
      far_.push_back({time, sequence_++, event});
      std::push_heap(far_.begin(), far_.end());
      return;
    }
    const std::uint32_t bucket = time % kBuckets;
    buckets_[bucket].push_back(event);
    occupied_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
  }

  /// Moves on to the next event; false where there is none.
  bool next(PacketEvent& event) {
    std::uint32_t bucket = now_ % kBuckets;
    if (taken_ == buckets_[bucket].size()) {
      clear(bucket);
      if (!advance()) return false;
      bucket = now_ % kBuckets;
    }
    event = buckets_[bucket][taken_++];
    return true;
  }

  /// The event `distance` behind the one that next() gave last, if it is of the same time.
  const PacketEvent* ahead(std::size_t distance) const {
    const std::vector<PacketEvent>& bucket = buckets_[now_ % kBuckets];
    const std::size_t index = taken_ - 1 + distance;
    return index < bucket.size() ? &bucket[index] : nullptr;
  }

 private:
  static constexpr std::uint64_t kBuckets = 1 << 13;

  struct Far {
    std::uint64_t time, sequence;
    PacketEvent event;
    bool operator<(const Far& other) const {  // the top of a heap is the earliest
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };

  void clear(std::uint32_t bucket) {
    buckets_[bucket].clear();
    occupied_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
    taken_ = 0;
  }

  /// From an empty bucket to the next time at which there are events.
  bool advance() {
    const std::uint64_t near = nextOccupied();
    const bool has_near = near != 0;
    if (!has_near && far_.empty()) return false;
    std::uint64_t time = now_ + near;
    if (!has_near || (!far_.empty() && far_.front().time < time)) time = far_.front().time;
    now_ = time;
    // What was far comes before what was added when it was near: it was added earlier.
    while (!far_.empty() && far_.front().time - now_ < kBuckets) {
      std::pop_heap(far_.begin(), far_.end());
      const Far far = far_.back();
      far_.pop_back();
      add(far.time, far.event);
    }
    return true;
  }

  /// Ticks from now to the next bucket with events; 0: there is none.
  std::uint64_t nextOccupied() const {
    const std::uint32_t start = now_ % kBuckets;
    const std::size_t words = occupied_.size();
    std::size_t word = start / 64;
    std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (start % 64));
    for (std::size_t i = 0; i <= words; ++i) {
      if (bits != 0) {
        const std::uint64_t bucket = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
        return (bucket + kBuckets - start) % kBuckets;
      }
      word = (word + 1) % words;
      bits = occupied_[word];
    }
    return 0;
  }

  std::vector<std::vector<PacketEvent>> buckets_;
  std::vector<std::uint64_t> occupied_;  // a bit for each bucket
  std::vector<Far> far_;
  std::uint64_t now_ = 0;
  std::uint64_t sequence_ = 0;
  std::size_t taken_ = 0;  // events of the bucket of now_
};

}  // namespace torc

#endif  // TORC_MODEL_PACKETS_EVENT_WHEEL_H_
