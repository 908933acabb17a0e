// Operations with their meaning on values. All of them are exact whatever the order in which
// contributions are combined: unsigned sums wrap around, floating-point ones are of small integers.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_REDUCTIONS_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_REDUCTIONS_H_

#include <cstdint>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/programs/random/layouts.h"
#include "tests/runtime/pmpi/programs/random/random.h"

namespace programs {

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
  /// The user's, commutative: a + b + 1 on uint32.
  kUserSum,
  /// The user's, not commutative: uint32 as functions x -> m x + c, two uint16; one after the
  /// other.
  kUserFunction,
};

/// An operation on elements of one layout.
struct Reduction {
  Meaning meaning = Meaning::kSum;
  Layout layout;
  MPI_User_function* function = nullptr;  // null: predefined

  const char* name() const;
  bool commutes() const { return meaning != Meaning::kUserFunction; }
  /// The caller frees it if `function` is not null.
  MPI_Op make() const;

  /// Atom `number` of a contribution; `key` distinguishes calls, rounds and ranks.
  int64_t contribution(uint64_t key, int64_t number) const;
  /// accumulated = accumulated op next, of the atoms of one element.
  void combine(std::vector<int64_t>& accumulated, const std::vector<int64_t>& next) const;

 private:
  int64_t combineAtoms(int64_t a, int64_t b) const;
};

Reduction drawReduction(Random& random);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_REDUCTIONS_H_
