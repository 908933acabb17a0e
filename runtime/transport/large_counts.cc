// Packing of any count, with MPI 4's functions or in pieces.
#include "runtime/transport/large_counts.h"

#include <algorithm>
#include <climits>
#include <cstdint>

#include "runtime/reductions/mpi_reduction.h"

namespace torc::runtime {

#if MPI_VERSION >= 4

namespace {

/// Calls copy(data, count, type) -> code. MPI_Pack and MPI_Unpack of MPICH 4.0.2 refuse MPI_BOTTOM:
/// then a derived type describes the elements relative to another address, `anchor`.
template <typename Data, typename Copy>
int fromAnchor(Data* data, MPI_Count count, MPI_Datatype type, std::byte* anchor, Copy copy) {
  if (data != nullptr) return copy(data, count, type);
  const MPI_Count displacement = -static_cast<MPI_Count>(reinterpret_cast<std::intptr_t>(anchor));
  MPI_Datatype moved = MPI_DATATYPE_NULL;
  int code = PMPI_Type_create_hindexed_c(1, &count, &displacement, type, &moved);
  if (code == MPI_SUCCESS) code = PMPI_Type_commit(&moved);
  if (code != MPI_SUCCESS) return code;
  code = copy(anchor, MPI_Count{1}, moved);
  PMPI_Type_free(&moved);
  return code;
}

}  // namespace

int packElements(const std::byte* data, MPI_Count count, MPI_Datatype type, PackedBytes packed) {
  return fromAnchor(data, count, type, packed.bytes,
                    [&](const void* from, MPI_Count elements, MPI_Datatype element) {
                      return PMPI_Pack_c(from, elements, element, packed.bytes, packed.room,
                                         &packed.at, MPI_COMM_SELF);
                    });
}

int unpackElements(PackedBytes packed, std::byte* data, MPI_Count count, MPI_Datatype type) {
  return fromAnchor(data, count, type, packed.bytes,
                    [&](void* to, MPI_Count elements, MPI_Datatype element) {
                      return PMPI_Unpack_c(packed.bytes, packed.room, &packed.at, to, elements,
                                           element, MPI_COMM_SELF);
                    });
}

#else

namespace {

/// Calls copy(data, count, packed bytes, their number) -> code, with int arguments, for pieces of
/// elements.
template <typename Data, typename Copy>
int inPieces(Data* data, MPI_Count count, MPI_Datatype type, std::byte* packed, Copy copy) {
  ElementType element;
  if (!lookAtType(type, element).ok()) return MPI_ERR_TYPE;
  const auto size = static_cast<MPI_Count>(element.size);
  const auto extent = static_cast<std::intptr_t>(element.bytes);
  const MPI_Count most = std::max<MPI_Count>(INT_MAX / std::max<MPI_Count>(size, 1), 1);
  auto address = reinterpret_cast<std::intptr_t>(data);  // may be 0
  while (count > 0) {
    const MPI_Count some = std::min(count, most), bytes = some * size;
    const int code = copy(reinterpret_cast<Data*>(address), static_cast<int>(some), packed,
                          static_cast<int>(std::min<MPI_Count>(bytes, INT_MAX)));
    if (code != MPI_SUCCESS) return code;
    address += some * extent;
    packed += bytes;
    count -= some;
  }
  return MPI_SUCCESS;
}

}  // namespace

int packElements(const std::byte* data, MPI_Count count, MPI_Datatype type, PackedBytes packed) {
  return inPieces(data, count, type, packed.bytes + packed.at,
                  [&](const std::byte* from, int some, std::byte* to, int bytes) {
                    int at = 0;
                    return PMPI_Pack(from, some, type, to, bytes, &at, MPI_COMM_SELF);
                  });
}

int unpackElements(PackedBytes packed, std::byte* data, MPI_Count count, MPI_Datatype type) {
  return inPieces(data, count, type, packed.bytes + packed.at,
                  [&](std::byte* to, int some, std::byte* from, int bytes) {
                    int at = 0;
                    return PMPI_Unpack(from, bytes, &at, to, some, type, MPI_COMM_SELF);
                  });
}

#endif

}  // namespace torc::runtime
