// The thread blocks of one rank, as MSCCL programs have them.
#ifndef TORC_IR_EXCHANGE_WRITERS_MSCCL_STEPS_H_
#define TORC_IR_EXCHANGE_WRITERS_MSCCL_STEPS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"
#include "schedules/expansion/expand.h"

namespace torc::ir {

/// What moves at the other end of a message: the program there, and the operation.
struct OtherEnd {
  const FlatProgram* program = nullptr;
  const FlatOperation* operation = nullptr;
};

/// Channels of a rank: as many as streams that have messages from it to one peer, or from that to
/// it, at most; at least 1.
std::uint64_t channelsOf(const FlatProgram& program);

/// The thread blocks of a program all of whose regions `chunk` elements divide.
/// `otherEnd` finds the other end of a message of more than one chunk, its error is returned; what
/// it has found before need not stay.
llvm::Expected<std::vector<ThreadBlock>> blocksOf(
    const FlatProgram& program, std::uint64_t chunk,
    llvm::function_ref<llvm::Expected<OtherEnd>(const FlatOperation& message)> otherEnd);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_WRITERS_MSCCL_STEPS_H_
