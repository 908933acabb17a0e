// SimGrid's SMPI runs MPI programs on a simulated machine (bench/smpi). This file hides the
// differences of its version 3.32 from an MPI on real cores:
//  - Simulated time passes while a rank waits for a message, and by 0.1 ms and more for every
//    unsuccessful MPI_Test or MPI_Testsome. So a rank must wait inside MPI. On real cores MPI's
//    waits spin, which is bad with more ranks than cores, and polling costs nothing.
//  - Nonblocking collectives are missing, or send a message from every rank to every other: the
//    functions below start one if it is efficient, and otherwise complete at once with a null
//    request.
//  - MPI_Test does not complete a null request.
#ifndef TORC_RUNTIME_TRANSPORT_SMPI_H_
#define TORC_RUNTIME_TRANSPORT_SMPI_H_

#include <mpi.h>

namespace torc::runtime {

#ifdef SMPI_H
inline constexpr bool kSimulated = true;
#else
inline constexpr bool kSimulated = false;
#endif

/// Starts a collective; the arguments are the request and MPI's arguments without it.
template <auto blocking, auto nonblocking>
struct Starter {
  template <typename... Arguments>
  int operator()(MPI_Request* request, Arguments... arguments) const {
    if constexpr (!kSimulated) return nonblocking(arguments..., request);
    *request = MPI_REQUEST_NULL;
    return blocking(arguments...);
  }
};

inline constexpr Starter<PMPI_Comm_dup, PMPI_Comm_idup> startDuplicate;
inline constexpr Starter<PMPI_Barrier, PMPI_Ibarrier> startBarrier;
inline constexpr Starter<PMPI_Bcast, PMPI_Ibcast> startBroadcast;
inline constexpr Starter<PMPI_Allreduce, PMPI_Iallreduce> startAllreduce;
inline constexpr Starter<PMPI_Allgather, PMPI_Iallgather> startAllgather;
inline constexpr Starter<PMPI_Alltoallv, PMPI_Ialltoallv> startAlltoallv;

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_SMPI_H_
