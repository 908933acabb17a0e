// Loaded objects: reads their dynamic sections.
#include "runtime/pmpi/process/loaded_objects.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace torc::runtime::pmpi {
namespace {

/// The dynamic section of an object.
struct Dynamic {
  explicit Dynamic(const dl_phdr_info& loaded) : object(loaded) {
    for (int i = 0; i < object.dlpi_phnum; ++i) {
      if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
      auto* first =
          reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
      auto* last = first;
      while (last->d_tag != DT_NULL)
        ++last;
      entries = {first, last};
    }
    symbols = at<ElfW(Sym)>(DT_SYMTAB);
    strings = at<char>(DT_STRTAB);
    string_bytes = number(DT_STRSZ);
  }

  /// The number in the entry with a tag; 0: there is none.
  std::size_t number(std::int64_t tag) const {
    const auto found = std::ranges::find(entries, tag, &ElfW(Dyn)::d_tag);
    return found == entries.end() ? 0 : found->d_un.d_val;
  }
  /// The memory of an entry; nullptr: there is none. After relocation, addresses are absolute,
  /// except in objects that the loader does not relocate, such as the kernel's own.
  template <typename Value>
  const Value* at(std::int64_t tag) const {
    const std::size_t address = number(tag);
    const bool is_relative = address != 0 && address < object.dlpi_addr;
    return reinterpret_cast<const Value*>(is_relative ? address + object.dlpi_addr : address);
  }

  const dl_phdr_info& object;
  std::span<const ElfW(Dyn)> entries;
  const ElfW(Sym) * symbols;
  const char* strings;
  std::size_t string_bytes;
};

/// The number of symbols, which only the hash tables give.
std::size_t countSymbols(const Dynamic& object) {
  if (auto* hash = object.at<std::uint32_t>(DT_HASH); hash != nullptr) return hash[1];
  auto* const gnu_hash = object.at<std::uint32_t>(DT_GNU_HASH);
  if (gnu_hash == nullptr) return 0;
  const std::uint32_t buckets = gnu_hash[0], first = gnu_hash[1];
  const std::uint32_t bloom_words = gnu_hash[2];
  const std::uint32_t* bucket =
      gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
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
  const Dynamic mine(object), its(other);
  const std::size_t own_name = its.number(DT_SONAME);
  if (mine.strings == nullptr || its.strings == nullptr || own_name == 0) return false;
  const std::string_view name = its.strings + own_name;
  return std::ranges::any_of(mine.entries, [&](const ElfW(Dyn) & entry) {
    return entry.d_tag == DT_NEEDED && mine.strings + entry.d_un.d_val == name;
  });
}

bool anyImport(const dl_phdr_info& loaded,
               const std::function<bool(const char* symbol, void** slot)>& visit) {
  const Dynamic object(loaded);
  const std::size_t kind = object.number(DT_PLTREL);
  const bool with_addends = kind == 0 || kind == DT_RELA;
  if (object.symbols == nullptr || object.strings == nullptr || !with_addends) return false;
  // Of data, and of calls.
  for (const auto& [table, bytes] :
       {std::pair(DT_RELA, DT_RELASZ), std::pair(DT_JMPREL, DT_PLTRELSZ)}) {
    const auto* relocation = object.at<ElfW(Rela)>(table);
    const std::size_t count = object.number(bytes) / sizeof(ElfW(Rela));
    for (std::size_t i = 0; relocation != nullptr && i < count; ++i) {
      const std::size_t index = ELF64_R_SYM(relocation[i].r_info);
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
  const Dynamic object(loaded);
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
