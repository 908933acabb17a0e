// Buffers, checks and times for one size of torc-run.
#include "runtime/run/torc_run_job.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <unistd.h>
#include <utility>

#include "runtime/job/bound_schedule.h"
#include "runtime/run/world/job_world.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"
#include "runtime/transport/yielding_wait.h"
#include "schedules/expansion/shares.h"
#include "support/hash.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

/// Initial content of a result.
constexpr std::byte kUntouched{0xa5};

/// Numbers around 1, so that sums and products of many stay in range; integers from 1 to 13.
void fillElements(const RunType& type, std::byte* data, std::uint64_t count, std::uint64_t seed) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t random = hashNumbers(seed, i);
    const double around_one = 0.5 + static_cast<double>(random >> 11) * 0x1p-53;
    if (type.datatype == MPI_FLOAT) {
      const auto value = static_cast<float>(around_one);
      std::memcpy(data + i * 4, &value, 4);
    } else if (type.datatype == MPI_DOUBLE) {
      std::memcpy(data + i * 8, &around_one, 8);
    } else {
      const std::uint64_t value = 1 + random % 13;  // little-endian: the low bytes are the element
      std::memcpy(data + i * type.bytes, &value, type.bytes);
    }
  }
}

template <typename T>
bool close(const std::byte* a, const std::byte* b, int ranks) {
  T x, y;
  std::memcpy(&x, a, sizeof(T));
  std::memcpy(&y, b, sizeof(T));
  return std::abs(x - y) <= ranks * std::numeric_limits<T>::epsilon() * std::abs(y);
}

/// Start time of an iteration. On real cores: the end of a barrier. On a simulated machine, whose
/// ranks share one clock: the same instant on every rank.
double startTogether(MPI_Comm comm) {
  barrier(comm);
  double start = MPI_Wtime();
  if constexpr (kSimulated) {
    allreduce(&start, 1, MPI_DOUBLE, MPI_MAX, comm);
    start += 100;  // simulated seconds cost nothing, and a broken link may be very slow
    if (const double left = start - MPI_Wtime(); left > 2e-6) {
      usleep(static_cast<useconds_t>(1e6 * left) - 1);
    }
    while (MPI_Wtime() < start) {  // reading the clock takes 10 ns
    }
  }
  return start;
}

template <typename... Words>
Status wrong(const Words&... words) {
  return {StatusCode::kInvalidArgument, message(words...)};
}

RunTimes summarize(std::vector<double>& seconds, MPI_Comm comm) {
  allreduce(seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, comm);
  std::sort(seconds.begin(), seconds.end());
  return {1e6 * seconds[seconds.size() / 2], 1e6 * seconds.front(), 1e6 * seconds.back()};
}

}  // namespace

RunJob::RunJob(const RunOptions& options, Collective collective, torc_schedule* schedule,
               std::uint64_t bytes, MPI_Comm comm)
    : options_(options),
      comm_(comm),
      schedule_(schedule),
      row_(&rowOf(collective)),
      elements_(bytes / options.type.bytes) {
  rank_ = commRank(comm_);
  ranks_ = commSize(comm_);
  const bool pairs = row_->blocks == BlockSpace::kPair, neighbours = row_->isOfNeighbours();
  if (neighbours) makeGrid();
  const auto blocks = static_cast<std::uint64_t>(neighbours ? neighbours_ : ranks_);
  // Blocks of pairs and of neighbours have one size, or sizes from lists.
  if ((pairs && !options.uneven) || neighbours) elements_ -= elements_ % blocks;
  arguments_.has_lists = elements_ % blocks != 0 || options.uneven;
  auto& [counts, displacements] = arguments_.blocks;
  counts = countsOfBlocks(blocks);
  if (neighbours) elements_ = std::reduce(counts.begin(), counts.end(), std::uint64_t{0});
  // The block of a pair is chosen by the sum of its two ranks, so that both directions have the
  // same size.
  if (pairs) std::rotate(counts.begin(), counts.begin() + rank_, counts.end());
  arguments_.own_block = neighbours ? 0 : rank_;
  std::int64_t displacement = 0;
  for (const std::int64_t count : counts) {
    displacements.push_back(displacement);
    arguments_.int_blocks.counts.push_back(static_cast<int>(count));
    arguments_.int_blocks.displacements.push_back(static_cast<int>(displacement));
    displacement += count;
  }
  const std::size_t own =
      (pairs ? elements_ : static_cast<std::size_t>(counts[arguments_.own_block])) *
      options.type.bytes;
  const bool is_root = rank_ == static_cast<int>(options.root);
  is_in_place_ = (options.in_place && row_->mayBeInPlace(is_root)) || hasOneBuffer();
  const auto held = [&](Holds holds) {
    if (holds == Holds::kEachNeighbour) return elements_ * options.type.bytes;
    return holds == Holds::kWhole ? bytes : holds == Holds::kOwn ? own : 0;
  };
  data_.resize(held(row_->inAt(is_root)));
  const std::uint64_t salt = hashNumbers(rank_);
  fillElements(options.type, data_.data(), data_.size() / options.type.bytes, salt);
  const std::size_t out_bytes = held(row_->outAt(is_root));
  const bool has_result = row_->includesOwn() || rank_ > 0;
  result_bytes_ = has_result ? out_bytes : 0;
  own_offset_ = static_cast<std::size_t>(displacements[arguments_.own_block]) * options.type.bytes;
  if (is_in_place_ && row_->in_place == InPlace::kOwnResult) result_offset_ = own_offset_;
  if (!is_in_place_) in_ = data_;
  out_.resize(is_in_place_ ? bytes : out_bytes);
  if (pairs) in_.reserve(1);  // MPICH refuses two buffers with one address, even if empty
  const bool is_own_out = row_->describesOwnOut();
  arguments_.collective = collective;
  arguments_.in = !is_in_place_ ? in_.data() : is_own_out ? out_.data() : MPI_IN_PLACE;
  arguments_.in_apart = data_.data();
  arguments_.out = is_in_place_ && is_own_out ? MPI_IN_PLACE : out_.data();
  arguments_.elements = elements_;
  arguments_.type = options.type.datatype;
  arguments_.op = options.op.op;
  arguments_.root = static_cast<int>(options.root);
}

RunJob::~RunJob() {
  (void)torc_collective_free(collective_);
  if (grid_ != MPI_COMM_NULL) MPI_Comm_free(&grid_);
}

/// Number of elements of each block of the vector.
std::vector<std::int64_t> RunJob::countsOfBlocks(std::uint64_t blocks) const {
  const bool neighbours = row_->isOfNeighbours();
  std::vector<std::int64_t> counts;
  std::uint64_t before = 0;
  for (std::uint64_t r = 0; r < blocks; ++r) {
    // Uneven: shares between 0 and 12, each the difference of two cumulative sums. The blocks to
    // and from the two neighbours along an axis have the same size.
    std::uint64_t total = 0, end = 0;
    for (std::uint64_t k = 0; options_.uneven && k < blocks; ++k) {
      total += hashNumbers(neighbours ? k / 2 : k) % 13;
      if (k == r) end = total;
    }
    const std::uint64_t stop = options_.uneven && total > 0 ? share(elements_, end, total)
                                                            : share(elements_, r + 1, blocks);
    counts.push_back(static_cast<std::int64_t>(stop - before));
    before = stop;
  }
  if (!neighbours) return counts;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    // One block for all, or two blocks that are rounded alike.
    counts[k] =
        row_->in == Holds::kOwn ? static_cast<std::int64_t>(elements_ / blocks) : counts[k - k % 2];
  }
  return counts;
}

/// Creates an MPI communicator with the neighbours of the schedule.
void RunJob::makeGrid() {
  const Topology& topology = schedule_->view().topology;
  std::vector<int> sizes, periods;
  for (std::uint32_t i = topology.axis_count; i-- > 0;) {  // the slowest axis first
    const Axis& axis = topology.axes[topology.order[i]];
    sizes.push_back(static_cast<int>(axis.size));
    periods.push_back(axis.kind != AxisKind::kMesh);
    has_twins_ |= periods.back() && axis.size <= 2 && row_->in == Holds::kEachNeighbour;
  }
  neighbours_ = static_cast<int>(2 * sizes.size());
  MPI_Cart_create(comm_, static_cast<int>(sizes.size()), sizes.data(), periods.data(),
                  /*reorder=*/0, &grid_);
}

/// Whether MPI's function has one buffer, which the root reads and the others write.
bool RunJob::hasOneBuffer() const {
  return row_->isRooted() && row_->inWhole() && row_->outWhole() && !row_->reduces();
}

Status RunJob::prepare() {
  if (options_.comparesWithMpi() && elements_ > std::numeric_limits<int>::max()) {
    return wrong("MPI's own collective takes at most 2147483647 elements, this size has ",
                 elements_);
  }
  if (options_.comparesWithMpi() && has_twins_) {
    return wrong(
        "along a ring of one or two ranks two neighbours are one, whose blocks some functions "
        "of MPICH and Open MPI exchange: there is nothing to compare with");
  }
  return apiStatus(initTorc(arguments_, schedule_, &collective_));
}

/// Puts the data into the buffers of an in-place call; otherwise they are unchanged.
void RunJob::fill() {
  if (!is_in_place_ || data_.empty()) return;
  const std::size_t offset = row_->in_place == InPlace::kOwnBlock ? own_offset_ : 0;
  std::memcpy(out_.data() + offset, data_.data(), data_.size());
}

Status RunJob::runTorc() {
  int code = torc_collective_start(collective_);
  if (code == TORC_OK) code = torc_collective_wait(collective_);
  return apiStatus(code);
}

void RunJob::runMpi() {
  (void)callMpi(arguments_, grid_ != MPI_COMM_NULL ? grid_ : comm_);
}

std::span<const std::byte> RunJob::result() const {
  return std::span(out_).subspan(result_offset_, result_bytes_);
}

std::uint64_t RunJob::hashOfResult() const {
  return hashBytes(result());
}

void RunJob::reference() {
  if (std::exchange(has_reference_, true)) return;  // it is the same for another schedule
  if (!is_in_place_) std::ranges::fill(out_, kUntouched);
  std::vector<double> seconds;
  (void)iterate(/*of_mpi=*/true, seconds);
  reference_.assign(result().begin(), result().end());
}

Status RunJob::check() {
  reference();
  std::ranges::fill(out_, kUntouched);
  std::vector<double> seconds;
  if (Status status = iterate(/*of_mpi=*/false, seconds); !status.ok()) return status;
  first_hash_ = hashOfResult();
  Status status = compareWith(reference_);
  if (row_->outAt(false) == Holds::kWhole && !row_->isPrefix()) {
    std::uint64_t extremes[2] = {first_hash_, ~first_hash_};
    allreduce(extremes, 2, MPI_UINT64_T, MPI_MAX, comm_);
    if (status.ok() && extremes[0] != ~extremes[1]) {
      status = wrong("the ranks' results differ in bits");
    }
  }
  return agreed(status, comm_);
}

Status RunJob::compareWith(const std::vector<std::byte>& expected) {
  const std::size_t size = options_.type.bytes;
  const bool tolerant = options_.type.floating && options_.op.rounds && row_->reduces();
  for (std::size_t i = 0; i * size < result_bytes_; ++i) {
    const std::byte* ours = result().data() + i * size;
    const std::byte* theirs = expected.data() + i * size;
    if (std::memcmp(ours, theirs, size) == 0) continue;
    if (tolerant &&
        (size == 4 ? close<float>(ours, theirs, ranks_) : close<double>(ours, theirs, ranks_))) {
      continue;
    }
    return wrong("rank ", rank_, ", element ", i, " is not what MPI's collective gives");
  }
  return {};
}

Status RunJob::checkAgain() {
  fill();
  if (Status status = runTorc(); !status.ok()) return status;
  return agreed(hashOfResult() == first_hash_
                    ? Status()
                    : wrong("rank ", rank_, ": a later iteration gave other bits"),
                comm_);
}

int RunJob::chooseIterations() {
  const int wanted = static_cast<int>(options_.iterations),
            warmup = static_cast<int>(options_.warmup);
  if (wanted > 0 && warmup == 0) return wanted;
  double slowest = 0;  // of the last untimed iteration, on rank 0
  const double begin = MPI_Wtime();
  for (int i = 0; i == 0 || i < warmup; ++i) {
    const double start = MPI_Wtime();  // includes the barrier, which may take longer than the call
    fill();
    barrier(comm_);
    (void)runTorc();
    slowest = MPI_Wtime() - start;
    if (options_.compare) {
      const double mpi_start = MPI_Wtime();
      fill();
      barrier(comm_);
      runMpi();
      slowest = std::max(slowest, MPI_Wtime() - mpi_start);
    }
    int enough = MPI_Wtime() - begin > options_.seconds ? 1 : 0;
    broadcast(&enough, 1, MPI_INT, 0, comm_);
    if (enough != 0) break;
  }
  int iterations =
      wanted > 0 ? wanted : static_cast<int>(std::clamp(options_.seconds / slowest, 3.0, 1000.0));
  broadcast(&iterations, 1, MPI_INT, 0, comm_);
  return iterations;
}

Status RunJob::time(int iterations, RunTimes& torc, RunTimes& mpi) {
  std::vector<double> torc_seconds, mpi_seconds;
  Status status;
  for (int i = 0; i < iterations; ++i) {
    for (const bool of_mpi : {i % 2 == 1, i % 2 == 0}) {  // alternates the first one
      if (of_mpi && !options_.compare) continue;
      const Status made = iterate(of_mpi, of_mpi ? mpi_seconds : torc_seconds);
      if (status.ok()) status = made;
    }
  }
  if (status = agreed(status, comm_); !status.ok()) return status;
  torc = summarize(torc_seconds, comm_);
  if (!mpi_seconds.empty()) mpi = summarize(mpi_seconds, comm_);
  return {};
}

Status RunJob::iterate(bool of_mpi, std::vector<double>& seconds, int calls) {
  fill();
  const double start = startTogether(comm_);
  Status status;
  for (int i = 0; i < calls; ++i) {
    if (of_mpi) {
      runMpi();
    } else if (const Status made = runTorc(); status.ok()) {
      status = made;
    }
  }
  seconds.push_back((MPI_Wtime() - start) / calls);
  return status;
}

Status RunJob::use(torc_schedule* schedule) {
  (void)torc_collective_free(collective_);
  collective_ = nullptr;
  schedule_ = schedule;
  return agreed(prepare(), comm_);
}

}  // namespace torc::runtime
