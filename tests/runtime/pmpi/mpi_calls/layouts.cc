#include "tests/runtime/pmpi/mpi_calls/layouts.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace mpi_calls {
namespace {

struct KindRow {
  const char* name;
  MPI_Datatype handle;
  std::vector<Atom> atoms;
  MPI_Aint size;
};

/// In the order of Kind.
const std::vector<KindRow>& kindRows() {
  static const std::vector<KindRow> rows = {
      {"MPI_BYTE", MPI_BYTE, {{0, Scalar::kUint8}}, 1},
      {"MPI_UINT8_T", MPI_UINT8_T, {{0, Scalar::kUint8}}, 1},
      {"MPI_INT8_T", MPI_INT8_T, {{0, Scalar::kInt8}}, 1},
      {"MPI_INT16_T", MPI_INT16_T, {{0, Scalar::kInt16}}, 2},
      {"MPI_INT", MPI_INT, {{0, Scalar::kInt32}}, 4},
      {"MPI_UINT32_T", MPI_UINT32_T, {{0, Scalar::kUint32}}, 4},
      {"MPI_INT64_T", MPI_INT64_T, {{0, Scalar::kInt64}}, 8},
      {"MPI_UINT64_T", MPI_UINT64_T, {{0, Scalar::kUint64}}, 8},
      {"MPI_FLOAT", MPI_FLOAT, {{0, Scalar::kFloat}}, 4},
      {"MPI_DOUBLE", MPI_DOUBLE, {{0, Scalar::kDouble}}, 8},
      {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, {{0, Scalar::kLongDouble}}, 16},
      {"MPI_C_BOOL", MPI_C_BOOL, {{0, Scalar::kBool}}, 1},
      {"MPI_C_DOUBLE_COMPLEX",
       MPI_C_DOUBLE_COMPLEX,
       {{0, Scalar::kDouble}, {8, Scalar::kDouble}},
       16},
      {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, {{0, Scalar::kDouble}, {8, Scalar::kInt32}}, 16},
      {"MPI_2INT", MPI_2INT, {{0, Scalar::kInt32}, {4, Scalar::kInt32}}, 8},
  };
  return rows;
}

const KindRow& rowOf(Kind kind) {
  return kindRows()[static_cast<size_t>(kind)];
}

MPI_Aint bytesOf(Kind kind, int elements) {
  return rowOf(kind).size * elements;
}

/// Elements of `kind` at these places, counted in elements; `extent` likewise, 0: up to the last.
Layout ofElements(std::string name, Kind kind, std::initializer_list<int> numbers,
                  const std::vector<int>& places, int extent,
                  std::function<MPI_Datatype()> construct) {
  Layout layout;
  layout.name = std::move(name) + "(";
  for (const int number : numbers)
    layout.name += std::to_string(number) + " ";
  layout.name += std::string(rowOf(kind).name) + ")";
  layout.kind = kind;
  layout.construct = std::move(construct);
  layout.lowest = bytesOf(kind, places.front());
  for (const int place : places) {
    const MPI_Aint at = bytesOf(kind, place);
    std::vector<bool> is_used(static_cast<size_t>(bytesOf(kind, 1)));
    for (const Atom& atom : rowOf(kind).atoms) {
      layout.atoms.push_back({at + atom.offset, atom.scalar});
      std::fill_n(is_used.begin() + atom.offset, meaningfulBytes(atom.scalar), true);
    }
    for (size_t byte = 0; byte < is_used.size(); ++byte)
      if (!is_used[byte]) layout.padding.push_back(at + static_cast<MPI_Aint>(byte));
    layout.lowest = std::min(layout.lowest, at);
    layout.highest = std::max(layout.highest, at + bytesOf(kind, 1));
  }
  layout.extent = extent != 0 ? bytesOf(kind, extent) : layout.highest;
  return layout;
}

MPI_Datatype resize(MPI_Datatype type, MPI_Aint lower, MPI_Aint extent) {
  MPI_Datatype resized;
  MPI_Type_create_resized(type, lower, extent, &resized);
  MPI_Type_free(&type);
  return resized;
}

/// Calls function(T()) for the type of such a scalar.
template <typename Function>
auto withType(Scalar scalar, Function function) {
  switch (scalar) {
    case Scalar::kUint8:
      return function(uint8_t());
    case Scalar::kInt8:
      return function(int8_t());
    case Scalar::kInt16:
      return function(int16_t());
    case Scalar::kInt32:
      return function(int32_t());
    case Scalar::kUint32:
      return function(uint32_t());
    case Scalar::kFloat:
      return function(float());
    case Scalar::kDouble:
      return function(double());
    case Scalar::kLongDouble:
      return function(static_cast<long double>(0));
    case Scalar::kBool:
      return function(bool());
    default:
      return function(int64_t());
  }
}

}  // namespace

MPI_Datatype handleOf(Kind kind) {
  return rowOf(kind).handle;
}

int sizeOf(Scalar scalar) {
  return withType(scalar, [](auto zero) { return static_cast<int>(sizeof(zero)); });
}

int meaningfulBytes(Scalar scalar) {
  return scalar == Scalar::kLongDouble ? 10 : sizeOf(scalar);
}

int64_t narrow(Scalar scalar, int64_t value) {
  return withType(scalar, [value](auto zero) {
    using T = decltype(zero);
    // Whole numbers that it holds exactly.
    if constexpr (std::is_floating_point_v<T>)
      return value % (int64_t{1} << std::min(62, std::numeric_limits<T>::digits - 1));
    return static_cast<int64_t>(static_cast<T>(value));
  });
}

void store(Scalar scalar, int64_t value, unsigned char* at) {
  withType(scalar, [&](auto zero) {
    const auto stored = static_cast<decltype(zero)>(value);
    std::memcpy(at, &stored, std::min<size_t>(sizeof(stored), 10));  // bytes of a long double
  });
}

bool Layout::isMixed() const {
  return std::ranges::any_of(atoms, [&](Atom atom) { return atom.scalar != atoms[0].scalar; });
}

Layout Layout::predefined(Kind kind) {
  Layout layout = ofElements("", kind, {}, {0}, 1, [kind] { return handleOf(kind); });
  layout.name = rowOf(kind).name;
  layout.is_predefined = true;
  return layout;
}

Layout Layout::contiguous(int count, Kind kind) {
  std::vector<int> places;
  for (int i = 0; i < count; ++i)
    places.push_back(i);
  return ofElements("contiguous", kind, {count}, places, 0, [=] {
    MPI_Datatype type;
    MPI_Type_contiguous(count, handleOf(kind), &type);
    return type;
  });
}

Layout Layout::vector(int count, int length, int stride, Kind kind) {
  std::vector<int> places;
  for (int run = 0; run < count; ++run)
    for (int i = 0; i < length; ++i)
      places.push_back(run * stride + i);
  return ofElements("vector", kind, {count, length, stride}, places, 0, [=] {
    MPI_Datatype type;
    MPI_Type_vector(count, length, stride, handleOf(kind), &type);
    return type;
  });
}

Layout Layout::resized(int elements, Kind kind) {
  return ofElements("resized", kind, {elements}, {0}, elements, [=] {
    MPI_Datatype type;
    MPI_Type_create_resized(handleOf(kind), 0, bytesOf(kind, elements), &type);
    return type;
  });
}

Layout Layout::around(Kind kind) {
  return ofElements("around", kind, {}, {-2, 1}, 6, [=] {
    const MPI_Aint displacements[2] = {bytesOf(kind, -2), bytesOf(kind, 1)};
    MPI_Datatype type;
    MPI_Type_create_hindexed_block(2, 1, displacements, handleOf(kind), &type);
    return resize(type, bytesOf(kind, -3), bytesOf(kind, 6));
  });
}

Layout Layout::nested(int count, Kind kind) {
  std::vector<int> places;
  for (int i = 0; i < count; ++i)
    places.insert(places.end(), {4 * i, 4 * i + 2});
  return ofElements("nested", kind, {count}, places, 0, [=] {
    MPI_Datatype inner, type;
    MPI_Type_vector(2, 1, 2, handleOf(kind), &inner);
    MPI_Type_create_hvector(count, 1, bytesOf(kind, 4), inner, &type);
    MPI_Type_free(&inner);
    return type;
  });
}

Layout Layout::structure(int hole, int tail) {
  Layout layout;
  layout.name = "struct(" + std::to_string(hole) + " " + std::to_string(tail) + ")";
  layout.atoms = {
      {0, Scalar::kUint8}, {8 + hole, Scalar::kInt32}, {16 + 2 * hole, Scalar::kDouble}};
  layout.highest = 24 + 2 * hole;
  layout.extent = layout.highest + tail;
  layout.construct = [atoms = layout.atoms, extent = layout.extent] {
    const int lengths[3] = {1, 1, 1};
    const MPI_Aint displacements[3] = {atoms[0].offset, atoms[1].offset, atoms[2].offset};
    const MPI_Datatype types[3] = {MPI_UINT8_T, MPI_INT, MPI_DOUBLE};
    MPI_Datatype type;
    MPI_Type_create_struct(3, lengths, displacements, types, &type);
    return resize(type, 0, extent);
  };
  return layout;
}

MPI_Datatype Layout::make(MPI_Aint shift) const {
  MPI_Datatype type = construct();
  if (shift != 0) {
    MPI_Datatype shifted;
    MPI_Type_create_hindexed_block(1, 1, &shift, type, &shifted);
    if (!is_predefined) MPI_Type_free(&type);
    type = shifted;
  }
  if (shift != 0 || !is_predefined) MPI_Type_commit(&type);
  return type;
}

std::vector<Layout> drawSpellings(Random& random) {
  static const std::vector<Kind> kinds = {Kind::kByte, Kind::kInt16, Kind::kInt32, Kind::kDouble,
                                          Kind::kUint64};
  const Kind kind = random.pick(kinds);
  // Most programs use predefined types most of the time.
  if (random.chance(50)) return {Layout::predefined(kind)};
  if (random.chance(15))
    return {Layout::structure(0, 0), Layout::structure(8, 0), Layout::structure(16, 8)};
  std::vector<Layout> all = {Layout::predefined(kind),
                             Layout::contiguous(random.between(2, 4), kind),
                             Layout::vector(2, 1, random.between(2, 3), kind),
                             Layout::vector(2, 2, 3, kind),
                             Layout::resized(random.between(2, 3), kind),
                             Layout::around(kind),
                             Layout::nested(2, kind)};
  random.shuffle(all);
  all.erase(all.begin() + random.between(1, 3), all.end());
  return all;
}

}  // namespace mpi_calls
