// Held handles: datatypes and operations that torc's calls use. A program may free one while calls
// that use it are under way; it is freed with the last of them.
#ifndef TORC_RUNTIME_PMPI_CALLS_HELD_HANDLES_H_
#define TORC_RUNTIME_PMPI_CALLS_HELD_HANDLES_H_

#include <cstdint>
#include <unordered_map>

#include <mpi.h>

namespace torc::pmpi {

/// MPICH marks the handles of what it predefines in their two highest bits. Such a handle always
/// means the same and is never freed.
inline bool isPredefined(int handle) {
  return static_cast<unsigned>(handle) >> 30 == 1;
}

class HeldHandles {
 public:
  /// A call uses the handle from now on. Throws std::bad_alloc.
  void hold(int handle) {
    if (!isPredefined(handle) && !isNull(handle)) ++handles_[handle].uses;
  }
  /// The call is gone.
  void release(int handle) {
    if (isPredefined(handle) || isNull(handle)) return;
    const auto held = handles_.find(handle);
    if (--held->second.uses > 0) return;
    const bool is_type = held->second.freed_type, is_op = held->second.freed_op;
    handles_.erase(held);
    if (is_type) PMPI_Type_free(&handle);
    if (is_op) PMPI_Op_free(&handle);
  }

  /// The program frees it. True: a call uses it, and it is freed later.
  bool keepType(MPI_Datatype type) { return keep(type, &Held::freed_type); }
  bool keepOp(MPI_Op op) { return keep(op, &Held::freed_op); }

 private:
  struct Held {
    std::uint32_t uses = 0;
    bool freed_type = false, freed_op = false;
  };
  static bool isNull(int handle) { return handle == MPI_DATATYPE_NULL || handle == MPI_OP_NULL; }
  bool keep(int handle, bool Held::*freed) {
    const auto held = handles_.find(handle);
    if (held == handles_.end()) return false;
    held->second.*freed = true;
    return true;
  }

  // MPICH numbers datatypes and operations without overlap.
  std::unordered_map<int, Held> handles_;
};

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_HELD_HANDLES_H_
