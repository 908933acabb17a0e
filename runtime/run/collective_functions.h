// The torc and MPI functions of a collective.
#ifndef TORC_RUNTIME_RUN_COLLECTIVE_FUNCTIONS_H_
#define TORC_RUNTIME_RUN_COLLECTIVE_FUNCTIONS_H_

#include <cstdint>
#include <vector>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "schedules/collective.h"

namespace torc::runtime {

/// Lists of blocks, in elements.
template <typename Count>
struct BlockLists {
  std::vector<Count> counts, displacements;
};

/// One rank's arguments of a call: each function uses those that it has parameters for.
struct FunctionArguments {
  Collective collective = Collective::kAllreduce;
  int own_block = 0;       // number of the rank's own block in lists
  bool has_lists = false;  // use the function for blocks of different lengths, if there is one
  const void* in = nullptr;
  const void* in_apart = nullptr;  // contribution for calls that are not in place
  void* out = nullptr;
  std::uint64_t elements = 0;  // of the whole vector
  BlockLists<std::int64_t> blocks;
  BlockLists<int> int_blocks;  // the same
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
};

/// Creates torc's collective; returns a code of torc.h.
int initTorc(const FunctionArguments& arguments, torc_schedule* schedule,
             torc_collective** collective);

/// Calls MPI's function; returns its error code.
int callMpi(const FunctionArguments& arguments, MPI_Comm comm);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_COLLECTIVE_FUNCTIONS_H_
