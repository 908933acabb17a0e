// SimGrid's SMPI runs MPI programs on a simulated machine (bench/smpi). How its version 3.32
// differs from an MPI on real cores is kept here:
//  - Simulated time passes while a rank waits for a message, and by 0.1 ms and more for every
//    fruitless MPI_Test or MPI_Testsome. There a rank must wait inside MPI. On real cores MPI's
//    waits spin, which is bad where ranks outnumber cores, and looking again costs nothing.
//  - Nonblocking collectives are missing, or send a message from every rank to every other: the
//    functions below start one where it is good, and otherwise complete at once and leave a null
//    request.
//  - MPI_Test says nothing about a null request.
//  - A buffered message is lost where its persistent request is started again before it has been
//    received. Request::start() (src/smpi/mpi/smpi_request.cpp) writes the number of the new
//    message into the request, `message_id_`, which is the old message's, too: match_recv() then
//    refuses the old one for its number, its receive never ends, and all that follow wait behind
//    it. (Later versions keep a number for each.) So every send has a request of its own there.
#ifndef TORC_RUNTIME_TRANSPORT_SMPI_H_
#define TORC_RUNTIME_TRANSPORT_SMPI_H_

#include <mpi.h>

namespace torc::runtime {

#ifdef SMPI_H
inline constexpr bool kSimulated = true;
#else
inline constexpr bool kSimulated = false;
#endif
inline constexpr bool kLosesRestartedSends = kSimulated;

/// Starts a collective: takes its request, and its arguments without it.
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
