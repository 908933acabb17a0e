// An algorithm: its plan or steps for a collective, and the passes that refine them.
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

/// The form of the program that an algorithm gives to the passes.
enum class PlanForm {
  kRings,      // a plan of rings; passes determine colors, directions, dependences and scratch
  kExchanges,  // a plan of exchanges; its expansion determines the steps
  kRounds,     // a plan of reduce-scatters and allgathers in rounds, likewise
  kSteps,      // the steps, without a plan
};

/// Topologies for which an algorithm is a candidate if none is named: all but those that a row
/// excludes.
struct Suits {
  bool damaged = true, undamaged = true;
  bool one_node = true, one_dimension = true;
  bool cores = true, without_cores = true;  // nodes with several cores, and others
  bool lines = true;                        // axes without wraparound
  bool rings = true;                        // topologies of rings only
  /// Nodes. If operations have guards for single coordinates, file size and proof time grow with
  /// the longest axis: rings from a root on 256x4 take 0.4 MiB and 0.5 s, on 1024x4 1.7 MiB and 19
  /// s.
  std::uint32_t longest_axis = UINT32_MAX;
  std::uint64_t most_alive = UINT64_MAX;  // nodes
  /// A further reason for exclusion; empty: none.
  llvm::StringRef (*unless)(const Topology& topology) = nullptr;
};

struct Algorithm {
  llvm::StringRef name;         // as on the command line
  llvm::StringRef description;  // one line
  /// Whether it serves the collective.
  bool (*serves)(const CollectiveRow& collective);
  /// The program for the passes: a plan of one color, or the steps. An error if the algorithm
  /// cannot serve the spec.
  llvm::Expected<ir::Program> (*lower)(const CollectiveSpec& spec);
  /// A fast estimate of the size of the steps, from the shape alone: by experience within a factor
  /// of two.
  ProgramSize (*estimate)(const CollectiveSpec& spec);
  /// Whether the plan is split into colors that visit the axes in different orders.
  bool multicolor = false;
  PlanForm form = PlanForm::kSteps;
  /// The pipeline of the steps if chunks are segments, for each of which the program runs; null if
  /// chunks are separate parts.
  TreePipeline (*pipeline)(const Topology& topology) = nullptr;
  Suits suits{};
  /// Whether the steps around damage are alike on a smaller torus with the same damage.
  bool shrinks = false;
  /// Whether the first core of a node may act as leader and execute the steps for all of its cores.
  bool may_lead = true;
  /// Number of segments in flight at a node.
  std::uint32_t window = 4;

  /// Reason why the topology excludes the algorithm if none is named; empty: a candidate.
  std::string unsuited(const Topology& topology) const;
  /// Whether the steps' dependences and scratch are final: passes may only cut chunks.
  bool isSettled() const { return form != PlanForm::kRings; }
  /// Whether a smaller damaged machine may replace a damaged one in the search.
  bool mayStandInDamaged() const { return !isSettled() || shrinks; }
  /// Whether chunks are segments of a pipeline along trees.
  bool inSegments() const { return pipeline != nullptr; }
  /// Whether chunks are segments: the program does not grow with their number.
  bool cutsIntoSegments() const { return inSegments() || form == PlanForm::kExchanges; }
};

/// All algorithms, the default first.
llvm::ArrayRef<Algorithm> algorithms();

/// The default algorithm: the first candidate for the topology that serves the collective within
/// the limits of its estimate. Otherwise the first candidate; without a candidate, the first
/// algorithm that serves the collective.
const Algorithm& defaultAlgorithm(const CollectiveSpec& spec);

/// Whether `algorithm` serves the collective of `spec` and is a candidate on its topology.
bool isWorthTrying(const Algorithm& algorithm, const CollectiveSpec& spec);
/// Whether any algorithm is worth trying.
bool isServed(const CollectiveSpec& spec);
/// The rootless form (schedules/collective.h) of an unserved collective, if an algorithm serves
/// that form.
std::optional<Collective> servingRootless(const CollectiveSpec& spec);
/// The error that no algorithm serves the spec.
llvm::Error noAlgorithm(const CollectiveSpec& spec);

/// The algorithm of that name; the error lists all names.
llvm::Expected<const Algorithm*> findAlgorithm(llvm::StringRef name);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_ALGORITHM_H_
