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

class HeldHandles {
 public:
  /// A call starts to use a handle that must be held. Throws std::bad_alloc.
  void holdType(MPI_Datatype type) { ++types_[type].uses; }
  void holdOp(MPI_Op op) { ++ops_[op].uses; }
  /// The call has ended.
  void releaseType(MPI_Datatype type) {
    if (release(types_, type)) PMPI_Type_free(&type);
  }
  void releaseOp(MPI_Op op) {
    if (release(ops_, op)) PMPI_Op_free(&op);
  }

  /// The program frees the handle. True: a call uses it, and it is freed later.
  bool keepType(MPI_Datatype type) { return keep(types_, type); }
  bool keepOp(MPI_Op op) { return keep(ops_, op); }

 private:
  struct Held {
    std::uint32_t uses = 0;
    bool is_freed = false;  // by the program
  };
  template <typename Handle>
  using Handles = std::unordered_map<Handle, Held>;

  /// True: that was the last use of a handle that the program has freed.
  template <typename Handle>
  static bool release(Handles<Handle>& handles, Handle handle) {
    const auto held = handles.find(handle);
    if (--held->second.uses > 0) return false;
    const bool is_freed = held->second.is_freed;
    handles.erase(held);
    return is_freed;
  }
  template <typename Handle>
  static bool keep(Handles<Handle>& handles, Handle handle) {
    const auto held = handles.find(handle);
    if (held == handles.end()) return false;
    held->second.is_freed = true;
    return true;
  }

  Handles<MPI_Datatype> types_;
  Handles<MPI_Op> ops_;
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_HELD_HANDLES_H_
