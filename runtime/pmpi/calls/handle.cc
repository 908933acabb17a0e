// Handles: self messages.
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
  // After a lap of 2^28 operations only persistent handles can still be there.
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

// Not by a persistent receive: MPICH 4.0.2 leaves MPI_PROC_NULL in a request's memory, by which
// MPI_Start then takes a persistent collective for one that there is nothing to do for.
bool HandleSpace::isCommitted(MPI_Datatype type) {
  if (self_ == MPI_COMM_NULL && !open().ok()) return false;
  // MPI looks at the type where there is an element, and at the pointer.
  char nothing = 0;
  return PMPI_Recv(&nothing, 1, type, MPI_PROC_NULL, 0, self_, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

Status HandleSpace::complete(int tag, bool failed) {
  const char mark = 1;
  const int code = PMPI_Send(&mark, failed ? 1 : 0, MPI_BYTE, 0, tag, self_);
  // The failure that the receive was meant to have may be reported to the sender, too.
  return failed ? Status() : mpiStatus(code, "MPI_Send");
}

}  // namespace torc::runtime::pmpi
