// Pending calls: examines the imports of the loaded objects.
#include "runtime/pmpi/process/pending_calls.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>

#include "runtime/job/call_table.h"
#include "runtime/pmpi/process/loaded_objects.h"

namespace torc::runtime::pmpi {
namespace {

constexpr std::string_view kStems[] = {
#define TORC_STEM(Name, name, parameters, collective) #name,
    TORC_ALL_COLLECTIVES(TORC_STEM)
#undef TORC_STEM
};

/// Whether an object's calls do not come from the program. MPI's own libraries import one another's
/// functions, and so does torc; Open MPI's components are called mca_... A profiling tool imports
/// all functions of MPI, for the program's calls.
bool isBelowProgram(const dl_phdr_info& object) {
  const std::string_view name = fileName(object);
  if (name.empty()) return false;
  return name.starts_with("libmpi") || name.starts_with("mca_") || name.starts_with("libtorc") ||
         holds(object, kStems) || isTool(object);
}

bool importsAny(bool (*is_meant)(std::string_view symbol)) {
  const auto is_one = [&](const char* symbol, void**) { return is_meant(symbol); };
  return std::ranges::any_of(loadedObjects(), [&](const dl_phdr_info& object) {
    return !isBelowProgram(object) && anyImport(object, is_one);
  });
}

std::string inLowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return lower;
}

/// MPI_Comm_create_errhandler, MPI_Errhandler_create, mpi_win_create_errhandler_
bool makesErrorHandler(std::string_view symbol) {
  // Nearly all symbols are rejected here.
  if (symbol.size() > 40 || symbol.find('_') == std::string_view::npos) return false;
  const std::string name = inLowerCase(symbol.substr(symbol[0] == 'p' || symbol[0] == 'P' ? 1 : 0));
  return name.starts_with("mpi_") && (name.find("create_errhandler") != std::string::npos ||
                                      name.find("errhandler_create") != std::string::npos);
}

}  // namespace

bool isNonblockingCollective(std::string_view symbol) {
  if (symbol.starts_with('p') || symbol.starts_with('P')) symbol.remove_prefix(1);
  // Nearly all symbols are rejected here.
  if (symbol.size() < 8 || (symbol[0] | 0x20) != 'm' || (symbol[1] | 0x20) != 'p' ||
      (symbol[2] | 0x20) != 'i') {
    return false;
  }
  // Open MPI has persistent collectives as an extension: MPIX_...
  const std::size_t prefix = (symbol[3] | 0x20) == 'x' ? 5 : 4;
  if (symbol[prefix - 1] != '_') return false;
  const std::string name = inLowerCase(symbol.substr(prefix));
  return std::ranges::any_of(kStems, [&](std::string_view row) {
    const std::string stem(row);
    return name.starts_with("i" + stem) || name.starts_with(stem + "_init");
  });
}

bool importsNonblockingCollectives() {
  return importsAny(isNonblockingCollective);
}

bool importsErrorHandlers() {
  return importsAny(makesErrorHandler);
}

}  // namespace torc::runtime::pmpi
