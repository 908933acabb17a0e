// What ranks of the program and dedicated ranks send each other.
//
// A rank of the program that calls a collective sends its server a request: this header, and behind
// it, in the same message, the rank's data, where these are short; long data follow in a message of
// their own, for which the server makes room when it is their turn. Later the server sends the
// result. Calls are told apart by communicator and number. A call like the rank's last one on its
// communicator has a header that says just that. All messages go over one communicator of
// torc's; requests have tag 0, and data and results of a communicator two tags that the rank of the
// program chooses, so that those of one communicator stay in order.
#ifndef TORC_RUNTIME_DEDICATED_PROTOCOL_H_
#define TORC_RUNTIME_DEDICATED_PROTOCOL_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <mpi.h>

#include "runtime/dedicated/roles.h"
#include "settings/dedicated_ranks.h"

namespace torc::runtime::dedicated {

/// What a request asks for.
enum class Purpose : std::uint8_t {
  kCollective,
  kRepeat,  // the sender's last call on that communicator once more: the header is a RepeatRequest
  kDefine,  // a communicator of the program, by its members' ranks in the program (32 bits each)
  kFree,    // that communicator, when `number` calls on it are over
  kEnd,     // this rank asks its server for no more
  kIdle,    // to the first server: the ranks of that server do not
  kOver,    // from the first server: nobody does
};

struct Request {
  Purpose purpose = Purpose::kCollective;
  OffloadedCollective collective;
  bool is_long = false;            // the data come in a message of their own
  std::uint64_t communicator = 0;  // its identifier; 0: MPI_COMM_WORLD of the program
  std::uint64_t number = 0;        // of the call on it, from 0 on
  std::uint64_t bytes = 0;         // of the vector: of reductions and broadcasts the whole one, of
                                   // allgathers and all-to-alls one rank's block
  std::uint64_t data_bytes = 0;    // that this rank contributes
  std::uint64_t own_offset = 0;    // where sums are cut: this rank's part of the vector, in bytes
  std::uint64_t own_bytes = 0;
  std::int32_t slot = 0;  // of the tags of data and result
  std::int32_t root = 0;  // rank in the communicator
  std::int32_t type = 0;  // Fortran's number of what reductions reduce
  std::int32_t op = 0;

  bool operator==(const Request&) const = default;
};

struct RepeatRequest {
  Purpose purpose = Purpose::kRepeat;
  std::uint64_t communicator = 0;
};
static_assert(std::is_standard_layout_v<Request> && std::is_standard_layout_v<RepeatRequest>,
              "the first byte of either is its purpose");

/// The most bytes of data in the message of a request.
inline constexpr std::size_t kMostShortBytes = 8192;

inline constexpr int kRequestTag = 0;
inline constexpr int dataTag(int slot) {
  return 2 * slot + 1;
}
inline constexpr int resultTag(int slot) {
  return 2 * slot + 2;
}

/// The ways between the two. Its communicator is that of all ranks of the job, for torc alone.
struct Wire {
  MPI_Comm comm = MPI_COMM_NULL;
  Roles roles;

  int rankOfServer(int server) const { return roles.servers[static_cast<std::size_t>(server)]; }
  int serverOf(int application) const {
    return roles.server_of[static_cast<std::size_t>(application)];
  }
  int rankOfApplication(int application) const {
    return roles.applications[static_cast<std::size_t>(application)];
  }
};

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_PROTOCOL_H_
