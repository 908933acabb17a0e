// The microbenchmark of dedicated ranks, for all ratios.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <mpi.h>

#include "runtime/dedicated/client.h"
#include "runtime/dedicated/nodes.h"
#include "runtime/dedicated/roles.h"
#include "runtime/dedicated/server.h"
#include "runtime/run/modes.h"
#include "runtime/run/world/job_world.h"
#include "runtime/run/world/page_vector.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/yielding_wait.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

using dedicated::Client;
using dedicated::OffloadedCall;
using dedicated::Roles;

// Seconds of computation between start and wait; doubled each time.
constexpr double kShortestWork = 1e-6, kLongestWork = 512e-6;
// A collective is hidden if its overhead is at most this factor above the lowest.
constexpr double kNearLowest = 1.1;

/// Starts a collective; its request is to be completed.
using Start = std::function<int(MPI_Request*)>;

/// Results of one method: seconds, means over the calls, of the slowest rank.
struct Overheads {
  double latency = 0;    // without computation: start and wait
  double lowest = 0;     // with computation: the least time of start and wait
  double hidden_by = 0;  // the least computation with that overhead
};

struct Row {
  std::size_t applications = 0, servers = 0;
  double blocking = 0;  // latency
  Overheads nonblocking, offloaded;
  bool is_right = true;  // the sums
};

void compute(double seconds) {
  for (const double until = MPI_Wtime() + seconds; MPI_Wtime() < until;) {
  }
}

double slowest(double seconds, MPI_Comm comm) {
  allreduce(&seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

/// Mean seconds of start and wait around `work` seconds of computation.
double overheadOf(const Start& start, double work, int iterations, int warmup, MPI_Comm comm) {
  double spent = 0;
  for (int i = -warmup; i < iterations; ++i) {
    if (i == 0) {
      spent = 0;
      barrier(comm);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    const double began = MPI_Wtime();
    const int code = start(&request);
    const double started = MPI_Wtime();
    if (work > 0) compute(work);
    const double worked = work > 0 ? MPI_Wtime() : started;
    waitYielding(code, &request);
    spent += (started - began) + (MPI_Wtime() - worked);
  }
  return slowest(spent / iterations, comm);
}

Overheads measure(const Start& start, const RunOptions& options, int iterations, MPI_Comm comm) {
  Overheads found;
  found.latency = overheadOf(start, 0, iterations, options.warmup, comm);
  std::vector<std::pair<double, double>> by_work;
  for (double work = kShortestWork; work <= kLongestWork; work *= 2)
    by_work.emplace_back(work, overheadOf(start, work, iterations, options.warmup, comm));
  found.lowest = std::ranges::min_element(by_work, {}, &std::pair<double, double>::second)->second;
  found.hidden_by = std::ranges::find_if(by_work, [&](const auto& each) {
                      return each.second <= kNearLowest * found.lowest;
                    })->first;
  return found;
}

/// The measurements of a rank of the program. All ranks of `own` call it.
Row measureRatio(Client& client, MPI_Comm own, const RunOptions& options, std::uint64_t bytes,
                 int iterations) {
  Row row;
  const int count = static_cast<int>(bytes / sizeof(double));
  PageVector<double> in(static_cast<std::size_t>(count), commRank(own) + 1), out(in.size());
  OffloadedCall sum;
  sum.bytes = sum.data_bytes = in.size() * sizeof(double);
  sum.data = in.data();
  sum.has_result = true;
  sum.result = out.data();
  sum.result_count = static_cast<int>(sum.bytes);
  sum.type = PMPI_Type_c2f(MPI_DOUBLE);
  sum.op = PMPI_Op_c2f(MPI_SUM);
  const Start offloaded = [&](MPI_Request* request) {
    return client.start(client.world(), sum, request);
  };
  const Start nonblocking = [&](MPI_Request* request) {
    return MPI_Iallreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, own, request);
  };
  const Start blocking = [&](MPI_Request*) {
    return MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, own);
  };
  row.blocking = overheadOf(blocking, 0, iterations, options.warmup, own);
  row.nonblocking = measure(nonblocking, options, iterations, own);
  out.assign(in.size(), 0);
  row.offloaded = measure(offloaded, options, iterations, own);
  const auto ranks = static_cast<double>(commSize(own));
  row.is_right =
      std::ranges::all_of(out, [&](double each) { return each == ranks * (ranks + 1) / 2; });
  return row;
}

/// This rank's part of one ratio, for which the job is split; a dedicated rank returns when the
/// others, which it serves, have measured.
Row runRatio(const Roles& roles, const RunOptions& options, std::uint64_t bytes, int iterations,
             bool is_crowded) {
  Row row;
  const int rank = commRank(MPI_COMM_WORLD);
  const auto found = std::ranges::find(roles.servers, rank);
  const bool is_server = found != roles.servers.end();
  const auto index = static_cast<int>(found - roles.servers.begin());
  dedicated::Wire wire{MPI_COMM_NULL, roles};
  MPI_Comm own = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &wire.comm);
  // By its MPI name: a preloaded torc must know the communicator, as in a job that stays split.
  MPI_Comm_split(MPI_COMM_WORLD, is_server ? 1 : 0, is_server ? index : rank, &own);
  if (is_server) {
    dedicated::Server server(wire, index, own, dedicated::ShortSums::kExchanged, is_crowded);
    if (const Status status = server.run(); !status.ok()) {
      // The others wait for this rank.
      std::fprintf(stderr, "torc-run: %s\n", status.message().c_str());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  } else {
    Client client(wire, commRank(own));
    row = measureRatio(client, own, options, bytes, iterations);
    client.end();
  }
  row.applications = roles.applications.size();
  row.servers = roles.servers.size();
  MPI_Comm_free(&own);
  PMPI_Comm_free(&wire.comm);
  return row;
}

double micro(double seconds) {
  return seconds * 1e6;
}

void printHeader(std::size_t ranks, std::size_t nodes, bool is_crowded) {
  std::printf(
      "# %zu ranks on %zu %s; sums of doubles among those that are not dedicated; us, the "
      "mean of the slowest rank\n",
      ranks, nodes, nodes == 1 ? "node" : "nodes");
  if (is_crowded) std::printf("# there are more ranks than cores: times say little\n");
  std::printf(
      "# latency: alone. overhead: of start and wait, as low as computation in between makes "
      "it; by: from so much of that on\n");
  std::printf("#%7s %7s %6s %9s | %8s | %8s %8s %5s | %8s %8s %5s\n", "bytes", "ratio", "program",
              "dedicated", "blocking", "nonblock", "overhead", "by", "offload", "overhead", "by");
}

void printRow(std::uint64_t bytes, const std::string& ratio, const Row& row) {
  std::printf("%8llu %7s %7zu %9zu | %8.2f | %8.2f %8.2f %5.0f | %8.2f %8.2f %5.0f\n",
              static_cast<unsigned long long>(bytes), ratio.c_str(), row.applications, row.servers,
              micro(row.blocking), micro(row.nonblocking.latency), micro(row.nonblocking.lowest),
              micro(row.nonblocking.hidden_by), micro(row.offloaded.latency),
              micro(row.offloaded.lowest), micro(row.offloaded.hidden_by));
  std::fflush(stdout);
}

/// The paper's conditions, for the ratio with the lowest latency, with the gain measured here
/// instead of its 30 %.
void printBest(std::uint64_t bytes, const std::vector<std::pair<std::string, Row>>& rows) {
  const auto& [ratio, best] = *std::ranges::min_element(
      rows, {}, [](const auto& row) { return row.second.offloaded.latency; });
  const double share = static_cast<double>(best.servers) / static_cast<double>(best.applications);
  const double gain = 1 - best.offloaded.latency / best.blocking;
  std::printf("# %llu bytes: the lowest latency with %s: %+.0f %% against blocking\n",
              static_cast<unsigned long long>(bytes), ratio.c_str(), -gain * 100);
  std::printf(
      "#   pays where collectives that overlap take more than %.3g of the time of "
      "computation\n",
      share);
  if (gain > 0) {
    std::printf("#   and those that do not, more than %.3g of it\n", share / gain);
  } else {
    std::printf("#   and never where they do not\n");
  }
}

}  // namespace

Status sweepDedicated(const RunOptions& options) {
  const StatusOr<std::vector<int>> nodes = dedicated::findNodes();
  if (!nodes.ok()) return nodes.status();
  const std::size_t ranks = nodes->size();
  if (ranks < 3) {
    return {StatusCode::kInvalidArgument,
            "--dedicated-sweep: needs three ranks at least: one that is dedicated, and two"};
  }
  const int rank = commRank(MPI_COMM_WORLD);
  const bool is_crowded = dedicated::isCrowded(*nodes);
  if (rank == 0) {
    printHeader(ranks, std::set<int>(nodes->begin(), nodes->end()).size(), is_crowded);
  }
  const int iterations = options.iterations > 0 ? static_cast<int>(options.iterations) : 200;
  bool all_right = true;
  for (const std::uint64_t bytes : runSizes(options)) {
    std::vector<std::pair<std::string, Row>> rows;
    std::size_t last = ranks;
    for (std::uint32_t ratio = 1; ratio < 2 * ranks; ratio *= 2) {
      // After the last power of two: one rank for all others.
      const DedicatedRanks wanted = {
          DedicatedRanks::Kind::kNumber,
          std::max<std::uint32_t>(1, static_cast<std::uint32_t>(ranks / (ratio + 1))),
          {}};
      if (wanted.number == last || wanted.number + 2 > ranks) continue;
      last = wanted.number;
      const StatusOr<Roles> roles = dedicated::assignRoles(wanted, *nodes);
      if (!roles.ok()) return roles.status();
      const std::string name = message("1:", (ranks - wanted.number) / wanted.number);
      Row row = runRatio(*roles, options, bytes, iterations, is_crowded);
      // Rank 0 belongs to the program, unless ranks have a node each and all nodes are dedicated.
      MPI_Bcast(&row, sizeof(Row), MPI_BYTE, roles->applications.front(), MPI_COMM_WORLD);
      all_right = all_right && row.is_right;
      rows.emplace_back(name, row);
      if (rank == 0) printRow(bytes, name, row);
    }
    if (rank == 0) printBest(bytes, rows);
  }
  if (!all_right) return {StatusCode::kTransport, "--dedicated-sweep: a sum is wrong"};
  return {};
}

}  // namespace torc::runtime
