// The check of a call: the rules that its arguments keep, one after the other. Each says what is
// wrong, or gives what the next ones go on with. Elements are those of the arguments.
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
#include "runtime/reductions/mpi_reduction.h"
#include "support/status.h"

namespace torc::runtime {

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
  std::uint64_t scale = 1;         // elements of the call in one of the arguments
  bool are_blocks_copied = false;  // the buffer of all blocks is packed or unpacked
};

struct CallCheck {
  CallCheck(const CallArguments& given, const CollectiveRow& row_of_call, int own_rank,
            int all_ranks, Call& checked);
  CallCheck(const CallCheck&) = delete;
  CallCheck& operator=(const CallCheck&) = delete;

  /// Fills in `call`. The first rule that is broken ends it.
  Status run();

  // The rules, in the order in which they are told: false where one is broken.
  bool checkRoot();
  bool countElements();
  bool lookAtTypes();    // those of all blocks
  bool findSpan();       // MPI's displacements may be negative and in any order
  bool lookAtOwnType();  // what the caller says of its own block
  bool checkInPlace();
  bool checkBuffers();
  bool checkOwnBlock();  // MPI takes one that is shorter than its room
  bool checkReduction();
  bool checkOverlap();
  // Of lists of pairs: what they come to, and MPI's rules about the buffers.
  bool checkPairs();
  bool measurePairs(bool is_sent, PairBytes& bytes);
  bool checkPairBuffers(const PairBytes& sent, const PairBytes& received);
  bool checkPairElements(const PairBytes& sent, const PairBytes& received);

  // Whatever is found out is laid out in `call`.
  void begin();
  void findHeld();
  void layOut();
  void findCopies();
  void useRoom();

  /// Notes a broken rule. False.
  bool breaks(Reason fault, Status what);
  bool isWrong(std::string text) {
    return breaks(Reason::kArgument, {StatusCode::kInvalidArgument, std::move(text)});
  }
  bool isTooLong(std::string text) {
    return breaks(Reason::kOverflow, {StatusCode::kOverflow, std::move(text)});
  }
  bool exceedsMemory(std::uint64_t elements, std::size_t element_bytes);
  bool hasGaps(const ElementType& type, std::string_view argument);
  /// Of two types whose data are moved by torc.h's rules.
  bool checkTypesOfPair(const ElementType& in_type, const ElementType& out_type);

  /// Whether a reduction's elements have gaps and travel with them, in copies. Where they have more
  /// gaps than data, MPI sends less.
  bool copiesGaps(const ElementType& type) const {
    return mpi && row.reduces() && !type.gapless && type.apart && type.bytes <= 2 * type.size;
  }
  /// Whether a block is as long as its place in the result, to all ranks: MPI takes those of an
  /// allgather from there.
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
  /// With a derived type a null pointer is MPI_BOTTOM, to MPI.
  bool isMissing(const void* buffer, const ElementType& type) const {
    return buffer == nullptr && (!mpi || type.predefined);
  }
  bool isAliased() const;
  /// Whether elements that the call reads and writes lie in the same memory.
  bool buffersOverlap() const;

  const CallArguments& arguments;
  const CollectiveRow& row;
  const int rank, ranks;
  const bool mpi;          // MPI's rules
  const bool by_rank;      // counts
  const bool is_root;      // or there is none
  const bool in_place;     // as the caller says
  const bool moves_bytes;  // whatever the datatype is
  Call& call;

  CallCounts counts;
  CallTypes types;
  CallSpan span;
  BufferElements held;  // in the buffers
  Status status;        // of the rule that is broken
};

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_COLLECTIVES_CALL_CHECK_H_
