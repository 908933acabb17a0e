// The leader of a node's cores: the first core holds what all of them send before the exchanges
// between nodes, and what all of them get after these ("Scaling Alltoall Collective on Multi-core
// Systems", section 5: the leader based scheme). A pair of nodes has one message, of the blocks of
// all pairs of their cores.
//
// Order. Receives wait for nothing; what is sent waits for what brought it.
#include "passes/exchanges/leader.h"

namespace torc {
namespace {

Shift along(std::uint32_t axis, std::int32_t cores) {
  Shift shift{};
  shift[axis] = cores;
  return shift;
}

}  // namespace

void expandLeaderGather(ExchangeSteps steps, std::uint32_t axis) {
  const Interval own = Interval::relative(0), any;
  OperationIndices brought;
  const auto cores = static_cast<std::int32_t>(steps.topology().axes[axis].size);
  for (std::int32_t core = 1; core < cores; ++core) {
    StepPlace place = steps.newStream();
    place.guard = steps.onlyAt(axis, 0);
    const std::uint32_t gathered = steps.blocks(Interval::relative(core), any);
    brought.push_back(
        steps.builder().receive(place, steps.behind(gathered), along(axis, -core), {}));
    place.guard = steps.onlyAt(axis, core);
    const std::uint32_t sent = steps.blocks(own, any);
    brought.push_back(
        steps.builder().send(place, steps.before(sent), along(axis, -core), steps.after()));
  }
  StepPlace place = steps.newStream();
  place.guard = steps.onlyAt(axis, 0);
  const std::uint32_t kept = steps.blocks(own, any);
  brought.push_back(
      steps.builder().copy(place, steps.behind(kept), steps.before(kept), steps.after()));
  steps.finish(std::move(brought));
}

void expandLeaderScatter(ExchangeSteps steps, std::uint32_t axis) {
  const Interval own = Interval::relative(0), any;
  OperationIndices brought;
  const auto cores = static_cast<std::int32_t>(steps.topology().axes[axis].size);
  for (std::int32_t core = 1; core < cores; ++core) {
    StepPlace place = steps.newStream();
    place.guard = steps.onlyAt(axis, core);
    const std::uint32_t received = steps.blocks(any, own);
    brought.push_back(
        steps.builder().receive(place, steps.behind(received), along(axis, core), {}));
    place.guard = steps.onlyAt(axis, 0);
    const std::uint32_t sent = steps.blocks(any, Interval::relative(core));
    brought.push_back(
        steps.builder().send(place, steps.before(sent), along(axis, core), steps.after()));
  }
  StepPlace place = steps.newStream();
  place.guard = steps.onlyAt(axis, 0);
  const std::uint32_t kept = steps.blocks(any, own);
  brought.push_back(
      steps.builder().copy(place, steps.behind(kept), steps.before(kept), steps.after()));
  steps.finish(std::move(brought));
}

}  // namespace torc
