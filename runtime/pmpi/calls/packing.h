// Packing: copies of data whose elements have gaps, another order, or a place within the result.
//
// A collective that moves data does not interpret them, and MPI allows every rank its own datatype.
// So torc serves it as a collective of bytes, whose number is the same on all ranks. If the
// program's elements are not contiguous, they are packed before the start and unpacked at the end.
//
// A user-defined operation on a derived datatype expects elements with their gaps. So copies for a
// reduction have the gaps, too, with undefined bytes; only data of the result are written to the
// program's memory.
#ifndef TORC_RUNTIME_PMPI_CALLS_PACKING_H_
#define TORC_RUNTIME_PMPI_CALLS_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include "runtime/collectives/call.h"
#include "runtime/collectives/pair_blocks.h"
#include "runtime/non_copyable.h"
#include "runtime/transport/data_memory.h"
#include "runtime/transport/transport.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

class Packing : NonCopyable {
 public:
  /// Makes the copies that `call`, the checked form of `arguments` on rank `rank` of `ranks`,
  /// needs, and points its buffers at them. Throws std::bad_alloc.
  void prepare(const CallArguments& arguments, int rank, int ranks, Call& call);

  /// Before each start: packs the caller's contribution, if needed.
  Status pack();
  /// After each completion: unpacks the result, if needed; of `shorter` blocks only the received
  /// bytes.
  Status unpack(std::span<const ShortMessage> shorter = {});

 private:
  /// Elements of the program: `count` of them, from `data` on, which may be MPI_BOTTOM.
  struct Elements {
    std::byte* data = nullptr;
    std::int64_t count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::int64_t offset = 0;  // bytes, in the copy
    std::int64_t rest = 0;    // bytes of a last, incomplete element
  };
  template <typename Visit>
  static void forEachBlock(const CallArguments& arguments, std::byte* whole, int ranks,
                           const Call& call, Visit visit);
  static Elements elementsIn(std::byte* data, std::int64_t bytes, MPI_Datatype type,
                             std::int64_t offset);
  static std::vector<Elements> elementsOf(const PairBlocks& of, int blocks,
                                          const std::vector<std::uint64_t>& lengths);
  int unpackRest(const Elements& block);
  void preparePairs(const CallArguments& arguments, int blocks, Call& call);
  void takeContribution(const CallArguments& arguments, int rank, int ranks, const Call& call);
  void prepareOut(const CallArguments& arguments, int rank, int ranks, Call& call);
  void prepareReduction(const CallArguments& arguments, Call& call);

  DataMemory in_, out_;
  std::vector<Elements> contributions_;  // elements to be packed
  DataMemory* packed_ = nullptr;         // destination of packing: one of the two; null: none
  std::vector<Elements> results_;
  // Of a reduction, whose copies keep the gaps of elements:
  std::int64_t contributed_from_ = 0, contributed_bytes_ = 0;  // of the contribution
  DataMemory data_;                                            // of the result, without gaps
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_PACKING_H_
