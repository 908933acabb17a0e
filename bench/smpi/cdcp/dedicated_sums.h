// Dedicated sums: sums by torc's dedicated ranks, for which the job is split.
#ifndef TORC_BENCH_SMPI_CDCP_DEDICATED_SUMS_H_
#define TORC_BENCH_SMPI_CDCP_DEDICATED_SUMS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "bench/smpi/cdcp/sums.h"
#include "bench/smpi/ranks.h"
#include "runtime/dedicated/client.h"
#include "runtime/dedicated/roles.h"
#include "runtime/dedicated/server.h"

namespace torc::cdcp {

namespace dedicated = runtime::dedicated;

class DedicatedSums : public Sums {
 public:
  DedicatedSums(dedicated::Client& client, MPI_Comm comm) : Sums(comm), client_(client) {}
  void start(const double* in, double* out, int count) override {
    dedicated::OffloadedCall call;
    call.bytes = call.data_bytes = static_cast<std::size_t>(count) * sizeof(double);
    call.data = in;
    call.has_result = true;
    call.result = out;
    call.result_count = static_cast<int>(call.bytes);
    call.type = PMPI_Type_c2f(MPI_DOUBLE);
    call.op = PMPI_Op_c2f(MPI_SUM);
    client_.start(client_.world(), call, &request_);
  }

 private:
  dedicated::Client& client_;
};

/// Dedicates ranks of the job as TORC_DEDICATED=\=`wanted` does; the others call `program`. False:
/// the number is not possible. A failure of a dedicated rank ends the job.
inline bool withDedicated(const std::string& wanted, const std::function<void(Sums&)>& program) {
  constexpr int kCores = 4;  // consecutive ranks of a node
  // MPI could find the nodes, but simulating its allgather takes longer than the rest.
  std::vector<int> nodes(static_cast<std::size_t>(sizeOf(MPI_COMM_WORLD)));
  for (std::size_t i = 0; i < nodes.size(); ++i)
    nodes[i] = static_cast<int>(i) / kCores;
  const std::optional<DedicatedRanks> ranks = parseDedicatedRanks('=' + wanted);
  if (!ranks) return false;
  const auto roles = dedicated::assignRoles(*ranks, nodes);
  if (!roles.ok()) return false;
  const int rank = rankOf(MPI_COMM_WORLD);
  const auto found = std::ranges::find(roles->servers, rank);
  const bool is_server = found != roles->servers.end();
  const auto index = static_cast<int>(found - roles->servers.begin());
  dedicated::Wire wire{MPI_COMM_NULL, *roles};
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &wire.comm);
  MPI_Comm_split(MPI_COMM_WORLD, is_server, is_server ? index : rank, &own);
  if (is_server) {
    dedicated::Server server(wire, index, own, dedicated::ShortSums::kExchanged, false);
    if (Status status = server.run(); !status.ok()) {
      std::fprintf(stderr, "cdcp: dedicated rank %d: %s\n", index, status.message().c_str());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  } else {
    dedicated::Client client(wire, rankOf(own));
    DedicatedSums sums(client, own);
    program(sums);
    client.end();
  }
  MPI_Comm_free(&own);
  MPI_Comm_free(&wire.comm);
  return true;
}

}  // namespace torc::cdcp

#endif  // TORC_BENCH_SMPI_CDCP_DEDICATED_SUMS_H_
