// Service collective: a collective of a few words for torc's own purposes (set-up, agreement,
// votes), which ranks advance until it is complete.
//
// It uses MPI's nonblocking collectives if all ranks of a communicator start it in the same order.
// Elsewhere it uses messages with a tag of its own: an MPI collective would match other calls of
// the communicator.
#ifndef TORC_RUNTIME_SERVICE_SERVICE_COLLECTIVE_H_
#define TORC_RUNTIME_SERVICE_SERVICE_COLLECTIVE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <mpi.h>

#include "runtime/non_copyable.h"
#include "support/status.h"

namespace torc::runtime {

/// One at a time. Nothing here allocates, so that no rank misses a collective that others have
/// started; MPI reads and writes words in the object. An error concerns this rank alone.
class ServiceCollective : NonCopyable {
 public:
  static constexpr std::size_t kMostWords = 64;
  static constexpr std::size_t kTextBytes = 2 * kMostWords * sizeof(std::uint64_t);

  /// Through MPI, on a communicator that returns errors. On a simulated machine it completes at
  /// once. MPI_MAX may treat words as signed numbers.
  void allreduce(MPI_Comm comm, std::span<const std::uint64_t> words, MPI_Op op);
  /// Broadcasts data, which must outlive it.
  void broadcast(MPI_Comm comm, void* data, std::size_t bytes, int root);
  /// Broadcasts the text of `root`, of at most kTextBytes; ignored on other ranks.
  void broadcastText(MPI_Comm comm, std::span<const char> text, int root);
  /// Allgather of `bytes` of each rank, likewise.
  void allgather(MPI_Comm comm, const void* mine, void* all, std::size_t bytes);
  void barrier(MPI_Comm comm);

  /// By messages on `comm` with `tag`: bitwise or over `size` ranks; the caller has number `rank`;
  /// without words: a barrier. Algorithm: dissemination: after round k a rank also has the words of
  /// the 2^(k+1) - 1 ranks before it. `members`: the ranks as a group, if they are not those of
  /// `comm`; all of them are in `of_comm`, the group of `comm`.
  void disseminate(MPI_Comm comm, int tag, int rank, int size,
                   std::span<const std::uint64_t> words = {}, MPI_Group members = MPI_GROUP_NULL,
                   MPI_Group of_comm = MPI_GROUP_NULL);

  /// Makes progress; true when complete. On a simulated machine it waits.
  bool advance();
  /// When complete.
  Status status() const;
  /// Advances until it is complete, with `meanwhile` and a yield between polls.
  Status wait(const std::function<void()>& meanwhile = {});

  /// Combined over all ranks, when complete.
  std::span<const std::uint64_t> words() const { return std::span(words_).first(count_); }
  /// Likewise: ends with a zero.
  const char* text() const { return reinterpret_cast<const char*>(words_.data()); }

  /// Whether it was started, and is neither complete nor cancelled.
  bool isUnderWay() const;
  /// Ends this rank's part. MPI may still read and write the words: see Deleter.
  void cancel() noexcept;
  bool isCancelled() const { return is_cancelled_; }

  /// For one that may be cancelled or destroyed while it is active: its words outlive it then.
  struct Deleter {
    void operator()(ServiceCollective* collective) const noexcept;
  };
  using Pointer = std::unique_ptr<ServiceCollective, Deleter>;
  /// Throws std::bad_alloc.
  static Pointer make() { return Pointer(new ServiceCollective); }

 private:
  static constexpr int kMostRounds = 31;

  void begin(const char* call, std::span<const std::uint64_t> words = {});
  int exchange();

  const char* call_ = "";
  int code_ = MPI_SUCCESS;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  bool is_cancelled_ = false;
  std::size_t count_ = 0;
  std::array<std::uint64_t, 2 * kMostWords> words_{};  // received words follow the own ones

  // For messages.
  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0, round_ = 0, rounds_ = 0;
  std::array<int, 2 * kMostRounds> peers_{};  // by round: a destination and a source
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_SERVICE_SERVICE_COLLECTIVE_H_
