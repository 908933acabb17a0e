// The leader of a node's cores: before the exchanges between nodes the first core holds the data of
// all of them, and afterwards the data for all of them ("Scaling Alltoall Collective on Multi-core
// Systems", section 5: the leader based scheme). A pair of nodes has one message, of the blocks of
// all pairs of their cores.
//
// Order. Receives wait for nothing; sends wait for the operations that brought their blocks.
#include "passes/exchanges/leader.h"

namespace torc::passes {

void expandOfLeader(ExchangeSteps steps, std::uint32_t axis) {
  const bool gathers = steps.gathers();
  // From the cores that have them, or to those that get them, any at the other end.
  const auto blocksAt = [&](std::int32_t core) {
    const Interval here = Interval::relative(core), any;
    return gathers ? steps.blocks(here, any) : steps.blocks(any, here);
  };
  const auto placeAt = [&](ir::StepPlace place, std::int32_t core) {
    place.guard = steps.onlyAt(axis, core);
    return place;
  };
  ir::OperationIndices brought;
  const auto cores = static_cast<std::int32_t>(steps.topology().axes[axis].size);
  for (std::int32_t core = 1; core < cores; ++core) {
    const ir::StepPlace place = steps.newStream();
    const std::uint32_t at_leader = blocksAt(core), at_core = blocksAt(0);
    Shift moves{};
    moves[axis] = gathers ? -core : core;
    brought.push_back(steps.builder().receive(placeAt(place, gathers ? 0 : core),
                                              steps.behind(gathers ? at_leader : at_core), moves,
                                              {}));
    brought.push_back(steps.builder().send(placeAt(place, gathers ? core : 0),
                                           steps.before(gathers ? at_core : at_leader), moves,
                                           steps.after()));
  }
  const std::uint32_t kept = blocksAt(0);
  brought.push_back(steps.builder().copy(placeAt(steps.newStream(), 0), steps.behind(kept),
                                         steps.before(kept), steps.after()));
  steps.finish(std::move(brought));
}

}  // namespace torc::passes
