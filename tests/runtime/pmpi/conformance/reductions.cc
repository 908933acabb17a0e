#include "tests/runtime/pmpi/conformance/reductions.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace conformance {
namespace {

constexpr int64_t kModulus = 1009;

std::mutex registered_mutex;
std::vector<const Type*> registered;

/// A library may hand a duplicate of the datatype to the operation: what tells types apart here is
/// how they were made, that is extent, size and true extent.
const Type* findRegistered(MPI_Datatype datatype) {
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Type_get_extent(datatype, &lower, &extent);
  MPI_Type_get_true_extent(datatype, &true_lower, &true_extent);
  const std::lock_guard<std::mutex> lock(registered_mutex);
  for (const Type* type : registered)
    if (type->handle() == datatype) return type;
  for (const Type* type : registered)
    if (type->extent() == extent && type->lowest() == true_lower &&
        type->highest() == true_lower + true_extent)
      return type;
  return nullptr;
}

void modularSum(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  const Type* type = findRegistered(*datatype);
  if (type == nullptr) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int i = 0; i < *length; ++i) {
    for (const Atom& atom : type->atoms()) {
      const MPI_Aint at = i * type->extent() + atom.offset;
      int32_t a, b;
      std::memcpy(&a, static_cast<char*>(in) + at, sizeof a);
      std::memcpy(&b, static_cast<char*>(inout) + at, sizeof b);
      b = static_cast<int32_t>((a + b) % kModulus);
      std::memcpy(static_cast<char*>(inout) + at, &b, sizeof b);
    }
  }
}

void first(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  const Type* type = findRegistered(*datatype);
  if (type == nullptr) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int i = 0; i < *length; ++i) {
    for (const Atom& atom : type->atoms()) {
      const MPI_Aint at = i * type->extent() + atom.offset;
      std::memcpy(static_cast<char*>(inout) + at, static_cast<char*>(in) + at, sizeOf(atom.kind));
    }
  }
}

void multiply(const int64_t a[4], const int64_t b[4], int64_t product[4]) {
  product[0] = (a[0] * b[0] + a[1] * b[2]) % kModulus;
  product[1] = (a[0] * b[1] + a[1] * b[3]) % kModulus;
  product[2] = (a[2] * b[0] + a[3] * b[2]) % kModulus;
  product[3] = (a[2] * b[1] + a[3] * b[3]) % kModulus;
}

void matrixProduct(void* in, void* inout, int* length, MPI_Datatype* /*datatype*/) {
  const auto* a = static_cast<const int64_t*>(in);
  auto* b = static_cast<int64_t*>(inout);
  for (int i = 0; i < *length; ++i, a += 4, b += 4) {
    int64_t product[4];
    multiply(a, b, product);
    std::copy(product, product + 4, b);
  }
}

struct Predefined {
  Meaning meaning;
  const char* name;
  MPI_Op handle;
};

const Predefined kPredefined[] = {
    {Meaning::kSum, "MPI_SUM", MPI_SUM},
    {Meaning::kProduct, "MPI_PROD", MPI_PROD},
    {Meaning::kMax, "MPI_MAX", MPI_MAX},
    {Meaning::kMin, "MPI_MIN", MPI_MIN},
    {Meaning::kLogicalAnd, "MPI_LAND", MPI_LAND},
    {Meaning::kLogicalOr, "MPI_LOR", MPI_LOR},
    {Meaning::kLogicalXor, "MPI_LXOR", MPI_LXOR},
    {Meaning::kBitAnd, "MPI_BAND", MPI_BAND},
    {Meaning::kBitOr, "MPI_BOR", MPI_BOR},
    {Meaning::kBitXor, "MPI_BXOR", MPI_BXOR},
    {Meaning::kMaxLocation, "MPI_MAXLOC", MPI_MAXLOC},
    {Meaning::kMinLocation, "MPI_MINLOC", MPI_MINLOC},
};

const Predefined* findPredefined(Meaning meaning) {
  for (const Predefined& known : kPredefined)
    if (known.meaning == meaning) return &known;
  return nullptr;
}

}  // namespace

void registerForUserOperations(const Type& type) {
  const std::lock_guard<std::mutex> lock(registered_mutex);
  registered.push_back(&type);
}

Operation::Operation(Meaning meaning) : meaning_(meaning) {
  if (const Predefined* known = findPredefined(meaning)) {
    handle_ = known->handle;
  } else if (meaning == Meaning::kModularSum) {
    MPI_Op_create(modularSum, 1, &handle_);
  } else if (meaning == Meaning::kFirst) {
    MPI_Op_create(first, 0, &handle_);
  } else {
    MPI_Op_create(matrixProduct, 0, &handle_);
  }
}

Operation::Operation(Operation&& other) noexcept
    : meaning_(other.meaning_), handle_(std::exchange(other.handle_, MPI_OP_NULL)) {}

Operation& Operation::operator=(Operation&& other) noexcept {
  std::swap(meaning_, other.meaning_);
  std::swap(handle_, other.handle_);
  return *this;
}

Operation::~Operation() {
  if (!isPredefined() && handle_ != MPI_OP_NULL) MPI_Op_free(&handle_);
}

bool Operation::isPredefined() const {
  return findPredefined(meaning_) != nullptr;
}

const char* Operation::name() const {
  if (const Predefined* known = findPredefined(meaning_)) return known->name;
  if (meaning_ == Meaning::kModularSum) return "the user's modular sum";
  return meaning_ == Meaning::kFirst ? "the user's first operand" : "the user's matrix product";
}

bool Operation::isCommutative() const {
  return meaning_ != Meaning::kFirst && meaning_ != Meaning::kMatrixProduct;
}

Value Operation::contribution(Kind kind, int64_t contributor, int64_t round, int64_t atom) const {
  const int64_t mixed = contributor * 7 + round * 5 + atom * 3 + atom / 11 + contributor * atom;
  switch (meaning_) {
    case Meaning::kSum:
      // 16 ranks of at most 1 fit in int8, with room.
      return {kind == Kind::kInt8 ? mixed & 1 : mixed % 10, mixed % 7};
    case Meaning::kProduct:
      // A power of two is exact, and a few of them fit in every kind.
      return {mixed % 5 == 0 ? 2 : 1, 0};
    case Meaning::kLogicalAnd:
    case Meaning::kLogicalOr:
    case Meaning::kLogicalXor:
      return {mixed % 3 == 0 ? 0 : 1, 0};
    case Meaning::kMaxLocation:
    case Meaning::kMinLocation:
      // Few different values: equal ones are decided by the index.
      return {mixed % 3, (contributor * 5 + 2) % 64};
    case Meaning::kModularSum:
    case Meaning::kMatrixProduct:
      return {(mixed * 37 + 11) % kModulus, 0};
    default:
      return {mixed % 100, 0};
  }
}

void Operation::combine(std::span<Value> accumulated, std::span<const Value> next,
                        std::span<const Atom> atoms) const {
  if (meaning_ == Meaning::kFirst) return;
  if (meaning_ == Meaning::kMatrixProduct) {
    int64_t a[4], b[4], product[4];
    for (int i = 0; i < 4; ++i) {
      a[i] = accumulated[i].first;
      b[i] = next[i].first;
    }
    multiply(a, b, product);
    for (int i = 0; i < 4; ++i)
      accumulated[i].first = product[i];
    return;
  }
  for (size_t i = 0; i < atoms.size(); ++i) {
    Value& a = accumulated[i];
    const Value b = next[i];
    switch (meaning_) {
      case Meaning::kSum:
        a = {a.first + b.first, a.second + b.second};
        break;
      case Meaning::kProduct:
        a = {a.first * b.first - a.second * b.second, a.first * b.second + a.second * b.first};
        break;
      case Meaning::kMax:
        a.first = std::max(a.first, b.first);
        break;
      case Meaning::kMin:
        a.first = std::min(a.first, b.first);
        break;
      case Meaning::kLogicalAnd:
        a.first = a.first != 0 && b.first != 0;
        break;
      case Meaning::kLogicalOr:
        a.first = a.first != 0 || b.first != 0;
        break;
      case Meaning::kLogicalXor:
        a.first = (a.first != 0) != (b.first != 0);
        break;
      case Meaning::kBitAnd:
        a.first &= b.first;
        break;
      case Meaning::kBitOr:
        a.first |= b.first;
        break;
      case Meaning::kBitXor:
        a.first ^= b.first;
        break;
      case Meaning::kMaxLocation:
        if (b.first > a.first || (b.first == a.first && b.second < a.second)) a = b;
        break;
      case Meaning::kMinLocation:
        if (b.first < a.first || (b.first == a.first && b.second < a.second)) a = b;
        break;
      default:
        a.first = (a.first + b.first) % kModulus;
        break;
    }
  }
}

}  // namespace conformance
