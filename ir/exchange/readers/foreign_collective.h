// Names that other systems have for the collectives that are imported.
#ifndef TORC_IR_EXCHANGE_READERS_FOREIGN_COLLECTIVE_H_
#define TORC_IR_EXCHANGE_READERS_FOREIGN_COLLECTIVE_H_

#include <optional>

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/StringSwitch.h>

#include "schedules/collective.h"

namespace torc::ir {

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

}  // namespace torc::ir

#endif  // TORC_IR_EXCHANGE_READERS_FOREIGN_COLLECTIVE_H_
