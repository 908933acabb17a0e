// Split trial: splits the job, runs the program, and ends the split.
#include "runtime/dedicated/split_trial.h"

#include <algorithm>

#include "runtime/dedicated/server.h"
#include "runtime/transport/mpi_status.h"

namespace torc::runtime::dedicated {

Status tryRoles(const Roles& roles, bool yields,
                const std::function<void(Client& client, MPI_Comm own)>& program) {
  const int rank = commRank(MPI_COMM_WORLD);
  const auto found = std::ranges::find(roles.servers, rank);
  const bool is_server = found != roles.servers.end();
  const auto index = static_cast<int>(found - roles.servers.begin());
  Wire wire{MPI_COMM_NULL, roles};
  MPI_Comm own = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &wire.comm);
  // By its MPI name: a preloaded torc must know the communicator, as in a job that stays split.
  MPI_Comm_split(MPI_COMM_WORLD, is_server ? 1 : 0, is_server ? index : rank, &own);
  Status status;
  if (is_server) {
    Server server(wire, index, own, ShortSums::kExchanged, yields);
    status = server.run();
  } else {
    Client client(wire, commRank(own));
    program(client, own);
    client.end();
  }
  if (!status.ok()) return status;
  MPI_Comm_free(&own);
  PMPI_Comm_free(&wire.comm);
  return {};
}

OffloadedCall sumOfDoubles(std::span<const double> in, std::span<double> out) {
  OffloadedCall call;
  call.bytes = call.data_bytes = in.size_bytes();
  call.data = in.data();
  call.has_result = true;
  call.result = out.data();
  call.result_count = static_cast<int>(out.size_bytes());
  call.type = PMPI_Type_c2f(MPI_DOUBLE);
  call.op = PMPI_Op_c2f(MPI_SUM);
  return call;
}

}  // namespace torc::runtime::dedicated
