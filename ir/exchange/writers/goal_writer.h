// GOAL, the text that LogGOPSim simulates (T. Hoefler, T. Schneider, A. Lumsdaine: LogGOPSim -
// Simulating Large-Scale Applications in the LogGOPS Model, HPDC 2010). Its grammar is that of
// src/LogGOPSim/txt2bin.re in the simulator's sources.
//
// A message is a `send` or a `recv`; the sum that follows a receive is a `calc`, as are copies, in
// nanoseconds. What an operation waits for it `requires`. A stream is a `cpu`: LogGOPSim lets a
// cpu take in one message at a time. The links of a node are its `nic`s: number 2 x axis, or one
// more where the message goes down the axis, is the one by which it begins its way.
#ifndef TORC_IR_EXCHANGE_WRITERS_GOAL_WRITER_H_
#define TORC_IR_EXCHANGE_WRITERS_GOAL_WRITER_H_

#include <llvm/Support/raw_ostream.h>

#include "ir/exchange/writers/exported_call.h"

namespace torc::ir {

/// The line that a file begins with.
void writeGoalHeader(const ExportedCall& call, llvm::raw_ostream& out);
/// What one rank does. Ranks follow in ascending order.
void writeGoalRank(const ExportedCall& call, const FlatProgram& program, llvm::raw_ostream& out);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_WRITERS_GOAL_WRITER_H_
