// Loaded objects: reads their dynamic sections.
#include "runtime/pmpi/process/loaded_objects.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace torc::runtime::pmpi {
namespace {

/// Contents of a dynamic section.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  std::size_t string_bytes = 0;
  const std::uint32_t* hash = nullptr;      // of either kind
  const std::uint32_t* gnu_hash = nullptr;  // or null
  const std::byte* relocations[2] = {};     // of data, and of calls
  std::size_t relocation_bytes[2] = {};
  bool with_addends = true;
  std::size_t name = 0;                   // offset in the strings: the object's own name
  std::vector<std::size_t> needed_names;  // names of the objects that it needs
};

/// After relocation, addresses in a dynamic section are absolute, except in objects that the loader
/// does not relocate, such as the kernel's own.
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
        case DT_SONAME:
          result.name = entry->d_un.d_val;
          break;
        case DT_NEEDED:
          result.needed_names.push_back(entry->d_un.d_val);
          break;
        case DT_HASH:
          result.hash = at<std::uint32_t>(object, entry->d_un.d_ptr);
          break;
        case DT_GNU_HASH:
          result.gnu_hash = at<std::uint32_t>(object, entry->d_un.d_ptr);
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

/// The number of symbols, which only the hash tables give.
std::size_t countSymbols(const Dynamic& object) {
  if (object.hash != nullptr) return object.hash[1];
  if (object.gnu_hash == nullptr) return 0;
  const std::uint32_t buckets = object.gnu_hash[0], first = object.gnu_hash[1];
  const std::uint32_t bloom_words = object.gnu_hash[2];
  const std::uint32_t* bucket =
      object.gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* chain = bucket + buckets;
  std::uint32_t last = *std::max_element(bucket, bucket + buckets);
  if (last < first) return first;
  // The last symbol of a chain has bit 0 set.
  while ((chain[last - first] & 1) == 0)
    ++last;
  return last + 1;
}

/// Protection of a page of an object after loading: PROT_READ and so on.
int protectionOf(const dl_phdr_info& object, std::uintptr_t page, std::uintptr_t page_bytes) {
  int protection = PROT_NONE;
  bool is_read_only = false;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    const std::uintptr_t end = begin + header.p_memsz;
    if (header.p_type == PT_LOAD && page + page_bytes > begin && page < end) {
      protection |= (header.p_flags & PF_R ? PROT_READ : 0) |
                    (header.p_flags & PF_W ? PROT_WRITE : 0) |
                    (header.p_flags & PF_X ? PROT_EXEC : 0);
    }
    // Whole pages of this segment are read-only after relocation.
    if (header.p_type == PT_GNU_RELRO && page >= (begin & ~(page_bytes - 1)) &&
        page < (end & ~(page_bytes - 1))) {
      is_read_only = true;
    }
  }
  return is_read_only ? protection & ~PROT_WRITE : protection;
}

int addObject(dl_phdr_info* object, std::size_t, void* list) {
  static_cast<std::vector<dl_phdr_info>*>(list)->push_back(*object);
  return 0;
}

}  // namespace

std::vector<dl_phdr_info> loadedObjects() {
  std::vector<dl_phdr_info> objects;
  dl_iterate_phdr(addObject, &objects);
  return objects;
}

std::string_view fileName(const dl_phdr_info& object) {
  const std::string_view path = object.dlpi_name != nullptr ? object.dlpi_name : "";
  return path.substr(path.rfind('/') + 1);
}

bool holds(const dl_phdr_info& object, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return std::any_of(
      object.dlpi_phdr, object.dlpi_phdr + object.dlpi_phnum, [&](const ElfW(Phdr) & header) {
        const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
        return header.p_type == PT_LOAD && at >= begin && at - begin < header.p_memsz;
      });
}

bool isTool(const dl_phdr_info& object) {
  bool has_calls = false;
  const bool is_mpis = anyExport(object, [&](const char* symbol, const ElfW(Sym)&) {
    const std::string_view name = symbol;
    has_calls |= !has_calls && name.starts_with("MPI_") &&
                 dlsym(RTLD_DEFAULT, ("P" + std::string(name)).c_str()) != nullptr;
    return name.starts_with("PMPI_");
  });
  return has_calls && !is_mpis;
}

bool needs(const dl_phdr_info& object, const dl_phdr_info& other) {
  const Dynamic mine = read(object), its = read(other);
  if (mine.strings == nullptr || its.strings == nullptr || its.name == 0) return false;
  const std::string_view name = its.strings + its.name;
  return std::ranges::any_of(mine.needed_names,
                             [&](std::size_t at) { return mine.strings + at == name; });
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
      // Another object may override a definition of this one, unless its visibility is restricted.
      if (ELF64_ST_VISIBILITY(symbol.st_other) != STV_DEFAULT) continue;
      if (symbol.st_name >= object.string_bytes) continue;
      auto* slot = reinterpret_cast<void**>(loaded.dlpi_addr + relocation[i].r_offset);
      if (visit(object.strings + symbol.st_name, slot)) return true;
    }
  }
  return false;
}

bool anyExport(const dl_phdr_info& loaded,
               const std::function<bool(const char* symbol, const ElfW(Sym) & entry)>& visit) {
  const Dynamic object = read(loaded);
  if (object.symbols == nullptr || object.strings == nullptr) return false;
  const std::size_t count = countSymbols(object);
  return std::any_of(object.symbols, object.symbols + count, [&](const ElfW(Sym) & symbol) {
    const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
    return is_function && symbol.st_shndx != SHN_UNDEF && symbol.st_name < object.string_bytes &&
           visit(object.strings + symbol.st_name, symbol);
  });
}

bool overwrite(const dl_phdr_info& object, const void* place, const void* value,
               std::size_t bytes) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(place) & ~(page_bytes - 1);
  const int protection = protectionOf(object, page, page_bytes);
  void* begin = reinterpret_cast<void*>(page);
  const bool is_writable = (protection & PROT_WRITE) != 0;
  if (!is_writable && mprotect(begin, page_bytes, protection | PROT_WRITE) != 0) return false;
  std::memcpy(const_cast<void*>(place), value, bytes);
  if (!is_writable) static_cast<void>(mprotect(begin, page_bytes, protection));
  return true;
}

}  // namespace torc::runtime::pmpi
