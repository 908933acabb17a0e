// 2.5D SUMMA and LU of linalg/ on a simulated torus: SMPI's compiler builds this file with the
// runtime (bench/smpi/build.sh), and bench/smpi/dense.sh runs it.
//
//   dense gemm|cannon|lu mpi|LIBRARY N ROWSxCOLUMNSxLAYERS BLOCK FLOPRATE
//
// Multiplies or factors an N x N matrix. Its broadcasts, sums, gathers and exchanges on lines of
// the grid use MPI, or torc's schedules of LIBRARY; tournaments use MPI. Local work takes the time
// of FLOPRATE (flop/s), and is also executed: the result is checked. Rank 0 prints
//
//   seconds  compute  communicate  idle  words  sent  messages
//
// in all, and per process the parts that are hardest to hide: the maximal time of local work and of
// messages, the mean wait for others. Then the words (elements) that collectives of these sizes
// move at a process, as counted: the data that a multicast or a gather brings it and that it
// contributes to a sum or an exchange. Last, the words that torc's schedules really sent, with the
// number of messages; `-` for MPI's own. The column seconds comes from an ordinary run, the others
// from one with a barrier before each collective, as the paper extracts synchronisation (section
// 3.2.2).
//
// For Cannon's algorithm, whose messages within layers go from neighbour to neighbour by MPI, words
// are those of linalg/multiply/cannon.h.
//
// SMPI's selectors have no nonblocking broadcast: all broadcasts are blocking here. A collective is
// made before it is measured, as in a job that repeats it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <mpi.h>

#include "bench/smpi/ranks.h"
#include "linalg/run/random_matrix.h"
#include "runtime/api/torc.h"

namespace torc::judge {

void broadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);
void reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm);
void allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
void reduceScatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm);
void allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
               const int* places, MPI_Datatype type, MPI_Comm comm);
void alltoall(const void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type,
              void* out, const int* out_counts, const int* out_places, MPI_Datatype out_type,
              MPI_Comm comm);
void compute(double flops);

inline int startBroadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
                          MPI_Request* request) {
  broadcast(data, count, type, root, comm);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

}  // namespace torc::judge

// linalg/ unchanged, with these in place of MPI's functions.
#define MPI_Bcast torc::judge::broadcast
#define MPI_Ibcast torc::judge::startBroadcast
#define MPI_Reduce torc::judge::reduce
#define TORC_LINALG_FLOPS(count) torc::judge::compute(count)
#include "linalg/grid/grid_agreement.cc"
#include "linalg/grid/layout.cc"
#include "linalg/grid/process_grid.cc"
#include "linalg/grid/torus_place.cc"
#define MPI_Allreduce torc::judge::allreduce
#define MPI_Reduce_scatter torc::judge::reduceScatter
#define MPI_Allgatherv torc::judge::allgather
#define MPI_Alltoallv torc::judge::alltoall
#include "linalg/lu/factorization.cc"
#include "linalg/lu/layer_shares.cc"
#include "linalg/lu/lu_shape.cc"
#include "linalg/lu/panel_factorization.cc"
#include "linalg/lu/row_exchange.cc"
#include "linalg/lu/tournament.cc"
#include "linalg/multiply/cannon.cc"
#include "linalg/multiply/summa.cc"
#undef MPI_Bcast
#undef MPI_Ibcast
#undef MPI_Reduce
#undef MPI_Allreduce
#undef MPI_Reduce_scatter
#undef MPI_Allgatherv
#undef MPI_Alltoallv

// Messages of torc's schedules: the linker redirects the runtime's calls here.
extern "C" {
int __real_PMPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int __real_PMPI_Issend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
}

namespace torc::judge {
namespace {

constexpr double kHostFlops = 3.4e9;  // of the simulated hosts, which converts flops to time

[[noreturn]] void quit(const std::string& message) {
  std::fprintf(stderr, "dense: %s\n", message.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void require(int result, const char* what) {
  if (result != TORC_OK) quit(std::string(what) + ": " + torc_error_message());
}

/// A process's share of a run.
struct Counts {
  double compute = 0, communicate = 0, idle = 0;  // seconds
  double words = 0;                               // bytes, as counted
  double sent = 0, messages = 0;                  // bytes
};

/// Collectives on lines, by MPI or by torc, with their costs.
class Lines {
 public:
  void open(const std::string& library) {
    require(torc_context_create(&context_), "a context");
    const torc_library_options options = {library.c_str(), nullptr, nullptr, nullptr, nullptr, 0};
    require(torc_library_open(context_, MPI_COMM_WORLD, &options, &library_), library.c_str());
  }

  /// Key of a communicator's collective: kind, bytes of an element, root, and counts of elements.
  using Key = std::tuple<MPI_Comm, int, int, int, std::vector<std::int64_t>>;

  struct Made {
    std::vector<char> buffer, result;
    torc_collective* collective = nullptr;
  };

  /// Runs a collective: MPI's, or torc's on buffers of its own, as a persistent collective has
  /// fixed ones. `in_bytes` of `in` and `out_bytes` of `out` are copied to and from them.
  template <typename Make, typename Mpi>
  void run(const Key& key, const torc_call& call, const void* in, std::int64_t in_bytes, void* out,
           std::int64_t out_bytes, double words, Make&& make, Mpi&& mpi) {
    const MPI_Comm comm = std::get<0>(key);
    if (library_ == nullptr) {
      time(comm, words, mpi);
      return;
    }
    Made& made = made_[key];
    if (made.collective == nullptr) {
      torc_geometry*& geometry = geometries_[comm];
      if (geometry == nullptr)
        require(torc_geometry_recognise(library_, comm, &geometry), "a line of the grid");
      torc_schedule* schedule = nullptr;
      require(torc_library_load(geometry, &call, &schedule), "a schedule");
      made.buffer.resize(static_cast<std::size_t>(in_bytes + 1));
      made.result.resize(static_cast<std::size_t>(out_bytes + 1));
      require(make(schedule, made), "a collective");
    }
    std::memcpy(made.buffer.data(), in, static_cast<std::size_t>(in_bytes));
    time(comm, words, [&] {
      require(torc_collective_start(made.collective), "start");
      require(torc_collective_wait(made.collective), "wait");
    });
    const std::vector<char>& result = call.kind == TORC_BROADCAST ? made.buffer : made.result;
    std::memcpy(out, result.data(), static_cast<std::size_t>(out_bytes));
  }

  template <typename Call>
  void time(MPI_Comm comm, double words, Call&& call) {
    const double before = MPI_Wtime();
    if (barriers) MPI_Barrier(comm);
    const double begin = MPI_Wtime();
    call();
    counts.idle += begin - before;
    counts.communicate += MPI_Wtime() - begin;
    counts.words += words;
  }

  bool barriers = false;
  double flop_rate = 1;
  Counts counts;

 private:
  torc_context* context_ = nullptr;
  torc_library* library_ = nullptr;
  std::map<MPI_Comm, torc_geometry*> geometries_;
  std::map<Key, Made> made_;
};

// SMPI gives every rank its own.
Lines lines;

int elementOf(MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return size;
}

double bytesOf(int count, MPI_Datatype type) {
  return static_cast<double>(count) * elementOf(type);
}

/// Elements of each rank, contiguous as in linalg/.
struct Blocks {
  Blocks(const int* of, MPI_Comm comm) : counts(of, of + sizeOf(comm)) {
    for (const std::int64_t count : counts) {
      places.push_back(all);
      all += count;
    }
    own = counts[static_cast<std::size_t>(rankOf(comm))];
  }
  std::vector<std::int64_t> counts, places;
  std::int64_t all = 0, own = 0;
};

void noteSend(int count, MPI_Datatype type) {
  lines.counts.sent += bytesOf(count, type);
  ++lines.counts.messages;
}

}  // namespace

void compute(double flops) {
  const double begin = MPI_Wtime();
  smpi_execute_flops(flops / lines.flop_rate * kHostFlops);
  lines.counts.compute += MPI_Wtime() - begin;
}

void broadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (sizeOf(comm) == 1) return;
  const auto bytes = static_cast<std::int64_t>(bytesOf(count, type));
  lines.run(
      {comm, TORC_BROADCAST, elementOf(type), root, {count}},
      {TORC_BROADCAST, count, nullptr, type, MPI_OP_NULL}, data, bytes, data, bytes,
      rankOf(comm) == root ? 0 : bytesOf(count, type),
      [&](torc_schedule* schedule, Lines::Made& made) {
        return torc_broadcast_init(schedule, made.buffer.data(), count, type, root,
                                   &made.collective);
      },
      [&] { MPI_Bcast(data, count, type, root, comm); });
}

void reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm) {
  if (sizeOf(comm) == 1) return;
  const bool at_root = rankOf(comm) == root;
  const double words = at_root ? 0 : bytesOf(count, type);
  // The tournament's operation is user-defined: one element, reduced by MPI.
  if (op != MPI_SUM) {
    lines.time(comm, words, [&] { MPI_Reduce(in, out, count, type, op, root, comm); });
    return;
  }
  const auto bytes = static_cast<std::int64_t>(bytesOf(count, type));
  lines.run(
      {comm, TORC_REDUCE, elementOf(type), root, {count}}, {TORC_REDUCE, count, nullptr, type, op},
      in == MPI_IN_PLACE ? out : in, bytes, out, at_root ? bytes : 0, words,
      [&](torc_schedule* schedule, Lines::Made& made) {
        return torc_reduce_init(schedule, made.buffer.data(), made.result.data(), count, type, op,
                                root, &made.collective);
      },
      [&] { MPI_Reduce(in, out, count, type, op, root, comm); });
}

void allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int size = sizeOf(comm);
  if (size == 1) return;
  const double words = 2 * bytesOf(count, type) * (size - 1) / size;
  // The one over all processes checks that the factors are finite.
  if (op != MPI_SUM) {
    lines.time(comm, words, [&] { MPI_Allreduce(in, out, count, type, op, comm); });
    return;
  }
  const auto bytes = static_cast<std::int64_t>(bytesOf(count, type));
  lines.run(
      {comm, TORC_ALLREDUCE, elementOf(type), 0, {count}},
      {TORC_ALLREDUCE, count, nullptr, type, op}, in == MPI_IN_PLACE ? out : in, bytes, out, bytes,
      words,
      [&](torc_schedule* schedule, Lines::Made& made) {
        return torc_allreduce_init(schedule, made.buffer.data(), made.result.data(), count, type,
                                   op, &made.collective);
      },
      [&] { MPI_Allreduce(in, out, count, type, op, comm); });
}

void reduceScatter(const void* in, void* out, const int* counts, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm) {
  const Blocks blocks(counts, comm);
  const int element = elementOf(type);
  lines.run(
      {comm, TORC_REDUCE_SCATTER, element, 0, blocks.counts},
      {TORC_REDUCE_SCATTER, 0, blocks.counts.data(), type, op}, in, blocks.all * element, out,
      blocks.own * element, static_cast<double>((blocks.all - blocks.own) * element),
      [&](torc_schedule* schedule, Lines::Made& made) {
        return torc_reduce_scatter_init(schedule, made.buffer.data(), made.result.data(),
                                        blocks.counts.data(), type, op, &made.collective);
      },
      [&] { MPI_Reduce_scatter(in, out, counts, type, op, comm); });
}

void allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, const int* counts,
               const int* places, MPI_Datatype type, MPI_Comm comm) {
  const Blocks blocks(counts, comm);
  const int element = elementOf(type);
  lines.run(
      {comm, TORC_ALLGATHER, element, 0, blocks.counts},
      {TORC_ALLGATHER, 0, blocks.counts.data(), type, MPI_OP_NULL}, in, blocks.own * element, out,
      blocks.all * element, static_cast<double>((blocks.all - blocks.own) * element),
      [&](torc_schedule* schedule, Lines::Made& made) {
        return torc_allgatherv_init(schedule, made.buffer.data(), in_count, in_type,
                                    made.result.data(), blocks.counts.data(), blocks.places.data(),
                                    type, &made.collective);
      },
      [&] { MPI_Allgatherv(in, in_count, in_type, out, counts, places, type, comm); });
}

void alltoall(const void* in, const int* in_counts, const int* in_places, MPI_Datatype in_type,
              void* out, const int* out_counts, const int* out_places, MPI_Datatype out_type,
              MPI_Comm comm) {
  const Blocks to(in_counts, comm), from(out_counts, comm);
  const int element = elementOf(in_type);
  std::vector<std::int64_t> both = to.counts;
  both.insert(both.end(), from.counts.begin(), from.counts.end());
  lines.run(
      {comm, TORC_ALLTOALL, element, 0, both},
      {TORC_ALLTOALL, 0, from.counts.data(), in_type, MPI_OP_NULL}, in, to.all * element, out,
      from.all * element,
      static_cast<double>(std::max(to.all - to.own, from.all - from.own) * element),
      [&](torc_schedule* schedule, Lines::Made& made) {
        return torc_alltoallv_init(schedule, made.buffer.data(), to.counts.data(), to.places.data(),
                                   in_type, made.result.data(), from.counts.data(),
                                   from.places.data(), out_type, &made.collective);
      },
      [&] {
        MPI_Alltoallv(in, in_counts, in_places, in_type, out, out_counts, out_places, out_type,
                      comm);
      });
}

namespace {

using namespace torc::linalg;

class Job {
 public:
  Job(std::int64_t n, int rows, int columns, int layers, std::int64_t block)
      : n_(n),
        matrix_{n, n, block, block},
        grid_(MPI_COMM_WORLD, {rows, columns, layers}, GridOrder::kByRank) {}

  /// One multiplication; returns whether a sample of C is right.
  bool multiply(bool by_cannon) {
    std::vector<double> a = random(1), b = random(2);
    std::vector<double> c(a.size());
    const GemmShape shape{matrix_, matrix_, matrix_, by_cannon ? TORC_LINALG_CANNON : 256};
    const auto run = [&](auto multiplication, bool barriers) {
      multiplication.allocate();
      begin();
      Messages messages(barriers);
      multiplication.run(messages, Progress{});
      end();
      return messages;
    };
    if (by_cannon) {
      const Messages messages =
          run(Cannon<double>(grid_, shape, 1, local(a), local(b), 0, local(c)), lines.barriers);
      lines.counts.communicate = messages.communicate();
      lines.counts.idle = messages.idle();
      lines.counts.words =
          cannonWords(grid_.rows, grid_.columns, grid_.layers, shape) * sizeof(double);
    } else {
      run(Summa<double>(grid_, shape, 1, local(a), local(b), 0, local(c)), false);
    }
    bool right = true;
    if (grid_.layer > 0) return right;
    for (std::size_t sample = 0; sample < 16 && !c.empty(); ++sample) {
      const std::size_t at = sample * (c.size() - 1) / 15;
      const std::int64_t i = globalRow(at), j = globalColumn(at);
      double sum = 0;
      for (std::int64_t k = 0; k < n_; ++k)
        sum += randomElement(i, k, 1) * randomElement(k, j, 2);
      right = right && std::abs(sum - c[at]) <= 1e-13 * static_cast<double>(n_);
    }
    return right;
  }

  /// One factorization of a random matrix; returns whether sampled elements of the factors match
  /// the exchanged rows: those of the first column, in which L U is one product.
  bool factor() {
    std::vector<double> a = random(1);
    Factorization<double> lu(grid_, LuShape{matrix_, true, 256}, local(a));
    lu.allocate();
    begin();
    Messages messages(false);
    if (lu.run(messages, Progress{}) >= 0) quit("a pivot is zero");
    end();
    std::vector<std::int64_t> rows(static_cast<std::size_t>(n_));
    for (std::int64_t i = 0; i < n_; ++i)
      rows[static_cast<std::size_t>(i)] = i;
    for (std::int64_t i = 0; i < n_; ++i)
      std::swap(rows[static_cast<std::size_t>(i)],
                rows[static_cast<std::size_t>(lu.exchanges()[static_cast<std::size_t>(i)])]);
    if (grid_.layer > 0 || grid_.column > 0 || a.empty()) return true;
    const double pivot = randomElement(rows[0], 0, 1);
    bool right = true;
    for (std::int64_t i = 0; i < leading(); ++i) {
      const std::int64_t row = globalRow(static_cast<std::size_t>(i));
      const double original = randomElement(rows[static_cast<std::size_t>(row)], 0, 1);
      const double factor = a[static_cast<std::size_t>(i)];
      right = right && std::abs((row == 0 ? factor : factor * pivot) - original) < 1e-12;
    }
    return right;
  }

  double seconds() const { return seconds_; }

 private:
  std::int64_t leading() const {
    return std::max<std::int64_t>(1, rowsOf(matrix_, grid_.rows).count(grid_.row));
  }
  std::int64_t globalRow(std::size_t at) const {
    return rowsOf(matrix_, grid_.rows).global(grid_.row, static_cast<std::int64_t>(at) % leading());
  }
  std::int64_t globalColumn(std::size_t at) const {
    return columnsOf(matrix_, grid_.columns)
        .global(grid_.column, static_cast<std::int64_t>(at) / leading());
  }
  /// Layer 0's part of a matrix.
  std::vector<double> random(int number) const {
    std::vector<double> data;
    if (grid_.layer > 0) return data;
    data.resize(static_cast<std::size_t>(rowsOf(matrix_, grid_.rows).count(grid_.row) *
                                         columnsOf(matrix_, grid_.columns).count(grid_.column)));
    for (std::size_t at = 0; at < data.size(); ++at)
      data[at] = randomElement(globalRow(at), globalColumn(at), number);
    return data;
  }
  LocalMatrix<double> local(std::vector<double>& data) const {
    if (grid_.layer > 0) return {};
    return {data.data(), rowsOf(matrix_, grid_.rows).count(grid_.row),
            columnsOf(matrix_, grid_.columns).count(grid_.column), leading()};
  }
  void begin() {
    MPI_Barrier(MPI_COMM_WORLD);
    lines.counts = {};
    seconds_ = MPI_Wtime();
  }
  void end() {
    seconds_ = MPI_Wtime() - seconds_;
    MPI_Allreduce(MPI_IN_PLACE, &seconds_, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }

  const std::int64_t n_;
  const torc_linalg_matrix matrix_;
  ProcessGrid grid_;
  double seconds_ = 0;
};

int run(int argc, char** argv) try {
  int rows = 0, columns = 0, layers = 0;
  if (argc != 7 || std::sscanf(argv[4], "%dx%dx%d", &rows, &columns, &layers) != 3)
    quit("usage: dense gemm|cannon|lu mpi|LIBRARY N ROWSxCOLUMNSxLAYERS BLOCK FLOPRATE");
  const bool lu = std::strcmp(argv[1], "lu") == 0, torcs = std::strcmp(argv[2], "mpi") != 0;
  const bool cannon = std::strcmp(argv[1], "cannon") == 0;
  lines.flop_rate = std::atof(argv[6]);
  if (torcs) lines.open(argv[2]);
  Job job(std::atoll(argv[3]), rows, columns, layers, std::atoll(argv[5]));
  const auto once = [&] { return lu ? job.factor() : job.multiply(cannon); };
  int right = once() ? 1 : 0;  // makes the collectives
  right = once() && right != 0 ? 1 : 0;
  const double seconds = job.seconds();
  lines.barriers = true;
  once();
  Counts most = lines.counts;
  double mean_idle = lines.counts.idle / sizeOf(MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, sizeof most / sizeof(double), MPI_DOUBLE, MPI_MAX,
                MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &mean_idle, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (right == 0) quit("the result is wrong");
  if (rankOf(MPI_COMM_WORLD) == 0) {
    std::printf("%.9g %.9g %.9g %.9g %.0f ", seconds, most.compute, most.communicate, mean_idle,
                most.words / sizeof(double));
    if (torcs)
      std::printf("%.0f %.0f\n", most.sent / sizeof(double), most.messages);
    else
      std::printf("- -\n");
  }
  return 0;
} catch (const Failure& failure) {
  quit(failure.message);
}

}  // namespace
}  // namespace torc::judge

extern "C" {
int __wrap_PMPI_Isend(const void* data, int count, MPI_Datatype type, int peer, int tag,
                      MPI_Comm comm, MPI_Request* request) {
  torc::judge::noteSend(count, type);
  return __real_PMPI_Isend(data, count, type, peer, tag, comm, request);
}
int __wrap_PMPI_Issend(const void* data, int count, MPI_Datatype type, int peer, int tag,
                       MPI_Comm comm, MPI_Request* request) {
  torc::judge::noteSend(count, type);
  return __real_PMPI_Issend(data, count, type, peer, tag, comm, request);
}
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int result = torc::judge::run(argc, argv);
  MPI_Finalize();
  return result;
}
