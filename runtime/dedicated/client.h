// Client: a rank of the program. It starts a collective by one message to its server and a receive
// of the result, and does no other work for it.
#ifndef TORC_RUNTIME_DEDICATED_CLIENT_H_
#define TORC_RUNTIME_DEDICATED_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include <mpi.h>

#include "runtime/dedicated/protocol.h"
#include "runtime/non_copyable.h"

namespace torc::runtime::dedicated {

/// A communicator of the program, known to its servers.
struct OffloadedCommunicator {
  std::uint64_t id = 0;
  std::uint64_t calls = 0;  // number of calls so far
  int slot = 0;
  Request last;  // this rank's last call, if any
};

/// One rank's part of a call: the request, and the buffers of data and result.
struct OffloadedCall : Request {
  // The rank's contribution: `count` elements, of `data_bytes` bytes together; none: 0.
  const void* data = nullptr;
  int count = 0;
  MPI_Datatype data_type = MPI_BYTE;
  bool is_data_in_row = true;     // otherwise MPI packs them
  bool is_data_in_place = false;  // the result overwrites them
  // Buffer of the result.
  bool has_result = false;
  void* result = nullptr;
  int result_count = 0;
  MPI_Datatype result_type = MPI_BYTE;
};

class Client : NonCopyable {
 public:
  /// For this process as rank `application` of the program. The wire outlives the client.
  /// `most_slots`: maximal number of communicators at a time, besides the program's world; 0: as
  /// many as MPI's tags allow.
  Client(const Wire& wire, int application, int most_slots = 0);

  OffloadedCommunicator& world() { return world_; }

  /// Local. `id` is the same on all members, and unique. `tells`, true on one of the members: sends
  /// the servers the members' ranks in the program.
  OffloadedCommunicator define(std::uint64_t id, std::span<const int> members, bool tells);
  /// By every member, after all members have started their last calls on it. `tells`: as in define.
  void forget(const OffloadedCommunicator& communicator, bool tells);

  /// A unique identifier, for define().
  std::uint64_t newIdentifier();

  /// Starts a call; all members make the calls of a communicator in the same order. Local.
  /// `request` completes when the result has come or, on a rank without one, when the data have
  /// been read. Returns MPI's error code. (Sancho et al., Section IV.B.)
  int start(OffloadedCommunicator& communicator, const OffloadedCall& call, MPI_Request* request);

  /// Creates a persistent request for such calls: MPI_Start and startAgain() start each of them.
  int makePersistent(const OffloadedCommunicator& communicator, const OffloadedCall& call,
                     MPI_Request* request);
  int startAgain(OffloadedCommunicator& communicator, const OffloadedCall& call);

  /// This rank sends no more requests. Waits until its messages have been sent.
  void end();

 private:
  /// An active message, and its memory.
  struct Message {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::unique_ptr<std::byte[]> bytes;  // of header and short data
    std::unique_ptr<std::byte[]> copy;   // of long data
    bool isSent();
  };

  Message& freeMessage();
  int sendCall(OffloadedCommunicator& communicator, const OffloadedCall& call);
  int send(int server, const OffloadedCall& call, bool is_repeat);
  int sendData(int server, const Request& request, const void* data, std::size_t bytes);

  const Wire& wire_;
  int application_;
  int server_;  // rank in wire_.comm
  int last_slot_ = 0;
  int most_slots_ = 0;
  std::unordered_set<int> slots_;  // of communicators that are not freed
  std::uint32_t identifiers_ = 0;
  OffloadedCommunicator world_;
  std::vector<std::unique_ptr<Message>> messages_;
  std::size_t next_message_ = 0;
};

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_CLIENT_H_
