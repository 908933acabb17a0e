// What is measured: on every sub-torus of the job's partition, all boxes of that extent at a time,
// as programs have them; of every collective; for sizes a factor of four apart: the files that the
// library has for it, and MPI's own. They are called in turns, round by round. What is much slower
// than the fastest drops out.
#include "runtime/run/tune.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/job/geometry.h"
#include "runtime/job/library.h"
#include "runtime/job/schedule_load.h"
#include "runtime/run/torc_run_job.h"
#include "runtime/run/tuned_copy.h"
#include "runtime/run/tuned_entries.h"
#include "support/message.h"
#include "support/version.h"

namespace torc {
namespace {

constexpr int kRounds = 5;
constexpr int kFewestIterations = 3;   // in a round
constexpr int kMostIterations = 2000;  // in a round
/// What is slower than the fastest by more drops out, after the first round, and after later ones.
constexpr double kSlowAtFirst = 3, kSlowLater = 1.5;
constexpr std::uint64_t kFactor = 4;  // between sizes

/// The error of the lowest rank that has one, on all.
Status agreed(const Status& mine) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int first = mine.ok() ? ranks : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == ranks) return {};
  struct {
    int code;
    char text[1000];
  } error = {static_cast<int>(mine.code()), {}};
  mine.message().copy(error.text, sizeof(error.text) - 1);
  MPI_Bcast(&error, sizeof(error), MPI_BYTE, first, MPI_COMM_WORLD);
  return {static_cast<StatusCode>(error.code), error.text};
}

/// The error of the C API's last call, if `code` is one.
Status apiStatus(int code) {
  if (code == TORC_OK) return {};
  return {StatusCode::kInvalidArgument, torc_error_message()};
}

/// The ranks of a job, and what they run on, for people.
std::string describeJob(const torc_library& library) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
  // A host speaks by the first of its ranks.
  MPI_Comm on_host = MPI_COMM_NULL, hosts = MPI_COMM_NULL;
  int rank_on_host = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &on_host);
  MPI_Comm_rank(on_host, &rank_on_host);
  MPI_Comm_split(MPI_COMM_WORLD, rank_on_host == 0 ? 0 : MPI_UNDEFINED, rank, &hosts);
  std::string text;
  if (hosts != MPI_COMM_NULL) {
    constexpr int kNamed = 16;
    int count = 0;
    MPI_Comm_size(hosts, &count);
    std::vector<char> names(static_cast<std::size_t>(rank == 0 ? count : 0) * sizeof(name));
    MPI_Gather(name, sizeof(name), MPI_CHAR, names.data(), sizeof(name), MPI_CHAR, 0, hosts);
    for (int i = 0; rank == 0 && i < std::min(count, kNamed); ++i)
      text +=
          (i == 0 ? "" : ", ") + std::string(&names[static_cast<std::size_t>(i) * sizeof(name)]);
    if (count > kNamed) text += ", ... (" + std::to_string(count) + ")";
    MPI_Comm_free(&hosts);
  }
  MPI_Comm_free(&on_host);
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  MPI_Get_library_version(version.data(), &length);
  std::string mpi(version.data());
  mpi.resize(std::min(mpi.find('\n'), mpi.size()));
  std::ranges::replace_if(
      mpi, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return message(ranks, " ranks on ", library.job.topology.shape(), ", hosts ", text, "; ", mpi,
                 "; torc ", kVersion,
                 library.hosts.oversubscribed ? "; ranks outnumber cores" : "");
}

/// The boxes of one sub-torus of the partition, side by side: each rank is in one.
class Boxes {
 public:
  /// Collective over MPI_COMM_WORLD. `comm` stays MPI_COMM_NULL, and `geometry` empty, on ranks
  /// whose box the library does not know, as for a dead node.
  Status make(torc_library& library, const LibrarySubTorus& sub_torus) {
    const Topology& partition = library.job.topology;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const Coordinates at = partition.coordinatesOfSite(library.job.siteOf(rank));
    int color = 0;
    for (std::uint32_t axis = 0; axis < partition.axis_count; ++axis) {
      const auto extent = static_cast<std::int32_t>(sub_torus.extents[axis]);
      const auto size = static_cast<std::int32_t>(partition.axes[axis].size);
      color = color * (size / extent + 1) + at[axis] / extent;
    }
    MPI_Comm box = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, color, rank, &box);
    if (library.recognise(box).ok()) {
      const Status status = apiStatus(torc_geometry_recognise(&library, box, &geometry_));
      comm_ = box;
      return status;
    }
    MPI_Comm_free(&box);
    return {};
  }
  Boxes() = default;
  Boxes(const Boxes&) = delete;
  Boxes& operator=(const Boxes&) = delete;
  ~Boxes() {
    for (auto& [file, schedule] : schedules_)
      (void)torc_schedule_free(schedule);
    (void)torc_geometry_destroy(geometry_);
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  MPI_Comm comm() const { return comm_; }
  bool isIn() const { return comm_ != MPI_COMM_NULL; }

  /// The schedule in `file`, which serves `collective` on `shape`. On ranks in no box there is
  /// none.
  StatusOr<torc_schedule*> load(std::uint32_t shape, Collective collective, std::uint32_t file) {
    if (!isIn()) return nullptr;
    for (const auto& [held, schedule] : schedules_) {
      if (held == file) return schedule;
    }
    LibraryEntry entry;
    entry.shape = shape;
    entry.collective = collective;
    entry.lowest = entry.highest = kNoSize + 1;
    entry.file = file;
    StatusOr<torc_schedule*> schedule = loadNow(*geometry_, entry);
    if (schedule.ok()) schedules_.emplace_back(file, *schedule);
    return schedule;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  torc_geometry* geometry_ = nullptr;
  std::vector<std::pair<std::uint32_t, torc_schedule*>> schedules_;
};

/// What is called, of what size, on which sub-torus.
struct Cell {
  std::uint32_t sub_torus = 0;
  std::uint32_t shape = 0;
  Collective collective = Collective::kAllreduce;
  std::uint64_t bytes = 0;
};

/// What takes part in one cell.
struct Contender {
  std::uint32_t file = kMpisOwn;
  torc_schedule* schedule = nullptr;
  std::vector<double> seconds;  // of iterations, each as long as its slowest rank
  bool is_out = false;

  double median() const {
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

class Tuner {
 public:
  Tuner(const RunOptions& options, torc_library& library)
      : options_(options),
        library_(library),
        index_(library.index),
        deadline_(MPI_Wtime() + 60 * options.minutes) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    options_.check = options_.compare = true;  // sizes that MPI's functions can take
  }

  /// Measures all that there is time for.
  Status measure() {
    cells_ = cells();
    if (cells_.empty()) {
      return {StatusCode::kInvalidArgument,
              "the library has nothing of these collectives and sizes for this job"};
    }
    printHeader();
    std::map<std::uint32_t, Boxes> boxes;  // by sub-torus
    for (const Cell& cell : cells_) {
      if (isOver()) break;
      const auto [entry, is_new] = boxes.try_emplace(cell.sub_torus);
      Status status;
      if (is_new) status = entry->second.make(library_, index_.sub_tori[cell.sub_torus]);
      if (status = agreed(status); !status.ok()) return status;
      if (status = measureCell(cell, entry->second); !status.ok()) return status;
      ++done_;
    }
    return {};
  }

  /// The index with what was measured.
  LibraryIndex tunedIndex(std::string job) {
    LibraryIndex index = index_;
    const auto what = [](const LibraryMeasurement& m) {
      return std::tuple(m.shape, m.collective, m.bytes, m.file);
    };
    std::ranges::sort(measurements_, {}, what);
    index.tuned.clear();
    for (std::span<const LibraryMeasurement> rest = measurements_; !rest.empty();) {
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
    index.measurements = std::move(measurements_);
    return index;
  }

  std::size_t done() const { return done_; }
  std::size_t all() const { return cells_.size(); }

 private:
  /// Each shape once, on its first sub-torus of the job's partition. Size after size, so that short
  /// time leaves out the largest ones of all.
  std::vector<Cell> cells() {
    std::vector<std::uint32_t> first;  // sub-tori
    std::set<std::uint32_t> shapes;
    for (std::uint32_t i = 0; i < index_.sub_tori.size(); ++i) {
      const LibrarySubTorus& sub_torus = index_.sub_tori[i];
      const bool is_of_job = sub_torus.partition == library_.job.partition;
      if (is_of_job && shapes.insert(sub_torus.shape).second) first.push_back(i);
    }
    std::vector<Cell> list;
    for (std::uint64_t bytes = options_.lowest_bytes; bytes <= options_.highest_bytes;
         bytes *= kFactor) {
      largest_ = bytes;
      for (const std::uint32_t sub_torus : first) {
        const std::uint32_t shape = index_.sub_tori[sub_torus].shape;
        for (const Collective collective : collectives()) {
          if (has(shape, collective, bytes)) list.push_back({sub_torus, shape, collective, bytes});
        }
      }
    }
    return list;
  }

  /// Whether the library serves it, and ranks have elements.
  bool has(std::uint32_t shape, Collective collective, std::uint64_t bytes) const {
    const bool is_of_pairs = rowOf(collective).blocks == BlockSpace::kPair;
    const std::uint64_t least = is_of_pairs ? index_.shapes[shape].topology.ranks() : 1;
    return bytes / options_.type.bytes >= least &&
           index_.findEntry(shape, collective, bytes) != nullptr;
  }

  std::vector<Collective> collectives() const {
    if (!options_.collectives.empty()) return options_.collectives;
    std::vector<Collective> all;
    for (int c = 0; c < kCollectiveCount; ++c)
      all.push_back(static_cast<Collective>(c));
    return all;
  }

  /// As rank 0 sees it.
  bool isOver() const {
    int over = MPI_Wtime() > deadline_ ? 1 : 0;
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return over != 0;
  }

  /// MPI's own, and each file that the library has for the cell.
  StatusOr<std::vector<Contender>> contenders(const Cell& cell, Boxes& boxes) {
    std::set<std::uint32_t> files;
    for (const LibraryEntry& entry : index_.entries) {
      if (entry.shape == cell.shape && entry.collective == cell.collective) {
        files.insert(entry.file);
      }
    }
    for (const LibraryCandidate& candidate : index_.candidates) {
      if (candidate.shape == cell.shape && candidate.collective == cell.collective) {
        files.insert(candidate.file);
      }
    }
    std::vector<Contender> list(1);
    for (const std::uint32_t file : files) {
      const StatusOr<torc_schedule*> schedule = boxes.load(cell.shape, cell.collective, file);
      if (Status status = agreed(schedule.ok() ? Status() : schedule.status()); !status.ok()) {
        return status;
      }
      Contender& contender = list.emplace_back();
      contender.file = file;
      contender.schedule = *schedule;
    }
    return list;
  }

  Status measureCell(const Cell& cell, Boxes& boxes) {
    StatusOr<std::vector<Contender>> found = contenders(cell, boxes);
    if (!found.ok()) return found.status();
    std::vector<Contender>& list = *found;
    std::optional<RunJob> job;
    if (boxes.isIn()) {
      job.emplace(options_, cell.collective, nullptr, cell.bytes, boxes.comm());
    }
    const double cell_seconds =
        std::max(0.0, deadline_ - MPI_Wtime()) / static_cast<double>(cells_.size() - done_);
    for (int round = 0; round < kRounds; ++round) {
      for (Contender& contender : list) {
        if (contender.is_out) continue;
        const double slice = cell_seconds / static_cast<double>(kRounds * list.size());
        Status status = agreed(call(job, contender, round == 0, slice));
        if (!status.ok()) {
          return status.annotated(message(rowOf(cell.collective).name, " of ", cell.bytes,
                                          " bytes on ", library_.shapes[cell.shape]));
        }
      }
      dropSlow(list, round == 0 ? kSlowAtFirst : kSlowLater);
    }
    for (const Contender& contender : list) {
      measurements_.push_back(
          {cell.shape, cell.collective, cell.bytes, contender.file, contender.median()});
    }
    print(cell, list);
    return {};
  }

  /// Calls a contender for `slice` seconds; at first it is checked, too.
  Status call(std::optional<RunJob>& job, Contender& contender, bool is_first, double slice) {
    const bool of_mpi = contender.file == kMpisOwn;
    const auto failed = [](const std::string& text) {
      return text.empty() ? Status() : Status(StatusCode::kInvalidArgument, text);
    };
    std::vector<double> seconds;
    Status status;
    if (job && !of_mpi) status = failed(job->use(contender.schedule));
    if (job && !of_mpi && is_first && status.ok()) status = failed(job->check());
    if (status = agreed(status); !status.ok()) return status;
    // One iteration tells how many there is time for; the first of all is not counted.
    for (int warm = is_first ? 0 : 1; warm < 2; ++warm) {
      seconds.clear();
      if (job) status = failed(job->iterate(of_mpi, seconds));
      if (status = agreed(status); !status.ok()) return status;
    }
    double one = seconds.empty() ? 0 : seconds.front();
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const double wanted =
        std::clamp<double>(slice / std::max(one, 1e-7), kFewestIterations, kMostIterations);
    int iterations = static_cast<int>(wanted);
    MPI_Bcast(&iterations, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 1; i < iterations && status.ok(); ++i) {
      if (job) status = failed(job->iterate(of_mpi, seconds));
    }
    if (status = agreed(status); !status.ok()) return status;
    seconds.resize(static_cast<std::size_t>(iterations), 0);
    MPI_Allreduce(MPI_IN_PLACE, seconds.data(), iterations, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    contender.seconds.insert(contender.seconds.end(), seconds.begin(), seconds.end());
    return {};
  }

  static void dropSlow(std::vector<Contender>& list, double factor) {
    double least = list.front().median();
    for (const Contender& contender : list)
      least = std::min(least, contender.median());
    for (Contender& contender : list)
      contender.is_out = contender.is_out || contender.median() > factor * least;
  }

  void printHeader() const {
    if (rank_ != 0) return;
    if (library_.hosts.oversubscribed) {
      std::printf("# ranks outnumber cores: times are those of waiting for one\n");
    }
    std::printf("# %zu sizes in at most %g minutes; us, medians of the slowest ranks\n",
                cells_.size(), options_.minutes);
    std::printf("%-14s %-14s %12s %12s %12s %12s  %s\n", "shape", "collective", "bytes",
                "library's", "fastest", "MPI's", "fastest is");
  }

  void print(const Cell& cell, const std::vector<Contender>& list) const {
    if (rank_ != 0) return;
    const std::uint32_t chosen = index_.findEntry(cell.shape, cell.collective, cell.bytes)->file;
    const Contender* fastest = &list.front();
    double chosen_s = 0;
    for (const Contender& contender : list) {
      if (contender.median() < fastest->median()) fastest = &contender;
      if (contender.file == chosen) chosen_s = contender.median();
    }
    std::printf("%-14s %-14s %12llu %12.2f %12.2f %12.2f  %s\n",
                library_.shapes[cell.shape].c_str(),
                std::string(rowOf(cell.collective).name).c_str(),
                static_cast<unsigned long long>(cell.bytes), 1e6 * chosen_s,
                1e6 * fastest->median(), 1e6 * list.front().median(),
                fastest->file == kMpisOwn ? "MPI's own" : index_.files[fastest->file].name.c_str());
    std::fflush(stdout);
  }

  RunOptions options_;
  torc_library& library_;
  const LibraryIndex& index_;
  const double deadline_;
  int rank_ = 0;
  std::uint64_t largest_ = 0;  // size that was asked for
  std::vector<Cell> cells_;
  std::size_t done_ = 0;
  std::vector<LibraryMeasurement> measurements_;
};

Status tuneLibrary(const RunOptions& options, torc_library& library) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::optional<TunedCopy> copy;
  Status status;
  if (rank == 0) {
    StatusOr<TunedCopy> made = TunedCopy::create(options.output);
    status = made.ok() ? Status() : made.status();
    if (made.ok()) copy.emplace(std::move(*made));
  }
  if (status = agreed(status); !status.ok()) return status;
  Tuner tuner(options, library);
  if (status = tuner.measure(); !status.ok()) return status;
  const LibraryIndex index = tuner.tunedIndex(describeJob(library));
  if (rank == 0) status = copy->publish(options.tune, index);
  if (status = agreed(status); !status.ok()) return status;
  if (rank == 0) {
    const auto mpis = std::ranges::count(index.tuned, kMpisOwn, &LibraryEntry::file);
    std::printf("%s: %zu of %zu sizes measured; %zu ranges, %lld of them MPI's own\n",
                options.output.c_str(), tuner.done(), tuner.all(), index.tuned.size(),
                static_cast<long long>(mpis));
  }
  return {};
}

}  // namespace

Status tune(const RunOptions& options) {
  torc_context* context = nullptr;
  torc_library* library = nullptr;
  torc_library_options where = {};
  where.directory = options.tune.c_str();
  if (!options.torus.empty()) where.torus = options.torus.c_str();
  if (!options.order.empty()) where.order = options.order.c_str();
  if (!options.mapping.empty()) where.mapping = options.mapping.c_str();
  Status status = apiStatus(torc_context_create(&context));
  if (status.ok()) {
    status = apiStatus(torc_library_open(context, MPI_COMM_WORLD, &where, &library));
  }
  if (status.ok()) status = tuneLibrary(options, *library);
  (void)torc_library_close(library);
  (void)torc_context_destroy(context);
  return status;
}

}  // namespace torc
