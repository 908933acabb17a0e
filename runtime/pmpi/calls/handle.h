// Handles: MPI requests for the program's nonblocking and persistent operations that torc serves.
//
// A handle is a receive of no bytes, posted on a private duplicate of MPI_COMM_SELF under a tag of
// its own. When the operation is complete, this rank sends itself the message. So it is a valid
// request for every MPI_Wait and MPI_Test, also in arrays with other requests. After a failure the
// message has one byte, and the program's wait returns MPI_ERR_TRUNCATE.
#ifndef TORC_RUNTIME_PMPI_CALLS_HANDLE_H_
#define TORC_RUNTIME_PMPI_CALLS_HANDLE_H_

#include <unordered_set>

#include <mpi.h>

#include "runtime/non_copyable.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

class HandleSpace : NonCopyable {
 public:
  /// Collective over MPI_COMM_SELF, hence local.
  Status open();
  /// Precondition: no handle is in use.
  void close();

  /// Creates an active handle, or if it `persists` an inactive one for PMPI_Start. `tag` completes
  /// it.
  Status make(bool persists, MPI_Request* request, int* tag);

  /// Completes the active handle with `tag`; the program's wait returns an error if `failed`.
  Status complete(int tag, bool failed);

  /// Whether MPI accepts `type` for communication. If not, no error handler of the program is
  /// called.
  bool isCommitted(MPI_Datatype type);

  /// Frees the tag of a persistent handle.
  void release(int tag) { persistent_.erase(tag); }

 private:
  int nextTag();

  MPI_Comm self_ = MPI_COMM_NULL;
  int highest_tag_ = 32767;
  int next_tag_ = 0;
  std::unordered_set<int> persistent_;  // of persistent handles
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_HANDLE_H_
