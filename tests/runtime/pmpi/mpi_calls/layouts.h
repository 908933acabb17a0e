// Datatypes as lists of atoms, with their places in an element. A layout is a description for any
// number of equal MPI datatypes.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_LAYOUTS_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_LAYOUTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/random.h"

namespace mpi_calls {

/// Storage format of a number.
enum class Scalar {
  kUint8,
  kInt8,
  kInt16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat,
  kDouble,
  kLongDouble,
  kBool
};

/// Predefined datatypes of MPI; the last three have two scalars.
enum class Kind {
  kByte,
  kUint8,
  kInt8,
  kInt16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat,
  kDouble,
  kLongDouble,
  kBool,
  kComplex,
  kDoubleInt,
  kTwoInts,
};

MPI_Datatype handleOf(Kind kind);
/// Bytes of a scalar, and those of them that carry its value.
int sizeOf(Scalar scalar);
int meaningfulBytes(Scalar scalar);
/// The number that a scalar stores for `value`.
int64_t narrow(Scalar scalar, int64_t value);
void store(Scalar scalar, int64_t value, unsigned char* at);

struct Atom {
  MPI_Aint offset;  // from the element's origin
  Scalar scalar;
};

struct Layout {
  std::string name;
  Kind kind = Kind::kInt32;  // of a predefined one, or of the parts of a derived one
  bool is_predefined = false;
  std::vector<Atom> atoms;
  MPI_Aint extent = 0;
  /// First and one past the last byte of an element, relative to its origin.
  MPI_Aint lowest = 0, highest = 0;
  /// Padding bytes of an element: after a long double's value, or a pair.
  std::vector<MPI_Aint> padding;
  std::function<MPI_Datatype()> construct;

  int64_t atomCount() const { return static_cast<int64_t>(atoms.size()); }
  /// Whether its atoms have several kinds.
  bool isMixed() const;

  static Layout predefined(Kind kind);
  static Layout contiguous(int count, Kind kind);
  /// `count` runs of `length` elements, whose starts are `stride` elements apart.
  static Layout vector(int count, int length, int stride, Kind kind);
  /// One element in an extent of `elements`.
  static Layout resized(int elements, Kind kind);
  /// Two elements, one before and one behind the origin, in an extent of six.
  static Layout around(Kind kind);
  /// `count` vectors of two elements: a derived datatype of a derived datatype.
  static Layout nested(int count, Kind kind);
  /// uint8, int32, double, with holes of `hole` bytes beyond alignment, and `tail` bytes at the
  /// end.
  static Layout structure(int hole, int tail);

  /// A committed datatype: the caller frees it unless it is predefined and not shifted. `shift`
  /// bytes are added to every offset: with the address of a buffer, the datatype describes it at
  /// MPI_BOTTOM.
  MPI_Datatype make(MPI_Aint shift = 0) const;
};

/// Several spellings of one signature, interchangeable between sender and receiver.
std::vector<Layout> drawSpellings(Random& random);

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_LAYOUTS_H_
