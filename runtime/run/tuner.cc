#include "runtime/run/tuner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <mpi.h>

#include "runtime/job/contenders.h"
#include "runtime/run/tuned_entries.h"
#include "runtime/run/world/job_world.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/yielding_wait.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

constexpr int kRounds = 5;
constexpr int kMostBatches = 2000;  // in a round
/// Minimal number of batches in a round, unless they take longer than kBatchPatience: other work on
/// a core may slow a few of them down a thousand times.
constexpr int kFewestBatches = 10;
constexpr double kBatchPatience = 0.1;  // seconds
constexpr double kLong = 0.1;           // seconds of a call for which one round is enough
/// Duration of consecutive calls, as programs make short ones: this favours schedules that let
/// ranks run ahead.
constexpr double kBatchSeconds = 1e-3;
constexpr double kMostInBatch = 500;
constexpr double kFirstSlice = 0.02;  // seconds, for contenders that may be slow
/// Contenders slower than the fastest by these factors drop out, after the first two rounds, and
/// later.
constexpr double kSlowAtFirst = 3, kSlowLater = 1.5;
constexpr std::uint64_t kFactor = 4, kBetween = 2;  // between sizes, and between the additional
                                                    // sizes

}  // namespace

int Tuner::Contender::callsInBatch() const {
  if (seconds.empty()) return 1;
  const double least = std::max(std::ranges::min(seconds), 1e-7);
  return static_cast<int>(std::clamp<double>(kBatchSeconds / least, 1, kMostInBatch));
}

void Tuner::Contender::took(double call_seconds, int calls) {
  // Shorter batches served only to find the length of batches.
  if (calls > 2 * calls_in_batch) seconds.clear();
  calls_in_batch = std::max(calls_in_batch, calls);
  seconds.push_back(call_seconds);
}

Tuner::Tuner(const RunOptions& options, torc_library& library)
    : options_(options),
      collectives_(options.collectives),
      library_(library),
      index_(library.index),
      deadline_(MPI_Wtime() + 60 * options.minutes) {
  rank_ = commRank(MPI_COMM_WORLD);
  const bool are_all = collectives_.empty();
  for (int c = 0; are_all && c < kCollectiveCount; ++c)
    collectives_.push_back(static_cast<Collective>(c));
}

Status Tuner::measure() {
  cells_ = cells();
  if (cells_.empty()) {
    return {StatusCode::kInvalidArgument,
            "the library has nothing of these collectives and sizes for this job"};
  }
  if (library_.hosts.oversubscribed) {
    say("# ranks outnumber cores: times are those of waiting for one");
  }
  say(message("# ", cells_.size(), " sizes in at most ", options_.minutes, " minutes"));
  std::map<std::uint32_t, SubTorusBoxes> boxes;  // by sub-torus
  for (int round = 0; round < kRounds; ++round) {
    std::size_t left = static_cast<std::size_t>(kRounds - round) * cells_.size();
    std::size_t measured = 0;
    for (Cell& cell : cells_) {
      if (isOver()) break;
      const auto [entry, is_new] = boxes.try_emplace(cell.sub_torus);
      Status status;
      if (is_new) status = entry->second.make(library_, cell.sub_torus);
      if (status = agreed(status); !status.ok()) return status;
      const double seconds = std::max(0.0, deadline_ - MPI_Wtime()) / static_cast<double>(left--);
      ++measured;
      if (!entry->second.isAnywhere()) continue;  // next to dead nodes
      if (round == 0) status = findContenders(cell, entry->second);
      if (status.ok()) status = measureRound(cell, entry->second, round, seconds);
      if (!status.ok()) return status;
    }
    done_ = std::max(done_, measured);
    say(message("# round ", round + 1, " of ", kRounds, ": ", measured, " sizes"));
  }
  print();
  return {};
}

LibraryIndex Tuner::tunedIndex(std::string job) {
  LibraryIndex index = index_;
  std::vector<LibraryMeasurement> measurements;
  for (const Cell& cell : cells_) {
    for (const Contender& contender : cell.contenders) {
      measurements.push_back(
          {cell.shape, cell.collective, cell.bytes, contender.file, contender.typical()});
    }
  }
  const auto what = [](const LibraryMeasurement& m) {
    return std::tuple(m.shape, m.collective, m.bytes, m.file);
  };
  std::ranges::sort(measurements, {}, what);
  index.tuned.clear();
  for (std::span<const LibraryMeasurement> rest = measurements; !rest.empty();) {
    const auto end = std::ranges::find_if(rest, [&](const LibraryMeasurement& m) {
      return m.shape != rest.front().shape || m.collective != rest.front().collective;
    });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    for (LibraryEntry& entry : tunedEntries(index_, rest.first(count), largest_))
      index.tuned.push_back(std::move(entry));
    rest = rest.subspan(count);
  }
  index.tuned_on = std::move(job);
  if (done_ < cells_.size()) {
    index.tuned_on += message("; time for ", done_, " of ", cells_.size(), " sizes");
  }
  index.measurements = std::move(measurements);
  return index;
}

/// Each shape once, on its first sub-torus of the job's partition. All shapes of one size come
/// before the next size, so that a short time omits the largest sizes; the additional sizes in
/// between come last.
std::vector<Tuner::Cell> Tuner::cells() {
  std::vector<std::uint32_t> first;  // sub-tori
  std::set<std::uint32_t> shapes;
  for (std::uint32_t i = 0; i < index_.sub_tori.size(); ++i) {
    const LibrarySubTorus& sub_torus = index_.sub_tori[i];
    const bool is_of_job = sub_torus.partition == library_.job.partition;
    if (is_of_job && shapes.insert(sub_torus.shape).second) first.push_back(i);
  }
  std::vector<Cell> list;
  const auto add = [&](std::uint64_t bytes) {
    for (const std::uint32_t sub_torus : first) {
      const std::uint32_t shape = index_.sub_tori[sub_torus].shape;
      for (const Collective collective : collectives_) {
        if (has(shape, collective, bytes)) list.push_back({sub_torus, shape, collective, bytes});
      }
    }
  };
  const std::uint64_t lowest = options_.sizes.front().lowest,
                      highest = options_.sizes.front().highest;
  for (std::uint64_t bytes = lowest; bytes <= highest; bytes *= kFactor) {
    largest_ = bytes;
    add(bytes);
  }
  for (std::uint64_t bytes = lowest * kBetween; bytes <= highest; bytes *= kFactor)
    add(bytes);
  return list;
}

/// Whether the library serves it, and ranks have elements. There is one algorithm for neighbours.
bool Tuner::has(std::uint32_t shape, Collective collective, std::uint64_t bytes) const {
  if (rowOf(collective).isOfNeighbours()) return false;
  const bool is_of_pairs = rowOf(collective).blocks == BlockSpace::kPair;
  const std::uint64_t least = is_of_pairs ? index_.shapes[shape].topology.ranks() : 1;
  return bytes / options_.type.bytes >= least &&
         index_.findEntry(shape, collective, bytes) != nullptr;
}

/// Rank 0 decides.
bool Tuner::isOver() const {
  int over = MPI_Wtime() > deadline_ ? 1 : 0;
  broadcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return over != 0;
}

/// Each file of the library for the cell, and MPI's own function.
Status Tuner::findContenders(Cell& cell, SubTorusBoxes& boxes) {
  for (const std::uint32_t file : contenders(index_, cell.shape, cell.collective, cell.bytes)) {
    const StatusOr<torc_schedule*> schedule = boxes.load(cell.shape, cell.collective, file);
    if (Status status = agreed(schedule.status()); !status.ok()) return status;
    cell.contenders.push_back({.file = file, .schedule = *schedule, .seconds = {}});
  }
  cell.contenders.emplace_back();  // the others have been compared with MPI's own by then
  return {};
}

/// Calls each contender of a cell, in at most about `seconds`.
Status Tuner::measureRound(Cell& cell, SubTorusBoxes& boxes, int round, double seconds) {
  std::optional<RunJob> job;
  if (boxes.isIn()) {
    job.emplace(options_, cell.collective, nullptr, cell.bytes, boxes.comm());
  }
  const double slice = seconds / static_cast<double>(cell.contenders.size());
  for (Contender& contender : cell.contenders) {
    if (contender.is_out) continue;
    Status status = agreed(call(job, contender, round == 0, slice));
    if (!status.ok()) {
      return status.annotated(message(rowOf(cell.collective).name, " of ", cell.bytes, " bytes on ",
                                      library_.shapes[cell.shape]));
    }
  }
  dropSlow(cell.contenders, round);
  return {};
}

/// Calls a contender for `slice` seconds; the first time also checks it.
Status Tuner::call(std::optional<RunJob>& job, Contender& contender, bool is_first, double slice) {
  const bool of_mpi = contender.file == kMpisOwn;
  Status status;
  if (job && !of_mpi) status = job->use(contender.schedule);
  if (status = agreed(status); !status.ok()) return status;
  if (is_first) {
    if (job && of_mpi) {
      job->reference();
    } else if (job) {
      status = job->check();
    }
    if (status = agreed(status); !status.ok()) return status;
  }
  const double begin = MPI_Wtime(), time = is_first ? std::min(slice, kFirstSlice) : slice;
  for (int batches = 0; batches < kMostBatches; ++batches) {
    const int calls = contender.callsInBatch();
    std::vector<double> seconds;
    // A rank whose call fails continues, as others wait for it.
    const Status made = job ? job->iterate(of_mpi, seconds, calls) : Status();
    if (status.ok()) status = made;
    const double passed = MPI_Wtime() - begin;
    const bool is_enough =
        passed >= time && (batches + 1 >= kFewestBatches || passed >= kBatchPatience);
    // The slowest rank's seconds, and whether a rank has enough samples.
    double most[] = {seconds.empty() ? 0 : seconds.front(), is_enough ? 1.0 : 0.0};
    allreduce(most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    contender.took(most[0], calls);
    if (most[1] > 0) break;
  }
  return agreed(status);
}

void Tuner::dropSlow(std::vector<Contender>& list, int round) {
  const double factor = round <= 1 ? kSlowAtFirst : kSlowLater;
  double least = list.front().typical();
  for (const Contender& contender : list)
    least = std::min(least, contender.typical());
  for (Contender& contender : list) {
    // Other work may have slowed down the whole first round; a second one is cheap then.
    const bool is_certain = round > 0 || contender.typical() >= kLong;
    if (is_certain && contender.typical() > factor * least) contender.is_out = true;
  }
}

void Tuner::say(const std::string& line) const {
  if (rank_ != 0) return;
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void Tuner::print() const {
  if (rank_ != 0) return;
  say("# us, lower quartiles of the slowest ranks");
  std::printf("%-14s %-14s %12s %12s %12s %12s  %s\n", "shape", "collective", "bytes", "library's",
              "fastest", "MPI's", "fastest is");
  for (const Cell& cell : cells_) {
    const std::vector<Contender>& list = cell.contenders;
    if (list.empty()) continue;
    const auto typical = [](const Contender& contender) { return contender.typical(); };
    const Contender& fastest = *std::ranges::min_element(list, {}, typical);
    const std::uint32_t chosen = index_.findEntry(cell.shape, cell.collective, cell.bytes)->file;
    const auto own = std::ranges::find(list, chosen, &Contender::file);
    std::printf(
        "%-14s %-14s %12llu %12.2f %12.2f %12.2f  %s\n", library_.shapes[cell.shape].c_str(),
        std::string(rowOf(cell.collective).name).c_str(),
        static_cast<unsigned long long>(cell.bytes), own == list.end() ? 0 : 1e6 * own->typical(),
        1e6 * fastest.typical(), 1e6 * list.back().typical(),
        fastest.file == kMpisOwn ? "MPI's own" : index_.files[fastest.file].name.c_str());
  }
}

}  // namespace torc::runtime
