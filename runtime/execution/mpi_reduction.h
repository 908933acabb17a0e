// MPI datatypes and operations as the runtime sees them: sizes, kernels, and MPI's own function
// where no kernel exists.
#ifndef TORC_RUNTIME_EXECUTION_MPI_REDUCTION_H_
#define TORC_RUNTIME_EXECUTION_MPI_REDUCTION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include <mpi.h>

#include "runtime/execution/reduction.h"
#include "support/status.h"

namespace torc {

/// A datatype that the runtime serves: predefined, or derived without gaps.
struct ElementType {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  std::string name;       // for messages: "MPI_DOUBLE_INT"
  std::size_t bytes = 0;  // from one element to the next
  bool predefined = false;
  bool simple = false;              // predefined, or copies of a predefined type in a row
  std::optional<ElementKind> kind;  // where kernels exist

  /// Equal on ranks whose elements are alike.
  std::uint64_t fingerprint() const;
};

/// Errors: MPI_DATATYPE_NULL; kUnsupported for a derived type with gaps or an offset.
StatusOr<ElementType> describeType(MPI_Datatype type);

/// Descriptions of datatypes for calls that come again and again: those of predefined datatypes are
/// kept. Others are made anew every time: MPI gives the handle of a freed datatype to a new one.
class TypeTable {
 public:
  /// As describeType; valid until the next call.
  StatusOr<const ElementType*> describe(MPI_Datatype type);

 private:
  std::deque<ElementType> predefined_;  // those asked for so far
  ElementType derived_;
};

/// What an operation of the user gets for a derived datatype, which may be freed meanwhile.
enum class Keep : std::uint8_t {
  kDuplicate,  // has the caller's attributes only as far as these let themselves be copied
  kOriginal,   // the caller's, which outlives the operation
};

/// An operation on a type. The reducer refers to this object: it stays where it is while in use.
class MpiReduction {
 public:
  MpiReduction() = default;
  MpiReduction(const MpiReduction&) = delete;
  MpiReduction& operator=(const MpiReduction&) = delete;
  ~MpiReduction();

  /// May be called again. A predefined operation, or a commutative one of the user. Errors:
  /// MPI_OP_NULL and operations that no reduction takes; kUnsupported for what MPI does not define
  /// on the type, and for an operation that does not commute. A user's operation stays the user's
  /// and must outlive this; so must a derived datatype that is not kept.
  Status prepare(const ElementType& type, MPI_Op op, Keep keep = Keep::kDuplicate);

  /// Lets go of the datatype.
  void reset();

  Reducer reducer() const;
  /// Equal on ranks whose operations are alike.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  static void reduceLocal(void* dst, const void* a, const void* b, std::size_t count,
                          const void* cookie);

  ReduceFunction kernel_ = nullptr;
  MPI_Op op_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;  // for reduceLocal; a duplicate where derived
  bool owns_type_ = false;
  std::size_t bytes_ = 0;
  std::uint64_t fingerprint_ = 0;
};

/// "MPI_SUM", or "a user-defined operation".
std::string describeOp(MPI_Op op);

}  // namespace torc

#endif  // TORC_RUNTIME_EXECUTION_MPI_REDUCTION_H_
