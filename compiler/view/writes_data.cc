// Converts the writes that the verifier has traced to the contents of nodes.
#include <optional>
#include <vector>

#include "compiler/view/columns_data.h"
#include "compiler/view/page_data.h"
#include "ir/verifier/verifier.h"
#include "schedules/root.h"

namespace torc::compiler {
namespace {

using Json = nlohmann::ordered_json;

// Limits of writes on a page, and of the blocks that it traces.
constexpr std::size_t kMostWrites = 300'000;
constexpr std::uint64_t kMostBlocks = 1 << 18;

std::string_view name(Holds holds) {
  static constexpr std::string_view kNames[] = {"nothing", "own", "whole", "neighbours"};
  return kNames[static_cast<int>(holds)];
}

/// Index of a node among the nodes of a fact, along an axis; std::nullopt if it is not one of them.
std::optional<std::uint32_t> placeIn(const Range& nodes, std::int32_t at, std::uint32_t size) {
  const std::uint32_t offset = (static_cast<std::uint32_t>(at) + size - nodes.start) % size;
  if (offset >= nodes.length) return std::nullopt;
  return offset;
}

/// The writes of one node, as columns.
class NodeWrites {
 public:
  NodeWrites(const BlockAxes& axes, std::int32_t rank, const Coordinates& at)
      : axes_(axes), rank_(rank), at_(at) {}

  void add(const ir::Written& written) {
    std::array<std::uint32_t, kMaxAxes> places{};
    for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis) {
      const auto place = placeIn(written.fact.place.nodes[axis], at_[axis], axes_.size(axis));
      if (!place) return;
      places[axis] = *place;
    }
    double contributions = 0;
    for (const ir::Spans& ranks : written.fact.value) {
      double product = 1;
      for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis) {
        if (!ir::followsBlock(ranks[axis]))
          product *= ir::rangeAt(ranks[axis], places[axis], axes_.size(axis)).length;
      }
      contributions += product;
    }
    Json box = Json::array();
    for (std::uint32_t i = 0; i < axes_.count(); ++i) {
      const Range range =
          ir::rangeAt(written.fact.place.blocks[i], places[axes_.nodeAxis(i)], axes_.size(i));
      box.push_back(range.start);
      box.push_back(range.length);
    }
    columns_.add({written.operation, written.part, static_cast<std::uint64_t>(contributions), box});
  }
  Json take() {
    Json data = {{"rank", rank_}};
    columns_.moveTo(data);
    return data;
  }

 private:
  const BlockAxes& axes_;
  const std::int32_t rank_;
  const Coordinates at_;
  ColumnsData columns_{"operation", "part", "contributions", "box"};
};

}  // namespace

Json writesData(const ViewedSchedule& viewed, llvm::ArrayRef<std::int32_t> ranks) {
  const ScheduleView schedule = viewed.view();
  const CollectiveRow& row = rowOf(schedule.collective);
  if (schedule.segments > 1 || row.isOfNeighbours() || schedule.topology.sites() > kMostBlocks ||
      schedule.operations.size() * ranks.size() > kMostWrites) {
    return {};
  }
  const BlockAxes axes = schedule.blockAxes();
  const RootedSchedule rooted(schedule, 0);
  std::vector<NodeWrites> nodes;
  for (const std::int32_t rank : ranks)
    nodes.emplace_back(axes, rank, rooted.coordinatesOf(rank));
  std::size_t heard = 0;
  ir::VerifyOptions options;
  options.on_write = [&](const ir::Written& written) {
    if (++heard > kMostWrites) return;
    for (NodeWrites& node : nodes)
      node.add(written);
  };
  if (!ir::verify(schedule, options).ok() || heard == 0 || heard > kMostWrites) return {};
  Json data = {{"in", name(row.inAt(true))}, {"in_elsewhere", name(row.inAt(false))}};
  Json& by_node = data["nodes"] = Json::array();
  for (NodeWrites& node : nodes)
    by_node.push_back(node.take());
  return data;
}

}  // namespace torc::compiler
