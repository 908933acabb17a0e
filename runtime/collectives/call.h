// Call: the arguments of a collective, checked once, in one form for all. It is the key under which
// persistent plans are found, and what they are laid out from and bound to.
#ifndef TORC_RUNTIME_COLLECTIVES_CALL_H_
#define TORC_RUNTIME_COLLECTIVES_CALL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include "runtime/job/call_arguments.h"
#include "runtime/job/reason.h"
#include "runtime/reductions/mpi_reduction.h"
#include "support/status.h"

namespace torc::runtime {

/// Elements of buffers.
struct BufferElements {
  std::uint64_t in = 0, out = 0;
};

/// What may be another in calls that are laid out alike.
struct CallBinding {
  Keep keep_type = Keep::kDuplicate;
  ElementType type;
  Reduction reduction;
  const void* in = nullptr;
  void* out = nullptr;
  std::int64_t in_displaced = 0;  // bytes from the argument to the buffer's first element
  std::int64_t out_displaced = 0;
  bool keeps_whole = false;  // the operation is to get whole vectors, not parts of them
  std::uint64_t bytes = 0;   // of data, of the whole vector; of pairs, that the rank sends
};

/// Counts are of elements of `type`, lists by rank of the communicator.
struct Call : CallBinding {
  Reason fault = Reason::kServed;  // of what keeps it from being laid out
  Collective collective = Collective::kAllreduce;
  bool in_place = false;
  // Under MPI's rules a collective that moves data moves bytes, whose number all ranks agree on.
  // Elements of the program that are not just bytes in a row are copied: the buffers here are to be
  // replaced (runtime/pmpi/calls/packing.h). So are those of a reduction whose elements have gaps.
  bool packs_in = false;
  bool unpacks_out = false;
  std::int32_t root = 0;
  std::uint64_t count = 0;                   // where there is no list
  std::vector<std::uint64_t> per_rank;       // empty: `count` for all
  std::vector<std::uint64_t> displacements;  // empty: blocks follow one another
  // Of pairs those two are the blocks from the ranks, in `out`; and these the ones to them, in
  // `in`.
  std::vector<std::uint64_t> in_per_rank;
  std::vector<std::uint64_t> in_displacements;
  bool takes_shorter = false;            // blocks that come may be shorter than those in `out`
  std::int32_t short_own = -1;           // the rank itself, whose block to itself is; -1: it is not
  std::uint64_t scale = 1;               // elements of `type` in one of the arguments
  bool whole_is_in = false;              // displacements are those of `in`, not of `out`
  std::int64_t lowest_displacement = 0;  // elements of the arguments from there to displacement 0
  BufferElements elements;               // that the program reads and writes there

  /// Whether contributions are combined in the order of ranks: schedules serve it where the ranks
  /// of the communicator are in the order of theirs.
  bool needsRankOrder() const { return rowOf(collective).isPrefix() || !reduction.commutes; }
  /// Whether only a schedule that promises ordered sums serves it; all of prefixes do.
  bool needsOrderedSums() const { return !reduction.commutes && !rowOf(collective).isPrefix(); }
  /// Whether the operation may rely on what MPI does not promise: on seeing whole vectors. One of
  /// the program's own may take several elements of a predefined datatype together, as a matrix.
  bool mayRelyOnWhole() const {
    return reduction.op != MPI_OP_NULL && !isPredefinedReduction(reduction.op) && type.predefined;
  }
  /// Where the elements of the buffers begin: displacement 0 of the one that has all blocks.
  std::byte* outBegin() const { return static_cast<std::byte*>(out) + out_displaced; }
  const std::byte* inBegin() const { return static_cast<const std::byte*>(in) + in_displaced; }
  /// Equal on ranks that pass the same counts: the count itself, or a hash of them.
  std::uint64_t countsFingerprint() const;
};

/// Of a rooted collective, on a rank that is not the root: takes away the arguments that are
/// ignored there, which may be anything; those of all blocks become what the rank says of its own.
void dropIgnored(const CollectiveRow& row, int rank, CallArguments& arguments);

/// Checks all there is to check of a call that rank `rank` of `ranks` makes, without communicating.
/// `call` may be one used before: its lists' memory serves again. Lists are checked but not copied:
/// `takeLists` does. Allocates only what a derived datatype needs to be looked at.
///
/// An error has its kind in `call.fault`, and a text that names the argument. Under MPI's rules
/// every rank of a correct program gets the same kind: it depends on the root, the number of bytes,
/// the operation and, in reductions, the datatype, which MPI demands to be the same everywhere; not
/// on buffers, nor on how data that are only moved are described, which may differ. kArgument and
/// kOwnBlock may be one rank's alone, and so is kOverflow where pairs have lists. What is ignored
/// (dropIgnored) is not looked at. `call.bytes` is set unless counts or datatype are at fault.
Status check(const CallArguments& arguments, int rank, int ranks, Call& call);
/// The same with the row of a collective, in place of that of `arguments.collective`.
Status check(const CallArguments& arguments, const CollectiveRow& row, int rank, int ranks,
             Call& call);

/// Copies the lists of arguments that have passed `check`. Throws std::bad_alloc.
void takeLists(const CallArguments& arguments, int ranks, Call& call);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_CALL_H_
