// Mutation of byte strings, for deterministic fuzz tests: the same seed gives the same mutants on
// every machine. It is independent of the meaning of the bytes, for texts and files alike.
#ifndef TORC_TESTS_FUZZ_MUTATE_H_
#define TORC_TESTS_FUZZ_MUTATE_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torc::fuzz {

using Bytes = std::vector<std::byte>;

inline Bytes toBytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
inline std::string_view toText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Words that are separated by `~`.
inline std::vector<Bytes> wordsOf(std::string_view text) {
  std::vector<Bytes> words;
  for (std::size_t begin = 0, end = 0; end != text.npos; begin = end + 1) {
    end = text.find('~', begin);
    words.push_back(toBytes(text.substr(begin, end - begin)));
  }
  return words;
}

/// Numbers of a standardised engine; the standard does not fix its distributions.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }
  /// In [0, bound); bound >= 1.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  bool oneIn(std::uint64_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

class Mutator {
 public:
  /// `corpus` holds the original inputs, none empty. `words` are inserted into some mutants
  /// (keywords of a text; may be empty).
  Mutator(std::vector<Bytes> corpus, std::uint64_t seed, std::vector<Bytes> words = {});

  /// A new mutant: an input of the corpus with one to four changes.
  Bytes next();
  /// One change to `bytes`.
  void change(Bytes& bytes);
  /// One change to `bytes`, without a change of length, to an aligned little-endian integer:
  /// another one of the same input, one off, or a critical value.
  void changeInteger(Bytes& bytes);

  const Bytes& pick() { return corpus_[random_.below(corpus_.size())]; }
  Random& random() { return random_; }

 private:
  void flipBit(Bytes& bytes);
  void setByte(Bytes& bytes);
  void truncate(Bytes& bytes);
  void extend(Bytes& bytes);
  void erase(Bytes& bytes);
  void splice(Bytes& bytes, std::span<const std::byte> from);
  void insert(Bytes& bytes, std::span<const std::byte> piece);
  std::uint64_t interestingInteger();
  /// A piece of `bytes`, mostly a short one.
  std::span<const std::byte> piece(std::span<const std::byte> bytes);

  std::vector<Bytes> corpus_;
  std::vector<Bytes> words_;
  Random random_;
};

/// Mutants that a test makes: TORC_FUZZ_MUTANTS, or `otherwise`.
std::uint64_t mutantCount(std::uint64_t otherwise);
/// The seed of a test: TORC_FUZZ_SEED, or 1.
std::uint64_t fuzzSeed();

/// The first fault that `fault_of` finds in `count` mutants made by `next`, with the mutant; empty:
/// there is none.
template <typename Next, typename FaultOf>
std::string firstFault(std::uint64_t count, Next next, FaultOf fault_of) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto mutant = next();
    if (const std::string fault = fault_of(mutant); !fault.empty()) {
      return "mutant " + std::to_string(i) + " of seed " + std::to_string(fuzzSeed()) + ": " +
             fault + "\nof\n" + std::string(toText(std::as_bytes(std::span(mutant))));
    }
  }
  return {};
}

}  // namespace torc::fuzz

#endif  // TORC_TESTS_FUZZ_MUTATE_H_
