// Pending calls: a look at what the loaded objects import, by their relocations.
#include "runtime/pmpi/job/pending_calls.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <link.h>
#include <string>

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

/// What a dynamic section says of an object.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  std::size_t string_bytes = 0;
  const std::byte* relocations[2] = {};  // of data, and of calls
  std::size_t relocation_bytes[2] = {};
  bool with_addends = true;
};

/// Addresses in a dynamic section are absolute once the loader is through with it, but for objects
/// that it does not relocate, as the kernel's own.
template <typename Value>
const Value* at(const dl_phdr_info& object, ElfW(Addr) address) {
  const bool is_relative = address < object.dlpi_addr;
  return reinterpret_cast<const Value*>(is_relative ? address + object.dlpi_addr : address);
}

Dynamic read(const dl_phdr_info& object) {
  Dynamic result;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_SYMTAB:
          result.symbols = at<ElfW(Sym)>(object, entry->d_un.d_ptr);
          break;
        case DT_STRTAB:
          result.strings = at<char>(object, entry->d_un.d_ptr);
          break;
        case DT_STRSZ:
          result.string_bytes = entry->d_un.d_val;
          break;
        case DT_RELA:
          result.relocations[0] = at<std::byte>(object, entry->d_un.d_ptr);
          break;
        case DT_RELASZ:
          result.relocation_bytes[0] = entry->d_un.d_val;
          break;
        case DT_JMPREL:
          result.relocations[1] = at<std::byte>(object, entry->d_un.d_ptr);
          break;
        case DT_PLTRELSZ:
          result.relocation_bytes[1] = entry->d_un.d_val;
          break;
        case DT_PLTREL:
          result.with_addends = entry->d_un.d_val == DT_RELA;
          break;
        default:
          break;
      }
    }
  }
  return result;
}

bool callsOne(const Dynamic& object) {
  if (object.symbols == nullptr || object.strings == nullptr || !object.with_addends) return false;
  for (int table = 0; table < 2; ++table) {
    const auto* relocation = reinterpret_cast<const ElfW(Rela)*>(object.relocations[table]);
    const std::size_t count = object.relocation_bytes[table] / sizeof(ElfW(Rela));
    for (std::size_t i = 0; relocation != nullptr && i < count; ++i) {
#if __SIZEOF_POINTER__ == 8
      const std::size_t index = ELF64_R_SYM(relocation[i].r_info);
#else
      const std::size_t index = ELF32_R_SYM(relocation[i].r_info);
#endif
      if (index == 0) continue;
      const ElfW(Sym)& symbol = object.symbols[index];
      if (symbol.st_shndx != SHN_UNDEF || symbol.st_name >= object.string_bytes) continue;
      if (isNonblockingCollective(object.strings + symbol.st_name)) return true;
    }
  }
  return false;
}

/// MPI's own libraries import one another's functions, and so does torc.
bool isMpiOrTorc(const char* path) {
  const char* slash = std::strrchr(path, '/');
  const std::string_view name = slash != nullptr ? slash + 1 : path;
  return name.starts_with("libmpi") || name.starts_with("libtorc");
}

int look(dl_phdr_info* object, std::size_t, void* found) {
  if (object->dlpi_name != nullptr && isMpiOrTorc(object->dlpi_name)) return 0;
  if (!callsOne(read(*object))) return 0;
  *static_cast<bool*>(found) = true;
  return 1;
}

}  // namespace

bool isNonblockingCollective(std::string_view symbol) {
  if (symbol.starts_with('p') || symbol.starts_with('P')) symbol.remove_prefix(1);
  // Nearly all symbols end here.
  if (symbol.size() < 8 || (symbol[0] | 0x20) != 'm' || (symbol[1] | 0x20) != 'p' ||
      (symbol[2] | 0x20) != 'i' || symbol[3] != '_') {
    return false;
  }
  std::string name(symbol.substr(4));
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
