// Searches: each tries candidates of one family in turn, by the times of earlier ones. A search
// ends where the limit of work leaves too little for its next candidate.
#ifndef TORC_COMPILER_CHOICE_SEARCH_H_
#define TORC_COMPILER_CHOICE_SEARCH_H_

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

}  // namespace torc::compiler

#endif  // TORC_COMPILER_CHOICE_SEARCH_H_
