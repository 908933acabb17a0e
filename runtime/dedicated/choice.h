// The choice of TORC_DEDICATED=auto: what is tried, which is best, and the file that keeps it.
#ifndef TORC_RUNTIME_DEDICATED_CHOICE_H_
#define TORC_RUNTIME_DEDICATED_CHOICE_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "settings/dedicated_ranks.h"
#include "support/status.h"

namespace torc::runtime::dedicated {

/// A way to split the job, and what the program's ranks pay for a collective then.
struct Candidate {
  DedicatedRanks ranks;
  double seconds = 0;
};

/// None, and one rank for 2, 4, 8, ... and all of the others, spread and, where they fill a node of
/// several, on nodes of their own. `node_of_rank` as for assignRoles.
std::vector<Candidate> candidatesOf(std::span<const int> node_of_rank);

/// The one with the fewest dedicated ranks of those that take at most 5 % longer than the fastest;
/// of as many the first. There is at least one.
const Candidate& bestOf(std::span<const Candidate> candidates);

/// The file: a line on the nodes of the job, one on the collective that was measured, the choice;
/// and what was measured, as comments.
std::string choiceText(const DedicatedRanks& wanted, std::span<const int> node_of_rank,
                       std::span<const Candidate> candidates);

/// The choice in such a text. Errors name the line, or what is not this job's; a name that occurs
/// twice and a last line without a line feed are errors, too.
StatusOr<DedicatedRanks> readChoice(std::string_view text, const DedicatedRanks& wanted,
                                    std::span<const int> node_of_rank);

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_CHOICE_H_
