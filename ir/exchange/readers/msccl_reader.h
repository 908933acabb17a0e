// MSCCL XML, as MSCCLang, ForestColl, TACOS (to 1.2) and TE-CCL write it.
#ifndef TORC_IR_EXCHANGE_READERS_MSCCL_READER_H_
#define TORC_IR_EXCHANGE_READERS_MSCCL_READER_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

/// Reads the text of a file; `origin` is its name in messages. Errors name the line: what is no
/// XML, entities, elements that the form does not have, steps of unknown types, numbers out of
/// their range, a collective that schedules cannot be imported for. Attributes that only some
/// writers know are not looked at.
llvm::Expected<RankPrograms> readMsccl(llvm::StringRef text, llvm::StringRef origin);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_MSCCL_READER_H_
