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

/// Starts a collective of MPI by its nonblocking function, or makes it by its blocking one.
template <typename Blocking, typename Nonblocking, typename... Arguments>
int startCollective(Blocking* blocking, Nonblocking* nonblocking, MPI_Request* request,
                    Arguments... arguments) {
  if constexpr (!kSimulated) return nonblocking(arguments..., request);
  *request = MPI_REQUEST_NULL;
  return blocking(arguments...);
}

inline int startDuplicate(MPI_Comm comm, MPI_Comm* duplicate, MPI_Request* request) {
  return startCollective(PMPI_Comm_dup, PMPI_Comm_idup, request, comm, duplicate);
}
inline int startBroadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
                          MPI_Request* request) {
  return startCollective(PMPI_Bcast, PMPI_Ibcast, request, data, count, type, root, comm);
}
inline int startAllreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm, MPI_Request* request) {
  return startCollective(PMPI_Allreduce, PMPI_Iallreduce, request, in, out, count, type, op, comm);
}
inline int startAllgather(const void* in, int in_count, MPI_Datatype in_type, void* out,
                          int out_count, MPI_Datatype out_type, MPI_Comm comm,
                          MPI_Request* request) {
  return startCollective(PMPI_Allgather, PMPI_Iallgather, request, in, in_count, in_type, out,
                         out_count, out_type, comm);
}
inline int startAlltoallv(const void* in, const int* in_counts, const int* in_offsets, void* out,
                          const int* out_counts, const int* out_offsets, MPI_Datatype type,
                          MPI_Comm comm, MPI_Request* request) {
  return startCollective(PMPI_Alltoallv, PMPI_Ialltoallv, request, in, in_counts, in_offsets, type,
                         out, out_counts, out_offsets, type, comm);
}

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_SMPI_H_
