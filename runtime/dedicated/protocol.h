// Messages between ranks of the program and dedicated ranks.
//
// To call a collective, a rank of the program sends its server a request: this header, followed in
// the same message by the rank's data, if they are short. Long data follow in a separate message,
// when the server has memory for them. Later the server sends the result. Communicator and number
// identify a call. A call equal to the rank's last one on its communicator has a short header. All
// messages use one private communicator. Requests have tag 0; the rank of the program chooses two
// tags for the data and results of a communicator, so that these stay in order.
#ifndef TORC_RUNTIME_DEDICATED_PROTOCOL_H_
#define TORC_RUNTIME_DEDICATED_PROTOCOL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <mpi.h>

#include "runtime/dedicated/roles.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/smpi.h"
#include "settings/dedicated_ranks.h"

namespace torc::runtime::dedicated {

/// Meaning of a request.
enum class Purpose : std::uint8_t {
  kCollective,
  kRepeat,  // repeats the sender's last call on that communicator: the header is a RepeatRequest
  kDefine,  // defines a communicator of the program, by its members' ranks in the program (32 bits
            // each)
  kFree,    // frees that communicator, after `number` calls on it
  kEnd,     // this rank sends its server no more requests
  kIdle,    // to the first server: the ranks of the sending server send no more requests
  kOver,    // from the first server: no rank sends more requests
};

struct Request {
  Purpose purpose = Purpose::kCollective;
  OffloadedCollective collective;
  bool is_long = false;            // the data come in a separate message
  std::uint64_t communicator = 0;  // its identifier; 0: MPI_COMM_WORLD of the program
  std::uint64_t number = 0;        // of the call on it, from 0 on
  std::uint64_t bytes = 0;         // of the vector: in reductions and broadcasts the whole one, in
                                   // allgathers and all-to-alls one rank's block
  std::uint64_t data_bytes = 0;    // contributed by this rank
  std::uint64_t own_offset = 0;    // in a reduce_scatter: begin of this rank's part of the vector,
                                   // in bytes
  std::uint64_t own_bytes = 0;
  std::int32_t slot = 0;  // index of the tags of data and result
  std::int32_t root = 0;  // rank in the communicator
  std::int32_t type = 0;  // Fortran's number of a reduction's datatype
  std::int32_t op = 0;

  bool operator==(const Request&) const = default;
};

struct RepeatRequest {
  Purpose purpose = Purpose::kRepeat;
  std::uint64_t communicator = 0;
};
static_assert(std::is_standard_layout_v<Request> && std::is_standard_layout_v<RepeatRequest>,
              "the first byte of either is its purpose");

/// Maximal bytes of data in the message of a request.
inline constexpr std::size_t kMostShortBytes = 8192;

inline constexpr int kRequestTag = 0;
inline constexpr int dataTag(int slot) {
  return 2 * slot + 1;
}
inline constexpr int resultTag(int slot) {
  return 2 * slot + 2;
}

/// Connection between the two. Its communicator has all ranks of the job, and is private.
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

/// Whether all are complete or null. On a simulated machine, where polling takes time, only
/// requests after a wait are complete.
inline bool areComplete(std::span<MPI_Request> requests, decltype(PMPI_Test)* test = PMPI_Test) {
  for (MPI_Request& request : requests) {
    int done = 1;
    if (request == MPI_REQUEST_NULL) continue;
    if (kSimulated) return false;
    test(&request, &done, MPI_STATUS_IGNORE);
    if (!done) return false;
  }
  return true;
}

/// Sends a request: the header and short data at `message`, `bytes` bytes together; long data, at
/// `data`, in a separate message. Returns MPI's error code.
inline int sendRequest(const Wire& wire, int to, const Request& request, const std::byte* message,
                       std::size_t bytes, const void* data, std::span<MPI_Request, 2> requests) {
  const int code = PMPI_Isend(message, static_cast<int>(bytes), MPI_BYTE, to, kRequestTag,
                              wire.comm, &requests[0]);
  if (code != MPI_SUCCESS || !request.is_long) return code;
  return PMPI_Isend(data, static_cast<int>(request.data_bytes), MPI_BYTE, to, dataTag(request.slot),
                    wire.comm, &requests[1]);
}

/// Receives the long data of a request from rank `from` on the wire.
inline Status receiveData(const Wire& wire, int from, const Request& request, void* data,
                          MPI_Request* received) {
  return mpiStatus(PMPI_Irecv(data, static_cast<int>(request.data_bytes), MPI_BYTE, from,
                              dataTag(request.slot), wire.comm, received),
                   "MPI_Irecv");
}

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_PROTOCOL_H_
