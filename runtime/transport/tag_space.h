// Tag space: message tags of one-shot calls, without communication.
//
// Every rank finds the tags of a call by a hash of what the call is: the how-many-th call of its
// function on the communicator, and what MPI demands to be the same on all ranks. So ranks whose
// calls differ send nothing that the others' calls could take for theirs; and what comes after such
// calls, or after one that MPI has refused on some ranks, has the same tags on all ranks again.
//
// Tags of two calls may be the same. Why that is safe: let calls A and B, A earlier, both use tag t
// between ranks p and q. On each rank B starts only when A is complete there (`ready`): what A
// sends from p with t has been handed to MPI before what B sends, and every receive of A with t on
// q has its message before one of B is posted. MPI matches messages of one pair and tag in order,
// and in each call the sends with t from p to q are as many as the receives: so A's receives get
// A's messages, and B's those of B, however far p is ahead of q. Of a call that has failed a
// message may be left that nobody receives: a later call on the same pair of ranks meets it with a
// probability of its tags over those of the space.
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
  std::uint64_t call = 0;  // the hash that names it
};

class TagSpace {
 public:
  /// Tags `first` to `first` + size - 1.
  TagSpace(int first, std::uint32_t size) : first_(first), size_(size) {}

  /// The hash of a call that is the `number`-th of its function. `signature`: a hash of the
  /// function, and of all else that must be the same on all ranks. Its lowest bits are those of the
  /// number: calls of a function that follow one another differ in them.
  static std::uint64_t hashOf(std::uint64_t signature, std::uint64_t number) {
    std::uint64_t hash = signature + number * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
    return (hash & ~kNumberBits) | (number & kNumberBits);
  }

  /// Whether a call with so many tags has room.
  bool hasRoom(std::uint32_t count) const { return count <= size_; }

  /// The tags of a call that has room.
  TagRange rangeOf(std::uint64_t call, std::uint32_t count) const {
    const std::uint64_t places = std::uint64_t{size_} - count + 1;
    return {first_ + static_cast<int>((call >> 32) * places >> 32), count, call};
  }

  /// Whether no call has tags of `range`. Where one has, the new call waits with its start.
  bool ready(const TagRange& range) const;
  /// A call with these tags starts.
  void hold(const TagRange& range) { held_.push_back(range); }
  /// It is complete on this rank.
  void release(const TagRange& range);

  static constexpr std::uint64_t kNumberBits = 7;

  std::uint32_t size() const { return size_; }
  /// Ranges that are held.
  std::size_t held() const { return held_.size(); }

 private:
  int first_;
  std::uint32_t size_;
  std::vector<TagRange> held_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_TAG_SPACE_H_
