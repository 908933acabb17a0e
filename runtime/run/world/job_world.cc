#include "runtime/run/world/job_world.h"

#include <algorithm>
#include <array>
#include <vector>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "runtime/run/world/yielding_collectives.h"
#include "support/message.h"
#include "support/version.h"

namespace torc::runtime {

Status agreed(const Status& mine, MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int first = mine.ok() ? ranks : rank;
  allreduce(&first, 1, MPI_INT, MPI_MIN, comm);
  if (first == ranks) return {};
  struct {
    int code;
    char text[1000];
  } error = {static_cast<int>(mine.code()), {}};
  mine.message().copy(error.text, sizeof(error.text) - 1);
  broadcast(&error, sizeof(error), MPI_BYTE, first, comm);
  return {static_cast<StatusCode>(error.code), error.text};
}

Status apiStatus(int code) {
  if (code == TORC_OK) return {};
  return {StatusCode::kInvalidArgument, torc_error_message()};
}

std::string describeJob(const Topology& topology, bool oversubscribed) {
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
  return message(ranks, " ranks on ", topology.shape(), ", hosts ", text, "; ", mpi, "; torc ",
                 kVersion, oversubscribed ? "; ranks outnumber cores" : "");
}

}  // namespace torc::runtime
