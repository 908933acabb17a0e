// Library: the index of an opened schedule library on every rank, the positions of the job's ranks
// on one of its partitions, and the schedules read so far.
//
// Rank 0 reads, and broadcasts the bytes. All ranks have the same data, so that each rank alone
// makes the same later decisions: the sub-torus of a communicator, the schedule file of a call. The
// only list with an entry per rank is the job's mapping, if there is a mapping file.
#ifndef TORC_RUNTIME_JOB_LIBRARY_H_
#define TORC_RUNTIME_JOB_LIBRARY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/job/call_arguments.h"
#include "runtime/job/geometry.h"
#include "runtime/job/rank_map.h"
#include "runtime/job/reason.h"
#include "runtime/job/schedule_cache.h"
#include "runtime/non_copyable.h"
#include "schedules/library/index.h"
#include "schedules/library/job_mapping.h"
#include "support/status.h"

namespace torc::runtime {

inline constexpr std::uint64_t kDefaultScheduleMemory = std::uint64_t{256} << 20;  // bytes

/// Settings of a job for its library. The same on all ranks; empty: not set.
struct LibraryOptions : PlacementOptions {
  std::string directory;
  std::uint64_t memory_limit = kDefaultScheduleMemory;  // bytes of schedules kept per rank
};

/// The relation of a communicator to a library. The same on all its ranks.
struct Recognition {
  Reason why = Reason::kNoSubTorus;  // reason why it has no schedules; kServed: it has some
  std::string reason{};              // for users; empty if recognised

  std::uint32_t sub_torus = 0;  // of the index
  std::uint32_t shape = 0;      // its schedules are for this shape
  Topology topology{};          // the shape, with the order of ranks that makes `map` simplest
  RankMap map{};                // ranks of the communicator to those of `topology`
  bool in_order = false;        // the communicator's ranks are in the order of the schedules

  bool ok() const { return why == Reason::kServed; }
  /// Differs if sub-tori, orders or maps differ.
  std::uint64_t fingerprint() const;
};

}  // namespace torc::runtime

struct torc_library : torc::runtime::NonCopyable {
  explicit torc_library(torc_context* owner) : context(owner) { ++context->libraries; }
  ~torc_library();

  /// Collective over `world`, which has every rank of the job; all get the same result. Errors:
  /// kMismatch: ranks disagree, stale index, another machine, no such partition; kMalformed:
  /// incomplete index or mapping; kIo. An error of the caller, `mine`, fails it on all ranks.
  /// Collectives under way in `context` progress meanwhile.
  static torc::StatusOr<std::unique_ptr<torc_library>> open(
      torc_context* context, MPI_Comm world, const torc::runtime::LibraryOptions& options,
      const torc::Status& mine = {});

  /// Local: the sub-torus of the partition that the members of `comm`, an intracommunicator, form.
  torc::runtime::Recognition recognise(MPI_Comm comm) const;

  /// Local: the schedule for a call on a recognised communicator; nullptr without one. `bytes`: of
  /// the whole vector. A call without data counts as one of a byte, so that it has a schedule if
  /// others have one. `is_ordered`: for a non-commutative operation. For pairs with lists it
  /// ignores `bytes` and returns the schedule kept for such calls: ranks that know different sizes
  /// choose alike. Likewise for a non-commutative operation: a schedule of ordered sums, one for
  /// all sizes.
  const torc::LibraryEntry* choose(std::uint32_t shape, const torc::runtime::CallArguments& call,
                                   std::uint64_t bytes, bool is_ordered) const {
    const std::uint64_t size = call.hasPairLists() ? torc::kNoSize : bytes > 0 ? bytes : 1;
    if (!is_ordered) return index.findEntry(shape, call.collective, size);
    const torc::Collective collective =
        torc::rowOf(call.collective).ordered.value_or(call.collective);
    const torc::LibraryEntry* entry = index.findEntry(shape, collective, torc::kNoSize);
    return entry != nullptr && entry->highest == torc::kNoSize ? entry : nullptr;
  }

  torc_context* context;
  torc::runtime::LibraryOptions options;
  torc::LibraryIndex index;
  torc::JobMapping job;
  torc::runtime::HostRanks hosts;  // of all ranks of the job
  torc::runtime::ScheduleCache cache{torc::runtime::kDefaultScheduleMemory};
  MPI_Group world = MPI_GROUP_NULL;
  int geometries = 0;  // number made from it

  // Zero-terminated texts for the C API.
  std::string torus, order;
  std::vector<std::string> shapes;
};

#endif  // TORC_RUNTIME_JOB_LIBRARY_H_
