// Measures the cost of an offloaded sum of 8 bytes for the calling rank, compared with MPI's own
// messages: one rank of a program, one dedicated rank, each on a core of its own.
//
//   bazel build -c opt //bench:dedicated_overhead
//   mpiexec.hydra -n 2 bazel-bin/bench/dedicated_overhead
//
// It measures start and wait around 20 us of computation, during which the result arrives: with the
// client of dedicated ranks, and with MPI_Irecv, MPI_Isend and two MPI_Wait to a rank that sends as
// much back at once. The two alternate; medians of 20 times 2000 calls.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

#include <mpi.h>

#include "runtime/dedicated/client.h"
#include "runtime/dedicated/server.h"

namespace torc::runtime {
namespace {

using dedicated::Client;
using dedicated::OffloadedCall;
using dedicated::RepeatRequest;
using dedicated::Server;
using dedicated::Wire;

constexpr int kTurns = 20, kCalls = 2000;
constexpr double kWork = 20e-6;
constexpr int kMessageBytes = sizeof(RepeatRequest) + sizeof(double), kResultBytes = sizeof(double);

/// Seconds of start and wait, without the computation in between.
template <typename Start, typename Wait>
void measure(std::vector<double>& seconds, const Start& start, const Wait& wait) {
  for (int i = 0; i < kCalls; ++i) {
    const double began = MPI_Wtime();
    start();
    const double started = MPI_Wtime();
    while (MPI_Wtime() < started + kWork) {
    }
    const double worked = MPI_Wtime();
    wait();
    seconds.push_back(MPI_Wtime() - worked + started - began);
  }
}

double median(std::vector<double> seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

void answer() {
  std::vector<std::byte> in(kMessageBytes), out(kResultBytes);
  for (int i = 0; i < kCalls; ++i) {
    MPI_Recv(in.data(), kMessageBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out.data(), kResultBytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
}

void run(int rank) {
  Wire wire{MPI_COMM_NULL, {{1}, {0}, {0}, {0}}};
  std::vector<double> by_client, by_mpi;
  for (int turn = 0; turn < kTurns; ++turn) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &wire.comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
    if (rank == 1) {
      answer();
      if (!Server(wire, 0, own, dedicated::ShortSums::kExchanged, false).run().ok()) {
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    } else {
      std::vector<std::byte> out(kMessageBytes), in(kResultBytes);
      MPI_Request requests[2];
      measure(
          by_mpi,
          [&] {
            MPI_Irecv(in.data(), kResultBytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(out.data(), kMessageBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[1]);
          },
          [&] {
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
          });
      Client client(wire, 0);
      double value = 1, sum = 0;
      OffloadedCall call;
      call.bytes = call.data_bytes = sizeof(double);
      call.data = &value;
      call.has_result = true;
      call.result = &sum;
      call.result_count = sizeof(double);
      call.type = PMPI_Type_c2f(MPI_DOUBLE);
      call.op = PMPI_Op_c2f(MPI_SUM);
      MPI_Request request = MPI_REQUEST_NULL;
      measure(
          by_client, [&] { client.start(client.world(), call, &request); },
          [&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
      if (sum != 1) std::printf("the sum is wrong\n");
      client.end();
    }
    MPI_Comm_free(&own);
    MPI_Comm_free(&wire.comm);
  }
  if (rank == 0) {
    std::printf(
        "us of start and wait: dedicated %.3f, MPI's own send and receive %.3f, more %.3f\n",
        1e6 * median(by_client), 1e6 * median(by_mpi), 1e6 * (median(by_client) - median(by_mpi)));
  }
}

}  // namespace
}  // namespace torc::runtime

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  torc::runtime::run(rank);
  MPI_Finalize();
}
