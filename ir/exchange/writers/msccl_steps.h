// The thread blocks of one rank, in the form of MSCCL programs.
#ifndef TORC_IR_EXCHANGE_WRITERS_MSCCL_STEPS_H_
#define TORC_IR_EXCHANGE_WRITERS_MSCCL_STEPS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"
#include "schedules/expansion/expand.h"

namespace torc::ir {

/// The other end of a message: its program and its operation.
struct OtherEnd {
  const FlatProgram* program = nullptr;
  const FlatOperation* operation = nullptr;
};

/// Channels of a rank: the largest number of streams with messages from it to one peer, or from a
/// peer to it; at least 1.
std::uint64_t channelsOf(const FlatProgram& program);

/// The thread blocks of a program whose regions `chunk` elements divide. `otherEnd` finds the other
/// end of a message of more than one chunk; its errors are returned, and its earlier results may
/// become invalid.
llvm::Expected<std::vector<ThreadBlock>> blocksOf(
    const FlatProgram& program, std::uint64_t chunk,
    llvm::function_ref<llvm::Expected<OtherEnd>(const FlatOperation& message)> otherEnd);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_WRITERS_MSCCL_STEPS_H_
