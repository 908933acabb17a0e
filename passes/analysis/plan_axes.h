// Properties of plans: the axes of a collective and of its operations, the phases, and the pass
// that expands the operations.
#ifndef TORC_PASSES_ANALYSIS_PLAN_AXES_H_
#define TORC_PASSES_ANALYSIS_PLAN_AXES_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "ir/program.h"

namespace torc::passes {

/// The network axes of more than one node: N of them in the papers' formulas. An axis of size 1
/// moves nothing; cores are not a dimension of the network.
llvm::SmallVector<std::uint32_t, kMaxAxes> networkAxes(const Topology& topology);

/// The axis order of a color whose phases visit the network axes in this order. The cores of a node
/// come first: data is reduced inside a node before it goes out. Axes of size 1 come last; nothing
/// moves along them.
std::array<std::uint8_t, kMaxAxes> colorOrder(const Topology& topology,
                                              llvm::ArrayRef<std::uint32_t> network);

/// Whether no two colors move data along the same axis of size > 1 in any phase of the plan.
bool isConflictFree(const Topology& topology, llvm::ArrayRef<ir::PlanOperation> plan);

/// The operations of a plan between two barriers.
using PlanPhase = llvm::SmallVector<ir::PlanOperation, 16>;
/// The phases of the plan without operations along axes of one node, and without phases that would
/// then be empty. An error if there are more than 65536.
llvm::Expected<std::vector<PlanPhase>> phasesOf(const ir::Program& program);

/// Checks that all operations of the plan are for the expander `pass`; the error names the right
/// one.
llvm::Error checkExpander(const ir::Program& program, llvm::StringRef pass);

/// `exchange color 0 on XY`
std::string operationText(const Topology& topology, const ir::PlanOperation& operation);

}  // namespace torc::passes

#endif  // TORC_PASSES_ANALYSIS_PLAN_AXES_H_
