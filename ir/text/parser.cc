// Parses a program: the header, the colors, then a plan or the step level (steps_parser.h).
// One function per rule of the grammar in docs/developers/ir.md.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>

#include "ir/make_error.h"
#include "ir/schedule_builder.h"
#include "ir/text/cursor.h"
#include "ir/text/format.h"
#include "ir/text/steps_parser.h"
#include "ir/text/text.h"
#include "schedules/validation/validate.h"

namespace torc::ir {
namespace {

std::string promiseNames() {
  std::string names;
  for (const PromiseName& promise : kPromises)
    names += (names.empty() ? "" : " or ") + std::string(promise.name);
  return names;
}

class ProgramParser {
 public:
  ProgramParser(llvm::StringRef text, llvm::StringRef origin) : cursor_(text, origin) {}

  llvm::Expected<Program> parse() {
    if (parseSchedule()) return std::move(program_);
    return makeError(cursor_.error());
  }

  std::vector<std::size_t> takeOperationPlaces() { return std::move(places_.operations); }

 private:
  [[nodiscard]] bool parseSchedule() {
    if (!cursor_.expect("schedule")) return false;
    name_place_ = cursor_.offset();
    if (cursor_.token().kind != TokenKind::kName)
      return cursor_.failExpected("a name (@allreduce)");
    schedule_.name = cursor_.token().text.drop_front().str();
    cursor_.advance();
    if (!cursor_.expect("{", "after the name") || !parseCollective() || !parseTopology()) {
      return false;
    }
    producer_place_ = cursor_.offset();
    if (cursor_.take("producer") && !cursor_.string(schedule_.producer, "a string in quotes")) {
      return false;
    }
    while (cursor_.take("promise")) {
      if (!parsePromise()) return false;
    }
    if (cursor_.take("sends")) {
      if (!cursor_.expect("synchronous")) return false;
      schedule_.flags |= kSynchronousSends;
    }
    if (cursor_.take("broken")) {
      if (!cursor_.expect("messages") || !cursor_.expect("dropped")) return false;
      schedule_.flags |= kDropsBroken;
    }
    while (cursor_.at("color")) {
      if (!parseColor()) return false;
    }
    if (!checkWeights() || !(cursor_.at("plan") ? parsePlan() : parseSteps())) return false;
    if (!cursor_.at("}")) {
      return cursor_.failName("'}' or what may follow here",
                              {"producer", "promise", "sends", "broken", "color", "plan", "stream",
                               "slots", "frame", "phase"});
    }
    cursor_.advance();
    if (cursor_.token().kind != TokenKind::kEnd) return cursor_.failExpected("the end of the text");
    return checkStructure();
  }

  // collective allreduce
  [[nodiscard]] bool parseCollective() {
    if (!cursor_.expect("collective")) return false;
    for (int i = 0; i < kCollectiveCount; ++i) {
      schedule_.collective = static_cast<Collective>(i);
      if (cursor_.take(rowOf(schedule_.collective).name)) return true;
    }
    std::vector<llvm::StringRef> names;
    for (const CollectiveRow& row : collectiveRows())
      names.emplace_back(row.name);
    return cursor_.failName("a collective", names);
  }

  // topology torus [X=4, Y=4 mesh, T=2 cores] order XYT dead-nodes [(1, 2)], or topology graph
  // [X=3] order X links [0->1 bandwidth 5e+10 latency 5e-07]
  [[nodiscard]] bool parseTopology() {
    topology_place_ = cursor_.offset();
    Topology& topology = schedule_.topology;
    if (!cursor_.expect("topology")) return false;
    const bool is_graph = cursor_.take("graph");
    if (!is_graph && !cursor_.take("torus")) return cursor_.failExpected("'torus' or 'graph'");
    if (!cursor_.expect("[")) return false;
    do {
      if (topology.axis_count == kMaxAxes) {
        return cursor_.fail(cursor_.offset(), "more than " + llvm::Twine(kMaxDimensions) +
                                                  " dimensions and the cores");
      }
      axis_places_.push_back(cursor_.offset());
      if (!parseAxis(topology.axes[topology.axis_count])) return false;
      ++topology.axis_count;
    } while (cursor_.take(","));
    if (!cursor_.expect("]", "after the axes") || !cursor_.expect("order") ||
        !parseOrder(topology, topology.order)) {
      return false;
    }
    // Checked now, as later text names its axes.
    const Status axes = topology.validate();
    if (!axes.ok()) return cursor_.fail(placeOf(axes.message()), axes.message());
    if (is_graph) return parseLinks();
    if (!parseDamage(topology)) return false;
    const std::size_t place = cursor_.offset();
    if (cursor_.take("detours") && !topology.addDetours())
      return cursor_.fail(place, "no rings are cut at one coordinate");
    const Status damage = topology.validate();
    return damage.ok() || cursor_.fail(topology_place_, damage.message());
  }

  // Y=4 mesh bandwidth 0.5 latency 1e-07
  [[nodiscard]] bool parseAxis(Axis& axis) {
    const Token name = cursor_.token();
    if (name.kind != TokenKind::kWord || name.text.size() != 1 || !llvm::isUpper(name.text[0])) {
      return cursor_.failExpected("the name of an axis (A to Z)");
    }
    if (schedule_.topology.axisNamed(name.text[0]) < schedule_.topology.axis_count)
      return cursor_.fail(name.offset, "axis " + name.text + " is given twice");
    axis.name = name.text[0];
    cursor_.advance();
    if (!cursor_.expect("=", "after the axis") ||
        !cursor_.integer(axis.size, "a size", 1, std::numeric_limits<std::int32_t>::max())) {
      return false;
    }
    if (cursor_.take("mesh")) {
      axis.kind = AxisKind::kMesh;
    } else if (cursor_.take("cores")) {
      axis.kind = AxisKind::kCore;
    }
    if (cursor_.take("bandwidth") && !cursor_.real(axis.bandwidth, "a bandwidth")) return false;
    return !cursor_.take("latency") || cursor_.real(axis.latency, "a latency");
  }

  // dead-links [(0, 0, 1)Z, (1, 2, 3)X] dead-nodes [(1, 2, 3)]
  [[nodiscard]] bool parseDamage(Topology& topology) {
    while (cursor_.take("dead")) {
      if (!cursor_.expect("-", "and 'links' or 'nodes'")) return false;
      const bool links = cursor_.at("links");
      if (!links && !cursor_.at("nodes")) return cursor_.failExpected("'links' or 'nodes'");
      cursor_.advance();
      if (!cursor_.expect("[")) return false;
      do {
        const std::size_t place = cursor_.offset();
        DeadLink link;
        if (!parseNode(topology, link.from)) return false;
        if (links && !cursor_.axis(topology, link.axis)) return false;
        const Status status = links ? topology.addDeadLink(link) : topology.addDeadNode(link.from);
        if (!status.ok()) return cursor_.fail(place, status.message());
      } while (cursor_.take(","));
      if (!cursor_.expect("]", links ? "after the dead links" : "after the dead nodes"))
        return false;
    }
    return true;
  }

  // links [0->1 bandwidth 5e+10 latency 5e-07, 1->0 bandwidth 5e+10 latency 5e-07]
  [[nodiscard]] bool parseLinks() {
    if (!cursor_.expect("links") || !cursor_.expect("[")) return false;
    do {
      places_.links.push_back(cursor_.offset());
      GraphLink& link = schedule_.links.emplace_back();
      if (!cursor_.integer(link.from, "a node") || !cursor_.expect("->") ||
          !cursor_.integer(link.to, "a node") || !cursor_.expect("bandwidth") ||
          !cursor_.real(link.bandwidth, "a bandwidth, bytes/s") || !cursor_.expect("latency") ||
          !cursor_.real(link.latency, "a latency, seconds")) {
        return false;
      }
    } while (cursor_.take(","));
    if (!cursor_.expect("]", "after the links")) return false;
    const Status graph = validateGraph(schedule_.topology, schedule_.links);
    return graph.ok() || cursor_.fail(placeOf(graph.message()), graph.message());
  }

  // (0, 0, 1): every network dimension
  [[nodiscard]] bool parseNode(const Topology& topology, Coordinates& node) {
    if (!cursor_.expect("(")) return false;
    for (int axis = 0; axis < topology.dimensions(); ++axis) {
      if (axis > 0 && !cursor_.expect(",", "and the other coordinates")) return false;
      if (!cursor_.integer(node[axis], "a coordinate", 0,
                           std::numeric_limits<std::int32_t>::max())) {
        return false;
      }
    }
    return cursor_.expect(")", "after the coordinates");
  }

  // XYZ: every axis once
  [[nodiscard]] bool parseOrder(const Topology& topology,
                                std::array<std::uint8_t, kMaxAxes>& order) {
    const std::size_t place = cursor_.offset();
    llvm::SmallVector<std::uint8_t, kMaxAxes> axes;
    if (!parseAxes(topology, "the axes in order (XYZ)", axes)) return false;
    std::copy(axes.begin(), axes.end(), order.begin());
    if (axes.size() == topology.axis_count) return true;
    return cursor_.fail(place, "the order names " + llvm::Twine(axes.size()) + " of " +
                                   llvm::Twine(topology.axis_count) + " axes");
  }

  // XZ: some axes, each once
  [[nodiscard]] bool parseAxes(const Topology& topology, llvm::StringRef what,
                               llvm::SmallVectorImpl<std::uint8_t>& axes) {
    const std::size_t place = cursor_.offset();
    llvm::StringRef names;
    if (!cursor_.word(names, what)) return false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::uint32_t axis = topology.axisNamed(names[i]);
      if (axis == topology.axis_count) {
        return cursor_.failAxis(topology, place + i, names.substr(i, 1));
      }
      if (llvm::is_contained(axes, axis)) {
        return cursor_.fail(place + i, "axis " + llvm::Twine(names[i]) + " occurs twice");
      }
      axes.push_back(static_cast<std::uint8_t>(axis));
    }
    return true;
  }

  // promise conflict-free-phases
  [[nodiscard]] bool parsePromise() {
    const std::size_t place = cursor_.offset();
    const std::string known = promiseNames();
    llvm::StringRef word;
    std::string name;
    do {
      if (!cursor_.word(word, known)) return false;
      name += (name.empty() ? "" : "-") + word.str();
    } while (cursor_.take("-"));
    for (const PromiseName& promise : kPromises) {
      if (promise.name != name) continue;
      if (schedule_.flags & promise.flag) return cursor_.fail(place, "is promised twice");
      schedule_.flags |= promise.flag;
      return true;
    }
    return cursor_.fail(place, "unknown promise (there is " + known + ")");
  }

  // color 0 weight 1/3 order XYZ directions 2 chunks 1
  [[nodiscard]] bool parseColor() {
    places_.colors.push_back(cursor_.offset());
    Color color;
    color.axis_count = schedule_.topology.axis_count;
    if (!cursor_.expect("color") || !cursor_.numbered(schedule_.colors.size(), "colors") ||
        !cursor_.expect("weight") || !parseWeight(color.weight) || !cursor_.expect("order") ||
        !parseOrder(schedule_.topology, color.order)) {
      return false;
    }
    if (cursor_.take("directions") &&
        !cursor_.integer(color.directions, "the number of directions", 1, 2)) {
      return false;
    }
    const std::size_t chunks_place = cursor_.offset();
    if (cursor_.take("chunks") &&
        !cursor_.integer(color.chunks, "the number of chunks", 1, kMaxParts)) {
      return false;
    }
    parts_ += std::uint64_t{color.directions} * color.chunks;
    if (parts_ > kMaxParts) {
      return cursor_.fail(chunks_place, "more than " + llvm::Twine(kMaxParts) + " parts");
    }
    schedule_.colors.push_back(color);
    return true;
  }

  // 1/3, where 3 is the sum of all weights
  [[nodiscard]] bool parseWeight(std::uint64_t& weight) {
    constexpr std::uint64_t kMaxWeight = std::numeric_limits<std::int64_t>::max();
    const std::size_t place = cursor_.offset();
    weight_places_.push_back(place);
    if (!cursor_.integer(weight, 1, kMaxWeight, "a weight") ||
        !cursor_.expect("/", "and the sum of all weights")) {
      return false;
    }
    const std::size_t denominator_place = cursor_.offset();
    std::uint64_t denominator = 0;
    if (!cursor_.integer(denominator, 1, kMaxWeight, "the sum of all weights")) return false;
    if (denominator_ != 0 && denominator != denominator_) {
      return cursor_.fail(denominator_place, "the colors before have " + llvm::Twine(denominator_) +
                                                 " as the sum of all weights");
    }
    denominator_ = denominator;
    if (weight > denominator_ - weights_) {
      return cursor_.fail(place, "the weights add up to more than " + llvm::Twine(denominator_));
    }
    weights_ += weight;
    return true;
  }

  [[nodiscard]] bool checkWeights() {
    if (weights_ == denominator_) return true;
    return cursor_.fail(weight_places_.back(), "the weights add up to " + llvm::Twine(weights_) +
                                                   ", not " + llvm::Twine(denominator_));
  }

  // plan { ring_reduce_scatter color 0 on X  phase_barrier  exchange color 0 on XY ... }
  [[nodiscard]] bool parsePlan() {
    if (!cursor_.expect("plan") || !cursor_.expect("{")) return false;
    while (!cursor_.take("}")) {
      PlanOperation operation;
      if (cursor_.take(name(PlanKind::kPhaseBarrier))) {
        program_.plan.push_back(operation);
        continue;
      }
      if (!takePlanKind(operation.kind)) {
        std::vector<llvm::StringRef> names = {name(PlanKind::kPhaseBarrier)};
        for (int i = 0; i < kPlanKindCount; ++i)
          names.push_back(name(static_cast<PlanKind>(i)));
        return cursor_.failName("a plan operation or '}'", names);
      }
      if (!cursor_.expect("color", "of the operation")) return false;
      const std::size_t place = cursor_.offset();
      if (!cursor_.integer(operation.color, "the number of a color")) return false;
      if (operation.color >= schedule_.colors.size()) {
        return cursor_.fail(place, "color " + llvm::Twine(operation.color) +
                                       " does not exist (schedule has " +
                                       llvm::Twine(schedule_.colors.size()) + ")");
      }
      if (operation.kind == PlanKind::kExchange) {
        llvm::SmallVector<std::uint8_t, kMaxAxes> axes;
        if (!cursor_.expect("on", "and axes") ||
            !parseAxes(schedule_.topology, "the axes (XYZ)", axes)) {
          return false;
        }
        for (const std::uint8_t axis : axes)
          operation.axes |= 1u << axis;
        if (cursor_.take("stride") && !parseStride(operation)) return false;
      } else if (!cursor_.expect("on", "and an axis") ||
                 !cursor_.axis(schedule_.topology, operation.axis)) {
        return false;
      }
      if (operation.isRing() && cursor_.take("half")) {
        if (!cursor_.expect("-", "and 'latency'") || !cursor_.expect("latency")) return false;
        operation.half_latency = true;
      }
      program_.plan.push_back(operation);
    }
    if (cursor_.at("stream") || cursor_.at("slots") || cursor_.at("frame") || cursor_.at("phase")) {
      return cursor_.fail(cursor_.offset(), "a schedule has a plan or steps, not both");
    }
    return true;
  }

  [[nodiscard]] bool takePlanKind(PlanKind& kind) {
    for (int i = 0; i < kPlanKindCount; ++i) {
      kind = static_cast<PlanKind>(i);
      if (cursor_.take(name(kind))) return true;
    }
    return false;
  }

  /// `stride 4 on Y` of an exchange.
  [[nodiscard]] bool parseStride(PlanOperation& operation) {
    const std::size_t place = cursor_.offset();
    if (!cursor_.integer(operation.stride, "a stride") || !cursor_.expect("on", "and an axis") ||
        !cursor_.axis(schedule_.topology, operation.axis)) {
      return false;
    }
    const Axis& axis = schedule_.topology.axes[operation.axis];
    if ((operation.axes >> operation.axis & 1) == 0) {
      return cursor_.fail(place, llvm::Twine(axis.name) + " is no axis of the exchange");
    }
    if (operation.stride > 1 && operation.stride < axis.size && axis.size % operation.stride == 0)
      return true;
    return cursor_.fail(place, "stride " + llvm::Twine(operation.stride) + " does not cut " +
                                   llvm::Twine(axis.name) + "=" + llvm::Twine(axis.size) +
                                   " into equal parts of more than one node");
  }

  [[nodiscard]] bool parseSteps() {
    ScheduleBuilder builder(schedule_);
    if (!StepsParser(cursor_, builder, places_).parse()) return false;
    schedule_ = builder.take();
    return true;
  }

  [[nodiscard]] bool checkStructure() {
    const Status status = validate(schedule_.view());
    return status.ok() || cursor_.fail(placeOf(status.message()), status.message());
  }

  /// The place of the record that begins a message of validation: `operation 17: ...`.
  std::size_t placeOf(llvm::StringRef message) const {
    if (message.starts_with("producer")) return producer_place_;
    if (message.contains("slots for")) return places_.slots;
    if (message.starts_with("segments") || message.starts_with("window")) return places_.segments;
    if (message.consume_front("topology: ") && !message.starts_with("axis "))
      return topology_place_;
    const struct {
      llvm::StringRef record;
      const std::vector<std::size_t>& places;
    } tables[] = {{"axis ", axis_places_},
                  {"link ", places_.links},
                  {"color ", places_.colors},
                  {"stream ", places_.streams},
                  {"frame ", places_.frames},
                  {"box ", places_.boxes},
                  {"pair ", places_.pairs},
                  {"shift ", places_.shifts},
                  {"loop over peers ", places_.peer_loops},
                  {"loop ", places_.loops},
                  {"operation ", places_.operations}};
    for (const auto& [record, places] : tables) {
      std::size_t index = 0;
      if (message.consume_front(record) && !message.consumeInteger(10, index) &&
          index < places.size()) {
        return places[index];
      }
    }
    return name_place_;
  }

  TextCursor cursor_;
  Program program_;
  Schedule& schedule_ = program_.schedule;
  RecordPlaces places_;
  std::size_t name_place_ = 0, topology_place_ = 0, producer_place_ = 0;
  std::vector<std::size_t> axis_places_, weight_places_;
  std::uint64_t denominator_ = 0;  // of the colors' weights
  std::uint64_t weights_ = 0;      // their sum
  std::uint64_t parts_ = 0;
};

}  // namespace

llvm::Expected<Program> parseProgram(llvm::StringRef text, llvm::StringRef origin,
                                     std::vector<std::size_t>* operation_places) {
  ProgramParser parser(text, origin);
  llvm::Expected<Program> program = parser.parse();
  if (operation_places != nullptr) *operation_places = parser.takeOperationPlaces();
  return program;
}

}  // namespace torc::ir
