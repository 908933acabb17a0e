// Messages of ranks at arbitrary places of a torus, which share its links ("Improving communication
// performance in dense linear algebra via topology aware collectives", Solomonik, Bhatele and
// Demmel, SC 2011): a multicast if the scheduler allocates no boxes (section 1: Cray XT5 and XE6),
// and the shifts of a 2-D grid on a 3-D torus (section 3: Cannon's algorithm).
#ifndef TORC_STUDIES_LOGP_PLACED_RANKS_H_
#define TORC_STUDIES_LOGP_PLACED_RANKS_H_

#include <cstdint>

#include <llvm/ADT/ArrayRef.h>

#include "model/machines/machine.h"
#include "schedules/topology/topology.h"

namespace torc::studies {

/// Seconds until the last of the ranks has `bytes` > 0 from rank 0; 0 with one rank. Rank i runs at
/// places[i]; messages between ranks at one place take half of its memory's bandwidth. A rank that
/// has the message sends it whole to its children, one after the other, the farthest first, as in
/// MPI libraries. A message starts with the machine's o, alpha and L and the latencies of its hops;
/// then its bytes use all links of its route at once, dimension by dimension, the shorter way
/// around, and share them max-min fairly with the others' (model/simulator/fair_share.h).
double placedBinomialMulticast(const model::Machine& machine, llvm::ArrayRef<Coordinates> places,
                               double bytes);

/// The most messages on one link, in one direction, if every node of the torus sends one: node i to
/// receivers[i], nodes in order, X fastest; routes as above.
std::uint32_t mostMessagesOnALink(const model::Machine& machine,
                                  llvm::ArrayRef<std::uint32_t> receivers);

}  // namespace torc::studies

#endif  // TORC_STUDIES_LOGP_PLACED_RANKS_H_
