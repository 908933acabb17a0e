// Rule 1, matching: the k-th send of a stream from one node to another has a k-th receive there,
// of the same blocks of the same part; and nothing is received that is not sent.
#include <map>

#include "ir/text/text.h"
#include "ir/verifier/context.h"
#include "ir/verifier/messages.h"

namespace torc {
namespace {

struct Channel {
  std::uint32_t stream;
  Shift shift;
  auto operator<=>(const Channel&) const = default;
};
using Channels = std::map<Channel, std::vector<std::uint32_t>>;

}  // namespace

void checkMatching(VerifyContext& context) {
  const ScheduleView& schedule = context.schedule;
  context.allocateMatches();
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
      if (!wanted || !context.executes(node_class, operation)) continue;
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

}  // namespace torc
