// Pair regions: the memory of ordered pairs of ranks: one writes, the other reads.
//
// A pair gets a region of a size when its first plan needs that size. Its sender creates it,
// together with others for the same plan, in one file; it reserves and maps the memory, and offers
// it to the receiver in a table that all ranks have. The receiver maps it when it needs a message
// from there, and accepts or refuses. Then the sender closes the file. No message uses a region
// before it is accepted. If either end cannot have it, the region is refused for the communicator's
// life: both ends know, and another transport sends its messages.
//
// A region is divided into the lanes of one track (host_segment.h).
#ifndef TORC_RUNTIME_TRANSPORT_PUT_PAIR_REGIONS_H_
#define TORC_RUNTIME_TRANSPORT_PUT_PAIR_REGIONS_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/non_copyable.h"
#include "runtime/transport/put/copy_choice.h"
#include "runtime/transport/put/segment_file.h"
#include "support/status.h"

namespace torc::runtime {

/// Lanes that consecutive calls use in turn.
struct LaneTrack {
  int index = 0;
  int first_lane = 0;
  int lanes = 0;
  bool operator==(const LaneTrack&) const = default;
};
inline constexpr int kMostLanes = 8;  // of a track

/// At the beginning of a region.
struct RegionHeader {
  /// The receiver's advice on copies to the sender: a byte for each class.
  std::array<std::atomic<std::uint8_t>, kCopyClasses> advice;
  /// By lane: the last round in which the sender had no room for its messages. In regions of the
  /// smallest size.
  std::array<std::atomic<std::uint64_t>, kMostLanes> left_beyond;
};
static_assert(sizeof(RegionHeader) == 128);

class PairRegions : NonCopyable {
 public:
  /// Bytes of a pair in a lane. From the third on they hold four cells of 1, 4 and 16 KiB, and so
  /// on, with their headers.
  static constexpr std::array<std::size_t, 6> kRooms{1024,  4608,   17408,
                                                     66048, 263168, std::size_t{1} << 20};
  static constexpr int kTracks = 5;
  static constexpr int kKinds = kTracks * static_cast<int>(kRooms.size());

  /// Key of a region: for messages of a track that need at most so much room.
  struct Kind {
    int track = 0, room = 0;
    int index() const { return track * static_cast<int>(kRooms.size()) + room; }
  };

  /// Bytes of the table for `members` ranks.
  static std::size_t tableBytes(int members) {
    return static_cast<std::size_t>(members) * static_cast<std::size_t>(members) * sizeof(Word);
  }
  /// `table`: shared by all members, initially zero. `device`: of all segment files.
  PairRegions(std::byte* table, int members, int me, std::uint64_t device,
              std::shared_ptr<MemoryShare> share);
  ~PairRegions();

  /// Called once, before all other functions.
  void setProcesses(std::vector<int> processes) { processes_ = std::move(processes); }
  int processOf(int member) const { return processes_[static_cast<std::size_t>(member)]; }

  /// Maximal bytes of a pair's messages in a lane.
  std::size_t mostRoom() const { return most_room_; }
  /// The smallest room for so many bytes.
  static int roomFor(std::size_t bytes) {
    return static_cast<int>(std::ranges::lower_bound(kRooms, bytes) - kRooms.begin());
  }
  /// Distance between the lanes of a region.
  std::size_t laneStride(int room) const;

  /// Requests a region for messages of a kind to or from a member. Allocates.
  void want(int member, bool sending, Kind kind);
  /// Creates the requested regions that this rank writes. Allocates.
  void makeWanted();

  enum class State : std::uint8_t { kOpen, kUp, kDown };
  /// The state of a requested region, as far as this rank knows; asks the other end until both
  /// know.
  State look(int member, bool sending, Kind kind);
  /// Answers the offer of a member from which this rank has requested a region.
  void answer(int member);
  /// Null: this rank does not have it.
  RegionHeader* region(int member, bool sending, Kind kind) const;

  /// Bytes that this rank has reserved.
  std::size_t bytesReserved() const;

 private:
  /// State shared by the ends of a pair. Masks are of kinds.
  struct alignas(32) Word {
    std::atomic<std::uint32_t>
        offered;  // by the sender: a kind, from 1 on; the next three locate it
    std::int32_t descriptor;
    std::uint64_t number;
    std::uint32_t page;
    std::atomic<std::uint32_t> failed;    // by the sender: no memory
    std::atomic<std::uint32_t> accepted;  // by the receiver
    std::atomic<std::uint32_t> refused;   // by the receiver
  };
  static_assert(kKinds <= 32);

  /// This rank's end of one direction of a pair.
  struct Side {
    std::uint32_t up = 0, down = 0;
    std::uint32_t unoffered = 0;  // created, and not offered yet
    std::array<std::byte*, kKinds> memory{};
    std::array<std::uint32_t, kKinds> made{};  // for a sender: index in made_
  };
  /// Regions that were created together.
  struct Made {
    SegmentFile file;
    MappedMemory memory;
    int unanswered = 0;
  };

  static std::uint32_t bitOf(int kind) { return std::uint32_t{1} << kind; }
  std::size_t bytesOf(int kind) const;
  Word& wordOf(int sender, int receiver) const {
    return reinterpret_cast<Word*>(table_)[receiver * members_ + sender];
  }
  Side* sideOf(int member, bool sending) const {
    return sides_[static_cast<std::size_t>(sending ? members_ + member : member)].get();
  }
  Status make();
  void offer(Side& side, Word& word);
  Status accept(Side& side, const Word& word, int sender, int kind);

  std::byte* table_;
  int members_, me_;
  std::uint64_t device_;
  std::size_t most_room_;
  std::shared_ptr<MemoryShare> share_;
  std::vector<int> processes_;
  std::vector<std::unique_ptr<Side>> sides_;  // receiving ones by member, then sending ones
  std::vector<std::pair<int, int>> wanted_;   // members and kinds
  std::vector<Made> made_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_PUT_PAIR_REGIONS_H_
