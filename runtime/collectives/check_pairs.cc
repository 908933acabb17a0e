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

Status fault(Call& call, CallFault kind, StatusCode code, std::string text) {
  call.fault = kind;
  return {code, std::move(text)};
}
Status wrong(Call& call, std::string text) {
  return fault(call, CallFault::kArgument, StatusCode::kInvalidArgument, std::move(text));
}

Status measure(const CallArguments& arguments, bool sent, int rank, int ranks, Call& call,
               PairBytes& bytes) {
  Status status = PairBlocks(arguments, sent).measure(rank, ranks, bytes);
  if (!status.ok()) {
    call.fault =
        status.code() == StatusCode::kOverflow ? CallFault::kOverflow : CallFault::kArgument;
  }
  return status;
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

Status checkBuffers(const CallArguments& arguments, const PairBytes& sent,
                    const PairBytes& received, Call& call) {
  if (arguments.displacements.isNull()) return wrong(call, "out_displacements is NULL");
  if (arguments.out == MPI_IN_PLACE) return wrong(call, "out is MPI_IN_PLACE");
  if (received.data > 0 && isMissing(arguments.out, arguments.types, arguments.type)) {
    return wrong(call, "out is NULL");
  }
  if (call.in_place) return {};
  if (arguments.own_displacements.isNull()) return wrong(call, "in_displacements is NULL");
  if (sent.data > 0 && isMissing(arguments.in, arguments.own_types, arguments.own_type)) {
    return wrong(call, "in is NULL");
  }
  if (arguments.rules == CallRules::kMpi && kRefusesAliases && isAliased(arguments))
    return wrong(call, "in and out are the same memory");
  return {};
}

/// What torc.h's rules do not serve.
Status checkElements(const CallArguments& arguments, const PairBytes& sent,
                     const PairBytes& received, Call& call) {
  ElementType in, out;
  static_cast<void>(lookAtType(arguments.own_type, in));
  static_cast<void>(lookAtType(arguments.type, out));
  if (!sent.gapless || !received.gapless) {
    call.fault = CallFault::kDatatype;
    return sent.gapless ? gapsIn(out).annotated("out_type") : gapsIn(in).annotated("in_type");
  }
  if (arguments.own_type != arguments.type && !(in.simple && out.simple)) {
    return fault(call, CallFault::kDatatype, StatusCode::kUnsupported,
                 message("in_type ", in.name(), " and out_type ", out.name(),
                         " are different derived datatypes"));
  }
  return {};
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

Status checkPairs(const CallArguments& arguments, int rank, int ranks, Call& call) {
  const bool mpi = arguments.rules == CallRules::kMpi;
  if (call.in_place && !mpi) {
    return fault(call, CallFault::kArgument, StatusCode::kUnsupported,
                 message("in is MPI_IN_PLACE, which no schedule of ", rowOf(call.collective).name,
                         " serves"));
  }
  PairBytes sent, received;
  if (Status status = measure(arguments, false, rank, ranks, call, received); !status.ok()) {
    return status;
  }
  call.scale = 1;
  call.count = 0;
  static_cast<void>(lookAtType(MPI_BYTE, call.type));
  call.bytes = received.data;
  if (!arguments.has_buffers) return {};
  if (Status status = measure(arguments, true, rank, ranks, call, sent); !status.ok()) {
    return status;
  }
  call.bytes = sent.data;
  if (Status status = checkBuffers(arguments, sent, received, call); !status.ok()) return status;
  if (!mpi) {
    if (Status status = checkElements(arguments, sent, received, call); !status.ok()) {
      return status;
    }
  }
  if (sent.own != received.own) {
    return fault(
        call, CallFault::kOwnBlock, StatusCode::kMismatch,
        message("the own block has ", sent.own, " bytes in `in`, but ", received.own, " in `out`"));
  }
  const bool overlaps = !call.in_place && overlap(call, sent, received);
  if (overlaps && !mpi) {
    return wrong(call, "in and out overlap");
  }
  call.unpacks_out = received.data > 0 && !received.in_row;
  call.packs_in =
      sent.data > 0 && (call.in_place || !sent.in_row || (overlaps && !call.unpacks_out));
  call.in_place = false;  // what is sent is a copy then
  call.elements = {call.packs_in ? sent.data : sent.span,
                   call.unpacks_out ? received.data : received.span};
  call.in_displaced = call.packs_in ? 0 : sent.lowest;
  call.out_displaced = received.lowest;
  return {};
}

void takePairLists(const CallArguments& arguments, int ranks, Call& call) {
  PairBlocks(arguments, true)
      .take(ranks, call.in_displaced, call.in_per_rank,
            call.packs_in ? nullptr : &call.in_displacements);
  PairBlocks(arguments, false)
      .take(ranks, call.out_displaced, call.per_rank,
            call.unpacks_out ? nullptr : &call.displacements);
}

}  // namespace torc::runtime
