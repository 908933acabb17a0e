// One rank's part of a collective call: its buffers, its arguments, and what must be in the buffers
// afterwards.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_CALL_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_CALL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/programs/activities/activity.h"
#include "tests/runtime/pmpi/programs/activities/communicators.h"
#include "tests/runtime/pmpi/programs/calls/shape.h"
#include "tests/runtime/pmpi/programs/random/memory.h"

namespace programs {

/// A run of elements in a buffer.
struct Block {
  const Layout* layout = nullptr;
  int64_t elements = 0;
  int64_t at = 0;            // bytes from the buffer's address
  int source = 0, dest = 0;  // ranks: what its data are
};

/// A buffer argument: one block, or one for each rank.
struct Side {
  std::shared_ptr<Memory> memory;  // null: not this rank's
  std::vector<Block> blocks;
  bool for_each_rank = false;
};

/// Bytes from a buffer's address: low .. high - 1.
struct Extent {
  int64_t low = 0, high = 0;

  void include(const Block& block);
  bool overlaps(Extent other) const { return low < other.high && other.low < high; }
};

class Call : public Activity {
 public:
  Call(const Shape& shape, const Communicator& communicator, int number);
  ~Call() override;

  /// Fills the buffers for the next round, and calls or starts. A blocking call is then complete,
  /// and checked.
  void start();
  void finish() override;
  bool isPersistent() const override { return shape_.form == Form::kPersistent; }
  std::string describe() const override { return description_; }
  /// Frees the persistent request.
  void freeRequest();

 private:
  bool isRoot() const { return rank_ == shape_.root; }

  // Movements.
  int64_t unitsOf(int source, int dest) const;
  const Layout& spelling(int side, int peer) const;
  Block block(int side, int peer, int source, int dest) const;
  void layOutMovement();
  Extent place(Side& side, int64_t first) const;
  bool mayShare(Extent in) const;
  void passCounts(const Side& side, int number);
  void fillMovement();
  uint64_t dataKey(int source, int dest) const;

  // Reductions.
  void layOutReduction();
  void fillReduction();
  /// Elements from `first` on, of ranks 0 .. `ranks` - 1 combined.
  std::vector<int64_t> combined(int64_t first, int64_t elements, int ranks) const;

  void makeTypes();
  void freeArguments();
  int invoke();

  Shape shape_;
  const int rank_, size_;
  const MPI_Comm comm_;
  const std::vector<int> members_;
  std::string description_;
  int round_ = 0;

  Side in_, out_;
  std::vector<int64_t> scattered_;  // elements that each rank gets of a reduction
  Arguments arguments_;
  std::vector<MPI_Datatype> made_types_;
  bool made_op_ = false;
};

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_CALL_H_
