// Chakra execution traces, one file a rank, as ASTRA-sim 2 runs them as custom collectives
// (mlcommons/chakra schema/protobuf/et_def.proto; astra-sim
// astra-sim/system/astraccl/custom_collectives/CustomAlgorithm.cc).
//
// A file is a row of protobuf messages, each after its length: GlobalMetadata, then Nodes. A
// message is a COMM_SEND or COMM_RECV node; the sum that follows a receive is a COMP node, as are
// copies, in whole microseconds. ASTRA-sim executes no other kinds. What an operation waits for are
// its data_deps.
#ifndef TORC_IR_EXCHANGE_WRITERS_CHAKRA_WRITER_H_
#define TORC_IR_EXCHANGE_WRITERS_CHAKRA_WRITER_H_

#include <llvm/Support/raw_ostream.h>

#include "ir/exchange/writers/exported_call.h"

namespace torc::ir {

/// The file of one rank.
void writeChakraRank(const ExportedCall& call, const FlatProgram& program, llvm::raw_ostream& out);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_WRITERS_CHAKRA_WRITER_H_
