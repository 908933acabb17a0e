// Event wheel: a queue of events by time, with a bucket for each tick of the near future and a heap
// for the rest.
#ifndef TORC_MODEL_PACKETS_EVENT_WHEEL_H_
#define TORC_MODEL_PACKETS_EVENT_WHEEL_H_

#include <array>
#include <bit>
#include <cstdint>
#include <queue>
#include <vector>

#include <llvm/Support/Compiler.h>

namespace torc::model {

/// An event: its object (`place` and `kind`), and one more number.
struct PacketEvent {
  std::uint32_t place = 0;
  std::uint32_t detail = 0;
};

/// Events of the same time come in the order of their addition. Buckets are lists of blocks; a
/// freed block is reused first, so that few are in use.
class EventWheel {
 public:
  EventWheel() : blocks_(1), buckets_(kBuckets), occupied_(kBuckets / 64) {
    blocks_[0].count = kBlockEvents;
  }

  std::uint64_t now() const { return now_; }

  /// `time` is not before now().
  void add(std::uint64_t time, PacketEvent event) {
    if (time - now_ >= kBuckets) return addFar(time, event);
    Block* block = &blocks_[buckets_[time % kBuckets].last];
    if (block->count == kBlockEvents) block = grow(time % kBuckets);
    block->events[block->count++] = event;
  }

  /// Moves on to the next event; false if there is none.
  bool next(PacketEvent& event) {
    for (;;) {
      const std::uint32_t first = buckets_[now_ % kBuckets].first;
      const Block& block = blocks_[first];
      if (first != 0 && taken_ < block.count) {
        event = block.events[taken_++];
        return true;
      }
      if (!drop() && !advance()) return false;
    }
  }

 private:
  static constexpr std::uint64_t kBuckets = 1 << 12;
  static constexpr std::uint32_t kBlockEvents = 7;

  /// Block 0 stands for none: full, so that nothing is added to it.
  struct alignas(64) Block {
    std::array<PacketEvent, kBlockEvents> events;
    std::uint32_t count = 0;
    std::uint32_t next = 0;
  };
  struct Bucket {
    std::uint32_t first = 0, last = 0;  // blocks; 0: none
  };
  struct Far {
    std::uint64_t time, sequence;
    PacketEvent event;
    bool operator<(const Far& other) const {  // the top of a heap is the earliest
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };

  LLVM_ATTRIBUTE_NOINLINE void addFar(std::uint64_t time, PacketEvent event) {
    far_.push({time, sequence_++, event});
  }

  /// Adds a block to a bucket whose last one is full, or that has none.
  LLVM_ATTRIBUTE_NOINLINE Block* grow(std::uint64_t index) {
    std::uint32_t block = free_;
    if (block == 0) {
      block = static_cast<std::uint32_t>(blocks_.size());
      blocks_.emplace_back();
    } else {
      free_ = blocks_[block].next;
    }
    blocks_[block].count = 0;
    blocks_[block].next = 0;
    Bucket& bucket = buckets_[index];
    if (bucket.last == 0) {
      bucket.first = block;
      occupied_[index / 64] |= std::uint64_t{1} << (index % 64);
    } else {
      blocks_[bucket.last].next = block;
    }
    bucket.last = block;
    return &blocks_[block];
  }

  /// Drops the first block of the present bucket, whose events are all taken; false if no other
  /// follows.
  bool drop() {
    const std::uint64_t index = now_ % kBuckets;
    Bucket& bucket = buckets_[index];
    const std::uint32_t block = bucket.first;
    if (block == 0) return false;
    taken_ = 0;
    bucket.first = blocks_[block].next;
    blocks_[block].next = free_;
    free_ = block;
    if (bucket.first != 0) return true;
    bucket.last = 0;
    occupied_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    return false;
  }

  /// Moves from an empty bucket to the time of the next event.
  bool advance() {
    const std::uint64_t near = nextOccupied();
    const bool has_near = near != 0;
    if (!has_near && far_.empty()) return false;
    std::uint64_t time = now_ + near;
    if (!has_near || (!far_.empty() && far_.top().time < time)) time = far_.top().time;
    now_ = time;
    // Far events come before those added when the time was near: they were added earlier.
    while (!far_.empty() && far_.top().time - now_ < kBuckets) {
      const Far far = far_.top();
      far_.pop();
      add(far.time, far.event);
    }
    return true;
  }

  /// Ticks from now to the next bucket with events; 0 if there is none.
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

  std::vector<Block> blocks_;
  std::uint32_t free_ = 0;  // blocks, by next; 0: none
  std::vector<Bucket> buckets_;
  std::vector<std::uint64_t> occupied_;  // a bit for each bucket
  std::priority_queue<Far> far_;
  std::uint64_t now_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint32_t taken_ = 0;  // events of the present bucket's first block
};

}  // namespace torc::model

#endif  // TORC_MODEL_PACKETS_EVENT_WHEEL_H_
