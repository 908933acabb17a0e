// MSCCL XML, as MSCCLang, ForestColl, TACOS (to 1.2) and TE-CCL write it.
#ifndef TORC_IR_EXCHANGE_READERS_MSCCL_READER_H_
#define TORC_IR_EXCHANGE_READERS_MSCCL_READER_H_

#include <optional>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

/// Reads the text of a file; `origin` is its name in messages. `collective` is that of a file which
/// has no `coll`. Elements and attributes that MSCCL does not know are ignored, with a warning for
/// each kind. Errors name the line: what is no XML, entities, elements in the wrong place, steps of
/// unknown types, numbers out of their range, a collective that schedules cannot be imported for.
/// Where steps have src="FILE:LINE", of one file, that is where the programs' faults are.
llvm::Expected<RankPrograms> readMsccl(llvm::StringRef text, llvm::StringRef origin,
                                       std::optional<Collective> collective = std::nullopt);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_MSCCL_READER_H_
