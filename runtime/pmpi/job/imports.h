// Imports: the functions and data that a loaded object has from others, by its relocations.
#ifndef TORC_RUNTIME_PMPI_JOB_IMPORTS_H_
#define TORC_RUNTIME_PMPI_JOB_IMPORTS_H_

#include <functional>
#include <link.h>
#include <string_view>

namespace torc::pmpi {

/// What the file of an object is called, without its folders.
std::string_view fileName(const dl_phdr_info& object);

/// Calls visit(symbol, slot) for each import, until it returns true, which is the result. `slot` is
/// where the object keeps the symbol's address. `object` is one of dl_iterate_phdr.
bool anyImport(const dl_phdr_info& object,
               const std::function<bool(const char* symbol, void** slot)>& visit);

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_JOB_IMPORTS_H_
