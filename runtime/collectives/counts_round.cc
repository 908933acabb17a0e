// Counts round: exchanges the counts of pairs by the schedule of the call.
#include "runtime/collectives/counts_round.h"

#include <algorithm>
#include <utility>

#include "runtime/transport/mpi_transport.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);

std::span<std::uint64_t> numbersOf(const DataMemory& memory) {
  return {reinterpret_cast<std::uint64_t*>(memory.data()), memory.bytes() / kNumberBytes};
}

}  // namespace

CountsRound::CountsRound(const torc_schedule& schedule, const Call& call)
    : schedule_(schedule),
      seen_(call, schedule.geometry->map, schedule.geometry->rank, schedule.geometry->size),
      exchange_(schedule.view()) {}

Status CountsRound::prepare() {
  StatusOr<FlatProgram> program = exchange_.expand(seen_.rank);
  if (!program.ok()) return program.status().annotated("counts of pairs");
  program_ = std::move(*program);
  mapPeers(schedule_.geometry->map, program_);
  in_.allocate(program_.in_elements * kNumberBytes);
  out_.allocate(program_.out_elements * kNumberBytes);
  scratch_.allocateZeros(program_.scratch_elements * kNumberBytes);
  const std::span<std::uint64_t> in = numbersOf(in_);
  for (std::size_t rank = 0; rank < seen_.in_per_rank.size(); ++rank) {
    std::fill_n(in.begin() + static_cast<std::ptrdiff_t>(rank * exchange_.copies()),
                exchange_.copies(), CountExchange::numberOf(seen_.in_per_rank[rank]));
  }
  return {};
}

Status CountsRound::layOut(int tag_base) {
  const Buffers buffers{.in = in_.data(),
                        .out = out_.data(),
                        .scratch = scratch_.data(),
                        .element_bytes = kNumberBytes};
  auto created = Executor::create(
      program_, buffers, {}, std::make_unique<MpiTransport>(schedule_.geometry->comm, tag_base));
  if (created.ok()) executor_ = std::move(*created);
  return created.status().annotated("counts of pairs");
}

Status CountsRound::run() {
  executor_->start();
  // Another rank may need progress of this one before it arrives here.
  schedule_.geometry->context->progressUntil(
      [&] { return executor_->advance() != Progress::kActive; });
  if (executor_->progress() == Progress::kFailed)
    return executor_->status().annotated("counts of pairs");
  if (Status status = exchange_.read(seen_.rank, numbersOf(scratch_), passing_); !status.ok()) {
    return status;
  }
  return compare();
}

Status CountsRound::compare() const {
  const std::span<const std::uint64_t> out = numbersOf(out_);
  for (std::size_t rank = 0; rank < seen_.per_rank.size(); ++rank) {
    const std::uint64_t sent = CountExchange::countOf(out[rank * exchange_.copies()]);
    if (sent == seen_.per_rank[rank]) continue;
    const RankMap& map = schedule_.geometry->map;
    return {StatusCode::kMismatch,
            message("rank ", map.toCommunicator(static_cast<std::int32_t>(rank)), " sends ", sent,
                    " bytes to rank ", schedule_.geometry->rank, ", which expects ",
                    seen_.per_rank[rank])};
  }
  return {};
}

}  // namespace torc::runtime
