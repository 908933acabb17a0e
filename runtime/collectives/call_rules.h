// The rules that the arguments of a call keep: functions of what is known of the call, each of
// which says what is wrong, or gives what the next ones go on with. Elements are those of the
// arguments.
#ifndef TORC_RUNTIME_COLLECTIVES_CALL_RULES_H_
#define TORC_RUNTIME_COLLECTIVES_CALL_RULES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/collectives/call.h"
#include "runtime/job/call_arguments.h"
#include "runtime/reductions/mpi_reduction.h"
#include "support/status.h"

namespace torc::runtime {

/// A rule that is broken, and how; or none.
struct BrokenRule {
  CallFault fault = CallFault::kNone;
  Status status;

  explicit operator bool() const { return fault != CallFault::kNone; }
};

/// A value that is not valid.
BrokenRule wrongArgument(std::string text);

/// What is known of a call before its arguments are looked at.
struct CallFacts {
  CallFacts(const CallArguments& given, const CollectiveRow& row_of_call, int own_rank,
            int all_ranks);

  const CallArguments& arguments;
  const CollectiveRow& row;
  const int rank, ranks;
  const bool mpi;          // MPI's rules
  const bool by_rank;      // counts
  const bool is_root;      // or there is none
  const bool in_place;     // as the caller says
  const bool moves_bytes;  // whatever the datatype is

  /// Whether a reduction's elements have gaps and travel with them, in copies. Where they have more
  /// gaps than data, MPI sends less.
  bool copiesGaps(const ElementType& type) const {
    return mpi && row.reduces() && !type.gapless && type.apart && type.bytes <= 2 * type.size;
  }

  /// Whether a block is as long as its place in the result, to all ranks: MPI takes those of an
  /// allgather from there.
  bool sendsRoom() const { return row.outWhole() && !row.isRooted(); }

  /// The buffer that holds the own block alone.
  std::string_view ownBuffer() const { return row.describesOwnOut() ? "out" : "in"; }
};

struct CallCounts {
  std::uint64_t all = 0;    // of all blocks
  std::uint64_t block = 0;  // of the own one
  std::uint64_t own = 0;    // of what the rank has alone: that, or the blocks of its pairs
};

/// Where blocks lie in the buffer that has them all.
struct CallSpan {
  std::int64_t lowest = 0;     // displacement in use
  std::uint64_t elements = 0;  // from there to the end of the last one
};

struct CallTypes {
  ElementType all;                 // of all blocks
  ElementType own;                 // of the own one, where the caller describes that
  std::uint64_t bytes = 0;         // of data, of the whole vector
  std::uint64_t scale = 1;         // elements of the call in one of the arguments
  bool are_blocks_copied = false;  // the buffer of all blocks is packed or unpacked

  bool describesOwn() const { return own.handle != MPI_DATATYPE_NULL; }
  const ElementType& in(const CollectiveRow& row) const {
    return row.describesOwn() && !row.describesOwnOut() ? own : all;
  }
  const ElementType& out(const CollectiveRow& row) const {
    return row.describesOwnOut() ? own : all;
  }
};

BrokenRule checkRoot(const CallFacts& facts);
BrokenRule countElements(const CallFacts& facts, CallCounts& counts);
/// Those of all blocks.
BrokenRule lookAtTypes(const CallFacts& facts, const CallCounts& counts, CallTypes& types);
/// MPI's displacements may be negative and in any order; a call's count from the lowest one.
BrokenRule findSpan(const CallFacts& facts, const CallCounts& counts, const CallTypes& types,
                    CallSpan& span);
/// What the caller says of its own block.
BrokenRule lookAtOwnType(const CallFacts& facts, ElementType& own);
BrokenRule checkInPlace(const CallFacts& facts);
/// `held`: elements in the buffers.
BrokenRule checkBuffers(const CallFacts& facts, const CallCounts& counts, const CallTypes& types,
                        const BufferElements& held);
/// MPI takes a block that is shorter than its room: `room_left` says whether it is.
BrokenRule checkOwnBlock(const CallFacts& facts, const CallCounts& counts, const CallTypes& types,
                         bool& room_left);
BrokenRule checkReduction(const CallFacts& facts, const CallTypes& types, Reduction& reduction);

/// Of two types whose data are moved by torc.h's rules.
BrokenRule checkTypesOfPair(const CallArguments& arguments, const ElementType& in,
                            const ElementType& out);

/// Whether elements that a call reads and writes lie in the same memory. `call`: its buffers.
bool buffersOverlap(const CallFacts& facts, const CallTypes& types, const BufferElements& held,
                    const Call& call);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_CALL_RULES_H_
