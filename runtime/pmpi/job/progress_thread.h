// Progress thread: moves operations on while the program computes, or waits where no wrapper can
// make progress (TORC_PROGRESS=thread). It sleeps while none is under way.
#ifndef TORC_RUNTIME_PMPI_JOB_PROGRESS_THREAD_H_
#define TORC_RUNTIME_PMPI_JOB_PROGRESS_THREAD_H_

namespace torc::pmpi {

/// MPI has been initialised with MPI_THREAD_MULTIPLE. False: no thread could be made.
bool startProgressThread();

/// No-op where there is none. No operation is under way.
void stopProgressThread();

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_JOB_PROGRESS_THREAD_H_
