// Arguments of a served call in the form that the runtime takes: counts 64 bits wide, the blocks of
// an allgather as bytes.
//
// An allgather moves data without looking at it, and MPI lets every rank describe its data in its
// own way. So it is served as one of bytes, whose number all ranks agree on. Where the program's
// elements are not just bytes in a row, they are packed before the start and unpacked at the end.
#ifndef TORC_RUNTIME_PMPI_CALLS_PREPARED_ARGUMENTS_H_
#define TORC_RUNTIME_PMPI_CALLS_PREPARED_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <mpi.h>

#include "runtime/execution/call.h"
#include "runtime/pmpi/calls/collective_call.h"
#include "support/status.h"

namespace torc::pmpi {

class PreparedArguments {
 public:
  PreparedArguments() = default;
  PreparedArguments(const PreparedArguments&) = delete;
  PreparedArguments& operator=(const PreparedArguments&) = delete;

  /// For a call that `checkArguments` has let through. Throws std::bad_alloc.
  void prepare(const CollectiveCall& call, int rank, int size);

  /// Refer to this object and to the program's buffers.
  const CallArguments& arguments() const { return arguments_; }

  /// Before each start: packs the caller's own block, if need be.
  Status pack();
  /// After each completion: unpacks all blocks, if need be.
  Status unpack();

 private:
  void prepareAllgather(const CollectiveCall& call, int rank, int size);

  CallArguments arguments_;
  std::vector<std::int64_t> counts_, displacements_;

  /// Elements of the program and their copy as bytes.
  struct Packed {
    std::unique_ptr<std::byte[]> bytes;  // null: not packed
    std::int64_t length = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };
  Packed own_;
  const void* own_data_ = nullptr;
  std::int64_t own_count_ = 0;

  struct Block {
    std::byte* data;
    std::int64_t count;
    std::int64_t offset;  // in the copy
  };
  Packed all_;
  std::vector<Block> blocks_;
};

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_PREPARED_ARGUMENTS_H_
