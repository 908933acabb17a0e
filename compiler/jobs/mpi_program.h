// Programs that torc is to be preloaded into: which MPI each is linked to, as their ELF headers and
// the system's loader say. None of their code runs.
#ifndef TORC_COMPILER_JOBS_MPI_PROGRAM_H_
#define TORC_COMPILER_JOBS_MPI_PROGRAM_H_

#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Error.h>

namespace torc::compiler {

enum class Mpi { kNone, kMpich, kOpenMpi };
/// "MPICH".
const char* nameOf(Mpi mpi);

struct MpiProgram {
  std::string path;
  std::vector<std::string> libraries{};  // that its loader loads, by the names that are asked for
  Mpi mpi = Mpi::kNone;                  // whose library is among them
  bool calls_mpi = false;                // names of MPI's functions are in it, linked or not
  std::string fault{}, remedy{};         // why nothing can be preloaded; empty: it can

  bool needs(llvm::StringRef library) const;  // by the beginning of its name
};

/// The file that a shell or mpiexec would run for a word; empty: there is none.
std::string findProgram(llvm::StringRef word);

/// Looks at a program or a shared library. Errors: it cannot be read, or is no ELF file of this
/// kind of processor.
llvm::Expected<MpiProgram> readProgram(llvm::StringRef path);

/// The library to preload into programs of `mpi`: one that LD_PRELOAD names, or one that is
/// installed or built beside this program. The error names the folder.
llvm::Expected<std::string> findPreload(Mpi mpi);

}  // namespace torc::compiler

#endif  // TORC_COMPILER_JOBS_MPI_PROGRAM_H_
