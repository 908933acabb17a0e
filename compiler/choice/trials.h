// Trials: tries candidates for a size; those that have been tried so far guide searches.
#ifndef TORC_COMPILER_CHOICE_TRIALS_H_
#define TORC_COMPILER_CHOICE_TRIALS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
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
  Progress& progress;
  const CollectiveSpec& spec = programs.spec();
  const CollectiveSpec network = networkOf(spec);
  Choice choice = {};  // its candidates in the order in which they were tried
  std::size_t last_index = 0;
  bool is_expected = false;  // whether progress knows of the next candidate
  CandidateSimulator simulator = {programs, machine, bytes};
  std::map<CandidateSimulator::Programs, std::size_t> tried = {};  // which candidate has them

  /// The first candidate of a search: as the limits say, and in one chunk.
  Candidate begin(const Algorithm& algorithm) const;
  /// Tries the candidate, or only lists it if it already has a refusal. If its sends may be over
  /// before anybody receives them, also tries it with synchronous sends; the search goes on from
  /// the better one. False: the limit of work leaves too little for it, and its search has to end.
  bool attempt(Candidate candidate);
  /// Simulates the candidate as one of the things that progress counts, which says `how`.
  llvm::Error simulate(Candidate& candidate, llvm::StringRef how);
  /// Records an option that no candidate has, of an algorithm or (null) of all.
  void leaveOut(const llvm::Twine& what, const Algorithm* of, llvm::StringRef reason);

  /// The work that the limit leaves.
  double workLeft() const;
  /// Whether that is too little for so much. The choice says so.
  bool isBeyondWork(double work);

  /// The one that was tried last; where its program had been tried, the one of then.
  const Candidate& last() const { return choice.candidates[last_index]; }
  bool isLastRefused() const { return !last().refusal.empty(); }
  /// The fastest of an algorithm that has been tried, with leaders or without.
  const Candidate& bestOf(const Algorithm& algorithm, bool has_leaders) const;
  /// The nodes that execute the steps of a candidate.
  const Topology& stepsOn(const Candidate& candidate) const {
    return (candidate.options.led_cores > 0 ? network : spec).topology;
  }
  /// The seconds of the best candidate so far.
  double bestSeconds() const;
  /// Why nothing like the last candidate, whatever its chunks, can be the best: the load of its
  /// busiest link alone takes longer. Empty: it can. Where a smaller shape stood in for trees, the
  /// link is one of that shape.
  llvm::StringRef tooSlow() const;
  /// Of those that are as good as the fastest, the least in the order of ties.
  Candidate& taken();

 private:
  void add(Candidate candidate);
  void tryOnce(Candidate candidate);
};

bool isFaster(const Candidate& a, const Candidate& b);

/// Why a program of that size is not compiled to choose from; empty: it is.
std::string tooLarge(const ProgramSize& size, std::uint32_t chunks, double most_bytes);

/// The values of an option that are tried.
template <typename Value>
std::vector<Value> toTry(const std::optional<Value>& settled, std::initializer_list<Value> free) {
  return settled ? std::vector{*settled} : std::vector(free);
}

/// Simulates the best candidate rank by rank, with messages of whole elements, which need not be
/// of one size. Repeats this with the new best candidate until that has been simulated so, or the
/// work is too much. The slowdown also counts for alike candidates of the algorithm. Not
/// an all-to-all: its messages are of one size, and as all are under way at once the simulator
/// would share all links anew whenever one ends. Where that were more work than is left the choice
/// is cut short.
void lookCloser(Trials& trials);

/// Where the machine describes its routers: simulates the best candidate packet by packet, and
/// whichever is the best then, until that is one that has been, or there have been enough. Long
/// simulations have a share of the bytes, on a machine of the same proportions with fewer nodes:
/// there the ratio of packets' time to links' time counts. Processors and queues, which the link
/// simulator does not have, decide.
void judgeByPackets(Trials& trials);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_CHOICE_TRIALS_H_
