// Servers' sum: a short vector summed among dedicated ranks, message by message. MPI's nonblocking
// allreduce has more rounds, and on a simulated machine blocks the dedicated rank.
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

/// The most bytes of a vector that are summed so: longer ones go to MPI, which cuts them up.
inline constexpr std::size_t kMostSummedBytes = 2048;

/// Sums of so many calls of a communicator may be under way at a time.
inline constexpr std::size_t kSumsUnderWay = 512;

class ServersSum {
 public:
  /// `steps` are this rank's in `comm`, and outlive the sum; all ranks start the sums of a
  /// communicator with the same numbers. `reducer` sums `elements` elements, all of `bytes` bytes.
  ServersSum(const std::vector<SumStep>& steps, MPI_Comm comm, std::uint64_t number,
             Reducer reducer, std::size_t elements, std::size_t bytes);

  /// Takes the vector. Receives for all rounds are posted before anything is sent.
  Status start(std::unique_ptr<std::byte[]> vector);
  /// Goes on. `moved` becomes true where something has happened.
  Status advance(bool& moved);
  /// Whether the result is here. What has been sent may still be on its way.
  bool isComplete() const { return next_ == exchanges_.size(); }
  /// When it is complete.
  std::unique_ptr<std::byte[]> takeResult() { return std::move(vector_); }
  /// What has been sent: its memory is this object's.
  void takeOutgoing(std::vector<MPI_Request>& requests);

  /// What is waited for, for a simulated MPI.
  void appendRequests(std::vector<MPI_Request*>& requests);

 private:
  struct Exchange {
    const SumStep* step = nullptr;
    std::vector<MPI_Request> incoming, outgoing;
    std::unique_ptr<std::byte[]> received;
    std::unique_ptr<std::byte[]> sent;  // stays until it has been sent
  };
  Status send(Exchange& exchange);
  void sum(Exchange& exchange);

  MPI_Comm comm_;
  Reducer reducer_;
  std::size_t elements_, bytes_;
  int first_tag_;
  std::unique_ptr<std::byte[]> vector_;
  std::vector<Exchange> exchanges_;
  std::size_t next_ = 0;  // the exchange that is under way
};

}  // namespace torc::runtime::dedicated

#endif  // TORC_RUNTIME_DEDICATED_SERVERS_SUM_H_
