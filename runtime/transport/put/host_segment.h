// Host segment: the memory that ranks of one host share for the messages of one communicator: what
// they state of themselves, and regions of pairs (pair_regions.h).
//
// A region is cut into lanes. All ranks run the rounds of a lane one after another and in the same
// order, so that a round has a lane's memory for itself: the rounds of one-shot calls, which MPI
// orders, go around the lanes of their track; a persistent collective has a track of its own.
//
// Rounds have names, the same on all ranks. Each rank states for every lane which round it has
// begun and which it has ended: who has ended one has read all that was put for it there. That is
// the credit for writing over it.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_HOST_SEGMENT_H_
#define TORC_RUNTIME_TRANSPORT_PUT_HOST_SEGMENT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/transport/data_memory.h"
#include "runtime/transport/put/copy_choice.h"
#include "runtime/transport/put/pair_regions.h"
#include "runtime/transport/put/segment_file.h"
#include "support/status.h"

namespace torc::runtime {

class HostSegment {
 public:
  static constexpr LaneTrack kOneShotTrack{0, 0, kMostLanes};
  static constexpr int kPersistentTracks = PairRegions::kTracks - 1;
  static constexpr int kLanes = kMostLanes + 2 * kPersistentTracks;
  /// Of persistent collective number `index` < kPersistentTracks.
  static constexpr LaneTrack persistentTrack(int index) {
    return {index + 1, kMostLanes + 2 * index, 2};
  }

  /// What a rank states of its lanes, and of itself. What others look at seldom is on pairs of
  /// lines of its own, as cores fetch lines.
  struct alignas(128) Words {
    std::array<std::atomic<std::uint64_t>, kLanes> ended;
    std::array<std::atomic<std::uint64_t>, kLanes> begun;
    alignas(128) std::atomic<std::uint64_t> copies_not;  // 1: the system has forbidden it to
  };

  /// Least bytes of a share with which a rank puts.
  static constexpr std::size_t kLeastShare = std::size_t{1} << 20;

  /// `file` as memory of `members` ranks, at least 2, seen by member `me`. Errors: kUnsupported,
  /// the system does not give so much, or `share` has not so much.
  static StatusOr<std::unique_ptr<HostSegment>> over(SegmentFile& file, int members, int me,
                                                     std::shared_ptr<MemoryShare> share);
  HostSegment(const HostSegment&) = delete;
  HostSegment& operator=(const HostSegment&) = delete;

  /// The members by their rank in the communicator, and their processes; set once, before messages.
  void setMembers(std::vector<std::int32_t> member_of_rank, std::vector<int> process_of_member);
  /// -1: a rank of another host.
  int memberOf(std::int32_t rank) const { return member_of_rank_[static_cast<std::size_t>(rank)]; }
  int processOf(int member) const { return regions_.processOf(member); }
  /// An error where a rank is one of this host that has ended.
  Status checkRunning(std::int32_t rank) const;
  /// Whether the members may copy from and to each other's memory; not, until it is set.
  void setCopies(bool copies) { copies_ = copies; }
  bool copiesWith(int member) const {
    const auto may = [](const Words& of) {
      return of.copies_not.load(std::memory_order_relaxed) == 0;
    };
    return copies_ && may(words(me_)) && may(words(member));
  }
  /// The system forbids it to this rank from now on.
  void forbidCopies() { words(me_).copies_not.store(1, std::memory_order_relaxed); }
  CopyTimes& copyTimes(int sender) { return copy_times_[static_cast<std::size_t>(sender)]; }
  CopyTries& copyTries(int receiver) { return copy_tries_[static_cast<std::size_t>(receiver)]; }
  /// For messages that are copied and not to their place.
  DataMemory& copied() { return copied_; }
  /// Bytes that this rank has reserved; those that all state with the first member.
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
    std::uint64_t behind = 0;  // the last of the rounds next behind it, which have ended; 0: none
    Turn *before = nullptr, *after = nullptr;
  };
  /// What this rank knows of a lane.
  struct Lane {
    Turn *first = nullptr, *last = nullptr;  // rounds that want it: the first has it
    std::uint64_t previous = 0;              // the round that had it
    std::vector<std::uint64_t> ended;        // by member, what its messages have told
  };
  Lane& lane(int index) { return lanes_[static_cast<std::size_t>(index)]; }
  /// A round wants a lane, behind all that do; `turn` stays where it is until it ends.
  void queue(int lane, Turn& turn);
  /// The round that has the lane begins; the name of the one before it.
  std::uint64_t begin(int lane, std::uint64_t round);
  /// A round ends, whether it had the lane or not: then so when those before it have ended.
  void end(int lane, Turn& turn);
  /// Learns which rounds a member has ended in the lanes of a track, which are on one line.
  void lookUp(int member, LaneTrack track);
  /// Rounds of a persistent track that have begun.
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
