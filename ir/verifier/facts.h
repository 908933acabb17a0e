// Facts: contents of some blocks on the nodes of a cell. A cell is a box of nodes. Along every axis
// the blocks of a node, and the ranks whose data they contain, are spans (span.h). So one fact
// covers all nodes with the same contents relative to themselves.
#ifndef TORC_IR_VERIFIER_FACTS_H_
#define TORC_IR_VERIFIER_FACTS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "ir/verifier/span.h"
#include "schedules/block_axes.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// Disjoint contributions to every block of a fact; along an axis each is a span of ranks, or the
/// block's owner.
using FactValue = llvm::SmallVector<Spans, 1>;

/// Blocks of every node, by block axis: along an axis of the torus they depend on the node's
/// coordinate there alone.
using BlockSpans = std::array<Span, kMaxBlockAxes>;

/// Nodes, and blocks of each of them.
struct Place {
  Ranges nodes{};
  BlockSpans blocks{};
};

struct Fact {
  Place place;
  FactValue value;
  std::uint32_t frame = kNone;  // in scratch: its frame
};
using FactList = llvm::SmallVector<Fact, 2>;

/// A node and one of its blocks, with an optional contributor.
struct Witness {
  Coordinates node{}, contributor{};
  BlockCoordinates block{};
};

/// Number of pairs of a node and a block in a place.
unsigned __int128 volumeOf(const Place& place, const BlockAxes& axes);
/// The first node of a place and the first of its blocks.
Witness firstOf(const Place& place);

/// Coarse bounds of the nodes and blocks of a fact: a bit for every coordinate of an axis, or for a
/// few consecutive ones. Blocks are stored twice: absolute, and relative to their nodes.
struct Outline {
  std::uint64_t nodes = 0;
  std::array<std::uint64_t, 2> standing{}, moving{};  // by end of a block
  std::uint32_t frame = kNone;

  /// Extends it to both, ignoring the frame.
  void add(const Outline& other) {
    nodes |= other.nodes;
    for (int end = 0; end < 2; ++end)
      standing[end] |= other.standing[end], moving[end] |= other.moving[end];
  }
  bool isEmpty() const { return nodes == 0; }
};

class Outlines {
 public:
  explicit Outlines(const BlockAxes& axes);

  /// The outline of a place extended by `margin` coordinates on each side.
  Outline of(const Place& place, std::uint32_t margin = 0) const;
  /// False if no node has a block in both.
  bool meet(const Outline& a, const Outline& b) const {
    std::uint64_t met = onAxes(a.moving[0] & b.moving[0]) & onAxes(a.standing[0] & b.standing[0]) &
                        onAxes(a.nodes & b.nodes);
    if (axes_.ends() == 2)
      met &= onAxes(a.moving[1] & b.moving[1]) & onAxes(a.standing[1] & b.standing[1]);
    return met == highest_;
  }

 private:
  struct Field {
    std::uint32_t shift = 0, width = 0;
    std::uint64_t all = 0;
  };
  std::uint64_t bitsOf(std::uint32_t axis, std::int64_t start, std::int64_t length) const;

  /// The highest bit of every axis that has some bit of `bits`.
  std::uint64_t onAxes(std::uint64_t bits) const {
    return (((bits & ~highest_) + (all_ & ~highest_)) | bits) & highest_;
  }

  BlockAxes axes_;
  std::array<Field, kMaxAxes> fields_{};  // bits of an axis
  std::uint64_t highest_ = 0, all_ = 0;   // of all axes: the highest bits, the bits
};

/// Parameters of the operations on facts.
struct FactSetting {
  const BlockAxes& axes;
  ProofWork& work;
  bool apart = false;  // facts of different nodes are not joined
  Outlines outlines = Outlines(axes);
};

/// One piece of storage of all nodes: facts whose places are disjoint.
class FactStore {
 public:
  /// Replaces the contents at the fact's place.
  void write(Fact fact, const FactSetting& setting);
  /// Erases the contents at `place`.
  void erase(const Place& place, const FactSetting& setting);
  /// Erases the contents of `nodes` for other frames than `frame`.
  void eraseOtherFrames(const Ranges& nodes, std::uint32_t frame, const FactSetting& setting);
  /// Appends the contents for `frame` at `place`. False if some are absent; then `missing` is such
  /// a node and block.
  bool read(const Place& place, std::uint32_t frame, const FactSetting& setting, FactList& out,
            Witness& missing) const;
  /// Whether every place of `other` has contents; else `missing` is a node and block without.
  bool covers(const FactStore& other, const FactSetting& setting, Witness& missing) const;
  /// Number of pairs of a node and a block with contents.
  unsigned __int128 volume(const FactSetting& setting) const;
  FactList all() const;
  /// Moves the contents of `nodes` to `out`.
  void take(const Ranges& nodes, const FactSetting& setting, FactList& out);
  /// As write, if the fact's place is empty.
  void add(Fact fact, const FactSetting& setting);

 private:
  static constexpr std::size_t kFewFacts = 64;
  static constexpr std::size_t kGroup = 64;  // facts

  /// Removes the contents at `place` for other frames than `kept`, and appends them to `taken` if
  /// given.
  void cutOut(const Place& place, std::optional<std::uint32_t> kept, const FactSetting& setting,
              FactList* taken);
  void push(Fact fact, const FactSetting& setting);
  /// Leaves a gap.
  void remove(std::size_t i);
  bool isGap(std::size_t i) const { return outlines_[i].isEmpty(); }
  void closeGaps();
  /// The first fact that meets `outline` and satisfies `is_it(i)`; the number of facts if there is
  /// none.
  template <typename IsIt>
  std::size_t find(const Outline& outline, const FactSetting& setting, IsIt is_it) const;
  /// As add, without tidying up.
  void join(Fact fact, const FactSetting& setting);
  /// Joins facts again if there are many. Joins of facts as they are added may be poor: for
  /// consecutive nodes with a block each, say, when all of these nodes' blocks would be one fact.
  /// So facts are cut at common borders of their nodes, one axis after another, and joined again,
  /// each node's blocks first; the result is kept if it is smaller.
  void tidyUp(const FactSetting& setting);

  std::vector<Fact> facts_;        // and gaps between them
  std::vector<Outline> outlines_;  // of the facts; empty for gaps
  std::vector<Outline> groups_;    // of kGroup facts each
  std::size_t gaps_ = 0;
  std::size_t untidy_ = kFewFacts;  // number of facts that triggers a new join
};

/// Appends the part of `fact` in `place`.
void intersect(const Fact& fact, const Place& place, const FactSetting& setting, FactList& out);

/// The value of `fact` on some of its nodes.
FactValue valueOn(const Fact& fact, const Ranges& nodes, const BlockAxes& axes);

/// Adds `b`, a value on the same nodes and blocks, to `a`. False if some rank would count twice;
/// then `twice` is a node, a block and that rank.
bool accumulate(Fact& a, const FactValue& b, const FactSetting& setting, Witness& twice);

/// Moves facts to the nodes `distance` away, as a message does.
void moveNodes(FactList& facts, const Coordinates& distance, const BlockAxes& axes);

BlockSpans allBlocks(const BlockAxes& axes);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_FACTS_H_
