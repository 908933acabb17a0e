// Handles: messages of a rank to itself.
#include "runtime/pmpi/calls/handle.h"

#include "runtime/transport/mpi_status.h"

namespace torc::runtime::pmpi {

Status HandleSpace::open() {
  if (const int code = PMPI_Comm_dup(MPI_COMM_SELF, &self_); code != MPI_SUCCESS) {
    return mpiStatus(code, "MPI_Comm_dup");
  }
  PMPI_Comm_set_errhandler(self_, MPI_ERRORS_RETURN);
  highest_tag_ = highestTag(self_);
  return {};
}

void HandleSpace::close() {
  if (self_ != MPI_COMM_NULL) PMPI_Comm_free(&self_);
}

int HandleSpace::nextTag() {
  // After 2^28 operations tags repeat: only persistent handles can still be in use.
  do {
    next_tag_ = next_tag_ == highest_tag_ ? 0 : next_tag_ + 1;
  } while (!persistent_.empty() && persistent_.contains(next_tag_));
  return next_tag_;
}

Status HandleSpace::make(bool persists, MPI_Request* request, int* tag) {
  *tag = nextTag();
  if (persists) persistent_.insert(*tag);
  const auto receive = persists ? &PMPI_Recv_init : &PMPI_Irecv;
  return mpiStatus(receive(nullptr, 0, MPI_BYTE, 0, *tag, self_, request),
                   persists ? "MPI_Recv_init" : "MPI_Irecv");
}

// A persistent receive cannot test this: MPICH 4.0.2 leaves MPI_PROC_NULL in a request's memory,
// and MPI_Start then treats a persistent collective as a no-op.
bool HandleSpace::isCommitted(MPI_Datatype type) {
  if (self_ == MPI_COMM_NULL && !open().ok()) return false;
  // MPI checks the type only if there is an element, and the pointer.
  char nothing = 0;
  return PMPI_Recv(&nothing, 1, type, MPI_PROC_NULL, 0, self_, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

Status HandleSpace::complete(int tag, bool failed) {
  const char mark = 1;
  const int code = PMPI_Send(&mark, failed ? 1 : 0, MPI_BYTE, 0, tag, self_);
  // MPI may report the intended failure of the receive to the sender, too.
  return failed ? Status() : mpiStatus(code, "MPI_Send");
}

}  // namespace torc::runtime::pmpi
