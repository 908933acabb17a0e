// Reads the JSON form: every key is known and present, every number an integer in its range; then
// the structure is validated like that of a file.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/Twine.h>

#include "ir/json/json.h"
#include "ir/json/strict_reader.h"
#include "ir/make_error.h"
#include "ir/text/format.h"
#include "schedules/faults/reject.h"
#include "schedules/fields.h"
#include "schedules/validation/validate.h"

namespace torc::ir {
namespace {

/// Checks at compile time that the fields of a record, and `others` bytes, are all of it.
template <typename Record>
constexpr bool areAll(std::size_t others = 0) {
  return std::apply(
      [&](const auto&... fields) {
        return (sizeof(std::declval<Record&>().*fields.member) + ... + others) == sizeof(Record);
      },
      kFields<Record>);
}
static_assert(areAll<GraphLink>() && areAll<Stream>() && areAll<BoxPair>() && areAll<Piece>());
static_assert(areAll<Loop>() && areAll<PeerLoop>(sizeof(PeerLoop::reserved)));
static_assert(areAll<Color>(sizeof(Color::axis_count) + sizeof(Color::reserved)));

class ScheduleReader : public StrictReader {
 public:
  ScheduleReader() : StrictReader(Faults::kAlone) {}

  Schedule read(const JsonNode& root) {
    object(root);
    if (!root.has("torc_schedule"))
      fail(root, "missing key 'torc_schedule': this is not a schedule");
    // The version comes first, so that a later form is not refused for its keys.
    const JsonNode form = root.member("torc_schedule");
    const int version = integer<int>(form, 1);
    if (version != kJsonFormVersion) {
      fail(form, "form " + llvm::Twine(version) + " is not supported (this torc reads form " +
                     llvm::Twine(kJsonFormVersion) + ")");
    }
    std::string_view collectives[kCollectiveCount];
    std::ranges::transform(collectiveRows(), collectives, &CollectiveRow::name);
    keys(root, {"torc_schedule", "name", "producer", "collective", "promises", "topology"},
         {"sends", "broken_messages"}, kTables<Schedule>);
    schedule_.name = string(root.member("name"));
    schedule_.producer = string(root.member("producer"));
    value(root.member("collective"), schedule_.collective, {.names = collectives});
    promises(root.member("promises"));
    flag(root, "sends", {"standard", "synchronous"}, kSynchronousSends);
    flag(root, "broken_messages", {"refused", "dropped"}, kDropsBroken);
    topology(root.member("topology"));
    fieldsOf(root, schedule_, kTables<Schedule>);
    return std::move(schedule_);
  }

 private:
  void promises(const JsonNode& node) {
    array(node);
    std::string_view names[std::size(kPromises)];
    std::ranges::transform(kPromises, names, &PromiseName::name);
    for (std::size_t i = 0; i < node.value().size(); ++i) {
      const std::uint32_t flag = kPromises[name(node.element(i), names)].flag;
      if (schedule_.flags & flag) fail(node.element(i), "is given twice");
      schedule_.flags |= flag;
    }
  }

  /// A key that may be absent, whose second name is that of a flag.
  void flag(const JsonNode& root, std::string_view key, Names names, std::uint32_t flag) {
    if (root.has(key) && name(root.member(key), names) == 1) schedule_.flags |= flag;
  }

  void topology(const JsonNode& node) {
    object(node, {"axes", "order"}, {"dead_links", "dead_nodes", "links"});
    const JsonNode axes = node.member("axes");
    array(axes, 1, kMaxAxes, "axes");
    Topology& topology = schedule_.topology;
    topology.axis_count = static_cast<std::uint32_t>(axes.value().size());
    value(axes, topology.axes, {});
    value(node.member("order"), topology.order, {});
    damage(node);
    if (!node.has("links")) return;
    const JsonNode links = node.member("links");
    value(links, schedule_.links, {});
    if (schedule_.links.empty()) fail(links, "expected an array that is not empty");
  }

  void damage(const JsonNode& node) {
    Topology& topology = schedule_.topology;
    if (!node.has("dead_links") && !node.has("dead_nodes")) return;
    if (const Status axes = topology.validate(); !axes.ok()) fail(node, axes.message());
    const auto each = [&](const char* key, auto add) {
      if (!node.has(key)) return;
      const JsonNode list = node.member(key);
      if (!list.value().is_array() || list.value().empty())
        fail(list, "expected an array that is not empty");
      for (std::size_t i = 0; i < list.value().size(); ++i) {
        const Status status = add(list.element(i));
        if (!status.ok()) fail(list.element(i), status.message());
      }
    };
    each("dead_links", [&](const JsonNode& element) {
      object(element, {"from", "axis"});
      const Coordinates from = deadNode(element.member("from"));
      return topology.addDeadLink({from, axisNamed(element.member("axis"))});
    });
    each("dead_nodes",
         [&](const JsonNode& element) { return topology.addDeadNode(deadNode(element)); });
  }

  Coordinates deadNode(const JsonNode& node) const {
    Coordinates at{};
    const int dimensions = schedule_.topology.dimensions();
    if (!node.value().is_array() ||
        node.value().size() != static_cast<std::size_t>(std::max(0, dimensions))) {
      fail(node, "expected an array of " + llvm::Twine(dimensions) + " coordinates");
    }
    for (int i = 0; i < dimensions; ++i)
      at[i] = integer<std::int32_t>(node.element(static_cast<std::size_t>(i)), 0);
    return at;
  }

  std::uint32_t axisNamed(const JsonNode& node) const {
    const std::string text = string(node);
    const std::uint32_t axis = schedule_.topology.axisNamed(text.empty() ? '\0' : text[0]);
    if (text.size() != 1 || axis >= schedule_.topology.axis_count)
      fail(node, "there is no axis " + shownName(text));
    return axis;
  }

  void dependence(const JsonNode& node) {
    std::uint32_t record = 0;
    const bool has_iterations = node.value().is_object();
    if (has_iterations) {
      object(node, {"operation", "iterations"});
      record = integer<std::uint32_t>(node.member("iterations"), 0, kMaxIterationRecords - 1) + 1;
    }
    const auto before = integer<std::uint32_t>(has_iterations ? node.member("operation") : node, 0,
                                               kMaxOperationRecords - 1);
    schedule_.dependences.push_back(dependenceOn(before, record));
  }

  template <typename Record, typename... Lists>
  void fieldsOf(const JsonNode& node, Record& record, const Lists&... lists) {
    const auto read = [&](const JsonNode& member, auto& value, const auto& field) {
      this->value(member, value, field.values);
    };
    members(node, record, read, lists...);
  }
  template <typename Record, typename... Lists>
  void record(const JsonNode& node, Record& record, Names others, const Lists&... lists) {
    keys(node, others, {}, lists...);
    fieldsOf(node, record, lists...);
  }

  // A value by the type of the member that takes it.
  void value(const JsonNode& node, char& letter, const Values&) {
    const std::string text = string(node);
    letter = text.empty() ? '\0' : text[0];
    if (text.size() != 1 || !llvm::isUpper(letter)) fail(node, "expected a letter from A to Z");
  }

  void value(const JsonNode& node, double& value, const Values&) { value = number(node); }
  void value(const JsonNode& node, std::array<std::uint8_t, kMaxAxes>& order, const Values&) {
    const Topology& topology = schedule_.topology;
    const std::string names = string(node);
    std::uint32_t seen = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::uint32_t axis = topology.axisNamed(names[i]);
      if (axis == topology.axis_count) {
        fail(node, "there is no axis " + shownName(names.substr(i, 1)));
      }
      if (seen >> axis & 1) fail(node, "axis " + llvm::Twine(names[i]) + " occurs twice");
      seen |= 1u << axis;
      order[i] = static_cast<std::uint8_t>(axis);
    }
    if (names.size() != topology.axis_count) {
      fail(node, "names " + llvm::Twine(names.size()) + " of " + llvm::Twine(topology.axis_count) +
                     " axes");
    }
  }

  void value(const JsonNode& node, Color& color, const Values&) {
    color.axis_count = schedule_.topology.axis_count;
    record(node, color, {}, kFields<Color>);
  }
  void value(const JsonNode& node, Interval& interval, const Values&) {
    object(node, {"kind"},
           {"start", "length", "offset", "end", "loop", "step", "growth", "first",
            "first_from_root", "last", "last_from_root", "from", "to"});
    fieldsOf(node, interval, kFields<Interval>);
    if (interval.kind == IntervalKind::kAll) return object(node, {"kind"});
    if (interval.kind == IntervalKind::kForRoots) {
      RootSpan span;
      record(node, span, {"kind"}, kFields<RootSpan>);
      interval = Interval::forRoots(span);
      return;
    }
    const auto& ends = hasAbsoluteEnd(interval.kind) ? kIntervalEnds : kIntervalStart;
    node.has("loop") ? record(node, interval, {"kind"}, ends, kIntervalSteps)
                     : record(node, interval, {"kind"}, ends);
  }

  void value(const JsonNode& node, Box& box, const Values& values) {
    value(node, box.axes, values);
  }
  void value(const JsonNode& node, Iterations& iterations, const Values&) {
    record(node, iterations, {"loops"}, kFields<Iterations>);
    const JsonNode loops = node.member("loops");
    if (!loops.value().is_array() || loops.value().size() > kMaxLoopDepth) {
      fail(loops, "expected an array of up to " + llvm::Twine(kMaxLoopDepth) + " iterations");
    }
    iterations.depth = static_cast<std::uint16_t>(loops.value().size());
    for (std::uint32_t level = 0; level < iterations.depth; ++level) {
      LoopIteration in_loop;
      value(loops.element(level), in_loop, {});
      iterations.origin[level] = in_loop.origin;
      iterations.offset[level] = in_loop.offset;
    }
  }

  void value(const JsonNode& node, Operation& operation, const Values&) {
    constexpr std::tuple kAfter{Field{"after", &Operation::dependence_count}};  // read below
    keys(node, {}, {}, kFields<Operation>, kPeer, kPeerLoop, kGuard, kAfter);
    fieldsOf(node, operation, kFields<Operation>, kPeer, kPeerLoop, kGuard);
    if (node.has("peer_loop")) {
      if (node.has("peer")) fail(node, "has a peer and a loop over peers");
      operation.peer_kind = PeerKind::kLoop;
    }
    const JsonNode after = node.member("after");
    array(after);
    operation.first_dependence = static_cast<std::uint32_t>(schedule_.dependences.size());
    operation.dependence_count = static_cast<std::uint32_t>(after.value().size());
    for (std::size_t i = 0; i < after.value().size(); ++i)
      dependence(after.element(i));
  }

  /// One element per axis.
  template <typename T>
  void value(const JsonNode& node, std::array<T, kMaxAxes>& along, const Values& values) {
    array(node);
    const std::uint32_t axes = schedule_.topology.axis_count;
    if (node.value().size() != axes) {
      fail(node, "has " + llvm::Twine(node.value().size()) + " elements, the topology " +
                     llvm::Twine(axes) + " axes");
    }
    for (std::uint32_t i = 0; i < axes; ++i)
      value(node.element(i), along[i], values);
  }
  template <typename T>
  void value(const JsonNode& node, std::vector<T>& records, const Values& values) {
    array(node);
    records.resize(node.value().size());
    for (std::size_t i = 0; i < records.size(); ++i)
      value(node.element(i), records[i], values);
  }
  template <typename T>
  void value(const JsonNode& node, T& value, const Values& values) {
    if constexpr (std::is_enum_v<T>) {
      const auto lowest = static_cast<std::size_t>(std::max<std::int64_t>(values.lowest, 0));
      const Names names(values.names.data(), values.names.size());
      value = static_cast<T>(name(node, names.drop_front(lowest)) + lowest);
    } else if constexpr (std::is_integral_v<T>) {
      if (!values.none.empty() && node.value().is_string()) {
        value = static_cast<T>(kNone);
        if (node.value() == values.none) return;
        fail(node, "expected an index or '" + llvm::Twine(values.none) + "'");
      }
      using Limits = std::numeric_limits<T>;
      value = integer<T>(node, std::max<std::int64_t>(values.lowest, Limits::min()),
                         std::min<std::uint64_t>(values.highest, Limits::max()));
    } else if constexpr (requires { value.pieces; }) {
      object(node);
      node.has("pieces") ? record(node, value, {}, kFields<T>, kBehindBlocks<T>, kPieceList<T>)
                         : record(node, value, {}, kFields<T>, kBehindBlocks<T>, kOneBox<T>);
    } else {
      record(node, value, {}, kFields<T>);
    }
  }

  Schedule schedule_;
};

/// A message of validation, which begins with its record (`operation 17: ...`), after that record's
/// place.
std::string pointed(llvm::StringRef message) {
  if (message.contains("slots for")) return ("/slots: " + message).str();
  for (const llvm::StringRef key : {"name", "producer", "segments", "window"}) {
    llvm::StringRef what = message;
    if (what.consume_front(key) && what.starts_with(":")) return ("/" + key + what).str();
  }
  constexpr std::pair<std::string_view, llvm::StringRef> kTables[] = {
      {"topology: axis", "topology/axes"},
      {"color", "colors"},
      {"stream", "streams"},
      {"box", "boxes"},
      {"pair", "pairs"},
      {"piece", "pieces"},
      {"shift", "shifts"},
      {"loop over peers", "peer_loops"},
      {"frame", "frames"},
      {"loop", "loops"},
      {"iterations", "iterations"},
      {"operation", "operations"}};
  const FaultyRecord record = recordOf(message);
  for (const auto& [what, table] : kTables) {
    if (what != record.what) continue;
    llvm::StringRef rest = record.rest;
    rest.consume_front(":");
    return ("/" + table + "/" + llvm::Twine(record.index) + ":" + rest).str();
  }
  return ("/: " + message).str();
}

}  // namespace

llvm::Expected<Schedule> readJson(llvm::StringRef text, llvm::StringRef origin) {
  llvm::Expected<nlohmann::json> document = parseJson(text, origin);
  if (!document) return document.takeError();
  auto fault = [&](const std::string& what) { return makeError((origin + ": " + what).str()); };
  llvm::Expected<Schedule> schedule =
      caught([&] { return ScheduleReader().read(JsonNode(*document)); });
  if (!schedule) return fault(toString(schedule.takeError()));
  if (const Status status = validate(schedule->view()); !status.ok()) {
    return fault(pointed(status.message()));
  }
  return schedule;
}

}  // namespace torc::ir
