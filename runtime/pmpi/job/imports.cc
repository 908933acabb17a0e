// Imports: reading an object's dynamic section.
#include "runtime/pmpi/job/imports.h"

#include <cstddef>

namespace torc::pmpi {
namespace {

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

}  // namespace

std::string_view fileName(const dl_phdr_info& object) {
  const std::string_view path = object.dlpi_name != nullptr ? object.dlpi_name : "";
  return path.substr(path.rfind('/') + 1);
}

bool anyImport(const dl_phdr_info& loaded,
               const std::function<bool(const char* symbol, void** slot)>& visit) {
  const Dynamic object = read(loaded);
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
      auto* slot = reinterpret_cast<void**>(loaded.dlpi_addr + relocation[i].r_offset);
      if (visit(object.strings + symbol.st_name, slot)) return true;
    }
  }
  return false;
}

}  // namespace torc::pmpi
