// Lists of pairs: what they come to, and MPI's rules about the buffers.
#include "runtime/collectives/check_pairs.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/collectives/pair_blocks.h"
#include "runtime/reductions/mpi_reduction.h"
#include "runtime/transport/which_mpi.h"
#include "support/message.h"

namespace torc::runtime {
namespace {

BrokenRule measure(const CallFacts& facts, bool sent, PairBytes& bytes) {
  const int blocks = facts.arguments.listLength(facts.ranks);
  Status status = PairBlocks(facts.arguments, sent).measure(facts.rank, blocks, bytes);
  if (status.ok()) return {};
  const bool is_overflow = status.code() == StatusCode::kOverflow;
  return {is_overflow ? CallFault::kOverflow : CallFault::kArgument, std::move(status)};
}

/// With a datatype for each block a null pointer is MPI_BOTTOM.
bool isMissing(const void* buffer, const MPI_Datatype* types, MPI_Datatype type) {
  ElementType element;
  return buffer == nullptr && types == nullptr && lookAtType(type, element).ok() &&
         element.predefined;
}

/// Whether MPICH takes `in` for the same memory as `out`, and refuses that, even where there is
/// nothing: the lists are the same, too, and the datatypes.
bool isAliased(const CallArguments& arguments) {
  const bool alike = arguments.types == nullptr ? arguments.type == arguments.own_type
                                                : arguments.types == arguments.own_types;
  return alike && arguments.in == arguments.out &&
         arguments.counts.address() == arguments.own_counts.address();
}

BrokenRule checkBuffers(const CallFacts& facts, const PairBytes& sent, const PairBytes& received) {
  const CallArguments& arguments = facts.arguments;
  if (arguments.displacements.isNull()) return wrongArgument("out_displacements is NULL");
  if (arguments.out == MPI_IN_PLACE) return wrongArgument("out is MPI_IN_PLACE");
  if (received.data > 0 && isMissing(arguments.out, arguments.types, arguments.type)) {
    return wrongArgument("out is NULL");
  }
  if (facts.in_place) return {};
  if (arguments.own_displacements.isNull()) return wrongArgument("in_displacements is NULL");
  if (sent.data > 0 && isMissing(arguments.in, arguments.own_types, arguments.own_type)) {
    return wrongArgument("in is NULL");
  }
  if (facts.mpi && kRefusesAliases && !facts.row.isOfNeighbours() && isAliased(arguments)) {
    return wrongArgument("in and out are the same memory");
  }
  return {};
}

/// What torc.h's rules do not serve.
BrokenRule checkElements(const CallArguments& arguments, const PairBytes& sent,
                         const PairBytes& received) {
  ElementType in, out;
  static_cast<void>(lookAtType(arguments.own_type, in));
  static_cast<void>(lookAtType(arguments.type, out));
  if (!sent.gapless) return {CallFault::kDatatype, gapsIn(in).annotated("in_type")};
  if (!received.gapless) return {CallFault::kDatatype, gapsIn(out).annotated("out_type")};
  return checkTypesOfPair(arguments, in, out);
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

BrokenRule checkPairs(const CallFacts& facts, Call& call) {
  const CallArguments& arguments = facts.arguments;
  PairBytes sent, received;
  if (BrokenRule broken = checkInPlace(facts)) return broken;
  if (BrokenRule broken = measure(facts, false, received)) return broken;
  call.scale = 1;
  call.count = 0;
  static_cast<void>(lookAtType(MPI_BYTE, call.type));
  call.bytes = received.data;
  if (!arguments.has_buffers) return {};
  if (BrokenRule broken = measure(facts, true, sent)) return broken;
  call.bytes = sent.data;
  if (BrokenRule broken = checkBuffers(facts, sent, received)) return broken;
  if (!facts.mpi) {
    if (BrokenRule broken = checkElements(arguments, sent, received)) return broken;
  }
  const bool fits = facts.mpi ? sent.own <= received.own : sent.own == received.own;
  if (!facts.row.isOfNeighbours() && !fits) {
    return {CallFault::kOwnBlock,
            {StatusCode::kMismatch, message("the own block has ", sent.own, " bytes in `in`, but ",
                                            received.own, " in `out`")}};
  }
  call.takes_shorter = facts.mpi;
  if (!facts.row.isOfNeighbours() && sent.own < received.own) call.short_own = facts.rank;
  const bool overlaps = !facts.in_place && overlap(call, sent, received);
  if (overlaps && !facts.mpi) return wrongArgument("in and out overlap");
  call.unpacks_out = received.data > 0 && !received.in_row;
  call.packs_in =
      sent.data > 0 && (facts.in_place || !sent.in_row || (overlaps && !call.unpacks_out));
  call.in_place = false;  // what is sent is a copy then
  call.elements = {call.packs_in ? sent.data : sent.span,
                   call.unpacks_out ? received.data : received.span};
  call.in_displaced = call.packs_in ? 0 : sent.lowest;
  call.out_displaced = received.lowest;
  return {};
}

void takePairLists(const CallArguments& arguments, int ranks, Call& call) {
  const int blocks = arguments.listLength(ranks);
  PairBlocks(arguments, true)
      .take(blocks, call.in_displaced, call.in_per_rank,
            call.packs_in ? nullptr : &call.in_displacements);
  PairBlocks(arguments, false)
      .take(blocks, call.out_displaced, call.per_rank,
            call.unpacks_out ? nullptr : &call.displacements);
  if (call.short_own < 0) return;
  const auto own = static_cast<std::size_t>(call.short_own);
  call.per_rank[own] = call.in_per_rank[own];
}

}  // namespace torc::runtime
