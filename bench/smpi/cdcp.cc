// The microbenchmarks and the solver of Sancho, Kerbyson and Barker, on a simulated machine: SMPI's
// compiler builds this file with the runtime (bench/smpi/build.sh), and studies/papers/cdcp.sh runs
// it.
//
//   cdcp allreduce WAY DEDICATED ITERATIONS BYTES,... MICROSECONDS,...
//   cdcp solver WAY DEDICATED ITERATIONS FLOPS
//
// WAY is how ranks of the program do an allreduce: `blocking` and `nonblocking` are MPI's,
// `polled` is one that moves on inside calls only (below), `dedicated` is torc's. DEDICATED ranks
// of the job are, spread as TORC_DEDICATED=\=N spreads them; 0 but for `dedicated`.
//
// allreduce prints a row for each size and each time of computation between start and wait (Figure
// 5 of the paper): way, ranks of the program, dedicated ranks, bytes, microseconds of computation,
// microseconds that start and wait took beside it, mean over iterations and ranks. solver prints
// way, ranks, dedicated ranks, microseconds of ten iterations, and the residual, which all ways
// share.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "runtime/dedicated/client.h"
#include "runtime/dedicated/roles.h"
#include "runtime/dedicated/server.h"

namespace torc::runtime {
namespace {

using dedicated::Client;
using dedicated::OffloadedCall;
using dedicated::Server;
using dedicated::Wire;

// Of the simulated hosts, by which flops become time.
constexpr double kHostFlops = 2e9;
// Ranks of a node, which follow each other.
constexpr int kCores = 4;
// `polled` looks so often while the program computes, and a look takes so long: estimates.
constexpr double kPollInterval = 4e-6, kPollTime = 0.2e-6;

void compute(double seconds) {
  if (seconds > 0) smpi_execute_flops(seconds * kHostFlops);
}

/// Sums of doubles over the ranks of the program; one is under way at a time.
class Sums {
 public:
  virtual ~Sums() = default;
  virtual void start(double* in, double* out, int count) = 0;
  virtual void wait() = 0;
  /// Computes while the sum is under way.
  virtual void work(double seconds) { compute(seconds); }
};

class BlockingSums : public Sums {
 public:
  explicit BlockingSums(MPI_Comm comm) : comm_(comm) {}
  void start(double* in, double* out, int count) override {
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm_);
  }
  void wait() override {}

 private:
  MPI_Comm comm_;
};

class NonblockingSums : public Sums {
 public:
  explicit NonblockingSums(MPI_Comm comm) : comm_(comm) {}
  void start(double* in, double* out, int count) override {
    MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm_, &request_);
  }
  void wait() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

 private:
  MPI_Comm comm_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// As a library on top of MPI does it (Figure 2 of the paper): up and down a binomial tree, a round
/// at a time, and the next round begins only when the program calls.
class PolledSums : public Sums {
 public:
  explicit PolledSums(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
  }
  void start(double* in, double* out, int count) override {
    out_ = out;
    count_ = count;
    round_ = 0;
    came_.resize(static_cast<std::size_t>(count));
    std::copy_n(in, count, out);
    rounds_.clear();
    int bit = 1;
    for (; bit < size_; bit *= 2) {
      if (rank_ & bit) {
        rounds_.push_back({Step::kSend, rank_ - bit});
        rounds_.push_back({Step::kReceive, rank_ - bit});
        break;
      }
      if (rank_ + bit < size_) rounds_.push_back({Step::kAdd, rank_ + bit});
    }
    for (bit /= 2; bit > 0; bit /= 2) {
      if (rank_ + bit < size_) rounds_.push_back({Step::kSend, rank_ + bit});
    }
    begin();
  }
  void wait() override {
    while (round_ < rounds_.size()) {
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
      finish();
    }
  }
  void work(double seconds) override {
    while (seconds > 0) {
      const double next = std::min(seconds, kPollInterval);
      compute(next);
      seconds -= next;
      poll();
    }
  }

 private:
  struct Step {
    enum Kind { kSend, kReceive, kAdd } kind;
    int peer;
  };
  void begin() {
    if (round_ == rounds_.size()) return;
    const Step& step = rounds_[round_];
    if (step.kind == Step::kSend) {
      MPI_Isend(out_, count_, MPI_DOUBLE, step.peer, 0, comm_, &request_);
    } else {
      MPI_Irecv(step.kind == Step::kAdd ? came_.data() : out_, count_, MPI_DOUBLE, step.peer, 0,
                comm_, &request_);
    }
  }
  void finish() {
    if (rounds_[round_].kind == Step::kAdd) {
      for (int i = 0; i < count_; ++i)
        out_[i] += came_[static_cast<std::size_t>(i)];
    }
    ++round_;
    begin();
  }
  void poll() {
    compute(kPollTime);
    if (round_ == rounds_.size()) return;
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    if (done) finish();
  }

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1, count_ = 0;
  double* out_ = nullptr;
  std::vector<double> came_;
  std::vector<Step> rounds_;
  std::size_t round_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class DedicatedSums : public Sums {
 public:
  explicit DedicatedSums(Client& client) : client_(client) {}
  void start(double* in, double* out, int count) override {
    OffloadedCall call;
    call.bytes = call.data_bytes = static_cast<std::size_t>(count) * sizeof(double);
    call.data = in;
    call.has_result = true;
    call.result = out;
    call.result_count = static_cast<int>(call.bytes);
    call.type = MPI_DOUBLE;
    call.op = MPI_SUM;
    client_.start(client_.world(), call, &request_);
  }
  void wait() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

 private:
  Client& client_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// The job's ranks, split; `run` is called on those of the program. False: nonsense.
bool withSums(const std::string& way, int dedicated,
              const std::function<void(Sums&, MPI_Comm)>& run) {
  if (way != "dedicated") {
    if (dedicated != 0) return false;
    std::unique_ptr<Sums> sums;
    if (way == "blocking") sums = std::make_unique<BlockingSums>(MPI_COMM_WORLD);
    if (way == "nonblocking") sums = std::make_unique<NonblockingSums>(MPI_COMM_WORLD);
    if (way == "polled") sums = std::make_unique<PolledSums>(MPI_COMM_WORLD);
    if (sums == nullptr) return false;
    run(*sums, MPI_COMM_WORLD);
    return true;
  }
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // MPI would tell, but simulating its allgather takes longer than all else.
  std::vector<int> nodes(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i)
    nodes[static_cast<std::size_t>(i)] = i / kCores;
  const auto roles = dedicated::assignRoles(
      {DedicatedRanks::Kind::kNumber, static_cast<std::uint32_t>(dedicated), {}}, nodes);
  if (!roles.ok()) return false;
  const auto found = std::ranges::find(roles->servers, rank);
  const bool is_server = found != roles->servers.end();
  const auto index = static_cast<int>(found - roles->servers.begin());
  Wire wire{MPI_COMM_NULL, *roles};
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &wire.comm);
  MPI_Comm_split(MPI_COMM_WORLD, is_server, is_server ? index : rank, &own);
  if (is_server) {
    Server server(wire, index, own, dedicated::ShortSums::kExchanged, false);
    if (Status status = server.run(); !status.ok()) {
      std::fprintf(stderr, "cdcp: dedicated rank %d: %s\n", index, status.message().c_str());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  } else {
    int application = 0;
    MPI_Comm_rank(own, &application);
    Client client(wire, application);
    DedicatedSums sums(client);
    run(sums, own);
    client.end();
  }
  MPI_Comm_free(&own);
  MPI_Comm_free(&wire.comm);
  return true;
}

std::vector<double> numbers(const char* text) {
  std::vector<double> found;
  for (char* end = nullptr; *text != '\0'; text = *end == ',' ? end + 1 : end)
    found.push_back(std::strtod(text, &end));
  return found;
}

/// Mean over the ranks; on rank 0.
double meanOf(double value, MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  double sum = 0;
  MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  return sum / size;
}

void runAllreduce(Sums& sums, MPI_Comm comm, const std::string& way, int dedicated, int iterations,
                  const std::vector<double>& sizes, const std::vector<double>& works) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (const double bytes : sizes) {
    const auto count = static_cast<int>(bytes / sizeof(double));
    std::vector<double> in(static_cast<std::size_t>(count), rank + 1), out(in.size());
    for (const double work : works) {
      double spent = 0;
      // The first calls bring the ranks into their rhythm; then simulated time repeats itself.
      for (int i = -3; i < iterations; ++i) {
        const double began = MPI_Wtime();
        sums.start(in.data(), out.data(), count);
        if (work > 0) sums.work(work * 1e-6);
        sums.wait();
        if (i >= 0) spent += MPI_Wtime() - began - work * 1e-6;
      }
      const double sum = 0.5 * size * (size + 1);
      if (!std::ranges::all_of(out, [&](double each) { return each == sum; })) {
        std::fprintf(stderr, "cdcp: a sum is wrong\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
      const double mean = meanOf(spent / iterations, comm);
      if (rank == 0) {
        std::printf("%s,%d,%d,%.0f,%g,%.3f\n", way.c_str(), size, dedicated, bytes, work,
                    1e6 * mean);
        std::fflush(stdout);
      }
      MPI_Barrier(comm);
    }
  }
}

/// Conjugate gradients as in the barotropic phase of POP: a nine-point operator on a grid that is
/// cyclic in x, two sums and an exchange of ghost cells in every iteration, one of each more in
/// every tenth, which computes the residual anew. Each sum overlaps with what the paper says.
class Solver {
 public:
  Solver(Sums& sums, MPI_Comm comm, double flops) : sums_(sums), comm_(comm), flops_(flops) {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    // The blocks with the least points on the longest side.
    int columns = 0;
    for (int each = 1; each <= size; ++each) {
      if (size % each == 0 && kColumns >= each && kRows >= size / each &&
          (columns == 0 || cost(each, size) < cost(columns, size)))
        columns = each;
    }
    const int rows = size / columns;
    const int column = rank % columns, row = rank / columns;
    first_x_ = kColumns * column / columns;
    first_y_ = kRows * row / rows;
    width_ = kColumns * (column + 1) / columns - first_x_;
    height_ = kRows * (row + 1) / rows - first_y_;
    points_ = static_cast<double>((kColumns + columns - 1) / columns) * ((kRows + rows - 1) / rows);
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if ((dx == 0 && dy == 0) || row + dy < 0 || row + dy >= rows) continue;
        neighbours_.push_back({dx, dy, (row + dy) * columns + (column + dx + columns) % columns});
      }
    }
    for (std::vector<double>* field : {&b_, &x_, &r_, &s_, &q_})
      field->assign(static_cast<std::size_t>((width_ + 2) * (height_ + 2)), 0);
    forInside([&](std::size_t at, int x, int y) {
      b_[at] = std::sin(0.07 * (first_x_ + x)) * std::cos(0.05 * (first_y_ + y)) + 0.1;
    });
  }

  /// Returns the norm of the residual.
  double run(int iterations) {
    forInside([&](std::size_t at, int, int) { r_[at] = b_[at]; });
    exchange(r_);
    double before = 1, step = 0, residual = 0;
    for (int i = 1; i <= iterations; ++i) {
      double own = 0, all = 0;
      forInside([&](std::size_t at, int, int) { own += r_[at] * r_[at] / kMiddle; });
      work(3);
      sums_.start(&own, &all, 1);
      // The correction of the solution is that of the iteration before.
      if (i % 10 != 1) correct(step, true);
      sums_.wait();
      const double ratio = all / before;
      for (std::size_t at = 0; at < s_.size(); ++at)
        s_[at] = r_[at] / kMiddle + s_[at] * ratio;
      before = all;
      apply(s_, q_);
      own = 0;
      forInside([&](std::size_t at, int, int) { own += q_[at] * s_[at]; });
      work(3 + 17 + 2);
      sums_.start(&own, &all, 1);
      exchange(q_);
      sums_.wait();
      step = before / all;
      for (std::size_t at = 0; at < r_.size(); ++at)
        r_[at] -= step * q_[at];
      work(2);
      if (i % 10 != 0) continue;
      correct(step, false);
      apply(x_, r_);
      own = 0;
      forInside([&](std::size_t at, int, int) {
        r_[at] = b_[at] - r_[at];
        own += r_[at] * r_[at];
      });
      work(17 + 3);
      sums_.start(&own, &all, 1);
      exchange(r_);
      sums_.wait();
      residual = std::sqrt(all);
    }
    return residual;
  }

 private:
  // The grid of POP's problem x1.
  static constexpr int kColumns = 320, kRows = 384;
  static constexpr double kMiddle = 6.05, kBeside = 1, kAcross = 0.5;

  static int cost(int columns, int size) {
    return (kColumns + columns - 1) / columns + (kRows * columns + size - 1) / size;
  }
  std::size_t at(int x, int y) const {
    return static_cast<std::size_t>((y + 1) * (width_ + 2) + x + 1);
  }
  template <typename Body>
  void forInside(const Body& body) {
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x)
        body(at(x, y), x, y);
    }
  }
  /// Time for so many operations on each point of the largest block.
  void work(double operations) { compute(operations * points_ / flops_); }

  void correct(double step, bool overlaps) {
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] += step * s_[i];
    const double seconds = 2 * points_ / flops_;
    overlaps ? sums_.work(seconds) : compute(seconds);
  }

  void apply(const std::vector<double>& in, std::vector<double>& out) {
    const auto row = static_cast<std::size_t>(width_ + 2);
    forInside([&](std::size_t i, int, int) {
      out[i] = kMiddle * in[i] - kBeside * (in[i - 1] + in[i + 1] + in[i - row] + in[i + row]) -
               kAcross * (in[i - row - 1] + in[i - row + 1] + in[i + row - 1] + in[i + row + 1]);
    });
  }

  /// The cells of a block's edge on the side (dx, dy), `outside` or inside.
  template <typename Body>
  void forEdge(int dx, int dy, bool outside, const Body& body) {
    const auto range = [&](int side, int size) {
      if (side == 0) return std::pair(0, size);
      const int cell = side < 0 ? (outside ? -1 : 0) : (outside ? size : size - 1);
      return std::pair(cell, cell + 1);
    };
    const auto [left, right] = range(dx, width_);
    const auto [low, high] = range(dy, height_);
    for (int y = low; y < high; ++y) {
      for (int x = left; x < right; ++x)
        body(at(x, y));
    }
  }

  /// Ghost cells from all neighbours.
  void exchange(std::vector<double>& field) {
    std::vector<std::vector<double>> in(neighbours_.size()), out(neighbours_.size());
    std::vector<MPI_Request> requests(2 * neighbours_.size());
    const auto tag = [](int dx, int dy) { return 100 + 3 * (dy + 1) + dx + 1; };
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      const Neighbour& from = neighbours_[i];
      forEdge(from.dx, from.dy, true, [&](std::size_t) { in[i].push_back(0); });
      MPI_Irecv(in[i].data(), static_cast<int>(in[i].size()), MPI_DOUBLE, from.rank,
                tag(from.dx, from.dy), comm_, &requests[i]);
    }
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      const Neighbour& to = neighbours_[i];
      forEdge(to.dx, to.dy, false, [&](std::size_t cell) { out[i].push_back(field[cell]); });
      MPI_Isend(out[i].data(), static_cast<int>(out[i].size()), MPI_DOUBLE, to.rank,
                tag(-to.dx, -to.dy), comm_, &requests[neighbours_.size() + i]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      const double* next = in[i].data();
      forEdge(neighbours_[i].dx, neighbours_[i].dy, true,
              [&](std::size_t cell) { field[cell] = *next++; });
    }
  }

  struct Neighbour {
    int dx, dy, rank;
  };
  Sums& sums_;
  MPI_Comm comm_;
  double flops_;
  int first_x_ = 0, first_y_ = 0, width_ = 0, height_ = 0;
  double points_ = 0;
  std::vector<Neighbour> neighbours_;
  std::vector<double> b_, x_, r_, s_, q_;
};

void runSolver(Sums& sums, MPI_Comm comm, const std::string& way, int dedicated, int iterations,
               double flops) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  Solver solver(sums, comm, flops);
  // MPI sets itself up in the first sum.
  double in = 0, out = 0;
  sums.start(&in, &out, 1);
  sums.wait();
  MPI_Barrier(comm);
  const double began = MPI_Wtime();
  const double residual = solver.run(iterations);
  const double mean = meanOf((MPI_Wtime() - began) / iterations, comm);
  if (rank == 0) {
    std::printf("%s,%d,%d,%.3f,%.9g\n", way.c_str(), size, dedicated, 1e7 * mean, residual);
  }
}

int run(int count, char** arguments) {
  if (count < 2) return 2;
  const std::string what = arguments[1];
  if (count != (what == "allreduce" ? 7 : what == "solver" ? 6 : 0)) return 2;
  const std::string way = arguments[2];
  const int dedicated = std::atoi(arguments[3]), iterations = std::atoi(arguments[4]);
  const std::vector<double> first = numbers(arguments[5]);
  const std::vector<double> works = count > 6 ? numbers(arguments[6]) : std::vector<double>();
  const auto body = [&](Sums& sums, MPI_Comm comm) {
    if (what == "allreduce") {
      runAllreduce(sums, comm, way, dedicated, iterations, first, works);
    } else {
      runSolver(sums, comm, way, dedicated, iterations, first.at(0));
    }
  };
  return withSums(way, dedicated, body) ? 0 : 2;
}

}  // namespace
}  // namespace torc::runtime

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = torc::runtime::run(argc, argv);
  if (code != 0) std::fprintf(stderr, "cdcp: see the head of bench/smpi/cdcp.cc\n");
  MPI_Finalize();
  return code;
}
