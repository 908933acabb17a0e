// A schedule's operations with their dependences at hand, as mutations change them.
#ifndef TORC_TESTS_PROPERTIES_MUTANT_STEPS_H_
#define TORC_TESTS_PROPERTIES_MUTANT_STEPS_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "schedules/schedule.h"

namespace torc {

/// An operation with its dependences, as they stand in the table.
struct MutantStep {
  Operation operation;
  std::vector<std::uint32_t> after;
};

std::vector<MutantStep> stepsOf(const Schedule& schedule);

/// `schedule` with `steps` in place of its operations; its loops are the caller's to keep.
Schedule withSteps(const Schedule& schedule, const std::vector<MutantStep>& steps);

/// What `dependence` waits for on another operation, in the same iterations.
inline std::uint32_t movedTo(std::uint32_t dependence, std::uint32_t operation) {
  return dependence - operationOf(dependence) + operation;
}

/// A random index for which `fits` holds; kNone if there is none.
template <typename Fits>
std::uint32_t pick(std::size_t count, std::mt19937_64& random, Fits fits) {
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (fits(i)) candidates.push_back(i);
  }
  return candidates.empty() ? kNone : candidates[random() % candidates.size()];
}

/// "%17", as the text form names an operation.
inline std::string percent(std::uint32_t index) {
  return "%" + std::to_string(index);
}

}  // namespace torc

#endif  // TORC_TESTS_PROPERTIES_MUTANT_STEPS_H_
