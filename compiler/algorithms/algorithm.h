// An algorithm: how a collective becomes a plan, and which passes refine the plan.
#ifndef TORC_COMPILER_ALGORITHMS_ALGORITHM_H_
#define TORC_COMPILER_ALGORITHMS_ALGORITHM_H_

#include <cstdint>
#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/trees/tree_pipeline.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "ir/program.h"

namespace torc::compiler {

/// What an algorithm gives the passes to start from.
enum class PlanForm {
  kRings,  // a plan of rings, in which passes settle colors, directions, dependences and scratch
  kExchanges,  // a plan of exchanges, whose steps are settled when it is expanded
  kRounds,     // a plan of reduce-scatters and allgathers in rounds, likewise
  kSteps,      // no plan, but the steps themselves
};

/// Topologies on which an algorithm is worth a try where none is named: all but those that a row
/// excludes.
struct Suits {
  bool damaged = true, undamaged = true;
  bool one_node = true, one_dimension = true;
  bool cores = true, without_cores = true;  // nodes of several cores, and others
  bool lines = true;                        // axes that are no rings
  bool rings = true;                        // rings alone
  /// Nodes. Where operations are of single coordinates, file and proof grow with them: rings from a
  /// root on 256x4 take 0.4 MiB and 0.5 s, on 1024x4 1.7 MiB and 19 s.
  std::uint32_t longest_axis = UINT32_MAX;
  std::uint64_t most_alive = UINT64_MAX;  // nodes
  /// Another reason why not; empty: none.
  llvm::StringRef (*unless)(const Topology& topology) = nullptr;
};

struct Algorithm {
  llvm::StringRef name;         // as on the command line
  llvm::StringRef description;  // one line
  /// Which collectives it serves.
  bool (*serves)(const CollectiveRow& collective);
  /// What the passes start from: a plan of one color, or the steps. An error where the algorithm
  /// cannot serve the spec.
  llvm::Expected<ir::Program> (*lower)(const CollectiveSpec& spec);
  /// The size of the steps, from the shape alone, in no time: by experience half of what it is, or
  /// twice.
  ProgramSize (*estimate)(const CollectiveSpec& spec);
  /// Whether the plan is split into colors that visit the axes in different orders.
  bool multicolor = false;
  PlanForm form = PlanForm::kSteps;
  /// The pipeline that the steps are, where chunks are segments, for each of which the program is
  /// run; null where they are parts of their own.
  TreePipeline (*pipeline)(const Topology& topology) = nullptr;
  Suits suits{};
  /// Whether steps around damage are alike on a smaller torus with the same damage.
  bool shrinks = false;
  /// Whether the first core of a node may execute the steps for all of its cores.
  bool may_lead = true;
  /// Segments of the pipeline that are under way at a node.
  std::uint32_t window = 4;

  /// Why it is not worth a try on the topology where no algorithm is named; empty: it is.
  std::string unsuited(const Topology& topology) const;
  /// Whether the steps' dependences and scratch are settled: only chunks may be cut.
  bool isSettled() const { return form != PlanForm::kRings; }
  /// Whether a smaller damaged machine may stand in for a damaged one.
  bool mayStandInDamaged() const { return !isSettled() || shrinks; }
  /// Whether chunks are segments of a pipeline along trees.
  bool inSegments() const { return pipeline != nullptr; }
  /// Whether chunks are segments: the program does not grow with their number.
  bool cutsIntoSegments() const { return inSegments() || form == PlanForm::kExchanges; }
};

/// All of them, the default first.
llvm::ArrayRef<Algorithm> algorithms();

/// The algorithm where none is named: the first that serves the collective, is worth a try on the
/// topology and is not beyond limits by its estimate; else the first that is worth a try, and where
/// none is, the first that serves it.
const Algorithm& defaultAlgorithm(const CollectiveSpec& spec);

/// Whether `algorithm` serves the collective of `spec` and is worth a try on its topology.
bool isWorthTrying(const Algorithm& algorithm, const CollectiveSpec& spec);
/// Whether some algorithm is.
bool isServed(const CollectiveSpec& spec);
/// Its rootless form (schedules/collective.h), where none is, and some is for that.
std::optional<Collective> servingRootless(const CollectiveSpec& spec);
/// That none is.
llvm::Error noAlgorithm(const CollectiveSpec& spec);

/// The algorithm of that name. The error lists them.
llvm::Expected<const Algorithm*> findAlgorithm(llvm::StringRef name);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_ALGORITHM_H_
