// The check of a call: rules for its arguments, one after the other. Each rule reports an error, or
// computes values for the next ones. Elements are those of the arguments.
#ifndef TORC_RUNTIME_COLLECTIVES_CALL_CHECK_H_
#define TORC_RUNTIME_COLLECTIVES_CALL_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/collectives/call.h"
#include "runtime/collectives/pair_blocks.h"
#include "runtime/job/call_arguments.h"
#include "runtime/job/reason.h"
#include "runtime/non_copyable.h"
#include "runtime/reductions/mpi_reduction.h"
#include "support/status.h"

namespace torc::runtime {

struct CallCounts {
  std::uint64_t all = 0;    // of all blocks
  std::uint64_t block = 0;  // of the own block
  std::uint64_t own = 0;    // of the rank's own data: the own block, or the blocks of its pairs
};

/// Extent of the blocks in the buffer that has all of them.
struct CallSpan {
  std::int64_t lowest = 0;     // lowest displacement in use
  std::uint64_t elements = 0;  // from there to the end of the last one
};

struct CallTypes {
  ElementType all;                 // of all blocks
  ElementType own;                 // of the own one, if the caller describes it
  std::uint64_t scale = 1;         // elements of the call per element of the arguments
  bool are_blocks_copied = false;  // the buffer of all blocks is packed or unpacked
};

struct CallCheck : NonCopyable {
  CallCheck(const CallArguments& given, const CollectiveRow& row_of_call, int own_rank,
            int all_ranks, Call& checked);

  /// Fills in `call`. Stops at the first broken rule.
  Status run();

  // The rules, in the order of their reports: false if one is broken.
  bool checkRoot();
  bool countElements();
  bool lookAtTypes();    // of all blocks
  bool findSpan();       // MPI's displacements may be negative and in any order
  bool lookAtOwnType();  // of the caller's own block
  bool checkInPlace();
  bool checkBuffers();
  bool checkOwnBlock();  // MPI accepts one that is shorter than its room
  bool checkReduction();
  bool checkOverlap();
  // For lists of pairs: their sums, and MPI's rules for the buffers.
  bool checkPairs();
  bool measurePairs(bool is_sent, PairBytes& bytes);
  bool checkPairBuffers(const PairBytes& sent, const PairBytes& received);
  bool checkPairElements(const PairBytes& sent, const PairBytes& received);

  // Puts the results into `call`.
  void begin();
  void findHeld();
  void layOut();
  void findCopies();
  void useRoom();

  /// Notes a broken rule. Returns false.
  bool breaks(Reason fault, Status what);
  bool isWrong(std::string text) {
    return breaks(Reason::kArgument, {StatusCode::kInvalidArgument, std::move(text)});
  }
  bool isTooLong(std::string text) {
    return breaks(Reason::kOverflow, {StatusCode::kOverflow, std::move(text)});
  }
  bool exceedsMemory(std::uint64_t elements, std::size_t element_bytes);
  bool hasGaps(const ElementType& type, std::string_view argument);
  /// For two types of moved data, by torc.h's rules.
  bool checkTypesOfPair(const ElementType& in_type, const ElementType& out_type);

  /// Whether a reduction's elements have gaps and are sent with them, in copies. With more gaps
  /// than data, MPI sends less.
  bool copiesGaps(const ElementType& type) const {
    return mpi && row.reduces() && !type.gapless && type.apart && type.bytes <= 2 * type.size;
  }
  /// Whether every rank sends a block of the length of its place in the result: an allgather takes
  /// it from there.
  bool sendsRoom() const { return row.outWhole() && !row.isRooted(); }
  bool ownIsOut() const { return row.describesOwnOut(); }
  /// The buffer that holds the own block alone.
  std::string_view ownBuffer() const { return ownIsOut() ? "out" : "in"; }
  bool describesOwn() const { return types.own.handle != MPI_DATATYPE_NULL; }
  const ElementType& inType() const {
    return row.describesOwn() && !ownIsOut() ? types.own : types.all;
  }
  const ElementType& outType() const { return ownIsOut() ? types.own : types.all; }
  /// Bytes of an element in the buffer of the caller's own block.
  std::size_t ownBytes(const ElementType& element) const {
    return mpi ? element.size : element.bytes;
  }
  /// With a derived type, MPI treats a null pointer as MPI_BOTTOM.
  bool isMissing(const void* buffer, const ElementType& type) const {
    return buffer == nullptr && (!mpi || type.predefined);
  }
  bool isAliased() const;
  /// Whether the elements read and the elements written overlap.
  bool buffersOverlap() const;

  const CallArguments& arguments;
  const CollectiveRow& row;
  const int rank, ranks;
  const bool mpi;          // MPI's rules
  const bool by_rank;      // counts
  const bool is_root;      // or not rooted
  const bool in_place;     // as the caller says
  const bool moves_bytes;  // for every datatype
  Call& call;

  CallCounts counts;
  CallTypes types;
  CallSpan span;
  BufferElements held;  // in the buffers
  Status status;        // of the broken rule
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_CALL_CHECK_H_
