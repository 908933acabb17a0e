// Orders the messages that share a link, by dependences. Without it all chunks of a phase go at the
// same time, each at a fraction of the link's speed, and end together: nothing is left for the next
// phase to overlap with.
//
// What a stream sends over a link in a phase is a chain. Of the chains of a link, in the order of
// the list (phase by phase, chunk by chunk), at most `in-flight` are under way: a chain begins when
// the one so many places before it has ended, in what the node sends over the link and in what it
// receives in the same direction from the other side. (Sending alone would not do: a short message
// counts as sent when it has been buffered.) One chain in flight leaves the link idle for the
// latency of each message and the reduction after it; two hide both; more of them end later, and
// the next phase begins later.
//
// "Earliest phase first, then earliest chunk" keeps all links of a weighted schedule busy. With K
// chunks what is idle falls at least as 1/K, and to nothing from a number of chunks on: with
// in-flight=1 at K = 32 the excess over the bound is 0.000 on 4x4x2, 0.005 on 12x10x3x2, 0.022 on
// 2x2x32.
//
// Dependences name earlier operations only, so none of this can close a circle on one node; that no
// circle closes over several is for the verifier to show (rule progress).
#include "passes/order_links.h"

#include <map>

#include "passes/dependences.h"
#include "passes/limits.h"

namespace torc {
namespace {

using Indices = llvm::SmallVector<std::uint32_t, 8>;

/// What a stream does on a link in a phase.
struct Chain {
  std::uint32_t phase = 0, stream = 0;
  std::uint32_t last_send = kNone, last_receive = kNone;
};

/// The link that a message over `shift` starts on: by axis and direction. The two ways round a line
/// of two are one cable.
std::uint32_t linkOf(const Topology& topology, const Shift& shift, bool receives) {
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (shift[axis] == 0) continue;
    const Axis& line = topology.axes[axis];
    const bool one_cable = line.kind == AxisKind::kMesh && line.size == 2;
    return 2 * axis + (!one_cable && (shift[axis] < 0) != receives ? 1 : 0);
  }
  return kNone;
}

class LinkOrder {
 public:
  LinkOrder(const Schedule& schedule, std::uint32_t in_flight)
      : schedule_(schedule), view_(schedule.view()), in_flight_(in_flight) {}

  /// Appends what operation `index` is to wait for; operations come in the order of the list.
  void add(std::uint32_t index, Indices& candidates) {
    const Operation& operation = schedule_.operations[index];
    if (operation.peer == kNone) return;
    const bool is_receive = receives(operation.kind);
    const std::uint32_t link =
        linkOf(schedule_.topology, schedule_.shifts[operation.peer], is_receive);
    std::vector<Chain>& chains = chains_[link];
    // Messages of a chain are listed together, but for those of lines of two and of streams that a
    // phase names more than once.
    std::uint32_t& number =
        chain_of_.try_emplace({link, operation.phase, operation.stream}, kNone).first->second;
    if (number == kNone) {
      number = static_cast<std::uint32_t>(chains.size());
      chains.push_back({operation.phase, operation.stream});
    }
    Chain& chain = chains[number];
    if (is_receive) {
      chain.last_receive = index;
      return;
    }
    if (!continuesChain(operation)) {
      // The steps of a line begin at its end without having received anything: they keep their
      // order.
      if (chain.last_send != kNone) candidates.push_back(chain.last_send);
      if (number >= in_flight_) {
        const Chain& before = chains[number - in_flight_];
        for (const std::uint32_t last : {before.last_send, before.last_receive}) {
          if (last != kNone) candidates.push_back(last);
        }
      }
    }
    chain.last_send = index;
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
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> chain_of_;
};

class OrderLinks final : public Pass {
 public:
  OrderLinks()
      : Pass("order-links", "lets earlier phases and chunks go first on every link",
             PassLevel::kStep) {}

  llvm::Expected<PassResult> run(Program& program) override {
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
  IntegerOption in_flight_{*this, "in-flight", "chains of messages that share a link at a time",
                           1,     64,          2};
  PassStatistic added_{*this, "dependences added"};
};

}  // namespace

std::unique_ptr<Pass> createOrderLinksPass() {
  return std::make_unique<OrderLinks>();
}

}  // namespace torc
