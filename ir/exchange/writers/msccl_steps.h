// The thread blocks of one rank, as MSCCL programs have them.
#ifndef TORC_IR_EXCHANGE_WRITERS_MSCCL_STEPS_H_
#define TORC_IR_EXCHANGE_WRITERS_MSCCL_STEPS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "schedules/expansion/expand.h"

namespace torc::ir {

/// A chunk of a buffer.
struct MscclPlace {
  char buffer = 'i';  // i, o or s
  std::int64_t chunk = -1;

  bool operator==(const MscclPlace&) const = default;
};

struct MscclStep {
  llvm::StringRef type;
  MscclPlace src, dst;
  std::uint64_t chunks = 0;
  std::int64_t after_block = -1, after_step = -1;  // -1: nothing
  bool waited_for = false;
};

struct MscclBlock {
  std::int32_t send = -1, recv = -1;  // peers
  std::uint32_t channel = 0;
  std::vector<MscclStep> steps;
};

/// What moves at the other end of a message: the program there, and the operation.
struct OtherEnd {
  const FlatProgram* program = nullptr;
  const FlatOperation* operation = nullptr;
};

/// Channels of a rank: as many as streams that have messages from it to one peer, or from that to
/// it, at most; at least 1.
std::uint32_t channelsOf(const FlatProgram& program);

/// The thread blocks of a program all of whose regions `chunk` elements divide.
/// `otherEnd` finds the other end of a message of more than one chunk, its error is returned; what
/// it has found before need not stay.
llvm::Expected<std::vector<MscclBlock>> blocksOf(
    const FlatProgram& program, std::uint64_t chunk,
    llvm::function_ref<llvm::Expected<OtherEnd>(const FlatOperation& message)> otherEnd);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_WRITERS_MSCCL_STEPS_H_
