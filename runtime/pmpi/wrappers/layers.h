// Layers: the order of the objects of a process that define MPI functions.
#ifndef TORC_RUNTIME_PMPI_WRAPPERS_LAYERS_H_
#define TORC_RUNTIME_PMPI_WRAPPERS_LAYERS_H_

namespace torc::runtime::pmpi {

/// The other MPI's function of that name, if the program has loaded that MPI since its start and
/// uses it: torc is then turned off. nullptr: the program uses torc's own MPI.
void* leaveToLateOtherMpi(const char* name);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_WRAPPERS_LAYERS_H_
