// Differences between MPICH and Open MPI, except for the files of runtime/pmpi/wrappers that are
// compiled for one of them only (see the BUILD file).
//  - Handles are numbers in MPICH and addresses in Open MPI, where they differ between the ranks.
//    Messages contain Fortran's numbers of handles (MPI_Op_c2f), which are the same on all ranks
//    for predefined handles.
//  - MPICH 4.0 is MPI 4.0. Open MPI 4.1 is MPI 3.1, without functions of MPI_Count, sessions, and
//    partitions. It has persistent collectives as an extension: MPIX_Allreduce_init.
//  - MPICH refuses collectives with equal send and receive buffers. Open MPI does so in a few
//    functions only, and the others work.
//  - Ranks of a host are children of different processes.
#ifndef TORC_RUNTIME_TRANSPORT_WHICH_MPI_H_
#define TORC_RUNTIME_TRANSPORT_WHICH_MPI_H_

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <string_view>

#include "runtime/reductions/mpi_reduction.h"

// Declarations for MPI 4 only: TORC_MPI_4(declarations).
#if MPI_VERSION >= 4
#define TORC_MPI_4(...) __VA_ARGS__
#else
#define TORC_MPI_4(...)
#endif

// The persistent form of a collective in the program and in MPI (PMPI), and its name.
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
/// A symbol that a process has only if it is linked to the other MPI.
inline constexpr const char* kSymbolOfOtherMpi = "MPII_Version_string";

/// Whether MPI refuses a call whose buffers are equal.
inline constexpr bool kRefusesAliases = false;

/// Whether a freed communicator remains until its communication is complete. With Open MPI 4.1.4
/// progress crashes if collectives or receives are active.
inline constexpr bool kKeepsFreedCommunicators = false;

/// Whether a persistent request remains after a wait for it has returned an error.
inline constexpr bool kKeepsFailedRequests = false;

/// Names, or their beginnings, of processes that start ranks on their host.
inline constexpr std::string_view kLaunchers[] = {"orted", "orterun", "mpiexec", "mpirun"};
/// MPI's library, as in /proc/PID/maps.
inline constexpr std::string_view kMpiLibrary = "libmpi.so";
/// The library of MPI's Fortran functions.
inline constexpr std::string_view kFortranLibrary = "libmpi_mpifh.so";

/// A predefined handle always has the same meaning and is never freed.
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

/// The variable with the thread level of MPI_Init.
inline constexpr const char* kInitLevelVariable = "OMPI_MPI_THREAD_LEVEL";

/// Whether error handlers are called while MPI holds its lock under MPI_THREAD_MULTIPLE.
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

// SMPI (smpi.h) compiles only the parts that do not depend on handles.
#ifndef SMPI_H

// MPICH marks predefined handles in their two highest bits.
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

/// In 4.0.2 such handlers must then call hardly any MPI function, not even MPI_Abort, nor leave by
/// longjmp.
inline constexpr bool kLocksErrorHandlers = true;

#endif  // SMPI_H

#endif  // OPEN_MPI

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_TRANSPORT_WHICH_MPI_H_
