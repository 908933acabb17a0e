#include "tests/runtime/pmpi/conformance/element_types.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>

namespace conformance {
namespace {

struct DoubleInt {
  double value;
  int index;
};

struct TwoInts {
  int value;
  int index;
};

constexpr int64_t kMargin = 64;
constexpr unsigned char kFilling = 0xa5;

/// Bytes of an atom that carry its value; padding behind or inside them may become anything.
std::vector<bool> meaningfulBytes(Kind kind) {
  std::vector<bool> bytes(sizeOf(kind), true);
  if (kind == Kind::kDoubleInt) std::fill(bytes.begin() + 12, bytes.end(), false);
  if (kind == Kind::kLongDouble) std::fill(bytes.begin() + 10, bytes.end(), false);
  return bytes;
}

template <typename T>
void put(unsigned char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

void storeAtom(Kind kind, Value value, unsigned char* at) {
  switch (kind) {
    case Kind::kInt8:
      return put(at, static_cast<int8_t>(value.first));
    case Kind::kUint8:
    case Kind::kByte:
      return put(at, static_cast<uint8_t>(value.first));
    case Kind::kInt16:
      return put(at, static_cast<int16_t>(value.first));
    case Kind::kInt32:
      return put(at, static_cast<int32_t>(value.first));
    case Kind::kUint32:
      return put(at, static_cast<uint32_t>(value.first));
    case Kind::kInt64:
      return put(at, value.first);
    case Kind::kFloat:
      return put(at, static_cast<float>(value.first));
    case Kind::kDouble:
      return put(at, static_cast<double>(value.first));
    case Kind::kLongDouble: {
      // The ten bytes of the value only.
      const long double number = static_cast<long double>(value.first);
      std::memcpy(at, &number, 10);
      return;
    }
    case Kind::kComplex:
      return put(at, std::complex<double>(static_cast<double>(value.first),
                                          static_cast<double>(value.second)));
    case Kind::kBool:
      return put(at, value.first != 0);
    case Kind::kDoubleInt:
      put(at + offsetof(DoubleInt, value), static_cast<double>(value.first));
      put(at + offsetof(DoubleInt, index), static_cast<int>(value.second));
      return;
    case Kind::kTwoInts:
      put(at + offsetof(TwoInts, value), static_cast<int>(value.first));
      put(at + offsetof(TwoInts, index), static_cast<int>(value.second));
      return;
  }
}

struct KindInfo {
  const char* name;
  MPI_Datatype handle;
  size_t size;
};

KindInfo infoOf(Kind kind) {
  switch (kind) {
    case Kind::kInt8:
      return {"MPI_INT8_T", MPI_INT8_T, 1};
    case Kind::kUint8:
      return {"MPI_UINT8_T", MPI_UINT8_T, 1};
    case Kind::kInt16:
      return {"MPI_SHORT", MPI_SHORT, sizeof(short)};
    case Kind::kInt32:
      return {"MPI_INT", MPI_INT, sizeof(int)};
    case Kind::kUint32:
      return {"MPI_UNSIGNED", MPI_UNSIGNED, sizeof(unsigned)};
    case Kind::kInt64:
      return {"MPI_INT64_T", MPI_INT64_T, sizeof(int64_t)};
    case Kind::kFloat:
      return {"MPI_FLOAT", MPI_FLOAT, sizeof(float)};
    case Kind::kDouble:
      return {"MPI_DOUBLE", MPI_DOUBLE, sizeof(double)};
    case Kind::kLongDouble:
      return {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, sizeof(long double)};
    case Kind::kComplex:
      return {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, sizeof(std::complex<double>)};
    case Kind::kBool:
      return {"MPI_C_BOOL", MPI_C_BOOL, 1};
    case Kind::kByte:
      return {"MPI_BYTE", MPI_BYTE, 1};
    case Kind::kDoubleInt:
      return {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, sizeof(DoubleInt)};
    case Kind::kTwoInts:
      return {"MPI_2INT", MPI_2INT, sizeof(TwoInts)};
  }
  return {"", MPI_DATATYPE_NULL, 0};
}

MPI_Aint bytesOf(Kind kind, int atoms) {
  return static_cast<MPI_Aint>(sizeOf(kind)) * atoms;
}

/// `type` with other bounds; `type` itself is freed.
MPI_Datatype resize(MPI_Datatype type, MPI_Aint lower, MPI_Aint extent) {
  MPI_Datatype resized;
  MPI_Type_create_resized(type, lower, extent, &resized);
  MPI_Type_free(&type);
  return resized;
}

}  // namespace

const char* nameOf(Kind kind) {
  return infoOf(kind).name;
}

MPI_Datatype handleOf(Kind kind) {
  return infoOf(kind).handle;
}

size_t sizeOf(Kind kind) {
  return infoOf(kind).size;
}

Type::Type(std::string name, MPI_Datatype handle, std::vector<Atom> atoms, bool predefined)
    : name_(std::move(name)),
      handle_(handle),
      atoms_(std::move(atoms)),
      predefined_(predefined),
      dense_(true),
      lowest_(atoms_.front().offset),
      highest_(lowest_) {
  if (!predefined) MPI_Type_commit(&handle_);
  MPI_Aint lower = 0;
  MPI_Type_get_extent(handle_, &lower, &extent_);
  MPI_Aint occupied = 0;
  for (const Atom& atom : atoms_) {
    const MPI_Aint size = bytesOf(atom.kind, 1);
    lowest_ = std::min(lowest_, atom.offset);
    highest_ = std::max(highest_, atom.offset + size);
    occupied += size;
  }
  dense_ = lower == 0 && lowest_ == 0 && occupied == extent_;
}

Type::Type(Type&& other) noexcept
    : name_(std::move(other.name_)),
      handle_(std::exchange(other.handle_, MPI_DATATYPE_NULL)),
      atoms_(std::move(other.atoms_)),
      predefined_(other.predefined_),
      dense_(other.dense_),
      extent_(other.extent_),
      lowest_(other.lowest_),
      highest_(other.highest_) {}

Type& Type::operator=(Type&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(handle_, other.handle_);
  std::swap(atoms_, other.atoms_);
  std::swap(predefined_, other.predefined_);
  std::swap(dense_, other.dense_);
  std::swap(extent_, other.extent_);
  std::swap(lowest_, other.lowest_);
  std::swap(highest_, other.highest_);
  return *this;
}

Type::~Type() {
  if (!predefined_ && handle_ != MPI_DATATYPE_NULL) MPI_Type_free(&handle_);
}

Type Type::predefined(Kind kind) {
  return Type(nameOf(kind), handleOf(kind), {{0, kind}}, true);
}

Type Type::contiguous(int count, Kind kind) {
  MPI_Datatype handle;
  MPI_Type_contiguous(count, handleOf(kind), &handle);
  std::vector<Atom> atoms;
  for (int i = 0; i < count; ++i)
    atoms.push_back({bytesOf(kind, i), kind});
  return Type(std::string("contiguous of ") + nameOf(kind), handle, std::move(atoms), false);
}

Type Type::vector(int count, int length, int stride, Kind kind) {
  MPI_Datatype handle;
  MPI_Type_vector(count, length, stride, handleOf(kind), &handle);
  std::vector<Atom> atoms;
  for (int run = 0; run < count; ++run)
    for (int i = 0; i < length; ++i)
      atoms.push_back({bytesOf(kind, run * stride + i), kind});
  return Type(std::string("vector of ") + nameOf(kind), handle, std::move(atoms), false);
}

Type Type::resized(int atoms, Kind kind) {
  MPI_Datatype handle;
  MPI_Type_create_resized(handleOf(kind), 0, bytesOf(kind, atoms), &handle);
  return Type(std::string("resized ") + nameOf(kind), handle, {{0, kind}}, false);
}

Type Type::aroundOrigin(Kind kind) {
  const MPI_Aint displacements[2] = {bytesOf(kind, -2), bytesOf(kind, 1)};
  const int lengths[2] = {1, 1};
  MPI_Datatype handle;
  MPI_Type_create_hindexed(2, lengths, displacements, handleOf(kind), &handle);
  handle = resize(handle, bytesOf(kind, -3), bytesOf(kind, 6));
  return Type(std::string("both sides of the origin, ") + nameOf(kind), handle,
              {{displacements[0], kind}, {displacements[1], kind}}, false);
}

Type Type::structure(int hole, int tail) {
  const MPI_Aint displacements[3] = {0, 8 + hole, 16 + 2 * hole};
  const int lengths[3] = {1, 1, 1};
  const MPI_Datatype types[3] = {MPI_INT8_T, MPI_INT, MPI_DOUBLE};
  MPI_Datatype handle;
  MPI_Type_create_struct(3, lengths, displacements, types, &handle);
  handle = resize(handle, 0, displacements[2] + 8 + tail);
  return Type("struct with holes of " + std::to_string(hole) + " bytes", handle,
              {{displacements[0], Kind::kInt8},
               {displacements[1], Kind::kInt32},
               {displacements[2], Kind::kDouble}},
              false);
}

Type Type::nested(Kind kind) {
  // a a . a a . : one inner element of 5 atoms extent; three of them, 7 atoms apart.
  const Type inner = vector(2, 2, 3, kind);
  MPI_Datatype handle;
  MPI_Type_create_hvector(3, 1, bytesOf(kind, 7), inner.handle(), &handle);
  std::vector<Atom> atoms;
  for (int i = 0; i < 3; ++i)
    for (const Atom& atom : inner.atoms())
      atoms.push_back({bytesOf(kind, 7 * i) + atom.offset, kind});
  return Type(std::string("nested vectors of ") + nameOf(kind), handle, std::move(atoms), false);
}

Buffer::Buffer(const Type& type, int64_t elements) : type_(&type) {
  const int64_t last = std::max<int64_t>(elements - 1, 0) * type.extent();
  const int64_t low = std::min<int64_t>({0, type.lowest(), last + type.lowest()});
  const int64_t high = std::max<int64_t>({0, type.highest(), last + type.highest()});
  // Elements are aligned as MPI's types ask for: the origin is a multiple of 16.
  origin_ = (kMargin - low + 15) / 16 * 16;
  bytes_.resize(static_cast<size_t>(origin_ + high + kMargin));
  clear();
}

void Buffer::clear() {
  std::fill(bytes_.begin(), bytes_.end(), kFilling);
  open_.clear();
}

void Buffer::store(int64_t element, size_t atom, Value value) {
  const Atom& where = type_->atoms()[atom];
  storeAtom(where.kind, value, &bytes_[origin_ + element * type_->extent() + where.offset]);
}

void Buffer::leaveOpen(int64_t element, size_t atom) {
  const Atom& where = type_->atoms()[atom];
  if (open_.empty()) open_.resize(bytes_.size());
  std::memset(&open_[origin_ + element * type_->extent() + where.offset], 1, sizeOf(where.kind));
}

int64_t Buffer::firstDifference(const Buffer& expected) const {
  if (std::memcmp(bytes_.data(), expected.bytes_.data(), bytes_.size()) == 0) return kNowhere;
  // The padding of these atoms is nobody's.
  std::vector<unsigned char> open = expected.open_;
  for (const Atom& atom : type_->atoms()) {
    const std::vector<bool> meaningful = meaningfulBytes(atom.kind);
    for (size_t byte = 0; byte < meaningful.size(); ++byte) {
      if (meaningful[byte]) continue;
      open.resize(bytes_.size());
      for (int64_t at = origin_ + atom.offset + static_cast<int64_t>(byte);
           at + kMargin < static_cast<int64_t>(bytes_.size()); at += type_->extent())
        open[at] = 1;
    }
  }
  for (size_t i = 0; i < bytes_.size(); ++i)
    if (bytes_[i] != expected.bytes_[i] && (open.empty() || !open[i]))
      return static_cast<int64_t>(i) - origin_;
  return kNowhere;
}

}  // namespace conformance
