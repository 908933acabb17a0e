// Allgather by exchanges of gathered blocks in growing groups.
#ifndef TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_ALLGATHER_H_
#define TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_ALLGATHER_H_

#include <cstdint>

#include "compiler/spec/collective_spec.h"
#include "schedules/schedule.h"

namespace torc::compiler {

/// At most `most_messages` per node and round, except for prime factors up to 7. For undamaged
/// tori.
Schedule recursiveAllgather(const CollectiveSpec& spec, std::uint32_t most_messages);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_RECURSIVE_RECURSIVE_ALLGATHER_H_
