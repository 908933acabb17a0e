// Servers' sum: the sum of a short vector over the dedicated ranks, by single messages. MPI's
// nonblocking allreduce has more rounds, and on a simulated machine blocks the dedicated rank.
#ifndef TORC_RUNTIME_DEDICATED_SERVERS_SUM_H_
#define TORC_RUNTIME_DEDICATED_SERVERS_SUM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <mpi.h>

#include "runtime/dedicated/sum_rounds.h"
#include "runtime/reductions/reduction.h"
#include "support/status.h"

namespace torc::runtime::dedicated {

/// Maximal bytes of a vector for this sum: MPI sums longer ones, which it cuts into pieces.
inline constexpr std::size_t kMostSummedBytes = 2048;

/// Maximal number of active sums of a communicator.
inline constexpr std::size_t kSumsUnderWay = 512;

class ServersSum {
 public:
  /// `steps` are this rank's steps in `comm`, and outlive the sum; all ranks start the sums of a
  /// communicator with the same numbers. `reducer` sums `elements` elements, of `bytes` bytes
  /// together.
  ServersSum(const std::vector<SumStep>& steps, MPI_Comm comm, std::uint64_t number,
             Reducer reducer, std::size_t elements, std::size_t bytes);

  /// Takes the vector. All receives are posted before the first send.
  Status start(std::unique_ptr<std::byte[]> vector);
  /// Makes progress; sets `moved` to true if there was any.
  Status advance(bool& moved);
  /// Whether the result is here. Sends may still be active.
  bool isComplete() const { return next_ == exchanges_.size(); }
  /// Precondition: complete.
  std::unique_ptr<std::byte[]> takeResult() { return std::move(vector_); }
  /// Appends the active sends, whose memory belongs to this object.
  void takeOutgoing(std::vector<MPI_Request>& requests);

  /// Appends the active requests, for a simulated MPI.
  void appendRequests(std::vector<MPI_Request*>& requests);

 private:
  struct Exchange {
    const SumStep* step = nullptr;
    std::vector<MPI_Request> incoming, outgoing;
    std::unique_ptr<std::byte[]> received;
    std::unique_ptr<std::byte[]> sent;  // kept until it has been sent
  };
  Status send(Exchange& exchange);
  void sum(Exchange& exchange);

  MPI_Comm comm_;
  Reducer reducer_;
  std::size_t elements_, bytes_;
  int first_tag_;
  std::unique_ptr<std::byte[]> vector_;
  std::vector<Exchange> exchanges_;
  std::size_t next_ = 0;  // index of the active exchange
};

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SERVERS_SUM_H_
