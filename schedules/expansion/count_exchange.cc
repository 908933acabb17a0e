// Runs a schedule on counts in place of blocks.
#include "schedules/expansion/count_exchange.h"

#include "schedules/expansion/placement.h"
#include "schedules/expansion/shares.h"
#include "schedules/root.h"

namespace torc {
namespace {

/// The smallest number of elements, `parts` times a power of two, that leaves no part empty.
std::uint64_t leastOfAllParts(const ScheduleView& schedule) {
  const PartTable parts(schedule);
  std::uint64_t elements = parts.size();
  const auto has_all = [&] {
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
      if (parts.extent(part, {0, elements}).length == 0) return false;
    }
    return true;
  };
  while (!has_all() && elements < kMaxElements / 2)
    elements *= 2;
  return elements;
}

}  // namespace

CountExchange::CountExchange(const ScheduleView& schedule)
    : view_(schedule),
      frames_(schedule.frames.begin(), schedule.frames.end()),
      copies_(leastOfAllParts(schedule)) {
  std::uint32_t slot = 0;
  for (Frame& frame : frames_)
    frame.slot = slot++;
  view_.frames = frames_;
  view_.slot_count = slot;
  view_.segments = 1;
  view_.window = 1;
}

StatusOr<FlatProgram> CountExchange::expand(std::int32_t rank) const {
  return torc::expand(view_, rank, {.count = copies_, .per_rank = {}, .displacements = {}});
}

Status CountExchange::read(std::int32_t rank, std::span<const std::uint64_t> scratch,
                           PairCounts& counts) const {
  const RootedSchedule rooted(view_, 0);
  Placement placement(rooted, rank, {.count = copies_, .per_rank = {}, .displacements = {}}, false);
  if (Status status = placement.prepare(); !status.ok()) return status;
  placement.visitFrames(
      [&](std::int32_t source, std::int32_t destination, std::uint64_t first_element) {
        const std::uint64_t number = scratch[static_cast<std::size_t>(first_element)];
        if (number != 0) counts.set(source, destination, countOf(number));
      });
  return {};
}

}  // namespace torc
