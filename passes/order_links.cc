// Orders the messages that share a link, by dependences. Without this all chunks of a phase go at
// the same time, each at a fraction of the link's speed, and end together: the next phase has
// nothing to overlap with.
//
// The messages of a stream over a link in a phase are a chain. Of the chains of a link, in the
// order of the list (phase by phase, chunk by chunk), at most `in-flight` are active: a chain
// begins when the one that many places before it has ended. That counts for the node's sends over
// the link and for its receives in the same direction from the other side. (Sends alone would not
// do: a short message is sent as soon as it is buffered.) One chain in flight leaves the link idle
// for the latency of each message and the reduction after it. With two, one is reduced while the
// other is transferred. The second begins when the first has sent its first message: chains that
// begin together share the link evenly, end each message together, and then wait at the same time.
//
// "Earliest phase first, then earliest chunk" keeps all links of a weighted schedule busy. With K
// chunks the idle time falls at least as 1/K, and to nothing from a number of chunks on: with
// in-flight=1 at K = 32 the excess over the bound is 0.000 on 4x4x2, 0.005 on 12x10x3x2, 0.022 on
// 2x2x32.
//
// Dependences name earlier operations only, so they cannot close a cycle on one node; the verifier
// excludes cycles over several (rule progress).
#include "passes/order_links.h"

#include <map>
#include <tuple>

#include <llvm/ADT/STLExtras.h>

#include "passes/analysis/dependences.h"
#include "passes/analysis/limits.h"
#include "schedules/broken_messages.h"

namespace torc::passes {
namespace {

using Indices = llvm::SmallVector<std::uint32_t, 8>;

/// The operations of one message: several if nodes at the end of a line use others than those in
/// the middle. Each node executes at most one of them.
struct Step {
  Region blocks;
  Indices operations;

  bool isOf(const Region& sent) const {
    return blocks.pieces == sent.pieces && blocks.box == sent.box;
  }
  void add(std::uint32_t index, const Region& sent) {
    if (!isOf(sent)) operations.clear();
    blocks = sent;
    operations.push_back(index);
  }
};

/// The messages of a stream on a link in a phase.
struct Chain {
  Step first_send, last_send, send_before;
  Indices receives;  // the last receive of every node
};

/// The first link of a message over `shift`: by axis and direction.
std::uint32_t linkOf(const Topology& topology, const Shift& shift, bool receives) {
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (shift[axis] == 0) continue;
    // A received message has come from the other side.
    const std::int32_t distance = receives ? -shift[axis] : shift[axis];
    return 2 * axis + (topology.axes[axis].linkSign(distance) < 0 ? 1 : 0);
  }
  return kNone;
}

class LinkOrder {
 public:
  LinkOrder(const Schedule& schedule, std::uint32_t in_flight)
      : schedule_(schedule), view_(schedule.view()), in_flight_(in_flight) {}

  /// Appends the dependences of operation `index`; call in the order of the list.
  void add(std::uint32_t index, Indices& candidates) {
    const Operation& operation = schedule_.operations[index];
    if (operation.peer == kNone || isSignal(operation.kind)) return;
    if (operation.hasPeerLoop()) return;     // its messages are on all links at once
    if (isDetour(view_, operation)) return;  // few operations depend on it
    const bool is_receive = receives(operation.kind);
    const std::uint32_t link =
        linkOf(schedule_.topology, schedule_.shifts[operation.peer], is_receive);
    std::vector<Chain>& chains = chains_[link];
    const std::tuple key(link, operation.phase, operation.stream);
    const auto [found, is_new] = chain_of_.try_emplace(key, chains.size());
    if (is_new) chains.emplace_back();
    const std::size_t number = found->second;
    Chain& chain = chains[number];
    const bool everywhere = operation.guard == kNone;
    if (is_receive) {
      if (everywhere) chain.receives.clear();
      chain.receives.push_back(index);
      return;
    }
    if (!chain.last_send.isOf(operation.a)) chain.send_before = chain.last_send;
    chain.last_send.add(index, operation.a);
    if (chain.send_before.operations.empty()) chain.first_send = chain.last_send;
    // The nodes of a line take part in some steps only. Each of their sends waits for the one
    // before, so that a dependence on the last one implies the node's own last one: dependences
    // pass through operations that a node does not execute.
    const bool begins = !continuesChain(operation);
    if (begins || !everywhere) llvm::append_range(candidates, chain.send_before.operations);
    if (!begins) return;
    if (in_flight_ > 1 && number > 0) {
      llvm::append_range(candidates, chains[number - 1].first_send.operations);
    }
    if (number < in_flight_) return;
    const Chain& before = chains[number - in_flight_];
    llvm::append_range(candidates, before.last_send.operations);
    llvm::append_range(candidates, before.receives);
  }

 private:
  /// Whether the operation waits for another of its stream and phase.
  bool continuesChain(const Operation& operation) const {
    for (const std::uint32_t d : view_.dependencesOf(operation)) {
      const Operation& before = schedule_.operations[d];
      if (before.stream == operation.stream && before.phase == operation.phase) return true;
    }
    return false;
  }

  const Schedule& schedule_;
  const ScheduleView view_;
  const std::uint32_t in_flight_;
  std::map<std::uint32_t, std::vector<Chain>> chains_;  // by link
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> chain_of_;
};

class OrderLinks final : public Pass {
 public:
  explicit OrderLinks(const OrderLinksPass& options)
      : Pass("order-links", "lets earlier phases and chunks go first on every link",
             PassLevel::kStep),
        in_flight_(*this, "in-flight", "chains of messages that share a link at a time", 1,
                   kMostInFlight, options.in_flight) {}

  llvm::Expected<PassResult> run(ir::Program& program) override {
    Schedule& schedule = program.schedule;
    const ScheduleView view = schedule.view();
    LinkOrder order(schedule, *in_flight_);
    Dependences dependences(schedule.operations.size());
    Indices candidates;
    for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
      const auto old = view.dependencesOf(schedule.operations[i]);
      candidates.assign(old.begin(), old.end());
      order.add(i, candidates);
      if (candidates.size() == old.size()) {
        dependences.add(candidates);
      } else {
        dependences.addReduced(candidates);
      }
      if (llvm::Error error = checkLimits(i, dependences.size())) return error;
    }
    added_ =
        static_cast<double>(dependences.size()) - static_cast<double>(schedule.dependences.size());
    return changed(dependences.apply(schedule));
  }

 private:
  IntegerOption in_flight_;
  PassStatistic added_{*this, "dependences added"};
};

}  // namespace

std::unique_ptr<Pass> makePass(const OrderLinksPass& options) {
  return std::make_unique<OrderLinks>(options);
}

}  // namespace torc::passes
