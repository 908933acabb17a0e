// Converts the C API's calls without buffers to the runtime's arguments.
#ifndef TORC_RUNTIME_COLLECTIVES_CALL_API_H_
#define TORC_RUNTIME_COLLECTIVES_CALL_API_H_

#include "runtime/api/torc.h"
#include "runtime/job/call_arguments.h"
#include "schedules/collective.h"
#include "support/message.h"
#include "support/status.h"

namespace torc::runtime {

/// On a torus with `axes` axes, without buffers. Error: an undefined kind.
inline StatusOr<CallArguments> argumentsOf(const torc_call& call, std::uint64_t axes) {
  if (call.kind < 0 || call.kind >= kCollectiveCount) {
    return Status(StatusCode::kInvalidArgument,
                  message("kind ", static_cast<int>(call.kind), " does not exist"));
  }
  CallArguments arguments;
  arguments.collective = static_cast<Collective>(call.kind);
  arguments.has_buffers = false;
  arguments.count = call.count;
  arguments.has_counts =
      call.counts != nullptr && rowOf(arguments.collective).counts == CountOf::kBlock;
  arguments.counts = call.counts;
  if (rowOf(arguments.collective).isOfNeighbours() && !arguments.has_counts) {
    arguments.has_counts = true;
    arguments.counts = NumberList::repeated(call.count);
  }
  arguments.type = call.datatype;
  arguments.op = call.op;
  arguments.neighbours = static_cast<int>(2 * axes);
  return arguments;
}

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_CALL_API_H_
