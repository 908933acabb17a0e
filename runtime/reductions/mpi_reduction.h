// MPI datatypes and operations for the runtime: sizes, kernels, and MPI's own function if there is
// no kernel.
#ifndef TORC_RUNTIME_REDUCTIONS_MPI_REDUCTION_H_
#define TORC_RUNTIME_REDUCTIONS_MPI_REDUCTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "runtime/non_copyable.h"
#include "runtime/reductions/reduction.h"
#include "support/status.h"

namespace torc::runtime {

/// A datatype. Plain data.
struct ElementType {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  std::size_t bytes = 0;  // distance between elements
  std::size_t size = 0;   // bytes of data in an element
  bool predefined = false;
  bool gapless = false;             // predefined, or derived without gaps and offset
  bool simple = false;              // predefined, or contiguous copies of a predefined type
  bool apart = false;               // no element begins before its address, or overlaps the next
                                    // one
  std::optional<ElementKind> kind;  // if there are kernels

  /// For error messages, while the datatype exists: "MPI_DOUBLE_INT".
  std::string name() const;
  /// Whether an element consists of its data only, contiguous and in the order of the type.
  bool isBytesInRow() const { return gapless && simple && bytes == size; }
  /// Equal on ranks with the same kind of elements.
  std::uint64_t fingerprint() const;
};

/// Examines a datatype. Errors: MPI_DATATYPE_NULL, and invalid datatypes.
Status lookAtType(MPI_Datatype type, ElementType& element);

/// The error of a type with gaps.
Status gapsIn(const ElementType& type);

/// A datatype that schedules can reduce. Errors: those of lookAtType; kUnsupported for a derived
/// type with gaps or an offset.
StatusOr<ElementType> describeType(MPI_Datatype type);

/// Whether an operation is predefined and allowed in reductions.
bool isPredefinedReduction(MPI_Op op);

/// An operation on a type. Plain data.
struct Reduction {
  MPI_Op op = MPI_OP_NULL;
  ReduceFunction kernel = nullptr;  // null: MPI_Reduce_local
  bool commutes = true;             // otherwise sums must be in the order of ranks
  std::uint64_t fingerprint = 0;    // equal on ranks with the same operation
};

/// Examines a predefined or user-defined operation. Errors: MPI_OP_NULL and operations that
/// reductions do not allow; kUnsupported if MPI does not define it on the type.
Status lookAtReduction(const ElementType& type, MPI_Op op, Reduction& reduction);

/// The datatype passed to a user-defined operation, if derived, as the caller's may be freed
/// meanwhile.
enum class Keep : std::uint8_t {
  kDuplicate,  // has the caller's attributes only if these can be copied
  kOriginal,   // the caller's, which must outlive the operation
};

/// A reduction in use. The reducer refers to this object, which must not move meanwhile.
class MpiReduction : NonCopyable {
 public:
  ~MpiReduction();

  /// May be called again. A user-defined operation belongs to the user and must outlive this; so
  /// must a derived datatype that is not kept. `whole`: number of elements that the operation must
  /// get in one call; other vectors may be passed in pieces. Throws std::bad_alloc.
  Status use(const ElementType& type, const Reduction& reduction, Keep keep = Keep::kDuplicate,
             std::uint64_t whole = 0);

  /// Releases the datatype.
  void reset();

  Reducer reducer() const;

 private:
  static void reduceLocal(void* dst, const void* a, const void* b, std::size_t count,
                          const void* cookie);

  ReduceFunction kernel_ = nullptr;
  MPI_Op op_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;  // for reduceLocal; a duplicate if derived
  bool owns_type_ = false;
  std::size_t bytes_ = 0;
  bool commutes_ = true;
  mutable std::vector<std::byte> copy_;  // of a first operand that would be overwritten, in pieces
};

/// "MPI_SUM", or "a user-defined operation".
std::string describeOp(MPI_Op op);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_REDUCTIONS_MPI_REDUCTION_H_
