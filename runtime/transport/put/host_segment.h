// Host segment: the memory that ranks of one host share for the messages of one communicator.
//
// Every ordered pair of ranks has a region, which the one writes and the other reads. A region is
// cut into lanes. All ranks run the rounds of a lane one after another and in the same order, so
// that a round has a lane's memory for itself: the rounds of one-shot calls, which MPI orders, go
// around the lanes of their track; a persistent collective has a track of its own.
//
// Rounds have names, the same on all ranks. Each rank states for every lane which round it has
// begun and which it has ended: who has ended one has read all that was put for it there. That is
// the credit for writing over it.
//
// The memory is an anonymous file (memfd): it has no name in any file system, nobody but the owner
// of the processes can open it, and it goes with the last process that has it.
#ifndef TORC_RUNTIME_TRANSPORT_PUT_HOST_SEGMENT_H_
#define TORC_RUNTIME_TRANSPORT_PUT_HOST_SEGMENT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/transport/put/copy_choice.h"
#include "support/status.h"

namespace torc::runtime {

/// Lanes that follow one another in the rounds of a call after another.
struct LaneTrack {
  int first_lane = 0;
  int lanes = 0;
  bool operator==(const LaneTrack&) const = default;
};

/// An anonymous file, open in this process.
class SegmentFile {
 public:
  /// How another process of the host finds it.
  struct Name {
    std::int32_t process = 0, descriptor = -1;
    std::uint64_t device = 0, number = 0;
  };

  /// Errors: kUnsupported, the system has none.
  static StatusOr<SegmentFile> make();
  /// One that another process has open. Errors: kUnsupported, it cannot be opened, or is another.
  static StatusOr<SegmentFile> open(const Name& name);
  SegmentFile(SegmentFile&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  SegmentFile& operator=(SegmentFile&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~SegmentFile();

  const Name& name() const { return name_; }

 private:
  SegmentFile() = default;
  Status look();

  Name name_;
};

class HostSegment {
 public:
  static constexpr LaneTrack kOneShotTrack{0, 8};
  static constexpr int kPersistentTracks = 4;
  static constexpr int kLanes = 8 + 2 * kPersistentTracks;
  /// Of persistent collective number `index` < kPersistentTracks.
  static constexpr LaneTrack persistentTrack(int index) { return {8 + 2 * index, 2}; }

  /// What a rank states of its lanes. What others look at seldom is on lines of its own.
  struct alignas(64) Words {
    std::array<std::atomic<std::uint64_t>, kLanes> ended;
    std::array<std::atomic<std::uint64_t>, kLanes> begun;
  };

  /// `file` as memory of `members` ranks, at least 2, seen by member `me`. Errors: kUnsupported,
  /// the system does not give so much.
  static StatusOr<std::unique_ptr<HostSegment>> over(const SegmentFile& file, int members, int me);
  ~HostSegment();
  HostSegment(const HostSegment&) = delete;
  HostSegment& operator=(const HostSegment&) = delete;

  /// The members by their rank in the communicator, and their processes; set once, before messages.
  void setMembers(std::vector<std::int32_t> member_of_rank, std::vector<int> process_of_member);
  /// -1: a rank of another host.
  int memberOf(std::int32_t rank) const { return member_of_rank_[static_cast<std::size_t>(rank)]; }
  int processOf(int member) const { return process_of_member_[static_cast<std::size_t>(member)]; }
  /// An error where a rank is one of this host that has ended.
  Status checkRunning(std::int32_t rank) const;
  /// Whether the members may copy from and to each other's memory; not, until it is set.
  void setCopies(bool copies) { copies_ = copies; }
  bool copies() const { return copies_; }
  /// What `receiver` has told `sender` of its copies: a byte for each of kCopyClasses.
  std::atomic<std::uint8_t>* copyAdvice(int sender, int receiver) const;
  CopyTimes& copyTimes(int sender) { return copy_times_[static_cast<std::size_t>(sender)]; }
  CopyTries& copyTries(int receiver) { return copy_tries_[static_cast<std::size_t>(receiver)]; }
  /// Bytes of the memory that have been written; looks at all of it.
  std::size_t bytesWritten() const;
  int members() const { return members_; }
  int me() const { return me_; }

  /// Bytes that a pair of ranks has in a lane.
  std::size_t laneBytes() const { return lane_bytes_; }
  /// Lane 0 of what `sender` writes for `receiver`; the others are that far behind it.
  std::byte* region(int sender, int receiver) const;
  std::size_t laneOffset(int lane) const { return static_cast<std::size_t>(lane) * lane_stride_; }
  /// The last round of a lane in which `sender` had no room for its messages to `receiver`: behind
  /// what the pair has there.
  std::atomic<std::uint64_t>& leftBeyond(int sender, int receiver, int lane) const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(region(sender, receiver) +
                                                          laneOffset(lane) + lane_bytes_);
  }
  std::atomic<std::uint64_t>& ended(int member, int lane) const {
    return words(member).ended[static_cast<std::size_t>(lane)];
  }
  std::atomic<std::uint64_t>& begun(int member, int lane) const {
    return words(member).begun[static_cast<std::size_t>(lane)];
  }

  /// What this rank knows of a lane.
  struct Lane {
    std::uint64_t tickets = 0, serving = 0;  // of rounds that want it: one has it at a time
    std::uint64_t last = 0;                  // the round that had it
    std::vector<std::uint64_t> ended;        // by member, what its messages have told
    std::vector<std::pair<std::uint64_t, std::uint64_t>> without;  // tickets and rounds
  };
  Lane& lane(int index) { return lanes_[static_cast<std::size_t>(index)]; }
  /// The round that has the lane begins; the name of the one before it.
  std::uint64_t begin(int lane, std::uint64_t round);
  /// And ends; those behind it that ended before they had the lane do, too.
  void end(int lane, std::uint64_t round);
  /// The round with this ticket has ended and never had the lane.
  void endWithout(int lane, std::uint64_t ticket, std::uint64_t round);
  /// Learns which rounds a member has ended in the lanes of a track, which are on one line.
  void lookUp(int member, LaneTrack track);
  /// Rounds of a persistent track that have begun.
  std::uint64_t& roundsOf(LaneTrack track) {
    return rounds_[static_cast<std::size_t>(track.first_lane)];
  }

 private:
  HostSegment(int members, int me);
  Words& words(int member) const { return reinterpret_cast<Words*>(memory_)[member]; }

  int members_, me_;
  std::size_t lane_bytes_ = 0, lane_stride_ = 0, advice_ = 0, regions_ = 0, bytes_ = 0;
  std::byte* memory_ = nullptr;
  bool copies_ = false;
  std::vector<std::int32_t> member_of_rank_;
  std::vector<int> process_of_member_;
  std::vector<Lane> lanes_;
  std::vector<std::uint64_t> rounds_;
  std::vector<CopyTimes> copy_times_;
  std::vector<CopyTries> copy_tries_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_HOST_SEGMENT_H_
