// Every predefined MPI type with every predefined operation, against MPI_Reduce_local.
#include "runtime/reductions/reduction.h"

#include <complex>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/reductions/mpi_reduction.h"

namespace torc::runtime {
namespace {

using Random = std::mt19937_64;

/// One element with a value that no operation takes out of its range, and that is exact.
template <typename T>
void fillNumber(Random& random, std::byte* element) {
  const T value = static_cast<T>(static_cast<int>(random() % 11) - (T(-1) < T(0) ? 5 : 0));
  std::memcpy(element, &value, sizeof(T));
}

template <typename T>
void fillComplex(Random& random, std::byte* element) {
  fillNumber<T>(random, element);
  fillNumber<T>(random, element + sizeof(T));
}

template <typename T>
void fillTruth(Random& random, std::byte* element) {
  const T value = static_cast<T>(random() % 2);
  std::memcpy(element, &value, sizeof(T));
}

template <typename T, typename Index>
void fillPair(Random& random, std::byte* element) {
  struct Pair {
    T value;
    Index index;
  };
  const T value = static_cast<T>(random() % 4);  // equal values are frequent
  const Index index = static_cast<Index>(random() % 100);
  std::memcpy(element + offsetof(Pair, value), &value, sizeof(T));
  std::memcpy(element + offsetof(Pair, index), &index, sizeof(Index));
}

/// A run of bytes of an element that means something; the rest is padding.
struct Field {
  std::size_t offset, bytes;
};

struct TypeCase {
  MPI_Datatype type;
  std::string_view ops;  // letters as in kOps
  void (*fill)(Random&, std::byte*);
  std::vector<Field> fields;
};

// Letters: M max, m min, S sum, P prod, L/O/X logical, l/o/x bitwise, A maxloc, I minloc.
constexpr std::string_view kLetters = "MmSPLlOoXxAI";
constexpr std::string_view kInteger = "MmSPLlOoXx", kFloating = "MmSP", kComplex = "SP",
                           kLogical = "LOX", kByte = "lox", kPair = "AI", kNothing = "";

std::vector<MPI_Op> operations() {
  return {MPI_MAX, MPI_MIN, MPI_SUM,  MPI_PROD, MPI_LAND,   MPI_BAND,
          MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
}

std::string nameOf(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  MPI_Type_get_name(type, name, &length);
  return name;
}

std::vector<TypeCase> cases() {
  using Types = std::initializer_list<MPI_Datatype>;
  std::vector<TypeCase> all;
  const auto add = [&](Types types, std::string_view ops, auto fill,
                       const std::vector<Field>& fields) {
    for (const MPI_Datatype type : types)
      all.push_back({type, ops, fill, fields});
  };
  // `bytes`: those that count.
  const auto integer = [&](auto value, Types types) {
    add(types, kInteger, fillNumber<decltype(value)>, {{0, sizeof(value)}});
  };
  const auto floating = [&](auto value, std::size_t bytes, Types types) {
    add(types, kFloating, fillNumber<decltype(value)>, {{0, bytes}});
  };
  const auto complex = [&](auto value, std::size_t bytes, Types types) {
    add(types, kComplex, fillComplex<decltype(value)>, {{0, bytes}, {sizeof(value), bytes}});
  };
  const auto pair = [&](auto value, auto index, std::size_t bytes, Types types) {
    struct Pair {
      decltype(value) first;
      decltype(index) second;
    };
    add(types, kPair, fillPair<decltype(value), decltype(index)>,
        {{0, bytes}, {offsetof(Pair, second), sizeof(index)}});
  };
  integer(char{}, {MPI_CHAR, MPI_CHARACTER});
  integer(static_cast<signed char>(0), {MPI_SIGNED_CHAR, MPI_INT8_T, MPI_INTEGER1});
  integer(static_cast<unsigned char>(0), {MPI_UNSIGNED_CHAR, MPI_UINT8_T});
  integer(short{}, {MPI_SHORT, MPI_INT16_T, MPI_INTEGER2});
  integer(static_cast<unsigned short>(0), {MPI_UNSIGNED_SHORT, MPI_UINT16_T});
  integer(0, {MPI_INT, MPI_INT32_T, MPI_INTEGER, MPI_INTEGER4});
  integer(0u, {MPI_UNSIGNED, MPI_UINT32_T});
  integer(0l, {MPI_LONG, MPI_INT64_T, MPI_INTEGER8, MPI_AINT, MPI_OFFSET, MPI_COUNT});
  integer(0ul, {MPI_UNSIGNED_LONG, MPI_UINT64_T});
  integer(0ll, {MPI_LONG_LONG, MPI_LONG_LONG_INT});
  integer(0ull, {MPI_UNSIGNED_LONG_LONG});
  constexpr std::size_t kX87 = 10;
  floating(0.0f, 4, {MPI_FLOAT, MPI_REAL, MPI_REAL4});
  floating(0.0, 8, {MPI_DOUBLE, MPI_REAL8, MPI_DOUBLE_PRECISION});
  floating(0.0l, kX87, {MPI_LONG_DOUBLE});
  floating(__float128{}, 16, {MPI_REAL16});
  complex(0.0f, 4,
          {MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8});
  complex(0.0, 8,
          {MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_COMPLEX16, MPI_DOUBLE_COMPLEX});
  complex(0.0l, kX87, {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX});
  add({MPI_C_BOOL, MPI_CXX_BOOL}, kLogical, fillTruth<bool>, {{0, 1}});
  add({MPI_LOGICAL}, kLogical, fillTruth<int>, {{0, 4}});
  add({MPI_BYTE}, kByte, fillNumber<unsigned char>, {{0, 1}});
  add({MPI_WCHAR}, kNothing, fillNumber<wchar_t>, {});
  add({MPI_PACKED}, kNothing, fillNumber<unsigned char>, {});
  pair(0.0f, 0, 4, {MPI_FLOAT_INT});
  pair(0.0, 0, 8, {MPI_DOUBLE_INT});
  pair(0l, 0, 8, {MPI_LONG_INT});
  pair(short{}, 0, 2, {MPI_SHORT_INT});
  pair(0, 0, 4, {MPI_2INT, MPI_2INTEGER});
  pair(0.0l, 0, kX87, {MPI_LONG_DOUBLE_INT});
  pair(0.0f, 0.0f, 4, {MPI_2REAL});
  pair(0.0, 0.0, 8, {MPI_2DOUBLE_PRECISION});
  return all;
}

constexpr std::size_t kElements = 103;  // a prime: vector loops have remainders

using Memory = std::vector<std::byte>;

Memory filled(const TypeCase& type, std::size_t bytes, Random& random) {
  Memory memory(kElements * bytes);
  for (std::size_t i = 0; i < kElements; ++i)
    type.fill(random, memory.data() + i * bytes);
  return memory;
}

/// The first element in which the fields of `a` and `b` differ; kElements: none.
std::size_t firstDifference(const TypeCase& type, std::size_t bytes, const Memory& a,
                            const Memory& b) {
  for (std::size_t i = 0; i < kElements; ++i) {
    for (const Field& field : type.fields) {
      const std::size_t at = i * bytes + field.offset;
      if (std::memcmp(&a[at], &b[at], field.bytes) != 0) return i;
    }
  }
  return kElements;
}

Status prepare(MpiReduction& reduction, const ElementType& type, MPI_Op op) {
  Reduction found;
  if (Status status = lookAtReduction(type, op, found); !status.ok()) return status;
  return reduction.use(type, found);
}

void checkAgainstMpi(const TypeCase& type, const ElementType& element, MPI_Op op) {
  MpiReduction reduction;
  const Status prepared = prepare(reduction, element, op);
  ASSERT_TRUE(prepared.ok()) << prepared.message();
  const Reducer reducer = reduction.reducer();
  const std::string what = nameOf(type.type) + " " + describeOp(op);

  Random random(42);
  Memory a = filled(type, element.bytes, random), b = filled(type, element.bytes, random);
  Memory separate = filled(type, element.bytes, random);
  Memory expected = b, onto_a = a, onto_b = b;
  ASSERT_EQ(MPI_Reduce_local(a.data(), expected.data(), kElements, type.type, op), MPI_SUCCESS);
  reducer(separate.data(), a.data(), b.data(), kElements);
  reducer(onto_a.data(), onto_a.data(), b.data(), kElements);
  reducer(onto_b.data(), a.data(), onto_b.data(), kElements);
  for (const Memory* result : {&separate, &onto_a, &onto_b})
    EXPECT_EQ(firstDifference(type, element.bytes, expected, *result), kElements)
        << what
        << (result == &separate ? ""
            : result == &onto_a ? " onto a"
                                : " onto b");
}

TEST(Reduction, EveryPredefinedTypeAndOperationMatchesMpi) {
  const std::vector<MPI_Op> ops = operations();
  int checked = 0, refused = 0;
  for (const TypeCase& type : cases()) {
    StatusOr<ElementType> element = describeType(type.type);
    ASSERT_TRUE(element.ok()) << nameOf(type.type);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (type.ops.find(kLetters[i]) != std::string_view::npos) {
        checkAgainstMpi(type, *element, ops[i]);
        ++checked;
      } else {
        MpiReduction reduction;
        EXPECT_EQ(prepare(reduction, *element, ops[i]).code(), StatusCode::kUnsupported)
            << nameOf(type.type) << " " << describeOp(ops[i]);
        ++refused;
      }
    }
  }
  EXPECT_EQ(checked, 29 * 10 + 7 * 4 + 11 * 2 + 3 * 3 + 3 + 9 * 2 + 4);
  EXPECT_GT(refused, 0);
}

TEST(Reduction, OnlyTypesOutsideTheKernelsGoToMpi) {
  for (const TypeCase& type : cases()) {
    StatusOr<ElementType> element = describeType(type.type);
    ASSERT_TRUE(element.ok());
    const bool has_kernels = !type.ops.empty() && type.type != MPI_REAL16;
    EXPECT_EQ(element->kind.has_value(), has_kernels) << nameOf(type.type);
    if (has_kernels) {
      EXPECT_EQ(elementBytes(*element->kind), element->bytes) << nameOf(type.type);
    }
  }
}

TEST(Reduction, IntegersWrapAround) {
  const std::int32_t big = 2147483647, two = 2;
  std::int32_t sum = 0, product = 0;
  reductionKernel(ElementKind::kInt32, ReduceOp::kSum)(&sum, &big, &two, 1, nullptr);
  reductionKernel(ElementKind::kInt32, ReduceOp::kProd)(&product, &big, &two, 1, nullptr);
  EXPECT_EQ(sum, -2147483647);
  EXPECT_EQ(product, -2);
  const std::uint16_t wide = 65535;
  std::uint16_t square = 0;
  reductionKernel(ElementKind::kUint16, ReduceOp::kProd)(&square, &wide, &wide, 1, nullptr);
  EXPECT_EQ(square, 1);
}

// A user's operation that tells its operands apart: x op y = 2x + y.
void weighted(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) {
    int& y = static_cast<int*>(inout)[i];
    y += 2 * static_cast<int*>(in)[i];
  }
}

TEST(Reduction, AUsersOperationTakesItsOperandsInTheDocumentedOrder) {
  MPI_Op op;
  MPI_Op_create(weighted, 1, &op);
  StatusOr<ElementType> type = describeType(MPI_INT);
  ASSERT_TRUE(type.ok());
  MpiReduction reduction;
  ASSERT_TRUE(prepare(reduction, *type, op).ok());
  int a = 100, b = 1, dst = -7;
  reduction.reducer()(&dst, &a, &b, 1);
  EXPECT_EQ(dst, 201);  // a op b
  EXPECT_EQ(a, 100);
  EXPECT_EQ(b, 1);
  reduction.reducer()(&b, &a, &b, 1);
  EXPECT_EQ(b, 201);  // a op b
  b = 1;
  reduction.reducer()(&a, &a, &b, 1);
  EXPECT_EQ(a, 102);  // b op a, where dst is a
  MPI_Op_free(&op);
}

// Also of more elements than are copied at a time.
TEST(Reduction, AnOperationThatDoesNotCommuteKeepsItsOperandsInOrder) {
  MPI_Op op;
  MPI_Op_create(weighted, 0, &op);
  StatusOr<ElementType> type = describeType(MPI_INT);
  ASSERT_TRUE(type.ok());
  MpiReduction reduction;
  ASSERT_TRUE(prepare(reduction, *type, op).ok());
  for (const std::size_t count : {1u, 4096u, 10007u}) {
    std::vector<int> first(count), second(count), expected(count);
    for (std::size_t i = 0; i < count; ++i) {
      first[i] = static_cast<int>(i);
      second[i] = static_cast<int>(7 * i + 1);
      expected[i] = 2 * first[i] + second[i];
    }
    std::vector<int> sum(count), onto_first = first, onto_second = second;
    reduction.reducer()(sum.data(), first.data(), second.data(), count);
    reduction.reducer()(onto_first.data(), onto_first.data(), second.data(), count);
    reduction.reducer()(onto_second.data(), first.data(), onto_second.data(), count);
    EXPECT_EQ(sum, expected);
    EXPECT_EQ(onto_first, expected);
    EXPECT_EQ(onto_second, expected);
  }
  MPI_Op_free(&op);
}

TEST(Reduction, WhatIsNoReductionIsRefused) {
  StatusOr<ElementType> type = describeType(MPI_INT);
  ASSERT_TRUE(type.ok());
  for (const MPI_Op op : {MPI_OP_NULL, MPI_REPLACE, MPI_NO_OP}) {
    MpiReduction reduction;
    EXPECT_EQ(prepare(reduction, *type, op).code(), StatusCode::kInvalidArgument);
  }
}

MPI_Datatype contiguous(int count, MPI_Datatype inner) {
  MPI_Datatype type;
  MPI_Type_contiguous(count, inner, &type);
  MPI_Type_commit(&type);
  return type;
}

TEST(DescribeType, DerivedTypesAreServedWithoutGapsOnly) {
  MPI_Datatype three = contiguous(3, MPI_INT), nested = contiguous(2, three);
  StatusOr<ElementType> element = describeType(nested);
  ASSERT_TRUE(element.ok()) << element.status().message();
  EXPECT_EQ(element->bytes, 24u);
  EXPECT_TRUE(element->simple);
  EXPECT_FALSE(element->predefined);

  // MPI defines its operations on predefined types alone.
  MpiReduction reduction;
  EXPECT_EQ(prepare(reduction, *element, MPI_SUM).code(), StatusCode::kUnsupported);

  MPI_Datatype gaps;
  MPI_Type_vector(3, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  StatusOr<ElementType> refused = describeType(gaps);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
  EXPECT_NE(refused.status().message().find("has gaps or an offset (12 bytes of data, extent 20"),
            std::string::npos)
      << refused.status().message();

  MPI_Datatype dense;  // a vector whose blocks touch
  MPI_Type_vector(3, 2, 2, MPI_INT, &dense);
  MPI_Type_commit(&dense);
  StatusOr<ElementType> vector = describeType(dense);
  ASSERT_TRUE(vector.ok());
  EXPECT_FALSE(vector->simple);

  EXPECT_EQ(describeType(MPI_DATATYPE_NULL).status().code(), StatusCode::kInvalidArgument);
  for (MPI_Datatype* type : {&three, &nested, &gaps, &dense})
    MPI_Type_free(type);
}

void addTriples(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < 3 * *count; ++i)
    static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

TEST(Reduction, AUsersDatatypeMayBeFreedWhileInUse) {
  MPI_Op op;
  MPI_Op_create(addTriples, 1, &op);
  MPI_Datatype three = contiguous(3, MPI_INT);
  StatusOr<ElementType> type = describeType(three);
  ASSERT_TRUE(type.ok());
  {
    MpiReduction reduction;
    ASSERT_TRUE(prepare(reduction, *type, op).ok());
    MPI_Type_free(&three);
    const std::vector<int> a = {1, 2, 3, 4, 5, 6}, b = {10, 20, 30, 40, 50, 60};
    std::vector<int> dst(6);
    reduction.reducer()(dst.data(), a.data(), b.data(), 2);
    EXPECT_EQ(dst, (std::vector<int>{11, 22, 33, 44, 55, 66}));
  }
  MPI_Op_free(&op);
}

}  // namespace
}  // namespace torc::runtime
