#include "runtime/run/world/job_world.h"

#include <algorithm>
#include <array>
#include <vector>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/dedicated/nodes.h"
#include "runtime/service/agreement.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/yielding_wait.h"
#include "support/message.h"
#include "support/version.h"

namespace torc::runtime {

Status agreed(const Status& mine, MPI_Comm comm) {
  Agreement agreement;
  agreement.open(comm);
  static_cast<void>(agreement.agree(mine));
  return agreement.error();
}

Status apiStatus(int code) {
  if (code == TORC_OK) return {};
  return {StatusCode::kInvalidArgument, torc_error_message()};
}

std::string describeJob(const Topology& topology, bool oversubscribed) {
  const int ranks = commSize(MPI_COMM_WORLD);
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
  // The first rank of a host names it.
  constexpr int kNamed = 16;
  const StatusOr<std::vector<int>> nodes = dedicated::findNodes();
  std::string text;
  int hosts = 0;
  for (int first = 0; nodes.ok() && first < ranks; ++first) {
    if ((*nodes)[static_cast<std::size_t>(first)] != first || ++hosts > kNamed) continue;
    std::array<char, MPI_MAX_PROCESSOR_NAME> host;
    std::ranges::copy(name, host.begin());
    broadcast(host.data(), host.size(), MPI_CHAR, first, MPI_COMM_WORLD);
    text += (hosts == 1 ? "" : ", ") + std::string(host.data());
  }
  if (hosts > kNamed) text += ", ... (" + std::to_string(hosts) + ")";
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  MPI_Get_library_version(version.data(), &length);
  std::string mpi(version.data());
  mpi.resize(std::min(mpi.find('\n'), mpi.size()));
  std::ranges::replace_if(
      mpi, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return message(ranks, " ranks on ", topology.shape(), ", hosts ", text, "; ", mpi, "; torc ",
                 kVersion, oversubscribed ? "; ranks outnumber cores" : "");
}

}  // namespace torc::runtime
