// Notices: small messages between the ranks of a job about calls that stall or have failed. They
// have a tag of their own; a rank probes for them while it waits.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_NOTICES_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_NOTICES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <mpi.h>

#include "runtime/non_copyable.h"
#include "runtime/pmpi/calls/collective_call.h"

namespace torc::runtime::pmpi {

enum class NoticeKind : std::uint32_t {
  kAsk,     // the sender waits for the receiver in a call
  kAnswer,  // to an ask: the sender's state
  kFailed,  // the call has failed on the sender: it fails on all ranks
  // MPI has refused `call.refused` calls of a function on the sender since the `call.ordinal`-th,
  // and the program has made another call; 0: the program repeats it.
  kRefused,
  kOver,      // to kRefused: the call has ended on the sender
  kRecalled,  // to 0: no kOver will follow
};

/// Plain data, sent as bytes.
struct Notice {
  static constexpr std::size_t kTextBytes = 480;

  std::uint64_t communicator = 0;  // CommunicatorState::id
  NoticeKind kind = NoticeKind::kAsk;
  std::int32_t from = 0;      // the sender's rank in the communicator
  CallNote call{};            // as on the sender; of an answer: its number only
  CallNote instead{};         // kFailed: the call of another rank in its place, which fails with it
  std::uint64_t calls = 0;    // the sender's collective calls on the communicator
  std::uint64_t refused = 0;  // calls that MPI has refused on the rank of `call`
  std::uint64_t refused_instead = 0;  // the same of `instead`
  std::int32_t code = 0;              // kFailed: an MPI error class
  char text[kTextBytes] = {};
};

class Notices : NonCopyable {
 public:
  /// Notices use `comm`, which has the ranks of MPI_COMM_WORLD, and its highest tag.
  void open(MPI_Comm comm);
  /// Stops sending.
  void stop() { is_open_ = false; }
  /// After all ranks have stopped, and know it: receives the remaining notices.
  void close();

  /// Local. A notice that cannot be sent is lost: the receiver then reports a stall.
  void send(int world_rank, const Notice& notice);

  /// Receives a notice that has arrived; false: none has.
  bool receive(Notice& notice);

 private:
  struct Sent {
    MPI_Request request;
    std::unique_ptr<Notice> notice;
  };

  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0;
  bool is_open_ = false;
  std::vector<Sent> sent_;
  static constexpr std::size_t kLeastKept = 8;
  std::size_t looks_at_ = kLeastKept;  // number of sent notices at which completed ones are removed
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_NOTICES_H_
