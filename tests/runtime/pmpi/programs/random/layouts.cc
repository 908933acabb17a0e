#include "tests/runtime/pmpi/programs/random/layouts.h"

#include <algorithm>
#include <cstring>

namespace programs {
namespace {

struct KindRow {
  const char* name;
  MPI_Datatype handle;
  int size;
};

KindRow rowOf(Kind kind) {
  switch (kind) {
    case Kind::kByte:
      return {"MPI_BYTE", MPI_BYTE, 1};
    case Kind::kUint8:
      return {"MPI_UINT8_T", MPI_UINT8_T, 1};
    case Kind::kInt16:
      return {"MPI_INT16_T", MPI_INT16_T, 2};
    case Kind::kInt32:
      return {"MPI_INT", MPI_INT, 4};
    case Kind::kUint32:
      return {"MPI_UINT32_T", MPI_UINT32_T, 4};
    case Kind::kInt64:
      return {"MPI_INT64_T", MPI_INT64_T, 8};
    case Kind::kUint64:
      return {"MPI_UINT64_T", MPI_UINT64_T, 8};
    case Kind::kFloat:
      return {"MPI_FLOAT", MPI_FLOAT, 4};
    case Kind::kDouble:
      return {"MPI_DOUBLE", MPI_DOUBLE, 8};
  }
  return {"", MPI_DATATYPE_NULL, 1};
}

MPI_Aint bytesOf(Kind kind, int atoms) {
  return static_cast<MPI_Aint>(sizeOf(kind)) * atoms;
}

Layout begin(Layout::Make made, Kind kind, int a = 1, int b = 1, int c = 1) {
  Layout layout;
  layout.made = made;
  layout.kind = kind;
  layout.a = a;
  layout.b = b;
  layout.c = c;
  return layout;
}

/// Fills in what follows from the atoms.
Layout finish(Layout layout, std::string name) {
  layout.name = std::move(name);
  layout.lowest = layout.atoms.front().offset;
  layout.highest = layout.lowest;
  for (const Atom& atom : layout.atoms) {
    layout.lowest = std::min(layout.lowest, atom.offset);
    layout.highest = std::max(layout.highest, atom.offset + sizeOf(atom.kind));
  }
  if (layout.extent == 0) layout.extent = layout.highest;
  return layout;
}

std::string nameOf(const char* constructor, std::initializer_list<int> numbers, Kind kind) {
  std::string name = std::string(constructor) + "(";
  for (const int number : numbers)
    name += std::to_string(number) + " ";
  return name + rowOf(kind).name + ")";
}

MPI_Datatype resize(MPI_Datatype type, MPI_Aint lower, MPI_Aint extent) {
  MPI_Datatype resized;
  MPI_Type_create_resized(type, lower, extent, &resized);
  MPI_Type_free(&type);
  return resized;
}

template <typename T>
void put(int64_t value, unsigned char* at) {
  const T stored = static_cast<T>(value);
  std::memcpy(at, &stored, sizeof stored);
}

}  // namespace

MPI_Datatype handleOf(Kind kind) {
  return rowOf(kind).handle;
}

int sizeOf(Kind kind) {
  return rowOf(kind).size;
}

int64_t narrow(Kind kind, int64_t value) {
  switch (kind) {
    case Kind::kByte:
    case Kind::kUint8:
      return static_cast<uint8_t>(value);
    case Kind::kInt16:
      return static_cast<int16_t>(value);
    case Kind::kInt32:
      return static_cast<int32_t>(value);
    case Kind::kUint32:
      return static_cast<uint32_t>(value);
    case Kind::kFloat:
      // Whole numbers that a float holds exactly.
      return value % (1 << 24);
    case Kind::kDouble:
      return value % (int64_t{1} << 52);
    default:
      return value;
  }
}

void storeAtom(Kind kind, int64_t value, unsigned char* at) {
  switch (kind) {
    case Kind::kByte:
    case Kind::kUint8:
      return put<uint8_t>(value, at);
    case Kind::kInt16:
      return put<int16_t>(value, at);
    case Kind::kInt32:
      return put<int32_t>(value, at);
    case Kind::kUint32:
      return put<uint32_t>(value, at);
    case Kind::kInt64:
    case Kind::kUint64:
      return put<int64_t>(value, at);
    case Kind::kFloat:
      return put<float>(value, at);
    case Kind::kDouble:
      return put<double>(value, at);
  }
}

Layout Layout::predefined(Kind kind) {
  Layout layout = begin(Make::kPredefined, kind);
  layout.atoms = {{0, kind}};
  return finish(std::move(layout), rowOf(kind).name);
}

Layout Layout::pair() {
  Layout layout = begin(Make::kPair, Kind::kInt32);
  layout.atoms = {{0, Kind::kInt32}, {4, Kind::kInt32}};
  return finish(std::move(layout), "MPI_2INT");
}

Layout Layout::contiguous(int count, Kind kind) {
  Layout layout = begin(Make::kContiguous, kind, count);
  for (int i = 0; i < count; ++i)
    layout.atoms.push_back({bytesOf(kind, i), kind});
  return finish(std::move(layout), nameOf("contiguous", {count}, kind));
}

Layout Layout::vector(int count, int length, int stride, Kind kind) {
  Layout layout = begin(Make::kVector, kind, count, length, stride);
  for (int run = 0; run < count; ++run)
    for (int i = 0; i < length; ++i)
      layout.atoms.push_back({bytesOf(kind, run * stride + i), kind});
  return finish(std::move(layout), nameOf("vector", {count, length, stride}, kind));
}

Layout Layout::resized(int atoms, Kind kind) {
  Layout layout = begin(Make::kResized, kind, atoms);
  layout.atoms = {{0, kind}};
  layout.extent = bytesOf(kind, atoms);
  return finish(std::move(layout), nameOf("resized", {atoms}, kind));
}

Layout Layout::around(Kind kind) {
  Layout layout = begin(Make::kAround, kind);
  layout.atoms = {{bytesOf(kind, -2), kind}, {bytesOf(kind, 1), kind}};
  layout.extent = bytesOf(kind, 6);
  return finish(std::move(layout), nameOf("around", {}, kind));
}

Layout Layout::nested(int count, Kind kind) {
  Layout layout = begin(Make::kNested, kind, count);
  for (int i = 0; i < count; ++i)
    for (const int atom : {0, 2})
      layout.atoms.push_back({bytesOf(kind, 4 * i + atom), kind});
  return finish(std::move(layout), nameOf("nested", {count}, kind));
}

Layout Layout::structure(int hole, int tail) {
  Layout layout = begin(Make::kStruct, Kind::kByte, hole, tail);
  layout.atoms = {{0, Kind::kUint8}, {8 + hole, Kind::kInt32}, {16 + 2 * hole, Kind::kDouble}};
  layout.extent = 24 + 2 * hole + tail;
  return finish(std::move(layout),
                "struct(" + std::to_string(hole) + " " + std::to_string(tail) + ")");
}

MPI_Datatype Layout::makeUnshifted() const {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Datatype atom = handleOf(kind);
  switch (made) {
    case Make::kPredefined:
      return atom;
    case Make::kPair:
      return MPI_2INT;
    case Make::kContiguous:
      MPI_Type_contiguous(a, atom, &type);
      return type;
    case Make::kVector:
      MPI_Type_vector(a, b, c, atom, &type);
      return type;
    case Make::kResized:
      MPI_Type_create_resized(atom, 0, extent, &type);
      return type;
    case Make::kAround: {
      const MPI_Aint displacements[2] = {atoms[0].offset, atoms[1].offset};
      MPI_Type_create_hindexed_block(2, 1, displacements, atom, &type);
      return resize(type, bytesOf(kind, -3), extent);
    }
    case Make::kNested: {
      MPI_Datatype inner;
      MPI_Type_vector(2, 1, 2, atom, &inner);
      MPI_Type_create_hvector(a, 1, bytesOf(kind, 4), inner, &type);
      MPI_Type_free(&inner);
      return type;
    }
    case Make::kStruct: {
      const int lengths[3] = {1, 1, 1};
      const MPI_Aint displacements[3] = {atoms[0].offset, atoms[1].offset, atoms[2].offset};
      const MPI_Datatype types[3] = {MPI_UINT8_T, MPI_INT, MPI_DOUBLE};
      MPI_Type_create_struct(3, lengths, displacements, types, &type);
      return resize(type, 0, extent);
    }
  }
  return type;
}

MPI_Datatype Layout::make(MPI_Aint shift) const {
  MPI_Datatype type = makeUnshifted();
  if (shift != 0) {
    MPI_Datatype shifted;
    MPI_Type_create_hindexed_block(1, 1, &shift, type, &shifted);
    if (!isPredefined()) MPI_Type_free(&type);
    type = shifted;
  }
  if (shift != 0 || !isPredefined()) MPI_Type_commit(&type);
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

}  // namespace programs
