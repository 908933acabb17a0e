// The check of calls with different counts for each pair (MPI_Alltoallv, MPI_Alltoallw): their
// sums, and MPI's rules for the buffers. Elements become bytes.
#include <cstdint>

#include "runtime/collectives/call_check.h"
#include "runtime/collectives/pair_blocks.h"
#include "runtime/reductions/mpi_reduction.h"
#include "runtime/transport/which_mpi.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

/// With a datatype for each block a null pointer means MPI_BOTTOM.
bool lacksBuffer(const void* buffer, const MPI_Datatype* types, MPI_Datatype type) {
  ElementType element;
  return buffer == nullptr && types == nullptr && lookAtType(type, element).ok() &&
         element.predefined;
}

/// Whether MPICH regards `in` and `out` as the same memory, and refuses that, even without data:
/// the lists and the datatypes are the same, too.
bool isOneBuffer(const CallArguments& arguments) {
  const bool alike = arguments.types == nullptr ? arguments.type == arguments.own_type
                                                : arguments.types == arguments.own_types;
  return alike && arguments.in == arguments.out &&
         arguments.counts.address() == arguments.own_counts.address();
}

bool overlap(const Call& call, const PairBytes& sent, const PairBytes& received) {
  if (sent.span == 0 || received.span == 0) return false;
  const auto in =
      reinterpret_cast<std::uintptr_t>(call.in) + static_cast<std::uintptr_t>(sent.lowest);
  const auto out =
      reinterpret_cast<std::uintptr_t>(call.out) + static_cast<std::uintptr_t>(received.lowest);
  return in < out + received.span && out < in + sent.span;
}

}  // namespace

bool CallCheck::measurePairs(bool is_sent, PairBytes& bytes) {
  const int blocks = arguments.listLength(ranks);
  Status measured = PairBlocks(arguments, is_sent).measure(rank, blocks, bytes);
  if (measured.ok()) return true;
  const bool is_overflow = measured.code() == StatusCode::kOverflow;
  return breaks(is_overflow ? Reason::kOverflow : Reason::kArgument, std::move(measured));
}

bool CallCheck::checkPairBuffers(const PairBytes& sent, const PairBytes& received) {
  if (arguments.displacements.isNull()) return isWrong("out_displacements is NULL");
  if (arguments.out == MPI_IN_PLACE) return isWrong("out is MPI_IN_PLACE");
  if (received.data > 0 && lacksBuffer(arguments.out, arguments.types, arguments.type)) {
    return isWrong("out is NULL");
  }
  if (in_place) return true;
  if (arguments.own_displacements.isNull()) return isWrong("in_displacements is NULL");
  if (sent.data > 0 && lacksBuffer(arguments.in, arguments.own_types, arguments.own_type)) {
    return isWrong("in is NULL");
  }
  if (mpi && kRefusesAliases && !row.isOfNeighbours() && isOneBuffer(arguments)) {
    return isWrong("in and out are the same memory");
  }
  return true;
}

/// Types that torc.h's rules exclude.
bool CallCheck::checkPairElements(const PairBytes& sent, const PairBytes& received) {
  ElementType in, out;
  static_cast<void>(lookAtType(arguments.own_type, in));
  static_cast<void>(lookAtType(arguments.type, out));
  if (!sent.gapless) return hasGaps(in, "in_type");
  if (!received.gapless) return hasGaps(out, "out_type");
  return checkTypesOfPair(in, out);
}

bool CallCheck::checkPairs() {
  PairBytes sent, received;
  if (!checkInPlace() || !measurePairs(false, received)) return false;
  call.scale = 1;
  call.count = 0;
  static_cast<void>(lookAtType(MPI_BYTE, call.type));
  call.bytes = received.data;
  if (!arguments.has_buffers) return true;
  if (!measurePairs(true, sent)) return false;
  call.bytes = sent.data;
  if (!checkPairBuffers(sent, received)) return false;
  if (!mpi && !checkPairElements(sent, received)) return false;
  const bool fits = mpi ? sent.own <= received.own : sent.own == received.own;
  if (!row.isOfNeighbours() && !fits) {
    return breaks(Reason::kOwnBlock, {StatusCode::kMismatch,
                                      message("the own block has ", sent.own,
                                              " bytes in `in`, but ", received.own, " in `out`")});
  }
  call.takes_shorter = mpi;
  if (!row.isOfNeighbours() && sent.own < received.own) call.short_own = rank;
  const bool overlaps = !in_place && overlap(call, sent, received);
  if (overlaps && !mpi) return isWrong("in and out overlap");
  call.unpacks_out = received.data > 0 && !received.in_row;
  call.packs_in = sent.data > 0 && (in_place || !sent.in_row || (overlaps && !call.unpacks_out));
  call.in_place = false;  // the sent data are then a copy
  call.elements = {call.packs_in ? sent.data : sent.span,
                   call.unpacks_out ? received.data : received.span};
  call.in_displaced = call.packs_in ? 0 : sent.lowest;
  call.out_displaced = received.lowest;
  return true;
}

}  // namespace torc::runtime
