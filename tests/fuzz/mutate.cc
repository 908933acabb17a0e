// Makes mutants.
#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace torc::fuzz {

Mutator::Mutator(std::vector<Bytes> corpus, std::uint64_t seed, std::vector<Bytes> words)
    : corpus_(std::move(corpus)), words_(std::move(words)), random_(seed) {}

Bytes Mutator::next() {
  Bytes bytes = pick();
  for (std::uint64_t changes = 1 + random_.below(4); changes > 0; --changes)
    change(bytes);
  return bytes;
}

void Mutator::change(Bytes& bytes) {
  if (bytes.empty()) return extend(bytes);
  if (!words_.empty() && random_.oneIn(4)) {
    return insert(bytes, words_[random_.below(words_.size())]);
  }
  switch (random_.below(10)) {
    case 0:
    case 1:
      return flipBit(bytes);
    case 2:
      return setByte(bytes);
    case 3:
      return truncate(bytes);
    case 4:
      return extend(bytes);
    case 5:
      return erase(bytes);
    case 6:
      return splice(bytes, pick());
    case 7: {
      const auto own = piece(bytes);
      return insert(bytes, Bytes(own.begin(), own.end()));
    }
    default:
      return changeInteger(bytes);
  }
}

void Mutator::flipBit(Bytes& bytes) {
  bytes[random_.below(bytes.size())] ^= std::byte{1} << random_.below(8);
}

void Mutator::setByte(Bytes& bytes) {
  bytes[random_.below(bytes.size())] = static_cast<std::byte>(random_.below(256));
}

void Mutator::truncate(Bytes& bytes) {
  bytes.resize(random_.below(bytes.size()));
}

void Mutator::extend(Bytes& bytes) {
  const bool zeros = random_.oneIn(2);
  for (std::uint64_t count = 1 + random_.below(16); count > 0; --count) {
    bytes.push_back(zeros ? std::byte{} : static_cast<std::byte>(random_.below(256)));
  }
}

void Mutator::erase(Bytes& bytes) {
  const auto gone = piece(bytes);
  const auto begin = bytes.begin() + (gone.data() - bytes.data());
  bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(gone.size()));
}

/// Replaces a piece by one of `from`: of the same place, or of any.
void Mutator::splice(Bytes& bytes, std::span<const std::byte> from) {
  const auto source = piece(from);
  const std::uint64_t place = random_.oneIn(2)
                                  ? static_cast<std::uint64_t>(source.data() - from.data())
                                  : random_.below(bytes.size());
  if (place >= bytes.size()) return insert(bytes, source);
  const std::size_t length = std::min(source.size(), bytes.size() - place);
  std::memmove(bytes.data() + place, source.data(), length);
}

void Mutator::insert(Bytes& bytes, std::span<const std::byte> piece) {
  const auto place = static_cast<std::ptrdiff_t>(random_.below(bytes.size() + 1));
  bytes.insert(bytes.begin() + place, piece.begin(), piece.end());
}

std::span<const std::byte> Mutator::piece(std::span<const std::byte> bytes) {
  const std::uint64_t begin = random_.below(bytes.size());
  const std::uint64_t longest = random_.oneIn(4) ? bytes.size() : std::uint64_t{80};
  const std::uint64_t length = 1 + random_.below(std::min(longest, bytes.size() - begin));
  return bytes.subspan(begin, length);
}

std::uint64_t Mutator::interestingInteger() {
  constexpr std::uint64_t kEdges[] = {0x7f,       0x80,       0xff,       0x7fff,
                                      0xffff,     0x10000,    0x7fffffff, 0x80000000,
                                      0xfffffffe, 0xffffffff, 1ull << 32, 0x7fffffffffffffff,
                                      1ull << 63, ~0ull};
  switch (random_.below(4)) {
    case 0:
      return kEdges[random_.below(std::size(kEdges))];
    case 1:
      return std::uint64_t{1} << random_.below(64);
    default:
      return random_.below(20);
  }
}

void Mutator::changeInteger(Bytes& bytes) {
  const std::size_t width = std::size_t{1} << random_.below(4);
  if (bytes.size() < width) return setByte(bytes);
  const std::uint64_t places = bytes.size() / width;
  std::byte* const place = bytes.data() + random_.below(places) * width;
  std::uint64_t value = 0;
  switch (random_.below(4)) {
    case 0:
      std::memcpy(&value, bytes.data() + random_.below(places) * width, width);
      break;
    case 1:
      std::memcpy(&value, place, width);
      value += random_.oneIn(2) ? 1 : -1;
      break;
    default:
      value = interestingInteger();
  }
  std::memcpy(place, &value, width);
}

namespace {

std::uint64_t numberFromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

std::uint64_t mutantCount(std::uint64_t otherwise) {
  return numberFromEnvironment("TORC_FUZZ_MUTANTS", otherwise);
}

std::uint64_t fuzzSeed() {
  return numberFromEnvironment("TORC_FUZZ_SEED", 1);
}

}  // namespace torc::fuzz
