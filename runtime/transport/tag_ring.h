// Tag ring: message tags of one-shot calls, without communication.
//
// The calls of a communicator are numbered by the order in which they are started, which MPI
// demands to be the same on all ranks. Each takes the next tags of a ring, as many as its schedule
// needs, so that every rank gives the same call the same tags. After a lap, tags come up again.
//
// Why that is safe. Let calls A and B, A earlier, both use tag t between ranks p and q. On each
// rank B starts only when A is complete there (`ready`): what A sends from p with t has been handed
// to MPI before what B sends, and every receive of A with t on q has its message before one of B is
// posted. MPI matches messages of one pair and tag in order, and in each call the sends with t from
// p to q are as many as the receives: so A's receives get A's messages, and B's those of B, however
// far p is ahead of q.
#ifndef TORC_RUNTIME_TRANSPORT_TAG_RING_H_
#define TORC_RUNTIME_TRANSPORT_TAG_RING_H_

#include <cstdint>
#include <deque>

#include "support/status.h"

namespace torc {

/// The tags of one call: `base` to `base` + count - 1.
struct TagRange {
  int base = 0;
  std::uint32_t count = 0;
  std::uint64_t begin = 0;   // place on the unrolled ring
  std::uint64_t number = 0;  // of the call: 0, 1, ...
};

class TagRing {
 public:
  /// Tags `first` to `first` + size - 1.
  TagRing(int first, std::uint32_t size) : first_(first), size_(size) {}

  /// The range of the next call. All ranks take the same counts in the same order. Errors, the same
  /// on all ranks: kUnsupported where the ring is smaller than `count`; nothing is taken then.
  StatusOr<TagRange> take(std::uint32_t count);

  /// The same for a call that is complete, or held, before another one is taken. `count` fits.
  TagRange pass(std::uint32_t count) {
    // A range does not go over the seam.
    if (const std::uint32_t left = size_ - place_; count > left) {
      end_ += left;
      place_ = 0;
    }
    const TagRange range{first_ + static_cast<int>(place_), count, end_, next_number_++};
    end_ += count;
    place_ += count;
    if (place_ == size_) place_ = 0;
    return range;
  }
  /// Such a call goes on: to be released when it is complete. None is held.
  void hold(const TagRange& range);

  /// Whether every earlier call that may have used tags of `range` is released. Where not, the call
  /// waits with its start.
  bool ready(const TagRange& range) const {
    return held_.empty() || range.begin + range.count <= held_.front().begin + size_;
  }

  /// The call is complete on this rank, or was never started on any.
  void release(const TagRange& range);

  std::uint32_t size() const { return size_; }
  /// Ranges that are taken and not released.
  std::size_t held() const { return held_count_; }

 private:
  struct Held {
    std::uint64_t begin = 0;
    bool released = false;
  };

  int first_;
  std::uint32_t size_;
  std::uint64_t end_ = 0;    // of the last range, on the unrolled ring
  std::uint32_t place_ = 0;  // the same on the ring: end_ % size_
  std::uint64_t next_number_ = 0;
  std::deque<Held> held_;  // from the oldest that is not released on
  std::size_t held_count_ = 0;
};

}  // namespace torc

#endif  // TORC_RUNTIME_TRANSPORT_TAG_RING_H_
