// torc model alltoall --cluster NAME: a part of the subcommand `model`.
#ifndef TORC_COMPILER_COMMANDS_MODEL_ALLTOALL_H_
#define TORC_COMPILER_COMMANDS_MODEL_ALLTOALL_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/CommandLine.h>

namespace torc::compiler {

/// Registers the options of clusters with the subcommand.
void addClusterOptions(llvm::cl::SubCommand& command, llvm::cl::OptionCategory& category);

/// The option of a cluster that was given, or empty: --nodes.
llvm::StringRef clusterOptionGiven();

/// Predicts an all-to-all of each of `sizes`, bytes of a pair; no sizes: the usual ones. Returns
/// the exit code.
int modelAlltoall(llvm::ArrayRef<std::uint64_t> sizes, bool json);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_COMMANDS_MODEL_ALLTOALL_H_
