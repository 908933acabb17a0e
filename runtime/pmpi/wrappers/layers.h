// Layers: which object's functions of MPI are called, of those that a process has.
#ifndef TORC_RUNTIME_PMPI_WRAPPERS_LAYERS_H_
#define TORC_RUNTIME_PMPI_WRAPPERS_LAYERS_H_

namespace torc::runtime::pmpi {

/// The other MPI's function of that name, if the program has loaded that MPI since it started and
/// uses it: from here on torc is no longer called. nullptr: it uses torc's own MPI.
void* leaveToLateOtherMpi(const char* name);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_WRAPPERS_LAYERS_H_
