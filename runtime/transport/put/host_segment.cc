// Host segment: one rank creates it, the others open it, all map it.
#include "runtime/transport/put/host_segment.h"

#include <utility>

#include "runtime/transport/put/process_memory.h"
#include "support/message.h"

namespace torc::runtime {

HostSegment::HostSegment(MappedMemory memory, int members, int me, std::uint64_t device,
                         std::shared_ptr<MemoryShare> share)
    : memory_(std::move(memory)),
      members_(members),
      me_(me),
      regions_(memory_.data() + static_cast<std::size_t>(members) * sizeof(Words), members, me,
               device, std::move(share)),
      lanes_(kLanes),
      rounds_(kLanes),
      copy_times_(static_cast<std::size_t>(members)),
      copy_tries_(static_cast<std::size_t>(members)) {
  for (Lane& lane : lanes_)
    lane.ended.resize(static_cast<std::size_t>(members));
}

StatusOr<std::unique_ptr<HostSegment>> HostSegment::over(SegmentFile& file, int members, int me,
                                                         std::shared_ptr<MemoryShare> share) {
  const std::size_t bytes = roundToPage(static_cast<std::size_t>(members) * sizeof(Words) +
                                        PairRegions::tableBytes(members));
  StatusOr<MappedMemory> memory = file.map(0, bytes, share);
  if (!memory.ok()) return memory.status();
  if (Status status = file.reserve(bytes); !status.ok()) return status;
  return std::unique_ptr<HostSegment>(
      new HostSegment(std::move(*memory), members, me, file.name().device, std::move(share)));
}

void HostSegment::setMembers(std::vector<std::int32_t> member_of_rank,
                             std::vector<int> process_of_member) {
  member_of_rank_ = std::move(member_of_rank);
  regions_.setProcesses(std::move(process_of_member));
}

Status HostSegment::checkRunning(std::int32_t rank) const {
  const int member = memberOf(rank);
  if (member < 0 || !hasEnded(processOf(member))) return {};
  return {StatusCode::kTransport,
          message("rank ", rank, " (process ", processOf(member), " of this host) has ended")};
}

void HostSegment::lookUp(int member, LaneTrack track) {
  for (int i = track.first_lane; i < track.first_lane + track.lanes; ++i) {
    lane(i).ended[static_cast<std::size_t>(member)] =
        ended(member, i).load(std::memory_order_acquire);
  }
}

void HostSegment::queue(int index, Turn& turn) {
  Lane& wanted = lane(index);
  turn.behind = 0;
  turn.before = wanted.last;
  turn.after = nullptr;
  (turn.before != nullptr ? turn.before->after : wanted.first) = &turn;
  wanted.last = &turn;
}

std::uint64_t HostSegment::begin(int index, std::uint64_t round) {
  begun(me_, index).store(round, std::memory_order_release);
  return std::exchange(lane(index).previous, round);
}

void HostSegment::end(int index, Turn& turn) {
  Lane& left = lane(index);
  const std::uint64_t last = turn.behind != 0 ? turn.behind : turn.round;
  (turn.after != nullptr ? turn.after->before : left.last) = turn.before;
  (turn.before != nullptr ? turn.before->after : left.first) = turn.after;
  if (turn.before != nullptr) {
    turn.before->behind = last;
    return;
  }
  // Also for rounds that have ended before they had the lane: other ranks read only the last one.
  if (left.previous != last) begin(index, last);
  ended(me_, index).store(last, std::memory_order_release);
}

}  // namespace torc::runtime
