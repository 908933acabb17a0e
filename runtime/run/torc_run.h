// Entry point of torc-run, for a program that has initialised MPI.
#ifndef TORC_RUNTIME_RUN_TORC_RUN_H_
#define TORC_RUNTIME_RUN_TORC_RUN_H_

namespace torc::runtime {

/// Collective over MPI_COMM_WORLD: runs torc-run with these arguments, and returns its exit status.
int runTorcRun(int argc, char** argv);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TORC_RUN_H_
