// Fortran programs.
//
// MPI's Fortran functions are in a library of their own, and call MPI's C functions: those of Open
// MPI (4.1.4), and of MPICH (4.0.2) those of `use mpi_f08` without data buffers, by their PMPI_
// names, so that no wrapper sees them. When this library is loaded, it changes the addresses by
// which MPI's Fortran library calls these functions: of PMPI_Allreduce to the wrapper
// MPI_Allreduce, and so on, where there is a wrapper. What Fortran's handles, statuses and
// MPI_IN_PLACE are in C stays MPI's business.
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/pmpi/job/imports.h"
#include "runtime/transport/which_mpi.h"

using torc::kFortranLibrary;
using torc::pmpi::anyImport;
using torc::pmpi::fileName;

namespace {

/// This library, among those of the process.
struct Self {
  void* handle = nullptr;
  void* base = nullptr;
};

Self findSelf() {
  Dl_info info{};
  static const char here = 0;
  if (dladdr(&here, &info) == 0) return {};
  return {dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD), info.dli_fbase};
}

/// The wrapper of a function, "MPI_Allreduce", in this library; nullptr: there is none.
void* wrapperOf(const Self& self, const char* name) {
  void* found = dlsym(self.handle, name);
  Dl_info info{};
  if (found == nullptr || dladdr(found, &info) == 0 || info.dli_fbase != self.base) return nullptr;
  return found;
}

/// Writes an address where the loader may have made memory read-only, as it was asked to bind all
/// functions at once. Where the system does not allow it, calls stay MPI's.
void set(void** slot, void* address) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(slot) & ~(page_bytes - 1));
  if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0) *slot = address;
}

int redirect(dl_phdr_info* object, std::size_t, void* self) {
  if (!fileName(*object).starts_with(kFortranLibrary)) return 0;
  anyImport(*object, [self](const char* symbol, void** slot) {
    if (!std::string_view(symbol).starts_with("PMPI")) return false;
    void* wrapper = wrapperOf(*static_cast<const Self*>(self), symbol + 1);
    if (wrapper != nullptr) set(slot, wrapper);
    return false;
  });
  return 1;
}

/// The program's libraries are loaded, and none of their code has run.
[[gnu::constructor]] void redirectFortran() {
  Self self = findSelf();
  if (self.handle == nullptr) return;
  dl_iterate_phdr(redirect, &self);
  dlclose(self.handle);
}

}  // namespace
