// Waiting and testing calls, and blocking point-to-point communication: the hand-written wrappers
// (for the others see waiting_calls.txt).
//
// While operations of torc are under way, a wrapper first progresses them in its own thread, which
// is fastest. It does so as long as the call could not complete anyway: its requests of torc are
// incomplete, or no message has come. Then it makes the call as the program made it, inside MPI
// (runtime/pmpi/engine/inside_mpi.h), so that errors come from MPI itself. (MPICH 4.0.2 reports the
// error of a receive that was started as a nonblocking one to MPI_COMM_WORLD's error handler, and
// the error of a request at every test.)
//
// If no thread progresses torc's operations meanwhile, the wrapper calls MPI's nonblocking or
// testing function and torc's progress in turn.
#include "runtime/pmpi/wrappers/waiting.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <span>

#include "runtime/pmpi/engine/engine.h"
#include "runtime/pmpi/wrappers/next_layer.h"
#include "runtime/transport/mpi_status.h"
#include "runtime/transport/which_mpi.h"

namespace torc::runtime::pmpi {
namespace {

/// Seconds of polling for a call that may be erroneous: MPI reports the error only when the call is
/// made.
constexpr double kMostSecondsOfLooking = 1;

/// Polls, with progress, until `look` returns true, or nothing is under way; if the next call is
/// watched, for at most `seconds`.
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

/// Calls test(&done), with progress, until it is done or has failed; returns its code.
template <typename Test>
int testUntilDone(Test test) {
  int code = MPI_SUCCESS, done = 0;
  progressUntil([&] {
    code = test(&done);
    return done || code != MPI_SUCCESS;
  });
  return code;
}

/// Number of incomplete requests of torc.
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

/// Waits for the requests of torc. The program's own may be complete before.
void awaitAllOfTorcs(std::span<const MPI_Request> requests) {
  if (underWay() == 0) return;
  const bool all_are_torcs = torcsUnderWay(requests) == countActive(requests);
  lookUntil(
      [&] {
        // Completed requests stay complete.
        while (!requests.empty() && torcsUnderWay(requests.first(1)) == 0)
          requests = requests.subspan(1);
        return requests.empty();
      },
      all_are_torcs ? std::numeric_limits<double>::infinity() : kMostSecondsOfLooking);
}

/// Waits for the first request, if all belong to torc.
void awaitOneOfTorcs(std::span<const MPI_Request> requests) {
  const std::size_t active = countActive(requests);
  if (underWay() == 0 || active == 0) return;
  lookUntil([&] { return torcsUnderWay(requests) < active; },
            std::numeric_limits<double>::infinity());
}

/// A wait for requests with progress: `await` waits for torc's requests, `wait` is the call, and
/// `test` polls in its place and sets `done`.
template <typename Await, typename Wait, typename Test>
int waitBeside(Await await, Wait wait, Test test) {
  if (!mustProgress()) return completed(wait());
  await();
  const InsideMpi inside;
  if (inside.isWatched() || underWay() == 0) return completed(wait());
  return completed(testUntilDone(test));
}

// ---- Messages

/// Whether MPI would accept these arguments; if not, the call itself reports the error.
bool mayCome(int source, int tag, MPI_Comm comm, bool is_inter) {
  const bool is_tag = tag == MPI_ANY_TAG || (tag >= 0 && tag <= highestTag(comm));
  if (!is_tag || source == MPI_ANY_SOURCE || source == MPI_PROC_NULL) return is_tag;
  int size = 0;
  is_inter ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  return source >= 0 && source < size;
}

/// A send and a receive: the send progresses until the message has come, then `receive` takes it.
template <typename Start, typename Receive>
int exchange(Start start, Receive receive, MPI_Count count, MPI_Datatype type, int from, int tag,
             MPI_Comm comm) {
  MPI_Request send = MPI_REQUEST_NULL;
  int code = start(&send);
  if (code != MPI_SUCCESS) return code;
  code = awaitMessage(nullptr, count, type, from, tag, comm);
  if (code == MPI_SUCCESS) code = receive();
  const int sent = waitFor(MPI_SUCCESS, &send);
  return code != MPI_SUCCESS ? code : sent;
}

}  // namespace

int completed(int code) {
  if (code == MPI_SUCCESS || inside_torc) return code;
  int error_class = MPI_SUCCESS;
  const int told = reportFailures();
  PMPI_Error_class(code, &error_class);
  return told == MPI_SUCCESS || error_class == MPI_ERR_IN_STATUS ? code : told;
}

int awaitMessage(int source, int tag, MPI_Comm comm) {
  if (underWay() == 0 || comm == MPI_COMM_NULL) return MPI_SUCCESS;
  int is_inter = 0, found = 0;
  int code = PMPI_Comm_test_inter(comm, &is_inter);  // MPI reports a freed one once
  if (code != MPI_SUCCESS || !mayCome(source, tag, comm, is_inter != 0)) return code;
  lookUntil(
      [&] {
        code = PMPI_Iprobe(source, tag, comm, &found, MPI_STATUS_IGNORE);
        return found || code != MPI_SUCCESS;
      },
      kMostSecondsOfLooking);
  return code;
}

int awaitMessage(const void*, MPI_Count count, MPI_Datatype type, int source, int tag,
                 MPI_Comm comm) {
  if (count < 0 || type == MPI_DATATYPE_NULL || underWay() == 0) return MPI_SUCCESS;
  if (!canWatch() && !isPredefinedType(type)) {
    // Without a time limit torc must know that the call will not refuse the type.
    EngineLock lock;
    if (!engine->handles.isCommitted(type)) return MPI_SUCCESS;
  }
  return awaitMessage(source, tag, comm);
}

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return waitBeside([&] { awaitAllOfTorcs(spanOf(1, request)); },
                    [&] { return PMPI_Wait(request, status); },
                    [&](int* done) { return PMPI_Test(request, done, status); });
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  int at = 0;
  return waitBeside([&] { awaitAllOfTorcs(spanOf(count, requests)); },
                    [&] { return PMPI_Waitall(count, requests, statuses); },
                    [&](int* done) {
                      if (!has_mpis_persistent.load(std::memory_order_relaxed))
                        return PMPI_Testall(count, requests, done, statuses);
                      // MPI_Testall of MPICH 4.0.2 fails on an incomplete persistent collective. So
                      // each is tested alone; MPI reports a failed request twice.
                      for (*done = 1; at < count; ++at) {
                        const int code =
                            PMPI_Request_get_status(requests[at], done, MPI_STATUS_IGNORE);
                        if (code == MPI_SUCCESS && !*done) return code;
                      }
                      *done = 1;
                      return PMPI_Waitall(count, requests, statuses);
                    });
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  return waitBeside([&] { awaitOneOfTorcs(spanOf(count, requests)); },
                    [&] { return PMPI_Waitany(count, requests, index, status); },
                    [&](int* done) { return PMPI_Testany(count, requests, index, done, status); });
}

int MPI_Waitsome(int count, MPI_Request requests[], int* ready, int indices[],
                 MPI_Status statuses[]) {
  return waitBeside([&] { awaitOneOfTorcs(spanOf(count, requests)); },
                    [&] { return PMPI_Waitsome(count, requests, ready, indices, statuses); },
                    [&](int* done) {
                      const int code = PMPI_Testsome(count, requests, ready, indices, statuses);
                      *done = *ready;  // MPI_UNDEFINED, without active requests, is not 0 either
                      return code;
                    });
}

#if MPI_VERSION >= 4
int MPI_Parrived(MPI_Request request, int partition, int* flag) {
  return look([&] { return PMPI_Parrived(request, partition, flag); }, flag);
}
#endif

int MPI_Win_wait(MPI_Win win) {
  return makeInsideOr(
      [&] { return PMPI_Win_wait(win); },
      [&] { return testUntilDone([&](int* done) { return PMPI_Win_test(win, done); }); });
}

// ---- Exchanges, with int and with MPI_Count

#define TORC_SENDRECV(Name, Count, Suffix)                                                     \
  int MPI_##Name(const void* out, Count out_count, MPI_Datatype out_type, int to, int out_tag, \
                 void* in, Count in_count, MPI_Datatype in_type, int from, int in_tag,         \
                 MPI_Comm comm, MPI_Status* status) {                                          \
    const auto call = [&] {                                                                    \
      return PMPI_##Name(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,   \
                         in_tag, comm, status);                                                \
    };                                                                                         \
    const auto start = [&](MPI_Request* send) {                                                \
      return PMPI_Isend##Suffix(out, out_count, out_type, to, out_tag, comm, send);            \
    };                                                                                         \
    const auto take = [&] {                                                                    \
      return PMPI_Recv##Suffix(in, in_count, in_type, from, in_tag, comm, status);             \
    };                                                                                         \
    return makeInsideOr(                                                                       \
        call, [&] { return exchange(start, take, in_count, in_type, from, in_tag, comm); });   \
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
    const auto start = [&](MPI_Request* send) {                                                  \
      return PMPI_Isend##Suffix(copy.get(), packed, MPI_PACKED, to, out_tag, comm, send);        \
    };                                                                                           \
    const auto take = [&] {                                                                      \
      return PMPI_Recv##Suffix(data, count, type, from, in_tag, comm, status);                   \
    };                                                                                           \
    return exchange(start, take, count, type, from, in_tag, comm);                               \
  }
TORC_SENDRECV_REPLACE(Sendrecv_replace, int, )
TORC_MPI_4(TORC_SENDRECV_REPLACE(Sendrecv_replace_c, MPI_Count, _c))
#undef TORC_SENDRECV_REPLACE

}  // extern "C"

}  // namespace torc::runtime::pmpi
