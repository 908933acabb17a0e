// Link loads in exact fractions: the load of the busiest link of each axis and direction, as a
// share of the vector, compared with the lower bound for equal links.
//
// The weights of colors are integers, so that every message is a fraction of the vector:
//   weight / sum of weights / (directions * chunks) * blocks / nodes.
// The bound is that of model/bounds/bounds.h for equal links: with c_i = 1 for a ring, 1/2 for a
// line, p nodes, and S any proper subset of the dimensions,
//   allgather, reduce_scatter   (1/prod_S d_i - 1/p) / (2 sum_{i not in S} c_i)
//   allreduce                   2 (p/prod_S d_i - 1) / links along dimensions not in S,
//                               1/prod_S d_i / (2 sum_{i not in S} c_i).
// The weighted colors of assign-colors{weights=balanced} reach it exactly on every torus.
#ifndef TORC_MODEL_BOUNDS_LINK_LOADS_H_
#define TORC_MODEL_BOUNDS_LINK_LOADS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include <llvm/Support/Error.h>

#include "model/bounds/fraction.h"
#include "model/simulator/routes.h"
#include "schedules/schedule.h"

namespace torc::model {

/// The load of the busiest link of a class, as a share of the vector.
struct ExactLoad {
  LinkClass link;
  Fraction share;
};

struct LinkLoads {
  struct Phase {
    std::uint32_t phase = 0;
    std::vector<ExactLoad> loads;  // by axis, + first; links in use
  };
  std::vector<Phase> phases;      // phases in which any link is in use
  std::vector<ExactLoad> totals;  // of the link with the highest load over all phases
  Fraction largest;               // of these; 0 if no link is in use
};

/// Errors: fractions beyond 128 bits, too many operations.
llvm::Expected<LinkLoads> exactLinkLoads(const ScheduleView& schedule);

/// The least load of the busiest link, as a share of the vector. std::nullopt if bandwidths differ
/// or there is damage; 0 for a single node.
std::optional<Fraction> equalLinkBound(Collective collective, const Topology& topology);

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_LINK_LOADS_H_
