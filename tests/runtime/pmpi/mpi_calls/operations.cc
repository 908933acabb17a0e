#include "tests/runtime/pmpi/mpi_calls/operations.h"

#include <algorithm>
#include <cstring>

namespace mpi_calls {
namespace {

/// What the user's operations work on. Behind the last atom of the gapped ones that do not commute
/// nothing follows: MPICH 4.0.2 allocates their true extent, not the extent, and writes beyond.
const std::vector<Layout>& userLayouts() {
  static const std::vector<Layout> layouts = {
      Layout::predefined(Kind::kUint32), Layout::contiguous(3, Kind::kUint32),
      Layout::vector(2, 1, 3, Kind::kUint32), Layout::structure(8, 0),
      Layout::around(Kind::kUint32)};
  return layouts;
}

/// A library may hand a duplicate of the datatype to the operation: what tells them apart is how
/// they were made.
const Layout& layoutOf(MPI_Datatype type) {
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  for (const Layout& layout : userLayouts())
    if (layout.extent == extent && layout.lowest == true_lower &&
        layout.highest == true_lower + true_extent)
      return layout;
  MPI_Abort(MPI_COMM_WORLD, 3);
  return userLayouts().front();
}

uint32_t userSum(uint32_t a, uint32_t b) {
  return a + b + 1;
}

uint32_t userFunction(uint32_t a, uint32_t b) {
  const auto m = static_cast<uint16_t>((a & 0xffff) * (b & 0xffff));
  const auto c = static_cast<uint16_t>((a >> 16) * (b & 0xffff) + (b >> 16));
  return m | static_cast<uint32_t>(c) << 16;
}

/// Calls combine(a, b, bytes), which changes b, for every atom.
template <typename Combine>
void forEachAtom(void* in, void* inout, const int* length, MPI_Datatype type, Combine combine) {
  const Layout& layout = layoutOf(type);
  for (int i = 0; i < *length; ++i) {
    for (const Atom& atom : layout.atoms) {
      const MPI_Aint at = i * layout.extent + atom.offset;
      combine(static_cast<char*>(in) + at, static_cast<char*>(inout) + at, sizeOf(atom.scalar));
    }
  }
}

template <uint32_t (*combine)(uint32_t, uint32_t)>
void apply(void* in, void* inout, int* length, MPI_Datatype* type) {
  forEachAtom(in, inout, length, *type, [](const char* left, char* right, int) {
    uint32_t a, b;
    std::memcpy(&a, left, sizeof a);
    std::memcpy(&b, right, sizeof b);
    b = combine(a, b);
    std::memcpy(right, &b, sizeof b);
  });
}

void takeFirst(void* in, void* inout, int* length, MPI_Datatype* type) {
  forEachAtom(in, inout, length, *type,
              [](const char* left, char* right, int bytes) { std::memcpy(right, left, bytes); });
}

struct Row {
  Meaning meaning;
  const char* name;
  MPI_Op handle;
  std::vector<Kind> kinds;
};

const std::vector<Row>& predefined() {
  using K = Kind;
  static const std::vector<K> numbers = {K::kUint8,  K::kInt16,  K::kInt32,     K::kUint32,
                                         K::kInt64,  K::kUint64, K::kInt8,      K::kFloat,
                                         K::kDouble, K::kDouble, K::kLongDouble};
  static const std::vector<K> integers(numbers.begin(), numbers.begin() + 6);
  static const std::vector<K> bits = {K::kByte, K::kUint8, K::kUint32, K::kInt64};
  static const std::vector<K> pairs = {K::kTwoInts, K::kDoubleInt};
  const auto with = [](std::vector<K> kinds, K more) {
    kinds.push_back(more);
    return kinds;
  };
  static const std::vector<Row> rows = {
      {Meaning::kSum, "MPI_SUM", MPI_SUM, with(numbers, K::kComplex)},
      {Meaning::kProduct, "MPI_PROD", MPI_PROD, with(numbers, K::kComplex)},
      {Meaning::kMax, "MPI_MAX", MPI_MAX, numbers},
      {Meaning::kMin, "MPI_MIN", MPI_MIN, numbers},
      {Meaning::kLogicalAnd, "MPI_LAND", MPI_LAND, with(integers, K::kBool)},
      {Meaning::kLogicalOr, "MPI_LOR", MPI_LOR, with(integers, K::kBool)},
      {Meaning::kLogicalXor, "MPI_LXOR", MPI_LXOR, with(integers, K::kBool)},
      {Meaning::kBitAnd, "MPI_BAND", MPI_BAND, bits},
      {Meaning::kBitOr, "MPI_BOR", MPI_BOR, bits},
      {Meaning::kBitXor, "MPI_BXOR", MPI_BXOR, bits},
      {Meaning::kMaxLocation, "MPI_MAXLOC", MPI_MAXLOC, pairs},
      {Meaning::kMinLocation, "MPI_MINLOC", MPI_MINLOC, pairs},
  };
  return rows;
}

bool isLocation(Meaning meaning) {
  return meaning == Meaning::kMaxLocation || meaning == Meaning::kMinLocation;
}

bool isSigned(Scalar scalar) {
  return scalar != Scalar::kUint8 && scalar != Scalar::kUint32 && scalar != Scalar::kUint64;
}

}  // namespace

const char* Reduction::name() const {
  if (isPredefined()) return predefined()[static_cast<size_t>(meaning)].name;
  return meaning == Meaning::kUserSum        ? "the user's sum"
         : meaning == Meaning::kUserFunction ? "the user's composition"
                                             : "the user's first operand";
}

MPI_Op Reduction::make() const {
  if (isPredefined()) return predefined()[static_cast<size_t>(meaning)].handle;
  MPI_Op op;
  MPI_Op_create(meaning == Meaning::kUserSum        ? apply<userSum>
                : meaning == Meaning::kUserFunction ? apply<userFunction>
                                                    : takeFirst,
                commutes(), &op);
  return op;
}

int64_t Reduction::contribution(uint64_t key, int64_t number) const {
  const Scalar scalar = layout.atoms[number % layout.atomCount()].scalar;
  const auto drawn = valueOf(key, number) & INT64_MAX;
  if (isLocation(meaning)) {
    // Few different values: equal ones are decided by the index.
    return number % 2 == 0 ? drawn % 3 : drawn % 50;
  }
  switch (meaning) {
    case Meaning::kSum:
      // 16 ranks of at most 7 fit in int8.
      if (scalar == Scalar::kInt8) return drawn % 15 - 7;
      return isSigned(scalar) ? drawn % 1000 - 500 : narrow(scalar, drawn);
    case Meaning::kProduct:
      // Powers of two are exact; few of them fit in int8, and a complex number is real.
      if (layout.kind == Kind::kComplex) return number % 2 == 0 ? 1 + drawn % 2 : 0;
      if (scalar == Scalar::kInt8) return drawn % 3 - 1;
      return isSigned(scalar) ? 1 + drawn % 2 : narrow(scalar, drawn);
    case Meaning::kMax:
    case Meaning::kMin:
      // MPICH 4.0.2 compares unsigned numbers as if they were signed: the first bit stays 0.
      return isSigned(scalar) ? narrow(scalar, drawn) : narrow(scalar, drawn) >> 1;
    case Meaning::kLogicalAnd:
    case Meaning::kLogicalOr:
    case Meaning::kLogicalXor:
      return drawn % 3;
    default:
      return narrow(scalar, drawn);
  }
}

int64_t Reduction::combineAtoms(int64_t a, int64_t b) const {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (meaning) {
    case Meaning::kSum:
      return static_cast<int64_t>(ua + ub);
    case Meaning::kProduct:
      return static_cast<int64_t>(ua * ub);
    case Meaning::kMax:
      return std::max(a, b);
    case Meaning::kMin:
      return std::min(a, b);
    case Meaning::kLogicalAnd:
      return a != 0 && b != 0;
    case Meaning::kLogicalOr:
      return a != 0 || b != 0;
    case Meaning::kLogicalXor:
      return (a != 0) != (b != 0);
    case Meaning::kBitAnd:
      return a & b;
    case Meaning::kBitOr:
      return a | b;
    case Meaning::kBitXor:
      return a ^ b;
    case Meaning::kUserSum:
      return userSum(static_cast<uint32_t>(a), static_cast<uint32_t>(b));
    case Meaning::kUserFunction:
      return userFunction(static_cast<uint32_t>(a), static_cast<uint32_t>(b));
    default:
      return a;
  }
}

void Reduction::combine(std::vector<int64_t>& accumulated, const std::vector<int64_t>& next) const {
  if (isLocation(meaning)) {
    const bool better =
        meaning == Meaning::kMaxLocation ? next[0] > accumulated[0] : next[0] < accumulated[0];
    if (better || (next[0] == accumulated[0] && next[1] < accumulated[1])) accumulated = next;
    return;
  }
  for (size_t i = 0; i < accumulated.size(); ++i)
    accumulated[i] = narrow(layout.atoms[i].scalar, combineAtoms(accumulated[i], next[i]));
}

const std::vector<Reduction>& reductions() {
  static const std::vector<Reduction> all = [] {
    std::vector<Reduction> made;
    for (const Row& row : predefined())
      for (const Kind kind : row.kinds)
        made.push_back({row.meaning, Layout::predefined(kind)});
    const std::vector<Layout>& layouts = userLayouts();
    for (size_t i = 0; i < layouts.size(); ++i) {
      const bool is_mixed = layouts[i].isMixed();
      if (!is_mixed) made.push_back({Meaning::kUserSum, layouts[i]});
      // The last one has a gap at its end.
      if (i + 1 < layouts.size())
        made.push_back({is_mixed ? Meaning::kUserFirst : Meaning::kUserFunction, layouts[i]});
    }
    return made;
  }();
  return all;
}

Reduction drawReduction(Random& random) {
  // Sums are what programs mostly want, and then operations of their own.
  const int way = random.below(100);
  const int row = way < 30 ? 0 : random.below(static_cast<int>(predefined().size()));
  const Meaning wanted = predefined()[row].meaning;
  std::vector<Reduction> choices;
  for (const Reduction& one : reductions())
    if (way < 75 ? one.meaning == wanted : !one.isPredefined()) choices.push_back(one);
  return random.pick(choices);
}

}  // namespace mpi_calls
