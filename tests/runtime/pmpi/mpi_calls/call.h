// One rank's part of a collective call: its buffers, its arguments, and the expected contents of
// the buffers afterwards.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_CALL_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_CALL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/communicators.h"
#include "tests/runtime/pmpi/mpi_calls/memory.h"
#include "tests/runtime/pmpi/mpi_calls/shape.h"

namespace mpi_calls {

/// A run of elements in a buffer.
struct Block {
  const Layout* layout = nullptr;
  int64_t elements = 0;
  int64_t at = 0;            // bytes from the buffer's address
  int source = 0, dest = 0;  // ranks of MPI_COMM_WORLD, which determine its data
};

/// A buffer argument: one block, or one for each rank or neighbour. Without blocks this rank does
/// not use it; some ranks then pass memory, which must not change, and others none.
struct Side {
  std::shared_ptr<Memory> memory{};
  std::vector<Block> blocks{};
  bool for_each = false;
  /// The displacements are addresses, and the buffer is MPI_BOTTOM.
  bool is_addressed = false;

  bool isUsed() const { return !blocks.empty(); }
};

/// Bytes from a buffer's address: low .. high - 1.
struct Extent {
  int64_t low = 0, high = 0;

  void include(const Block& block);
  bool overlaps(Extent other) const { return low < other.high && other.low < high; }
};

/// Neither movable nor copyable: MPI holds addresses in it.
class Call {
 public:
  Call(const Shape& shape, const Communicator& communicator);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  /// Frees the persistent request, if any.
  ~Call();

  /// Fills the buffers for the next round. A persistent call is initialised the first time.
  void prepare();
  /// Prepares, and calls or starts; a blocking call is then complete.
  void start();
  /// After completion: every byte of both buffers.
  void verify();
  /// start, wait, verify.
  void run();
  /// Gives the persistent request back, before the destructor does.
  void freeRequest();

  const Shape& shape() const { return shape_; }
  bool isPersistent() const { return shape_.isPersistent(); }
  /// The request to wait for: MPI_REQUEST_NULL after a blocking call.
  MPI_Request& request() { return request_; }
  const std::string& describe() const { return description_; }
  /// Of the bytes of both buffers in the last verified round.
  uint64_t hash();

 private:
  void findPeers(const Communicator& communicator);
  void findRoot(bool is_inter);
  int64_t unitsOf(int source, int dest) const;
  uint64_t dataKey(int source, int dest) const;
  std::vector<Side*> sides() { return {&in_, &out_}; }

  // Movements.
  const Layout& spelling(int side, int peer) const;
  Block block(int side, int number, int source, int dest) const;
  void layOutMovement();
  Extent place(Side& side, int64_t first) const;
  bool mayBeAddressed(const Side& side, int number) const;
  bool mayShare(Extent in) const;
  void passCounts(const Side& side, int number);
  void fillMovement();

  // Reductions.
  void layOutReduction();
  void fillReduction();
  /// Elements from `first` on, of the first `ranks` contributors combined.
  std::vector<int64_t> combined(int64_t first, int64_t elements, int ranks) const;

  void makeTypes();
  void freeArguments();
  int invoke();

  Shape shape_;
  std::string description_;
  int rank_ = 0, size_ = 1, world_rank_ = 0;
  bool is_inter_ = false;
  /// Ranks of MPI_COMM_WORLD that exchange data with this one, in the order of blocks: the members,
  /// the other group, or the neighbours (MPI_PROC_NULL: none).
  std::vector<int> peers_;
  std::vector<int> members_;
  int root_world_rank_ = 0;
  bool is_root_ = true;
  /// This rank's buffers, from the row.
  torc::Holds in_holds_ = torc::Holds::kNothing, out_holds_ = torc::Holds::kNothing;
  bool is_in_place_here_ = false;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool initialised_ = false;
  int round_ = 0;

  Side in_, out_;
  std::vector<int64_t> scattered_;  // elements that each rank gets of a reduction
  Arguments arguments_;
  std::vector<MPI_Datatype> made_types_;
  bool made_op_ = false;
};

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_CALL_H_
