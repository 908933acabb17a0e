// MPI datatypes and operations as the runtime sees them: sizes, kernels, and MPI's own function
// where no kernel exists.
#ifndef TORC_RUNTIME_REDUCTIONS_MPI_REDUCTION_H_
#define TORC_RUNTIME_REDUCTIONS_MPI_REDUCTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "runtime/reductions/reduction.h"
#include "support/status.h"

namespace torc::runtime {

/// A datatype. Plain data.
struct ElementType {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  std::size_t bytes = 0;  // from one element to the next
  std::size_t size = 0;   // bytes of data in an element
  bool predefined = false;
  bool gapless = false;             // predefined, or derived without gaps and offset
  bool simple = false;              // predefined, or copies of a predefined type in a row
  bool apart = false;               // no element lies before its address, or within the next one
  std::optional<ElementKind> kind;  // where kernels exist

  /// For messages, while the datatype exists: "MPI_DOUBLE_INT".
  std::string name() const;
  /// Whether an element is its data, byte after byte in the order of the type, and nothing else.
  bool isBytesInRow() const { return gapless && simple && bytes == size; }
  /// Equal on ranks whose elements are alike.
  std::uint64_t fingerprint() const;
};

/// Looks at a datatype. Errors: MPI_DATATYPE_NULL, and what is no datatype.
Status lookAtType(MPI_Datatype type, ElementType& element);

/// The error of a type that is not gapless.
Status gapsIn(const ElementType& type);

/// A datatype that schedules can reduce. Errors: those of lookAtType; kUnsupported for a derived
/// type with gaps or an offset.
StatusOr<ElementType> describeType(MPI_Datatype type);

/// Whether MPI defines an operation, and reductions take it.
bool isPredefinedReduction(MPI_Op op);

/// An operation on a type. Plain data.
struct Reduction {
  MPI_Op op = MPI_OP_NULL;
  ReduceFunction kernel = nullptr;  // null: MPI_Reduce_local
  bool commutes = true;             // else sums have to be in the order of ranks
  std::uint64_t fingerprint = 0;    // equal on ranks whose operations are alike
};

/// A predefined operation, or one of the user. Errors: MPI_OP_NULL and operations that no reduction
/// takes; kUnsupported for what MPI does not define on the type.
Status lookAtReduction(const ElementType& type, MPI_Op op, Reduction& reduction);

/// What an operation of the user gets for a derived datatype, which may be freed meanwhile.
enum class Keep : std::uint8_t {
  kDuplicate,  // has the caller's attributes only as far as these let themselves be copied
  kOriginal,   // the caller's, which outlives the operation
};

/// A reduction in use. The reducer refers to this object: it stays where it is meanwhile.
class MpiReduction {
 public:
  MpiReduction() = default;
  MpiReduction(const MpiReduction&) = delete;
  MpiReduction& operator=(const MpiReduction&) = delete;
  ~MpiReduction();

  /// May be called again. A user's operation stays the user's and must outlive this; so must a
  /// derived datatype that is not kept. `whole`: elements that the operation must be given at once,
  /// where it gets so many; others may be given piece by piece. Throws std::bad_alloc.
  Status use(const ElementType& type, const Reduction& reduction, Keep keep = Keep::kDuplicate,
             std::uint64_t whole = 0);

  /// Lets go of the datatype.
  void reset();

  Reducer reducer() const;

 private:
  static void reduceLocal(void* dst, const void* a, const void* b, std::size_t count,
                          const void* cookie);

  ReduceFunction kernel_ = nullptr;
  MPI_Op op_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;  // for reduceLocal; a duplicate where derived
  bool owns_type_ = false;
  std::size_t bytes_ = 0;
  bool commutes_ = true;
  mutable std::vector<std::byte> copy_;  // of what would be overwritten too early, piece by piece
};

/// "MPI_SUM", or "a user-defined operation".
std::string describeOp(MPI_Op op);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_REDUCTIONS_MPI_REDUCTION_H_
