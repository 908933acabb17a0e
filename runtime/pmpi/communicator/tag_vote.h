// Tag vote: before a persistent or long call its ranks put together which message tags are taken on
// any of them, whether their calls are the same, and whether all have the memory. By messages with
// tags of the call's own: a collective of MPI would match whatever ranks with another call make.
#ifndef TORC_RUNTIME_PMPI_COMMUNICATOR_TAG_VOTE_H_
#define TORC_RUNTIME_PMPI_COMMUNICATOR_TAG_VOTE_H_

#include <cstdint>
#include <memory>

#include <mpi.h>

#include "runtime/job/geometry.h"
#include "runtime/transport/tag_space.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

/// A reduction by dissemination: after step k a rank has what the 2^(k+1) - 1 before it have, too.
class TagVote {
 public:
  /// As many tags as it has steps.
  static std::uint32_t tagCount(int ranks);

  /// On the geometry's communicator, with `tags`. `signature`: of the call. Throws std::bad_alloc.
  TagVote(torc_geometry& geometry, const TagRange& tags, std::uint64_t signature, bool has_memory);
  TagVote(const TagVote&) = delete;
  TagVote& operator=(const TagVote&) = delete;
  /// What MPI may still read or write stays.
  ~TagVote();

  /// Does what can be done now: true when it is over.
  StatusOr<bool> advance();

  /// Once it is over: on any rank.
  const TagMap& taken() const { return ballots_->mine.taken; }
  bool haveMemory() const { return ballots_->mine.without_memory == 0; }
  bool isSameEverywhere() const {
    // A bit that is set on one rank and not on another is set in both.
    return (ballots_->mine.signature & ballots_->mine.complement) == 0;
  }

 private:
  struct Ballot {
    TagMap taken;
    std::uint64_t signature, complement, without_memory;
  };
  struct Ballots {
    Ballot mine, arriving;
  };

  int exchange();
  void merge();

  torc_geometry& geometry_;
  const TagRange tags_;
  std::uint32_t step_ = 0;
  std::unique_ptr<Ballots> ballots_;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_COMMUNICATOR_TAG_VOTE_H_
