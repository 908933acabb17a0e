// In-process job: creation of all ranks, and the loop over them.
#include "runtime/execution/inprocess_job.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace torc::runtime {

InProcessJob::InProcessJob(std::int32_t ranks, const JobOptions& options)
    : in_place_(options.in_place),
      element_bytes_(options.element_bytes),
      shuffle_(options.delivery == Delivery::kAdversarial),
      random_(options.seed),
      network_(ranks, options.delivery, options.seed + 1),
      members_(static_cast<std::size_t>(ranks)),
      order_(static_cast<std::size_t>(ranks)) {
  std::iota(order_.begin(), order_.end(), 0);
}

StatusOr<std::unique_ptr<InProcessJob>> InProcessJob::create(const ScheduleView& schedule,
                                                             const Counts& counts,
                                                             const JobOptions& options) {
  std::vector<FlatProgram> programs;
  for (std::uint64_t rank = 0; rank < schedule.topology.ranks(); ++rank) {
    StatusOr<FlatProgram> program =
        expand(schedule, static_cast<std::int32_t>(rank), counts, options.in_place, options.root);
    if (!program.ok()) return program.status();
    programs.push_back(std::move(*program));
  }
  return create(programs, options);
}

StatusOr<std::unique_ptr<InProcessJob>> InProcessJob::create(std::span<const FlatProgram> programs,
                                                             const JobOptions& options) {
  std::unique_ptr<InProcessJob> job(
      new InProcessJob(static_cast<std::int32_t>(programs.size()), options));
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const FlatProgram& program = programs[rank];
    Member& member = job->members_[rank];
    const auto bytesOf = [&](std::uint64_t elements) { return elements * options.element_bytes; };
    member.in.allocateZeros(options.in_place ? 0 : bytesOf(program.in_elements));
    member.out.allocateZeros(bytesOf(options.in_place
                                         ? std::max(program.in_elements, program.out_elements)
                                         : program.out_elements));
    member.scratch.allocateZeros(bytesOf(program.scratch_elements));
    StatusOr<std::unique_ptr<Executor>> executor = Executor::create(
        program, job->buffersOf(member), options.reducer,
        job->network_.transport(static_cast<std::int32_t>(rank)), {}, options.cores);
    if (!executor.ok()) return executor.status().annotated("rank " + std::to_string(rank));
    member.executor = std::move(*executor);
  }
  return job;
}

Buffers InProcessJob::buffersOf(const Member& member) const {
  Buffers buffers;
  buffers.in = in_place_ ? member.out.data() : member.in.data();
  buffers.out = member.out.data();
  buffers.scratch = member.scratch.data();
  buffers.element_bytes = element_bytes_;
  buffers.in_is_out = in_place_;
  return buffers;
}

void InProcessJob::rebind(const Reducer& reducer) {
  for (Member& member : members_) {
    for (DataMemory* memory : {&member.in, &member.out, &member.scratch})
      memory->allocateZeros(memory->bytes());
    member.executor->bind(buffersOf(member), reducer);
  }
}

Status InProcessJob::run() {
  for (Member& member : members_) {
    if (member.executor->start() == Progress::kFailed) return member.executor->status();
  }
  for (;;) {
    if (shuffle_) std::shuffle(order_.begin(), order_.end(), random_);
    std::size_t before = 0, after = 0;
    bool is_working = false;
    for (std::int32_t rank : order_) {
      Executor& executor = *members_[static_cast<std::size_t>(rank)].executor;
      before += executor.remaining();
      if (executor.advance() == Progress::kFailed) return executor.status();
      after += executor.remaining();
      is_working |= executor.isWorking();
    }
    if (after == 0) return {};
    if (after == before && !is_working && !network_.busy()) return stuck();
  }
}

Status InProcessJob::stuck() const {
  std::size_t others = 0;
  std::string first;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    const std::uint32_t operation = members_[rank].executor->firstPending();
    if (operation == kNone) continue;
    if (!first.empty()) {
      ++others;
    } else {
      first = "operation " + std::to_string(operation) + " of rank " + std::to_string(rank);
    }
  }
  return {StatusCode::kTransport, "no rank can go on: " + first +
                                      " is not complete, nor are those of " +
                                      std::to_string(others) + " other ranks"};
}

}  // namespace torc::runtime
