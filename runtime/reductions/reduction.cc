// The kernels: one loop template, instantiated for the pairs of element kind and operation in
// the table of the MPI standard (MPI 4.0, sections 6.9.2 and 6.9.4).
#include "runtime/reductions/reduction.h"

#include <array>
#include <iterator>
#include <type_traits>

namespace torc::runtime {
namespace {

template <typename T>
struct Complex {
  T re, im;

  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

template <typename T, typename Index>
struct Pair {
  T value;
  Index index;
};

/// Integer arithmetic wraps around: it uses an unsigned type of at least the width of unsigned int,
/// without undefined behaviour.
template <typename T>
auto wrapping(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<std::common_type_t<T, int>>>(value);
  } else {
    return value;
  }
}

using enum ReduceOp;

template <ReduceOp kOp, typename T>
T apply(T a, T b) {
  if constexpr (kOp == kMax) return a > b ? a : b;
  if constexpr (kOp == kMin) return a < b ? a : b;
  if constexpr (kOp == kSum) return static_cast<T>(wrapping(a) + wrapping(b));
  if constexpr (kOp == kProd) return static_cast<T>(wrapping(a) * wrapping(b));
  if constexpr (kOp == kLand) return static_cast<T>((a != 0) & (b != 0));
  if constexpr (kOp == kLor) return static_cast<T>((a != 0) | (b != 0));
  if constexpr (kOp == kLxor) return static_cast<T>((a != 0) ^ (b != 0));
  if constexpr (kOp == kBand) return static_cast<T>(a & b);
  if constexpr (kOp == kBor) return static_cast<T>(a | b);
  if constexpr (kOp == kBxor) return static_cast<T>(a ^ b);
  if constexpr (kOp == kMaxloc || kOp == kMinloc) {
    // Of equal values the smaller index wins.
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    return (kOp == kMaxloc ? a.value > b.value : a.value < b.value) ? a : b;
  }
}

template <typename T, ReduceOp kOp>
void kernel(void* dst, const void* a, const void* b, std::size_t count, const void*) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  // dst may be a or b, at the same index: no iteration depends on another.
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i)
    d[i] = apply<kOp>(x[i], y[i]);
}

struct KindRow {
  std::size_t bytes;
  std::array<ReduceFunction, kReduceOpCount> kernels;  // null: not defined
};

template <typename T, ReduceOp... kOps>
constexpr KindRow rowOf() {
  KindRow row{sizeof(T), {}};
  ((row.kernels[static_cast<std::size_t>(kOps)] = kernel<T, kOps>), ...);
  return row;
}
template <typename T>
constexpr KindRow kInteger =
    rowOf<T, kMax, kMin, kSum, kProd, kLand, kLor, kLxor, kBand, kBor, kBxor>();
template <typename T>
constexpr KindRow kFloating = rowOf<T, kMax, kMin, kSum, kProd>();
template <typename T>
constexpr KindRow kComplex = rowOf<Complex<T>, kSum, kProd>();
template <typename T>
constexpr KindRow kLogical = rowOf<T, kLand, kLor, kLxor>();
template <typename T, typename Index = int>
constexpr KindRow kPair = rowOf<Pair<T, Index>, kMaxloc, kMinloc>();

// By ElementKind.
constexpr KindRow kKindRows[] = {
    kInteger<std::int8_t>,
    kInteger<std::int16_t>,
    kInteger<std::int32_t>,
    kInteger<std::int64_t>,
    kInteger<std::uint8_t>,
    kInteger<std::uint16_t>,
    kInteger<std::uint32_t>,
    kInteger<std::uint64_t>,
    kFloating<float>,
    kFloating<double>,
    kFloating<long double>,
    kComplex<float>,
    kComplex<double>,
    kComplex<long double>,
    kLogical<std::uint8_t>,
    kLogical<std::int32_t>,
    rowOf<std::uint8_t, kBand, kBor, kBxor>(),
    kPair<float>,
    kPair<double>,
    kPair<long>,
    kPair<short>,
    kPair<long double>,
    kPair<int>,
    kPair<float, float>,
    kPair<double, double>,
};
static_assert(std::size(kKindRows) == kElementKindCount);

}  // namespace

std::string_view name(ReduceOp op) {
  static constexpr std::array<std::string_view, kReduceOpCount> kNames = {
      "MPI_MAX", "MPI_MIN", "MPI_SUM",  "MPI_PROD", "MPI_LAND",   "MPI_BAND",
      "MPI_LOR", "MPI_BOR", "MPI_LXOR", "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC"};
  return kNames[static_cast<std::size_t>(op)];
}

std::size_t elementBytes(ElementKind kind) {
  return kKindRows[static_cast<std::size_t>(kind)].bytes;
}

ReduceFunction reductionKernel(ElementKind kind, ReduceOp op) {
  return kKindRows[static_cast<std::size_t>(kind)].kernels[static_cast<std::size_t>(op)];
}

}  // namespace torc::runtime
