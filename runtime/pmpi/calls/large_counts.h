// MPI_Pack and MPI_Unpack of any count: by the functions of MPI 4, and in pieces where MPI has
// none.
#ifndef TORC_RUNTIME_PMPI_CALLS_LARGE_COUNTS_H_
#define TORC_RUNTIME_PMPI_CALLS_LARGE_COUNTS_H_

#include <cstddef>

#include <mpi.h>

namespace torc::runtime::pmpi {

/// Packed elements: `room` bytes, of which some begin `at` bytes in.
struct PackedBytes {
  std::byte* bytes;
  MPI_Count room, at;
};

/// Elements at `data`, null being MPI_BOTTOM, are packed or unpacked. Returns MPI's code. In
/// pieces, an element has at most 2 GiB of data.
int packElements(const std::byte* data, MPI_Count count, MPI_Datatype type, PackedBytes packed);
int unpackElements(PackedBytes packed, std::byte* data, MPI_Count count, MPI_Datatype type);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_LARGE_COUNTS_H_
