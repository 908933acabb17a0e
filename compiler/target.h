// The network of a collective, by the options --torus, --order and --machine. Errors are
// MachineFaults for a faulty machine file, else of usage (tool.h: optionFault). A producer names
// the size and the machine that its schedule was chosen for, behind the pipeline: "torc 1.0.0
// bucket: assign-colors{...},... for 1M on bgp".
#ifndef TORC_COMPILER_TARGET_H_
#define TORC_COMPILER_TARGET_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "compiler/sizes.h"
#include "model/machines/machine.h"
#include "schedules/topology/topology.h"
#include "support/options.h"

namespace torc::compiler {

/// The default machine.
inline constexpr llvm::StringRef kDefaultMachine = "generic";

struct Target {
  model::Machine machine;
  Topology topology;  // of the machine
};

/// The machine of a target, which may be a twisted torus.
llvm::Expected<model::Machine> readPartition(llvm::StringRef torus, llvm::StringRef machine);

/// `torus` is a shape, or a machine file with shape and damage; `order` an order of ranks (empty: X
/// fastest), `machine` a preset or a file. Without a shape, it is the machine's own; without a
/// machine, links are generic. One of the two is required.
llvm::Expected<Target> readTarget(llvm::StringRef torus, llvm::StringRef order,
                                  llvm::StringRef machine);

/// The named machine in the shape of a schedule's topology and with its damage; without a name,
/// generic links with the schedule's relative bandwidths.
llvm::Expected<model::Machine> machineOf(const Topology& topology, llvm::StringRef machine);

/// Adds the damage of --dead-link ("0,0,1:Z") and --dead-node ("1,2,3"). An error if it does not
/// exist, is duplicate, or disconnects the live nodes.
llvm::Error addDamage(Target& target, llvm::ArrayRef<std::string> dead_links,
                      llvm::ArrayRef<std::string> dead_nodes);

/// " for 1M on bgp", or "... on file m.json"; `machine` as --machine names it, empty: the default.
/// Empty where a producer cannot have the name.
std::string chosenForText(std::uint64_t bytes, llvm::StringRef machine);

/// A producer without that.
llvm::StringRef recipeOf(llvm::StringRef producer);

/// Sets `range` and `machine`, where the options leave them open, to those that a schedule was
/// chosen for, if its producer names them. A machine's file is not opened: a note on stderr names
/// it.
void takeChosenFor(std::string_view producer, const options::Text& bytes, SizeRange& range,
                   options::Text& machine);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_TARGET_H_
