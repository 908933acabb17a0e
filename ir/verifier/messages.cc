// Texts of messages whose ends differ.
#include "ir/verifier/messages.h"

#include "ir/text/format.h"
#include "ir/text/text.h"
#include "ir/verifier/ranges.h"

namespace torc::ir {
namespace {

/// "(2, *, 0:2)": absolute blocks.
std::string nodesText(const Topology& topology, const Ranges& nodes) {
  Box box;
  for (std::uint32_t axis = 0; axis < topology.axis_count; ++axis) {
    if (nodes[axis].length == topology.axes[axis].size) continue;
    box[axis] =
        Interval::absolute(static_cast<std::int32_t>(nodes[axis].start), nodes[axis].length);
  }
  return boxText(topology, box);
}

std::string pieceText(const VerifyContext& context, const Piece& piece, const BlockRanges& blocks) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printParts(piece, out);
  text += " of blocks " + nodesText(context.topology, context.axes.nodesOf(blocks));
  if (context.axes.ends() == 2) {
    text += " -> " + nodesText(context.topology, context.axes.nodesOf(blocks, 1));
  }
  return text;
}

}  // namespace

std::string messageText(const ScheduleView& schedule, const Operation& operation) {
  return isSignal(operation.kind) ? "a signal" : regionText(schedule, messageRegion(operation));
}

std::string describeDifference(const VerifyContext& context, const Region& sent,
                               const Coordinates& at, const Coordinates& distance,
                               const Region& received, const Coordinates& peer_at) {
  const PieceList sent_pieces = context.schedule.piecesOf(sent);
  const PieceList received_pieces = context.schedule.piecesOf(received);
  if (sent_pieces.size() != received_pieces.size()) {
    return std::to_string(sent_pieces.size()) + " pieces are sent, " +
           std::to_string(received_pieces.size()) + " received";
  }
  for (std::size_t i = 0; i < sent_pieces.size(); ++i) {
    BlockRanges sent_blocks = context.rangesOf(sent_pieces[i], at);
    for (std::uint32_t axis = 0; axis < context.axes.count(); ++axis) {
      const std::int64_t along = distance[context.axes.nodeAxis(axis)];
      sent_blocks[axis] = shifted(sent_blocks[axis], -along, context.axes.size(axis));
    }
    const BlockRanges received_blocks = context.rangesOf(received_pieces[i], peer_at);
    if (sent_pieces[i].part == received_pieces[i].part &&
        sent_pieces[i].parts == received_pieces[i].parts && sent_blocks == received_blocks) {
      continue;
    }
    return pieceText(context, sent_pieces[i], sent_blocks) + " is sent, " +
           pieceText(context, received_pieces[i], received_blocks) + " received";
  }
  return {};
}

}  // namespace torc::ir
