// Tag space: message tags of one-shot calls, without communication.
//
// Every rank computes the tags of a call from a hash: of its ordinal among the calls of its
// function on the communicator, and of the values that MPI requires to be the same on all ranks. So
// ranks with different calls send no messages that match. Later calls have the same tags on all
// ranks again, also after a call that MPI has refused on some ranks.
//
// Two calls may share tags. This is safe: let calls A and B, A earlier, both use tag t between
// ranks p and q. On each rank B starts only when A is complete there (`ready`). So A's sends from p
// with t precede B's, and every receive of A with t on q has its message before one of B is posted.
// MPI matches messages of one pair and tag in order, and each call has as many receives as sends
// with t from p to q. So A's receives get A's messages, and B's those of B, however far p is ahead
// of q. A failed call may leave a message without a receive: a later call between the two ranks
// matches it with a probability of its number of tags over that of the space.
#ifndef TORC_RUNTIME_TRANSPORT_TAG_SPACE_H_
#define TORC_RUNTIME_TRANSPORT_TAG_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/status.h"

namespace torc::runtime {

/// The tags of one call: `base` to `base` + count - 1.
struct TagRange {
  int base = 0;
  std::uint32_t count = 0;
  std::uint64_t call = 0;  // hash of the call
};

class TagSpace {
 public:
  /// Tags `first` to `first` + size - 1.
  TagSpace(int first, std::uint32_t size) : first_(first), size_(size) {}

  /// The hash of a call that is the `number`-th of its function. `signature`: a hash of the
  /// function, and of all other values that must be the same on all ranks. Its lowest bits come
  /// from the number: consecutive calls of a function differ in them.
  static std::uint64_t hashOf(std::uint64_t signature, std::uint64_t number) {
    std::uint64_t hash = signature + number * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
    return (hash & ~kNumberBits) | (number & kNumberBits);
  }

  /// Whether a call can have so many tags.
  bool hasRoom(std::uint32_t count) const { return count <= size_; }

  /// The tags of a call with `count` tags; precondition: hasRoom.
  TagRange rangeOf(std::uint64_t call, std::uint32_t count) const {
    const std::uint64_t places = std::uint64_t{size_} - count + 1;
    return {first_ + static_cast<int>((call >> 32) * places >> 32), count, call};
  }

  /// Whether no active call has tags of `range`. If one has, the new call must wait.
  bool ready(const TagRange& range) const;
  /// A call with these tags starts.
  void hold(const TagRange& range) { held_.push_back(range); }
  /// The call is complete on this rank.
  void release(const TagRange& range);

  static constexpr std::uint64_t kNumberBits = 7;

  std::uint32_t size() const { return size_; }
  /// Number of ranges of active calls.
  std::size_t held() const { return held_.size(); }

 private:
  int first_;
  std::uint32_t size_;
  std::vector<TagRange> held_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_TAG_SPACE_H_
