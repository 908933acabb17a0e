// Operations with their meaning on values. All of them are exact for any order of contributions:
// unsigned sums wrap around, floating-point ones are of small integers.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_OPERATIONS_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_OPERATIONS_H_

#include <cstdint>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/layouts.h"

namespace mpi_calls {

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
  /// User-defined, commutative: a + b + 1 on uint32.
  kUserSum,
  /// User-defined, not commutative: uint32 as functions x -> m x + c, two uint16; one after the
  /// other.
  kUserFunction,
  /// User-defined, not commutative: the first operand, of any layout.
  kUserFirst,
};

/// An operation on elements of one layout.
struct Reduction {
  Meaning meaning = Meaning::kSum;
  Layout layout;

  const char* name() const;
  bool isPredefined() const { return meaning < Meaning::kUserSum; }
  bool commutes() const { return meaning <= Meaning::kUserSum; }
  /// The caller frees it if it is not predefined.
  MPI_Op make() const;

  /// Atom `number` of a contribution; `key` distinguishes calls, rounds and ranks.
  int64_t contribution(uint64_t key, int64_t number) const;
  /// accumulated = accumulated op next, of the atoms of one element.
  void combine(std::vector<int64_t>& accumulated, const std::vector<int64_t>& next) const;

 private:
  int64_t combineAtoms(int64_t a, int64_t b) const;
};

/// Every operation on every layout used with it.
const std::vector<Reduction>& reductions();
Reduction drawReduction(Random& random);

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_OPERATIONS_H_
