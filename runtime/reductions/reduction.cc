// The kernels: one loop template, instantiated for the pairs of element kind and operation in
// the table of the MPI standard (MPI 4.0, sections 6.9.2 and 6.9.4).
#include "runtime/reductions/reduction.h"

#include <array>
#include <type_traits>

namespace torc::runtime {
namespace {

template <typename T>
struct Complex {
  T re, im;
};

template <typename T, typename Index>
struct Pair {
  T value;
  Index index;
};

// Integer arithmetic wraps around: it uses an unsigned type of at least the width of unsigned int,
// without undefined behaviour.
template <typename T>
using Wrapping = std::make_unsigned_t<std::common_type_t<T, int>>;

struct Max {
  template <typename T>
  static T apply(T a, T b) {
    return a > b ? a : b;
  }
};

struct Min {
  template <typename T>
  static T apply(T a, T b) {
    return a < b ? a : b;
  }
};

struct Sum {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
  template <typename T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    return {a.re + b.re, a.im + b.im};
  }
};

struct Prod {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return a * b;
    }
  }
  template <typename T>
  static Complex<T> apply(Complex<T> a, Complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

struct Land {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>((a != 0) & (b != 0));
  }
};

struct Lor {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>((a != 0) | (b != 0));
  }
};

struct Lxor {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>((a != 0) ^ (b != 0));
  }
};

struct Band {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct Bor {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct Bxor {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Of equal values the smaller index wins.
template <typename T, typename Index>
Pair<T, Index> select(const Pair<T, Index>& a, const Pair<T, Index>& b, bool a_wins) {
  if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
  return a_wins ? a : b;
}

struct Maxloc {
  template <typename T, typename Index>
  static Pair<T, Index> apply(const Pair<T, Index>& a, const Pair<T, Index>& b) {
    return select(a, b, a.value > b.value);
  }
};

struct Minloc {
  template <typename T, typename Index>
  static Pair<T, Index> apply(const Pair<T, Index>& a, const Pair<T, Index>& b) {
    return select(a, b, a.value < b.value);
  }
};

template <typename T, typename Op>
void kernel(void* dst, const void* a, const void* b, std::size_t count, const void*) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  // dst may be a or b, at the same index: no iteration depends on another.
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i)
    d[i] = Op::apply(x[i], y[i]);
}

using OpRow = std::array<ReduceFunction, kReduceOpCount>;

template <typename T, typename Op>
void put(OpRow& row, ReduceOp op) {
  row[static_cast<std::size_t>(op)] = kernel<T, Op>;
}

template <typename T>
void putBits(OpRow& row) {
  put<T, Band>(row, ReduceOp::kBand);
  put<T, Bor>(row, ReduceOp::kBor);
  put<T, Bxor>(row, ReduceOp::kBxor);
}

template <typename T>
void putLogical(OpRow& row) {
  put<T, Land>(row, ReduceOp::kLand);
  put<T, Lor>(row, ReduceOp::kLor);
  put<T, Lxor>(row, ReduceOp::kLxor);
}

template <typename T>
void putArithmetic(OpRow& row) {
  put<T, Sum>(row, ReduceOp::kSum);
  put<T, Prod>(row, ReduceOp::kProd);
}

template <typename T>
void putOrder(OpRow& row) {
  put<T, Max>(row, ReduceOp::kMax);
  put<T, Min>(row, ReduceOp::kMin);
}

template <typename T>
OpRow integerRow() {
  OpRow row{};
  putOrder<T>(row);
  putArithmetic<T>(row);
  putLogical<T>(row);
  putBits<T>(row);
  return row;
}

template <typename T>
OpRow floatingRow() {
  OpRow row{};
  putOrder<T>(row);
  putArithmetic<T>(row);
  return row;
}

template <typename T>
OpRow complexRow() {
  OpRow row{};
  putArithmetic<Complex<T>>(row);
  return row;
}

template <typename T>
OpRow logicalRow() {
  OpRow row{};
  putLogical<T>(row);
  return row;
}

OpRow byteRow() {
  OpRow row{};
  putBits<std::uint8_t>(row);
  return row;
}

template <typename T, typename Index>
OpRow pairRow() {
  OpRow row{};
  put<Pair<T, Index>, Maxloc>(row, ReduceOp::kMaxloc);
  put<Pair<T, Index>, Minloc>(row, ReduceOp::kMinloc);
  return row;
}

struct KindRow {
  std::size_t bytes;
  OpRow kernels;
};

// By ElementKind.
const std::array<KindRow, kElementKindCount>& table() {
  static const std::array<KindRow, kElementKindCount> rows = {{
      {sizeof(std::int8_t), integerRow<std::int8_t>()},
      {sizeof(std::int16_t), integerRow<std::int16_t>()},
      {sizeof(std::int32_t), integerRow<std::int32_t>()},
      {sizeof(std::int64_t), integerRow<std::int64_t>()},
      {sizeof(std::uint8_t), integerRow<std::uint8_t>()},
      {sizeof(std::uint16_t), integerRow<std::uint16_t>()},
      {sizeof(std::uint32_t), integerRow<std::uint32_t>()},
      {sizeof(std::uint64_t), integerRow<std::uint64_t>()},
      {sizeof(float), floatingRow<float>()},
      {sizeof(double), floatingRow<double>()},
      {sizeof(long double), floatingRow<long double>()},
      {sizeof(Complex<float>), complexRow<float>()},
      {sizeof(Complex<double>), complexRow<double>()},
      {sizeof(Complex<long double>), complexRow<long double>()},
      {sizeof(std::uint8_t), logicalRow<std::uint8_t>()},
      {sizeof(std::int32_t), logicalRow<std::int32_t>()},
      {sizeof(std::uint8_t), byteRow()},
      {sizeof(Pair<float, int>), pairRow<float, int>()},
      {sizeof(Pair<double, int>), pairRow<double, int>()},
      {sizeof(Pair<long, int>), pairRow<long, int>()},
      {sizeof(Pair<short, int>), pairRow<short, int>()},
      {sizeof(Pair<long double, int>), pairRow<long double, int>()},
      {sizeof(Pair<int, int>), pairRow<int, int>()},
      {sizeof(Pair<float, float>), pairRow<float, float>()},
      {sizeof(Pair<double, double>), pairRow<double, double>()},
  }};
  return rows;
}

}  // namespace

std::string_view name(ReduceOp op) {
  static constexpr std::array<std::string_view, kReduceOpCount> kNames = {
      "MPI_MAX", "MPI_MIN", "MPI_SUM",  "MPI_PROD", "MPI_LAND",   "MPI_BAND",
      "MPI_LOR", "MPI_BOR", "MPI_LXOR", "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC"};
  return kNames[static_cast<std::size_t>(op)];
}

std::size_t elementBytes(ElementKind kind) {
  return table()[static_cast<std::size_t>(kind)].bytes;
}

ReduceFunction reductionKernel(ElementKind kind, ReduceOp op) {
  return table()[static_cast<std::size_t>(kind)].kernels[static_cast<std::size_t>(op)];
}

}  // namespace torc::runtime
