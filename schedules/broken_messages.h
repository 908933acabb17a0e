// Broken messages: messages over a dead link, or from, to or through a dead node. A message of
// several hops goes axis by axis, X first. A schedule either drops its broken messages
// (kDropsBroken) or has none.
#ifndef TORC_SCHEDULES_BROKEN_MESSAGES_H_
#define TORC_SCHEDULES_BROKEN_MESSAGES_H_

#include <optional>
#include <span>
#include <vector>

#include "schedules/box.h"
#include "schedules/schedule.h"

namespace torc {

/// The nodes whose messages over `shift` take `link`; std::nullopt if there are none.
std::optional<Ranges> sendersOver(const Topology& topology, const Shift& shift,
                                  const DeadLink& link);
/// The nodes whose messages over `shift` are at the site of `dead` after one hop, two, and so on.
std::vector<Ranges> sendersThrough(const Topology& topology, const Shift& shift,
                                   const Coordinates& dead);

/// The nodes that skip an operation because its message is broken.
class DroppedMessages {
 public:
  /// The tables of `schedule` must outlive this.
  explicit DroppedMessages(const ScheduleView& schedule)
      : schedule_(schedule), ends_(2 * schedule.shifts.size()) {}

  /// Boxes of nodes, which may overlap; empty if the schedule drops nothing.
  std::span<const Ranges> of(const Operation& operation);
  /// Whether the node at `at` skips the operation.
  bool drops(const Operation& operation, const Coordinates& at);

 private:
  const ScheduleView schedule_;
  std::vector<std::optional<std::vector<Ranges>>> ends_;  // by shift, of senders and of receivers
};

/// Whether an operation belongs to a detour around a dropped message: one node executes it.
bool isDetour(const ScheduleView& schedule, const Operation& operation);

}  // namespace torc

#endif  // TORC_SCHEDULES_BROKEN_MESSAGES_H_
