// An algorithm: how a collective becomes a plan, and which passes refine the plan.
#ifndef TORC_COMPILER_ALGORITHMS_ALGORITHM_H_
#define TORC_COMPILER_ALGORITHMS_ALGORITHM_H_

#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

#include "compiler/collective_spec.h"
#include "ir/program.h"

namespace torc {

struct Algorithm {
  llvm::StringRef name;         // as on the command line
  llvm::StringRef description;  // one line
  /// The plan that the passes start from: one color.
  Program (*plan)(const CollectiveSpec& spec);
  /// Whether the plan is split into colors that visit the axes in different orders.
  bool multicolor;
};

/// All of them, the default first.
llvm::ArrayRef<Algorithm> algorithms();

/// The algorithm of that name. The error lists them.
llvm::Expected<const Algorithm*> findAlgorithm(llvm::StringRef name);

}  // namespace torc

#endif  // TORC_COMPILER_ALGORITHMS_ALGORITHM_H_
