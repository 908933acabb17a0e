// Who serves a call: the look at its arguments.
#include "runtime/pmpi/calls/decide.h"

#include <cstddef>
#include <limits>

#include "runtime/execution/mpi_reduction.h"

namespace torc::pmpi {
namespace {

/// MPICH marks the handles of what it predefines in their two highest bits. Such a handle always
/// means the same, so that what is found out about it can be kept.
bool isPredefined(int handle) {
  return static_cast<unsigned>(handle) >> 30 == 1;
}

/// Whether the operation is one on the type, and commutes.
Reason checkReduction(MPI_Datatype type, MPI_Op op) {
  ElementType element;
  {
    StatusOr<ElementType> described = describeType(type);
    if (!described.ok()) return Reason::kDatatypeGaps;
    element = std::move(*described);
  }
  MpiReduction reduction;
  const Status status = reduction.prepare(element, op, Keep::kOriginal);
  if (status.ok()) return Reason::kServed;
  return status.code() == StatusCode::kUnsupported ? Reason::kOperation : Reason::kArgument;
}

/// The same, remembering the last pair of predefined handles.
Reason checkReductionOften(MPI_Datatype type, MPI_Op op) {
  if (!isPredefined(type) || !isPredefined(op)) return checkReduction(type, op);
  struct Memory {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    Reason reason = Reason::kArgument;
  };
  [[gnu::tls_model("initial-exec")]] static thread_local Memory memory;
  if (memory.type != type || memory.op != op) memory = {type, op, checkReduction(type, op)};
  return memory.reason;
}

/// Elements of all blocks together and of the caller's own; false: one is negative, or their sum
/// overflows.
bool sumCounts(const CollectiveCall& call, int rank, int size, std::uint64_t* all,
               std::uint64_t* own) {
  if (!call.has_counts) {
    if (call.count < 0) return false;
    *own = static_cast<std::uint64_t>(call.count);
    const bool blocks = call.collective != Collective::kAllreduce;
    return !__builtin_mul_overflow(*own, blocks ? static_cast<std::uint64_t>(size) : 1, all);
  }
  if (call.counts.empty()) return false;
  *all = 0;
  for (int r = 0; r < size; ++r) {
    const std::int64_t count = call.counts[static_cast<std::size_t>(r)];
    if (count < 0 || __builtin_add_overflow(*all, static_cast<std::uint64_t>(count), all)) {
      return false;
    }
    if (r == rank) *own = static_cast<std::uint64_t>(count);
  }
  return true;
}

/// The datatype of what the caller contributes.
MPI_Datatype readType(const CollectiveCall& call) {
  return call.collective == Collective::kAllgather ? call.in_type : call.type;
}

bool isMissing(const void* buffer, MPI_Datatype type) {
  return buffer == nullptr && isPredefined(type);
}

/// Whether MPICH takes `in` for the same memory as what it is to be written to. Of an allgather
/// that is the caller's own block, where both are described alike; the block is sought by the
/// type's size.
bool isAliased(const CollectiveCall& call, int rank, std::uint64_t own, std::int64_t type_size) {
  if (call.collective != Collective::kAllgather) return call.in == call.out && call.in != nullptr;
  if (call.in_type != call.type || call.in_count != static_cast<std::int64_t>(own)) return false;
  const std::int64_t place = call.has_displacements
                                 ? call.displacements[static_cast<std::size_t>(rank)]
                                 : rank * call.count;
  return static_cast<const std::byte*>(call.out) + place * type_size == call.in;
}

/// Buffers that MPI refuses, of the elements that are read and written there. With a derived type
/// a null pointer is MPI_BOTTOM, which is one. The rules are MPICH's: a rank that leaves a call
/// where MPI does not refuse it would be waited for (tests/runtime/pmpi/differences).
bool buffersAreWrong(const CollectiveCall& call, std::uint64_t read, std::uint64_t written,
                     bool is_aliased) {
  if (written > 0 && (call.out == MPI_IN_PLACE || isMissing(call.out, call.type))) return true;
  if (read == 0 || call.in == MPI_IN_PLACE) return false;
  return isMissing(call.in, readType(call)) || is_aliased;
}

}  // namespace

Reason checkArguments(CollectiveCall& call, int rank, int size) {
  if (call.type == MPI_DATATYPE_NULL) return Reason::kArgument;
  std::uint64_t all = 0, own = 0;
  if (!sumCounts(call, rank, size, &all, &own)) return Reason::kArgument;
  MPI_Count type_size = 0;
  if (PMPI_Type_size_x(call.type, &type_size) != MPI_SUCCESS || type_size < 0) {
    return Reason::kArgument;
  }
  if (__builtin_mul_overflow(all, static_cast<std::uint64_t>(type_size), &call.bytes) ||
      call.bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return Reason::kOverflow;
  }

  const bool moves = *call.collective == Collective::kAllgather;
  const bool in_place = call.in == MPI_IN_PLACE;
  bool own_block_differs = false;
  if (moves) {
    if (call.has_displacements && call.displacements.empty()) return Reason::kArgument;
    if (!in_place) {
      if (call.in_type == MPI_DATATYPE_NULL || call.in_count < 0) return Reason::kArgument;
      MPI_Count in_size = 0;
      if (PMPI_Type_size_x(call.in_type, &in_size) != MPI_SUCCESS) return Reason::kArgument;
      own_block_differs =
          static_cast<unsigned __int128>(call.in_count) * static_cast<std::uint64_t>(in_size) !=
          static_cast<unsigned __int128>(own) * static_cast<std::uint64_t>(type_size);
    }
  }
  const bool scatters = *call.collective == Collective::kReduceScatter;
  const std::uint64_t read = moves ? own : all;
  const std::uint64_t written = scatters && !in_place ? own : all;
  if (buffersAreWrong(call, read, written, isAliased(call, rank, own, type_size))) {
    return Reason::kArgument;
  }
  if (own_block_differs) return Reason::kOwnBlock;

  if (rowOf(*call.collective).reduces()) {
    if (call.op == MPI_OP_NULL) return Reason::kArgument;
    if (const Reason reason = checkReductionOften(call.type, call.op); reason != Reason::kServed) {
      return reason;
    }
  }
  return call.bytes == 0 ? Reason::kNoData : Reason::kServed;
}

}  // namespace torc::pmpi
