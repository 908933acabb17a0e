// TACOS results (astra-sim/tacos 1.1, src/writer/csv_writer.cpp): an allgather as a list of chunks
// for each link, in the order in which they are sent. Chunk c begins on NPU c modulo their number.
#ifndef TORC_IR_EXCHANGE_READERS_TACOS_READER_H_
#define TORC_IR_EXCHANGE_READERS_TACOS_READER_H_

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

/// Reads the text of a file; `origin` is its name in messages. A chunk is sent when it has come,
/// and those before it on its link have been sent. The links are those of the programs where
/// `wants_links`; else their latencies and bandwidths may be anything. Errors name the line: what
/// is no such table, and chunks that never can be sent.
llvm::Expected<RankPrograms> readTacos(llvm::StringRef text, llvm::StringRef origin,
                                       bool wants_links);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_TACOS_READER_H_
