// SCCL algorithms (microsoft/msccl-tools msccl/serialization.py, algorithm.py, collectives.py): in
// each step chunks go from gpu to gpu, all as they are when it begins.
#ifndef TORC_IR_EXCHANGE_READERS_SCCL_READER_H_
#define TORC_IR_EXCHANGE_READERS_SCCL_READER_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

/// Reads the text of a file; `origin` is its name in messages. Which collective it is, follows from
/// where chunks begin and end. A sum that arrives where some of it is already replaces that if it
/// has all of it, and is added if it has nothing of it. Errors name the line: what is no such
/// algorithm, other collectives, sends over links that the topology does not have, sums of which
/// each end has something that the other lacks.
llvm::Expected<RankPrograms> readSccl(llvm::StringRef text, llvm::StringRef origin);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_SCCL_READER_H_
