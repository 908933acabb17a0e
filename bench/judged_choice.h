// The loss of a choice by the strictest judge of its machine: the packet simulator if the machine
// describes its routers, else the simulation rank by rank.
#ifndef TORC_BENCH_JUDGED_CHOICE_H_
#define TORC_BENCH_JUDGED_CHOICE_H_

#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

#include "schedules/collective.h"

namespace torc::bench {

struct JudgedChoice {
  std::string chosen, best;         // descriptions
  double chosen_s = 0, best_s = 0;  // by the judge
  int judged = 0;                   // candidates

  double regret() const { return chosen_s / best_s; }
};

/// Judges every candidate whose prediction by the choice for a vector of `bytes` is at most
/// `within` times that of the chosen one. Errors: nothing can be chosen or judged.
llvm::Expected<JudgedChoice> judgeChoice(Collective collective, llvm::StringRef shape,
                                         llvm::StringRef machine, double bytes, double within);

}  // namespace torc::bench

#endif  // TORC_BENCH_JUDGED_CHOICE_H_
