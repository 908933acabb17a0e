// Pair blocks: the blocks to all ranks, or from all ranks, as MPI_Alltoallv and MPI_Alltoallw
// describe them: each with a count and a place of its own, and perhaps a datatype of its own. They
// move as bytes, for the two ranks of a pair agree on its bytes alone.
#ifndef TORC_RUNTIME_COLLECTIVES_PAIR_BLOCKS_H_
#define TORC_RUNTIME_COLLECTIVES_PAIR_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "runtime/job/call_arguments.h"
#include "runtime/reductions/mpi_reduction.h"
#include "support/status.h"

namespace torc::runtime {

/// What the blocks in one buffer come to, in bytes.
struct PairBytes {
  std::uint64_t data = 0;   // of all blocks
  std::uint64_t own = 0;    // of the block from the rank to itself
  std::int64_t lowest = 0;  // where the first block begins, from the argument on
  std::uint64_t span = 0;   // from there to the end of the last one
  bool in_row = true;       // all elements can be moved as they lie; else `lowest` and `span` are 0
  bool gapless = true;
};

/// The blocks in one buffer of a call that has lists of them (CallArguments::hasPairLists), which
/// must outlive this.
class PairBlocks {
 public:
  /// `sent`: those in `in`. In place they are described as those in `out`, and lie there.
  PairBlocks(const CallArguments& arguments, bool sent);

  /// Checks the lists of `ranks` ranks, of which `rank` is one. Datatypes of empty blocks are
  /// looked at only where there is one for all; without displacements nothing is said of places.
  /// Errors: kInvalidArgument, which names the argument; kOverflow.
  Status measure(int rank, int ranks, PairBytes& bytes) const;

  /// Of lists that have passed `measure`: bytes of each block and, where `places` is not null,
  /// where it begins, from `lowest` on. Throws std::bad_alloc.
  void take(int ranks, std::int64_t lowest, std::vector<std::uint64_t>& bytes,
            std::vector<std::uint64_t>* places) const;

  /// A block as MPI would be given it.
  struct Block {
    std::byte* data = nullptr;
    std::int64_t count = 0;  // elements
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::size_t bytes = 0;
  };
  Block block(int rank) const;

 private:
  Status look(int rank, ElementType& element) const;
  /// Whether blocks of such elements are moved as they lie. By torc.h's rules both ranks of a pair
  /// have the same datatype, whatever order its data have.
  bool isInRow(const ElementType& element) const {
    return arguments_.rules == CallRules::kTorc ? element.gapless : element.isBytesInRow();
  }
  /// Bytes from the buffer's beginning; false: that overflows.
  bool placeOf(int rank, const ElementType& element, std::int64_t& place) const;
  const char* prefix() const { return sent_ ? "in_" : "out_"; }
  /// Of elements; of a neighbour that there is none of, 0.
  std::int64_t countOf(int rank) const { return arguments_.isMissing(rank) ? 0 : counts_[rank]; }

  const CallArguments& arguments_;
  const bool sent_;
  std::byte* const buffer_;
  const NumberList counts_, displacements_;
  const MPI_Datatype type_;
  const MPI_Datatype* const types_;  // null: `type_` for all
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_PAIR_BLOCKS_H_
