// A buffer of a program, with its expected contents after a call, gaps and surroundings included.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_MEMORY_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_MEMORY_H_

#include <cstdint>
#include <vector>

#include "tests/runtime/pmpi/mpi_calls/layouts.h"

namespace mpi_calls {

class Memory {
 public:
  static constexpr int64_t kNowhere = INT64_MIN;

  /// Offsets `low` .. `high` - 1 are used; there is a margin on both sides.
  Memory(int64_t low, int64_t high);

  /// Offset 0, passed to MPI. A multiple of 16.
  unsigned char* address() { return actual_.data() + origin_; }

  /// Sets every byte to a filling that depends on `key` and its place.
  void fill(uint64_t key);

  /// Puts atoms: `elements` elements from offset `at` on; atom i has value(i).
  template <typename Values>
  void put(const Layout& layout, int64_t at, int64_t elements, const Values& value) {
    store(actual_, layout, at, elements, value);
    store(expected_, layout, at, elements, value);
  }
  /// Expects them afterwards.
  template <typename Values>
  void expect(const Layout& layout, int64_t at, int64_t elements, const Values& value) {
    store(expected_, layout, at, elements, value);
  }
  /// These atoms may get any value.
  void leaveOpen(const Layout& layout, int64_t at, int64_t elements);

  /// The first offset with an unexpected value, or kNowhere.
  int64_t firstDifference() const;
  /// Of every byte, except for those left open.
  uint64_t hash() const;

 private:
  template <typename Values>
  void store(std::vector<unsigned char>& image, const Layout& layout, int64_t at, int64_t elements,
             const Values& value) {
    int64_t number = 0;
    unsigned char* element = image.data() + origin_ + at;
    for (int64_t i = 0; i < elements; ++i, element += layout.extent)
      for (const Atom& atom : layout.atoms)
        mpi_calls::store(atom.scalar, narrow(atom.scalar, value(number++)), element + atom.offset);
    for (const MPI_Aint byte : layout.padding)
      open(at + byte, layout.extent, elements, 1);
  }
  void open(int64_t at, int64_t step, int64_t times, int bytes);

  int64_t origin_ = 0;
  std::vector<unsigned char> actual_, expected_;
  std::vector<bool> open_;  // empty: none
};

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_MEMORY_H_
