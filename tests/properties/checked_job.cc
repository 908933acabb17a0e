// A whole job in one process, checked against the definition of its collective.
#include "tests/properties/simulated_job.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>

#include "runtime/executor.h"
#include "runtime/reduction.h"
#include "schedules/expand.h"

namespace torc {
namespace {

/// Rank `rank`'s element `index` of the whole vector: small, and different for neighbours.
template <typename T>
T element(std::uint64_t rank, std::uint64_t index) {
  const std::uint64_t mixed = (rank * 2654435761u + index * 40503u + 12345u) >> 3;
  return static_cast<T>(mixed % 97);
}

template <typename T>
T combine(ReduceOp op, T a, T b) {
  if (op == ReduceOp::kMax) return std::max(a, b);
  if (op == ReduceOp::kMin) return std::min(a, b);
  return static_cast<T>(a + b);
}

template <typename T>
class Job {
 public:
  Job(const ScheduleView& schedule, const JobOptions& options, ElementKind kind, ReduceOp op)
      : schedule_(schedule), options_(options), op_(op), ranks_(schedule.topology.ranks()) {
    reducer_ = {reductionKernel(kind, op), nullptr};
  }

  std::string run() {
    InProcessNetwork network(static_cast<std::int32_t>(ranks_), options_.delivery, options_.seed);
    blocks_.assign(ranks_ + 1, 0);
    const bool reducing_vector = schedule_.collective == Collective::kAllreduce;
    for (std::uint64_t r = 0; r < ranks_; ++r) {
      const std::uint64_t block = options_.per_rank.empty() ? options_.count : options_.per_rank[r];
      blocks_[r + 1] = blocks_[r] + block;
    }
    total_ = reducing_vector ? options_.count : blocks_[ranks_];
    memory_.resize(ranks_);
    for (std::uint64_t r = 0; r < ranks_; ++r) {
      if (std::string error = prepare(network, r); !error.empty()) return error;
    }
    if (std::string error = drive(network); !error.empty()) return error;
    return compare();
  }

 private:
  struct Memory {
    std::vector<T> in, out, scratch;
    std::unique_ptr<Executor> executor;
  };

  std::string prepare(InProcessNetwork& network, std::uint64_t rank) {
    const auto rank_number = static_cast<std::int32_t>(rank);
    const Counts counts{options_.count, options_.per_rank, {}};
    StatusOr<FlatProgram> program = expand(schedule_, rank_number, counts, options_.in_place);
    if (!program.ok()) return program.status().message();
    Memory& memory = memory_[rank];
    const bool gathers = schedule_.collective == Collective::kAllgather;
    const T garbage = static_cast<T>(101);
    memory.out.assign(program->out_elements, garbage);
    memory.scratch.assign(program->scratch_elements, garbage);
    std::vector<T>& input = options_.in_place ? memory.out : memory.in;
    if (!options_.in_place) memory.in.assign(program->in_elements, garbage);
    const std::uint64_t first = gathers ? blocks_[rank] : 0;
    const std::uint64_t count = gathers ? blocks_[rank + 1] - blocks_[rank] : total_;
    const std::uint64_t offset = gathers && options_.in_place ? first : 0;
    for (std::uint64_t i = 0; i < count; ++i)
      input[offset + i] = element<T>(rank, first + i);
    const Buffers buffers{reinterpret_cast<const std::byte*>(input.data()),
                          reinterpret_cast<std::byte*>(memory.out.data()),
                          reinterpret_cast<std::byte*>(memory.scratch.data()), sizeof(T)};
    auto executor = Executor::create(*program, buffers, reducer_, network.transport(rank_number));
    if (!executor.ok()) return executor.status().message();
    memory.executor = std::move(*executor);
    return {};
  }

  std::string drive(InProcessNetwork& network) {
    for (Memory& memory : memory_)
      (void)memory.executor->start();
    for (std::size_t before = std::numeric_limits<std::size_t>::max();;) {
      std::size_t remaining = 0;
      for (Memory& memory : memory_) {
        if (memory.executor->progress() == Progress::kActive) (void)memory.executor->advance();
        if (memory.executor->progress() == Progress::kFailed) {
          return memory.executor->status().message();
        }
        remaining +=
            memory.executor->progress() == Progress::kDone ? 0 : memory.executor->remaining() + 1;
      }
      if (remaining == 0) return {};
      if (remaining == before && !network.busy()) {
        return "the ranks stand still with " + std::to_string(remaining) + " operations to do";
      }
      before = remaining;
    }
  }

  /// Element `index` of the whole vector after the collective.
  T expected(std::uint64_t index) const {
    if (schedule_.collective == Collective::kAllgather) {
      const auto owner = std::upper_bound(blocks_.begin(), blocks_.end(), index) - 1;
      return element<T>(static_cast<std::uint64_t>(owner - blocks_.begin()), index);
    }
    T sum = element<T>(0, index);
    for (std::uint64_t r = 1; r < ranks_; ++r)
      sum = combine(op_, sum, element<T>(r, index));
    return sum;
  }

  std::string compare() const {
    std::vector<T> whole(total_);
    for (std::uint64_t i = 0; i < total_; ++i)
      whole[i] = expected(i);
    const bool own = schedule_.collective == Collective::kReduceScatter;
    for (std::uint64_t r = 0; r < ranks_; ++r) {
      const std::uint64_t first = own ? blocks_[r] : 0;
      const std::uint64_t last = own ? blocks_[r + 1] : total_;
      for (std::uint64_t i = first; i < last; ++i) {
        if (memory_[r].out[i - first] == whole[i]) continue;
        return "rank " + std::to_string(r) + ", element " + std::to_string(i) + ": " +
               std::to_string(memory_[r].out[i - first]) + ", expected " + std::to_string(whole[i]);
      }
    }
    return {};
  }

  const ScheduleView& schedule_;
  const JobOptions& options_;
  const ReduceOp op_;
  const std::uint64_t ranks_;
  Reducer reducer_;
  std::vector<std::uint64_t> blocks_;  // first element of each rank's block
  std::uint64_t total_ = 0;
  std::vector<Memory> memory_;
};

}  // namespace

std::string runJob(const ScheduleView& schedule, const JobOptions& options) {
  switch (options.type) {
    case JobType::kInt64Sum:
      return Job<std::int64_t>(schedule, options, ElementKind::kInt64, ReduceOp::kSum).run();
    case JobType::kInt32Max:
      return Job<std::int32_t>(schedule, options, ElementKind::kInt32, ReduceOp::kMax).run();
    case JobType::kUint8Sum:
      return Job<std::uint8_t>(schedule, options, ElementKind::kUint8, ReduceOp::kSum).run();
    case JobType::kFloatSum:
      return Job<float>(schedule, options, ElementKind::kFloat, ReduceOp::kSum).run();
    case JobType::kDoubleSum:
      return Job<double>(schedule, options, ElementKind::kDouble, ReduceOp::kSum).run();
    case JobType::kInt16Min:
      return Job<std::int16_t>(schedule, options, ElementKind::kInt16, ReduceOp::kMin).run();
  }
  return "unknown type";
}

}  // namespace torc
