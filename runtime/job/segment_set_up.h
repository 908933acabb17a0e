// Set-up of shared memory: the ranks of a communicator find those on their host, open its memory,
// and agree on whether all have it, without waiting.
#ifndef TORC_RUNTIME_JOB_SEGMENT_SET_UP_H_
#define TORC_RUNTIME_JOB_SEGMENT_SET_UP_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/job/geometry.h"
#include "runtime/non_copyable.h"
#include "runtime/transport/put/host_segment.h"
#include "support/status.h"

namespace torc::runtime {

/// Collective calls on a geometry's communicator, once in its life: an allgather and a reduction.
/// All ranks create this in the same order among the collective calls there, and advance it until
/// it is done. Afterwards all ranks have their host's memory, or none has.
class SegmentSetUp : NonCopyable {
 public:
  /// `geometry` outlives it. Throws std::bad_alloc, before `start`, which all ranks must call.
  explicit SegmentSetUp(torc_geometry& geometry);

  void start();
  /// Makes progress; true when done: the geometry then has its segment, or not.
  bool advance();
  /// When done. Errors: an MPI error on this rank alone.
  const Status& status() const { return status_; }

  /// Whether a geometry has done its set-up, or needs none.
  static bool isDone(const torc_geometry& geometry);

 private:
  /// Contribution of a rank to the allgather.
  struct Card {
    std::uint64_t host = 0;     // equal on ranks that may share memory
    std::uint64_t version = 0;  // of the memory's layout
    std::uint64_t puts = 0;     // 0: its messages go through MPI
    std::uint64_t address = 0;  // of `number`, in the rank's memory
    std::uint64_t number = 0;
    SegmentFile::Name file;
    MemoryLeft left;  // memory that it may use
  };

  Status open();
  bool mayCopy() const;
  void vote();
  void finish(const Status& status);
  bool areAsked() const;
  void tell(std::span<const std::uint64_t> votes) const;

  torc_geometry& geometry_;
  Card card_;
  std::vector<Card> cards_;
  std::optional<SegmentFile> file_;
  std::shared_ptr<HostSegment> segment_;
  Status fault_;  // why this rank has no memory
  std::array<std::uint64_t, 4> vote_{};
  bool voting_ = false, done_ = false;
  Status status_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_SEGMENT_SET_UP_H_
