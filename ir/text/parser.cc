// Parses a program: the header, the colors, then a plan or the step level (steps_parser.h).
// One function per rule of the grammar in docs/developers/ir.md.
#include <limits>
#include <string>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>

#include "ir/schedule_builder.h"
#include "ir/text/cursor.h"
#include "ir/text/format.h"
#include "ir/text/steps_parser.h"
#include "ir/text/text.h"
#include "ir/thrown.h"
#include "schedules/faults/reject.h"
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
    return caught([&] {
      parseSchedule();
      return std::move(program_);
    });
  }

  std::vector<std::size_t> takeOperationPlaces() { return std::move(places_["operation"]); }

 private:
  using Axes = llvm::SmallVector<std::uint8_t, kMaxAxes>;

  void parseSchedule() {
    cursor_.expect("schedule");
    name_place_ = cursor_.offset();
    if (cursor_.token().kind != TokenKind::kName) cursor_.failExpected("a name (@allreduce)");
    schedule_.name = cursor_.token().text.drop_front().str();
    cursor_.advance();
    cursor_.expect("{", "after the name");
    parseCollective();
    parseTopology();
    producer_place_ = cursor_.offset();
    if (cursor_.take("producer")) schedule_.producer = cursor_.string("a string in quotes");
    while (cursor_.take("promise"))
      parsePromise();
    if (cursor_.take("sends")) {
      cursor_.expect("synchronous");
      schedule_.flags |= kSynchronousSends;
    }
    if (cursor_.take("broken")) {
      cursor_.expect("messages");
      cursor_.expect("dropped");
      schedule_.flags |= kDropsBroken;
    }
    while (cursor_.at("color"))
      parseColor();
    checkWeights();
    cursor_.at("plan") ? parsePlan() : parseSteps();
    if (!cursor_.at("}")) {
      cursor_.failName("'}' or what may follow here",
                       {"producer", "promise", "sends", "broken", "color", "plan", "stream",
                        "slots", "frame", "phase"});
    }
    cursor_.advance();
    if (cursor_.token().kind != TokenKind::kEnd) cursor_.failExpected("the end of the text");
    checkStructure();
  }

  // collective allreduce
  void parseCollective() {
    cursor_.expect("collective");
    std::vector<llvm::StringRef> names;
    for (const CollectiveRow& row : collectiveRows())
      names.emplace_back(row.name);
    schedule_.collective = static_cast<Collective>(cursor_.named("a collective", names));
  }

  // topology torus [X=4, Y=4 mesh, T=2 cores] order XYT dead-nodes [(1, 2)], or topology graph
  // [X=3] order X links [0->1 bandwidth 5e+10 latency 5e-07]
  void parseTopology() {
    topology_place_ = cursor_.offset();
    Topology& topology = schedule_.topology;
    cursor_.expect("topology");
    const bool is_graph = cursor_.take("graph");
    if (!is_graph && !cursor_.take("torus")) cursor_.failExpected("'torus' or 'graph'");
    cursor_.expect("[");
    do {
      if (topology.axis_count == kMaxAxes) {
        cursor_.fail(cursor_.offset(),
                     "more than " + llvm::Twine(kMaxDimensions) + " dimensions and the cores");
      }
      places_["axis"].push_back(cursor_.offset());
      parseAxis(topology.axes[topology.axis_count]);
      ++topology.axis_count;
    } while (cursor_.take(","));
    cursor_.expect("]", "after the axes");
    cursor_.expect("order");
    topology.order = parseOrder(topology);
    // Checked now, as later text names its axes.
    const Status axes = topology.validate();
    if (!axes.ok()) cursor_.fail(placeOf(axes.message()), axes.message());
    if (is_graph) return parseLinks();
    parseDamage(topology);
    const std::size_t place = cursor_.offset();
    if (cursor_.take("detours") && !topology.addDetours())
      cursor_.fail(place, "no rings are cut at one coordinate");
    const Status damage = topology.validate();
    if (!damage.ok()) cursor_.fail(topology_place_, damage.message());
  }

  // Y=4 mesh bandwidth 0.5 latency 1e-07
  void parseAxis(Axis& axis) {
    const Token name = cursor_.token();
    if (name.kind != TokenKind::kWord || name.text.size() != 1 || !llvm::isUpper(name.text[0])) {
      cursor_.failExpected("the name of an axis (A to Z)");
    }
    if (schedule_.topology.axisNamed(name.text[0]) < schedule_.topology.axis_count)
      cursor_.fail(name.offset, "axis " + name.text + " is given twice");
    axis.name = name.text[0];
    cursor_.advance();
    cursor_.expect("=", "after the axis");
    axis.size = cursor_.integer("a size", 1, std::numeric_limits<std::int32_t>::max());
    if (cursor_.take("mesh")) {
      axis.kind = AxisKind::kMesh;
    } else if (cursor_.take("cores")) {
      axis.kind = AxisKind::kCore;
    }
    if (cursor_.take("bandwidth")) axis.bandwidth = cursor_.real("a bandwidth");
    if (cursor_.take("latency")) axis.latency = cursor_.real("a latency");
  }

  // dead-links [(0, 0, 1)Z, (1, 2, 3)X] dead-nodes [(1, 2, 3)]
  void parseDamage(Topology& topology) {
    while (cursor_.take("dead")) {
      cursor_.expect("-", "and 'links' or 'nodes'");
      const bool links = cursor_.at("links");
      if (!links && !cursor_.at("nodes")) cursor_.failExpected("'links' or 'nodes'");
      cursor_.advance();
      cursor_.expect("[");
      do {
        const std::size_t place = cursor_.offset();
        DeadLink link;
        link.from = parseNode(topology);
        if (links) link.axis = cursor_.axis(topology);
        const Status status = links ? topology.addDeadLink(link) : topology.addDeadNode(link.from);
        if (!status.ok()) cursor_.fail(place, status.message());
      } while (cursor_.take(","));
      cursor_.expect("]", links ? "after the dead links" : "after the dead nodes");
    }
  }

  // links [0->1 bandwidth 5e+10 latency 5e-07, 1->0 bandwidth 5e+10 latency 5e-07]
  void parseLinks() {
    cursor_.expect("links");
    cursor_.expect("[");
    do {
      places_["link"].push_back(cursor_.offset());
      GraphLink& link = schedule_.links.emplace_back();
      link.from = cursor_.integer<std::int32_t>("a node");
      cursor_.expect("->");
      link.to = cursor_.integer<std::int32_t>("a node");
      cursor_.expect("bandwidth");
      link.bandwidth = cursor_.real("a bandwidth, bytes/s");
      cursor_.expect("latency");
      link.latency = cursor_.real("a latency, seconds");
    } while (cursor_.take(","));
    cursor_.expect("]", "after the links");
    const Status graph = validateGraph(schedule_.topology, schedule_.links);
    if (!graph.ok()) cursor_.fail(placeOf(graph.message()), graph.message());
  }

  // (0, 0, 1): every network dimension
  Coordinates parseNode(const Topology& topology) {
    Coordinates node{};
    cursor_.expect("(");
    for (int axis = 0; axis < topology.dimensions(); ++axis) {
      if (axis > 0) cursor_.expect(",", "and the other coordinates");
      node[axis] = cursor_.integer<std::int32_t>("a coordinate");
    }
    cursor_.expect(")", "after the coordinates");
    return node;
  }

  // XYZ: every axis once
  std::array<std::uint8_t, kMaxAxes> parseOrder(const Topology& topology) {
    const std::size_t place = cursor_.offset();
    const Axes axes = parseAxes(topology, "the axes in order (XYZ)");
    std::array<std::uint8_t, kMaxAxes> order{};
    llvm::copy(axes, order.begin());
    if (axes.size() == topology.axis_count) return order;
    cursor_.fail(place, "the order names " + llvm::Twine(axes.size()) + " of " +
                            llvm::Twine(topology.axis_count) + " axes");
  }

  // XZ: some axes, each once
  Axes parseAxes(const Topology& topology, llvm::StringRef what) {
    const std::size_t place = cursor_.offset();
    const llvm::StringRef names = cursor_.word(what);
    Axes axes;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::uint32_t axis = topology.axisNamed(names[i]);
      if (axis == topology.axis_count) {
        cursor_.failAxis(topology, place + i, names.substr(i, 1));
      }
      if (llvm::is_contained(axes, axis)) {
        cursor_.fail(place + i, "axis " + llvm::Twine(names[i]) + " occurs twice");
      }
      axes.push_back(static_cast<std::uint8_t>(axis));
    }
    return axes;
  }

  // promise conflict-free-phases
  void parsePromise() {
    const std::size_t place = cursor_.offset();
    const std::string known = promiseNames();
    std::string name;
    do {
      name += (name.empty() ? "" : "-") + cursor_.word(known).str();
    } while (cursor_.take("-"));
    for (const PromiseName& promise : kPromises) {
      if (promise.name != name) continue;
      if (schedule_.flags & promise.flag) cursor_.fail(place, "is promised twice");
      schedule_.flags |= promise.flag;
      return;
    }
    cursor_.fail(place, "unknown promise (there is " + known + ")");
  }

  // color 0 weight 1/3 order XYZ directions 2 chunks 1
  void parseColor() {
    places_["color"].push_back(cursor_.offset());
    Color color;
    color.axis_count = schedule_.topology.axis_count;
    cursor_.expect("color");
    cursor_.numbered(schedule_.colors.size(), "colors");
    cursor_.expect("weight");
    color.weight = parseWeight();
    cursor_.expect("order");
    color.order = parseOrder(schedule_.topology);
    if (cursor_.take("directions"))
      color.directions = cursor_.integer("the number of directions", 1, 2);
    const std::size_t chunks_place = cursor_.offset();
    if (cursor_.take("chunks"))
      color.chunks = cursor_.integer("the number of chunks", 1, kMaxParts);
    parts_ += std::uint64_t{color.directions} * color.chunks;
    if (parts_ > kMaxParts) {
      cursor_.fail(chunks_place, "more than " + llvm::Twine(kMaxParts) + " parts");
    }
    schedule_.colors.push_back(color);
  }

  // 1/3, where 3 is the sum of all weights
  std::uint64_t parseWeight() {
    constexpr std::uint64_t kMaxWeight = std::numeric_limits<std::int64_t>::max();
    const std::size_t place = cursor_.offset();
    weight_places_.push_back(place);
    const auto weight = cursor_.integer<std::uint64_t>("a weight", 1, kMaxWeight);
    cursor_.expect("/", "and the sum of all weights");
    const std::size_t denominator_place = cursor_.offset();
    const auto denominator =
        cursor_.integer<std::uint64_t>("the sum of all weights", 1, kMaxWeight);
    if (denominator_ != 0 && denominator != denominator_) {
      cursor_.fail(denominator_place, "the colors before have " + llvm::Twine(denominator_) +
                                          " as the sum of all weights");
    }
    denominator_ = denominator;
    if (weight > denominator_ - weights_) {
      cursor_.fail(place, "the weights add up to more than " + llvm::Twine(denominator_));
    }
    weights_ += weight;
    return weight;
  }

  void checkWeights() {
    if (weights_ == denominator_) return;
    cursor_.fail(weight_places_.back(), "the weights add up to " + llvm::Twine(weights_) +
                                            ", not " + llvm::Twine(denominator_));
  }

  // plan { ring_reduce_scatter color 0 on X  phase_barrier  exchange color 0 on XY ... }
  void parsePlan() {
    cursor_.expect("plan");
    cursor_.expect("{");
    while (!cursor_.take("}")) {
      PlanOperation operation;
      operation.kind = static_cast<PlanKind>(
          cursor_.named("a plan operation or '}'", namesOf<PlanKind>(kPlanKindCount)));
      if (operation.kind == PlanKind::kPhaseBarrier) {
        program_.plan.push_back(operation);
        continue;
      }
      cursor_.expect("color", "of the operation");
      const std::size_t place = cursor_.offset();
      operation.color = cursor_.integer("the number of a color");
      if (operation.color >= schedule_.colors.size()) {
        cursor_.fail(place, "color " + llvm::Twine(operation.color) +
                                " does not exist (schedule has " +
                                llvm::Twine(schedule_.colors.size()) + ")");
      }
      if (operation.kind == PlanKind::kExchange) {
        cursor_.expect("on", "and axes");
        for (const std::uint8_t axis : parseAxes(schedule_.topology, "the axes (XYZ)"))
          operation.axes |= 1u << axis;
        if (cursor_.take("stride")) parseStride(operation);
      } else {
        cursor_.expect("on", "and an axis");
        operation.axis = cursor_.axis(schedule_.topology);
      }
      if (operation.isRing() && cursor_.take("half")) {
        cursor_.expect("-", "and 'latency'");
        cursor_.expect("latency");
        operation.half_latency = true;
      }
      program_.plan.push_back(operation);
    }
    if (cursor_.at("stream") || cursor_.at("slots") || cursor_.at("frame") || cursor_.at("phase")) {
      cursor_.fail(cursor_.offset(), "a schedule has a plan or steps, not both");
    }
  }

  /// `stride 4 on Y` of an exchange.
  void parseStride(PlanOperation& operation) {
    const std::size_t place = cursor_.offset();
    operation.stride = cursor_.integer("a stride");
    cursor_.expect("on", "and an axis");
    operation.axis = cursor_.axis(schedule_.topology);
    const Axis& axis = schedule_.topology.axes[operation.axis];
    if ((operation.axes >> operation.axis & 1) == 0) {
      cursor_.fail(place, llvm::Twine(axis.name) + " is no axis of the exchange");
    }
    if (operation.stride > 1 && operation.stride < axis.size && axis.size % operation.stride == 0)
      return;
    cursor_.fail(place, "stride " + llvm::Twine(operation.stride) + " does not cut " +
                            llvm::Twine(axis.name) + "=" + llvm::Twine(axis.size) +
                            " into equal parts of more than one node");
  }

  void parseSteps() {
    ScheduleBuilder builder(schedule_);
    ir::parseSteps(cursor_, builder, places_);
    schedule_ = builder.take();
  }

  void checkStructure() {
    const Status status = validate(schedule_.view());
    if (!status.ok()) cursor_.fail(placeOf(status.message()), status.message());
  }

  /// The place of the record that begins a message of validation: `operation 17: ...`.
  std::size_t placeOf(llvm::StringRef message) {
    if (message.starts_with("producer")) return producer_place_;
    if (message.consume_front("topology: ") && !message.starts_with("axis "))
      return topology_place_;
    FaultyRecord record = recordOf(message);
    if (message.contains("slots for")) record = {"slots"};
    if (message.starts_with("segments") || message.starts_with("window")) record = {"segments"};
    const std::vector<std::size_t>& places = places_[record.what];
    if (record.index < places.size()) return places[record.index];
    return name_place_;
  }

  TextCursor cursor_;
  Program program_;
  Schedule& schedule_ = program_.schedule;
  RecordPlaces places_;
  std::size_t name_place_ = 0, topology_place_ = 0, producer_place_ = 0;
  std::vector<std::size_t> weight_places_;
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
