// Which foreign format a file is in.
#ifndef TORC_IR_EXCHANGE_READERS_RECOGNISE_H_
#define TORC_IR_EXCHANGE_READERS_RECOGNISE_H_

#include <optional>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

/// Reads what `text` is found to be by its content. `collective` is that of MSCCL XML which does
/// not say. Error: a format that is not read, which is named where it is known, with its converter
/// where there is one: `x.et: is a Chakra trace, which says nothing of data`.
llvm::Expected<RankPrograms> readForeign(llvm::StringRef text, llvm::StringRef origin,
                                         std::optional<Collective> collective = std::nullopt);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_RECOGNISE_H_
