// Trials: what has been tried for a size so far, which searches go by.
#ifndef TORC_COMPILER_CHOICE_TRIALS_H_
#define TORC_COMPILER_CHOICE_TRIALS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "compiler/choice/candidate.h"
#include "compiler/choice/choice.h"
#include "compiler/compile_cache.h"
#include "compiler/progress_line.h"
#include "compiler/spec/collective_spec.h"
#include "compiler/spec/program_size.h"
#include "model/machines/machine.h"

namespace torc::compiler {

struct Trials {
  CompileCache& programs;
  const model::Machine& machine;
  const double bytes;
  const ChoiceLimits& limits;
  const CollectiveSpec& spec = programs.spec();
  const CollectiveSpec network = networkOf(spec);
  Choice choice = {};  // its candidates in the order in which they were tried
  std::size_t last_index = 0;

  /// What a search begins with: as the limits say, and in one chunk.
  Candidate begin(const Algorithm& algorithm) const;

  /// The one that was tried last; where its program had been tried, the one of then.
  const Candidate& last() const { return choice.candidates[last_index]; }
  bool isLastRefused() const { return !last().refusal.empty(); }
  /// The fastest of an algorithm that has been tried, with leaders or without.
  const Candidate& bestOf(const Algorithm& algorithm, bool has_leaders) const;
  /// The nodes that execute the steps of a candidate.
  const Topology& stepsOn(const Candidate& candidate) const {
    return (candidate.options.led_cores > 0 ? network : spec).topology;
  }
  /// What the best of the candidates takes so far.
  double bestSeconds() const;
  /// Why nothing like the last candidate, whatever its chunks, can be the best: what its busiest
  /// link carries alone takes longer. Empty: it can. Where a smaller shape stood in for trees, the
  /// link is one of that shape.
  llvm::StringRef tooSlow() const;
  /// Of those that are as good as the fastest, the least in the order of ties.
  Candidate& taken();
};

bool isFaster(const Candidate& a, const Candidate& b);

/// Why a program of that size is not compiled to choose from; empty: it is.
std::string tooLarge(const ProgramSize& size, std::uint32_t chunks, double most_bytes);

/// What is to be tried of an option.
template <typename Value>
std::vector<Value> toTry(const std::optional<Value>& settled, std::initializer_list<Value> free) {
  return settled ? std::vector{*settled} : std::vector(free);
}

/// Simulates the candidate, whose progress is told.
using Simulate = llvm::function_ref<llvm::Error(Candidate& candidate)>;

/// Simulates the best candidate rank by rank, with messages of whole elements, which need not be
/// of one size, and whichever is the best then, until that is one that has been, or it is too
/// much work. What an algorithm loses by it counts for its other candidates with such sends. Not
/// an all-to-all: its messages are of one size, and as all are under way at once the simulator
/// would share all links anew whenever one ends. Where that were more than `most` operations the
/// choice is cut short.
void lookCloser(Trials& trials, double most, Simulate simulate);

/// Where the machine says what its routers do: simulates the best candidate packet by packet, and
/// whichever is the best then, until that is one that has been, or there have been enough. What
/// takes too long is judged by a share of the bytes, and on a machine of the same proportions with
/// fewer nodes: by how much longer packets take than links there. Processors and queues, which the
/// link simulator has not, are what decides.
void judgeByPackets(Trials& trials, Progress* progress);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_CHOICE_TRIALS_H_
