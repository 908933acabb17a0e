// Calls of the C API, made and checked like a program's MPI calls: every byte of every buffer, by
// the definition of the collective (tests/runtime/pmpi/mpi_calls).
#ifndef TORC_TESTS_MPI_API_CALLS_H_
#define TORC_TESTS_MPI_API_CALLS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "runtime/api/torc.h"
#include "tests/runtime/pmpi/mpi_calls/call.h"

namespace torc::runtime {

/// Functions of the C API: "reduce_scatter_block" stands for torc_reduce_scatter_block_init.
const std::vector<mpi_calls::Collective>& apiFunctions();
const mpi_calls::Collective& apiFunction(std::string_view stem);

/// About `count` elements; each number `turn` has other types and operations.
mpi_calls::Shape shapeOf(const mpi_calls::Collective& function, std::int64_t count, int turn = 0);

/// Makes the call by this schedule; two rounds of it, unless it is in place.
void expectRight(torc_schedule* schedule, const mpi_calls::Communicator& on,
                 mpi_calls::Shape shape);

}  // namespace torc::runtime

#endif  // TORC_TESTS_MPI_API_CALLS_H_
