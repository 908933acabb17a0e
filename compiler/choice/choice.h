// Choice: of the algorithms and pipelines that compile a collective, the one that a machine is
// predicted to run in the least time for a size.
#ifndef TORC_COMPILER_CHOICE_CHOICE_H_
#define TORC_COMPILER_CHOICE_CHOICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/choice/candidate.h"
#include "compiler/compile.h"
#include "compiler/compile_cache.h"
#include "compiler/progress_line.h"
#include "compiler/spec/collective_spec.h"
#include "model/machines/machine.h"

namespace torc::compiler {

/// The options that are settled beforehand; the rest is free.
struct ChoiceLimits {
  const Algorithm* algorithm = nullptr;  // null: any
  std::optional<passes::ColorWeights> weights;
  std::optional<passes::DirectionModel> directions;
  std::optional<passes::DependenceKind> dependences;
  std::optional<std::uint32_t> chunks, in_flight, segments;
  std::optional<double> scratch_bytes = std::nullopt;  // of a node, at most
  std::optional<bool> synchronous_sends = std::nullopt;
  std::optional<PeerOrder> peers = std::nullopt;
  std::optional<std::uint32_t> window = std::nullopt;
  std::optional<bool> leaders = std::nullopt;  // the first core of a node for all of them
  std::optional<passes::SegmentOrder> segment_order = std::nullopt;
  std::optional<CutRings> cuts = std::nullopt;
  std::optional<double> most_work = std::nullopt;  // as CandidateSimulator's
};

/// Candidates whose times differ by less are taken as equal, which no prediction can tell apart:
/// then messages to neighbours alone decide, and after these fewer messages.
inline constexpr double kTie = 1.01;

/// An algorithm or option that no candidate has, and the reason.
struct LeftOut {
  std::string what;     // "half-latency"
  const Algorithm* of;  // whose option that is; null: of all of them, or no option
  std::string reason;
};

struct Choice {
  std::vector<Candidate> candidates;  // the chosen one, the others by predicted time, refusals
  std::vector<LeftOut> left_out{};    // known only by a look at the candidates
  std::uint64_t built = 0;            // operations of all programs that were compiled to choose
  bool is_cut_short = false;          // the limit of work left something out

  const Candidate& best() const { return candidates.front(); }
  /// Why the first candidate is better than the second, in a sentence.
  std::string reason() const;
};

/// Compiles and simulates every candidate within `limits` for a vector of `bytes` on `machine`,
/// which has the topology of the spec. Work and memory are bounded for every shape: candidates with
/// a long program or a long proof are not compiled. Of rings in segments, only those are compiled
/// that the cost model puts first. Where more nodes differ than can be simulated, a smaller machine
/// stands in. `progress`, if there is one, hears of every candidate. Errors: no candidate can be
/// compiled.
llvm::Expected<Choice> choose(const CollectiveSpec& spec, const model::Machine& machine,
                              double bytes, const ChoiceLimits& limits,
                              Progress* progress = nullptr);
/// The same for the spec of `programs`, which are compiled where they are not there.
llvm::Expected<Choice> choose(CompileCache& programs, const model::Machine& machine, double bytes,
                              const ChoiceLimits& limits, Progress* progress = nullptr);

/// The same where it may be that no candidate can be compiled. Then the first, if any, says why.
Choice consider(CompileCache& programs, const model::Machine& machine, double bytes,
                const ChoiceLimits& limits, Progress* progress = nullptr);
/// The error of `choose`, if none can.
llvm::Error checkPossible(const Choice& choice, const CollectiveSpec& spec);

/// The algorithms that serve the collective and the options that none of the candidates has, all of
/// them, each with the reason: those of the choice, and those that follow from its limits.
std::vector<LeftOut> leftOut(const Choice& choice, const CollectiveSpec& spec,
                             const model::Machine& machine, const ChoiceLimits& limits);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_CHOICE_CHOICE_H_
