// Call: the arguments of a collective, checked and brought into one form for all kinds.
#ifndef TORC_RUNTIME_EXECUTION_CALL_H_
#define TORC_RUNTIME_EXECUTION_CALL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/execution/mpi_reduction.h"
#include "runtime/job/rank_map.h"
#include "schedules/expansion/expand.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc {

/// Arguments as the caller gave them; those that a kind lacks stay null.
struct CallArguments {
  const char* function = "";  // of the C API
  Collective collective = Collective::kAllreduce;
  const void* in = nullptr;
  void* out = nullptr;
  std::int64_t count = 0;
  bool has_counts = false;  // per-rank counts instead of `count`
  const std::int64_t* counts = nullptr;
  bool has_displacements = false;
  const std::int64_t* displacements = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  Keep keep_type = Keep::kDuplicate;
  bool null_is_bottom = false;  // a null buffer is MPI_BOTTOM, not a mistake
  // allgather: what the caller's own block is, in `in`.
  std::int64_t in_count = 0;
  MPI_Datatype in_type = MPI_DATATYPE_NULL;
};

/// A call that the runtime can expand; lists by rank of the communicator.
struct Call {
  ElementType type;
  bool in_place = false;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> per_rank;       // empty: `count` for all
  std::vector<std::uint64_t> displacements;  // empty: blocks follow one another
  std::int64_t first_displacement = 0;       // elements from `out` to displacement 0

  /// Refers to this object.
  Counts counts() const { return {count, per_rank, displacements}; }
  /// Equal on ranks that pass the same counts: the count itself, or a hash of them.
  std::uint64_t countsFingerprint() const;
  /// The call as the schedule sees it: lists by rank of the schedule, `ranks` of them. Blocks that
  /// follow one another by rank of the communicator need displacements.
  Call bySchedule(const RankMap& map, int ranks, Layout layout) const;
};

/// Checks what does not need buffers: counts, datatypes. `call` is overwritten and may be one used
/// before: its lists' memory serves again.
Status checkCounts(const CallArguments& arguments, const ScheduleView& schedule, int rank,
                   TypeTable& types, Call& call);

/// Elements of the caller's buffers, as the call's program has them.
struct BufferElements {
  std::uint64_t in = 0, out = 0;
};

/// Checks the buffers of a call: not null where elements are.
Status checkBuffers(const CallArguments& arguments, const Call& call,
                    const BufferElements& elements);
/// Checks that `in` is apart from `out` unless the call is in place.
Status checkOverlap(const CallArguments& arguments, const Call& call,
                    const BufferElements& elements);

}  // namespace torc

#endif  // TORC_RUNTIME_EXECUTION_CALL_H_
