// Host segment: shared memory of the ranks of one host for the messages of one communicator: their
// lane states, and regions of pairs (pair_regions.h).
//
// A region is divided into lanes. All ranks run the rounds of a lane one after another and in the
// same order, so that a round has a lane's memory for itself. The rounds of one-shot calls, which
// MPI orders, use the lanes of their track cyclically; a persistent collective has its own track.
//
// Rounds have names, the same on all ranks. Each rank publishes for every lane the round that it
// has begun and the one that it has ended. A rank that has ended a round has read all messages to
// it there, so that they may be overwritten.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_HOST_SEGMENT_H_
#define TORC_RUNTIME_TRANSPORT_PUT_HOST_SEGMENT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/non_copyable.h"
#include "runtime/transport/data_memory.h"
#include "runtime/transport/put/copy_choice.h"
#include "runtime/transport/put/pair_regions.h"
#include "runtime/transport/put/segment_file.h"
#include "support/status.h"

namespace torc::runtime {

class HostSegment : NonCopyable {
 public:
  static constexpr LaneTrack kOneShotTrack{0, 0, kMostLanes};
  static constexpr int kPersistentTracks = PairRegions::kTracks - 1;
  static constexpr int kLanes = kMostLanes + 2 * kPersistentTracks;
  /// Track of persistent collective number `index` < kPersistentTracks.
  static constexpr LaneTrack persistentTrack(int index) {
    return {index + 1, kMostLanes + 2 * index, 2};
  }

  /// Published state of a rank and its lanes. Rarely read words are on separate pairs of cache
  /// lines, as cores fetch pairs.
  struct alignas(128) Words {
    std::array<std::atomic<std::uint64_t>, kLanes> ended;
    std::array<std::atomic<std::uint64_t>, kLanes> begun;
    alignas(128) std::atomic<std::uint64_t> copies_not;  // 1: the system has forbidden copies to
                                                         // this rank
  };

  /// Minimal bytes of a rank's share to use this transport.
  static constexpr std::size_t kLeastShare = std::size_t{1} << 20;

  /// Maps `file` as memory of `members` ranks, at least 2, for member `me`. Errors: kUnsupported,
  /// the system or `share` has too little memory.
  static StatusOr<std::unique_ptr<HostSegment>> over(SegmentFile& file, int members, int me,
                                                     std::shared_ptr<MemoryShare> share);

  /// Sets the members by their rank in the communicator, and their processes; once, before
  /// messages.
  void setMembers(std::vector<std::int32_t> member_of_rank, std::vector<int> process_of_member);
  /// -1: a rank of another host.
  int memberOf(std::int32_t rank) const { return member_of_rank_[static_cast<std::size_t>(rank)]; }
  int processOf(int member) const { return regions_.processOf(member); }
  /// An error if a rank of this host has ended.
  Status checkRunning(std::int32_t rank) const;
  /// Whether the members may copy between each other's memory; initially not.
  void setCopies(bool copies) { copies_ = copies; }
  bool copiesWith(int member) const {
    const auto may = [](const Words& of) {
      return of.copies_not.load(std::memory_order_relaxed) == 0;
    };
    return copies_ && may(words(me_)) && may(words(member));
  }
  /// The system forbids copies to this rank from now on.
  void forbidCopies() { words(me_).copies_not.store(1, std::memory_order_relaxed); }
  CopyTimes& copyTimes(int sender) { return copy_times_[static_cast<std::size_t>(sender)]; }
  CopyTries& copyTries(int receiver) { return copy_tries_[static_cast<std::size_t>(receiver)]; }
  /// Buffer for copied messages whose place is not contiguous.
  DataMemory& copied() { return copied_; }
  /// Bytes that this rank has reserved; the segment itself counts for the first member.
  std::size_t bytesReserved() const {
    return regions_.bytesReserved() + (me_ == 0 ? memory_.bytes() : 0);
  }
  int members() const { return members_; }
  int me() const { return me_; }
  PairRegions& regions() { return regions_; }

  std::atomic<std::uint64_t>& ended(int member, int lane) const {
    return words(member).ended[static_cast<std::size_t>(lane)];
  }
  std::atomic<std::uint64_t>& begun(int member, int lane) const {
    return words(member).begun[static_cast<std::size_t>(lane)];
  }

  /// A round's place in the queue for its lane.
  struct Turn {
    std::uint64_t round = 0;
    std::uint64_t behind = 0;  // the last of the ended rounds directly behind it; 0: none
    Turn *before = nullptr, *after = nullptr;
  };
  /// This rank's state of a lane.
  struct Lane {
    Turn *first = nullptr, *last = nullptr;  // rounds that want it: the first has it
    std::uint64_t previous = 0;              // the round that had it before
    std::vector<std::uint64_t> ended;        // by member, from the headers of its messages
  };
  Lane& lane(int index) { return lanes_[static_cast<std::size_t>(index)]; }
  /// Appends a round to a lane's queue; `turn` must stay valid until the round ends.
  void queue(int lane, Turn& turn);
  /// Begins the round that has the lane; returns the name of the one before it.
  std::uint64_t begin(int lane, std::uint64_t round);
  /// Ends a round, whether it had the lane or not: without the lane the end is published once those
  /// before it have ended.
  void end(int lane, Turn& turn);
  /// Reads the rounds that a member has ended in the lanes of a track, which share a cache line.
  void lookUp(int member, LaneTrack track);
  /// Number of rounds of a persistent track that have begun.
  std::uint64_t& roundsOf(LaneTrack track) {
    return rounds_[static_cast<std::size_t>(track.first_lane)];
  }

 private:
  HostSegment(MappedMemory memory, int members, int me, std::uint64_t device,
              std::shared_ptr<MemoryShare> share);
  Words& words(int member) const { return reinterpret_cast<Words*>(memory_.data())[member]; }

  MappedMemory memory_;  // words of all members, then the table of regions
  int members_, me_;
  PairRegions regions_;
  bool copies_ = false;
  std::vector<std::int32_t> member_of_rank_;
  std::vector<Lane> lanes_;
  std::vector<std::uint64_t> rounds_;
  std::vector<CopyTimes> copy_times_;
  std::vector<CopyTries> copy_tries_;
  DataMemory copied_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_HOST_SEGMENT_H_
