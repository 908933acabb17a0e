// Layers: program, profiling tool, torc, MPI. A call goes through them in this order, in whichever
// order tool and torc are loaded, and each sees the program's calls once.
//
// A profiling tool defines functions MPI_... for the program, as torc does, and calls MPI by the
// names PMPI_... Loaded alone, each is called. If both are loaded, the program calls the first one,
// and the other would be skipped. So when this library is loaded, it changes addresses by which the
// objects of the process call each other:
//  - A tool's call of PMPI_Allreduce becomes a call of the wrapper MPI_Allreduce, and so on for all
//    wrappers. The same holds for MPI's Fortran library, which calls some C functions by those
//    names (all of Open MPI 4.1.4; of MPICH 4.0.2 those of `use mpi_f08` without data buffers).
//    MPI still converts Fortran's handles, statuses and MPI_IN_PLACE to C.
//  - If torc comes before a tool, calls of torc's MPI_Allreduce become calls of the tool's, if the
//    tool has one. torc's is removed from its own symbols, so that code which is loaded later, or
//    looks the name up, finds the tool's too.
//  - Dedicated ranks call MPI_Iallreduce and others, which torc then serves: these calls go to
//    torc's wrappers, as they do not come from the program.
//  - If a tool looks up MPI's functions by dlsym, it gets the wrappers (findForTool).
// Addresses that a tool has stored before this library's code has run stay unchanged.
//
// If the process uses another MPI than this library was built with, torc cannot even pass calls on,
// as handles have another size: all of torc's functions are removed in the same way, and the
// program runs without torc. Functions of torc's own MPI are removed likewise, if they come before
// the other MPI's.
#include "runtime/pmpi/wrappers/layers.h"

#include <algorithm>
#include <dlfcn.h>
#include <map>
#include <string_view>
#include <vector>

#include "runtime/pmpi/process/loaded_objects.h"
#include "runtime/pmpi/process/start.h"
#include "runtime/transport/which_mpi.h"
#include "support/files.h"
#include "support/message.h"

namespace torc::runtime::pmpi {
namespace {

using Object = dl_phdr_info;

class Layers {
 public:
  Layers();

  void arrange();
  /// For another MPI that was loaded later, and is in use.
  void* leaveToLateOtherMpi(const char* name);
  /// The wrapper to return to a tool's dlsym; nullptr: the loader's own answer.
  void* insteadOf(void* handle, std::string_view name, const void* caller) const;

 private:
  struct Wrapper {
    void* address = nullptr;
    const ElfW(Sym) * entry = nullptr;
  };

  const Object* objectOf(const void* address) const;
  bool isTools(const Object* object) const { return std::ranges::count(tools_, object) > 0; }
  bool isMpis(const void* address) const { return mpi_ != nullptr && objectOf(address) == mpi_; }
  void* wrapperOf(std::string_view name) const;
  const Object* findOtherMpi() const;
  static void hide(const Object& object, const ElfW(Sym) & entry);
  void leaveToOtherMpi(const Object& other);
  void leaveToNext(bool all);
  void stepAside(const Object& other);
  void redirect(const Object& object);

  std::vector<Object> objects_;
  const Object* self_ = nullptr;
  const Object* mpi_ = nullptr;       // defines the process's PMPI_Init
  std::vector<const Object*> tools_;  // in the order of `objects_`
  std::map<std::string_view, Wrapper> wrappers_;
  std::map<std::string_view, void*> next_;  // functions that replace torc's
};

const Layers* layers = nullptr;

/// dlsym for tools. The loader's answer depends on the caller: this call is therefore a jump.
#ifdef __clang__
#define TORC_JUMPS
#define TORC_JUMP [[clang::musttail]] return
#else
#define TORC_JUMPS [[gnu::optimize("O2"), gnu::no_sanitize("address", "thread", "undefined")]]
#define TORC_JUMP return
#endif
TORC_JUMPS void* findForTool(void* handle, const char* name) {
  void* found =
      name == nullptr ? nullptr : layers->insteadOf(handle, name, __builtin_return_address(0));
  if (found != nullptr) return found;
  TORC_JUMP dlsym(handle, name);
}

Layers::Layers() : objects_(loadedObjects()) {
  static const char here = 0;
  self_ = objectOf(&here);
  mpi_ = objectOf(dlsym(RTLD_DEFAULT, "PMPI_Init"));
  if (self_ == nullptr) return;
  anyExport(*self_, [&](const char* symbol, const ElfW(Sym) & entry) {
    if (std::string_view(symbol).starts_with("MPI")) {
      wrappers_[symbol] = {reinterpret_cast<void*>(self_->dlpi_addr + entry.st_value), &entry};
    }
    return false;
  });
}

const Object* Layers::objectOf(const void* address) const {
  const auto found =
      std::ranges::find_if(objects_, [&](const Object& object) { return holds(object, address); });
  return found == objects_.end() ? nullptr : &*found;
}

void* Layers::wrapperOf(std::string_view name) const {
  const auto found = wrappers_.find(name);
  return found == wrappers_.end() ? nullptr : found->second.address;
}

/// The other MPI's library, if the process uses it; torc's own MPI is then loaded as well, as torc
/// needs it, and may even be found first.
const Object* Layers::findOtherMpi() const {
  // The symbol may be data, which a program may have copied.
  const auto other = std::ranges::find_if(objects_, [&](const Object& object) {
    if (fileName(object).empty()) return false;
    void* library = dlopen(object.dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return false;
    void* found = dlsym(library, kSymbolOfOtherMpi);
    dlclose(library);
    return holds(object, found);
  });
  if (other == objects_.end()) return nullptr;
  const bool needs_own = std::ranges::any_of(objects_, [&](const Object& object) {
    return &object != self_ && &object != mpi_ && needs(object, *mpi_);
  });
  return &*other == mpi_ || !needs_own ? &*other : nullptr;
}

/// Removes a function from an object's symbols, so that the loader finds the next definition.
void Layers::hide(const Object& object, const ElfW(Sym) & entry) {
  const ElfW(Addr) nowhere = 0;
  overwrite(object, &entry.st_value, &nowhere, sizeof(nowhere));
}

/// Replaces functions of torc's own MPI, if that is found first, by the other MPI's.
void Layers::leaveToOtherMpi(const Object& other) {
  if (&other == mpi_) return;
  void* library = dlopen(other.dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  anyExport(*mpi_, [&](const char* symbol, const ElfW(Sym) & entry) {
    if (void* its = dlsym(library, symbol); its != nullptr) {
      next_[symbol] = its;
      hide(*mpi_, entry);
    }
    return false;
  });
  dlclose(library);
}

/// Finds the functions of torc that must give way to the process's next definition, of a tool or
/// all, and removes them from torc's symbols.
void Layers::leaveToNext(bool all) {
  for (const auto& [name, wrapper] : wrappers_) {
    if (dlsym(RTLD_DEFAULT, name.data()) != wrapper.address) continue;
    void* next = dlsym(RTLD_NEXT, name.data());
    if (!all && !isTools(objectOf(next))) continue;
    hide(*self_, *wrapper.entry);
    if (next != nullptr) next_[name] = next;
  }
}

void Layers::redirect(const Object& object) {
  const bool is_tool = isTools(&object);
  const bool takes_wrappers = is_tool || fileName(object).starts_with(kFortranLibrary);
  anyImport(object, [&](const char* symbol, void** slot) {
    const std::string_view name = symbol;
    void* target = nullptr;
    if (&object == self_) {
      target = wrapperOf(name);
    } else if (const auto found = next_.find(name); found != next_.end()) {
      target = found->second;
    } else if (takes_wrappers && name.starts_with("PMPI")) {
      target = wrapperOf(name.substr(1));
    } else if (is_tool && name == "dlsym") {
      target = reinterpret_cast<void*>(&findForTool);
    }
    // If the system does not allow it, the call is unchanged.
    if (target != nullptr) overwrite(object, slot, &target, sizeof(target));
    return false;
  });
}

void Layers::arrange() {
  if (self_ == nullptr || mpi_ == nullptr) return;
  if (dlsym(RTLD_DEFAULT, kSymbolOfOtherMpi) != nullptr) {
    if (const Object* other = findOtherMpi()) return stepAside(*other);
  }
  for (const Object& object : objects_) {
    if (&object != self_ && &object != mpi_ && isTool(object)) tools_.push_back(&object);
  }
  if (!tools_.empty()) leaveToNext(false);
  for (const Object& object : objects_)
    redirect(object);
}

/// Turns torc off in this process.
void Layers::stepAside(const Object& other) {
  if (launchedAs().rank == 0) {
    writeToStderr(message("torc: warning: this libtorc_pmpi.so is for ", kThisMpi,
                          ", and the program uses ", kOtherMpi, "; torc is off\n"));
  }
  noteStart();  // suppresses the later warning
  leaveToOtherMpi(other);
  leaveToNext(true);
  for (const Object& object : objects_) {
    if (&object != self_) redirect(object);
  }
}

void* Layers::leaveToLateOtherMpi(const char* name) {
  const Object* other = self_ == nullptr || mpi_ == nullptr ? nullptr : findOtherMpi();
  if (other == nullptr) return nullptr;
  stepAside(*other);
  const auto found = next_.find(name);
  return found == next_.end() ? nullptr : found->second;
}

void* Layers::insteadOf(void* handle, std::string_view name, const void* caller) const {
  if (name.starts_with("PMPI")) return wrapperOf(name.substr(1));
  void* wrapper = name.starts_with("MPI") ? wrapperOf(name) : nullptr;
  if (wrapper == nullptr || handle == RTLD_DEFAULT) return nullptr;
  if (handle != RTLD_NEXT) return isMpis(dlsym(handle, name.data())) ? wrapper : nullptr;
  // The next tool comes before torc.
  const auto self = std::ranges::find(tools_, objectOf(caller));
  for (auto tool = self; tool != tools_.end() && ++tool != tools_.end();) {
    void* found = nullptr;
    anyExport(**tool, [&](const char* symbol, const ElfW(Sym) & entry) {
      if (name == symbol) found = reinterpret_cast<void*>((*tool)->dlpi_addr + entry.st_value);
      return found != nullptr;
    });
    if (found != nullptr) return found;
  }
  return wrapper;
}

/// The program's libraries are loaded, and none of its own code has run.
[[gnu::constructor]] void arrangeLayers() {
  auto* made = new Layers;  // lives as long as tools may ask
  layers = made;
  made->arrange();
}

}  // namespace

void* leaveToLateOtherMpi(const char* name) {
  return Layers().leaveToLateOtherMpi(name);
}

}  // namespace torc::runtime::pmpi
