// Datatypes as lists of atoms: what lies where in an element, so that a program can say for every
// byte of a buffer what a collective must leave in it.
#ifndef TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_ELEMENT_TYPES_H_
#define TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_ELEMENT_TYPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

namespace conformance {

enum class Kind {
  kInt8,
  kUint8,
  kInt16,
  kInt32,
  kUint32,
  kInt64,
  kFloat,
  kDouble,
  kLongDouble,
  kComplex,  // C's double _Complex
  kBool,
  kByte,
  kDoubleInt,
  kTwoInts,
};

const char* nameOf(Kind kind);
MPI_Datatype handleOf(Kind kind);
size_t sizeOf(Kind kind);

/// What an atom holds. `second`: imaginary part, or the index of a pair.
struct Value {
  int64_t first = 0;
  int64_t second = 0;

  bool operator==(const Value&) const = default;
};

struct Atom {
  MPI_Aint offset;  // from the element's origin
  Kind kind;
};

/// A datatype. Movable; frees what it made.
class Type {
 public:
  static Type predefined(Kind kind);
  /// `count` atoms next to each other.
  static Type contiguous(int count, Kind kind);
  /// `count` runs of `length` atoms, whose starts lie `stride` atoms apart.
  static Type vector(int count, int length, int stride, Kind kind);
  /// One atom in an extent of `atoms` atoms.
  static Type resized(int atoms, Kind kind);
  /// Two atoms, one before and one behind the origin; lower bound and extent made larger.
  static Type aroundOrigin(Kind kind);
  /// int8, int32, double, with holes of `hole` bytes more than alignment asks for, and `tail` bytes
  /// behind.
  static Type structure(int hole, int tail);
  /// Three vectors of two runs: a derived type of a derived type.
  static Type nested(Kind kind);

  Type(Type&& other) noexcept;
  Type& operator=(Type&& other) noexcept;
  ~Type();

  const std::string& name() const { return name_; }
  MPI_Datatype handle() const { return handle_; }
  const std::vector<Atom>& atoms() const { return atoms_; }
  MPI_Aint extent() const { return extent_; }
  bool isPredefined() const { return predefined_; }
  /// Without holes: size = extent, lower bound 0.
  bool isDense() const { return dense_; }
  /// First and one past the last byte of an element, relative to its origin.
  MPI_Aint lowest() const { return lowest_; }
  MPI_Aint highest() const { return highest_; }

 private:
  Type(std::string name, MPI_Datatype handle, std::vector<Atom> atoms, bool predefined);

  std::string name_;
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
  std::vector<Atom> atoms_;
  bool predefined_ = false;
  bool dense_ = false;
  MPI_Aint extent_ = 0;
  MPI_Aint lowest_ = 0;
  MPI_Aint highest_ = 0;
};

/// A buffer of elements in memory of a known filling, with a margin on both sides. What is stored
/// is expected; everything else must stay as it was.
class Buffer {
 public:
  static constexpr int64_t kNowhere = INT64_MIN;

  Buffer(const Type& type, int64_t elements);

  /// Origin of element 0: what MPI is given.
  void* address() { return bytes_.data() + origin_; }

  size_t atomsOfElement() const { return type_->atoms().size(); }

  /// Sets every byte to the filling.
  void clear();
  void store(int64_t element, size_t atom, Value value);
  /// The bytes of this atom may become anything.
  void leaveOpen(int64_t element, size_t atom);

  /// Where this buffer differs from what is expected: kNowhere, or a byte relative to element 0.
  int64_t firstDifference(const Buffer& expected) const;

  bool matches(const Buffer& expected) const { return firstDifference(expected) == kNowhere; }

 private:
  const Type* type_;
  int64_t origin_ = 0;
  std::vector<unsigned char> bytes_;
  std::vector<unsigned char> open_;  // 1: not compared; empty: all are compared
};

}  // namespace conformance

#endif  // TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_ELEMENT_TYPES_H_
