// The search among plans of rings, and in how many segments, and how many under way, they are
// tried.
#ifndef TORC_COMPILER_CHOICE_RINGS_SEARCH_H_
#define TORC_COMPILER_CHOICE_RINGS_SEARCH_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/choice/search.h"

namespace torc::compiler {

/// Whether an axis of more than two nodes does not wrap.
bool hasLine(const Topology& topology);

/// Plans of rings that may be run in segments. `trials` must outlive it, and it its searches.
class RingSegments {
 public:
  explicit RingSegments(const Trials& trials) : trials_(trials) {}

  /// Notes a plan that has been tried in one segment, with what the cost model says of it.
  void note(Candidate candidate);
  /// The few plans that the cost model puts first, as long as it puts them before what is there,
  /// and that have not been tried.
  Search searchPromising();
  /// Says of the others why they are not tried.
  Search leaveOut() const;

 private:
  struct Plan {
    Candidate candidate;  // with what the cost model predicts
    std::uint32_t most;   // segments
    std::uint32_t most_in_flight;
    bool is_tried = false;
  };

  std::uint32_t mostSegments(const Candidate& candidate, const ScheduleView& uncut) const;
  Search searchPlan(const Plan& plan);
  Search climb(Candidate& candidate, std::uint32_t& number,
               const std::optional<std::uint32_t>& settled, double& best, std::uint32_t lowest,
               std::uint32_t highest) const;

  const Trials& trials_;
  std::vector<Plan> plans_;
  std::vector<Plan> in_one_;  // those of one segment
  // Plans, at most, that are tried, with cut rings as lines and with detours.
  std::array<int, 2> left_ = {2, 2};
  double busy_ = 0;  // the busiest link of the plan that is being tried, in seconds
};

/// Plans of rings, with equal and balanced weights, in one direction and in both, phase by phase
/// and with phases that overlap; those that may go in segments are noted.
Search searchPlans(const Trials& trials, const Algorithm& algorithm, RingSegments& segments);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_CHOICE_RINGS_SEARCH_H_
