// The microbenchmarks and the solver of Sancho, Kerbyson and Barker, on a simulated machine: SMPI's
// compiler builds this file with the runtime
// (bench/smpi/build.sh), and studies/papers/cdcp.sh runs it.
//
//   cdcp allreduce WAY DEDICATED ITERATIONS BYTES,... MICROSECONDS,...
//   cdcp late WAY DEDICATED ITERATIONS MICROSECONDS LATE,...
//   cdcp solver WAY DEDICATED ITERATIONS FLOPS
//
// WAY selects the program's allreduce: MPI's (`blocking` and `nonblocking`), one with progress only
// inside calls (`polled`), or torc's (`dedicated`). DEDICATED is the number of dedicated ranks of
// the job, placed as by TORC_DEDICATED=\=DEDICATED; 0 except for `dedicated`.
//
// allreduce prints a row for each size and each time of computation between start and wait (Figure
// 5 of the paper): way, ranks of the program, dedicated ranks, bytes, microseconds of computation,
// additional microseconds of start and wait, mean over iterations and ranks. late prints a row for
// each of LATE: way, ranks of the program, dedicated ranks, microseconds of computation between
// start and wait, LATE; additional microseconds of a sum of 8 bytes if each rank starts each sum up
// to LATE microseconds later. solver prints way, ranks, dedicated ranks, microseconds of ten
// iterations, and the residual, equal in all ways.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "bench/smpi/cdcp/dedicated_sums.h"
#include "bench/smpi/cdcp/solver.h"
#include "bench/smpi/cdcp/sums.h"
#include "bench/smpi/ranks.h"

namespace torc::cdcp {
namespace {

/// Calls `program` on the ranks of the program. False: the way is unknown, or does not support this
/// number of dedicated ranks.
bool withSums(const std::string& way, const std::string& dedicated,
              const std::function<void(Sums&)>& program) {
  if ((way == "dedicated") != (dedicated != "0")) return false;
  if (way == "dedicated") return withDedicated(dedicated, program);
  std::unique_ptr<Sums> sums;
  if (way == "blocking") sums = std::make_unique<BlockingSums>(MPI_COMM_WORLD);
  if (way == "nonblocking") sums = std::make_unique<NonblockingSums>(MPI_COMM_WORLD);
  if (way == "polled") sums = std::make_unique<PolledSums>(MPI_COMM_WORLD);
  if (sums != nullptr) program(*sums);
  return sums != nullptr;
}

std::vector<double> numbers(const char* text) {
  std::vector<double> found;
  for (char* end = nullptr; *text != '\0'; text = *end == ',' ? end + 1 : end)
    found.push_back(std::strtod(text, &end));
  return found;
}

/// Mean over the ranks; on rank 0.
double meanOf(double value, MPI_Comm comm) {
  double sum = 0;
  MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  return sum / sizeOf(comm);
}

/// Mean additional seconds of start and wait around `work` seconds of computation; on rank 0.
double overheadOf(Sums& sums, int count, double work, int iterations) {
  const int size = sizeOf(sums.comm());
  std::vector<double> in(static_cast<std::size_t>(count), rankOf(sums.comm()) + 1), out(in.size());
  double spent = 0;
  // The first calls bring the ranks into a steady rhythm; then simulated times repeat.
  for (int i = -3; i < iterations; ++i) {
    const double began = MPI_Wtime();
    sums.start(in.data(), out.data(), count);
    if (work > 0) sums.work(work);
    sums.wait();
    if (i >= 0) spent += MPI_Wtime() - began - work;
  }
  if (std::ranges::count(out, 0.5 * size * (size + 1)) != count) {
    std::fprintf(stderr, "cdcp: a sum is wrong\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return meanOf(spent / iterations, sums.comm());
}

/// `label`: begin of each row.
void runAllreduce(Sums& sums, const std::string& label, int iterations,
                  const std::vector<double>& sizes, const std::vector<double>& works) {
  for (const double bytes : sizes) {
    for (const double work : works) {
      const double mean =
          overheadOf(sums, static_cast<int>(bytes / sizeof(double)), work * 1e-6, iterations);
      if (rankOf(sums.comm()) == 0) {
        std::printf("%s,%.0f,%g,%.3f\n", label.c_str(), bytes, work, 1e6 * mean);
        std::fflush(stdout);
      }
      MPI_Barrier(sums.comm());
    }
  }
}

/// A number from 0 to 1, spread evenly, for each rank and call (the mixing of splitmix64).
double fraction(int rank, int call) {
  std::uint64_t bits = (static_cast<std::uint64_t>(rank) << 32) + static_cast<std::uint64_t>(call);
  bits = (bits + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return static_cast<double>((bits ^ bits >> 31) >> 11) * 0x1p-53;
}

/// Additional seconds of a sum of 8 bytes after a computation of up to `late` seconds, with `work`
/// seconds of overlapping computation: mean over calls and ranks, on rank 0.
double overheadOfLate(Sums& sums, double work, double late, int iterations) {
  double spent = 0, sum = 0;
  const double one = 1;
  for (int i = -3; i < iterations; ++i) {
    const double before = late * fraction(rankOf(sums.comm()), i + 3);
    const double began = MPI_Wtime();
    compute(before);
    sums.start(&one, &sum, 1);
    if (work > 0) sums.work(work);
    sums.wait();
    if (i >= 0) spent += MPI_Wtime() - began - before - work;
  }
  return meanOf(spent / iterations, sums.comm());
}

void runLate(Sums& sums, const std::string& label, int iterations, double work,
             const std::vector<double>& lates) {
  for (const double late : lates) {
    const double mean = overheadOfLate(sums, work * 1e-6, late * 1e-6, iterations);
    if (rankOf(sums.comm()) == 0) {
      std::printf("%s,%g,%g,%.3f\n", label.c_str(), work, late, 1e6 * mean);
      std::fflush(stdout);
    }
    MPI_Barrier(sums.comm());
  }
}

void runSolver(Sums& sums, const std::string& label, int iterations, double flops) {
  Solver solver(sums, flops);
  // MPI initialises itself in the first sum.
  double in = 0, out = 0;
  sums.start(&in, &out, 1);
  sums.wait();
  MPI_Barrier(sums.comm());
  const double began = MPI_Wtime();
  const double residual = solver.run(iterations);
  const double mean = meanOf((MPI_Wtime() - began) / iterations, sums.comm());
  if (rankOf(sums.comm()) == 0) std::printf("%s,%.3f,%.9g\n", label.c_str(), 1e7 * mean, residual);
}

int run(int count, char** arguments) {
  if (count < 2) return 2;
  const std::string what = arguments[1];
  if (count != (what == "allreduce" || what == "late" ? 7 : what == "solver" ? 6 : 0)) return 2;
  const std::string way = arguments[2], dedicated = arguments[3];
  const int iterations = std::atoi(arguments[4]);
  const std::vector<double> first = numbers(arguments[5]);
  const auto program = [&](Sums& sums) {
    const std::string label = way + ',' + std::to_string(sizeOf(sums.comm())) + ',' + dedicated;
    if (what == "allreduce") {
      runAllreduce(sums, label, iterations, first, numbers(arguments[6]));
    } else if (what == "late") {
      runLate(sums, label, iterations, first.at(0), numbers(arguments[6]));
    } else {
      runSolver(sums, label, iterations, first.at(0));
    }
  };
  return withSums(way, dedicated, program) ? 0 : 2;
}

}  // namespace
}  // namespace torc::cdcp

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = torc::cdcp::run(argc, argv);
  if (code != 0) std::fprintf(stderr, "cdcp: see the head of bench/smpi/cdcp/cdcp.cc\n");
  MPI_Finalize();
  return code;
}
