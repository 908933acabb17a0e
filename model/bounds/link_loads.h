// Link loads in exact fractions: what the busiest link of each axis and direction carries, as a
// share of the vector, and how that compares with the lower bound where all links are alike.
//
// The weights of colors are whole numbers, so that every message is a fraction of the vector:
//   weight / sum of weights / (directions * chunks) * blocks / nodes.
// The bound is that of model/bounds/bounds.h where all links are alike: with c_i = 1 for a ring,
// 1/2 for a line, p nodes, and S any set of dimensions but all,
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

/// A share of the vector, carried by the busiest link of a class.
struct ExactLoad {
  LinkClass link;
  Fraction share;
};

struct LinkLoads {
  struct Phase {
    std::uint32_t phase = 0;
    std::vector<ExactLoad> loads;  // by axis, + first; links in use
  };
  std::vector<Phase> phases;      // those in which any link is in use
  std::vector<ExactLoad> totals;  // of the link that carries most in all phases together
  Fraction largest;               // of these; 0 where no link is in use
};

/// Errors: fractions beyond 128 bits, too many operations.
llvm::Expected<LinkLoads> exactLinkLoads(const ScheduleView& schedule);

/// The least that the busiest link can carry, as a share of the vector. Nothing where bandwidths
/// differ or something is dead; 0 for a single node.
std::optional<Fraction> equalLinkBound(Collective collective, const Topology& topology);

}  // namespace torc::model

#endif  // TORC_MODEL_BOUNDS_LINK_LOADS_H_
