// Wrappers of MPI's waiting and testing calls, and of blocking point-to-point communication.
//
// While operations of torc are under way, a wrapper first looks after them in its own thread, which
// is quickest, as long as it can tell without touching the call that there is nothing else to do:
// requests that are torc's are not complete, no message has come. Then it makes the call as the
// program made it, inside MPI (runtime/pmpi/engine/inside_mpi.h), so that errors are MPI's own.
// (MPICH 4.0.2 tells MPI_COMM_WORLD's error handler of a receive that was started as a nonblocking
// one, and of a request each time that it is looked at.)
//
// Where no thread looks after torc's operations meanwhile, MPI's nonblocking or testing function is
// looked at in turns with torc.
#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <span>

#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/engine/inside_mpi.h"
#include "runtime/pmpi/process/progress.h"
#include "runtime/pmpi/wrappers/next_layer.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/which_mpi.h"

using torc::runtime::pmpi::advance;
using torc::runtime::pmpi::canWatch;
using torc::runtime::pmpi::engine;
using torc::runtime::pmpi::engine_lock;
using torc::runtime::pmpi::EngineLock;
using torc::runtime::pmpi::has_mpis_persistent;
using torc::runtime::pmpi::InsideMpi;
using torc::runtime::pmpi::mustProgress;
using torc::runtime::pmpi::Pause;
using torc::runtime::pmpi::progressUntil;
using torc::runtime::pmpi::underWay;
using torc::runtime::pmpi::waitFor;

namespace {

/// Seconds for which a thread looks for what may be an error, of which MPI tells only when the call
/// is made.
constexpr double kMostSecondsOfLooking = 1;

/// Looks, with progress, until `look` is true, or nothing is under way; where the call that follows
/// is watched, for `seconds` at most.
template <typename Look>
void lookUntil(Look look, double seconds) {
  const double end = PMPI_Wtime() + seconds;
  unsigned looks = 0;
  bool is_over = false;
  progressUntil([&] {
    is_over = is_over || (++looks % 64 == 0 && canWatch() && PMPI_Wtime() > end);
    return is_over || underWay() == 0 || look();
  });
}

/// One look that found nothing: a program that calls MPI_Test in a loop must not keep the core from
/// the ranks that it waits for.
int looked(int code, const int* flag) {
  if (code == MPI_SUCCESS && !*flag) Pause()();
  return code;
}

// ---- Requests

/// A call that completes requests has returned `code`. The wait for a request of torc's that has
/// failed returns an error: now the program's handler is told.
int completed(int code) {
  if (code == MPI_SUCCESS || torc::runtime::pmpi::inside_torc) return code;
  int error_class = MPI_SUCCESS;
  const int told = torc::runtime::pmpi::reportFailures();
  PMPI_Error_class(code, &error_class);
  return told == MPI_SUCCESS || error_class == MPI_ERR_IN_STATUS ? code : told;
}

/// How many of the requests are torc's and not complete.
std::size_t torcsUnderWay(std::span<const MPI_Request> requests) {
  if (engine == nullptr) return 0;
  EngineLock lock;
  return std::ranges::count_if(requests, [](MPI_Request one) TORC_REQUIRES(engine_lock) {
    return engine->handles_under_way.contains(one);
  });
}

std::span<const MPI_Request> spanOf(int count, const MPI_Request* requests) {
  const bool is_valid = count > 0 && requests != nullptr;
  return {requests, is_valid ? static_cast<std::size_t>(count) : 0};
}

std::size_t countActive(std::span<const MPI_Request> requests) {
  return std::ranges::count_if(requests, [](MPI_Request one) { return one != MPI_REQUEST_NULL; });
}

/// Waits for those that are torc's. The program's own may be complete before.
void awaitAllOfTorcs(std::span<const MPI_Request> requests) {
  if (underWay() == 0) return;
  const bool all_are_torcs = torcsUnderWay(requests) == countActive(requests);
  lookUntil(
      [&] {
        // What is complete stays so.
        while (!requests.empty() && torcsUnderWay(requests.first(1)) == 0)
          requests = requests.subspan(1);
        return requests.empty();
      },
      all_are_torcs ? std::numeric_limits<double>::infinity() : kMostSecondsOfLooking);
}

/// Waits for the first of them, if all are torc's.
void awaitOneOfTorcs(std::span<const MPI_Request> requests) {
  const std::size_t active = countActive(requests);
  if (underWay() == 0 || active == 0) return;
  lookUntil([&] { return torcsUnderWay(requests) < active; },
            std::numeric_limits<double>::infinity());
}

// ---- Messages

/// Whether MPI would look for such a message; of arguments that it refuses it is for the call to
/// tell.
bool mayCome(int source, int tag, MPI_Comm comm, bool is_inter) {
  const bool is_tag = tag == MPI_ANY_TAG || (tag >= 0 && tag <= torc::runtime::highestTag(comm));
  if (!is_tag || source == MPI_ANY_SOURCE || source == MPI_PROC_NULL) return is_tag;
  int size = 0;
  is_inter ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  return source >= 0 && source < size;
}

/// Waits until a message has come. An error of MPI's, of which it has told: the call is not made.
int awaitMessage(int source, int tag, MPI_Comm comm) {
  if (underWay() == 0 || comm == MPI_COMM_NULL) return MPI_SUCCESS;
  int is_inter = 0, found = 0;
  int code = PMPI_Comm_test_inter(comm, &is_inter);  // of one that is freed MPI tells once
  if (code != MPI_SUCCESS || !mayCome(source, tag, comm, is_inter != 0)) return code;
  lookUntil(
      [&] {
        code = PMPI_Iprobe(source, tag, comm, &found, MPI_STATUS_IGNORE);
        return found || code != MPI_SUCCESS;
      },
      kMostSecondsOfLooking);
  return code;
}

template <typename Count>
int awaitMessage(Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm) {
  if (count < 0 || type == MPI_DATATYPE_NULL || underWay() == 0) return MPI_SUCCESS;
  if (!canWatch() && !torc::runtime::isPredefinedType(type)) {
    // Without a limit on looking torc must know that the call will not refuse the type.
    EngineLock lock;
    if (!engine->handles.isCommitted(type)) return MPI_SUCCESS;
  }
  return awaitMessage(source, tag, comm);
}

}  // namespace

extern "C" {

// ---- Completion

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (!mustProgress()) return completed(PMPI_Wait(request, status));
  awaitAllOfTorcs(spanOf(1, request));
  const InsideMpi inside;
  if (inside.isWatched() || underWay() == 0) return completed(PMPI_Wait(request, status));
  return completed(waitFor(MPI_SUCCESS, request, status));
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (!mustProgress()) return completed(PMPI_Waitall(count, requests, statuses));
  awaitAllOfTorcs(spanOf(count, requests));
  const InsideMpi inside;
  if (inside.isWatched() || underWay() == 0)
    return completed(PMPI_Waitall(count, requests, statuses));
  if (has_mpis_persistent.load(std::memory_order_relaxed)) {
    // MPI_Testall of MPICH 4.0.2 fails on a persistent collective that is under way. One after the
    // other, then; of a request that has failed MPI tells twice.
    int at = 0;
    progressUntil([&] {
      for (int done = 1; at < count; ++at) {
        const int code = PMPI_Request_get_status(requests[at], &done, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && !done) return false;
      }
      return true;
    });
    return completed(PMPI_Waitall(count, requests, statuses));
  }
  int code = MPI_SUCCESS, done = 0;
  progressUntil([&] {
    code = PMPI_Testall(count, requests, &done, statuses);
    return done || code != MPI_SUCCESS;
  });
  return completed(code);
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!mustProgress()) return completed(PMPI_Waitany(count, requests, index, status));
  awaitOneOfTorcs(spanOf(count, requests));
  const InsideMpi inside;
  if (inside.isWatched() || underWay() == 0)
    return completed(PMPI_Waitany(count, requests, index, status));
  int code = MPI_SUCCESS, done = 0;
  progressUntil([&] {
    code = PMPI_Testany(count, requests, index, &done, status);
    return done || code != MPI_SUCCESS;
  });
  return completed(code);
}

int MPI_Waitsome(int count, MPI_Request requests[], int* ready, int indices[],
                 MPI_Status statuses[]) {
  if (!mustProgress()) return completed(PMPI_Waitsome(count, requests, ready, indices, statuses));
  awaitOneOfTorcs(spanOf(count, requests));
  const InsideMpi inside;
  if (inside.isWatched() || underWay() == 0) {
    return completed(PMPI_Waitsome(count, requests, ready, indices, statuses));
  }
  int code = MPI_SUCCESS;
  progressUntil([&] {
    // MPI_UNDEFINED, where no request is active, is not 0 either.
    code = PMPI_Testsome(count, requests, ready, indices, statuses);
    return *ready != 0 || code != MPI_SUCCESS;
  });
  return completed(code);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!mustProgress()) return completed(PMPI_Test(request, flag, status));
  advance();
  return completed(looked(PMPI_Test(request, flag, status), flag));
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!mustProgress()) return completed(PMPI_Testall(count, requests, flag, statuses));
  advance();
  return completed(looked(PMPI_Testall(count, requests, flag, statuses), flag));
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!mustProgress()) return completed(PMPI_Testany(count, requests, index, flag, status));
  advance();
  return completed(looked(PMPI_Testany(count, requests, index, flag, status), flag));
}

int MPI_Testsome(int count, MPI_Request requests[], int* ready, int indices[],
                 MPI_Status statuses[]) {
  if (!mustProgress()) return completed(PMPI_Testsome(count, requests, ready, indices, statuses));
  advance();
  return completed(looked(PMPI_Testsome(count, requests, ready, indices, statuses), ready));
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
  const InsideMpi inside;
  if (inside.isWatched() || !mustProgress()) return PMPI_Win_wait(win);
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
  if (const int code = awaitMessage(source, tag, comm); code != MPI_SUCCESS) return code;
  const InsideMpi inside;
  return PMPI_Probe(source, tag, comm, status);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (!mustProgress()) return PMPI_Iprobe(source, tag, comm, flag, status);
  advance();
  return looked(PMPI_Iprobe(source, tag, comm, flag, status), flag);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (!mustProgress()) return PMPI_Mprobe(source, tag, comm, message, status);
  if (const int code = awaitMessage(source, tag, comm); code != MPI_SUCCESS) return code;
  const InsideMpi inside;
  return PMPI_Mprobe(source, tag, comm, message, status);
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
    const InsideMpi inside;                                                                     \
    if (inside.isWatched() || !mustProgress()) {                                                \
      return PMPI_##Name(data, count, type, peer, tag, comm);                                   \
    }                                                                                           \
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

#define TORC_RECEIVE(Name, Count)                                                              \
  int MPI_##Name(void* data, Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, \
                 MPI_Status* status) {                                                         \
    if (!mustProgress()) return PMPI_##Name(data, count, type, peer, tag, comm, status);       \
    const int code = awaitMessage(count, type, peer, tag, comm);                               \
    if (code != MPI_SUCCESS) return code;                                                      \
    const InsideMpi inside;                                                                    \
    return PMPI_##Name(data, count, type, peer, tag, comm, status);                            \
  }
TORC_RECEIVE(Recv, int)
TORC_MPI_4(TORC_RECEIVE(Recv_c, MPI_Count))
#undef TORC_RECEIVE

// The message has come, and its sender is in MPI or will be.
#define TORC_RECEIVE_MATCHED(Name, Count)                                          \
  int MPI_##Name(void* data, Count count, MPI_Datatype type, MPI_Message* message, \
                 MPI_Status* status) {                                             \
    const InsideMpi inside;                                                        \
    return PMPI_##Name(data, count, type, message, status);                        \
  }
TORC_RECEIVE_MATCHED(Mrecv, int)
TORC_MPI_4(TORC_RECEIVE_MATCHED(Mrecv_c, MPI_Count))
#undef TORC_RECEIVE_MATCHED

// Without a watch: the send goes on while the message is awaited.
#define TORC_SENDRECV(Name, Count, Suffix)                                                     \
  int MPI_##Name(const void* out, Count out_count, MPI_Datatype out_type, int to, int out_tag, \
                 void* in, Count in_count, MPI_Datatype in_type, int from, int in_tag,         \
                 MPI_Comm comm, MPI_Status* status) {                                          \
    const InsideMpi inside;                                                                    \
    if (inside.isWatched() || !mustProgress()) {                                               \
      return PMPI_##Name(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,   \
                         in_tag, comm, status);                                                \
    }                                                                                          \
    MPI_Request send = MPI_REQUEST_NULL;                                                       \
    int code = PMPI_Isend##Suffix(out, out_count, out_type, to, out_tag, comm, &send);         \
    if (code != MPI_SUCCESS) return code;                                                      \
    code = awaitMessage(in_count, in_type, from, in_tag, comm);                                \
    if (code == MPI_SUCCESS)                                                                   \
      code = PMPI_Recv##Suffix(in, in_count, in_type, from, in_tag, comm, status);             \
    const int sent = waitFor(MPI_SUCCESS, &send);                                              \
    return code != MPI_SUCCESS ? code : sent;                                                  \
  }
TORC_SENDRECV(Sendrecv, int, )
TORC_MPI_4(TORC_SENDRECV(Sendrecv_c, MPI_Count, _c))
#undef TORC_SENDRECV

#define TORC_SENDRECV_REPLACE(Name, Count, Suffix)                                               \
  int MPI_##Name(void* data, Count count, MPI_Datatype type, int to, int out_tag, int from,      \
                 int in_tag, MPI_Comm comm, MPI_Status* status) {                                \
    const InsideMpi inside;                                                                      \
    if (inside.isWatched() || !mustProgress()) {                                                 \
      return PMPI_##Name(data, count, type, to, out_tag, from, in_tag, comm, status);            \
    }                                                                                            \
    Count bytes = 0, packed = 0;                                                                 \
    int code = PMPI_Pack_size##Suffix(count, type, comm, &bytes);                                \
    if (code != MPI_SUCCESS) return code;                                                        \
    const std::unique_ptr<char[]> copy(new (std::nothrow) char[bytes + 1]);                      \
    if (copy == nullptr) return PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM), MPI_ERR_NO_MEM; \
    code = PMPI_Pack##Suffix(data, count, type, copy.get(), bytes, &packed, comm);               \
    if (code != MPI_SUCCESS) return code;                                                        \
    MPI_Request send = MPI_REQUEST_NULL;                                                         \
    code = PMPI_Isend##Suffix(copy.get(), packed, MPI_PACKED, to, out_tag, comm, &send);         \
    if (code != MPI_SUCCESS) return code;                                                        \
    code = awaitMessage(count, type, from, in_tag, comm);                                        \
    if (code == MPI_SUCCESS)                                                                     \
      code = PMPI_Recv##Suffix(data, count, type, from, in_tag, comm, status);                   \
    const int sent = waitFor(MPI_SUCCESS, &send);                                                \
    return code != MPI_SUCCESS ? code : sent;                                                    \
  }
TORC_SENDRECV_REPLACE(Sendrecv_replace, int, )
TORC_MPI_4(TORC_SENDRECV_REPLACE(Sendrecv_replace_c, MPI_Count, _c))
#undef TORC_SENDRECV_REPLACE

}  // extern "C"
