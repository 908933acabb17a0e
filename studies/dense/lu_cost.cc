// Cost of factoring: the messages of 2.5D LU as in linalg/lu, in the steps of the paper's Figure 3.
// The paper itemises its own in another report (Solomonik and Demmel, UCB/EECS-2011-10, appendix
// B). tests/linalg/lu_test.cc counts the program's.
#include <algorithm>
#include <cmath>
#include <utility>

#include "studies/dense/dense_cost.h"
#include "studies/dense/lines.h"

namespace torc::studies {
namespace {

/// The messages of one factorization.
class LuCount {
 public:
  LuCount(const model::Machine& machine, const DenseJob& job, const LuWidths& widths, bool pivoting)
      : lines_(machine, job.trees, job.line_nodes), job_(job) {
    const auto& [rows, columns, layers] = job.grid;
    const double n = job.size;
    const double outer_steps = std::ceil(n / widths.outer);
    for (double step = 0; step < outer_steps; ++step) {
      const double left = n - step * widths.outer;
      const double outer = std::min(left, widths.outer), rest = left - outer;
      const double inner = std::min(outer, widths.inner);
      sums(left / rows * outer / columns);
      factor(left, outer, inner, pivoting);
      exchangeLayers(kLToLayers, left / rows * outer / columns / layers);
      gatherToFirst(kLToFirst, left / rows * outer / columns);
      if (pivoting) exchangeRows(outer, (outer + rest) / columns + outer / layers);
      if (rest <= 0) continue;
      gather(kLToLayers, layers, outer / rows * outer);
      thinPanels(left / rows * outer / layers, rest / columns * outer / layers);
      sums(outer / rows * rest / columns);
      const double solves = std::ceil(outer / inner);
      multicasts(kU, rows, solves, outer / solves * rest / columns / layers);
      exchangeLayers(kUToLayers, outer / rows * rest / columns / layers);
      gatherToFirst(kUToFirst, outer / rows * rest / columns);
    }
    if (pivoting) exchangeRowsOfL(outer_steps - 1);
  }

  std::vector<DenseItem> items() const {
    std::vector<DenseItem> used;
    for (const DenseItem& item : items_) {
      if (item.count > 0) used.push_back(item);
    }
    return used;
  }

 private:
  enum Kind {
    kSums,
    kTournament,
    kL,
    kPivotRows,
    kLToLayers,
    kLToFirst,
    kRows,
    kU,
    kUToLayers,
    kUToFirst,
    kThinL,
    kThinU,
    kKinds
  };

  void add(Kind kind, double count, double words, double seconds) {
    DenseItem& item = items_[kind];
    item.count += count;
    item.bytes += words * job_.element;
    item.seconds += seconds;
  }
  /// The part of each node's `words` that comes from others of a line, if they are spread evenly.
  static double others(double line, double words) { return words * (line - 1) / line; }

  /// Panel by panel; on average half a block column is to the right, and half of the rows of its
  /// diagonal are chosen.
  void factor(double left, double outer, double inner, bool pivoting) {
    const auto& [rows, columns, layers] = job_.grid;
    const double panels = std::ceil(outer / inner);
    const double below = left - (outer - inner) / 2, right = (outer - inner) / 2;
    // The last diagonal block serves no other column.
    multicasts(kL, columns, panels,
               below / rows / layers * inner + (panels - 1) / panels * inner * inner);
    gatherPlane(panels, inner * right / columns, pivoting);
    if (pivoting) {
      tournaments(rows, panels, inner * inner);
      tournaments(layers, panels, inner * inner);
    } else {
      gatherPlane(panels, inner * inner, pivoting);
    }
  }
  void multicasts(Kind kind, double line, double count, double words) {
    if (words > 0 && line > 1)
      add(kind, count, count * words, count * lines_.multicast(line, words * job_.element));
  }
  /// A reduction, and a multicast of its result.
  void tournaments(double line, double count, double words) {
    if (line > 1)
      add(kTournament, 2 * count, 2 * count * words,
          count * lines_.allreduce(line, words * job_.element));
  }
  /// A reduce-scatter over the layers: all but the own share goes up a tree.
  void sums(double words) {
    const double layers = job_.grid.layers, moved = others(layers, words);
    if (moved > 0) add(kSums, 1, moved, lines_.reduction(layers, moved * job_.element));
  }
  /// Each node of a line has a part of `words`, and gets all.
  void gather(Kind kind, double line, double words) {
    const double moved = others(line, words);
    if (moved > 0) add(kind, 1, moved, lines_.multicast(line, moved * job_.element));
  }
  /// `count` times over the layers and along the columns; pivot rows come from all of them, rows of
  /// a diagonal block from one process row.
  void gatherPlane(double count, double words, bool pivoting) {
    const auto& [rows, columns, layers] = job_.grid;
    const double over = others(layers, pivoting ? words / rows : words);
    const double down = pivoting ? others(rows, words) : (rows > 1 ? words : 0);
    for (const auto& [line, moved] : {std::pair{layers, over}, std::pair{rows, down}}) {
      if (moved > 0)
        add(kPivotRows, count, count * moved, count * lines_.multicast(line, moved * job_.element));
    }
  }
  /// With one layer the panel and U have already travelled along the lines.
  void thinPanels(double l, double u) {
    if (job_.grid.layers == 1) return;
    gather(kThinL, job_.grid.columns, l);
    gather(kThinU, job_.grid.rows, u);
  }
  void gatherToFirst(Kind kind, double words) { gather(kind, job_.grid.layers, words); }
  void exchangeLayers(Kind kind, double words) {
    const double layers = job_.grid.layers, moved = others(layers, words);
    if (moved > 0) add(kind, 1, moved, lines_.exchange(layers, moved * job_.element));
  }
  /// Exchanges the chosen rows with those at their destinations, in `columns`. On one layer a block
  /// column is one block: the latter all leave one node, and the former all arrive there.
  void exchangeRows(double outer, double columns) {
    const double rows = job_.grid.rows;
    const bool spread = job_.grid.layers > 1;
    const double moved = others(rows, spread ? 2 * outer / rows * columns : outer * columns);
    const double bytes = moved * job_.element;
    if (moved > 0)
      add(kRows, 1, moved, spread ? lines_.exchange(rows, bytes) : lines_.multicast(rows, bytes));
  }
  /// Exchanges the finished rows of L at the end: `count` block columns, with one layer each on one
  /// column of nodes.
  void exchangeRowsOfL(double count) {
    const auto& [rows, columns, layers] = job_.grid;
    if (layers == 1) count /= columns;
    const double moved = others(rows, job_.size / columns * job_.size / 2 / rows);
    if (moved > 0 && count > 0)
      add(kRows, count, moved, count * lines_.exchange(rows, moved / count * job_.element));
  }

  const Lines lines_;
  const DenseJob& job_;
  std::vector<DenseItem> items_ = {{"C: sums of block columns and rows over the layers"},
                                   {"A: reductions and multicasts of the tournaments"},
                                   {"A: multicasts of panels of L along rows"},
                                   {"A: pivot rows of block columns to their columns"},
                                   {"A: L to the layers, its share to each"},
                                   {"A: L to layer 0"},
                                   {"A: exchanges of rows"},
                                   {"A: multicasts of U along columns"},
                                   {"A: U to the layers, its share to each"},
                                   {"A: U to layer 0"},
                                   {"B: thin panels of L along rows"},
                                   {"B: thin panels of U along columns"}};
};

}  // namespace

LuWidths paperWidths(const DenseJob& job) {
  const double outer = job.size / std::sqrt(job.grid.nodes() / job.grid.layers);
  return {outer, outer / job.grid.layers};
}

DenseCost luCost(const model::Machine& machine, const DenseJob& job, const LuWidths& widths,
                 bool pivoting) {
  const double layers = job.grid.layers, n = job.size;
  const double compute_s = 2.0 / 3 * n * n * n / (job.grid.nodes() * job.flop_rate);
  const auto count = [&](double outer, double inner) {
    const LuWidths counted{outer, inner};
    return DenseCost{compute_s, LuCount(machine, job, counted, pivoting).items(), counted};
  };
  if (widths.outer > 0)
    return count(widths.outer, widths.inner > 0 ? widths.inner : widths.outer / layers);
  // From the paper's widths down to one element of a layer. With one layer a block column is one
  // panel.
  constexpr double kMostSteps = 1 << 17;
  constexpr int kMostHalvings = 5;
  const double narrowest = std::max({1.0, layers, n / kMostSteps});
  const double widest = n / std::max(job.grid.rows, job.grid.columns);
  DenseCost best = count(widest, widest / layers);
  for (double outer = widest; outer >= narrowest; outer /= 2) {
    double inner = outer / layers;
    for (int i = 0; i <= (layers > 1 ? kMostHalvings : 0) && inner >= 1; ++i, inner /= 2) {
      DenseCost cost = count(outer, inner);
      if (cost.communicate_s() < best.communicate_s()) best = std::move(cost);
    }
  }
  return best;
}

}  // namespace torc::studies
