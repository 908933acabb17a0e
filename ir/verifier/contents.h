// Contents: what a piece of memory holds, symbolically: which ranks' data have gone into each
// block. A contribution is a box of ranks; along an axis it may instead follow the block
// ("the rank that owns this block", of pairs its source), as gathered data does.
#ifndef TORC_IR_VERIFIER_CONTENTS_H_
#define TORC_IR_VERIFIER_CONTENTS_H_

#include <cstdint>
#include <string>
#include <utility>

#include <llvm/ADT/SmallVector.h>

#include "ir/verifier/ranges.h"
#include "schedules/schedule.h"

namespace torc::ir {

/// A box of contributing ranks; on an axis of length 0 the contributor is the block's owner.
using Contribution = Ranges;
inline bool followsBlock(const Range& range) {
  return range.length == 0;
}

/// Disjoint contributions to every block of a box.
using Value = llvm::SmallVector<Contribution, 1>;

/// What some blocks hold.
struct Content {
  BlockRanges blocks{};
  Value value;
};
using Pieces = llvm::SmallVector<Content, 2>;

/// One storage of one node: pieces with disjoint blocks.
class Contents {
 public:
  /// Replaces what the blocks of `piece` hold.
  void write(const Content& piece, const BlockAxes& axes);
  /// Forgets what `blocks` hold.
  void erase(const BlockRanges& blocks, const BlockAxes& axes);
  /// Appends what `blocks` hold, cut to them. False if some block holds nothing; then `missing` is
  /// one such block.
  bool read(const BlockRanges& blocks, const BlockAxes& axes, Pieces& out,
            BlockCoordinates& missing) const;
  void clear() {
    pieces_.clear();
    contributions_ = 0;
  }
  /// Pieces that it is made of.
  std::size_t size() const { return pieces_.size(); }
  /// Contributions that they list: what it takes of memory.
  std::uint64_t contributions() const { return contributions_; }

 private:
  void add(Content piece) {
    contributions_ += piece.value.size();
    pieces_.push_back(std::move(piece));
  }
  /// Returns the piece at `place`, which the last one takes.
  Content take(std::size_t place) {
    Content piece = std::move(pieces_[place]);
    if (place + 1 != pieces_.size()) pieces_[place] = std::move(pieces_.back());
    pieces_.pop_back();
    contributions_ -= piece.value.size();
    return piece;
  }

  llvm::SmallVector<Content, 4> pieces_;
  std::uint64_t contributions_ = 0;
};

/// Adds `b` to `a` for the blocks `blocks`. False if some rank would count twice; then
/// `twice` is such a contributor.
bool accumulate(Value& a, const Value& b, const BlockRanges& blocks, const BlockAxes& axes,
                Coordinates& twice);

/// `pieces` as seen by a node that is `distance` away from the one that they were made for.
void shift(Pieces& pieces, const Coordinates& distance, const BlockAxes& axes);

/// Whether `value` is the set `wanted` on the blocks `blocks`. If not, `witness` names a
/// contributor that is missing, or one that is too much (`surplus`). The contributions of `wanted`,
/// one at least, follow the block on the same axes.
bool equals(const Value& value, const Value& wanted, const BlockRanges& blocks,
            const BlockAxes& axes, Coordinates& witness, bool& surplus);

}  // namespace torc::ir

#endif  // TORC_IR_VERIFIER_CONTENTS_H_
