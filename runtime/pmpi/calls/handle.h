// Handles: the MPI requests that a program gets for nonblocking and persistent operations of torc.
//
// A handle is a receive of no bytes, posted on a private duplicate of MPI_COMM_SELF under a tag of
// its own; when the operation is complete, this rank sends itself the message. So it is a request
// like any other: every MPI_Wait and MPI_Test takes it, in arrays with the program's own. After a
// failure the message has one byte, and the program's wait returns MPI_ERR_TRUNCATE.
#ifndef TORC_RUNTIME_PMPI_CALLS_HANDLE_H_
#define TORC_RUNTIME_PMPI_CALLS_HANDLE_H_

#include <cstdint>
#include <unordered_set>

#include <mpi.h>

#include "support/status.h"

namespace torc::runtime::pmpi {

class HandleSpace {
 public:
  HandleSpace() = default;
  HandleSpace(const HandleSpace&) = delete;
  HandleSpace& operator=(const HandleSpace&) = delete;

  /// Collective over MPI_COMM_SELF, hence local.
  Status open();
  /// No handle is in use.
  void close();

  /// A handle that is under way, or if it `persists` an inactive one for PMPI_Start. `tag`
  /// completes it.
  Status make(bool persists, MPI_Request* request, int* tag);

  /// Completes the active handle with `tag`; the program's wait returns an error when `failed`.
  Status complete(int tag, bool failed);

  /// Whether MPI takes `type` for communication. Of any that it does not, no error handler of the
  /// program's is told.
  bool isCommitted(MPI_Datatype type);

  /// The tag of a persistent handle is free again.
  void release(int tag) { persistent_.erase(tag); }

 private:
  int nextTag();

  MPI_Comm self_ = MPI_COMM_NULL;
  int highest_tag_ = 32767;
  int next_tag_ = 0;
  std::unordered_set<int> persistent_;  // tags in use for longer than one operation
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_HANDLE_H_
