// Loaded objects: imports and exports of the program and the libraries of a process, from their
// tables of symbols and relocations.
#ifndef TORC_RUNTIME_PMPI_PROCESS_LOADED_OBJECTS_H_
#define TORC_RUNTIME_PMPI_PROCESS_LOADED_OBJECTS_H_

#include <cstddef>
#include <functional>
#include <link.h>
#include <string_view>
#include <vector>

namespace torc::runtime::pmpi {

/// The objects of the process, the program first, in the search order for symbols of those loaded
/// at the start. An entry is valid as long as its object is loaded.
std::vector<dl_phdr_info> loadedObjects();

/// The file name of an object without its folders; empty for the program.
std::string_view fileName(const dl_phdr_info& object);

/// Whether an address lies in an object.
bool holds(const dl_phdr_info& object, const void* address);

/// Whether an object lies between programs and MPI, as a profiling tool does: it defines MPI
/// functions by names MPI_..., and none by names PMPI_...
bool isTool(const dl_phdr_info& object);

/// Whether an object names the other as one that it needs.
bool needs(const dl_phdr_info& object, const dl_phdr_info& other);

/// Calls visit(symbol, slot) for each function or variable that the loader looks up for an object,
/// until it returns true; returns whether it did. `slot` is the address's place in the object.
bool anyImport(const dl_phdr_info& object,
               const std::function<bool(const char* symbol, void** slot)>& visit);

/// Calls visit(symbol, entry) for each function that an object exports, likewise.
bool anyExport(const dl_phdr_info& object,
               const std::function<bool(const char* symbol, const ElfW(Sym) & entry)>& visit);

/// Overwrites `bytes` bytes in an object, all on one page. Read-only memory is read-only again
/// afterwards. False: the system does not allow it.
bool overwrite(const dl_phdr_info& object, const void* place, const void* value, std::size_t bytes);

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_PROCESS_LOADED_OBJECTS_H_
