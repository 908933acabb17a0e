#include "tests/runtime/pmpi/programs/calls/reductions.h"

#include <algorithm>
#include <cstring>

namespace programs {
namespace {

/// What the user's operations work on. Behind the last atom of the gapped ones that do not commute
/// nothing follows: MPICH 4.0.2 allocates their true extent, not the extent, and writes beyond.
const std::vector<Layout>& userLayouts() {
  static const std::vector<Layout> layouts = {
      Layout::predefined(Kind::kUint32), Layout::contiguous(3, Kind::kUint32),
      Layout::vector(2, 1, 3, Kind::kUint32), Layout::around(Kind::kUint32)};
  return layouts;
}

uint32_t userSum(uint32_t a, uint32_t b) {
  return a + b + 1;
}

uint32_t userFunction(uint32_t a, uint32_t b) {
  const auto m = static_cast<uint16_t>((a & 0xffff) * (b & 0xffff));
  const auto c = static_cast<uint16_t>((a >> 16) * (b & 0xffff) + (b >> 16));
  return m | static_cast<uint32_t>(c) << 16;
}

template <int kLayout, uint32_t (*combine)(uint32_t, uint32_t)>
void apply(void* in, void* inout, int* length, MPI_Datatype* /*datatype*/) {
  const Layout& layout = userLayouts()[kLayout];
  for (int i = 0; i < *length; ++i) {
    for (const Atom& atom : layout.atoms) {
      const MPI_Aint at = i * layout.extent + atom.offset;
      uint32_t a, b;
      std::memcpy(&a, static_cast<char*>(in) + at, sizeof a);
      std::memcpy(&b, static_cast<char*>(inout) + at, sizeof b);
      b = combine(a, b);
      std::memcpy(static_cast<char*>(inout) + at, &b, sizeof b);
    }
  }
}

MPI_User_function* const kUserSums[] = {apply<0, userSum>, apply<1, userSum>, apply<2, userSum>,
                                        apply<3, userSum>};
MPI_User_function* const kUserFunctions[] = {apply<0, userFunction>, apply<1, userFunction>,
                                             apply<2, userFunction>};

struct Predefined {
  Meaning meaning;
  const char* name;
  MPI_Op handle;
  std::vector<Kind> kinds;
};

const std::vector<Predefined>& predefined() {
  static const std::vector<Kind> numbers = {Kind::kUint8,  Kind::kInt16,  Kind::kInt32,
                                            Kind::kUint32, Kind::kInt64,  Kind::kUint64,
                                            Kind::kFloat,  Kind::kDouble, Kind::kDouble};
  static const std::vector<Kind> integers(numbers.begin(), numbers.begin() + 6);
  static const std::vector<Kind> bits = {Kind::kByte, Kind::kUint8, Kind::kUint32, Kind::kInt64};
  static const std::vector<Predefined> rows = {
      {Meaning::kSum, "MPI_SUM", MPI_SUM, numbers},
      {Meaning::kProduct, "MPI_PROD", MPI_PROD, numbers},
      {Meaning::kMax, "MPI_MAX", MPI_MAX, numbers},
      {Meaning::kMin, "MPI_MIN", MPI_MIN, numbers},
      {Meaning::kLogicalAnd, "MPI_LAND", MPI_LAND, integers},
      {Meaning::kLogicalOr, "MPI_LOR", MPI_LOR, integers},
      {Meaning::kLogicalXor, "MPI_LXOR", MPI_LXOR, integers},
      {Meaning::kBitAnd, "MPI_BAND", MPI_BAND, bits},
      {Meaning::kBitOr, "MPI_BOR", MPI_BOR, bits},
      {Meaning::kBitXor, "MPI_BXOR", MPI_BXOR, bits},
      {Meaning::kMaxLocation, "MPI_MAXLOC", MPI_MAXLOC, {}},
      {Meaning::kMinLocation, "MPI_MINLOC", MPI_MINLOC, {}},
  };
  return rows;
}

const Predefined* find(Meaning meaning) {
  for (const Predefined& row : predefined())
    if (row.meaning == meaning) return &row;
  return nullptr;
}

bool isLocation(Meaning meaning) {
  return meaning == Meaning::kMaxLocation || meaning == Meaning::kMinLocation;
}

bool isSigned(Kind kind) {
  return kind == Kind::kInt16 || kind == Kind::kInt32 || kind == Kind::kInt64 ||
         kind == Kind::kFloat || kind == Kind::kDouble;
}

}  // namespace

const char* Reduction::name() const {
  if (const Predefined* row = find(meaning)) return row->name;
  return commutes() ? "the user's sum" : "the user's composition";
}

MPI_Op Reduction::make() const {
  if (function == nullptr) return find(meaning)->handle;
  MPI_Op op;
  MPI_Op_create(function, commutes(), &op);
  return op;
}

int64_t Reduction::contribution(uint64_t key, int64_t number) const {
  const Kind kind = layout.atoms[number % layout.atomCount()].kind;
  const auto drawn = static_cast<int64_t>(mix(key + static_cast<uint64_t>(number)) >> 1);
  if (isLocation(meaning)) {
    // Few different values: equal ones are decided by the index.
    return number % 2 == 0 ? drawn % 3 : drawn % 50;
  }
  switch (meaning) {
    case Meaning::kSum:
      return isSigned(kind) ? drawn % 1000 - 500 : narrow(kind, drawn);
    case Meaning::kProduct:
      return isSigned(kind) ? 1 + drawn % 2 : narrow(kind, drawn);
    case Meaning::kMax:
    case Meaning::kMin:
      // MPICH 4.0.2 compares unsigned numbers as if they were signed: the first bit stays 0.
      return isSigned(kind) ? narrow(kind, drawn) : narrow(kind, drawn) >> 1;
    case Meaning::kLogicalAnd:
    case Meaning::kLogicalOr:
    case Meaning::kLogicalXor:
      return drawn % 3;
    default:
      return narrow(kind, drawn);
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
    default:
      return userFunction(static_cast<uint32_t>(a), static_cast<uint32_t>(b));
  }
}

void Reduction::combine(std::vector<int64_t>& accumulated, const std::vector<int64_t>& next) const {
  if (isLocation(meaning)) {
    const bool better =
        meaning == Meaning::kMaxLocation ? next[0] > accumulated[0] : next[0] < accumulated[0];
    if (better || (next[0] == accumulated[0] && next[1] < accumulated[1])) accumulated = next;
    return;
  }
  for (size_t i = 0; i < accumulated.size(); ++i) {
    const Kind kind = layout.atoms[i].kind;
    accumulated[i] = narrow(kind, combineAtoms(accumulated[i], next[i]));
  }
}

Reduction drawReduction(Random& random) {
  Reduction reduction;
  if (random.chance(25)) {
    const bool commutes = random.chance(60);
    const int layout = random.below(commutes ? 4 : 3);
    reduction.meaning = commutes ? Meaning::kUserSum : Meaning::kUserFunction;
    reduction.layout = userLayouts()[layout];
    reduction.function = commutes ? kUserSums[layout] : kUserFunctions[layout];
    return reduction;
  }
  // Sums are what programs mostly want.
  const Predefined& row = random.chance(40) ? predefined().front() : random.pick(predefined());
  reduction.meaning = row.meaning;
  reduction.layout =
      isLocation(row.meaning) ? Layout::pair() : Layout::predefined(random.pick(row.kinds));
  return reduction;
}

}  // namespace programs
