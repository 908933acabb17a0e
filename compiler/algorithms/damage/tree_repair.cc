#include "compiler/algorithms/damage/tree_repair.h"

#include <algorithm>
#include <tuple>

#include "schedules/schedule.h"

namespace torc::compiler {
namespace {

/// The least common multiple of the numbers up to kMostShares: the weight of a whole tree.
constexpr std::uint64_t kWhole = 840;
static_assert(kMostShares == 8);

class TreeRepair {
 public:
  TreeRepair(const LiveGraph& graph, llvm::ArrayRef<TreeCables> forests)
      : graph_(graph), load_(graph.cables(), 0) {
    for (const TreeCables& forest : forests) {
      for (const std::uint32_t cable : forest)
        load_[cable] += kWhole;
    }
    most_load_ = *std::max_element(load_.begin(), load_.end());
  }

  /// For the piece of `forest` with the fewest of them: the number of cables that lead out of it
  /// and have joined no piece yet.
  std::uint32_t cablesToJoin(const TreeCables& forest) {
    findPieces(forest);
    return fewestCables();
  }

  /// Adds `forest`, which is in pieces, as at most `most` trees.
  void join(const TreeCables& forest, std::uint32_t most, std::vector<WeightedTree>& trees) {
    const std::uint32_t shares = std::clamp(cablesToJoin(forest), 1u, most);
    const std::vector<Nodes> pieces = pieces_;
    for (std::uint32_t share = 0; share < shares; ++share) {
      pieces_ = pieces;
      numberPieces();
      trees.push_back({joined(forest, kWhole / shares), kWhole / shares});
    }
  }

 private:
  using Nodes = std::vector<std::uint32_t>;

  /// Finds the pieces of a forest, the largest first, and each node's distance from the farthest
  /// node of its piece.
  void findPieces(const TreeCables& forest) {
    const TreeArcs arcs(graph_, forest);
    pieces_.clear();
    Nodes from_other(graph_.nodes(), 0);
    reach_.assign(graph_.nodes(), kNone);
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
      if (reach_[node] != kNone) continue;
      // The farthest node is an end of a longest path.
      const RootedTree from_end = arcs.rootedAt(arcs.rootedAt(node).order.back());
      addDepths(graph_, from_end, reach_);
      addDepths(graph_, arcs.rootedAt(from_end.order.back()), from_other);
      for (const std::uint32_t member : from_end.order)
        reach_[member] = std::max(reach_[member], from_other[member]);
      pieces_.push_back(from_end.order);
    }
    std::iter_swap(pieces_.begin(), std::max_element(pieces_.begin(), pieces_.end(),
                                                     [](const Nodes& a, const Nodes& b) {
                                                       return a.size() < b.size();
                                                     }));
    numberPieces();
  }
  void numberPieces() {
    piece_of_.resize(graph_.nodes());
    for (std::uint32_t piece = 0; piece < pieces_.size(); ++piece) {
      for (const std::uint32_t member : pieces_[piece])
        piece_of_[member] = piece;
    }
  }

  std::uint32_t fewestCables() const {
    std::vector<std::uint32_t> cables(pieces_.size(), 0);
    for (const LiveArc& arc : graph_.arcs()) {
      const bool leaves = piece_of_[arc.from] != piece_of_[arc.to];
      cables[piece_of_[arc.from]] += leaves && load_[arc.cable] <= most_load_;
    }
    return *std::min_element(cables.begin() + 1, cables.end());
  }

  /// A spanning tree of that weight: the largest piece absorbs the others one by one.
  TreeCables joined(const TreeCables& forest, std::uint64_t weight) {
    TreeCables tree = forest;
    Nodes depth(graph_.nodes(), 0);
    for (std::size_t left = pieces_.size() - 1; left > 0; --left) {
      const TreeArcs arcs(graph_, tree);
      addDepths(graph_, arcs.rootedInTheMiddle(pieces_.front().front()), depth);
      // Order: load, but at least the largest load of any cable so far; depth of the absorbed
      // piece; arc.
      std::tuple<std::uint64_t, std::uint32_t, std::uint32_t> best{~std::uint64_t{0}, kNone, kNone};
      for (std::uint32_t arc = 0; arc < graph_.arcs().size(); ++arc) {
        const LiveArc& it = graph_.arc(arc);
        if (piece_of_[it.from] != 0 || piece_of_[it.to] == 0) continue;
        best = std::min(best, {std::max(load_[it.cable] + weight, most_load_),
                               depth[it.from] + 1 + reach_[it.to], arc});
      }
      const LiveArc& join = graph_.arc(std::get<2>(best));
      load_[join.cable] += weight;
      tree.push_back(join.cable);
      const Nodes& taken = pieces_[piece_of_[join.to]];
      pieces_.front().insert(pieces_.front().end(), taken.begin(), taken.end());
      for (const std::uint32_t member : taken)
        piece_of_[member] = 0;
    }
    return tree;
  }

  const LiveGraph& graph_;
  std::vector<std::uint64_t> load_;  // by cable: weight of its trees
  std::uint64_t most_load_ = 0;      // maximum before pieces are joined
  std::vector<Nodes> pieces_;
  Nodes piece_of_;  // by node
  Nodes reach_;     // by node: messages to the farthest node of its piece
};

}  // namespace

std::vector<WeightedTree> repairTrees(const LiveGraph& graph, llvm::ArrayRef<TreeCables> forests) {
  TreeRepair repair(graph, forests);
  std::vector<WeightedTree> trees;
  std::vector<std::pair<std::uint32_t, const TreeCables*>> broken;  // by joining cables
  for (const TreeCables& forest : forests) {
    if (forest.size() + 1 == graph.nodes()) {
      trees.push_back({forest, kWhole});
    } else {
      broken.emplace_back(repair.cablesToJoin(forest), &forest);
    }
  }
  if (broken.empty()) return trees;
  const auto most =
      std::clamp(kMostTrees / static_cast<std::uint32_t>(broken.size()), 1u, kMostShares);
  std::stable_sort(broken.begin(), broken.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [cables, forest] : broken)
    repair.join(*forest, most, trees);
  return trees;
}

}  // namespace torc::compiler
