// Readers of foreign formats, and recognition of a file's format.
#ifndef TORC_IR_EXCHANGE_READERS_READERS_H_
#define TORC_IR_EXCHANGE_READERS_READERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Support/Error.h>

#include "ir/exchange/rank_programs.h"

namespace torc::ir {

// Names in foreign formats.
inline constexpr llvm::StringLiteral kForeignCollectives =
    "imported are allreduce, allgather, reducescatter, alltoall and broadcast";

inline std::optional<Collective> foreignCollective(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Collective>>(name)
      .Case("allreduce", Collective::kAllreduce)
      .Case("allgather", Collective::kAllgather)
      .Cases("reducescatter", "reduce_scatter", Collective::kReduceScatter)
      .Case("alltoall", Collective::kAlltoall)
      .Case("broadcast", Collective::kBroadcast)
      .Default(std::nullopt);
}

/// MSCCL XML, as MSCCLang, ForestColl, TACOS (to 1.2) and TE-CCL write it. Reads the text of a
/// file; `origin` is its name in messages. `collective` applies to a file without `coll`. Unknown
/// elements and attributes are ignored, with a warning for each kind. Errors name the line: invalid
/// XML, entities, misplaced elements, steps of unknown types, numbers out of range, a collective
/// that cannot be imported. If steps have src="FILE:LINE", of one file, errors of the programs
/// refer to that.
llvm::Expected<RankPrograms> readMsccl(llvm::StringRef text, llvm::StringRef origin,
                                       std::optional<Collective> collective = std::nullopt);

/// Reads `text` in the format that its content shows. `collective` applies to MSCCL XML without
/// `coll`. Error: an unsupported format, with its name and converter if known: `x.et: is a Chakra
/// trace, which says nothing of data`.
llvm::Expected<RankPrograms> readForeign(llvm::StringRef text, llvm::StringRef origin,
                                         std::optional<Collective> collective = std::nullopt);

/// A table of links.
struct Graph {
  std::int64_t ranks = 0;
  std::vector<GraphLink> links;  // in the order of `sortLinks`
};

/// Reads the text of a table; `origin` is its name in messages. Errors name the line: text in
/// another form, a repeated link, a link from a node to itself.
llvm::Expected<Graph> readGraph(llvm::StringRef text, llvm::StringRef origin);

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_READERS_H_
