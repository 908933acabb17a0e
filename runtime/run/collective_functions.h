// The function of torc and the one of MPI that a collective is called by.
#ifndef TORC_RUNTIME_RUN_COLLECTIVE_FUNCTIONS_H_
#define TORC_RUNTIME_RUN_COLLECTIVE_FUNCTIONS_H_

#include <cstdint>
#include <vector>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "schedules/collective.h"

namespace torc::runtime {

/// Of blocks, in elements.
template <typename Count>
struct BlockLists {
  std::vector<Count> counts, displacements;
};

/// One rank's part of a call: of functions each takes those that it has parameters for.
struct FunctionArguments {
  Collective collective = Collective::kAllreduce;
  int own_block = 0;       // number of the rank's own block in lists
  bool has_lists = false;  // by the function for blocks of different lengths, where there is one
  const void* in = nullptr;
  const void* in_apart = nullptr;  // the same where it is not in place
  void* out = nullptr;
  std::uint64_t elements = 0;  // of the whole vector
  BlockLists<std::int64_t> blocks;
  BlockLists<int> int_blocks;  // the same
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
};

/// Makes torc's collective: a code of torc.h.
int initTorc(const FunctionArguments& arguments, torc_schedule* schedule,
             torc_collective** collective);

/// Calls MPI's function: its error code.
int callMpi(const FunctionArguments& arguments, MPI_Comm comm);

}  // namespace torc::runtime

#endif  // TORC_RUNTIME_RUN_COLLECTIVE_FUNCTIONS_H_
