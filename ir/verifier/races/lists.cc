// Checks lists of pieces that name a block twice, and loops over peers whose messages overlap.
#include <array>
#include <set>
#include <utility>

#include <llvm/ADT/DenseSet.h>

#include "ir/text/text.h"
#include "ir/verifier/box_algebra.h"
#include "ir/verifier/races/races.h"

namespace torc::ir {
namespace {

/// Whether all messages of a loop over peers write disjoint blocks: along every axis on which
/// shifts differ, the blocks of a message are at its peer's coordinate.
bool writesApart(const ScheduleView& written, const Operation& operation) {
  const BlockAxes axes = written.blockAxes();
  const PeerLoop& peers = written.peer_loops[operation.peer];
  if (peers.size() == 1) return true;
  for (const Piece& piece : written.piecesOf(operation.dst)) {
    for (std::uint32_t axis = 0; axis < axes.nodeAxes(); ++axis) {
      bool apart = peers.count[axis] < 2;
      for (std::uint32_t end = 0; end < axes.ends() && !apart; ++end) {
        const Interval& interval = written.blockInterval(piece.box, end * axes.nodeAxes() + axis);
        apart = isPeerRelative(interval.kind) && interval.length == 1;
      }
      if (!apart) return false;
    }
  }
  return true;
}

std::size_t findRepeatedBlock(const VerifyContext& context, const PieceList& pieces,
                              const std::vector<BlockRanges>& ranges) {
  llvm::DenseSet<std::pair<std::uint32_t, std::uint64_t>> seen;  // part, block
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::uint64_t volume_of_piece = volume(ranges[i], context.axes);
    for (std::uint64_t block = 0; block < volume_of_piece; ++block) {
      std::uint64_t rest = block, number = 0;
      for (std::uint32_t axis = 0; axis < context.axes.count(); ++axis) {
        const Range& range = ranges[i][axis];
        const std::uint32_t size = context.axes.size(axis);
        number =
            number * size +
            wrap(std::int64_t{range.start} + static_cast<std::int64_t>(rest % range.length), size);
        rest /= range.length;
      }
      for (std::uint32_t part = 0; part < pieces[i].parts; ++part) {
        if (!context.isFirstOfGroup(pieces[i].part + part)) continue;
        if (!seen.insert({pieces[i].part + part, number}).second) return i;
      }
    }
  }
  return pieces.size();
}

/// The first piece that overlaps an earlier one on some node; pieces.size() if there is none. A
/// fixed interval and one that moves with the node meet on some node.
std::size_t findRepeated(RaceProof& proof, const PieceList& pieces) {
  const ScheduleView& written = proof.context.written;
  const BlockAxes& axes = proof.context.axes;
  std::vector<BlockRanges> ranges;
  std::uint64_t blocks = 0;
  bool same_view = true;  // of all pieces, on every axis
  std::array<const Interval*, kMaxBlockAxes> view{};
  for (const Piece& piece : pieces) {
    ranges.push_back(written.blocksOf(piece.box, Coordinates{}));
    blocks += volume(ranges.back(), axes) * piece.parts;
    for (std::uint32_t axis = 0; axis < axes.count(); ++axis) {
      const Interval& interval = written.blockInterval(piece.box, axis);
      if (interval.kind == IntervalKind::kAll) continue;
      if (view[axis] == nullptr) view[axis] = &interval;
      same_view = same_view && view[axis]->kind == interval.kind;
    }
  }
  // Pair by pair or, for many small pieces, block by block.
  const std::uint64_t pairs = pieces.size() * pieces.size() / 2;
  const bool by_blocks = same_view && blocks < pairs;
  proof.steps += pieces.size() + (by_blocks ? 16 * blocks : 4 * pairs);
  if (proof.tooMuch()) return pieces.size();
  if (by_blocks) return findRepeatedBlock(proof.context, pieces, ranges);
  const auto meet = [&](std::size_t i, std::size_t k) {
    for (std::uint32_t axis = 0; axis < axes.count(); ++axis) {
      if (sameView(written.blockInterval(pieces[i].box, axis),
                   written.blockInterval(pieces[k].box, axis)) &&
          !overlaps(ranges[i][axis], ranges[k][axis], axes.size(axis))) {
        return false;
      }
    }
    return true;
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (pieces[k].part < pieces[i].part + pieces[i].parts &&
          pieces[i].part < pieces[k].part + pieces[k].parts && meet(i, k)) {
        return i;
      }
    }
  }
  return pieces.size();
}

}  // namespace

void checkLists(RaceProof& proof) {
  VerifyContext& context = proof.context;
  const ScheduleView& written = context.written;           // with the regions of single messages
  std::set<std::pair<std::uint32_t, std::uint32_t>> done;  // first piece, number of pieces
  const auto check = [&](const auto& blocks, std::uint32_t operation, const auto& what) {
    if (blocks.pieces == 0 || !done.insert({blocks.box, blocks.pieces}).second) return;
    if (context.full() || proof.tooMuch()) return;
    const PieceList pieces = written.piecesOf(blocks);
    const std::size_t twice = findRepeated(proof, pieces);
    if (twice == pieces.size()) return;
    context.fault(Rule::kRaces, operation, what(), ": piece ", twice,
                  " has blocks of one before it");
  };
  for (std::uint32_t i = 0; i < written.operations.size(); ++i) {
    const Operation& operation = written.operations[i];
    for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (region->present()) check(*region, i, [&] { return regionText(written, *region); });
    }
    if (operation.hasPeerLoop() && operation.dst.present() && !writesApart(written, operation)) {
      context.fault(Rule::kRaces, i, "writes ", regionText(written, operation.dst),
                    ": two messages of its loop over peers touch the same blocks");
    }
  }
  for (std::size_t i = 0; i < written.frames.size(); ++i)
    check(written.frames[i], kNone, [&] { return "frame f" + std::to_string(i); });
}

}  // namespace torc::ir
