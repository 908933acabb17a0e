// Finds the blocks of messages in the schedule: sender and receiver find the same ones.
#include "runtime/execution/message_fragments.h"

#include "schedules/expansion/placement.h"
#include "schedules/loops/unroll.h"

namespace torc::runtime {

StatusOr<MessageFragments> cutMessages(const ScheduleView& schedule, const FlatProgram& program,
                                       const Counts& counts, bool in_place,
                                       std::size_t element_bytes, std::size_t least_bytes) {
  MessageFragments fragments;
  const CollectiveRow& row = rowOf(schedule.collective);
  // Part-major messages are contiguous, and messages of neighbours are one block.
  if (row.layout == Layout::kPartMajor || row.isOfNeighbours()) return fragments;
  const bool shares_block =
      in_place && row.inPlaceSharesBlock() && row.mayBeInPlace(program.rank == program.root);
  UnrolledLoops loops;  // each operation stands for one
  if (!schedule.loops.empty()) loops = unrollLoops(schedule);
  const ScheduleView unrolled = schedule.loops.empty() ? schedule : loops.schedule.view();
  const RootedSchedule rooted(unrolled, program.root);
  Placement placement(rooted, program.rank, counts, shares_block);
  if (Status status = placement.prepare(); !status.ok()) return status;

  fragments.resize(program.operations.size());
  std::uint32_t segment = 0;  // segment of the current placement
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    const FlatOperation& flat = program.operations[i];
    if (isSignal(flat.kind) || (!sends(flat.kind) && !receives(flat.kind))) continue;
    const bool sending = sends(flat.kind);
    const std::uint64_t bytes = (sending ? flat.a : flat.dst).elements * element_bytes;
    if (bytes < 2 * least_bytes) continue;  // always one fragment
    if (flat.segment != segment) placement.setSegment(segment = flat.segment);
    const Operation& operation = unrolled.operations[flat.unrolled];
    const Region& region = sending ? operation.a : operation.dst;
    if (operation.hasPeerLoop()) placement.setPeer(rooted.coordinatesOf(flat.peer));
    // The size of equal blocks is known without listing them.
    if (counts.per_rank.empty() && bytes / placement.blocksOf(region) < least_bytes) continue;
    placement.appendBlocks(region, fragments[i]);
    if (bytes / fragments[i].size() < least_bytes) fragments[i].clear();
  }
  return fragments;
}

}  // namespace torc::runtime
