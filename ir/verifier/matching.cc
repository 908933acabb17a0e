// Rule 1, matching: the k-th send of a stream from one node to another has a k-th receive there, of
// the same blocks of the same part, and every receive has a send. For each stream and direction the
// nodes are cut into cells with the same sends and the same receives on their peers.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/node_classes.h"
#include "ir/text/format.h"
#include "ir/text/text.h"
#include "ir/verifier/rule_context.h"

namespace torc::ir {
namespace {

struct Channel {
  std::uint32_t stream;
  Shift shift;
  auto operator<=>(const Channel&) const = default;
};

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

/// The region of the message at either end.
const Region& messageRegion(const Operation& operation) {
  return sends(operation.kind) ? operation.a : operation.dst;
}

/// The contents of a message in the text form.
std::string messageText(const ScheduleView& schedule, const Operation& operation) {
  return isSignal(operation.kind) ? "a signal" : regionText(schedule, messageRegion(operation));
}

/// The difference between a message from `at` and its receive at `peer_at`, piece by piece; empty
/// if there is none.
std::string describeDifference(const VerifyContext& context, const Region& sent,
                               const Coordinates& at, const Region& received,
                               const Coordinates& peer_at) {
  const ScheduleView& written = context.written;
  const PieceList sent_pieces = written.piecesOf(sent);
  const PieceList received_pieces = written.piecesOf(received);
  if (sent_pieces.size() != received_pieces.size()) {
    return std::to_string(sent_pieces.size()) + " pieces are sent, " +
           std::to_string(received_pieces.size()) + " received";
  }
  for (std::size_t i = 0; i < sent_pieces.size(); ++i) {
    const BlockRanges sent_blocks = written.blocksOf(sent_pieces[i].box, at);
    const BlockRanges received_blocks = written.blocksOf(received_pieces[i].box, peer_at);
    if (sent_pieces[i].part == received_pieces[i].part &&
        sent_pieces[i].parts == received_pieces[i].parts && sent_blocks == received_blocks) {
      continue;
    }
    return pieceText(context, sent_pieces[i], sent_blocks) + " is sent, " +
           pieceText(context, received_pieces[i], received_blocks) + " received";
  }
  return {};
}

/// The common distance of all messages of a loop over peers along an axis, if they have one.
std::optional<std::int32_t> onlyShift(const PeerLoop& peers, std::uint32_t axis) {
  if (peers.count[axis] == 1) return peers.first[axis];
  if (peers.size() == 1) return shiftsOf(peers, 0, 0).front()[axis];
  return std::nullopt;
}

/// The interval of a sender in a loop over peers, from its receiver's view: own coordinates become
/// the peer's, and vice versa. If all distances are equal, the peer is an ordinary neighbour.
Interval asReceived(Interval interval, const std::optional<std::int32_t>& shift) {
  if (interval.kind == IntervalKind::kPlusShift) {
    interval.kind = IntervalKind::kRelative;
  } else if (interval.kind == IntervalKind::kRelative && shift.has_value()) {
    interval.start -= *shift;
  } else if (interval.kind == IntervalKind::kRelative) {
    interval.kind = IntervalKind::kMinusShift;
  }
  return interval;
}

/// Whether all messages of a loop over peers name the same blocks at both ends, on the node at
/// `at`.
bool sameInPeerLoop(const VerifyContext& context, const Coordinates& at, const Operation& send,
                    const Operation& receive) {
  const ScheduleView& written = context.written;
  const PeerLoop& peers = written.peer_loops[send.peer];
  const PieceList sent = written.piecesOf(send.a);
  const PieceList received = written.piecesOf(receive.dst);
  if (sent.size() != received.size()) return false;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i].part != received[i].part || sent[i].parts != received[i].parts) return false;
    for (std::uint32_t block_axis = 0; block_axis < context.axes.count(); ++block_axis) {
      const std::uint32_t axis = context.axes.nodeAxis(block_axis);
      const std::uint32_t size = context.axes.size(block_axis);
      const std::optional<std::int32_t> shift = onlyShift(peers, axis);
      const Interval one = asReceived(written.blockInterval(sent[i].box, block_axis), shift);
      Interval other = written.blockInterval(received[i].box, block_axis);
      if (other.kind == IntervalKind::kMinusShift && shift.has_value()) {
        other.kind = IntervalKind::kRelative;
        other.start -= *shift;
      }
      const bool one_is_peer = isPeerRelative(one.kind), other_is_peer = isPeerRelative(other.kind);
      const Range one_range = resolve(one, at[axis], size);
      const Range other_range = resolve(other, at[axis], size);
      if (one_range != other_range) return false;
      if (one_is_peer != other_is_peer && one_range.length < size) return false;
    }
  }
  return true;
}

class Matcher : public RuleChecker {
 public:
  using RuleChecker::RuleChecker;

  void run() {
    std::map<Channel, std::vector<Doing>> channels;  // by the sender's nodes
    for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
      const Operation& operation = schedule_.operations[i];
      if (operation.peer == kNone) continue;
      const bool sending = sends(operation.kind);
      // Loops over peers go along axes on which nodes do not differ: both ends are on such nodes.
      const Shift direction =
          operation.hasPeerLoop()
              ? Shift{}
              : messageDirection(topology_, schedule_.shifts[operation.peer], sending ? 1 : -1);
      std::vector<Doing>& list = channels[{operation.stream, direction}];
      for (const Ranges& nodes : context_.domains.of(operation))
        list.push_back({sending ? nodes : moved(nodes, opposite(direction), topology_), i});
    }
    for (auto& [channel, list] : channels) {
      if (context_.full() || context_.work.tooMuch()) break;
      runChannel(channel, std::move(list));
    }
    context_.matches_of.resize(schedule_.operations.size());
    for (std::uint32_t i = 0; i < context_.matches.size(); ++i)
      context_.matches_of[context_.matches[i].receive].push_back(i);
  }

 private:
  void runChannel(const Channel& channel, std::vector<Doing> list) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, RangesList> pairs;
    std::set<std::uint32_t> at_fault;
    std::vector<std::uint32_t> senders, receivers;
    const std::uint64_t cells = forEachCell(
        topology_, std::move(list), context_.work,
        [&](const Ranges& cell, llvm::ArrayRef<std::uint32_t> doing) {
          senders.clear();
          receivers.clear();
          for (std::uint32_t i : doing)
            (sends(schedule_.operations[i].kind) ? senders : receivers).push_back(i);
          const std::size_t both = std::min(senders.size(), receivers.size());
          for (std::size_t k = 0; k < both; ++k) {
            RangesList& boxes = pairs[{senders[k], receivers[k]}];
            context_.work.done += boxes.size() + 1;
            if (context_.domains.apart()) {
              boxes.push_back(cell);
            } else {
              addJoined(cell, topology_, boxes);
            }
          }
          if (both < senders.size() && at_fault.insert(senders[both]).second)
            reportUnmatched(senders[both], both, cell);
          if (both < receivers.size() && at_fault.insert(receivers[both]).second)
            reportUnmatched(receivers[both], both, moved(cell, channel.shift, topology_));
        });
    context_.result.cells = std::max(context_.result.cells, cells);
    for (const auto& [pair, boxes] : pairs) {
      for (const Ranges& nodes : boxes) {
        context_.matches.push_back({pair.first, pair.second, nodes,
                                    moved(nodes, channel.shift, topology_), channel.shift});
        compareEnds(context_.matches.back());
      }
    }
  }

  /// Reports `operation`, number `k` of its channel, which has no other end on `nodes`.
  void reportUnmatched(std::uint32_t operation, std::size_t k, const Ranges& nodes) {
    const Operation& it = schedule_.operations[operation];
    const std::string at = context_.rankText(firstNode(nodes));
    const std::string stream = "stream " + std::to_string(it.stream);
    context_.fault(Rule::kMatching, operation,
                   !sends(it.kind)
                       ? "on " + at + " nothing is sent that it could receive (" + stream + ")"
                   : it.hasPeerLoop() ? "on " + at + " its peers have no receive for it"
                                      : "message " + std::to_string(k + 1) + " of " + stream +
                                            " from " + at + " has no receive at its peer");
  }

  /// Blocks are fixed or move with the node: ends that are equal on two consecutive nodes are equal
  /// on all.
  void compareEnds(const Match& match) {
    const std::size_t pieces = schedule_.operations[match.send].a.pieces;
    const Coordinates first = firstNode(match.senders);
    bool same = compareEnds(match, first);
    for (std::uint32_t axis = 0; axis < topology_.axis_count && same; ++axis) {
      context_.work.done += 1 + pieces;
      if (match.senders[axis].length < 2) continue;
      Coordinates step{};
      step[axis] = 1;
      same = compareEnds(match, topology_.moved(first, step));
    }
  }

  bool compareEnds(const Match& match, const Coordinates& at) {
    // The region of a single message of a loop over peers is in the schedule as written.
    const bool peers = schedule_.operations[match.send].hasPeerLoop();
    const ScheduleView& written = context_.written;
    const Operation& send = written.operations[match.send];
    const Operation& receive = written.operations[match.receive];
    const Coordinates peer_at = topology_.moved(at, match.distance);
    std::string difference;
    if (peers) {
      if (sameInPeerLoop(context_, at, send, receive)) return true;
    } else {
      difference =
          describeDifference(context_, messageRegion(send), at, messageRegion(receive), peer_at);
      if (difference.empty()) return true;
      difference = isSignal(send.kind) == isSignal(receive.kind) ? ": " + difference : "";
    }
    context_.fault(Rule::kMatching, match.receive, "on ", context_.rankText(peer_at), " receives ",
                   messageText(written, receive), ", but its ", peers ? "peers' %" : "peer's %",
                   match.send, " sends ", messageText(written, send), difference);
    return false;
  }
};

}  // namespace

void checkMatching(VerifyContext& context) {
  Matcher(context).run();
}

}  // namespace torc::ir
