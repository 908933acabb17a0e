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

  bool read(const JsonNode& root) {
    int version = 0;
    if (!object(root)) return false;
    if (!root.has("torc_schedule")) {
      return fail(root, "missing key 'torc_schedule': this is not a schedule");
    }
    // The version comes first, so that a later form is not refused for its keys.
    const JsonNode form = root.member("torc_schedule");
    if (!integer(form, version, 1)) return false;
    if (version != kJsonFormVersion) {
      return fail(form, "form " + llvm::Twine(version) +
                            " is not supported (this torc reads form " +
                            llvm::Twine(kJsonFormVersion) + ")");
    }
    std::string_view collectives[kCollectiveCount];
    std::ranges::transform(collectiveRows(), collectives, &CollectiveRow::name);
    return keys(root, {"torc_schedule", "name", "producer", "collective", "promises", "topology"},
                {"sends", "broken_messages"}, kTables<Schedule>) &&
           string(root.member("name"), schedule_.name) &&
           string(root.member("producer"), schedule_.producer) &&
           value(root.member("collective"), schedule_.collective, {.names = collectives}) &&
           promises(root.member("promises")) &&
           flag(root, "sends", {"standard", "synchronous"}, kSynchronousSends) &&
           flag(root, "broken_messages", {"refused", "dropped"}, kDropsBroken) &&
           topology(root.member("topology")) && fieldsOf(root, schedule_, kTables<Schedule>);
  }

  Schedule take() { return std::move(schedule_); }

 private:
  bool promises(const JsonNode& node) {
    if (!array(node)) return false;
    std::string_view names[std::size(kPromises)];
    std::ranges::transform(kPromises, names, &PromiseName::name);
    for (std::size_t i = 0; i < node.value().size(); ++i) {
      std::size_t promise = 0;
      if (!name(node.element(i), names, promise)) return false;
      const std::uint32_t flag = kPromises[promise].flag;
      if (schedule_.flags & flag) return fail(node.element(i), "is given twice");
      schedule_.flags |= flag;
    }
    return true;
  }

  /// A key that may be absent, whose second name is that of a flag.
  bool flag(const JsonNode& root, std::string_view key, Names names, std::uint32_t flag) {
    std::size_t mode = 0;
    if (root.has(key) && !name(root.member(key), names, mode)) return false;
    if (mode == 1) schedule_.flags |= flag;
    return true;
  }

  bool topology(const JsonNode& node) {
    if (!object(node, {"axes", "order"}, {"dead_links", "dead_nodes", "links"})) return false;
    const JsonNode axes = node.member("axes");
    if (!array(axes, 1, kMaxAxes, "axes")) return false;
    Topology& topology = schedule_.topology;
    topology.axis_count = static_cast<std::uint32_t>(axes.value().size());
    if (!value(axes, topology.axes, {}) || !value(node.member("order"), topology.order, {}) ||
        !damage(node)) {
      return false;
    }
    if (!node.has("links")) return true;
    const JsonNode links = node.member("links");
    return value(links, schedule_.links, {}) &&
           (!schedule_.links.empty() || fail(links, "expected an array that is not empty"));
  }

  bool damage(const JsonNode& node) {
    Topology& topology = schedule_.topology;
    if (!node.has("dead_links") && !node.has("dead_nodes")) return true;
    if (const Status axes = topology.validate(); !axes.ok()) return fail(node, axes.message());
    const auto each = [&](const char* key, auto read) {
      if (!node.has(key)) return true;
      const JsonNode list = node.member(key);
      if (!list.value().is_array() || list.value().empty()) {
        return fail(list, "expected an array that is not empty");
      }
      for (std::size_t i = 0; i < list.value().size(); ++i) {
        if (!read(list.element(i))) return false;
      }
      return true;
    };
    const auto added = [&](const JsonNode& element, const Status& status) {
      return status.ok() || fail(element, status.message());
    };
    return each("dead_links",
                [&](const JsonNode& element) {
                  DeadLink link;
                  return object(element, {"from", "axis"}) &&
                         deadNode(element.member("from"), link.from) &&
                         axisNamed(element.member("axis"), link.axis) &&
                         added(element, topology.addDeadLink(link));
                }) &&
           each("dead_nodes", [&](const JsonNode& element) {
             Coordinates dead{};
             return deadNode(element, dead) && added(element, topology.addDeadNode(dead));
           });
  }

  bool deadNode(const JsonNode& node, Coordinates& at) {
    const int dimensions = schedule_.topology.dimensions();
    if (!node.value().is_array() ||
        node.value().size() != static_cast<std::size_t>(std::max(0, dimensions))) {
      return fail(node, "expected an array of " + llvm::Twine(dimensions) + " coordinates");
    }
    for (int i = 0; i < dimensions; ++i) {
      if (!integer(node.element(static_cast<std::size_t>(i)), at[i], 0)) return false;
    }
    return true;
  }

  bool axisNamed(const JsonNode& node, std::uint32_t& axis) {
    std::string text;
    if (!string(node, text)) return false;
    axis = schedule_.topology.axisNamed(text.empty() ? '\0' : text[0]);
    return (text.size() == 1 && axis < schedule_.topology.axis_count) ||
           fail(node, "there is no axis " + shownName(text));
  }

  bool dependence(const JsonNode& node) {
    std::uint32_t before = 0, record = 0;
    const bool has_iterations = node.value().is_object();
    if (has_iterations) {
      if (!object(node, {"operation", "iterations"}) ||
          !integer(node.member("iterations"), record, 0, kMaxIterationRecords - 1)) {
        return false;
      }
      ++record;
    }
    if (!integer(has_iterations ? node.member("operation") : node, before, 0,
                 kMaxOperationRecords - 1)) {
      return false;
    }
    schedule_.dependences.push_back(dependenceOn(before, record));
    return true;
  }

  template <typename Record, typename... Lists>
  bool fieldsOf(const JsonNode& node, Record& record, const Lists&... lists) {
    const auto read = [&](const JsonNode& member, auto& value, const auto& field) {
      return this->value(member, value, field.values);
    };
    return members(node, record, read, lists...);
  }
  template <typename Record, typename... Lists>
  bool record(const JsonNode& node, Record& record, Names others, const Lists&... lists) {
    return keys(node, others, {}, lists...) && fieldsOf(node, record, lists...);
  }

  // A value by the type of the member that takes it.
  bool value(const JsonNode& node, char& letter, const Values&) {
    std::string text;
    if (!string(node, text)) return false;
    letter = text.empty() ? '\0' : text[0];
    return (text.size() == 1 && llvm::isUpper(letter)) ||
           fail(node, "expected a letter from A to Z");
  }

  bool value(const JsonNode& node, double& value, const Values&) { return number(node, value); }
  bool value(const JsonNode& node, std::array<std::uint8_t, kMaxAxes>& order, const Values&) {
    const Topology& topology = schedule_.topology;
    std::string names;
    if (!string(node, names)) return false;
    std::uint32_t seen = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::uint32_t axis = topology.axisNamed(names[i]);
      if (axis == topology.axis_count) {
        return fail(node, "there is no axis " + shownName(names.substr(i, 1)));
      }
      if (seen >> axis & 1) return fail(node, "axis " + llvm::Twine(names[i]) + " occurs twice");
      seen |= 1u << axis;
      order[i] = static_cast<std::uint8_t>(axis);
    }
    return names.size() == topology.axis_count ||
           fail(node, "names " + llvm::Twine(names.size()) + " of " +
                          llvm::Twine(topology.axis_count) + " axes");
  }

  bool value(const JsonNode& node, Color& color, const Values&) {
    color.axis_count = schedule_.topology.axis_count;
    return record(node, color, {}, kFields<Color>);
  }
  bool value(const JsonNode& node, Interval& interval, const Values&) {
    if (!object(node, {"kind"},
                {"start", "length", "offset", "end", "loop", "step", "growth", "first",
                 "first_from_root", "last", "last_from_root", "from", "to"}) ||
        !fieldsOf(node, interval, kFields<Interval>)) {
      return false;
    }
    if (interval.kind == IntervalKind::kAll) return object(node, {"kind"});
    if (interval.kind == IntervalKind::kForRoots) {
      RootSpan span;
      if (!record(node, span, {"kind"}, kFields<RootSpan>)) return false;
      interval = Interval::forRoots(span);
      return true;
    }
    const auto& ends = hasAbsoluteEnd(interval.kind) ? kIntervalEnds : kIntervalStart;
    return node.has("loop") ? record(node, interval, {"kind"}, ends, kIntervalSteps)
                            : record(node, interval, {"kind"}, ends);
  }

  bool value(const JsonNode& node, Box& box, const Values& values) {
    return value(node, box.axes, values);
  }
  bool value(const JsonNode& node, Iterations& iterations, const Values&) {
    if (!record(node, iterations, {"loops"}, kFields<Iterations>)) return false;
    const JsonNode loops = node.member("loops");
    if (!loops.value().is_array() || loops.value().size() > kMaxLoopDepth) {
      return fail(loops,
                  "expected an array of up to " + llvm::Twine(kMaxLoopDepth) + " iterations");
    }
    iterations.depth = static_cast<std::uint16_t>(loops.value().size());
    for (std::uint32_t level = 0; level < iterations.depth; ++level) {
      LoopIteration in_loop;
      if (!value(loops.element(level), in_loop, {})) return false;
      iterations.origin[level] = in_loop.origin;
      iterations.offset[level] = in_loop.offset;
    }
    return true;
  }

  bool value(const JsonNode& node, Operation& operation, const Values&) {
    constexpr std::tuple kAfter{Field{"after", &Operation::dependence_count}};  // read below
    if (!keys(node, {}, {}, kFields<Operation>, kPeer, kPeerLoop, kGuard, kAfter) ||
        !fieldsOf(node, operation, kFields<Operation>, kPeer, kPeerLoop, kGuard)) {
      return false;
    }
    if (node.has("peer_loop")) {
      if (node.has("peer")) return fail(node, "has a peer and a loop over peers");
      operation.peer_kind = PeerKind::kLoop;
    }
    const JsonNode after = node.member("after");
    if (!array(after)) return false;
    operation.first_dependence = static_cast<std::uint32_t>(schedule_.dependences.size());
    operation.dependence_count = static_cast<std::uint32_t>(after.value().size());
    for (std::size_t i = 0; i < after.value().size(); ++i) {
      if (!dependence(after.element(i))) return false;
    }
    return true;
  }

  /// One element per axis.
  template <typename T>
  bool value(const JsonNode& node, std::array<T, kMaxAxes>& along, const Values& values) {
    if (!array(node)) return false;
    const std::uint32_t axes = schedule_.topology.axis_count;
    if (node.value().size() != axes) {
      return fail(node, "has " + llvm::Twine(node.value().size()) + " elements, the topology " +
                            llvm::Twine(axes) + " axes");
    }
    for (std::uint32_t i = 0; i < axes; ++i) {
      if (!value(node.element(i), along[i], values)) return false;
    }
    return true;
  }
  template <typename T>
  bool value(const JsonNode& node, std::vector<T>& records, const Values& values) {
    return list(node, records,
                [&](const JsonNode& element, T& record) { return value(element, record, values); });
  }
  template <typename T>
  bool value(const JsonNode& node, T& value, const Values& values) {
    if constexpr (std::is_enum_v<T>) {
      const auto lowest = static_cast<std::size_t>(std::max<std::int64_t>(values.lowest, 0));
      std::size_t number = 0;
      const Names names(values.names.data(), values.names.size());
      if (!name(node, names.drop_front(lowest), number)) return false;
      value = static_cast<T>(number + lowest);
      return true;
    } else if constexpr (std::is_integral_v<T>) {
      if (!values.none.empty() && node.value().is_string()) {
        value = static_cast<T>(kNone);
        return node.value() == values.none ||
               fail(node, "expected an index or '" + llvm::Twine(values.none) + "'");
      }
      using Limits = std::numeric_limits<T>;
      return integer(node, value, std::max<std::int64_t>(values.lowest, Limits::min()),
                     std::min<std::uint64_t>(values.highest, Limits::max()));
    } else if constexpr (requires { value.pieces; }) {
      if (!object(node)) return false;
      return node.has("pieces")
                 ? record(node, value, {}, kFields<T>, kBehindBlocks<T>, kPieceList<T>)
                 : record(node, value, {}, kFields<T>, kBehindBlocks<T>, kOneBox<T>);
    } else {
      return record(node, value, {}, kFields<T>);
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
  constexpr std::pair<llvm::StringRef, llvm::StringRef> kTables[] = {
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
  for (const auto& [record, table] : kTables) {
    llvm::StringRef what = message;
    std::size_t index = 0;
    if (!what.consume_front(record) || !what.consume_front(" ") || what.consumeInteger(10, index)) {
      continue;
    }
    what.consume_front(":");
    return ("/" + table + "/" + llvm::Twine(index) + ":" + what).str();
  }
  return ("/: " + message).str();
}

}  // namespace

llvm::Expected<Schedule> readJson(llvm::StringRef text, llvm::StringRef origin) {
  llvm::Expected<nlohmann::json> document = parseJson(text, origin);
  if (!document) return document.takeError();
  auto fault = [&](const std::string& what) { return makeError((origin + ": " + what).str()); };
  ScheduleReader reader;
  if (!reader.read(JsonNode(*document))) return fault(reader.error());
  Schedule schedule = reader.take();
  if (const Status status = validate(schedule.view()); !status.ok()) {
    return fault(pointed(status.message()));
  }
  return schedule;
}

}  // namespace torc::ir
