// Datatypes as lists of atoms: what lies where in an element. A layout is a description, of which
// any number of MPI datatypes can be made.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_RANDOM_LAYOUTS_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_RANDOM_LAYOUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/programs/random/random.h"

namespace programs {

enum class Kind { kByte, kUint8, kInt16, kInt32, kUint32, kInt64, kUint64, kFloat, kDouble };

MPI_Datatype handleOf(Kind kind);
int sizeOf(Kind kind);
/// What an atom of this kind keeps of a number.
int64_t narrow(Kind kind, int64_t value);
void storeAtom(Kind kind, int64_t value, unsigned char* at);

struct Atom {
  MPI_Aint offset;  // from the element's origin
  Kind kind;
};

struct Layout {
  enum class Make { kPredefined, kPair, kContiguous, kVector, kResized, kAround, kNested, kStruct };

  Make made = Make::kPredefined;
  Kind kind = Kind::kInt32;
  int a = 1, b = 1, c = 1;  // what `made` needs
  std::string name;
  std::vector<Atom> atoms;
  MPI_Aint extent = 0;
  /// First and one past the last byte of an element, relative to its origin.
  MPI_Aint lowest = 0, highest = 0;

  int64_t atomCount() const { return static_cast<int64_t>(atoms.size()); }
  bool isPredefined() const { return made == Make::kPredefined || made == Make::kPair; }

  static Layout predefined(Kind kind);
  /// MPI_2INT.
  static Layout pair();
  static Layout contiguous(int count, Kind kind);
  /// `count` runs of `length` atoms, whose starts lie `stride` atoms apart.
  static Layout vector(int count, int length, int stride, Kind kind);
  /// One atom in an extent of `atoms` atoms.
  static Layout resized(int atoms, Kind kind);
  /// Two atoms, one before and one behind the origin, in an extent of six.
  static Layout around(Kind kind);
  /// `count` vectors of two atoms.
  static Layout nested(int count, Kind kind);
  /// uint8, int32, double, with holes and bytes behind.
  static Layout structure(int hole, int tail);

  /// A committed datatype: the caller frees it unless isPredefined(). `shift` bytes are added to
  /// every offset: with the address of a buffer, the datatype stands for it at MPI_BOTTOM.
  MPI_Datatype make(MPI_Aint shift = 0) const;

 private:
  MPI_Datatype makeUnshifted() const;
};

/// Some spellings of one signature, any of which may send and any receive.
std::vector<Layout> drawSpellings(Random& random);

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_RANDOM_LAYOUTS_H_
