// Facts: what the nodes of a cell hold in some of their blocks. A cell is a box of nodes. Along
// every axis the blocks of a node, and the ranks whose data have gone into them, are spans
// (span.h), so that one fact speaks about all nodes that hold the same, seen from themselves.
#ifndef TORC_IR_VERIFIER_CELLS_FACTS_H_
#define TORC_IR_VERIFIER_CELLS_FACTS_H_

#include <cstdint>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "ir/verifier/cells/span.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Disjoint contributions to every block of a fact; along an axis each is a span of ranks, or the
/// block's owner.
using CellValue = llvm::SmallVector<Spans, 1>;

/// Nodes, and blocks of each of them.
struct Place {
  Ranges nodes{};
  Spans blocks{};
};

struct Fact {
  Place place;
  CellValue value;
  std::uint32_t frame = kNone;  // in scratch: the frame that holds it
};
using FactList = llvm::SmallVector<Fact, 2>;

/// A node and one of its blocks; perhaps a contributor.
struct CellWitness {
  Coordinates node{}, block{}, contributor{};
};

/// What facts are worked with.
struct CellSetting {
  const Topology& topology;
  CellWork& work;
};

/// One piece of storage of all nodes: facts whose places are disjoint.
class FactStore {
 public:
  /// Replaces what is held at the fact's place.
  void write(Fact fact, const CellSetting& setting);
  /// Forgets what is held at `place`.
  void erase(const Place& place, const CellSetting& setting);
  /// Forgets what `nodes` hold for other frames than `frame`.
  void eraseOtherFrames(const Ranges& nodes, std::uint32_t frame, const CellSetting& setting);
  /// Appends what is held for `frame` at `place`. False if somewhere nothing is; then `missing` is
  /// such a node and block.
  bool read(const Place& place, std::uint32_t frame, const CellSetting& setting, FactList& out,
            CellWitness& missing) const;
  /// Moves what `nodes` hold to `out`.
  void take(const Ranges& nodes, const CellSetting& setting, FactList& out);
  /// As write, where nothing is held at the fact's place.
  void add(Fact fact, const CellSetting& setting);

 private:
  static constexpr std::size_t kFewFacts = 64;

  /// Joins facts anew where they have become many.
  void tidyUp(const CellSetting& setting);

  std::vector<Fact> facts_;
  std::size_t untidy_ = kFewFacts;  // facts; so many may be joined better
};

/// Appends the part of `fact` that lies in `place`.
void intersect(const Fact& fact, const Place& place, const CellSetting& setting, FactList& out);

/// The value of `fact` on some of its nodes.
CellValue valueOn(const Fact& fact, const Ranges& nodes, const Topology& topology);

/// Adds `b`, a value on the same nodes and blocks, to `a`. False if some rank would count twice;
/// then `twice` is a node, a block and that rank.
bool accumulate(Fact& a, const CellValue& b, const CellSetting& setting, CellWitness& twice);

/// The same facts of the nodes that are `distance` away: what is sent there.
void moveNodes(FactList& facts, const Coordinates& distance, const Topology& topology);

/// All blocks.
Spans allBlocks(const Topology& topology);
/// The blocks of `box` for all `nodes`.
Spans blocksOf(const Box& box, const Ranges& nodes, const Topology& topology);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_CELLS_FACTS_H_
