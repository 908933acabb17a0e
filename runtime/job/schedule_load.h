// Loads a schedule of a library, on first use, without waiting: rank 0 of the communicator reads
// and broadcasts the file, all ranks check it, and agree on the result.
#ifndef TORC_RUNTIME_JOB_SCHEDULE_LOAD_H_
#define TORC_RUNTIME_JOB_SCHEDULE_LOAD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/job/bound_schedule.h"
#include "runtime/job/geometry.h"
#include "runtime/job/library.h"
#include "runtime/job/segment_set_up.h"
#include "runtime/non_copyable.h"
#include "schedules/library/index.h"
#include "support/status.h"

namespace torc::runtime {

/// One load on a geometry's communicator. All its ranks create it in the same order among the
/// collective calls on that communicator, and advance it until it is done. If their entries differ,
/// it fails on all. Until then no second load or other collective may use the communicator, as the
/// load makes collective calls of its own. Messages, and loads on other communicators, are allowed.
/// It costs one small reduction if every rank has the file, and otherwise a broadcast and another
/// reduction.
///
/// `advance` does not wait for other ranks; rank 0 reads the file in it.
class ScheduleLoad : NonCopyable {
 public:
  /// Starts the load. `library`, and `geometry`, which comes from recognition of that library,
  /// outlive the load; `entry` is in the library's index.
  ScheduleLoad(torc_library& library, torc_geometry& geometry, const LibraryEntry& entry);
  /// Precondition: the load is done.
  ~ScheduleLoad();

  /// Makes progress; true when done.
  bool advance();
  bool done() const { return step_ == Step::kDone; }
  /// When done: whether the ranks asked for different entries, the same on all ranks.
  bool entriesDiffer() const { return entries_differ_; }
  /// When done: the lowest file that a rank has asked for, and its collective, the same on all
  /// ranks.
  std::uint32_t lowestFile() const { return static_cast<std::uint32_t>(lowest_ >> 8); }
  Collective lowestCollective() const { return static_cast<Collective>(lowest_ & 0xff); }

  /// When done, once: the schedule, which belongs to the geometry and is deleted by
  /// torc_schedule_free; or the error, with the same code and text on all ranks. kIo, kMalformed,
  /// kMismatch: the file is wrong, or entries differ; kNoMemory: a rank has no room left;
  /// kTransport: an MPI error on this rank alone.
  StatusOr<torc_schedule*> take();

 private:
  enum class Step {
    kAsk,      // which rank lacks the file, and has one failed?
    kFile,     // rank 0 sends it
    kOutcome,  // has a rank failed?
    kSegment,  // for the first schedule: does the host have shared memory for its messages?
    kDone,
  };

  std::string path() const;

  bool isOver();
  void proceed();
  void sendFile();
  void conclude();
  void finish(const Status& status);

  Status read();
  Status check();
  Status serves(const ScheduleView& view) const;
  Status bind();

  torc_library& library_;
  torc_geometry& geometry_;
  const LibraryEntry& entry_;
  const LibraryFile& file_;
  Step step_ = Step::kAsk;

  Status mine_;                 // of this rank, so far
  Status result_;               // of all
  bool held_ = false;           // on this rank, before the load
  std::uint64_t reserved_ = 0;  // in the cache
  bool entries_differ_ = false;
  std::uint64_t lowest_ = 0;              // lowest entry that a rank has asked for
  std::int64_t began_ = 0;                // for the trace
  std::unique_ptr<std::byte[]> message_;  // the file, and behind it whether rank 0 could read it
  std::shared_ptr<const LoadedSchedule> schedule_;
  std::unique_ptr<torc_schedule> bound_;
  std::optional<SegmentSetUp> segment_;
};

/// Loads the schedule of `entry` on all ranks of a geometry from recognition, and waits for it;
/// collectives in the geometry's context progress meanwhile. Errors: as `take`.
StatusOr<torc_schedule*> loadNow(torc_geometry& geometry, const LibraryEntry& entry);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_SCHEDULE_LOAD_H_
