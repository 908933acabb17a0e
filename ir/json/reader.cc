// Reads the JSON form: every key is known and there, every number an integer in its range; then
// the structure is validated as that of a file is.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/Twine.h>

#include "ir/json/document.h"
#include "ir/json/json.h"
#include "ir/json/names.h"
#include "ir/make_error.h"
#include "ir/text/format.h"
#include "schedules/validation/validate.h"

namespace torc::ir {
namespace {

using Names = llvm::ArrayRef<std::string_view>;

/// Functions return whether all was well; the first fault is in error().
class ScheduleReader {
 public:
  bool read(const JsonNode& root);
  Schedule take() { return std::move(schedule_); }
  const std::string& error() const { return error_; }

 private:
  bool fail(const JsonNode& node, const llvm::Twine& what) {
    if (error_.empty()) error_ = (node.path() + ": " + what).str();
    return false;
  }

  /// An object with all `required` keys and no others than these and `optional` ones.
  bool object(const JsonNode& node, Names required, Names optional = {});
  template <typename T>
  bool integer(const JsonNode& node, T& value, std::int64_t lowest = std::numeric_limits<T>::min(),
               std::uint64_t highest = std::numeric_limits<T>::max());
  /// An index; the value that stands for "none" is not one.
  bool index(const JsonNode& node, std::uint32_t& value) {
    return integer(node, value, 0, kNone - 1);
  }
  bool real(const JsonNode& node, double& value);
  bool string(const JsonNode& node, std::string& value);
  template <typename Enum>
  bool name(const JsonNode& node, Names names, Enum& value);
  /// An array, each element read by `read` into a new record of `records`.
  template <typename T>
  bool list(const JsonNode& node, std::vector<T>& records,
            bool (ScheduleReader::*read)(const JsonNode&, T&));

  bool promises(const JsonNode& node);
  bool sends(const JsonNode& node);
  bool brokenMessages(const JsonNode& node);
  bool topology(const JsonNode& node);
  bool axis(const JsonNode& node, Axis& axis);
  bool damage(const JsonNode& node);
  bool graphLink(const JsonNode& node, GraphLink& link);
  bool deadNode(const JsonNode& node, Coordinates& at);
  bool axisNamed(const JsonNode& node, std::uint32_t& axis);
  bool order(const JsonNode& node, std::array<std::uint8_t, kMaxAxes>& order);
  bool color(const JsonNode& node, Color& color);
  bool stream(const JsonNode& node, Stream& stream);
  bool box(const JsonNode& node, Box& box);
  bool rootSpan(const JsonNode& node, Interval& interval);
  bool interval(const JsonNode& node, Interval& interval);
  bool piece(const JsonNode& node, Piece& piece);
  bool pair(const JsonNode& node, BoxPair& pair);
  bool shift(const JsonNode& node, Shift& shift);
  bool peerLoop(const JsonNode& node, PeerLoop& peers);
  bool frame(const JsonNode& node, Frame& frame);
  bool loop(const JsonNode& node, Loop& loop);
  bool iterations(const JsonNode& node, Iterations& iterations);
  bool operation(const JsonNode& node, Operation& operation);
  bool region(const JsonNode& node, Region& region);
  /// What says which blocks a region or a frame has, besides `required` and `optional` keys.
  template <typename Blocks>
  bool blocks(const JsonNode& node, Blocks& blocks, Names required, Names optional);
  /// Whether the array at `node` has one element per axis.
  bool perAxis(const JsonNode& node);

  Schedule schedule_;
  std::string error_;
};

bool ScheduleReader::object(const JsonNode& node, Names required, Names optional) {
  if (!node.value().is_object()) return fail(node, "expected an object");
  std::size_t known = 0;
  for (std::string_view key : required) {
    if (!node.has(key)) return fail(node, "missing key '" + llvm::Twine(key) + "'");
    ++known;
  }
  for (std::string_view key : optional)
    known += node.has(key);
  if (known == node.value().size()) return true;
  for (const auto& [key, value] : node.value().items()) {
    if (llvm::is_contained(required, key) || llvm::is_contained(optional, key)) continue;
    llvm::SmallVector<llvm::StringRef> known(required.begin(), required.end());
    known.append(optional.begin(), optional.end());
    return fail(node, unknownKey(key, known));
  }
  return true;
}

template <typename T>
bool ScheduleReader::integer(const JsonNode& node, T& value, std::int64_t lowest,
                             std::uint64_t highest) {
  const nlohmann::json& json = node.value();
  if (json.is_number_unsigned()) {
    const auto number = json.get<std::uint64_t>();
    if (number <= highest && (lowest <= 0 || number >= static_cast<std::uint64_t>(lowest))) {
      value = static_cast<T>(number);
      return true;
    }
  } else if (json.is_number_integer()) {  // below 0
    const auto number = json.get<std::int64_t>();
    if (number >= lowest) {
      value = static_cast<T>(number);
      return true;
    }
  }
  return fail(node,
              "expected an integer from " + llvm::Twine(lowest) + " to " + llvm::Twine(highest));
}

bool ScheduleReader::real(const JsonNode& node, double& value) {
  if (!node.value().is_number()) return fail(node, "expected a number");
  value = node.value().get<double>();
  return true;
}

bool ScheduleReader::string(const JsonNode& node, std::string& value) {
  if (!node.value().is_string()) return fail(node, "expected a string");
  value = node.value().get_ref<const std::string&>();
  return true;
}

template <typename Enum>
bool ScheduleReader::name(const JsonNode& node, Names names, Enum& value) {
  if (!node.value().is_string()) return fail(node, "expected a string");
  const auto& text = node.value().get_ref<const std::string&>();
  const auto* const found = llvm::find(names, text);
  if (found == names.end())
    return fail(node, unknownKey(text, llvm::to_vector_of<llvm::StringRef>(names), "name"));
  value = static_cast<Enum>(found - names.begin());
  return true;
}

template <typename T>
bool ScheduleReader::list(const JsonNode& node, std::vector<T>& records,
                          bool (ScheduleReader::*read)(const JsonNode&, T&)) {
  if (!node.value().is_array()) return fail(node, "expected an array");
  const std::size_t size = node.value().size();
  records.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    if (!(this->*read)(node.element(i), records[i])) return false;
  }
  return true;
}

bool ScheduleReader::read(const JsonNode& root) {
  int version = 0;
  if (!root.value().is_object()) return fail(root, "expected an object");
  if (!root.has("torc_schedule")) {
    return fail(root, "missing key 'torc_schedule': this is not a schedule");
  }
  // The version first, so that a later form is not refused for its keys.
  const JsonNode form = root.member("torc_schedule");
  if (!integer(form, version, 1)) return false;
  if (version != kJsonFormVersion) {
    return fail(form, "form " + llvm::Twine(version) + " is not supported (this torc reads form " +
                          llvm::Twine(kJsonFormVersion) + ")");
  }
  std::string_view collectives[kCollectiveCount];
  for (int i = 0; i < kCollectiveCount; ++i) {
    collectives[i] = rowOf(static_cast<Collective>(i)).name;
  }
  return object(root, {"torc_schedule", "name",   "producer",   "collective", "promises",
                       "topology",      "colors", "streams",    "boxes",      "pairs",
                       "pieces",        "shifts", "peer_loops", "slots",      "segments",
                       "window",        "frames", "loops",      "iterations", "operations"},
                {"sends", "broken_messages"}) &&
         string(root.member("name"), schedule_.name) &&
         string(root.member("producer"), schedule_.producer) &&
         name(root.member("collective"), collectives, schedule_.collective) &&
         promises(root.member("promises")) && (!root.has("sends") || sends(root.member("sends"))) &&
         (!root.has("broken_messages") || brokenMessages(root.member("broken_messages"))) &&
         topology(root.member("topology")) &&
         list(root.member("colors"), schedule_.colors, &ScheduleReader::color) &&
         list(root.member("streams"), schedule_.streams, &ScheduleReader::stream) &&
         list(root.member("boxes"), schedule_.boxes, &ScheduleReader::box) &&
         list(root.member("pairs"), schedule_.pairs, &ScheduleReader::pair) &&
         list(root.member("pieces"), schedule_.pieces, &ScheduleReader::piece) &&
         list(root.member("shifts"), schedule_.shifts, &ScheduleReader::shift) &&
         list(root.member("peer_loops"), schedule_.peer_loops, &ScheduleReader::peerLoop) &&
         integer(root.member("slots"), schedule_.slot_count) &&
         integer(root.member("segments"), schedule_.segments, 1) &&
         integer(root.member("window"), schedule_.window, 1) &&
         list(root.member("frames"), schedule_.frames, &ScheduleReader::frame) &&
         list(root.member("loops"), schedule_.loops, &ScheduleReader::loop) &&
         list(root.member("iterations"), schedule_.iterations, &ScheduleReader::iterations) &&
         list(root.member("operations"), schedule_.operations, &ScheduleReader::operation);
}

bool ScheduleReader::sends(const JsonNode& node) {
  int mode = 0;
  if (!name(node, {"standard", "synchronous"}, mode)) return false;
  if (mode == 1) schedule_.flags |= kSynchronousSends;
  return true;
}

bool ScheduleReader::brokenMessages(const JsonNode& node) {
  int mode = 0;
  if (!name(node, {"refused", "dropped"}, mode)) return false;
  if (mode == 1) schedule_.flags |= kDropsBroken;
  return true;
}

bool ScheduleReader::promises(const JsonNode& node) {
  if (!node.value().is_array()) return fail(node, "expected an array");
  for (std::size_t i = 0; i < node.value().size(); ++i) {
    std::string_view names[std::size(kPromises)];
    std::ranges::transform(kPromises, names, &PromiseName::name);
    int promise = 0;
    if (!name(node.element(i), names, promise)) return false;
    const std::uint32_t flag = kPromises[promise].flag;
    if (schedule_.flags & flag) return fail(node.element(i), "is given twice");
    schedule_.flags |= flag;
  }
  return true;
}

bool ScheduleReader::topology(const JsonNode& node) {
  if (!object(node, {"axes", "order"}, {"dead_links", "dead_nodes", "links"})) {
    return false;
  }
  const JsonNode axes = node.member("axes");
  if (!axes.value().is_array()) return fail(axes, "expected an array");
  if (axes.value().empty() || axes.value().size() > kMaxAxes) {
    return fail(axes, "has " + llvm::Twine(axes.value().size()) + " axes, must have 1 to " +
                          llvm::Twine(kMaxAxes));
  }
  Topology& topology = schedule_.topology;
  topology.axis_count = static_cast<std::uint32_t>(axes.value().size());
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (!axis(axes.element(i), topology.axes[i])) return false;
  }
  if (!order(node.member("order"), topology.order) || !damage(node)) return false;
  if (!node.has("links")) return true;
  const JsonNode links = node.member("links");
  return list(links, schedule_.links, &ScheduleReader::graphLink) &&
         (!schedule_.links.empty() || fail(links, "expected an array that is not empty"));
}

bool ScheduleReader::graphLink(const JsonNode& node, GraphLink& link) {
  return object(node, {"from", "to", "bandwidth", "latency"}) &&
         integer(node.member("from"), link.from) && integer(node.member("to"), link.to) &&
         real(node.member("bandwidth"), link.bandwidth) &&
         real(node.member("latency"), link.latency);
}

bool ScheduleReader::damage(const JsonNode& node) {
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

bool ScheduleReader::deadNode(const JsonNode& node, Coordinates& at) {
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

bool ScheduleReader::axisNamed(const JsonNode& node, std::uint32_t& axis) {
  std::string text;
  if (!string(node, text)) return false;
  for (axis = 0; axis < schedule_.topology.axis_count; ++axis) {
    if (text.size() == 1 && schedule_.topology.axes[axis].name == text[0]) return true;
  }
  return fail(node, "there is no axis " + shownName(text));
}

bool ScheduleReader::axis(const JsonNode& node, Axis& axis) {
  std::string axis_name;
  if (!object(node, {"name", "size", "kind", "bandwidth", "latency"}) ||
      !string(node.member("name"), axis_name)) {
    return false;
  }
  if (axis_name.size() != 1 || !llvm::isUpper(axis_name[0])) {
    return fail(node.member("name"), "expected a letter from A to Z");
  }
  axis.name = axis_name[0];
  return integer(node.member("size"), axis.size, 1) &&
         name(node.member("kind"), kAxisKindNames, axis.kind) &&
         real(node.member("bandwidth"), axis.bandwidth) &&
         real(node.member("latency"), axis.latency);
}

bool ScheduleReader::order(const JsonNode& node, std::array<std::uint8_t, kMaxAxes>& order) {
  const Topology& topology = schedule_.topology;
  std::string names;
  if (!string(node, names)) return false;
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::uint32_t axis = 0;
    while (axis < topology.axis_count && topology.axes[axis].name != names[i])
      ++axis;
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

bool ScheduleReader::color(const JsonNode& node, Color& color) {
  color.axis_count = schedule_.topology.axis_count;
  return object(node, {"weight", "order", "directions", "chunks"}) &&
         integer(node.member("weight"), color.weight, 1,
                 std::numeric_limits<std::int64_t>::max()) &&
         order(node.member("order"), color.order) &&
         integer(node.member("directions"), color.directions, 1, 2) &&
         integer(node.member("chunks"), color.chunks, 1, kMaxParts);
}

bool ScheduleReader::stream(const JsonNode& node, Stream& stream) {
  if (!object(node, {"part", "core"})) return false;
  const JsonNode part = node.member("part");
  if (part.value().is_string()) {
    if (part.value() != kAnyPart) {
      return fail(part, "expected an index or '" + llvm::Twine(kAnyPart) + "'");
    }
    stream.part = kNone;
  } else if (!index(part, stream.part)) {
    return false;
  }
  return integer(node.member("core"), stream.core);
}

bool ScheduleReader::perAxis(const JsonNode& node) {
  if (!node.value().is_array()) return fail(node, "expected an array");
  return node.value().size() == schedule_.topology.axis_count ||
         fail(node, "has " + llvm::Twine(node.value().size()) + " elements, the topology " +
                        llvm::Twine(schedule_.topology.axis_count) + " axes");
}

bool ScheduleReader::box(const JsonNode& node, Box& box) {
  if (!perAxis(node)) return false;
  for (std::uint32_t i = 0; i < schedule_.topology.axis_count; ++i) {
    if (!interval(node.element(i), box[i])) return false;
  }
  return true;
}

bool ScheduleReader::interval(const JsonNode& node, Interval& interval) {
  if (!object(node, {"kind"},
              {"start", "length", "offset", "end", "loop", "step", "growth", "first",
               "first_from_root", "last", "last_from_root", "from", "to"}) ||
      !name(node.member("kind"), kIntervalKindNames, interval.kind)) {
    return false;
  }
  if (interval.kind == IntervalKind::kAll) return object(node, {"kind"});
  if (interval.kind == IntervalKind::kForRoots) return rootSpan(node, interval);
  const bool one_end = hasAbsoluteEnd(interval.kind);
  const char* const start = one_end ? "offset" : "start";
  const char* const length = one_end ? "end" : "length";
  if (!(node.has("loop") ? object(node, {"kind", start, length, "loop", "step", "growth"})
                         : object(node, {"kind", start, length})) ||
      !integer(node.member(start), interval.start) ||
      !integer(node.member(length), interval.length)) {
    return false;
  }
  return !node.has("loop") || (integer(node.member("loop"), interval.loop, 1, kMaxLoopDepth) &&
                               integer(node.member("step"), interval.step) &&
                               integer(node.member("growth"), interval.growth));
}

bool ScheduleReader::rootSpan(const JsonNode& node, Interval& interval) {
  RootSpan span;
  std::uint8_t first_from_root = 0, last_from_root = 0;
  if (!object(node, {"kind", "first", "first_from_root", "last", "last_from_root", "from", "to"}) ||
      !integer(node.member("first"), span.first) ||
      !integer(node.member("first_from_root"), first_from_root, 0, 1) ||
      !integer(node.member("last"), span.last) ||
      !integer(node.member("last_from_root"), last_from_root, 0, 1) ||
      !integer(node.member("from"), span.from) || !integer(node.member("to"), span.to)) {
    return false;
  }
  span.first_from_root = first_from_root != 0;
  span.last_from_root = last_from_root != 0;
  interval = Interval::forRoots(span);
  return true;
}

bool ScheduleReader::pair(const JsonNode& node, BoxPair& pair) {
  return object(node, {"source", "destination"}) && index(node.member("source"), pair.source) &&
         index(node.member("destination"), pair.destination);
}

bool ScheduleReader::piece(const JsonNode& node, Piece& piece) {
  return object(node, {"part", "parts", "box"}) && index(node.member("part"), piece.part) &&
         integer(node.member("parts"), piece.parts, 1) && index(node.member("box"), piece.box);
}

bool ScheduleReader::shift(const JsonNode& node, Shift& shift) {
  if (!perAxis(node)) return false;
  for (std::uint32_t i = 0; i < schedule_.topology.axis_count; ++i) {
    if (!integer(node.element(i), shift[i])) return false;
  }
  return true;
}

bool ScheduleReader::peerLoop(const JsonNode& node, PeerLoop& peers) {
  if (!object(node, {"first", "count", "order", "window"})) return false;
  const JsonNode first = node.member("first"), count = node.member("count");
  if (!perAxis(first) || !perAxis(count)) return false;
  for (std::uint32_t i = 0; i < schedule_.topology.axis_count; ++i) {
    if (!integer(first.element(i), peers.first[i]) ||
        !integer(count.element(i), peers.count[i], 1)) {
      return false;
    }
  }
  return name(node.member("order"), kPeerOrderNames, peers.order) &&
         integer(node.member("window"), peers.window);
}

bool ScheduleReader::frame(const JsonNode& node, Frame& frame) {
  return blocks(node, frame, {"slot"}, {"copies"}) && index(node.member("slot"), frame.slot) &&
         (!node.has("copies") || integer(node.member("copies"), frame.copies, 2));
}

bool ScheduleReader::loop(const JsonNode& node, Loop& loop) {
  return object(node, {"begin", "end", "count"}) && integer(node.member("begin"), loop.begin) &&
         integer(node.member("end"), loop.end) && integer(node.member("count"), loop.count, 1);
}

bool ScheduleReader::iterations(const JsonNode& node, Iterations& iterations) {
  if (!object(node, {"loops", "segments_before"}) ||
      !integer(node.member("segments_before"), iterations.segments, 0, kMaxSegmentsBefore)) {
    return false;
  }
  const JsonNode loops = node.member("loops");
  if (!loops.value().is_array() || loops.value().size() > kMaxLoopDepth) {
    return fail(loops, "expected an array of up to " + llvm::Twine(kMaxLoopDepth) + " iterations");
  }
  iterations.depth = static_cast<std::uint16_t>(loops.value().size());
  for (std::uint32_t level = 0; level < iterations.depth; ++level) {
    const JsonNode element = loops.element(level);
    if (!object(element, {"origin", "offset"}) ||
        !name(element.member("origin"), kIterationOriginNames, iterations.origin[level]) ||
        !integer(element.member("offset"), iterations.offset[level])) {
      return false;
    }
  }
  return true;
}

bool ScheduleReader::operation(const JsonNode& node, Operation& operation) {
  std::string_view kinds[kOperationKindCount];
  for (int i = 0; i < kOperationKindCount; ++i) {
    kinds[i] = torc::name(static_cast<OperationKind>(i));
  }
  if (!object(node, {"kind", "phase", "stream", "after"},
              {"dst", "a", "b", "peer", "peer_loop", "guard"}) ||
      !name(node.member("kind"), kinds, operation.kind) ||
      !integer(node.member("phase"), operation.phase) ||
      !index(node.member("stream"), operation.stream)) {
    return false;
  }
  if (node.has("dst") && !region(node.member("dst"), operation.dst)) return false;
  if (node.has("a") && !region(node.member("a"), operation.a)) return false;
  if (node.has("b") && !region(node.member("b"), operation.b)) return false;
  if (node.has("peer") && !index(node.member("peer"), operation.peer)) return false;
  if (node.has("peer_loop")) {
    if (node.has("peer")) return fail(node, "has a peer and a loop over peers");
    operation.peer_kind = PeerKind::kLoop;
    if (!index(node.member("peer_loop"), operation.peer)) return false;
  }
  if (node.has("guard") && !index(node.member("guard"), operation.guard)) return false;
  const JsonNode after = node.member("after");
  if (!after.value().is_array()) return fail(after, "expected an array");
  operation.first_dependence = static_cast<std::uint32_t>(schedule_.dependences.size());
  operation.dependence_count = static_cast<std::uint32_t>(after.value().size());
  for (std::size_t i = 0; i < after.value().size(); ++i) {
    const JsonNode element = after.element(i);
    std::uint32_t before = 0, record = 0;
    const bool earlier = element.value().is_object();
    if (earlier) {
      if (!object(element, {"operation", "iterations"}) ||
          !integer(element.member("iterations"), record, 0, kMaxIterationRecords - 1)) {
        return false;
      }
      ++record;
    }
    if (!integer(earlier ? element.member("operation") : element, before, 0,
                 kMaxOperationRecords - 1)) {
      return false;
    }
    schedule_.dependences.push_back(dependenceOn(before, record));
  }
  return true;
}

bool ScheduleReader::region(const JsonNode& node, Region& region) {
  const std::string_view buffers[] = {torc::name(Buffer::kIn), torc::name(Buffer::kOut),
                                      torc::name(Buffer::kScratch)};
  int buffer = 0;
  if (!blocks(node, region, {"buffer"}, {"frame"}) ||
      !name(node.member("buffer"), buffers, buffer)) {
    return false;
  }
  region.buffer = static_cast<Buffer>(buffer + static_cast<int>(Buffer::kIn));
  return !node.has("frame") || index(node.member("frame"), region.frame);
}

template <typename Blocks>
bool ScheduleReader::blocks(const JsonNode& node, Blocks& blocks, Names required, Names optional) {
  if (!node.value().is_object()) return fail(node, "expected an object");
  const bool lists = node.has("pieces");
  llvm::SmallVector<std::string_view, 4> keys(required.begin(), required.end());
  keys.push_back(lists ? "pieces" : "part");
  keys.push_back(lists ? "first_piece" : "box");
  if (!object(node, keys, optional)) return false;
  if (!lists)
    return index(node.member("part"), blocks.part) && index(node.member("box"), blocks.box);
  return index(node.member("first_piece"), blocks.box) &&
         integer(node.member("pieces"), blocks.pieces, 1, kMaxPieces);
}

/// A message of validation, which begins with the record that it concerns (`operation 17: ...`),
/// behind that record's place.
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
