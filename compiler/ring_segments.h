// Ring segments: in how many segments, and how many under way, plans of rings are tried.
#ifndef TORC_COMPILER_RING_SEGMENTS_H_
#define TORC_COMPILER_RING_SEGMENTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/candidate.h"
#include "compiler/choice.h"

namespace torc::compiler {

/// Whether an axis of more than two nodes does not wrap.
bool hasLine(const Topology& topology);

/// Plans of rings that may be run in segments. What it is given must outlive it.
class RingSegments {
 public:
  /// Simulates a candidate and lists it among the others; where it stands there, until the next
  /// one.
  using Try = std::function<const Candidate&(const Candidate&)>;
  /// What the best of all candidates takes so far, in seconds.
  using Best = std::function<double()>;

  RingSegments(const CollectiveSpec& spec, const model::Machine& machine, double bytes,
               const ChoiceLimits& limits, Try tries, Best best)
      : spec_(spec),
        machine_(machine),
        bytes_(bytes),
        limits_(limits),
        tries_(std::move(tries)),
        best_(std::move(best)) {}

  /// Notes a plan, whose steps for one segment are `uncut`, with what the cost model says of it.
  void note(Candidate candidate, const ScheduleView& uncut);

  /// Tries the few plans that the cost model puts first, as long as it puts them before what is
  /// there. Whether there were any that had not been tried.
  bool tryPromising();

  /// Says of the others why they are not tried.
  void leaveOut(Choice& choice) const;

 private:
  struct Plan {
    Candidate candidate;  // with what the cost model predicts
    std::uint32_t most;   // segments
    std::uint32_t most_in_flight;
    bool is_tried = false;
  };

  std::uint32_t mostSegments(const Candidate& candidate, const ScheduleView& uncut) const;
  void tryPlan(Candidate candidate, std::uint32_t most, std::uint32_t most_in_flight);
  void climbSegments(Candidate& candidate, double& best, std::uint32_t most);
  void climbWindow(Candidate& candidate, double& best, std::uint32_t most);
  bool climb(Candidate& candidate, std::uint32_t& number, double& best, std::uint32_t lowest,
             std::uint32_t highest, bool up);
  double tried(const Candidate& candidate);

  const CollectiveSpec& spec_;
  const model::Machine& machine_;
  const double bytes_;
  const ChoiceLimits& limits_;
  const Try tries_;
  const Best best_;
  std::vector<Plan> plans_;
  std::vector<Plan> in_one_;  // those of one segment
  int left_ = 2;              // plans, at most, that are tried
  double busy_ = 0;           // the busiest link of the plan that is being tried, in seconds
};

}  // namespace torc::compiler

#endif  // TORC_COMPILER_RING_SEGMENTS_H_
