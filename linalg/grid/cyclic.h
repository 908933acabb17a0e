// One dimension of a matrix, dealt to the processes of a line in blocks, as ScaLAPACK does: block 0
// goes to process `first`, block 1 to the next.
#ifndef TORC_LINALG_GRID_CYCLIC_H_
#define TORC_LINALG_GRID_CYCLIC_H_

#include <cstdint>

namespace torc::linalg {

struct Cyclic {
  std::int64_t size = 0;  // indices in all
  std::int64_t block = 1;
  int processes = 1;
  int first = 0;

  /// The process that has index `global`.
  int owner(std::int64_t global) const {
    return static_cast<int>((global / block + first) % processes);
  }

  /// The place of index `global` on its owner.
  std::int64_t local(std::int64_t global) const {
    return global / (block * processes) * block + global % block;
  }

  /// How many of the indices below `end` are on `process`: the place of the first that is not.
  std::int64_t before(int process, std::int64_t end) const {
    const std::int64_t turn = (process - first + processes) % processes;
    const std::int64_t blocks = end / block;
    const std::int64_t extra = blocks % processes;
    return blocks / processes * block + (turn < extra ? block : (turn == extra ? end % block : 0));
  }

  /// How many indices are on `process`; ScaLAPACK's numroc.
  std::int64_t count(int process) const { return before(process, size); }

  /// The most that a process has.
  std::int64_t most() const { return count(first); }

  /// The index at place `local` of `process`.
  std::int64_t global(int process, std::int64_t local) const {
    const std::int64_t turn = (process - first + processes) % processes;
    return (local / block * processes + turn) * block + local % block;
  }
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_GRID_CYCLIC_H_
