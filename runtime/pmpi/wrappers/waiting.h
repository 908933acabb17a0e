// Calls that may wait for other ranks, or look for them, with progress: a function for each kind of
// row in waiting_calls.txt. `call` makes the call as the program made it, and returns MPI's code.
#ifndef TORC_RUNTIME_PMPI_WRAPPERS_WAITING_H_
#define TORC_RUNTIME_PMPI_WRAPPERS_WAITING_H_

#include <mpi.h>

#include "runtime/pmpi/engine/inside_mpi.h"
#include "runtime/pmpi/process/progress.h"

namespace torc::runtime::pmpi {

/// A call that completes requests has returned `code`. The wait for a request of torc's that has
/// failed returns an error: now the program's handler is told.
int completed(int code);

/// One look has returned `code`. Where it found nothing: a program that calls MPI_Test in a loop
/// must not keep the core from the ranks that it waits for.
int looked(int code, const int* flag);

/// Waits until a message has come. An error of MPI's, of which it has told: the call is not made.
int awaitMessage(int source, int tag, MPI_Comm comm);
int awaitMessage(const void* data, MPI_Count count, MPI_Datatype type, int source, int tag,
                 MPI_Comm comm);

/// After a program's creation that has returned `code`. `parent`: whose ranks all make it;
/// MPI_COMM_NULL: of no communicator.
int created(int code, MPI_Comm parent, const MPI_Comm* comm);

/// Makes a call that waits inside MPI for the ranks of `ranks`.
template <typename Call>
int makeInside(Call call, MPI_Comm ranks = MPI_COMM_NULL) {
  const InsideMpi inside(ranks);
  return call();
}

/// The same, unless nobody looks after operations meanwhile: then `other` does, and returns the
/// code.
template <typename Call, typename Other>
int makeInsideOr(Call call, Other other) {
  const InsideMpi inside;
  return inside.isWatched() || !mustProgress() ? call() : other();
}

/// A call that does not wait; `flag` is 0 where it has found nothing.
template <typename Call>
int look(Call call, const int* flag) {
  if (!mustProgress()) return call();
  advance();
  return looked(call(), flag);
}
template <typename Call>
int complete(Call call, const int* flag) {
  return completed(look(call, flag));
}

/// `start` begins the nonblocking form.
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
