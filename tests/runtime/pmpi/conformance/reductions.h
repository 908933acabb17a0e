// Operations with their meaning on values, so that a program can compute what a reduction must
// give.
#ifndef TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_REDUCTIONS_H_
#define TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_REDUCTIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/element_types.h"

namespace conformance {

enum class Meaning {
  kSum,
  kProduct,
  kMax,
  kMin,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kBitAnd,
  kBitOr,
  kBitXor,
  kMaxLocation,
  kMinLocation,
  /// The user's, commutative: sum modulo 1009 of the ints of an element, whatever their layout.
  kModularSum,
  /// The user's, not commutative: the first operand.
  kFirst,
  /// The user's, not commutative: product of 2x2 matrices of int64 modulo 1009.
  kMatrixProduct,
};

/// An operation. Movable; frees what it made.
class Operation {
 public:
  explicit Operation(Meaning meaning);
  Operation(Operation&& other) noexcept;
  Operation& operator=(Operation&& other) noexcept;
  ~Operation();

  const char* name() const;
  Meaning meaning() const { return meaning_; }
  MPI_Op handle() const { return handle_; }
  bool isCommutative() const;
  bool isPredefined() const;

  /// A contribution's value: one for which no intermediate result rounds or overflows on up to 16
  /// ranks. `contributor` distinguishes ranks, `round` the starts of a call, `atom` the place.
  Value contribution(Kind kind, int64_t contributor, int64_t round, int64_t atom) const;

  /// accumulated = accumulated op next, for the atoms of one element.
  void combine(std::span<Value> accumulated, std::span<const Value> next,
               std::span<const Atom> atoms) const;

 private:
  Meaning meaning_;
  MPI_Op handle_ = MPI_OP_NULL;
};

/// The user's operations are told a datatype, and find its atoms here. A type stands here while
/// reductions with it run; `type` must outlive that.
void registerForUserOperations(const Type& type);

}  // namespace conformance

#endif  // TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_REDUCTIONS_H_
