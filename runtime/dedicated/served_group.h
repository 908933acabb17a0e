// Served group: a communicator of the program on a dedicated rank, and its active calls.
#ifndef TORC_RUNTIME_DEDICATED_SERVED_GROUP_H_
#define TORC_RUNTIME_DEDICATED_SERVED_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <mpi.h>

#include "runtime/dedicated/protocol.h"
#include "runtime/dedicated/servers_sum.h"
#include "runtime/dedicated/sum_rounds.h"
#include "runtime/non_copyable.h"
#include "runtime/reductions/mpi_reduction.h"
#include "support/status.h"

namespace torc::runtime::dedicated {

/// Contribution of a rank of the program to a call: the message, header and short data.
struct Contribution {
  int source = 0;   // rank on the wire
  Request request;  // of a repeat: only the communicator, until the group completes it
  std::size_t header_bytes = sizeof(Request);
  std::unique_ptr<std::byte[]> bytes;  // the message; long data: once there is memory for them
  MPI_Request data = MPI_REQUEST_NULL;
  bool has_room = false;  // long data: they are coming, or are here

  const std::byte* values() const { return bytes.get() + (request.is_long ? 0 : header_bytes); }
};

/// Active sends with their memory; no call waits for them.
struct OutgoingMessage {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::unique_ptr<std::byte[]> bytes;
};

/// Method of the servers to sum short vectors.
enum class ShortSums : std::uint8_t {
  kExchanged,  // ServersSum
  kByName,     // MPI's function by its MPI_ name, which torc may serve by a schedule
};

class ServedGroup : NonCopyable {
 public:
  /// `members` are ranks in the program, by rank in the communicator; `server` serves some of them.
  ServedGroup(const Wire& wire, int server, std::vector<int> members, ShortSums sums);
  ~ServedGroup();

  /// The servers of members, by index, ascending.
  std::span<const int> servers() const { return servers_; }
  /// Sets the communicator of the servers, which this object frees. A single server needs none.
  void use(MPI_Comm among_servers) { comm_ = among_servers; }

  Status take(Contribution contribution);
  /// Makes progress on all calls; sets `moved` to true if there was any.
  Status advance(bool& moved);
  bool isIdle() const { return calls_.empty(); }
  /// Number of complete calls.
  std::uint64_t completed() const { return first_; }

  /// Appends the active requests, for a simulated MPI.
  void appendRequests(std::vector<MPI_Request*>& requests);

 private:
  struct Call {
    std::vector<Contribution> contributions;  // by index of `mine_`
    std::size_t arrived = 0;
    std::size_t without_room = 0;  // long contributions without memory yet
    std::size_t folded = 0;        // in a reduction: contributions in `vector`, in order
    Request request;               // of one of them
    enum class Phase : std::uint8_t {
      kCollecting,
      kAmongServers,
      kResults
    } phase = Phase::kCollecting;
    MPI_Request among = MPI_REQUEST_NULL;
    std::unique_ptr<ServersSum> sum;        // instead of `among`; holds the vector meanwhile
    std::unique_ptr<std::byte[]> vector;    // sent to the other servers
    std::unique_ptr<std::byte[]> received;  // received from them, if not into `vector`
    std::vector<int> counts, offsets, receive_counts, receive_offsets;  // in an exchange, bytes
    std::unique_ptr<std::byte[]> result;  // in exchanges: in the order of the ranks
    std::vector<MPI_Request> sends;
    ElementType type;
    Reduction reduction;
    MpiReduction reducer;
  };

  Status begin(Call& call, const Request& request);
  Status check(const Call& call, const Contribution& contribution) const;
  Status makeRooms();
  Status makeRoom(Contribution& contribution);
  Status collect(Call& call, std::uint64_t number, bool& moved);
  Status fold(Call& call, bool& moved);
  Status goAmongServers(Call& call, std::uint64_t number);
  bool isAmongServersComplete(Call& call);
  Status startExchange(Call& call);
  Status sendResults(Call& call);
  std::size_t resultsHere(const Call& call) const;
  void packExchange(Call& call) const;
  void arrangeResults(Call& call) const;
  std::size_t resultOffset(const Call& call, std::size_t index) const;
  std::size_t resultBytes(const Call& call, std::size_t index) const;
  int positionOf(int comm_rank) const { return position_[static_cast<std::size_t>(comm_rank)]; }

  const Wire& wire_;
  std::vector<int> members_;            // rank in the program, by rank in the communicator
  std::vector<int> position_;           // of the rank's server in `servers_`, by rank in the
                                        // communicator
  std::vector<int> mine_;               // ranks in the communicator that this server serves,
                                        // ascending
  std::vector<Request> last_requests_;  // by index of `mine_`
  std::unordered_map<int, int> index_of_source_;  // in `mine_`, by rank on the wire
  std::vector<int> servers_;
  std::vector<std::vector<int>> ranks_of_;  // ranks in the communicator, by position of the server
  int own_position_ = 0;
  ShortSums short_sums_;
  std::vector<SumStep> sum_steps_;  // of this server
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::deque<std::unique_ptr<Call>> calls_;
  std::uint64_t first_ = 0;  // number of the first of `calls_`
};

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SERVED_GROUP_H_
