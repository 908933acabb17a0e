// What a collective runs on, as the options --torus, --order and --machine say. Errors are
// MachineFaults where a machine's file is wrong, else of usage (tool.h: optionFault).
#ifndef TORC_COMPILER_TARGET_H_
#define TORC_COMPILER_TARGET_H_

#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "model/machines/machine.h"
#include "schedules/topology/topology.h"

namespace torc::compiler {

/// The machine where none is named.
inline constexpr llvm::StringRef kDefaultMachine = "generic";

struct Target {
  model::Machine machine;
  Topology topology;  // of the machine
};

/// The machine's part of a target, which may be a twisted torus.
llvm::Expected<model::Machine> readPartition(llvm::StringRef torus, llvm::StringRef machine);

/// `torus` is a shape, or a machine's file that has it and what is broken there; `order` one of
/// ranks (empty: X fastest), `machine` a preset or a file. With a machine and no shape: the
/// machine's own; with a shape and no machine: the generic machine's links. One of the two must be
/// given.
llvm::Expected<Target> readTarget(llvm::StringRef torus, llvm::StringRef order,
                                  llvm::StringRef machine);

/// The named machine in the shape of a schedule's topology and with its damage; where none is
/// named, generic links in the relative bandwidths that the schedule was made for.
llvm::Expected<model::Machine> machineOf(const Topology& topology, llvm::StringRef machine);

/// Adds what --dead-link ("0,0,1:Z") and --dead-node ("1,2,3") name. An error where that is not
/// there, is given twice, or disconnects what is left.
llvm::Error addDamage(Target& target, llvm::ArrayRef<std::string> dead_links,
                      llvm::ArrayRef<std::string> dead_nodes);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_TARGET_H_
