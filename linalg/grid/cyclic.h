// One dimension of a matrix, distributed in blocks over a line of processes, as in ScaLAPACK: block
// 0 goes to process `first`, block 1 to the next.
#ifndef TORC_LINALG_GRID_CYCLIC_H_
#define TORC_LINALG_GRID_CYCLIC_H_

#include <cstdint>

namespace torc::linalg {

struct Cyclic {
  std::int64_t size = 0;  // total number of indices
  std::int64_t block = 1;
  int processes = 1;
  int first = 0;

  /// The process that owns index `global`.
  int owner(std::int64_t global) const {
    return static_cast<int>((global / block + first) % processes);
  }

  /// The place of index `global` on its owner.
  std::int64_t local(std::int64_t global) const {
    return global / (block * processes) * block + global % block;
  }

  /// The number of indices below `end` on `process`: the local place of the first one not below.
  std::int64_t before(int process, std::int64_t end) const {
    const std::int64_t turn = (process - first + processes) % processes;
    const std::int64_t blocks = end / block;
    const std::int64_t extra = blocks % processes;
    return blocks / processes * block + (turn < extra ? block : (turn == extra ? end % block : 0));
  }

  /// The number of indices on `process`; ScaLAPACK's numroc.
  std::int64_t count(int process) const { return before(process, size); }

  /// The largest number of indices of a process.
  std::int64_t most() const { return count(first); }

  /// The index at place `local` of `process`.
  std::int64_t global(int process, std::int64_t local) const {
    const std::int64_t turn = (process - first + processes) % processes;
    return (local / block * processes + turn) * block + local % block;
  }
};

}  // namespace torc::linalg

#endif  // TORC_LINALG_GRID_CYCLIC_H_
