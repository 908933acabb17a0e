// What factoring takes: the messages of 2.5D LU, steps A to C of the paper's Figure 3, one by one.
// The paper itemises them in another report (Solomonik and Demmel, UCB/EECS-2011-10, appendix B);
// this count is our own.
#include <algorithm>
#include <cmath>
#include <utility>

#include "studies/dense/dense_cost.h"
#include "studies/dense/lines.h"

namespace torc::studies {
namespace {

/// The messages of one factorization by panels of one width.
class LuCount {
 public:
  LuCount(const model::Machine& machine, const DenseJob& job, double panel, bool pivoting)
      : lines_(machine, job.trees, job.line_nodes), job_(job), panel_(panel) {
    const auto& [rows, columns, layers] = job.grid;
    const double n = job.size;
    const double steps = std::ceil(n / panel);
    const double thin = panel / layers;
    for (double step = 0; step < steps; ++step) {
      const double left = n - step * panel;  // with the panel
      const double rest = std::max(0.0, left - panel);
      if (layers > 1) {
        depth(kSums, true, (left + rest) * panel);
        factorCorner(thin);
        depth(kCorner, false, panel * panel);
        // Each layer solves for its share of L's rows and U's columns, a thin panel at a time.
        row(kSolve, layers, rest / layers * thin);
        column(kSolve, layers, panel / 2 * thin);
        column(kSolve, layers, rest / layers * thin);
        row(kSolve, layers, panel / 2 * thin);
        depth(kShares, false, 2 * rest * panel);
      } else {
        add(kDiagonal, 2, 2 * panel * panel,
            lines_.multicast(rows, panel * panel * job.element) +
                lines_.multicast(columns, panel * panel * job.element));
      }
      row(kThinL, 1, rest * thin);
      column(kThinU, 1, rest * thin);
      if (pivoting) pivot(left, thin);
    }
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
    kDiagonal,
    kCorner,
    kSolve,
    kShares,
    kThinL,
    kThinU,
    kTournament,
    kRows,
    kKinds
  };

  void add(Kind kind, double count, double words, double seconds) {
    DenseItem& item = items_[kind];
    item.count += count;
    item.bytes += words * job_.element;
    item.seconds += seconds;
  }
  /// `words` of a layer's matrix, of which each node has its share, along the depth.
  void depth(Kind kind, bool sum, double words) {
    const double mine = words / job_.grid.rows / job_.grid.columns;
    const double bytes = mine * job_.element;
    if (mine > 0)
      add(kind, 1, mine,
          sum ? lines_.allreduce(job_.grid.layers, bytes)
              : lines_.multicast(job_.grid.layers, bytes));
  }
  /// `count` multicasts of `words` each, whose rows are spread over the rows of the grid.
  void row(Kind kind, double count, double words) {
    multicasts(kind, count, words / job_.grid.rows, job_.grid.columns);
  }
  void column(Kind kind, double count, double words) {
    multicasts(kind, count, words / job_.grid.columns, job_.grid.rows);
  }
  void multicasts(Kind kind, double count, double words, double line) {
    if (words > 0 && line > 1)
      add(kind, count, count * words, count * lines_.multicast(line, words * job_.element));
  }
  /// The diagonal block of a panel on one layer, by thin panels: half of it is left on average.
  void factorCorner(double thin) {
    const auto& [rows, columns, layers] = job_.grid;
    const double bytes = thin * thin * job_.element;
    add(kDiagonal, 2 * layers, 2 * layers * thin * thin,
        layers * (lines_.multicast(rows, bytes) + lines_.multicast(columns, bytes)));
    row(kDiagonal, layers, panel_ / 2 * thin);
    column(kDiagonal, layers, panel_ / 2 * thin);
  }
  /// Tournaments over the layers' rows, then over the layers, for each thin panel, and rows that
  /// change places: twice the panel's, in the rest of the matrix.
  void pivot(double left, double thin) {
    const auto& [rows, columns, layers] = job_.grid;
    const double bytes = thin * thin * job_.element;
    add(kTournament, (layers > 1 ? 2 : 1) * layers, 2 * layers * thin * thin,
        layers * (lines_.reduction(rows, bytes) + lines_.reduction(layers, bytes)));
    if (rows > 1) {
      const double moved = 2 * panel_ * left / rows / columns;
      add(kRows, 1, moved, lines_.exchange(rows, moved * job_.element));
    }
  }

  const Lines lines_;
  const DenseJob& job_;
  const double panel_;
  std::vector<DenseItem> items_ = {{"C: allreduces of panels over the layers"},
                                   {"A: multicasts within the diagonal blocks"},
                                   {"A: multicasts of L11 and U11 to the layers"},
                                   {"A: multicasts in the layers' shares of L21 and U12"},
                                   {"A: multicasts of the shares to the layers"},
                                   {"B: multicasts of thin panels of L along rows"},
                                   {"B: multicasts of thin panels of U along columns"},
                                   {"reductions of the tournaments"},
                                   {"exchanges of rows"}};
};

}  // namespace

DenseCost luCost(const model::Machine& machine, const DenseJob& job, double panel, bool pivoting) {
  const auto& [rows, columns, layers] = job.grid;
  const double n = job.size;
  const double compute_s = 2.0 / 3 * n * n * n / (job.grid.nodes() * job.flop_rate);
  if (panel > 0) return {compute_s, LuCount(machine, job, panel, pivoting).items()};
  // From the paper's width, which is a block of each node, down to one element of a layer.
  constexpr double kMostSteps = 1 << 17;
  const double narrowest = std::max({1.0, layers, n / kMostSteps});
  double each = std::max(narrowest, n / std::max(rows, columns));
  DenseCost best{compute_s, LuCount(machine, job, each, pivoting).items()};
  while ((each /= 2) >= narrowest) {
    DenseCost cost{compute_s, LuCount(machine, job, each, pivoting).items()};
    if (cost.communicate_s() < best.communicate_s()) best = std::move(cost);
  }
  return best;
}

}  // namespace torc::studies
