// Setting up shared memory: the ranks of a communicator find who is on their host, open its memory
// and agree on whether all have it. Without waiting.
#ifndef TORC_RUNTIME_JOB_SEGMENT_SET_UP_H_
#define TORC_RUNTIME_JOB_SEGMENT_SET_UP_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <mpi.h>

#include "runtime/job/geometry.h"
#include "runtime/transport/put/host_segment.h"
#include "support/status.h"

namespace torc::runtime {

/// Collective calls on a geometry's communicator, once in its life: an allgather and a reduction.
/// All ranks make it, in the same order among the collective calls there, and advance it until it
/// is done. Afterwards all ranks have their host's memory, or none has.
class SegmentSetUp {
 public:
  /// `geometry` lives until it is done. Throws std::bad_alloc: before `start`, of which no rank may
  /// stay away.
  explicit SegmentSetUp(torc_geometry& geometry);
  SegmentSetUp(const SegmentSetUp&) = delete;
  SegmentSetUp& operator=(const SegmentSetUp&) = delete;

  void start();
  /// Does what can be done now; true when done: the geometry has its segment, or why not.
  bool advance();
  /// Once done. Errors: MPI's, and this rank's alone.
  const Status& status() const { return status_; }

  /// Whether a geometry has had one, or needs none.
  static bool isDone(const torc_geometry& geometry);

 private:
  /// What ranks tell each other.
  struct Card {
    std::uint64_t host = 0;     // ranks with the same may share memory
    std::uint64_t version = 0;  // of what lies there
    std::uint64_t puts = 0;     // 0: its messages go by MPI
    std::uint64_t address = 0;  // of the number below, in the rank's memory
    std::uint64_t number = 0;
    SegmentFile::Name file;
    MemoryLeft left;  // that it may take
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
  Status fault_;  // why this rank has none
  std::array<std::uint64_t, 4> vote_{};
  bool voting_ = false, done_ = false;
  Status status_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_SEGMENT_SET_UP_H_
