// Scatter and gather along binomial trees, for short vectors.
#ifndef TORC_COMPILER_ALGORITHMS_SCATTER_BINOMIAL_SCATTER_H_
#define TORC_COMPILER_ALGORITHMS_SCATTER_BINOMIAL_SCATTER_H_

#include "compiler/spec/collective_spec.h"
#include "schedules/schedule.h"

namespace torc::compiler {

/// By which links what the root sends leaves it.
enum class RootLinks {
  kFirstAxis,  // in one color, the shortest axis first: the fewest messages
  kAll,        // in a color for each link of the root, the axes in rotated orders
};

/// The steps of a scatter or a gather. Precondition: all axes wrap, and nothing is dead.
Schedule binomialScatter(const CollectiveSpec& spec, RootLinks links);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_ALGORITHMS_SCATTER_BINOMIAL_SCATTER_H_
