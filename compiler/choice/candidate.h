// Candidates: ways to compile a collective, with the results of their simulations.
#ifndef TORC_COMPILER_CHOICE_CANDIDATE_H_
#define TORC_COMPILER_CHOICE_CANDIDATE_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <llvm/Support/Error.h>

#include "compiler/algorithms/algorithm.h"
#include "compiler/compile.h"
#include "compiler/compile_cache.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/target.h"
#include "ir/program.h"
#include "model/machines/machine.h"

namespace torc::compiler {

/// The least gain for which more chunks or segments are worth it.
inline constexpr double kWorthwhile = 1.01;
/// More of them are not tried where a candidate takes so much longer than the best.
inline constexpr double kSlow = 1.1;
/// Candidates that come as close as this to the best may still become it.
inline constexpr double kClose = 1.3;
/// Operations of as many segments as a proof goes through, at most.
inline constexpr double kMostProvedOperations = 1 << 20;
/// Nodes that differ from each other that are simulated for one candidate. Where more differ a
/// smaller machine stands in, unless all of them together execute few operations, of one segment
/// and of all.
inline constexpr std::uint64_t kMostClasses = 128;
inline constexpr double kFewExecutions = 1e5;
inline constexpr double kFewOfAllSegments = 4e5;

/// Work is counted, so that it is the same on every computer; about a microsecond each. That of an
/// operation that is compiled, and of a step of a proof.
inline constexpr double kBuiltWork = 8, kProofWork = 0.2;

/// Segments of rings that the cost model takes to share a link, however many are under way.
inline constexpr std::uint32_t kCostedInFlight = 2;

/// Bytes of an element where `bytes` are simulated rank by rank, with messages of whole elements:
/// 4, but 1 where blocks would have none. Smaller vectors cannot be simulated so: nothing.
std::optional<double> elementBytesFor(const CollectiveSpec& spec, double bytes);

/// One way to compile a collective, with the results of its simulation.
struct Candidate {
  const Algorithm* algorithm = nullptr;
  PipelineOptions options;
  bool per_rank = false;    // simulated rank by rank, with messages of whole elements
  bool by_packets = false;  // simulated packet by packet
  bool estimated = false;   // by packets, on a small shape: `unseen` is the ratio
  double unseen = 1;        // slowdown that a closer simulation showed for alike candidates
  /// The smaller shape on which it was simulated. The times are multiplied by the ratio that the
  /// cost model predicts; steps and messages are those of the smaller shape. Empty: this one.
  std::string stand_in;
  std::string refusal;             // why it cannot be compiled; then the rest has no meaning
  bool tried = true;               // else the refusal says why it is not worth a try
  double predicted_s = 0;          // makespan
  double busy_s = 0;               // of the busiest link
  double load_bytes = 0;           // on the busiest link
  double scratch_bytes = 0;        // of a node
  bool buffers = false;            // as SimulateResult's
  bool leaves_neighbours = false;  // messages go over more than one link of the network
  std::uint64_t steps = 0;         // messages one after the other
  std::uint64_t messages = 0;      // of a node
  std::uint64_t operations = 0;
  double work = 0;  // of expanding it for a rank, in operations and blocks

  /// "bucket, balanced weights, 8 chunks, 1 in flight".
  std::string description() const;

  /// Seconds to decide by. After a simulation rank by rank these are the predicted ones.
  /// Otherwise they are more where alike candidates took more in a closer simulation, or
  /// where two chunks on a link may fall into step.
  double cautiousSeconds() const;
  /// Whether messages that share a link may come to wait for each other in every step, which no
  /// simulation rank by rank has excluded.
  bool mayFallIntoStep() const;

  /// The order of candidates that are as fast, the best first: messages to neighbours
  /// alone, for which nothing is taken for granted of how the network routes the others and lets
  /// them share links; then nothing buffered for which others wait, which can come to share a link
  /// with later messages; then fewer messages; then sends that need no word of their receive;
  /// then a simulation rank by rank, or packet by packet.
  using TieOrder = std::tuple<bool, bool, std::uint64_t, bool, bool>;
  TieOrder tieOrder() const {
    return {leaves_neighbours, buffers, messages, options.synchronous_sends,
            !per_rank && !by_packets};
  }
};

/// The predicted seconds of a candidate; infinity if it is refused.
inline double secondsOf(const Candidate& candidate) {
  return candidate.refusal.empty() ? candidate.predicted_s
                                   : std::numeric_limits<double>::infinity();
}

/// `wanted`, rounded up, but at most `most`.
inline std::uint32_t mostOf(double wanted, std::uint64_t most) {
  return static_cast<std::uint32_t>(std::min(std::ceil(wanted), static_cast<double>(most)));
}

/// The candidate's program, and the steps of its plan before chunks are cut.
using SharedProgram = std::shared_ptr<const ir::Program>;
llvm::Expected<SharedProgram> programOf(CompileCache& programs, const Candidate& candidate);
llvm::Expected<SharedProgram> uncutOf(CompileCache& programs, const Candidate& candidate);

/// The machine with the axes of `shrink` cut to `share` of their sizes, again and again, until no
/// more than `most` nodes differ, the product of their sizes. Odd sizes stay odd and even ones
/// even; dead nodes and links stay as far from the first dead one on rings, and from the beginning
/// on lines, as there is room. None where no axis is long enough, or the damage would cut the
/// smaller machine apart.
std::optional<Target> standInFor(const Topology& topology, const model::Machine& machine,
                                 const std::array<bool, kMaxAxes>& shrink, std::uint64_t most,
                                 double share = 0.5);

/// A machine that stands in for another one, and the programs that were compiled for it.
struct Smaller {
  Smaller(Target found, Collective collective)
      : stand_in(std::move(found)), programs({collective, stand_in.topology}) {}
  Target stand_in;
  CompileCache programs;
};

/// Simulates candidates for a vector of `bytes` on `machine`, compiled by `programs`. The
/// programs and the machine must outlive it.
class CandidateSimulator {
 public:
  CandidateSimulator(CompileCache& programs, const model::Machine& machine, double bytes)
      : programs_(programs), machine_(machine), bytes_(bytes) {}

  /// The program by which the candidate is simulated. If that is for a smaller machine, also the
  /// candidate's steps on this one. Each is the first of all equal programs: candidates with the
  /// same programs are one. Errors: it cannot be compiled.
  using Programs = std::pair<SharedProgram, SharedProgram>;
  llvm::Expected<Programs> programsOf(const Candidate& candidate);

  /// Compiles and simulates the candidate, rank by rank if it says so, and fills in the
  /// results. Where too many nodes differ it is simulated on a smaller machine, and the times are
  /// multiplied by the cost model's ratio of both machines. Errors: it cannot be compiled.
  llvm::Error simulate(Candidate& candidate);

  /// Operations of all programs that were compiled to be simulated.
  std::uint64_t built() const { return built_; }
  /// Work of an operation that is simulated: links that are shared take the longer the more axes
  /// there are.
  double workOfSimulated() const { return 0.4 * programs_.spec().topology.axis_count; }
  /// Work of all compilations and simulations so far.
  double work() const {
    return kBuiltWork * static_cast<double>(built_) + workOfSimulated() * simulated_;
  }

 private:
  // Errors are thrown.

  /// The machine that stands in where too many nodes differ under the candidate; null: there is no
  /// need, or no such machine. Most steps around damage are made for this very machine.
  Smaller* smallerFor(const Candidate& candidate);
  void simulateOrThrow(Candidate& candidate);
  void simulateOnSmaller(Smaller& smaller, Candidate& candidate);
  void simulateProgram(const Schedule& schedule, const model::Machine& machine,
                       model::GraphCache& graphs, Candidate& candidate);

  CompileCache& programs_;
  const model::Machine& machine_;
  const double bytes_;
  std::uint64_t built_ = 0;
  double simulated_ = 0;                                                  // operations
  std::map<std::array<bool, kMaxAxes>, std::optional<Smaller>> smaller_;  // by the axes that differ
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_CHOICE_CANDIDATE_H_
