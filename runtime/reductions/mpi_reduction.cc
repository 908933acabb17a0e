// Maps MPI datatypes and operations to kernels, and uses MPI_Reduce_local for the others.
#include "runtime/reductions/mpi_reduction.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <type_traits>
#include <vector>

#include "support/hash.h"

namespace torc::runtime {
namespace {

// Bytes of a vector copied at a time if a result would overwrite its first operand.
constexpr std::size_t kPieceBytes = 16384;

/// Types whose kind follows from their size, among the consecutive kinds from `first` to `last`.
struct TypeClass {
  ElementKind first, last;
  std::vector<MPI_Datatype> types;
};

// All predefined types that MPI reduces. A type of another size has no kernel: Fortran's types
// depend on the Fortran compiler's flags. MPI_CHAR and MPI_CHARACTER count as small integers, as in
// MPICH. MPI_REAL16 has no kernel: MPI reduces it.
const std::vector<TypeClass>& typeClasses() {
  using K = ElementKind;
  constexpr K kChar = std::is_signed_v<char> ? K::kInt8 : K::kUint8;
  // Never destroyed: programs may call MPI from destructors while the process ends.
  static const auto& classes = *new std::vector<TypeClass>{
      {kChar, kChar, {MPI_CHAR, MPI_CHARACTER}},
      {K::kInt8,
       K::kInt64,
       {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T,
        MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_INTEGER, MPI_INTEGER1,
        MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8}},
      {K::kUint8,
       K::kUint64,
       {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
        MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T}},
      {K::kFloat, K::kLongDouble, {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE}},
      {K::kFloat, K::kDouble, {MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_DOUBLE_PRECISION}},
      {K::kComplexFloat,
       K::kComplexLongDouble,
       {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX}},
#ifndef SMPI_H  // SimGrid's SMPI 3.32 defines these names by objects that it does not declare
      {K::kComplexFloat,
       K::kComplexLongDouble,
       {MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX}},
#endif
      {K::kComplexFloat,
       K::kComplexDouble,
       {MPI_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16, MPI_DOUBLE_COMPLEX}},
      {K::kLogical8, K::kLogical32, {MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL}},
      {K::kByte, K::kByte, {MPI_BYTE}},
      {K::kFloatInt, K::kFloatInt, {MPI_FLOAT_INT}},
      {K::kDoubleInt, K::kDoubleInt, {MPI_DOUBLE_INT}},
      {K::kLongInt, K::kLongInt, {MPI_LONG_INT}},
      {K::kShortInt, K::kShortInt, {MPI_SHORT_INT}},
      {K::kLongDoubleInt, K::kLongDoubleInt, {MPI_LONG_DOUBLE_INT}},
      {K::kTwoInt, K::kTwoInt, {MPI_2INT, MPI_2INTEGER}},
      {K::kTwoFloat, K::kTwoDouble, {MPI_2REAL, MPI_2DOUBLE_PRECISION}},
  };
  return classes;
}

const std::array<MPI_Op, kReduceOpCount>& predefinedOps() {
  static const std::array<MPI_Op, kReduceOpCount> ops = {
      MPI_MAX, MPI_MIN, MPI_SUM,  MPI_PROD, MPI_LAND,   MPI_BAND,
      MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  return ops;
}

std::optional<ReduceOp> predefinedOp(MPI_Op op) {
  const auto& ops = predefinedOps();
  const auto found = std::find(ops.begin(), ops.end(), op);
  if (found == ops.end()) return std::nullopt;
  return static_cast<ReduceOp>(found - ops.begin());
}

std::optional<ElementKind> kindOf(MPI_Datatype type, std::size_t bytes) {
  if (type == MPI_DATATYPE_NULL) return std::nullopt;
  for (const auto& [first, last, types] : typeClasses()) {
    if (std::ranges::find(types, type) == types.end()) continue;
    for (int kind = static_cast<int>(first); kind <= static_cast<int>(last); ++kind) {
      if (elementBytes(ElementKind(kind)) == bytes) return ElementKind(kind);
    }
  }
  return std::nullopt;
}

/// Whether `type` is a predefined type, or contiguous copies of one, to any depth.
bool isSimple(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED) return true;
  if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) return false;
  std::vector<int> numbers(static_cast<std::size_t>(integers) + 1);
  std::vector<MPI_Aint> places(static_cast<std::size_t>(addresses) + 1);
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  PMPI_Type_get_contents(type, integers, addresses, 1, numbers.data(), places.data(), &inner);
  int inner_combiner = 0;
  PMPI_Type_get_envelope(inner, &integers, &addresses, &types, &inner_combiner);
  if (inner_combiner == MPI_COMBINER_NAMED) return true;
  const bool simple = isSimple(inner);
  PMPI_Type_free(&inner);
  return simple;
}

}  // namespace

std::uint64_t ElementType::fingerprint() const {
  if (kind) return static_cast<std::uint64_t>(*kind) + 1;
  if (predefined) return hashText(name());
  return (std::uint64_t{1} << 40) + bytes;
}

std::string ElementType::name() const {
  char text[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Type_get_name(handle, text, &length);
  return length > 0 ? text : "a derived datatype without a name";
}

namespace {

/// Descriptions of the predefined datatypes that this thread has used last. Others are examined
/// every time: MPI reuses the handle of a freed datatype.
struct KnownTypes {
  static constexpr std::size_t kTypes = 4;
  std::array<ElementType, kTypes> types{};
  std::size_t next = 0;

  const ElementType* find(MPI_Datatype type) const {
    for (const ElementType& known : types) {
      if (known.handle == type) return &known;
    }
    return nullptr;
  }
  void add(const ElementType& type) { types[next++ % kTypes] = type; }
};

KnownTypes& knownTypes() {
  static thread_local KnownTypes known;
  return known;
}

}  // namespace

Status lookAtType(MPI_Datatype type, ElementType& element) {
  if (type == MPI_DATATYPE_NULL) {
    return {StatusCode::kInvalidArgument, "the datatype is MPI_DATATYPE_NULL"};
  }
  if (const ElementType* known = knownTypes().find(type)) {
    element = *known;
    return {};
  }
  MPI_Count size = 0, lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) {
    return {StatusCode::kInvalidArgument, "the datatype has no size"};
  }
  PMPI_Type_get_extent_x(type, &lower, &extent);
  PMPI_Type_get_true_extent_x(type, &true_lower, &true_extent);
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  element = {};
  element.handle = type;
  element.bytes = static_cast<std::size_t>(extent);
  element.size = static_cast<std::size_t>(size);
  element.predefined = combiner == MPI_COMBINER_NAMED;
  element.gapless = element.predefined || (lower == 0 && true_lower == 0 && extent == size &&
                                           (true_extent == size || size == 0));
  element.simple = element.gapless && isSimple(type);
  element.apart = true_lower >= 0 && true_lower + true_extent <= extent;
  if (element.predefined) {
    element.kind = kindOf(type, element.bytes);
    knownTypes().add(element);
  }
  return {};
}

Status gapsIn(const ElementType& type) {
  MPI_Count lower = 0, extent = 0;
  PMPI_Type_get_extent_x(type.handle, &lower, &extent);
  return {StatusCode::kUnsupported,
          "datatype " + type.name() + " has gaps or an offset (" + std::to_string(type.size) +
              " bytes of data, extent " + std::to_string(extent) + ", lower bound " +
              std::to_string(lower) + "): torc serves predefined and contiguous datatypes"};
}

StatusOr<ElementType> describeType(MPI_Datatype type) {
  ElementType element;
  if (Status status = lookAtType(type, element); !status.ok()) return status;
  if (!element.gapless) return gapsIn(element);
  return element;
}

bool isPredefinedReduction(MPI_Op op) {
  return predefinedOp(op).has_value();
}

std::string describeOp(MPI_Op op) {
  if (op == MPI_OP_NULL) return "MPI_OP_NULL";
  if (op == MPI_REPLACE) return "MPI_REPLACE";
  if (op == MPI_NO_OP) return "MPI_NO_OP";
  if (const std::optional<ReduceOp> known = predefinedOp(op)) return std::string(name(*known));
  return "a user-defined operation";
}

MpiReduction::~MpiReduction() {
  reset();
}

void MpiReduction::reset() {
  if (owns_type_) {
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (!finalized) PMPI_Type_free(&type_);
  }
  owns_type_ = false;
  kernel_ = nullptr;
  op_ = MPI_OP_NULL;
  type_ = MPI_DATATYPE_NULL;
}

Status lookAtReduction(const ElementType& type, MPI_Op op, Reduction& reduction) {
  reduction = {};
  if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP) {
    return {StatusCode::kInvalidArgument, describeOp(op) + " is not a reduction"};
  }
  reduction.op = op;
  if (const std::optional<ReduceOp> known = predefinedOp(op)) {
    reduction.fingerprint = static_cast<std::uint64_t>(*known) + 1;
    if (type.kind) reduction.kernel = reductionKernel(*type.kind, *known);
    bool mpi_serves = false;
#ifdef MPI_REAL16
    mpi_serves = type.handle == MPI_REAL16 && *known <= ReduceOp::kProd;
#endif
    if (reduction.kernel != nullptr || mpi_serves) return {};
    return {StatusCode::kUnsupported,
            std::string(name(*known)) + " is not defined on datatype " + type.name()};
  }
  int commutes = 0;
  if (const int code = PMPI_Op_commutative(op, &commutes); code != MPI_SUCCESS) {
    return {StatusCode::kInvalidArgument, "the operation is not a valid MPI_Op"};
  }
  reduction.commutes = commutes != 0;
  reduction.fingerprint = kReduceOpCount + (reduction.commutes ? 1 : 2);
  return {};
}

Status MpiReduction::use(const ElementType& type, const Reduction& reduction, Keep keep,
                         std::uint64_t whole) {
  reset();
  op_ = reduction.op;
  type_ = type.handle;
  kernel_ = reduction.kernel;
  bytes_ = type.bytes;
  commutes_ = reduction.commutes;
  const std::size_t piece =
      std::max<std::size_t>(kPieceBytes / std::max<std::size_t>(bytes_, 1), 1);
  copy_.resize(commutes_ ? 0 : std::max<std::size_t>(piece, whole) * bytes_);
  const bool is_predefined_op = reduction.fingerprint <= kReduceOpCount;
  if (!is_predefined_op && !type.predefined && keep == Keep::kDuplicate) {
    // The user may free the datatype before the collective.
    if (PMPI_Type_dup(type.handle, &type_) != MPI_SUCCESS) {
      return {StatusCode::kTransport, "MPI_Type_dup failed on datatype " + type.name()};
    }
    owns_type_ = true;
  }
  return {};
}

Reducer MpiReduction::reducer() const {
  if (kernel_ != nullptr) return {kernel_, nullptr};
  return {reduceLocal, this};
}

// MPI_Reduce_local(x, y) sets y = x op y. The result is a op b; but if dst is a and the operation
// commutes, it is b op a, which saves a copy.
void MpiReduction::reduceLocal(void* dst, const void* a, const void* b, std::size_t count,
                               const void* cookie) {
  const auto* self = static_cast<const MpiReduction*>(cookie);
  const auto combine = [self](const std::byte* x, std::byte* y, std::size_t some) {
    PMPI_Reduce_local(x, y, static_cast<int>(some), self->type_, self->op_);
  };
  auto* to = static_cast<std::byte*>(dst);
  const auto* other = static_cast<const std::byte*>(dst == a && self->commutes_ ? b : a);
  const bool is_overwritten = dst == a && !self->commutes_;
  if (dst != a && dst != b) std::memcpy(dst, b, count * self->bytes_);
  const std::size_t most =
      is_overwritten
          ? std::max<std::size_t>(self->copy_.size() / std::max<std::size_t>(self->bytes_, 1), 1)
          : INT_MAX;
  for (std::size_t done = 0; done < count;) {
    const std::size_t some = std::min(count - done, most);
    const std::size_t at = done * self->bytes_;
    if (is_overwritten) {
      std::byte* copy = self->copy_.data();
      std::memcpy(copy, static_cast<const std::byte*>(b) + at, some * self->bytes_);
      combine(other + at, copy, some);
      std::memcpy(to + at, copy, some * self->bytes_);
    } else {
      combine(other + at, to + at, some);
    }
    done += some;
  }
}

}  // namespace torc::runtime
