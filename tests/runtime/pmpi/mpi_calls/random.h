// Numbers drawn from a seed, the same on every rank that has the same seed.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_RANDOM_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_RANDOM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "support/hash.h"

namespace mpi_calls {

/// Hashes several numbers to 64 bits.
template <typename... Numbers>
uint64_t mix(Numbers... numbers) {
  return torc::hashNumbers(numbers...);
}

/// A number for the data of a large buffer.
inline int64_t valueOf(uint64_t key, int64_t number) {
  const uint64_t product = (key + static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15u;
  return static_cast<int64_t>(product ^ product >> 29);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() { return mix(state_++); }
  /// 0 .. bound - 1.
  int below(int bound) { return static_cast<int>(next() % static_cast<uint64_t>(bound)); }
  /// first .. last.
  int between(int first, int last) { return first + below(last - first + 1); }
  bool chance(int percent) { return below(100) < percent; }

  template <typename T>
  T& pick(std::vector<T>& choices) {
    return choices[below(static_cast<int>(choices.size()))];
  }
  template <typename T>
  const T& pick(const std::vector<T>& choices) {
    return choices[below(static_cast<int>(choices.size()))];
  }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (int i = static_cast<int>(items.size()); i > 1; --i)
      std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_RANDOM_H_
