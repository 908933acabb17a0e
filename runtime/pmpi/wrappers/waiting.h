// Calls that may wait for other ranks, or probe for them, with progress: a function for each kind
// of row in waiting_calls.txt. `call` makes the call as the program made it, and returns MPI's
// code.
#ifndef TORC_RUNTIME_PMPI_WRAPPERS_WAITING_H_
#define TORC_RUNTIME_PMPI_WRAPPERS_WAITING_H_

#include <mpi.h>

#include "runtime/pmpi/engine/inside_mpi.h"
#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {

/// A call that completes requests has returned `code`. The wait for a failed request of torc
/// returns an error: now the program's error handler is called.
int completed(int code);

/// Waits until a message has come. On an error, which MPI has reported, the call is not made.
int awaitMessage(int source, int tag, MPI_Comm comm);
int awaitMessage(const void* data, MPI_Count count, MPI_Datatype type, int source, int tag,
                 MPI_Comm comm);

/// After a communicator creation that has returned `code`. `parent`: communicator whose ranks all
/// take part; MPI_COMM_NULL: there is none.
int created(int code, MPI_Comm parent, const MPI_Comm* comm);

/// Makes a call that waits inside MPI for all ranks of `ranks`.
template <typename Call>
int makeInside(Call call, MPI_Comm ranks = MPI_COMM_NULL) {
  const InsideMpi inside(ranks);
  return call();
}

/// The same, unless operations would have no progress meanwhile: then calls `other`, which returns
/// the code.
template <typename Call, typename Other>
int makeInsideOr(Call call, Other other) {
  const InsideMpi inside;
  return inside.isWatched() || !mustProgress() ? call() : other();
}

/// A call that does not wait; `flag` is 0 if it has found nothing. Then it yields: a program that
/// calls MPI_Test in a loop must not keep the core from the awaited ranks.
template <typename Call>
int look(Call call, const int* flag) {
  if (!mustProgress()) return call();
  advance();
  const int code = call();
  Backoff backoff;
  if (code == MPI_SUCCESS && !*flag) rest(backoff);
  return code;
}
template <typename Call>
int complete(Call call, const int* flag) {
  return completed(look(call, flag));
}

/// `start` starts the nonblocking form.
template <typename Call, typename Start>
int send(Call call, Start start) {
  return makeInsideOr(call, [&] {
    MPI_Request request = MPI_REQUEST_NULL;
    return waitFor(start(&request), &request);
  });
}

/// `message`: the arguments of awaitMessage.
template <typename Call, typename... Message>
int receive(Call call, Message... message) {
  if (!mustProgress()) return call();
  const int code = awaitMessage(message...);
  return code == MPI_SUCCESS ? makeInside(call) : code;
}

template <typename Call>
int create(Call call, MPI_Comm parent, const MPI_Comm* result) {
  return created(makeInside(call, parent), parent, result);
}

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_WRAPPERS_WAITING_H_
