// Server: the loop of a dedicated rank. It takes in what ranks of the program send, completes their
// collectives with the other servers, and sends the results, until no rank asks for more.
//
// Calls of one communicator are completed in their order; those of different ones go on side by
// side. A server keeps at most a few calls of each communicator, with what their ranks have
// contributed; long contributions of later calls wait with their senders.
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
#include "support/status.h"

namespace torc::runtime::dedicated {

class Server {
 public:
  /// For the server of that index. `servers` is the communicator of all of them, in their order;
  /// its collectives are called by MPI's names, so that a preloaded torc serves them, but short
  /// sums only if `short_sums` says so, as on all servers. `yields`: there are more ranks than
  /// cores.
  Server(const Wire& wire, int index, MPI_Comm servers, ShortSums short_sums, bool yields);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// Returns when all ranks of the program have ended. Errors: calls of ranks that do not go
  /// together, and MPI's; the other ranks are not told of them.
  Status run();

 private:
  /// A request that may come.
  struct Inbox {
    MPI_Request request = MPI_REQUEST_NULL;
    std::unique_ptr<std::byte[]> bytes;
    int source = -1;  // rank on the wire of what has come
  };
  /// What servers do in one order, which the first server gives.
  struct Order {
    Request request;
    std::vector<int> members;             // of kDefine
    MPI_Request data = MPI_REQUEST_NULL;  // the members, on their way
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
  std::vector<Inbox> inboxes_;  // in the order in which messages find them, from next_inbox_ on
  std::size_t next_inbox_ = 0;
  std::deque<Order> orders_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ServedGroup>> groups_;
  std::unordered_map<std::uint64_t, std::uint64_t> last_calls_;  // of those that are to be freed
  /// Of communicators that no order has defined yet.
  std::unordered_map<std::uint64_t, std::vector<Contribution>> early_;
  /// The first server's: who serves what others defined.
  std::unordered_map<std::uint64_t, std::vector<int>> servers_of_;
  std::vector<OutgoingMessage> outgoing_;
  std::size_t own_applications_ = 0;  // that have not ended
  std::size_t busy_servers_ = 0;      // the first server's: that are not idle for good
  bool has_told_ = false;             // that this one is
  bool is_over_ = false;
};

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SERVER_H_
