// Lists options outside the search: algorithms that do not suit the shape, options without meaning
// or gain there.
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include "compiler/choice/choice.h"
#include "compiler/choice/search.h"
#include "passes/cores/lead_cores.h"

namespace torc::compiler {
namespace {

using passes::ColorWeights;
using passes::DirectionModel;

class LeftOutFinder {
 public:
  LeftOutFinder(const Choice& choice, const CollectiveSpec& spec, const model::Machine& machine,
                const ChoiceLimits& limits)
      : candidates_(choice.candidates),
        spec_(spec),
        row_(rowOf(spec.collective)),
        machine_(machine),
        limits_(limits) {}

  std::vector<LeftOut> run() {
    findAlgorithms();
    findSettled();
    if (!tried_.empty()) {
      findWeights();
      findCuts();
      findDirections();
      findChunks();
      findSegmentOrder();
      findSends();
    }
    joinThoseOfAll();
    findLeaders();
    findGiven();
    return std::move(found_);
  }

 private:
  void add(llvm::StringRef what, llvm::StringRef reason) {
    found_.push_back({what.str(), nullptr, reason.str()});
  }
  void add(llvm::StringRef what, const Algorithm& of, llvm::StringRef reason) {
    found_.push_back({what.str(), &of, reason.str()});
  }

  /// Merges entries that hold for all of several tried algorithms.
  void joinThoseOfAll() {
    std::vector<LeftOut> joined;
    for (const LeftOut& thing : found_) {
      const auto isAlike = [&](const LeftOut& other) {
        return other.of != nullptr && other.what == thing.what && other.reason == thing.reason;
      };
      const bool is_of_all = thing.of != nullptr && tried_.size() > 1 &&
                             llvm::count_if(found_, isAlike) == static_cast<long>(tried_.size());
      if (!is_of_all) joined.push_back(thing);
      if (is_of_all && thing.of == tried_.front())
        joined.push_back({thing.what, nullptr, thing.reason});
    }
    found_ = std::move(joined);
  }

  /// Whether some candidate has this value of an option.
  template <typename Value>
  bool has(Value PipelineOptions::*option, Value value) const {
    return llvm::any_of(candidates_, [&](const Candidate& candidate) {
      return candidate.options.*option == value;
    });
  }

  void findAlgorithms() {
    for (const Algorithm& algorithm : algorithms()) {
      if (!algorithm.serves(row_)) continue;
      bool is_led = false, is_whole = false, is_tried = false;
      for (const Candidate& candidate : candidates_) {
        if (candidate.algorithm != &algorithm) continue;
        const bool has_leaders = candidate.options.led_cores > 0;
        (has_leaders ? is_led : is_whole) = true;
        is_tried |= !has_leaders && (candidate.tried || candidate.refusal.empty());
      }
      if (is_tried) tried_.push_back(&algorithm);
      (algorithm.inSegments() ? has_led_trees_ : has_led_) |= is_led;
      if (is_whole || limits_.algorithm != nullptr || limits_.leaders.value_or(false)) continue;
      add(algorithm.name.str() + (is_led ? " without leaders" : ""),
          algorithm.unsuited(spec_.topology));
    }
  }

  /// Whether options other than chunks do not change the steps of an algorithm.
  static bool isFixed(const Algorithm& algorithm) {
    return algorithm.isSettled() && algorithm.form != PlanForm::kExchanges &&
           algorithm.form != PlanForm::kRounds;
  }

  void findSettled() {
    constexpr llvm::StringRef kSettled = "the steps are settled";
    for (const Algorithm* algorithm : tried_) {
      if (algorithm->inSegments()) {
        add("weights, directions, dependences", *algorithm, kSettled);
      } else if (isFixed(*algorithm)) {
        add("weights, directions, dependences, in flight", *algorithm, kSettled);
      } else if (algorithm->isSettled()) {
        add("dependences, in flight", *algorithm, kSettled);
      }
    }
  }

  void findWeights() {
    if (limits_.weights) return;
    bool has_rings = false;
    for (const Algorithm* algorithm : tried_) {
      if (isFixed(*algorithm)) continue;
      if (!algorithm->multicolor) {
        add("weights", *algorithm, "one color has all the data");
      } else if (algorithm->isSettled()) {
        add("balanced weights", *algorithm, "they balance what rings load links with");
      } else {
        has_rings = true;
      }
    }
    if (!has_rings || has(&PipelineOptions::weights, ColorWeights::kOverlapped)) return;
    add("overlapped weights", spec_.collective == Collective::kAllreduce
                                  ? "no axis is a line of more than two nodes"
                                  : "they are for the halves of an allreduce");
  }

  void findCuts() {
    Topology detours = spec_.topology;
    if (limits_.cuts || row_.isRooted() || !detours.addDetours() ||
        has(&PipelineOptions::cuts, CutRings::kDetours) ||
        llvm::none_of(tried_, [](const Algorithm* algorithm) { return !algorithm->isSettled(); })) {
      return;
    }
    add("cuts with detours",
        "as lines, cut rings carry little more than the bound, or detours are too many");
  }

  void findDirections() {
    if (limits_.directions) return;
    for (const Algorithm* algorithm : tried_) {
      const auto has = [&](DirectionModel directions) {
        return llvm::any_of(candidates_, [&](const Candidate& candidate) {
          return candidate.algorithm == algorithm && candidate.options.led_cores == 0 &&
                 candidate.options.directions == directions;
        });
      };
      if (isFixed(*algorithm)) continue;
      const bool is_of_rings = !algorithm->isSettled();
      if (!has(DirectionModel::kUnidirectional))
        add("unidirectional links", *algorithm,
            is_of_rings ? "half of them would be idle" : "no message goes half each way");
      if (!has(DirectionModel::kHalfLatency))
        add("half-latency", *algorithm,
            is_of_rings ? "no ring has more than two nodes" : "it is of data that go round rings");
    }
  }

  void findChunks() {
    if (!limits_.chunks) {
      for (const Algorithm* algorithm : tried_) {
        if (!algorithm->isSettled())
          add("chunks", *algorithm, "segments are as many in a short file");
        if (algorithm->form == PlanForm::kRounds)
          add("chunks", *algorithm, "rounds are for short vectors");
        if (rowOf(spec_.collective).isOfNeighbours())
          add("chunks", *algorithm, "a neighbour's block is one message");
      }
    }
    if (limits_.peers || limits_.window) return;
    for (const Algorithm* algorithm : tried_) {
      if (algorithm->form == PlanForm::kExchanges)
        add("peers in order, a few at a time", *algorithm,
            "simulated links lose nothing by many messages");
    }
  }

  void findSegmentOrder() {
    const bool in_segments = llvm::any_of(
        candidates_, [](const Candidate& candidate) { return candidate.options.segments > 1; });
    if (limits_.segment_order || !in_segments ||
        has(&PipelineOptions::segment_order, passes::SegmentOrder::kPhases)) {
      return;
    }
    add("segments with phases in turn", hasLine(spec_.topology)
                                            ? "chains keep links busy, or others are far ahead"
                                            : "no axis is a line");
  }

  void findSends() {
    if (limits_.synchronous_sends || has(&PipelineOptions::synchronous_sends, true)) return;
    add("synchronous sends", machine_.eager > 0 || machine_.buffered > 0
                                 ? "no send that something waits for is buffered"
                                 : "the machine buffers no message");
  }

  void findLeaders() {
    if (limits_.leaders) return;
    if (coresOf(spec_.topology) <= 1) {
      add("leaders", "nodes have no cores");
    } else if (!passes::mayBeLed(row_)) {
      add("leaders", std::string(row_.name) + " has no such form");
    } else if (!has_led_) {
      add(has_led_trees_ ? "leaders of other steps than trees'" : "leaders",
          "the machine says no cost of a core's work, and the vector is long");
    } else {
      add("leaders with chunks, or more messages, of other steps than trees'",
          "they are for short vectors");
    }
  }

  /// Adds the options that the command line determines.
  void findGiven() {
    const std::pair<bool, llvm::StringRef> given[] = {
        {limits_.algorithm != nullptr, "other algorithms"},
        {limits_.weights.has_value(), "other weights"},
        {limits_.directions.has_value(), "other directions"},
        {limits_.dependences.has_value(), "other dependences"},
        {limits_.chunks.has_value(), "other chunks"},
        {limits_.segments.has_value(), "other segments"},
        {limits_.in_flight.has_value(), "others in flight"},
        {limits_.segment_order.has_value(), "other orders of segments"},
        {limits_.cuts.has_value(), "other forms of cut rings"},
        {limits_.synchronous_sends.has_value(), "other sends"},
        {limits_.peers.has_value(), "other orders of peers"},
        {limits_.window.has_value(), "other windows"},
        {limits_.leaders.has_value(),
         limits_.leaders.value_or(false) ? "nodes without leaders" : "leaders"},
    };
    for (const auto& [is_given, what] : given) {
      if (is_given) add(what, "the command line settles that");
    }
  }

  llvm::ArrayRef<Candidate> candidates_;
  const CollectiveSpec& spec_;
  const CollectiveRow& row_;
  const model::Machine& machine_;
  const ChoiceLimits& limits_;
  llvm::SmallVector<const Algorithm*> tried_;     // also without leaders
  bool has_led_ = false, has_led_trees_ = false;  // for steps in segments
  std::vector<LeftOut> found_;
};

}  // namespace

std::vector<LeftOut> leftOut(const Choice& choice, const CollectiveSpec& spec,
                             const model::Machine& machine, const ChoiceLimits& limits) {
  std::vector<LeftOut> all = LeftOutFinder(choice, spec, machine, limits).run();
  all.insert(all.end(), choice.left_out.begin(), choice.left_out.end());
  return all;
}

}  // namespace torc::compiler
