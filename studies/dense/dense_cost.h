// Cost of multiplying and factoring dense matrices on a torus by the models of trees: Solomonik,
// Bhatele and Demmel, SC 2011, sections 3.1 and 5. Every message is an item of a list, so that a
// reader sees the composition of a time. Nothing overlaps, and nothing contends.
#ifndef TORC_STUDIES_DENSE_DENSE_COST_H_
#define TORC_STUDIES_DENSE_DENSE_COST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/machines/machine.h"

namespace torc::studies {

/// rows x columns x layers nodes, in which each line is a line of the torus. One layer: the 2-D
/// algorithms.
struct DenseGrid {
  double rows = 1, columns = 1, layers = 1;
  double nodes() const { return rows * columns * layers; }
};

enum class LineTrees {
  kRectangular,  // Eq. 6 and 8: two trees on a ring, one on a line
  kBinomial,     // Eq. 9, without contention
};

/// A job, and the model of its messages.
struct DenseJob {
  double size = 0;       // n: rows and columns of a square matrix
  double element = 8;    // bytes
  double flop_rate = 0;  // flop/s of a node
  DenseGrid grid;
  LineTrees trees = LineTrees::kRectangular;
  /// Lines are as fast as one of `line_nodes` nodes; 0: of their own length. The exascale study of
  /// the paper (section 5.3) takes the peak bandwidth of its Figure 12, of 64 nodes, for all.
  double line_nodes = 0;
};

/// Messages of one kind: `count`, one after another, each on all lines of a direction at once.
struct DenseItem {
  std::string what;
  double count = 0;
  double bytes = 0;  // of all of them, at a node
  double seconds = 0;
};

/// Columns of an outer block column of LU, and of its panels: a layer's share (the thin panel) if
/// they are 0. Outer width 0: that of least time.
struct LuWidths {
  double outer = 0, inner = 0;
};

struct DenseCost {
  double compute_s = 0;  // at the node's flop rate
  std::vector<DenseItem> items;
  LuWidths widths;  // used widths, for LU

  double communicate_s() const;
  double bytes() const;
  double messages() const;
  /// compute / (compute + communicate): section 5.3.
  double efficiency() const;
};

/// Flop/s of a node: an addition of 8 bytes takes 8 gamma on each core. 0 if gamma is not known.
double flopRateOf(const model::Machine& machine);

/// The torus as a grid: X are its columns, Y its rows, Z its layers.
DenseGrid gridOf(const model::Machine& machine);

/// As nearly square as the divisors of `nodes` allow, in one layer.
DenseGrid squareGrid(std::uint64_t nodes);

/// Transfer of blocks of A and B to the nodes that multiply them.
enum class GemmRounds {
  kMulticasts,  // SUMMA, Algorithm 1
  kShifts,      // Cannon's algorithm: to a neighbour, on one link (section 5.3)
  /// The same for ranks in order on the torus, X fastest, with messages that share its links.
  kSharedShifts,
};

/// C := A B. Two line multicasts and a line reduction of a block along the layers, if there are
/// any; in each layer its share of the rounds, each of a block of A and one of B.
DenseCost gemmCost(const model::Machine& machine, const DenseJob& job, GemmRounds rounds);

/// A = L U. docs/research/papers/2.5d.md lists the counted messages.
DenseCost luCost(const model::Machine& machine, const DenseJob& job, const LuWidths& widths,
                 bool pivoting);

/// The paper's, n / sqrt(P / c) and n / sqrt(P c) (section 3.1.4; for one layer it gives none).
LuWidths paperWidths(const DenseJob& job);

}  // namespace torc::studies

#endif  // TORC_STUDIES_DENSE_DENSE_COST_H_
