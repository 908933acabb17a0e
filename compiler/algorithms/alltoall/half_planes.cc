// Factors a torus into the rows and columns of a virtual mesh, and plans two exchanges along them.
#include "compiler/algorithms/alltoall/half_planes.h"

#include <llvm/ADT/STLExtras.h>

#include "compiler/algorithms/alltoall/exchange_plan.h"
#include "passes/analysis/plan_axes.h"

namespace torc::compiler {

MeshFactors nearlySquare(const Topology& topology) {
  const auto dimensions = passes::networkAxes(topology);
  std::uint64_t nodes = 1;
  for (const std::uint32_t dimension : dimensions)
    nodes *= topology.axes[dimension].size;
  MeshFactors best;
  std::uint64_t fewest = nodes + 1;  // rows and columns of a mesh with a single row
  const auto consider = [&](const MeshFactors& factors, std::uint64_t columns) {
    if (columns == 1 || columns + nodes / columns >= fewest) return;
    fewest = columns + nodes / columns;
    best = factors;
  };
  for (std::uint32_t chosen = 0; chosen + 1 < 1u << dimensions.size(); ++chosen) {
    MeshFactors whole;
    std::uint64_t columns = 1;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      if ((chosen >> i & 1) == 0) continue;
      whole.columns |= 1u << dimensions[i];
      columns *= topology.axes[dimensions[i]].size;
    }
    consider(whole, columns);
    for (const std::uint32_t dimension : dimensions) {
      const Axis& axis = topology.axes[dimension];
      if ((whole.columns >> dimension & 1) != 0 || !axis.isRing()) continue;
      for (std::uint32_t stride = 2; stride < axis.size; ++stride) {
        if (axis.size % stride != 0) continue;
        consider({whole.columns | 1u << dimension, dimension, stride},
                 columns * (axis.size / stride));
      }
    }
  }
  return best;
}

llvm::Expected<ir::Program> lowerHalfPlanesAlltoall(const CollectiveSpec& spec) {
  const MeshFactors mesh = nearlySquare(spec.topology);
  std::uint32_t rows = networkAxisSet(spec.topology) & ~mesh.columns;
  if (mesh.split != kNone) rows |= 1u << mesh.split;
  llvm::Expected<ir::Program> program =
      exchangePlan(spec, "half-planes", {coreAxes(spec.topology), mesh.columns, rows});
  if (!program || mesh.split == kNone) return program;
  const auto columns = llvm::find_if(program->plan, [&](const ir::PlanOperation& operation) {
    return operation.axisSet() == mesh.columns;
  });
  columns->axis = mesh.split;
  columns->stride = mesh.stride;
  return program;
}

}  // namespace torc::compiler
