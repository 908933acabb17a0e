// Setting up UCX: the ranks of a communicator tell each other their addresses and agree on whether
// all have one. Without waiting.
#ifndef TORC_RUNTIME_JOB_UCX_SET_UP_H_
#define TORC_RUNTIME_JOB_UCX_SET_UP_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <mpi.h>

#include "runtime/job/geometry.h"
#include "runtime/transport/ucx/ucx_group.h"
#include "support/status.h"

namespace torc::runtime {

/// Collective calls on a geometry's communicator: an allgather and a reduction. All ranks make it,
/// and advance it until it is done. Afterwards all ranks have a group, or none has.
class UcxSetUp {
 public:
  /// `geometry` lives until it is done. Throws std::bad_alloc: before `start`, of which no rank may
  /// stay away.
  explicit UcxSetUp(torc_geometry& geometry);
  UcxSetUp(const UcxSetUp&) = delete;
  UcxSetUp& operator=(const UcxSetUp&) = delete;

  /// `host`: the same for ranks of one, which see each other's processes.
  void start(std::uint64_t host);
  /// Does what can be done now; true when done: the geometry has its group, or none has.
  bool advance();
  /// Once done. Errors: MPI's, and this rank's alone.
  const Status& status() const { return status_; }

  /// Says on stderr why UCX does not serve, once in a process.
  static void tell(int rank, const std::string& why);

 private:
  static constexpr std::size_t kMostAddressBytes = 2020;

  /// What ranks tell each other.
  struct Card {
    std::uint64_t host = 0;
    std::uint64_t version = 0;  // of UCX, and of what messages say
    std::int32_t process = 0;
    std::uint32_t number = 0;         // of the communicator
    std::uint32_t address_bytes = 0;  // 0: the rank has none
    std::array<char, kMostAddressBytes> address{};
  };

  Status open();
  Status takeCards();
  void vote();
  void finish(const Status& status);

  torc_geometry& geometry_;
  std::unique_ptr<Card> card_;
  std::vector<Card> cards_;
  std::shared_ptr<UcxGroup> group_;
  Status fault_;  // why this rank has none
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::int64_t vote_ = 0, votes_ = 0;
  bool voting_ = false, done_ = false;
  Status status_;
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_JOB_UCX_SET_UP_H_
