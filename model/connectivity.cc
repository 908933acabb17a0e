// Coordinates that the damage does not name behave alike: along each dimension, every run of them
// is taken as one. A cell, a run or a named coordinate in every dimension, is a box of nodes; one
// with more than one node has neither a dead node nor a dead link inside, so that its nodes reach
// each other, and two cells side by side are joined where any of their nodes are. A search over the
// cells decides.
#include "model/connectivity.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <llvm/ADT/STLExtras.h>

namespace torc {
namespace {

constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 24;

/// One dimension, cut into named coordinates and the runs between them, in order.
struct CutDimension {
  std::vector<std::int32_t> begins;  // first coordinate of each piece

  std::size_t pieces() const { return begins.size(); }
  std::size_t pieceOf(std::int32_t coordinate) const {
    return static_cast<std::size_t>(llvm::upper_bound(begins, coordinate) - begins.begin() - 1);
  }
};

std::vector<CutDimension> cut(const Machine& machine) {
  std::vector<CutDimension> cut(machine.dimensions.size());
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const auto size = static_cast<std::int32_t>(machine.dimensions[i].size);
    std::vector<std::int32_t>& begins = cut[i].begins;
    begins.push_back(0);
    auto name = [&](std::int32_t coordinate) {
      begins.push_back(coordinate);
      if (coordinate + 1 < size) begins.push_back(coordinate + 1);
    };
    for (const Coordinates& at : machine.dead_nodes)
      name(at[i]);
    for (const DeadLink& link : machine.dead_links) {
      name(link.from[i]);
      if (link.axis == i) name((link.from[i] + 1) % size);
    }
    // A run that goes on across the end and touches itself there is two pieces: joined all the
    // same.
    llvm::sort(begins);
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  }
  return cut;
}

}  // namespace

llvm::Expected<bool> isConnected(const Machine& machine) {
  const std::vector<CutDimension> dimensions = cut(machine);
  std::uint64_t cells = 1;
  for (const CutDimension& dimension : dimensions) {
    cells *= dimension.pieces();
    if (cells > kMaxCells) {
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "the damage is spread over too many coordinates to tell "
                                     "whether the rest is connected");
    }
  }
  auto cellOf = [&](const Coordinates& at) {
    std::uint64_t cell = 0;
    for (std::size_t i = dimensions.size(); i-- > 0;)
      cell = cell * dimensions[i].pieces() + dimensions[i].pieceOf(at[i]);
    return cell;
  };
  std::vector<bool> seen(cells);
  for (const Coordinates& at : machine.dead_nodes)
    seen[cellOf(at)] = true;
  // Dead links, as (cell that they go up from, axis). Their ends are cells of one coordinate along
  // the axis, and of one node: every other coordinate of theirs is named too.
  std::vector<std::pair<std::uint64_t, std::size_t>> dead;
  for (const DeadLink& link : machine.dead_links)
    dead.emplace_back(cellOf(link.from), link.axis);
  llvm::sort(dead);

  const auto first = std::find(seen.begin(), seen.end(), false);
  if (first == seen.end()) return true;
  std::vector<std::uint64_t> queue = {static_cast<std::uint64_t>(first - seen.begin())};
  seen[queue.front()] = true;
  while (!queue.empty()) {
    const std::uint64_t cell = queue.back();
    queue.pop_back();
    std::uint64_t stride = 1;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      const std::uint64_t pieces = dimensions[i].pieces();
      const std::uint64_t place = cell / stride % pieces;
      const MachineDimension& dimension = machine.dimensions[i];
      const bool wraps = dimension.torus && !(dimension.size == 2 && dimension.cables() == 1);
      auto visit = [&](std::uint64_t next, std::uint64_t lower) {
        if (seen[next] || std::binary_search(dead.begin(), dead.end(), std::pair(lower, i))) return;
        seen[next] = true;
        queue.push_back(next);
      };
      if (place + 1 < pieces || wraps) {
        visit(cell - place * stride + (place + 1) % pieces * stride, cell);
      }
      if (place > 0 || wraps) {
        const std::uint64_t below = cell - place * stride + (place + pieces - 1) % pieces * stride;
        visit(below, below);
      }
      stride *= pieces;
    }
  }
  return llvm::all_of(seen, [](bool each) { return each; });
}

}  // namespace torc
