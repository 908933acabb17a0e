// Pair blocks: the blocks to all ranks, or from all ranks, as MPI_Alltoallv and MPI_Alltoallw
// describe them: each with its own count and displacement, and perhaps its own datatype. They move
// as bytes, since only the number of bytes must be equal on both ranks of a pair.
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

/// Sums over the blocks in one buffer, in bytes.
struct PairBytes {
  std::uint64_t data = 0;   // of all blocks
  std::uint64_t own = 0;    // of the block from the rank to itself
  std::int64_t lowest = 0;  // beginning of the first block, relative to the argument
  std::uint64_t span = 0;   // from there to the end of the last one
  bool in_row = true;       // all elements can be moved without a copy; otherwise `lowest` and
                            // `span` are 0
  bool gapless = true;
};

/// The blocks in one buffer of a call that has lists of them (CallArguments::hasPairLists), which
/// must outlive this.
class PairBlocks {
 public:
  /// `sent`: those in `in`. In place, the description and the memory are those of `out`.
  PairBlocks(const CallArguments& arguments, bool sent);

  /// Checks the lists of `ranks` ranks; the caller is `rank`. Datatypes of empty blocks are checked
  /// only if there is one for all; without displacements, positions are not checked. Errors:
  /// kInvalidArgument, which names the argument; kOverflow.
  Status measure(int rank, int ranks, PairBytes& bytes) const;

  /// For lists that have passed `measure`: bytes of each block and, if `places` is not null, its
  /// beginning relative to `lowest`. Throws std::bad_alloc.
  void take(int ranks, std::int64_t lowest, std::vector<std::uint64_t>& bytes,
            std::vector<std::uint64_t>* places) const;

  /// A block in the form of MPI arguments.
  struct Block {
    std::byte* data = nullptr;
    std::int64_t count = 0;  // elements
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::size_t bytes = 0;
  };
  Block block(int rank) const;

 private:
  Status look(int rank, ElementType& element) const;
  /// Whether such elements are moved without a copy. By torc.h's rules both ranks of a pair have
  /// the same datatype, so that the order of its data does not matter.
  bool isInRow(const ElementType& element) const {
    return arguments_.rules == CallRules::kTorc ? element.gapless : element.isBytesInRow();
  }
  /// Bytes from the buffer's beginning; false: overflow.
  bool placeOf(int rank, const ElementType& element, std::int64_t& place) const;
  const char* prefix() const { return sent_ ? "in_" : "out_"; }
  /// Number of elements; 0 for a missing neighbour.
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
