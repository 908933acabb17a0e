// Grids, sums over items, and the cost of multiplication.
#include "studies/dense/dense_cost.h"

#include <algorithm>
#include <cmath>

#include "studies/dense/lines.h"
#include "studies/logp/placed_ranks.h"

namespace torc::studies {
namespace {

/// Messages that share a link if each rank of a grid, with ranks in order on the torus, sends to
/// the next one of its row or of its column.
double sharedByShifts(const model::Machine& machine, const DenseGrid& grid, bool along_rows) {
  const auto rows = static_cast<std::uint32_t>(grid.rows);
  const auto columns = static_cast<std::uint32_t>(grid.columns);
  std::vector<std::uint32_t> receivers(std::size_t{rows} * columns);
  for (std::uint32_t rank = 0; rank < receivers.size(); ++rank) {
    const std::uint32_t row = rank / columns, column = rank % columns;
    receivers[rank] =
        along_rows ? row * columns + (column + 1) % columns : (row + 1) % rows * columns + column;
  }
  return mostMessagesOnALink(machine, receivers);
}

}  // namespace

double DenseCost::communicate_s() const {
  double sum = 0;
  for (const DenseItem& item : items)
    sum += item.seconds;
  return sum;
}

double DenseCost::bytes() const {
  double sum = 0;
  for (const DenseItem& item : items)
    sum += item.bytes;
  return sum;
}

double DenseCost::messages() const {
  double sum = 0;
  for (const DenseItem& item : items)
    sum += item.count;
  return sum;
}

double DenseCost::efficiency() const {
  return compute_s / (compute_s + communicate_s());
}

double flopRateOf(const model::Machine& machine) {
  return machine.gamma > 0 ? machine.cores / (8 * machine.gamma) : 0;
}

DenseGrid gridOf(const model::Machine& machine) {
  const auto size = [&](std::size_t dimension) {
    return dimension < machine.dimensions.size() ? machine.dimensions[dimension].size : 1;
  };
  return {static_cast<double>(size(1)), static_cast<double>(size(0)), static_cast<double>(size(2))};
}

DenseGrid squareGrid(std::uint64_t nodes) {
  std::uint64_t rows = 1;
  for (std::uint64_t each = 1; each * each <= nodes; ++each) {
    if (nodes % each == 0) rows = each;
  }
  return {static_cast<double>(rows), static_cast<double>(nodes / rows), 1};
}

DenseCost gemmCost(const model::Machine& machine, const DenseJob& job, GemmRounds rounds) {
  const Lines lines(machine, job.trees, job.line_nodes);
  const auto& [rows, columns, layers] = job.grid;
  const double n = job.size;
  DenseCost cost;
  cost.compute_s = 2 * n * n * n / (job.grid.nodes() * job.flop_rate);
  const double block = n / rows * (n / columns) * job.element;
  if (layers > 1) {
    cost.items.push_back(
        {"multicasts of A and B to the layers", 2, 2 * block, 2 * lines.multicast(layers, block)});
    cost.items.push_back(
        {"reduction of C over the layers", 1, block, lines.reduction(layers, block)});
  }
  const double most = std::max(rows, columns);
  const double count = std::max(1.0, most / layers);
  const auto add = [&](bool along_rows, double line, double other) {
    if (line <= 1) return;
    // A layer's part of k in `count` rounds.
    const double bytes = n / other * (n / layers / count) * job.element;
    const double sharing =
        rounds == GemmRounds::kSharedShifts ? sharedByShifts(machine, job.grid, along_rows) : 1;
    const bool multicasts = rounds == GemmRounds::kMulticasts;
    cost.items.push_back(
        {std::string(multicasts ? "multicasts" : "shifts") +
             (along_rows ? " of A along rows" : " of B along columns"),
         count, count * bytes,
         count * (multicasts ? lines.multicast(line, bytes) : lines.shift(bytes, sharing))});
  };
  add(true, columns, rows);
  add(false, rows, columns);
  return cost;
}

}  // namespace torc::studies
