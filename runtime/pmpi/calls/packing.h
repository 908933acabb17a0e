// Packing: copies of data that the program describes by elements with gaps, in another order, or
// within the result.
//
// A collective that moves data does it without looking at them, and MPI lets every rank describe
// its data in its own way. So it is served as one of bytes, whose number all ranks agree on. Where
// the program's elements are not just bytes in a row, they are packed before the start and unpacked
// at the end.
//
// An operation of the program's on a derived datatype gets elements as that lays them out. So
// copies for a reduction have the gaps, too, whose bytes are nobody's; of the result only data are
// written to the program's memory.
#ifndef TORC_RUNTIME_PMPI_CALLS_PACKING_H_
#define TORC_RUNTIME_PMPI_CALLS_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

#include "runtime/collectives/call.h"
#include "runtime/collectives/pair_blocks.h"
#include "runtime/transport/transport.h"
#include "schedules/collective.h"
#include "support/status.h"

namespace torc::runtime::pmpi {

class Packing {
 public:
  Packing() = default;
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;

  /// Makes the copies that `call`, which `arguments` has become on rank `rank` of `ranks`, is said
  /// to need, and points its buffers at them. Throws std::bad_alloc.
  void prepare(const CallArguments& arguments, int rank, int ranks, Call& call) {
    prepare(arguments, rowOf(call.collective), rank, ranks, call);
  }
  /// The same with the row of a collective, in place of that of the call.
  void prepare(const CallArguments& arguments, const CollectiveRow& row, int rank, int ranks,
               Call& call);

  /// Before each start: packs what the caller contributes, if need be.
  Status pack();
  /// After each completion: unpacks the result, if need be; of `shorter` blocks what has come.
  Status unpack(std::span<const ShortMessage> shorter = {});

 private:
  /// Elements of the program: `count` of them, from `data` on, which may be MPI_BOTTOM.
  struct Elements {
    std::byte* data = nullptr;
    std::int64_t count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::int64_t offset = 0;  // bytes, in the copy
    std::int64_t rest = 0;    // bytes of one element more, of which there are no others
  };
  struct Copy {
    std::unique_ptr<std::byte[]> bytes;  // null: there is none
    std::int64_t length = 0;

    void allocate(std::uint64_t bytes_of_data);
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
  void takeContribution(const CallArguments& arguments, const CollectiveRow& row, int rank,
                        int ranks, const Call& call);
  void prepareOut(const CallArguments& arguments, const CollectiveRow& row, int rank, int ranks,
                  Call& call);
  void prepareReduction(const CallArguments& arguments, Call& call);

  Copy in_, out_;
  std::vector<Elements> contributions_;  // what is packed
  Copy* packed_ = nullptr;               // where it is packed: one of the two; null: it is not
  std::vector<Elements> results_;
  // Of a reduction, whose copies are of elements as they are:
  std::int64_t contributed_from_ = 0, contributed_bytes_ = 0;  // of the contribution
  Copy data_;                                                  // of the result, without gaps
};

}  // namespace torc::runtime::pmpi

#endif  // TORC_RUNTIME_PMPI_CALLS_PACKING_H_
