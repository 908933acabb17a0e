// Call: the arguments of a collective, checked once, in one form. It is the key of persistent
// plans; they are made from it and bound to it.
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

/// Parts that may differ between calls with the same persistent plan.
struct CallBinding {
  Keep keep_type = Keep::kDuplicate;
  ElementType type;
  Reduction reduction;
  const void* in = nullptr;
  void* out = nullptr;
  std::int64_t in_displaced = 0;  // bytes from the argument to the buffer's first element
  std::int64_t out_displaced = 0;
  bool keeps_whole = false;  // the operation must get whole vectors, not parts of them
  std::uint64_t bytes = 0;   // of data, of the whole vector; for pairs, of the sent blocks
};

/// Counts are in elements of `type`, lists by rank of the communicator.
struct Call : CallBinding {
  Reason fault = Reason::kServed;  // reason why it cannot be served
  Collective collective = Collective::kAllreduce;
  bool in_place = false;
  // Under MPI's rules a collective that moves data moves bytes, whose number is the same on all
  // ranks. Elements that are not contiguous are copied, in reductions elements with gaps: then the
  // buffers here must be replaced (runtime/pmpi/calls/packing.h).
  bool packs_in = false;
  bool unpacks_out = false;
  std::int32_t root = 0;
  std::uint64_t count = 0;                   // without a list
  std::vector<std::uint64_t> per_rank;       // empty: `count` for all
  std::vector<std::uint64_t> displacements;  // empty: blocks are contiguous
  // For pairs, the lists above describe the blocks from the ranks, in `out`; these the blocks to
  // the ranks, in `in`.
  std::vector<std::uint64_t> in_per_rank;
  std::vector<std::uint64_t> in_displacements;
  bool takes_shorter = false;            // received blocks may be shorter than those in `out`
  std::int32_t short_own = -1;           // this rank, if its block to itself is shorter; otherwise
                                         // -1
  std::uint64_t scale = 1;               // elements of `type` per element of the arguments
  bool whole_is_in = false;              // displacements are those of `in`, not of `out`
  std::int64_t lowest_displacement = 0;  // elements of the arguments from there to displacement 0
  BufferElements elements;               // read and written there

  /// Whether contributions must be combined in the order of ranks: schedules serve that if the
  /// ranks of the communicator are in their order.
  bool needsRankOrder() const { return rowOf(collective).isPrefix() || !reduction.commutes; }
  /// Whether it needs a schedule with ordered sums; all schedules of prefixes have them.
  bool needsOrderedSums() const { return !reduction.commutes && !rowOf(collective).isPrefix(); }
  /// Whether the operation may rely on whole vectors, although MPI does not guarantee them. A
  /// user-defined one may combine several elements of a predefined datatype, as a matrix.
  bool mayRelyOnWhole() const {
    return reduction.op != MPI_OP_NULL && !isPredefinedReduction(reduction.op) && type.predefined;
  }
  /// First elements of the buffers: displacement 0 in the buffer that has all blocks.
  std::byte* outBegin() const { return static_cast<std::byte*>(out) + out_displaced; }
  const std::byte* inBegin() const { return static_cast<const std::byte*>(in) + in_displaced; }
  /// Equal on ranks that pass the same counts: the count itself, or a hash of the lists.
  std::uint64_t countsFingerprint() const;
};

/// For other ranks than the root of a rooted collective: removes the arguments that are significant
/// only at the root, and may be invalid here. The rank's own block then describes all blocks.
void dropIgnored(int rank, CallArguments& arguments);

/// Checks all arguments of a call by rank `rank` of `ranks`, without communication. `call` may be
/// reused: its lists keep their memory. Lists are checked but not copied: `takeLists` copies them.
/// Allocates only to examine a derived datatype.
///
/// An error has its kind in `call.fault`, and a text that names the argument. Under MPI's rules
/// every rank of a correct program gets the same kind. It depends on the root, the number of bytes,
/// the operation and, in reductions, the datatype, which MPI requires to be the same on all ranks;
/// not on buffers, nor on the datatypes of moved data, which may differ. kArgument and kOwnBlock
/// may concern one rank alone, as may kOverflow for pairs with lists. Ignored arguments
/// (dropIgnored) are not checked. `call.bytes` is set unless counts or datatype are wrong.
Status check(const CallArguments& arguments, int rank, int ranks, Call& call);

/// Copies the lists of arguments that have passed `check`. Throws std::bad_alloc.
void takeLists(const CallArguments& arguments, int ranks, Call& call);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_CALL_H_
