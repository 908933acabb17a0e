// The split of a job into the program's ranks and dedicated ranks.
#include "runtime/pmpi/dedicated/dedicated_job.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <mpi.h>

#include "runtime/dedicated/nodes.h"
#include "runtime/dedicated/program_world.h"
#include "runtime/dedicated/roles.h"
#include "runtime/dedicated/server.h"
#include "runtime/pmpi/dedicated/offload.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/statistics/stderr_lines.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/yielding_wait.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

int positionIn(const std::vector<int>& ranks, int rank) {
  const auto found = std::ranges::find(ranks, rank);
  return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

/// Runs a dedicated rank until the end of its process.
[[noreturn]] void serve(std::unique_ptr<dedicated::Wire> wire, int index, MPI_Comm servers,
                        bool is_crowded, void (*end_job)()) {
  {
    const auto short_sums =
        torc_is_on.load() ? dedicated::ShortSums::kByName : dedicated::ShortSums::kExchanged;
    dedicated::Server server(*wire, index, servers, short_sums, is_crowded);
    if (Status status = server.run(); !status.ok()) {
      complainAndAbort(message("dedicated rank ", index, ": ", status.message()));
    }
  }
  MPI_Comm_free(&servers);
  PMPI_Comm_free(&wire->comm);
  end_job();
  PMPI_Finalize();
  // The program's code has not begun in this process, and must not run now.
  std::fflush(nullptr);
  _exit(0);
}

std::string counted(std::size_t number, const char* what) {
  return message(number, ' ', what, number == 1 ? " rank" : " ranks");
}

}  // namespace

void splitJob(const Settings& settings, void (*end_job)()) {
  if (settings.dedicated.kind == DedicatedRanks::Kind::kNone) return;
  const int rank = commRank(MPI_COMM_WORLD);
  const StatusOr<std::vector<int>> nodes = dedicated::findNodes();
  // An MPI error concerns one rank: the others cannot learn of it.
  if (!nodes.ok()) complainAndAbort(nodes.status().message());
  auto wire = std::make_unique<dedicated::Wire>();
  StatusOr<dedicated::Roles> roles = dedicated::assignRoles(settings.dedicated, *nodes);
  if (!roles.ok()) {
    const std::string why = message("TORC_DEDICATED: ", roles.status().message());
    if (settings.strict != 0) {
      if (rank == 0) complainAndAbort(why);
      PMPI_Barrier(MPI_COMM_WORLD);
    }
    warnOnce(rank, why, why + "; no rank is dedicated");
    return;
  }
  wire->roles = std::move(*roles);
  // On a dedicated rank an error ends the job, as by MPI's default (MPI_Init has just set its
  // handler): only so is it reported. On the program's ranks offload.cc sets another handler.
  MPI_Request request = MPI_REQUEST_NULL;
  if (waitYielding(startDuplicate(&request, MPI_COMM_WORLD, &wire->comm), &request) !=
      MPI_SUCCESS) {
    complainAndAbort("MPI_COMM_WORLD cannot be duplicated for dedicated ranks");
  }
  say(Verbosity::kSetUp, rank,
      message(counted(wire->roles.applications.size(), "application"), ", ",
              counted(wire->roles.servers.size(), "dedicated")));

  // By MPI's names, as torc serves both communicators.
  const int index = positionIn(wire->roles.servers, rank);
  const bool is_crowded = dedicated::isCrowded(*nodes);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, index < 0 ? 0 : 1, index < 0 ? rank : index, &own);
  if (index >= 0) serve(std::move(wire), index, own, is_crowded, end_job);
  oversubscribed.store(oversubscribed.load() || is_crowded);
  const int application = positionIn(wire->roles.applications, rank);
  dedicated::program_world = own;
  PMPI_Comm_set_name(own, "MPI_COMM_WORLD");
  beginOffloading(std::move(wire), application, own, settings.offloaded);
}

void endDedicated() {
  if (dedicated::program_world == MPI_COMM_NULL) return;
  endOffloading();
  MPI_Comm own = std::exchange(dedicated::program_world, MPI_COMM_NULL);
  MPI_Comm_free(&own);
}

}  // namespace torc::runtime::pmpi
