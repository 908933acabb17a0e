// Loaded objects: what the program and the libraries of a process have from one another, by their
// tables of symbols and relocations.
#ifndef TORC_RUNTIME_PMPI_PROCESS_LOADED_OBJECTS_H_
#define TORC_RUNTIME_PMPI_PROCESS_LOADED_OBJECTS_H_

#include <cstddef>
#include <functional>
#include <link.h>
#include <string_view>
#include <vector>

namespace torc::runtime::pmpi {

/// The objects of the process, the program first, in the order in which those that it starts with
/// are searched for symbols. One of them stays valid as long as it is loaded.
std::vector<dl_phdr_info> loadedObjects();

/// What the file of an object is called, without its folders; empty: the program's.
std::string_view fileName(const dl_phdr_info& object);

/// Whether an address lies in an object.
bool holds(const dl_phdr_info& object, const void* address);

/// Whether an object stands between programs and MPI, as a profiling tool does: it defines
/// functions of MPI's by their names MPI_..., and none by their names PMPI_...
bool isTool(const dl_phdr_info& object);

/// Whether an object says that it needs another one, by what the other is called.
bool needs(const dl_phdr_info& object, const dl_phdr_info& other);

/// Calls visit(symbol, slot) for each function or variable that the loader looks up for an object,
/// until it returns true, which is the result. `slot` is where the object keeps the address.
bool anyImport(const dl_phdr_info& object,
               const std::function<bool(const char* symbol, void** slot)>& visit);

/// Calls visit(symbol, entry) for each function that an object has for others, likewise.
bool anyExport(const dl_phdr_info& object,
               const std::function<bool(const char* symbol, const ElfW(Sym) & entry)>& visit);

/// Writes `bytes` bytes, all on one page, over what lies in an object. Memory that the loader has
/// made read-only is so again afterwards. False: the system does not allow it.
bool overwrite(const dl_phdr_info& object, const void* place, const void* value, std::size_t bytes);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_LOADED_OBJECTS_H_
