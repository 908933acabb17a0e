// Which foreign format a file is in.
#ifndef TORC_IR_EXCHANGE_READERS_RECOGNISE_H_
#define TORC_IR_EXCHANGE_READERS_RECOGNISE_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

/// Reads what `text` is found to be by its content, with its links, if it has any and
/// `wants_links`. Error: a format that is not read, which is
/// named where it is known: `x.et: is a Chakra trace, which says nothing of data`.
llvm::Expected<RankPrograms> readForeign(llvm::StringRef text, llvm::StringRef origin,
                                         bool wants_links = true);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_RECOGNISE_H_
