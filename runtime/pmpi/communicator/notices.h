// Notices: small messages between the ranks of a job about calls that stand still or have failed.
// They travel beside all else, on a tag of their own; a rank looks for them while it waits.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_NOTICES_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_NOTICES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "runtime/pmpi/calls/call_note.h"

namespace torc::runtime::pmpi {

enum class NoticeKind : std::uint32_t {
  kAsk,     // the sender waits for the receiver in a call
  kAnswer,  // to an ask: how far the sender is
  kFailed,  // the call has failed on the sender: it fails everywhere
  // MPI has refused `call.refused` calls of a function on the sender since the `call.ordinal`-th,
  // and the program has gone on to something else; 0: it makes one after all.
  kRefused,
  kOver,      // to that: the call is over on the sender
  kRecalled,  // to 0: nothing will be over from now on
};

/// Plain data, sent as bytes.
struct Notice {
  static constexpr std::size_t kTextBytes = 480;

  std::uint64_t communicator = 0;  // CommunicatorState::id
  NoticeKind kind = NoticeKind::kAsk;
  std::int32_t from = 0;      // the sender's rank in the communicator
  CallNote call;              // as the sender made it; of an answer: its number only
  CallNote instead;           // kFailed: what another rank makes in its place, which fails with it
  std::uint64_t calls = 0;    // collective calls that the sender has made on the communicator
  std::uint64_t refused = 0;  // calls that MPI has refused on the rank that has made `call`
  std::uint64_t refused_instead = 0;  // the same of `instead`
  std::int32_t code = 0;              // kFailed: an error class of MPI
  char text[kTextBytes] = {};

  void setText(std::string_view what);
};

class Notices {
 public:
  Notices() = default;
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;

  /// Travel on `comm`, which has the ranks of MPI_COMM_WORLD, with its highest tag.
  void open(MPI_Comm comm);
  /// Nothing is sent from now on.
  void stop() { is_open_ = false; }
  /// All ranks have stopped, and know it. Takes in what is left.
  void close();

  /// Never waits. A notice that cannot be sent is lost: the receiver then tells of a stall.
  void send(int world_rank, const Notice& notice);

  /// Takes in one that has arrived; false: none has.
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
  std::size_t looks_at_ = kLeastKept;  // sent notices, of which some may be complete
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_NOTICES_H_
