// Root counts: before a call of MPI_Scatterv or MPI_Gatherv all ranks learn how long all blocks
// are, since those of others pass through them. Of a scatterv the root tells them, or that MPI is
// to make the call; of a gatherv each rank tells its own, which may be shorter than the root's room
// for it. By messages with tags of the call's own: a collective of MPI would match whatever ranks
// with another call make.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_ROOT_COUNTS_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_ROOT_COUNTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

#include "runtime/job/geometry.h"
#include "runtime/transport/tag_space.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

/// A broadcast along a binomial tree; or an allgather in as many rounds, each rank of which sends
/// what it knows to the one before it by 1, 2, 4, ... ranks.
class RootCounts {
 public:
  /// As many tags as it has.
  static constexpr std::uint32_t kTags = 1;
  /// Messages on the longest way.
  static int depth(int ranks);

  /// On the geometry's communicator, with `tags`. Throws std::bad_alloc.
  RootCounts(torc_geometry& geometry, const TagRange& tags, int root, bool gathers);
  RootCounts(const RootCounts&) = delete;
  RootCounts& operator=(const RootCounts&) = delete;
  /// What MPI may still read or write stays.
  ~RootCounts();

  /// Of a gatherv, first of all: bytes of this rank's block.
  void tellOwn(std::uint64_t bytes);
  /// Of a scatterv at the root, first of all: bytes of all blocks together, and of each, or none.
  void tell(std::uint64_t total, std::span<const std::uint64_t> counts);

  /// Does what can be done now: true when it is over.
  StatusOr<bool> advance();

  /// Once it is over: bytes of all blocks together, and of each, if the root has told that.
  std::uint64_t total() const { return messages_->words.front(); }
  std::span<const std::uint64_t> counts() const {
    return std::span(messages_->words).first(messages_->length).subspan(1);
  }

 private:
  /// Memory of messages.
  struct Messages {
    std::vector<std::uint64_t> words;  // the total, then the counts
    std::size_t length = 0;            // words in use; 0: not told yet
    std::vector<MPI_Request> requests;
  };

  StatusOr<bool> gather();
  int receive();
  int sendOn();
  int start(bool sends, std::uint64_t* words, std::size_t count, int rank);
  int rankOf(int place) const { return (place + root_) % geometry_.size; }

  torc_geometry& geometry_;
  const TagRange tags_;
  const int root_;
  const int place_;  // in the tree, whose root has 0
  const bool gathers_;
  bool is_sent_ = false;
  std::unique_ptr<Messages> messages_;
};

/// Whether the next call of such a function on a communicator is worth the messages: what was told
/// last is likely to hold again. Alike on all ranks, as what it depends on is.
class RootCountsTurns {
 public:
  /// Whether the next call is left out.
  bool leavesOut() const { return left_out_ > 0; }
  /// A call comes, in the communicator's order: whether the root is to tell its counts.
  bool take() {
    if (left_out_ == 0) return true;
    --left_out_;
    return false;
  }
  /// What it has told was worth it, or was not: then so many calls more are left out as never
  /// before.
  void told(bool is_worth) {
    constexpr std::uint32_t kMost = 1023;
    leaves_out_ = is_worth ? 0 : std::min(2 * leaves_out_ + 1, kMost);
    left_out_ = leaves_out_;
  }

 private:
  std::uint32_t leaves_out_ = 0;  // calls after one that was not worth it
  std::uint32_t left_out_ = 0;    // of them, still to come
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_ROOT_COUNTS_H_
