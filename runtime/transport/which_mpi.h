// MPICH and Open MPI: how they differ is kept here, and in the files of runtime/pmpi/wrappers that
// are compiled for one of them only (see the BUILD file).
//  - Handles are numbers in MPICH and addresses in Open MPI, where they differ between the ranks.
//    What travels are Fortran's numbers of handles (MPI_Op_c2f), which are the same on all ranks
//    for what MPI predefines.
//  - MPICH 4.0 is MPI 4.0. Open MPI 4.1 is MPI 3.1, without functions of MPI_Count, sessions, and
//    partitions. It has persistent collectives as an extension: MPIX_Allreduce_init.
//  - MPICH refuses collectives whose buffers are one. Open MPI does so in a few functions only, and
//    the others work.
//  - Ranks of a host are children of other processes.
#ifndef TORC_RUNTIME_TRANSPORT_WHICH_MPI_H_
#define TORC_RUNTIME_TRANSPORT_WHICH_MPI_H_

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <string_view>

#include "runtime/reductions/mpi_reduction.h"

// What only an MPI 4 has: TORC_MPI_4(declarations).
#if MPI_VERSION >= 4
#define TORC_MPI_4(...) __VA_ARGS__
#else
#define TORC_MPI_4(...)
#endif

// The persistent form of a collective, as the program calls it, and as MPI's own; and its name.
#if MPI_VERSION >= 4
#define TORC_PERSISTENT(Name, Suffix) MPI_##Name##_init##Suffix
#define TORC_MPIS_PERSISTENT(Name, Suffix) PMPI_##Name##_init##Suffix
#define TORC_PERSISTENT_NAME(Name) "MPI_" #Name "_init"
#else
#define TORC_PERSISTENT(Name, Suffix) MPIX_##Name##_init##Suffix
#define TORC_MPIS_PERSISTENT(Name, Suffix) PMPIX_##Name##_init##Suffix
#define TORC_PERSISTENT_NAME(Name) "MPIX_" #Name "_init"
#endif

namespace torc::runtime {

#ifdef OPEN_MPI

inline constexpr const char* kThisMpi = "Open MPI";
inline constexpr const char* kOtherMpi = "MPICH";
/// Which a process has only if it is linked to the other MPI.
inline constexpr const char* kSymbolOfOtherMpi = "MPII_Version_string";

/// Whether a rank whose buffers are one does not take part in the call.
inline constexpr bool kRefusesAliases = false;

/// Whether a communicator that is freed goes when what is under way on it is over. Open MPI 4.1.4's
/// progress crashes where collectives or receives are.
inline constexpr bool kKeepsFreedCommunicators = false;

/// Whether a persistent request is still there when a wait for it has returned an error.
inline constexpr bool kKeepsFailedRequests = false;

/// What a process is called that starts ranks of its host, or the beginning of that.
inline constexpr std::string_view kLaunchers[] = {"orted", "orterun", "mpiexec", "mpirun"};
/// MPI's library, as ranks have it mapped.
inline constexpr std::string_view kMpiLibrary = "libmpi.so";
/// The library of MPI's Fortran functions.
inline constexpr std::string_view kFortranLibrary = "libmpi_mpifh.so";

/// A predefined handle always means the same and is never freed.
inline bool isPredefinedType(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return false;
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}
inline bool isPredefinedOp(MPI_Op op) {
  return isPredefinedReduction(op);
}

/// Whether an error handler ends the job.
inline bool endsJob(MPI_Errhandler handler) {
  return handler == MPI_ERRORS_ARE_FATAL;
}

/// The variable that says with which thread level MPI_Init initialises.
inline constexpr const char* kInitLevelVariable = "OMPI_MPI_THREAD_LEVEL";

/// Whether error handlers are called with MPI's lock under MPI_THREAD_MULTIPLE.
inline constexpr bool kLocksErrorHandlers = false;

#else

inline constexpr const char* kThisMpi = "MPICH";
inline constexpr const char* kOtherMpi = "Open MPI";
inline constexpr const char* kSymbolOfOtherMpi = "ompi_mpi_comm_world";

inline constexpr bool kRefusesAliases = true;
inline constexpr bool kKeepsFreedCommunicators = true;
inline constexpr bool kKeepsFailedRequests = true;

inline constexpr std::string_view kLaunchers[] = {"hydra_pmi_proxy"};
inline constexpr std::string_view kMpiLibrary = "libmpich.so";
inline constexpr std::string_view kFortranLibrary = "libmpichfort.so";

// SMPI (smpi.h) runs what is not about the program's handles.
#ifndef SMPI_H

// MPICH marks the handles of what it predefines in their two highest bits.
inline bool isPredefinedType(MPI_Datatype type) {
  return static_cast<unsigned>(type) >> 30 == 1;
}
inline bool isPredefinedOp(MPI_Op op) {
  return static_cast<unsigned>(op) >> 30 == 1;
}

inline bool endsJob(MPI_Errhandler handler) {
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
}

inline constexpr const char* kInitLevelVariable = "MPIR_CVAR_DEFAULT_THREAD_LEVEL";

/// In 4.0.2 they must then call hardly any MPI function, not even MPI_Abort, nor leave by longjmp.
inline constexpr bool kLocksErrorHandlers = true;

#endif  // SMPI_H

#endif  // OPEN_MPI

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_WHICH_MPI_H_
