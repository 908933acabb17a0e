// Steps of neighbourhood collectives: three for each direction, or one.
#include "compiler/algorithms/neighbours/neighbour_steps.h"

#include "ir/make_error.h"
#include "ir/step_builder.h"
#include "schedules/neighbours.h"

namespace torc::compiler {
namespace {

/// The block of the node `steps` up `axis`.
std::uint32_t blockAt(ir::StepBuilder& builder, std::uint32_t axis, std::int32_t steps) {
  const Topology& topology = builder.schedule().topology;
  Box block;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i)
    block[i] =
        topology.axes[i].size == 1 ? Interval::all() : Interval::relative(i == axis ? steps : 0);
  return builder.box(block);
}

/// Sets `guard` to the nodes with a neighbour in direction `way`; false if there is none.
bool guardOf(ir::StepBuilder& builder, const Way& way, std::uint32_t& guard) {
  Box nodes;
  if (!nodesWithNeighbour(builder.schedule().topology, way, nodes[way.axis])) return false;
  guard = nodes == Box{} ? kNone : builder.box(nodes);
  return true;
}

void addPart(ir::StepBuilder& builder, std::uint32_t part) {
  const Way way = wayOfPart(part);
  std::uint32_t senders = kNone, receivers = kNone;
  const bool has_nodes =
      guardOf(builder, way, senders) && guardOf(builder, {way.axis, -way.sign}, receivers);
  const std::uint32_t stream = builder.addStream({.part = part, .core = 0});
  if (!has_nodes) return;
  const Region sent = boxRegion(Buffer::kIn, part, blockAt(builder, way.axis, way.sign));
  const Region received = boxRegion(Buffer::kOut, part, blockAt(builder, way.axis, 0));
  if (builder.schedule().topology.axes[way.axis].size == 1) {
    builder.copy({.stream = stream}, received, sent, {});
    return;
  }
  const Shift moves = ir::hop(way.axis, way.sign);
  builder.send({.stream = stream, .guard = senders}, sent, moves, {});
  builder.receive({.stream = stream, .guard = receivers}, received, moves, {});
}

}  // namespace

llvm::StringRef unsuitedToNeighbours(const Topology& topology) {
  if (topology.isDamaged()) return "something is dead";
  return topology.hasCores() ? "nodes have cores: the grid is one of ranks" : "";
}

llvm::Expected<ir::Program> lowerNeighbours(const CollectiveSpec& spec) {
  if (const llvm::StringRef why = unsuitedToNeighbours(spec.topology); !why.empty()) {
    return makeError("algorithm neighbours: " + why);
  }
  Schedule header =
      ir::scheduleHeader(spec.collective, spec.topology, /*colors=*/spec.topology.axis_count);
  for (Color& color : header.colors)
    color.directions = 2;
  ir::StepBuilder builder(header);
  for (std::uint32_t part = 0; part < 2 * spec.topology.axis_count; ++part)
    addPart(builder, part);
  return ir::Program{builder.take(), {}};
}

ProgramSize estimateNeighbours(const CollectiveSpec& spec) {
  ProgramSize size;
  size.operations = size.boxes = 4.0 * spec.topology.axis_count;
  return size;
}

}  // namespace torc::compiler
