// Server: the loop of a dedicated rank. It receives requests of ranks of the program, completes
// their collectives with the other servers, and sends the results, until no rank sends more.
//
// Calls of one communicator complete in order; those of different ones progress concurrently. A
// server keeps at most a few calls of each communicator, with the contributions of its ranks; long
// contributions to later calls wait at their senders.
#ifndef TORC_RUNTIME_DEDICATED_SERVER_H_
#define TORC_RUNTIME_DEDICATED_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <mpi.h>

#include "runtime/dedicated/protocol.h"
#include "runtime/dedicated/served_group.h"
#include "runtime/non_copyable.h"
#include "support/status.h"

namespace torc::runtime::dedicated {

class Server : NonCopyable {
 public:
  /// `servers` is the communicator of all servers, in their order. Its collectives are called by
  /// MPI's names, so that a preloaded torc serves them; `short_sums`, equal on all servers, selects
  /// the method for short sums. `yields`: there are more ranks than cores.
  Server(const Wire& wire, int index, MPI_Comm servers, ShortSums short_sums, bool yields);
  ~Server();

  /// Returns when all ranks of the program have ended. Errors: ranks' calls that do not match, and
  /// MPI errors; the other ranks are not notified.
  Status run();

 private:
  /// A posted receive for a request.
  struct Inbox {
    MPI_Request request = MPI_REQUEST_NULL;
    std::unique_ptr<std::byte[]> bytes;
    int source = -1;  // rank on the wire of the sender
  };
  /// An action that all servers perform in the same order, given by the first server.
  struct Order {
    Request request;
    std::vector<int> members;             // of kDefine
    MPI_Request data = MPI_REQUEST_NULL;  // receive of the members
  };

  Status post(Inbox& inbox);
  Status takeRequests(bool& moved);
  Status take(int source, std::unique_ptr<std::byte[]> bytes);
  Status takeOrder(int source, const Request& request, const std::byte* data);
  Status carryOut(Order& order);
  Status define(Order& order);
  int choose(std::span<const int> servers, MPI_Comm* made);
  Status forward(const Order& order, int server);
  Status send(int server, const Request& request, const void* data, std::size_t bytes);
  Status endIfIdle(bool& moved);
  Status advance(bool& moved);
  void waitInsideMpi();

  const Wire& wire_;
  int index_;
  MPI_Comm servers_;
  ShortSums short_sums_;
  bool yields_;
  std::vector<Inbox> inboxes_;  // in the order of arrival, from next_inbox_ on
  std::size_t next_inbox_ = 0;
  std::deque<Order> orders_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ServedGroup>> groups_;
  std::unordered_map<std::uint64_t, std::uint64_t> last_calls_;  // of communicators that will be
                                                                 // freed
  /// For communicators that no order has defined yet.
  std::unordered_map<std::uint64_t, std::vector<Contribution>> early_;
  /// On the first server: the servers of communicators that other servers defined.
  std::unordered_map<std::uint64_t, std::vector<int>> servers_of_;
  std::vector<OutgoingMessage> outgoing_;
  std::size_t own_applications_ = 0;  // that have not ended
  std::size_t busy_servers_ = 0;      // on the first server: servers that are not idle for good
  bool has_told_ = false;             // that this server is idle for good
  bool is_over_ = false;
};

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SERVER_H_
