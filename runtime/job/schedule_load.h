// Loading a schedule of a library, on first use, without waiting: rank 0 of the communicator reads
// the file, the others get it by broadcast, all check it, and all come to the same result.
#ifndef TORC_RUNTIME_JOB_SCHEDULE_LOAD_H_
#define TORC_RUNTIME_JOB_SCHEDULE_LOAD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <mpi.h>

#include "runtime/job/bound_schedule.h"
#include "runtime/job/geometry.h"
#include "runtime/job/library.h"
#include "runtime/job/segment_set_up.h"
#include "schedules/library/index.h"
#include "support/status.h"

namespace torc::runtime {

/// One load on a geometry's communicator. All its ranks make it for the same entry (else it fails
/// on all), in the same order among the collective calls on that communicator, and advance it until
/// it is done. Until then it makes collective calls of its own there, so that nothing else may:
/// neither a second load nor another collective call. Messages, and loads on other communicators,
/// go on. It costs one small reduction where every rank holds the file, and otherwise a broadcast
/// and another reduction.
///
/// `advance` waits for nobody; rank 0 reads the file inside it.
class ScheduleLoad {
 public:
  /// Starts. `library` and `geometry`, which was made by recognition of that library, live until
  /// the load is done; `entry` is one of the library's index.
  ScheduleLoad(torc_library& library, torc_geometry& geometry, const LibraryEntry& entry);
  ScheduleLoad(const ScheduleLoad&) = delete;
  ScheduleLoad& operator=(const ScheduleLoad&) = delete;
  /// Only a load that is done may go.
  ~ScheduleLoad();

  /// Does what can be done now; true when done.
  bool advance();
  bool done() const { return step_ == Step::kDone; }
  /// Once done: whether it was made for different entries, which all ranks find alike.
  bool entriesDiffer() const { return entries_differ_; }
  /// Once done: the lowest of the files that ranks have asked for, which all ranks find alike, and
  /// for which collective that is.
  std::uint32_t lowestFile() const { return static_cast<std::uint32_t>(lowest_ >> 8); }
  Collective lowestCollective() const { return static_cast<Collective>(lowest_ & 0xff); }

  /// Once done, once: the schedule, which belongs to the geometry, to be deleted by
  /// torc_schedule_free; or the error, whose code and text are the same on all ranks. kIo,
  /// kMalformed, kMismatch: the file, or that entries differ; kNoMemory: a rank has no room left;
  /// kTransport: MPI's, and this rank's alone.
  StatusOr<torc_schedule*> take();

 private:
  enum class Step {
    kAsk,      // which rank lacks the file, and did one fail?
    kFile,     // rank 0 sends it
    kOutcome,  // did a rank fail?
    kSegment,  // the first that is loaded: does the host have shared memory for its messages?
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
  bool held_ = false;           // by this rank, before the load
  std::uint64_t reserved_ = 0;  // of the cache
  bool entries_differ_ = false;
  std::uint64_t lowest_ = 0;              // entry that a rank has asked for
  std::int64_t began_ = 0;                // for the trace
  std::unique_ptr<std::byte[]> message_;  // the file, and behind it whether rank 0 could read it
  std::shared_ptr<const LoadedSchedule> schedule_;
  std::unique_ptr<torc_schedule> bound_;
  std::optional<SegmentSetUp> segment_;
};

/// Loads the schedule of `entry` on all ranks of a geometry that was made by recognition, and waits
/// for it; collectives that are under way in the geometry's context go on. Errors: as `take`.
StatusOr<torc_schedule*> loadNow(torc_geometry& geometry, const LibraryEntry& entry);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_SCHEDULE_LOAD_H_
