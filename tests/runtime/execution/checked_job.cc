// A whole job in one process, checked against the definition of its collective.
#include "tests/runtime/execution/checked_job.h"

#include <algorithm>

#include "runtime/execution/inprocess_job.h"
#include "runtime/reductions/reduction.h"
#include "schedules/neighbours.h"

namespace torc {
namespace {

// What stands in `out` before.
constexpr int kUntouched = 101;

/// Rank `rank`'s element `index` of the whole vector: small, and different for neighbours.
template <typename T>
T element(std::uint64_t rank, std::uint64_t index) {
  const std::uint64_t mixed = (rank * 2654435761u + index * 40503u + 12345u) >> 3;
  return static_cast<T>(mixed % 97);
}

template <typename T>
T combine(runtime::ReduceOp op, T a, T b) {
  if (op == runtime::ReduceOp::kMax) return std::max(a, b);
  if (op == runtime::ReduceOp::kMin) return std::min(a, b);
  return static_cast<T>(a + b);
}

template <typename T>
std::span<T> elements(std::span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <typename T>
class CheckedJob {
 public:
  CheckedJob(const ScheduleView& schedule, const CheckedCall& call, runtime::ElementKind kind,
             runtime::ReduceOp op)
      : schedule_(schedule), call_(call), kind_(kind), op_(op), ranks_(schedule.topology.ranks()) {
    blocks_.assign(ranks_ + 1, 0);
    for (std::uint64_t r = 0; r < ranks_; ++r) {
      blocks_[r + 1] = blocks_[r] + (call.per_rank.empty() ? call.count : call.per_rank[r]);
    }
    total_ = row_.counts == CountOf::kVector ? call.count : blocks_[ranks_];
  }

  std::string run() {
    const Counts counts{call_.count, call_.per_rank, {}};
    runtime::JobOptions options;
    options.delivery = call_.delivery;
    options.seed = call_.seed;
    options.in_place = call_.in_place;
    options.root = call_.root;
    options.element_bytes = sizeof(T);
    options.reducer = {runtime::reductionKernel(kind_, op_), nullptr};
    auto job = runtime::InProcessJob::create(schedule_, counts, options);
    if (!job.ok()) return job.status().message();
    for (std::uint64_t r = 0; r < ranks_; ++r)
      fill(**job, r);
    if (Status status = (*job)->run(); !status.ok()) return status.message();
    return compare(**job);
  }

 private:
  void fill(runtime::InProcessJob& job, std::uint64_t rank) const {
    const auto number = static_cast<std::int32_t>(rank);
    std::ranges::fill(elements<T>(job.out(number)), static_cast<T>(kUntouched));
    const Holds holds = row_.inAt(number == call_.root);
    if (holds == Holds::kNothing) return;
    if (row_.isOfNeighbours()) {
      const std::span<T> blocks = elements<T>(job.in(number));
      for (std::uint64_t i = 0; i < blocks.size(); ++i)
        blocks[i] = element<T>(rank, i);
      return;
    }
    const bool own = holds == Holds::kOwn && !ofPairs();
    const std::span<T> in = elements<T>(job.in(number));
    const std::uint64_t first = own ? blocks_[rank] : 0;
    const std::uint64_t count = own ? blocks_[rank + 1] - blocks_[rank] : total_;
    const std::uint64_t offset = own && sharesBlock(rank) ? first : 0;
    for (std::uint64_t i = 0; i < count; ++i)
      in[offset + i] = element<T>(rank, first + i);
  }

  bool isRoot(std::uint64_t rank) const { return static_cast<std::int32_t>(rank) == call_.root; }
  /// Whether one buffer holds all blocks, where one of `in` and `out` is the own one.
  bool sharesBlock(std::uint64_t rank) const {
    return call_.in_place && row_.inPlaceSharesBlock() && row_.mayBeInPlace(isRoot(rank));
  }

  /// Whether each rank's vector is what it has for all, and gets from all.
  bool ofPairs() const { return row_.blocks == BlockSpace::kPair; }

  /// Element `index` of the result of `rank`, where blocks are of pairs.
  T expectedOfPairs(std::uint64_t rank, std::uint64_t index) const {
    return element<T>(index / call_.count, blocks_[rank] + index % call_.count);
  }

  /// Element `index` of the sum of the first `ranks`.
  T expectedOfFirst(std::uint64_t ranks, std::uint64_t index) const {
    T sum = element<T>(0, index);
    for (std::uint64_t r = 1; r < ranks; ++r)
      sum = combine(op_, sum, element<T>(r, index));
    return sum;
  }

  /// Element `index` of the whole vector after the collective.
  T expected(std::uint64_t index) const {
    if (row_.isRooted() && row_.inWhole() && !row_.reduces()) {
      return element<T>(static_cast<std::uint64_t>(call_.root), index);
    }
    if (!row_.reduces()) {
      const auto owner = std::upper_bound(blocks_.begin(), blocks_.end(), index) - 1;
      return element<T>(static_cast<std::uint64_t>(owner - blocks_.begin()), index);
    }
    return expectedOfFirst(ranks_, index);
  }

  /// Element `index` of the result of `rank`; without ranks before it, `out` is as it was.
  T expectedOfPrefix(std::uint64_t rank, std::uint64_t index) const {
    if (rank > 0 || row_.includesOwn()) {
      return expectedOfFirst(rank + (row_.includesOwn() ? 1 : 0), index);
    }
    return call_.in_place ? element<T>(rank, index) : static_cast<T>(kUntouched);
  }

  /// Element `index` of the block that `rank` gets from the neighbour that way; without one, `out`
  /// is as it was.
  T expectedOfNeighbour(std::int32_t rank, const Way& way, std::uint64_t index) const {
    const Topology& topology = schedule_.topology;
    Coordinates at = topology.coordinatesOf(rank);
    if (!hasNeighbour(topology, at, way)) return static_cast<T>(kUntouched);
    const auto size = static_cast<std::int32_t>(topology.axes[way.axis].size);
    at[way.axis] = (at[way.axis] + way.sign + size) % size;
    const std::uint64_t place =
        row_.in == Holds::kOwn ? 0 : neighbourPlace(topology, {way.axis, -way.sign});
    return element<T>(static_cast<std::uint64_t>(topology.rankOf(at)), place * call_.count + index);
  }

  std::string compareNeighbours(runtime::InProcessJob& job) const {
    for (std::int32_t r = 0; r < static_cast<std::int32_t>(ranks_); ++r) {
      const std::span<T> out = elements<T>(job.out(r));
      for (std::uint32_t part = 0; part < 2 * schedule_.topology.axis_count; ++part) {
        const std::uint64_t first =
            neighbourPlace(schedule_.topology, wayOfPart(part)) * call_.count;
        for (std::uint64_t i = 0; i < call_.count; ++i) {
          const T wanted = expectedOfNeighbour(r, wayOfPart(part), i);
          if (out[first + i] == wanted) continue;
          return "rank " + std::to_string(r) + ", element " + std::to_string(first + i) + ": " +
                 std::to_string(out[first + i]) + ", expected " + std::to_string(wanted);
        }
      }
    }
    return {};
  }

  std::string compare(runtime::InProcessJob& job) const {
    if (row_.isOfNeighbours()) return compareNeighbours(job);
    std::vector<T> whole(total_);
    for (std::uint64_t i = 0; i < total_; ++i)
      whole[i] = expected(i);
    const bool own = row_.out == Holds::kOwn && !ofPairs();
    for (std::uint64_t r = 0; r < ranks_; ++r) {
      if (row_.outAt(isRoot(r)) == Holds::kNothing) continue;
      const std::span<T> out = elements<T>(job.out(static_cast<std::int32_t>(r)));
      const std::uint64_t first = own ? blocks_[r] : 0;
      const std::uint64_t last = own ? blocks_[r + 1] : total_;
      const std::uint64_t place = sharesBlock(r) ? 0 : first;  // of the vector, where `out` begins
      for (std::uint64_t i = first; i < last; ++i) {
        const T wanted = ofPairs()         ? expectedOfPairs(r, i)
                         : row_.isPrefix() ? expectedOfPrefix(r, i)
                                           : whole[i];
        if (out[i - place] == wanted) continue;
        return "rank " + std::to_string(r) + ", element " + std::to_string(i) + ": " +
               std::to_string(out[i - place]) + ", expected " + std::to_string(wanted);
      }
    }
    return {};
  }

  const ScheduleView& schedule_;
  const CollectiveRow& row_ = rowOf(schedule_.collective);
  const CheckedCall& call_;
  const runtime::ElementKind kind_;
  const runtime::ReduceOp op_;
  const std::uint64_t ranks_;
  std::vector<std::uint64_t> blocks_;  // first element of each rank's block
  std::uint64_t total_ = 0;
};

}  // namespace

std::string runChecked(const ScheduleView& schedule, const CheckedCall& call) {
  auto run = [&]<typename T>(T, runtime::ElementKind kind, runtime::ReduceOp op) {
    return CheckedJob<T>(schedule, call, kind, op).run();
  };
  switch (call.type) {
    case CheckedType::kInt64Sum:
      return run(std::int64_t{}, runtime::ElementKind::kInt64, runtime::ReduceOp::kSum);
    case CheckedType::kInt32Max:
      return run(std::int32_t{}, runtime::ElementKind::kInt32, runtime::ReduceOp::kMax);
    case CheckedType::kUint8Sum:
      return run(std::uint8_t{}, runtime::ElementKind::kUint8, runtime::ReduceOp::kSum);
    case CheckedType::kFloatSum:
      return run(float{}, runtime::ElementKind::kFloat, runtime::ReduceOp::kSum);
    case CheckedType::kDoubleSum:
      return run(double{}, runtime::ElementKind::kDouble, runtime::ReduceOp::kSum);
    case CheckedType::kInt16Min:
      return run(std::int16_t{}, runtime::ElementKind::kInt16, runtime::ReduceOp::kMin);
  }
  return "unknown type";
}

}  // namespace torc
