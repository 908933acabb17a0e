// Message fragments: places where both ends cut a message, without communication.
#ifndef TORC_RUNTIME_EXECUTION_MESSAGE_FRAGMENTS_H_
#define TORC_RUNTIME_EXECUTION_MESSAGE_FRAGMENTS_H_

#include <cstddef>

#include "runtime/execution/executor.h"
#include "schedules/expansion/expand.h"
#include "schedules/schedule.h"
#include "support/status.h"

namespace torc::runtime {

/// Cuts the messages of `program` = expand(schedule, program.rank, counts, in_place), whose peers
/// are ranks of the schedule, into their blocks, if these have `least_bytes` each on average. In
/// reduce_scatter and allgather the blocks of a message are not contiguous: sent one by one they
/// need not be packed.
StatusOr<MessageFragments> cutMessages(const ScheduleView& schedule, const FlatProgram& program,
                                       const Counts& counts, bool in_place,
                                       std::size_t element_bytes, std::size_t least_bytes);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_EXECUTION_MESSAGE_FRAGMENTS_H_
