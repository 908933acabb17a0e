// Data of the schedule itself: columns of operations, with loops unrolled, and the text, with
// loops.
#include <map>
#include <tuple>

#include <llvm/ADT/STLExtras.h>

#include "compiler/view/columns_data.h"
#include "compiler/view/page_data.h"
#include "ir/json/topology_json.h"
#include "ir/make_error.h"
#include "ir/text/text.h"
#include "ir/verifier/verifier.h"
#include "schedules/expansion/shares.h"
#include "schedules/loops/loop_nest.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

/// The index, or -1 for kNone.
std::int64_t orNone(std::uint32_t index) {
  return index == kNone ? -1 : static_cast<std::int64_t>(index);
}

Json intervalData(const Interval& interval) {
  return {static_cast<int>(interval.kind), interval.start, interval.length};
}

/// The regions of operations without duplicates, with their numbers.
class RegionTable {
 public:
  explicit RegionTable(const ScheduleView& schedule) : schedule_(schedule) {}

  std::int64_t add(const Region& region) {
    if (!region.present()) return -1;
    const auto key = std::tuple(region.buffer, region.pieces, region.part, region.box);
    const auto [entry, is_new] = numbers_.try_emplace(key, rows_.size());
    if (is_new) {
      Json pieces = Json::array();
      for (const Piece& piece : schedule_.piecesOf(region))
        pieces.push_back({piece.part, piece.parts, piece.box});
      rows_.push_back({static_cast<int>(region.buffer), std::move(pieces)});
    }
    return static_cast<std::int64_t>(entry->second);
  }
  Json take() { return std::move(rows_); }

 private:
  const ScheduleView& schedule_;
  std::map<std::tuple<Buffer, std::uint16_t, std::uint32_t, std::uint32_t>, std::size_t> numbers_;
  Json rows_ = Json::array();
};

Json operationsData(const ViewedSchedule& viewed, const ScheduleView& schedule, Json& regions) {
  ColumnsData columns({"kind", "phase", "stream", "peer", "dst", "a", "after"});
  ColumnsData unrolled({"source", "counters"});
  RegionTable table(schedule);
  const LoopNest nest(viewed.written());
  for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
    const Operation& operation = schedule.operations[i];
    // Numbers of loops over peers follow those of shifts.
    const std::int64_t shifts = operation.hasPeerLoop() ? schedule.shifts.size() : 0;
    const std::int64_t dst = table.add(operation.dst), a = table.add(operation.a);
    Json before = Json::array();
    for (const std::uint32_t dependence : schedule.dependencesOf(operation)) {
      if (schedule.segmentsBefore(dependence) == 0) before.push_back(operationOf(dependence));
    }
    columns.add({static_cast<int>(operation.kind), operation.phase, operation.stream,
                 operation.peer == kNone ? -1 : orNone(operation.peer) + shifts, dst, a, before});
    if (!viewed.hasLoops()) continue;
    const std::uint32_t depth = nest.aroundOperation(viewed.sourceOf(i)).depth();
    const Counters& at = viewed.unrolled.counters[i];
    unrolled.add({viewed.sourceOf(i), std::vector<std::uint32_t>(at.begin(), at.begin() + depth)});
  }
  regions = table.take();
  Json data;
  columns.moveTo(data);
  if (viewed.hasLoops()) unrolled.moveTo(data);
  return data;
}

}  // namespace

llvm::Expected<ViewedSchedule> viewedSchedule(std::string file, ir::Program program,
                                              std::string text) {
  const ScheduleView written = program.schedule.view();
  if (const std::uint64_t count = operationRuns(written); count > kMostViewedOperations) {
    const bool has_chunks =
        llvm::any_of(written.colors, [](const Color& color) { return color.chunks > 1; });
    return makeError(
        file + ": has " + std::to_string(count) + " operations, and a page shows at most " +
        std::to_string(kMostViewedOperations) + (has_chunks ? ": fewer chunks have fewer" : ""));
  }
  ViewedSchedule viewed{std::move(file), std::move(program), {}, std::move(text)};
  if (viewed.hasLoops()) viewed.unrolled = unrollLoops(viewed.written());
  // Many lists may share a piece: a small file can reference many pieces.
  std::uint64_t pieces = 0;
  const ScheduleView schedule = viewed.view();
  for (const Operation& operation : schedule.operations)
    pieces += schedule.piecesOf(operation.dst).size() + schedule.piecesOf(operation.a).size();
  if (pieces > ir::kMaxListedPieces) {
    return makeError(viewed.file + ": its regions list " + std::to_string(pieces) +
                     " pieces, and a page shows at most " + std::to_string(ir::kMaxListedPieces));
  }
  return viewed;
}

Json scheduleData(const ViewedSchedule& viewed) {
  const ScheduleView schedule = viewed.view();
  const Topology& topology = schedule.topology;
  Json data;
  data["file"] = viewed.file;
  data["name"] = schedule.name;
  data["producer"] = viewed.written().producer;
  data["collective"] = rowOf(schedule.collective).name;
  data["reduces"] = rowOf(schedule.collective).reduces();
  data["rooted"] = rowOf(schedule.collective).isRooted();
  data["pairs"] = schedule.hasPairs();
  data["shape"] = topology.shape();
  data["ranks"] = topology.ranks();
  data["topology"] = ir::topologyJson(topology);
  data["written_operations"] = viewed.written().operations.size();
  data["segments"] = schedule.segments;
  Json& parts = data["parts"] = Json::array();
  const VectorShares shares(schedule);
  for (std::uint32_t part = 0; part < schedule.partCount(); ++part) {
    const PartIndex index = schedule.partIndex(part);
    parts.push_back({index.color, index.direction, index.chunk, shares.part(part)});
  }
  Json& streams = data["streams"] = Json::array();
  for (const Stream& stream : schedule.streams)
    streams.push_back({orNone(stream.part), stream.core});
  Json& boxes = data["boxes"] = Json::array();
  for (std::size_t box = 0; box < schedule.boxes.size(); ++box) {
    Json intervals = Json::array();
    for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis)
      intervals.push_back(intervalData(schedule.boxes[box][axis]));
    boxes.push_back(std::move(intervals));
  }
  if (schedule.hasPairs()) {
    Json& pairs = data["block_pairs"] = Json::array();
    for (const BoxPair& pair : schedule.pairs)
      pairs.push_back({pair.source, pair.destination});
  }
  Json& shifts = data["shifts"] = Json::array();
  for (const Shift& shift : schedule.shifts)
    shifts.push_back(std::vector<std::int32_t>(shift.begin(), shift.begin() + topology.axis_count));
  Json& loops = data["peer_loops"] = Json::array();
  for (const PeerLoop& loop : schedule.peer_loops) {
    const std::uint32_t axes = topology.axis_count;
    loops.push_back({std::vector<std::int32_t>(loop.first.begin(), loop.first.begin() + axes),
                     std::vector<std::uint32_t>(loop.count.begin(), loop.count.begin() + axes),
                     loop.size()});
  }
  Json regions;
  data["operations"] = operationsData(viewed, schedule, regions);
  data["regions"] = std::move(regions);
  data["text"] = viewed.text.empty() ? ir::programText(viewed.program) : viewed.text;
  return data;
}

}  // namespace torc::compiler
