// Searches: each tries candidates of one family in turn, by the times of earlier ones. A search
// ends where the limit of work leaves too little for its next candidate.
#ifndef TORC_COMPILER_CHOICE_SEARCH_H_
#define TORC_COMPILER_CHOICE_SEARCH_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/choice/trials.h"

namespace torc::compiler {

// Searches of an algorithm, by the form of its plan.

/// Fixed steps, in more and more chunks.
void searchSteps(Trials& trials, const Algorithm& algorithm);
/// Pipelines along trees, in segments, by all cores of a node or by its leader.
void searchTrees(Trials& trials, const Algorithm& algorithm, bool has_leaders);
/// Exchanges, in more and more segments.
void searchExchanges(Trials& trials, const Algorithm& algorithm);
/// Rounds, in both directions and in one.
void searchRounds(Trials& trials, const Algorithm& algorithm);
/// Other steps, executed by the leader of a node for all of its cores.
void searchLeaders(Trials& trials, const Algorithm& algorithm);

/// Whether an axis of more than two nodes does not wrap.
bool hasLine(const Topology& topology);

/// Plans of rings that may run in segments. `trials` must outlive it.
class RingSegments {
 public:
  explicit RingSegments(Trials& trials) : trials_(trials) {}

  /// Records a plan that has been tried in one segment, with its modelled cost.
  void note(Candidate candidate);
  /// Searches the few untried plans with the least modelled cost, if that is below the times so
  /// far. Returns whether there was one.
  bool searchPromising();
  /// Lists the other plans with the reason why they are not tried.
  void leaveOut();

 private:
  struct Plan {
    Candidate candidate;  // with modelled times
    std::uint32_t most;   // segments
    std::uint32_t most_in_flight;
    bool is_tried = false;
  };

  std::uint32_t mostSegments(const Candidate& candidate, const ScheduleView& uncut) const;
  void searchPlan(const Plan& plan);
  void climb(Candidate& candidate, std::uint32_t& number,
             const std::optional<std::uint32_t>& settled, double& best, std::uint32_t lowest,
             std::uint32_t highest);

  Trials& trials_;
  std::vector<Plan> plans_;
  std::vector<Plan> in_one_;  // those with one segment
  // Remaining numbers of plans to try, with cut rings as lines and with detours.
  std::array<int, 2> left_ = {2, 2};
  double busy_ = 0;  // seconds of the current plan's busiest link
};

/// Searches plans of rings, with equal and balanced weights, in one direction and in both, phase by
/// phase and with overlapping phases; records those that may run in segments.
void searchPlans(Trials& trials, const Algorithm& algorithm, RingSegments& segments);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_CHOICE_SEARCH_H_
