// Rule 1, matching: the k-th send of a stream from one node to another has a k-th receive there,
// of the same blocks of the same part; and nothing is received that is not sent.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "ir/families/families.h"
#include "ir/text/text.h"
#include "ir/verifier/context.h"
#include "ir/verifier/messages.h"
#include "schedules/expansion/family.h"

namespace torc::ir {
namespace {

struct Channel {
  std::uint32_t stream;
  Shift shift;
  auto operator<=>(const Channel&) const = default;
};
using Channels = std::map<Channel, std::vector<std::uint32_t>>;

/// How far all messages of a family go along an axis, if they all go as far.
std::optional<std::int32_t> onlyShift(const Family& family, std::uint32_t axis) {
  if (family.count[axis] == 1) return family.first[axis];
  if (family.size() == 1) return shiftsOf(family, 0, 0).front()[axis];
  return std::nullopt;
}

/// An interval of the sender of a family's message as its receiver sees it: what is own to the one
/// is the peer's to the other. Where all go as far, the peer is a neighbour like any other.
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

/// Whether all messages of a family are of the same blocks at both ends, on nodes of class
/// `node_class`.
bool sameInFamily(const VerifyContext& context, std::uint32_t node_class, const Operation& send,
                  const Operation& receive) {
  const ScheduleView& written = context.written;
  const Family& family = written.families[send.peer];
  const PieceList sent = written.piecesOf(send.a);
  const PieceList received = written.piecesOf(receive.dst);
  if (sent.size() != received.size()) return false;
  const Coordinates at = context.coordinatesOf(node_class);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i].part != received[i].part || sent[i].parts != received[i].parts) return false;
    for (std::uint32_t block_axis = 0; block_axis < context.axes.count(); ++block_axis) {
      const std::uint32_t axis = context.axes.nodeAxis(block_axis);
      const std::uint32_t size = context.axes.size(block_axis);
      const std::optional<std::int32_t> shift = onlyShift(family, axis);
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

/// The k-th send of a family in a stream matches the k-th receive: validation has seen to it that a
/// stream has one family. Peers are of one class, for nodes differ on no axis on which it goes.
void matchFamilies(VerifyContext& context, std::uint32_t node_class) {
  const std::span<const Operation> written = context.written.operations;
  const std::string where = "on " + context.rankText(context.coordinatesOf(node_class)) + " ";
  std::map<std::uint32_t, std::array<std::vector<std::uint32_t>, 2>> ends;  // by stream
  for (std::uint32_t i = 0; i < written.size(); ++i) {
    if (!written[i].hasFamily() || !context.executes(node_class, written[i])) continue;
    ends[written[i].stream][sends(written[i].kind) ? 0 : 1].push_back(i);
  }
  for (const auto& [stream, both] : ends) {
    const auto& [senders, receivers] = both;
    for (std::size_t k = 0; k < std::max(senders.size(), receivers.size()); ++k) {
      if (k >= receivers.size()) {
        context.fault(Rule::kMatching, senders[k], where + "its peers have no receive for it");
        break;
      }
      if (k >= senders.size()) {
        context.fault(Rule::kMatching, receivers[k],
                      where + "nothing is sent that it could receive (stream " +
                          std::to_string(stream) + ")");
        break;
      }
      if (!sameInFamily(context, node_class, written[senders[k]], written[receivers[k]])) {
        context.fault(Rule::kMatching, receivers[k],
                      where + "receives " + messageText(context.written, written[receivers[k]]) +
                          ", but its peers' %" + std::to_string(senders[k]) + " sends " +
                          messageText(context.written, written[senders[k]]));
      }
      context.match(node_class, senders[k]) = {receivers[k], node_class};
      context.match(node_class, receivers[k]) = {senders[k], node_class};
    }
  }
}

}  // namespace

void checkMatching(VerifyContext& context) {
  const ScheduleView& schedule = context.schedule;
  context.allocateMatches();
  for (std::uint32_t c = 0; c < context.classCount() && !context.full(); ++c)
    matchFamilies(context, c);
  std::vector<Shift> outgoing, incoming;  // canonical, per entry of the table of shifts
  for (const Shift& shift : schedule.shifts) {
    outgoing.push_back(messageDirection(context.topology, shift, +1));
    incoming.push_back(messageDirection(context.topology, shift, -1));
  }
  auto channelsOf = [&](std::uint32_t node_class, bool sending) {
    Channels channels;
    for (std::uint32_t i = 0; i < schedule.operations.size(); ++i) {
      const Operation& operation = schedule.operations[i];
      const bool wanted = sending ? sends(operation.kind) : receives(operation.kind);
      if (!wanted || operation.hasFamily() || !context.executes(node_class, operation)) continue;
      const Shift& shift = (sending ? outgoing : incoming)[operation.peer];
      channels[{operation.stream, shift}].push_back(i);
    }
    return channels;
  };
  std::vector<Channels> receiving(context.classCount());
  for (std::uint32_t c = 0; c < context.classCount(); ++c)
    receiving[c] = channelsOf(c, false);

  for (std::uint32_t c = 0; c < context.classCount() && !context.full(); ++c) {
    const Coordinates at = context.coordinatesOf(c);
    for (const auto& [channel, senders] : channelsOf(c, true)) {
      Coordinates distance{};
      const std::uint32_t peer = context.classes.neighbour(c, channel.shift, distance);
      const Coordinates peer_at = context.coordinatesOf(peer);
      auto entry = receiving[peer].find(channel);
      const std::size_t present = entry == receiving[peer].end() ? 0 : entry->second.size();
      for (std::size_t k = 0; k < senders.size(); ++k) {
        if (k >= present) {
          context.fault(Rule::kMatching, senders[k],
                        "message " + std::to_string(k + 1) + " of stream " +
                            std::to_string(channel.stream) + " from " + context.rankText(at) +
                            " has no receive at its peer");
          break;
        }
        const std::uint32_t receiver = entry->second[k];
        const Region& sent = messageRegion(schedule.operations[senders[k]]);
        const Region& received = messageRegion(schedule.operations[receiver]);
        const std::string difference =
            describeDifference(context, sent, at, distance, received, peer_at);
        if (!difference.empty()) {
          context.fault(Rule::kMatching, receiver,
                        "on " + context.rankText(peer_at) + " receives " +
                            messageText(schedule, schedule.operations[receiver]) +
                            ", but its peer's %" + std::to_string(senders[k]) + " sends " +
                            messageText(schedule, schedule.operations[senders[k]]) + ": " +
                            difference);
        }
        context.match(c, senders[k]) = {receiver, peer};
        context.match(peer, receiver) = {senders[k], c};
      }
    }
  }
  for (std::uint32_t c = 0; c < context.classCount() && !context.full(); ++c) {
    for (const auto& [channel, receivers] : receiving[c]) {
      for (std::uint32_t receiver : receivers) {
        if (context.match(c, receiver).operation != kNone) continue;
        context.fault(Rule::kMatching, receiver,
                      "on " + context.rankText(context.coordinatesOf(c)) +
                          " nothing is sent that it could receive (stream " +
                          std::to_string(channel.stream) + ")");
        break;
      }
      if (context.full()) break;
    }
  }
}

}  // namespace torc::ir
