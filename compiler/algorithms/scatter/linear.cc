// The linear algorithm (Open MPI's name): a message between the root and each other node, all at
// once. Blocks cross the network once, by a shortest path, and no node forwards any. This is
// fastest if start-ups cost little, as on a network with fast injection, or if ranks wake up
// slowly. The root pays p - 1 start-ups, and with dimension-order routing the links next to it
// along X carry most of the blocks: for short vectors.
#include "compiler/algorithms/scatter/linear.h"

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include <llvm/ADT/STLExtras.h>

#include "compiler/algorithms/trees/ring_tree.h"
#include "ir/make_error.h"
#include "ir/step_builder.h"

namespace torc::compiler {
namespace {

/// From the root to each other node in the shorter direction, the farthest first.
std::vector<Shift> shiftsOf(const Topology& topology) {
  std::vector<Shift> shifts;
  for (std::uint32_t site = 1; site < topology.sites(); ++site) {
    Shift shift{};
    std::uint32_t left = site;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      const std::uint32_t size = topology.axes[i].size;
      const auto at = static_cast<std::int32_t>(left % size);
      shift[i] =
          2 * at > static_cast<std::int32_t>(size) ? at - static_cast<std::int32_t>(size) : at;
      left /= size;
    }
    shifts.push_back(shift);
  }
  const auto hops = [](const Shift& shift) {
    return std::accumulate(shift.begin(), shift.end(), 0,
                           [](std::int32_t sum, std::int32_t one) { return sum + std::abs(one); });
  };
  llvm::stable_sort(shifts, [&](const Shift& a, const Shift& b) { return hops(a) > hops(b); });
  return shifts;
}

}  // namespace

llvm::Expected<ir::Program> lowerLinear(const CollectiveSpec& spec) {
  const Topology& topology = spec.topology;
  if (llvm::Error error = checkRings(topology, "linear")) return error;
  if (topology.sites() > kMostLinearNodes) {
    return makeError("linear: " + std::to_string(topology.sites()) + " ranks, more than " +
                     std::to_string(kMostLinearNodes));
  }
  ir::StepBuilder builder(ir::scheduleHeader(spec.collective, topology, 1));
  const std::uint32_t stream = builder.addStream({0, 0});
  const bool is_scatter = rowOf(spec.collective).describesOwnOut();
  const auto boxAt = [&](const Shift& shift) {
    Box box;
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      const std::uint32_t size = topology.axes[i].size;
      if (size > 1) box[i] = Interval::absolute(static_cast<std::int32_t>(wrap(shift[i], size)));
    }
    return builder.box(box);
  };
  Box own_box;
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    if (topology.axes[i].size > 1) own_box[i] = Interval::relative(0);
  }
  const auto own = [&](Buffer buffer) {
    return builder.region(buffer, {{0, 1, builder.box(own_box)}});
  };
  const ir::StepPlace root{stream, topology.sites() > 1 ? boxAt({}) : kNone};
  for (const Shift& shift : shiftsOf(topology)) {
    const std::uint32_t there = boxAt(shift);
    Shift back = shift;
    for (std::int32_t& hops : back)
      hops = -hops;
    if (is_scatter) {
      builder.send(root, builder.region(Buffer::kIn, {{0, 1, there}}), shift, {});
      builder.receive({stream, there}, own(Buffer::kOut), shift, {});
    } else {
      builder.send({stream, there}, own(Buffer::kIn), back, {});
      builder.receive(root, builder.region(Buffer::kOut, {{0, 1, there}}), back, {});
    }
  }
  builder.copy(root, own(Buffer::kOut), own(Buffer::kIn), {});
  ir::Program program;
  program.schedule = builder.take();
  return program;
}

ProgramSize estimateLinear(const CollectiveSpec& spec) {
  ProgramSize size;
  size.operations = 2.0 * spec.topology.sites();
  size.boxes = spec.topology.sites();
  size.cell_steps = 1.5 * size.operations * size.operations;
  size.of_nodes = true;
  return size;
}

}  // namespace torc::compiler
