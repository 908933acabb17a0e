// Held handles: datatypes and operations in use by torc's calls. A program may free one while calls
// that use it are under way; it is freed after the last of them.
#ifndef TORC_RUNTIME_PMPI_CALLS_HELD_HANDLES_H_
#define TORC_RUNTIME_PMPI_CALLS_HELD_HANDLES_H_

#include <cstdint>
#include <unordered_map>

#include <mpi.h>

#include "runtime/transport/which_mpi.h"

namespace torc::runtime::pmpi {

/// Whether a call has to hold a handle: the program may free it.
inline bool isHeldType(MPI_Datatype type) {
  return type != MPI_DATATYPE_NULL && !isPredefinedType(type);
}
inline bool isHeldOp(MPI_Op op) {
  return op != MPI_OP_NULL && !isPredefinedOp(op);
}

/// `free`: MPI's function for such handles.
template <typename Handle, auto free>
class HeldHandles {
 public:
  /// A call starts to use a handle that must be held. Throws std::bad_alloc.
  void hold(Handle handle) { ++held_[handle].uses; }

  /// The call has ended.
  void release(Handle handle) {
    const auto held = held_.find(handle);
    if (--held->second.uses > 0) return;
    const bool is_freed = held->second.is_freed;
    held_.erase(held);
    if (is_freed) free(&handle);
  }

  /// The program frees the handle. True: a call uses it, and it is freed later.
  bool keep(Handle handle) {
    const auto held = held_.find(handle);
    if (held == held_.end()) return false;
    held->second.is_freed = true;
    return true;
  }

 private:
  struct Held {
    std::uint32_t uses = 0;
    bool is_freed = false;  // by the program
  };

  std::unordered_map<Handle, Held> held_;
};
using HeldTypes = HeldHandles<MPI_Datatype, PMPI_Type_free>;
using HeldOps = HeldHandles<MPI_Op, PMPI_Op_free>;

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_HELD_HANDLES_H_
