#include "tests/runtime/pmpi/mpi_calls/memory.h"

#include <algorithm>
#include <cstring>

namespace mpi_calls {
namespace {

constexpr int64_t kMargin = 64;

}  // namespace

Memory::Memory(int64_t low, int64_t high) {
  origin_ = (kMargin - std::min<int64_t>(low, 0) + 15) / 16 * 16;
  actual_.resize(static_cast<size_t>(origin_ + std::max<int64_t>(high, 0) + kMargin));
}

void Memory::fill(uint64_t key) {
  uint64_t byte = mix(key);
  for (unsigned char& at : actual_)
    at = static_cast<unsigned char>((byte += 37) >> 1);
  expected_ = actual_;
  open_.clear();
}

void Memory::open(int64_t at, int64_t step, int64_t times, int bytes) {
  open_.resize(actual_.size());
  for (int64_t i = 0; i < times; ++i)
    std::fill_n(open_.begin() + origin_ + at + i * step, bytes, true);
}

void Memory::leaveOpen(const Layout& layout, int64_t at, int64_t elements) {
  for (const Atom& atom : layout.atoms)
    open(at + atom.offset, layout.extent, elements, sizeOf(atom.scalar));
}

int64_t Memory::firstDifference() const {
  if (std::memcmp(actual_.data(), expected_.data(), actual_.size()) == 0) return kNowhere;
  for (size_t i = 0; i < actual_.size(); ++i)
    if (actual_[i] != expected_[i] && (open_.empty() || !open_[i]))
      return static_cast<int64_t>(i) - origin_;
  return kNowhere;
}

uint64_t Memory::hash() const {
  std::vector<unsigned char> known = actual_;
  for (size_t i = 0; i < open_.size(); ++i)
    if (open_[i]) known[i] = 0;
  return torc::hashBytes(std::as_bytes(std::span(known)));
}

}  // namespace mpi_calls
