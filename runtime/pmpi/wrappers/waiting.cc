// Wrappers of MPI's waiting and testing calls, and of blocking point-to-point communication: the
// same as MPI's own, but torc's operations go on meanwhile.
#include <memory>
#include <new>

#include "runtime/pmpi/job/progress.h"
#include "runtime/pmpi/wrappers/next_layer.h"
#include "runtime/transport/which_mpi.h"

using torc::pmpi::advance;
using torc::pmpi::mustProgress;
using torc::pmpi::Pause;
using torc::pmpi::progressUntil;
using torc::pmpi::waitFor;

namespace {

/// One look that found nothing: a program that calls MPI_Test in a loop must not keep the core from
/// the ranks that it waits for.
int looked(int code, const int* flag) {
  if (code == MPI_SUCCESS && !*flag) Pause()();
  return code;
}

/// The end of a sendrecv whose receive is posted and whose send gave `started`. MPI_Isendrecv would
/// be one request instead of two, but in MPICH 4.0.2 it fills no status and crashes on
/// MPI_PROC_NULL.
int waitForBoth(int started, MPI_Request* send, MPI_Request* receive, MPI_Status* status) {
  int code = waitFor(started, send);
  if (code != MPI_SUCCESS) {
    PMPI_Cancel(receive);
    PMPI_Request_free(receive);
    return code;
  }
  return waitFor(MPI_SUCCESS, receive, status);
}

}  // namespace

extern "C" {

// ---- Completion

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (!mustProgress()) return PMPI_Wait(request, status);
  return waitFor(MPI_SUCCESS, request, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (!mustProgress()) return PMPI_Waitall(count, requests, statuses);
  // One after the other. MPI_Testall would do, but that of MPICH 4.0.2 fails on a persistent
  // collective of MPI's own that is under way, where MPI_Waitall does not.
  int at = 0;
  progressUntil([&] {
    for (int done = 1; at < count; ++at) {
      const int code = PMPI_Request_get_status(requests[at], &done, MPI_STATUS_IGNORE);
      if (code == MPI_SUCCESS && !done) return false;
    }
    return true;
  });
  return PMPI_Waitall(count, requests, statuses);
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!mustProgress()) return PMPI_Waitany(count, requests, index, status);
  int code = MPI_SUCCESS, done = 0;
  progressUntil([&] {
    code = PMPI_Testany(count, requests, index, &done, status);
    return done || code != MPI_SUCCESS;
  });
  return code;
}

int MPI_Waitsome(int count, MPI_Request requests[], int* completed, int indices[],
                 MPI_Status statuses[]) {
  if (!mustProgress()) return PMPI_Waitsome(count, requests, completed, indices, statuses);
  int code = MPI_SUCCESS;
  progressUntil([&] {
    // MPI_UNDEFINED, where no request is active, is not 0 either.
    code = PMPI_Testsome(count, requests, completed, indices, statuses);
    return *completed != 0 || code != MPI_SUCCESS;
  });
  return code;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!mustProgress()) return PMPI_Test(request, flag, status);
  advance();
  return looked(PMPI_Test(request, flag, status), flag);
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!mustProgress()) return PMPI_Testall(count, requests, flag, statuses);
  advance();
  return looked(PMPI_Testall(count, requests, flag, statuses), flag);
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!mustProgress()) return PMPI_Testany(count, requests, index, flag, status);
  advance();
  return looked(PMPI_Testany(count, requests, index, flag, status), flag);
}

int MPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[],
                 MPI_Status statuses[]) {
  if (!mustProgress()) return PMPI_Testsome(count, requests, completed, indices, statuses);
  advance();
  return looked(PMPI_Testsome(count, requests, completed, indices, statuses), completed);
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (!mustProgress()) return PMPI_Request_get_status(request, flag, status);
  advance();
  return looked(PMPI_Request_get_status(request, flag, status), flag);
}

// ---- Partitions and windows

#if MPI_VERSION >= 4
int MPI_Parrived(MPI_Request request, int partition, int* flag) {
  if (!mustProgress()) return PMPI_Parrived(request, partition, flag);
  advance();
  return looked(PMPI_Parrived(request, partition, flag), flag);
}
#endif

int MPI_Win_test(MPI_Win win, int* flag) {
  if (!mustProgress()) return PMPI_Win_test(win, flag);
  advance();
  return looked(PMPI_Win_test(win, flag), flag);
}

int MPI_Win_wait(MPI_Win win) {
  if (!mustProgress()) return PMPI_Win_wait(win);
  int code = MPI_SUCCESS, done = 0;
  progressUntil([&] {
    code = PMPI_Win_test(win, &done);
    return done || code != MPI_SUCCESS;
  });
  return code;
}

// ---- Probing

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!mustProgress()) return PMPI_Probe(source, tag, comm, status);
  int code = MPI_SUCCESS, found = 0;
  progressUntil([&] {
    code = PMPI_Iprobe(source, tag, comm, &found, status);
    return found || code != MPI_SUCCESS;
  });
  return code;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (!mustProgress()) return PMPI_Iprobe(source, tag, comm, flag, status);
  advance();
  return looked(PMPI_Iprobe(source, tag, comm, flag, status), flag);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (!mustProgress()) return PMPI_Mprobe(source, tag, comm, message, status);
  int code = MPI_SUCCESS, found = 0;
  progressUntil([&] {
    code = PMPI_Improbe(source, tag, comm, &found, message, status);
    return found || code != MPI_SUCCESS;
  });
  return code;
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
  if (!mustProgress()) return PMPI_Improbe(source, tag, comm, flag, message, status);
  advance();
  return looked(PMPI_Improbe(source, tag, comm, flag, message, status), flag);
}

// ---- Blocking communication, with int and with MPI_Count

#define TORC_SEND(Name, Nonblocking, Count)                                                     \
  int MPI_##Name(const void* data, Count count, MPI_Datatype type, int peer, int tag,           \
                 MPI_Comm comm) {                                                               \
    if (!mustProgress()) return PMPI_##Name(data, count, type, peer, tag, comm);                \
    MPI_Request request = MPI_REQUEST_NULL;                                                     \
    return waitFor(PMPI_##Nonblocking(data, count, type, peer, tag, comm, &request), &request); \
  }
TORC_SEND(Send, Isend, int)
TORC_MPI_4(TORC_SEND(Send_c, Isend_c, MPI_Count))
TORC_SEND(Ssend, Issend, int)
TORC_MPI_4(TORC_SEND(Ssend_c, Issend_c, MPI_Count))
TORC_SEND(Rsend, Irsend, int)
TORC_MPI_4(TORC_SEND(Rsend_c, Irsend_c, MPI_Count))
#undef TORC_SEND

#define TORC_RECEIVE(Name, Nonblocking, Count)                                                 \
  int MPI_##Name(void* data, Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, \
                 MPI_Status* status) {                                                         \
    if (!mustProgress()) return PMPI_##Name(data, count, type, peer, tag, comm, status);       \
    MPI_Request request = MPI_REQUEST_NULL;                                                    \
    return waitFor(PMPI_##Nonblocking(data, count, type, peer, tag, comm, &request), &request, \
                   status);                                                                    \
  }
TORC_RECEIVE(Recv, Irecv, int)
TORC_MPI_4(TORC_RECEIVE(Recv_c, Irecv_c, MPI_Count))
#undef TORC_RECEIVE

#define TORC_RECEIVE_MATCHED(Name, Nonblocking, Count)                                          \
  int MPI_##Name(void* data, Count count, MPI_Datatype type, MPI_Message* message,              \
                 MPI_Status* status) {                                                          \
    if (!mustProgress()) return PMPI_##Name(data, count, type, message, status);                \
    MPI_Request request = MPI_REQUEST_NULL;                                                     \
    return waitFor(PMPI_##Nonblocking(data, count, type, message, &request), &request, status); \
  }
TORC_RECEIVE_MATCHED(Mrecv, Imrecv, int)
TORC_MPI_4(TORC_RECEIVE_MATCHED(Mrecv_c, Imrecv_c, MPI_Count))
#undef TORC_RECEIVE_MATCHED

#define TORC_SENDRECV(Name, Count, Suffix)                                                        \
  int MPI_##Name(const void* out, Count out_count, MPI_Datatype out_type, int to, int out_tag,    \
                 void* in, Count in_count, MPI_Datatype in_type, int from, int in_tag,            \
                 MPI_Comm comm, MPI_Status* status) {                                             \
    if (!mustProgress()) {                                                                        \
      return PMPI_##Name(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,      \
                         in_tag, comm, status);                                                   \
    }                                                                                             \
    MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;                              \
    const int received = PMPI_Irecv##Suffix(in, in_count, in_type, from, in_tag, comm, &receive); \
    if (received != MPI_SUCCESS) return received;                                                 \
    return waitForBoth(PMPI_Isend##Suffix(out, out_count, out_type, to, out_tag, comm, &send),    \
                       &send, &receive, status);                                                  \
  }
TORC_SENDRECV(Sendrecv, int, )
TORC_MPI_4(TORC_SENDRECV(Sendrecv_c, MPI_Count, _c))
#undef TORC_SENDRECV

#define TORC_SENDRECV_REPLACE(Name, Count, Suffix)                                               \
  int MPI_##Name(void* data, Count count, MPI_Datatype type, int to, int out_tag, int from,      \
                 int in_tag, MPI_Comm comm, MPI_Status* status) {                                \
    if (!mustProgress()) {                                                                       \
      return PMPI_##Name(data, count, type, to, out_tag, from, in_tag, comm, status);            \
    }                                                                                            \
    Count bytes = 0, packed = 0;                                                                 \
    int code = PMPI_Pack_size##Suffix(count, type, comm, &bytes);                                \
    if (code != MPI_SUCCESS) return code;                                                        \
    const std::unique_ptr<char[]> copy(new (std::nothrow) char[bytes + 1]);                      \
    if (copy == nullptr) return PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM), MPI_ERR_NO_MEM; \
    code = PMPI_Pack##Suffix(data, count, type, copy.get(), bytes, &packed, comm);               \
    if (code != MPI_SUCCESS) return code;                                                        \
    MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;                             \
    code = PMPI_Irecv##Suffix(data, count, type, from, in_tag, comm, &receive);                  \
    if (code != MPI_SUCCESS) return code;                                                        \
    return waitForBoth(                                                                          \
        PMPI_Isend##Suffix(copy.get(), packed, MPI_PACKED, to, out_tag, comm, &send), &send,     \
        &receive, status);                                                                       \
  }
TORC_SENDRECV_REPLACE(Sendrecv_replace, int, )
TORC_MPI_4(TORC_SENDRECV_REPLACE(Sendrecv_replace_c, MPI_Count, _c))
#undef TORC_SENDRECV_REPLACE

}  // extern "C"
