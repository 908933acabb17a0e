// Writers of exported calls for simulators, rank by rank.
#ifndef TORC_IR_EXCHANGE_WRITERS_CALL_WRITERS_H_
#define TORC_IR_EXCHANGE_WRITERS_CALL_WRITERS_H_

#include <llvm/Support/raw_ostream.h>

#include "ir/exchange/writers/exported_call.h"

namespace torc::ir {

/// GOAL, the text format of LogGOPSim: the first line of a file.
void writeGoalHeader(const ExportedCall& call, llvm::raw_ostream& out);
/// The operations of one rank. Ranks follow in ascending order.
void writeGoalRank(const ExportedCall& call, const FlatProgram& program, llvm::raw_ostream& out);
/// Chakra's execution traces, which ASTRA-sim runs: the file of one rank.
void writeChakraRank(const ExportedCall& call, const FlatProgram& program, llvm::raw_ostream& out);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_WRITERS_CALL_WRITERS_H_
