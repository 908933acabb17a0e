// Rule 1, matching, by cells: for each stream and direction the nodes are cut into cells that send
// the same and whose peers receive the same.
#include <map>
#include <set>

#include "ir/text/text.h"
#include "ir/verifier/cells/proof.h"
#include "ir/verifier/messages.h"

namespace torc::ir {
namespace {

struct Channel {
  std::uint32_t stream;
  Shift shift;
  auto operator<=>(const Channel&) const = default;
};

Coordinates firstNode(const Ranges& nodes) {
  Coordinates at{};
  for (int axis = 0; axis < kMaxAxes; ++axis)
    at[axis] = static_cast<std::int32_t>(nodes[axis].start);
  return at;
}

class CellMatcher {
 public:
  explicit CellMatcher(CellProof& proof)
      : proof_(proof),
        context_(proof.context),
        schedule_(context_.schedule),
        topology_(context_.topology) {}

  void run() {
    std::map<Channel, std::vector<Doing>> channels;  // by the sender's nodes
    for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
      const Operation& operation = schedule_.operations[i];
      if (operation.peer == kNone) continue;
      const bool sending = sends(operation.kind);
      const Shift direction =
          messageDirection(topology_, schedule_.shifts[operation.peer], sending ? 1 : -1);
      std::vector<Doing>& list = channels[{operation.stream, direction}];
      for (const Ranges& nodes : proof_.domains.of(operation))
        list.push_back({sending ? nodes : moved(nodes, opposite(direction), topology_), i});
    }
    for (auto& [channel, list] : channels) {
      if (context_.full() || proof_.work.tooMuch()) break;
      runChannel(channel, std::move(list));
    }
    proof_.matches_of.resize(schedule_.operations.size());
    for (std::uint32_t i = 0; i < proof_.matches.size(); ++i)
      proof_.matches_of[proof_.matches[i].receive].push_back(i);
  }

 private:
  static Coordinates opposite(const Shift& shift) {
    Coordinates result{};
    for (int axis = 0; axis < kMaxAxes; ++axis)
      result[axis] = -shift[axis];
    return result;
  }

  void runChannel(const Channel& channel, std::vector<Doing> list) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, RangesList> pairs;
    std::set<std::uint32_t> at_fault;
    std::vector<std::uint32_t> senders, receivers;
    const std::uint64_t cells = forEachCell(
        topology_, std::move(list), proof_.work,
        [&](const Ranges& cell, llvm::ArrayRef<std::uint32_t> doing) {
          senders.clear();
          receivers.clear();
          for (std::uint32_t i : doing)
            (sends(schedule_.operations[i].kind) ? senders : receivers).push_back(i);
          const std::size_t both = std::min(senders.size(), receivers.size());
          for (std::size_t k = 0; k < both; ++k) {
            RangesList& boxes = pairs[{senders[k], receivers[k]}];
            proof_.work.done += boxes.size() + 1;
            addJoined(cell, topology_, boxes);
          }
          if (both < senders.size() && at_fault.insert(senders[both]).second) {
            context_.fault(Rule::kMatching, senders[both],
                           "message " + std::to_string(both + 1) + " of stream " +
                               std::to_string(channel.stream) + " from " +
                               context_.rankText(firstNode(cell)) + " has no receive at its peer");
          }
          if (both < receivers.size() && at_fault.insert(receivers[both]).second) {
            const Ranges peers = moved(cell, channel.shift, topology_);
            context_.fault(Rule::kMatching, receivers[both],
                           "on " + context_.rankText(firstNode(peers)) +
                               " nothing is sent that it could receive (stream " +
                               std::to_string(channel.stream) + ")");
          }
        });
    proof_.cells = std::max(proof_.cells, cells);
    for (const auto& [pair, boxes] : pairs) {
      for (const Ranges& nodes : boxes) {
        proof_.matches.push_back({pair.first, pair.second, nodes,
                                  moved(nodes, channel.shift, topology_), channel.shift});
        compareEnds(proof_.matches.back());
      }
    }
  }

  /// Blocks go with the node, or stand still: ends that are the same on two nodes that follow one
  /// another are the same on all.
  void compareEnds(const CellMatch& match) {
    const Region& sent = messageRegion(schedule_.operations[match.send]);
    const Region& received = messageRegion(schedule_.operations[match.receive]);
    for (std::uint32_t axis = 0; axis <= topology_.axis_count; ++axis) {
      proof_.work.done += std::max<std::size_t>(1, sent.pieces);
      Coordinates at = firstNode(match.senders);
      if (axis < topology_.axis_count) {
        if (match.senders[axis].length < 2) continue;
        at[axis] =
            static_cast<std::int32_t>(wrap(std::int64_t{at[axis]} + 1, topology_.axes[axis].size));
      }
      Coordinates peer_at{};
      for (std::uint32_t i = 0; i < topology_.axis_count; ++i) {
        peer_at[i] = static_cast<std::int32_t>(
            wrap(std::int64_t{at[i]} + match.distance[i], topology_.axes[i].size));
      }
      const std::string difference = describeDifference(context_, sent, at, {}, received, peer_at);
      if (difference.empty()) continue;
      context_.fault(Rule::kMatching, match.receive,
                     "on " + context_.rankText(peer_at) + " receives " +
                         messageText(schedule_, schedule_.operations[match.receive]) +
                         ", but its peer's %" + std::to_string(match.send) + " sends " +
                         messageText(schedule_, schedule_.operations[match.send]) + ": " +
                         difference);
      return;
    }
  }

  CellProof& proof_;
  VerifyContext& context_;
  const ScheduleView& schedule_;
  const Topology& topology_;
};

}  // namespace

void matchCells(CellProof& proof) {
  CellMatcher(proof).run();
}

}  // namespace torc::ir
