// Writes the JSON form, one record per line. Keys: docs/schemas/schedule.schema.json.
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "ir/json/json.h"
#include "ir/json/names.h"
#include "ir/json/topology.h"
#include "ir/text/format.h"

namespace torc::ir {
namespace {

using Json = nlohmann::ordered_json;

Json intervalJson(const Interval& interval) {
  Json json = {{"kind", kIntervalKindNames[static_cast<int>(interval.kind)]}};
  if (interval.kind == IntervalKind::kAll) return json;
  if (interval.kind == IntervalKind::kForRoots) {
    const RootSpan span = interval.rootSpan();
    json["first"] = span.first;
    json["first_from_root"] = span.first_from_root ? 1 : 0;
    json["last"] = span.last;
    json["last_from_root"] = span.last_from_root ? 1 : 0;
    json["from"] = span.from;
    json["to"] = span.to;
    return json;
  }
  const bool one_end = hasAbsoluteEnd(interval.kind);
  json[one_end ? "offset" : "start"] = interval.start;
  json[one_end ? "end" : "length"] = interval.length;
  if (interval.loop == 0) return json;
  json["loop"] = interval.loop;
  json["step"] = interval.step;
  json["growth"] = interval.growth;
  return json;
}

/// Adds which blocks a region or a frame has.
template <typename Blocks>
void addBlocks(const Blocks& blocks, Json& json) {
  json[blocks.pieces == 0 ? "part" : "pieces"] = blocks.pieces == 0 ? blocks.part : blocks.pieces;
  json[blocks.pieces == 0 ? "box" : "first_piece"] = blocks.box;
}

Json regionJson(const Region& region) {
  Json json = {{"buffer", name(region.buffer)}};
  addBlocks(region, json);
  if (region.buffer == Buffer::kScratch) json["frame"] = region.frame;
  return json;
}

Json operationJson(const ScheduleView& schedule, const Operation& operation) {
  Json json = {
      {"kind", name(operation.kind)}, {"phase", operation.phase}, {"stream", operation.stream}};
  if (operation.dst.present()) json["dst"] = regionJson(operation.dst);
  if (operation.a.present()) json["a"] = regionJson(operation.a);
  if (operation.b.present()) json["b"] = regionJson(operation.b);
  if (operation.peer != kNone)
    json[operation.hasPeerLoop() ? "peer_loop" : "peer"] = operation.peer;
  if (operation.guard != kNone) json["guard"] = operation.guard;
  json["after"] = Json::array();
  for (const std::uint32_t dependence : schedule.dependencesOf(operation)) {
    if (iterationsOf(dependence) == 0) {
      json["after"].push_back(dependence);
    } else {
      json["after"].push_back(
          {{"operation", operationOf(dependence)}, {"iterations", iterationsOf(dependence) - 1}});
    }
  }
  return json;
}

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void member(const char* key, const Json& value) {
    open(key);
    append(value);
  }

  /// A list with one line per record.
  template <typename Records, typename ToJson>
  void list(const char* key, const Records& records, ToJson toJson) {
    open(key);
    out_ += '[';
    const char* separator = "\n    ";
    for (const auto& record : records) {
      out_ += separator;
      append(toJson(record));
      separator = ",\n    ";
    }
    out_ += records.empty() ? "]" : "\n  ]";
  }

 private:
  void open(const char* key) {
    out_ += out_.empty() ? "{\n  \"" : ",\n  \"";
    out_ += key;
    out_ += "\": ";
  }
  void append(const Json& value) {
    // A valid schedule has ASCII strings; on any other this does not throw.
    out_ += value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  std::string& out_;
};

}  // namespace

std::string writeJson(const ScheduleView& schedule) {
  const Topology& topology = schedule.topology;
  Json promises = Json::array();
  for (const PromiseName& promise : kPromises) {
    if (schedule.flags & promise.flag) promises.push_back(promise.name);
  }
  std::string text;
  Writer writer(text);
  writer.member("torc_schedule", kJsonFormVersion);
  writer.member("name", schedule.name);
  writer.member("producer", schedule.producer);
  writer.member("collective", rowOf(schedule.collective).name);
  writer.member("promises", promises);
  if (schedule.flags & kSynchronousSends) writer.member("sends", "synchronous");
  if (schedule.flags & kDropsBroken) writer.member("broken_messages", "dropped");
  Json places = topologyJson(topology);
  for (const GraphLink& link : schedule.links) {
    places["links"].push_back({{"from", link.from},
                               {"to", link.to},
                               {"bandwidth", link.bandwidth},
                               {"latency", link.latency}});
  }
  writer.member("topology", places);
  writer.list("colors", schedule.colors, [&](const Color& color) -> Json {
    return {{"weight", color.weight},
            {"order", axisNames(topology, color.order)},
            {"directions", color.directions},
            {"chunks", color.chunks}};
  });
  writer.list("streams", schedule.streams, [](const Stream& stream) -> Json {
    Json json = {{"part", stream.part}, {"core", stream.core}};
    if (stream.part == kNone) json["part"] = kAnyPart;
    return json;
  });
  writer.list("boxes", schedule.boxes, [&](const Box& box) {
    Json json = Json::array();
    for (std::uint32_t i = 0; i < topology.axis_count; ++i)
      json.push_back(intervalJson(box[i]));
    return json;
  });
  writer.list("pairs", schedule.pairs, [](const BoxPair& pair) -> Json {
    return {{"source", pair.source}, {"destination", pair.destination}};
  });
  writer.list("pieces", schedule.pieces, [](const Piece& piece) -> Json {
    return {{"part", piece.part}, {"parts", piece.parts}, {"box", piece.box}};
  });
  const auto perAxis = [&](const auto& values) {
    Json json = Json::array();
    for (std::uint32_t i = 0; i < topology.axis_count; ++i)
      json.push_back(values[i]);
    return json;
  };
  writer.list("shifts", schedule.shifts, perAxis);
  writer.list("peer_loops", schedule.peer_loops, [&](const PeerLoop& peers) -> Json {
    return {{"first", perAxis(peers.first)},
            {"count", perAxis(peers.count)},
            {"order", kPeerOrderNames[static_cast<int>(peers.order)]},
            {"window", peers.window}};
  });
  writer.member("slots", schedule.slot_count);
  writer.member("segments", schedule.segments);
  writer.member("window", schedule.window);
  writer.list("frames", schedule.frames, [](const Frame& frame) -> Json {
    Json json = Json::object();
    addBlocks(frame, json);
    json["slot"] = frame.slot;
    if (frame.copies > 1) json["copies"] = frame.copies;
    return json;
  });
  writer.list("loops", schedule.loops, [](const Loop& loop) -> Json {
    return {{"begin", loop.begin}, {"end", loop.end}, {"count", loop.count}};
  });
  writer.list("iterations", schedule.iterations, [](const Iterations& iterations) -> Json {
    Json json = Json::array();
    for (std::uint32_t level = 0; level < iterations.depth; ++level) {
      json.push_back({{"origin", kIterationOriginNames[static_cast<int>(iterations.origin[level])]},
                      {"offset", iterations.offset[level]}});
    }
    return Json{{"loops", json}, {"segments_before", iterations.segments}};
  });
  writer.list("operations", schedule.operations,
              [&](const Operation& operation) { return operationJson(schedule, operation); });
  text += "\n}\n";
  return text;
}

}  // namespace torc::ir
