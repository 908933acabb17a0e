// Service collective: a collective of a few words that ranks make for a purpose of torc's own
// (set-up, agreement, votes), and advance until it is over.
//
// MPI's nonblocking collectives carry it where all ranks of a communicator come to it in one order.
// Elsewhere messages with a tag of its own do: a collective of MPI would match whatever ranks with
// another call make.
#ifndef TORC_RUNTIME_SERVICE_SERVICE_COLLECTIVE_H_
#define TORC_RUNTIME_SERVICE_SERVICE_COLLECTIVE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <mpi.h>

#include "support/status.h"

namespace torc::runtime {

/// One at a time. Nothing here allocates, so that no rank stays away from what others have begun;
/// MPI reads and writes words in the object. An error is this rank's alone.
class ServiceCollective {
 public:
  static constexpr std::size_t kMostWords = 64;
  static constexpr std::size_t kTextBytes = 2 * kMostWords * sizeof(std::uint64_t);

  ServiceCollective() = default;
  ServiceCollective(const ServiceCollective&) = delete;
  ServiceCollective& operator=(const ServiceCollective&) = delete;

  /// By MPI, on a communicator that returns errors. On a simulated machine it is over at once.
  /// MPI_MAX takes words for signed numbers.
  void allreduce(MPI_Comm comm, std::span<const std::uint64_t> words, MPI_Op op);
  /// Of data that the caller keeps until it is over.
  void broadcast(MPI_Comm comm, void* data, std::size_t bytes, int root);
  /// Of the text of `root`: that of other ranks counts for nothing, and is kTextBytes long at most.
  void broadcastText(MPI_Comm comm, std::span<const char> text, int root);
  /// Of data likewise: `bytes` of each rank.
  void allgather(MPI_Comm comm, const void* mine, void* all, std::size_t bytes);
  void barrier(MPI_Comm comm);

  /// By messages on `comm` with `tag`: the union of the bits of `size` ranks, of which the caller
  /// is number `rank`; no words: a barrier. Dissemination: after round k a rank has the words of
  /// the 2^(k+1) - 1 before it, too. `members`: the ranks as a group, where they are not those of
  /// `comm`; all of them are in `of_comm`, its group.
  void disseminate(MPI_Comm comm, int tag, int rank, int size,
                   std::span<const std::uint64_t> words = {}, MPI_Group members = MPI_GROUP_NULL,
                   MPI_Group of_comm = MPI_GROUP_NULL);

  /// Does what can be done now: true when it is over. On a simulated machine it waits.
  bool advance();
  /// Once it is over.
  Status status() const;
  /// Advances until it is over, with `meanwhile` and a yield between looks.
  Status wait(const std::function<void()>& meanwhile = {});

  /// Of all ranks, once it is over.
  std::span<const std::uint64_t> words() const { return std::span(words_).first(count_); }
  /// Likewise: ends with a zero.
  const char* text() const { return reinterpret_cast<const char*>(words_.data()); }

  /// Whether it was begun, and is neither over nor cancelled.
  bool isUnderWay() const;
  /// This rank takes no part any more. MPI may still read and write the words: see Deleter.
  void cancel() noexcept;
  bool isCancelled() const { return is_cancelled_; }

  /// Of one that may be cancelled, or go while it is under way: its words outlive it then.
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
  std::array<std::uint64_t, 2 * kMostWords> words_{};  // those that arrive, behind the others

  // Of messages.
  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0, round_ = 0, rounds_ = 0;
  std::array<int, 2 * kMostRounds> peers_{};  // of each round: to whom, and from whom
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_SERVICE_SERVICE_COLLECTIVE_H_
