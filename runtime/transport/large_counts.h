// MPI_Pack and MPI_Unpack of any count: with the functions of MPI 4, or in pieces without them.
#ifndef TORC_RUNTIME_TRANSPORT_LARGE_COUNTS_H_
#define TORC_RUNTIME_TRANSPORT_LARGE_COUNTS_H_

#include <cstddef>

#include <mpi.h>

namespace torc::runtime {

/// A buffer of packed elements: `room` bytes, and the position `at` in bytes.
struct PackedBytes {
  std::byte* bytes;
  MPI_Count room, at;
};

/// Packs or unpacks elements at `data`; null means MPI_BOTTOM. Returns MPI's error code. In pieces,
/// an element has at most 2 GiB of data.
int packElements(const std::byte* data, MPI_Count count, MPI_Datatype type, PackedBytes packed);
int unpackElements(PackedBytes packed, std::byte* data, MPI_Count count, MPI_Datatype type);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_LARGE_COUNTS_H_
