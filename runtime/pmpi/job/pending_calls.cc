// Pending calls: a look at what the loaded objects import.
#include "runtime/pmpi/job/pending_calls.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <link.h>
#include <string>

#include "runtime/pmpi/job/imports.h"
#include "runtime/pmpi/wrappers/intercepted_calls.h"

namespace torc::pmpi {
namespace {

struct Row {
  std::string_view name;  // "reduce_scatter"
  CallId id;
};
constexpr Row kRows[] = {
#define TORC_ROW(Name, name, parameters) {#name, CallId::k##Name},
    TORC_ALL_COLLECTIVES(TORC_ROW)
#undef TORC_ROW
};

/// MPI's own libraries import one another's functions, and so does torc. Those of Open MPI that are
/// called mca_... are its components.
bool isMpiOrTorc(std::string_view name) {
  return name.starts_with("libmpi") || name.starts_with("mca_") || name.starts_with("libtorc");
}

int look(dl_phdr_info* object, std::size_t, void* found) {
  if (isMpiOrTorc(fileName(*object))) return 0;
  const auto calls_one = [](const char* symbol, void**) { return isNonblockingCollective(symbol); };
  if (!anyImport(*object, calls_one)) return 0;
  *static_cast<bool*>(found) = true;
  return 1;
}

}  // namespace

bool isNonblockingCollective(std::string_view symbol) {
  if (symbol.starts_with('p') || symbol.starts_with('P')) symbol.remove_prefix(1);
  // Nearly all symbols end here.
  if (symbol.size() < 8 || (symbol[0] | 0x20) != 'm' || (symbol[1] | 0x20) != 'p' ||
      (symbol[2] | 0x20) != 'i') {
    return false;
  }
  // Open MPI has persistent collectives as an extension: MPIX_...
  const std::size_t prefix = (symbol[3] | 0x20) == 'x' ? 5 : 4;
  if (symbol[prefix - 1] != '_') return false;
  std::string name(symbol.substr(prefix));
  std::ranges::transform(name, name.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return std::ranges::any_of(kRows, [&](const Row& row) {
    if (!collectiveOf(row.id)) return false;
    const std::string stem(row.name);
    return name.starts_with("i" + stem) || name.starts_with(stem + "_init");
  });
}

bool importsNonblockingCollectives() {
  bool found = false;
  dl_iterate_phdr(look, &found);
  return found;
}

}  // namespace torc::pmpi
