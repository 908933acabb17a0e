// What torc-run does, for a program that has started MPI.
#ifndef TORC_RUNTIME_RUN_TORC_RUN_H_
#define TORC_RUNTIME_RUN_TORC_RUN_H_

namespace torc::runtime {

/// Collective over MPI_COMM_WORLD: does what the arguments of torc-run say, and returns its exit
/// status.
int runTorcRun(int argc, char** argv);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_TORC_RUN_H_
