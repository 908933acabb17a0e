// Reduction kernels: dst = a op b for every kind of element and operation that MPI predefines.
//
// Three-address, so that a first contribution needs no copy. `dst` may equal `a` or `b`; otherwise
// the three do not overlap. Each kernel is one loop, written so that the compiler vectorises it
// under these rules.
#ifndef TORC_RUNTIME_REDUCTIONS_REDUCTION_H_
#define TORC_RUNTIME_REDUCTIONS_REDUCTION_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace torc::runtime {

/// dst[i] = a[i] op b[i] for `count` elements; `cookie` comes from the reducer.
using ReduceFunction = void (*)(void* dst, const void* a, const void* b, std::size_t count,
                                const void* cookie);

/// A reduction ready for use: a kernel, or another function with its cookie.
struct Reducer {
  ReduceFunction function = nullptr;
  const void* cookie = nullptr;

  void operator()(void* dst, const void* a, const void* b, std::size_t count) const {
    function(dst, a, b, count, cookie);
  }
};

/// Kind of an element. The many MPI types map to these by class and size.
enum class ElementKind : std::uint8_t {
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat,
  kDouble,
  kLongDouble,
  kComplexFloat,
  kComplexDouble,
  kComplexLongDouble,
  kLogical8,   // MPI_C_BOOL, MPI_CXX_BOOL
  kLogical32,  // MPI_LOGICAL
  kByte,       // MPI_BYTE: bits only
  kFloatInt,   // pairs of a value and an index, for maxloc and minloc
  kDoubleInt,
  kLongInt,
  kShortInt,
  kLongDoubleInt,
  kTwoInt,
  kTwoFloat,
  kTwoDouble,
};
inline constexpr int kElementKindCount = 25;

enum class ReduceOp : std::uint8_t {
  kMax,
  kMin,
  kSum,
  kProd,
  kLand,
  kBand,
  kLor,
  kBor,
  kLxor,
  kBxor,
  kMaxloc,
  kMinloc,
};
inline constexpr int kReduceOpCount = 12;

/// "MPI_SUM" and so on.
std::string_view name(ReduceOp op);

/// Distance between elements, in bytes.
std::size_t elementBytes(ElementKind kind);

/// The kernel, or null if MPI does not define `op` on `kind`.
ReduceFunction reductionKernel(ElementKind kind, ReduceOp op);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_REDUCTIONS_REDUCTION_H_
