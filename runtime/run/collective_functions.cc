// Functions by collective; their parameters determine the arguments. torc's functions have MPI's
// parameters, except for the schedule in front, wider counts, and a handle instead of the
// communicator.
#include "runtime/run/collective_functions.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

namespace torc::runtime {
namespace {

template <typename... Types>
struct Parameters {};

template <typename Count>
const BlockLists<Count>& blocksOf(const FunctionArguments& arguments) {
  if constexpr (std::is_same_v<Count, int>) {
    return arguments.int_blocks;
  } else {
    return arguments.blocks;
  }
}
template <typename Count>
const Count* counts(const FunctionArguments& arguments) {
  return blocksOf<Count>(arguments).counts.data();
}
template <typename Count>
const Count* displacements(const FunctionArguments& arguments) {
  return blocksOf<Count>(arguments).displacements.data();
}
template <typename Count>
Count ownCount(const FunctionArguments& arguments) {
  return counts<Count>(arguments)[arguments.own_block];
}
/// One count for the vector, or for each block.
template <typename Count>
Count countOf(const FunctionArguments& arguments) {
  return rowOf(arguments.collective).counts == CountOf::kVector
             ? static_cast<Count>(arguments.elements)
             : counts<Count>(arguments)[0];
}

// Reductions.
template <typename Function, typename Count, typename Last>
int pass(const FunctionArguments& a, const Function& function, Last last,
         Parameters<const void*, void*, Count, MPI_Datatype, MPI_Op, Last>) {
  return function(a.in, a.out, countOf<Count>(a), a.type, a.op, last);
}
template <typename Function, typename Count, typename Last>
int pass(const FunctionArguments& a, const Function& function, Last last,
         Parameters<const void*, void*, const Count*, MPI_Datatype, MPI_Op, Last>) {
  return function(a.in, a.out, counts<Count>(a), a.type, a.op, last);
}
/// MPI's is never called in place: MPICH 4.0.2 then crashes with more than 2048 bytes at another
/// root than rank 0.
template <typename Function, typename Count, typename Last>
int pass(const FunctionArguments& a, const Function& function, Last last,
         Parameters<const void*, void*, Count, MPI_Datatype, MPI_Op, int, Last>) {
  const void* in = std::is_same_v<Last, MPI_Comm> ? a.in_apart : a.in;
  return function(in, a.out, countOf<Count>(a), a.type, a.op, a.root, last);
}
// One buffer.
template <typename Function, typename Count, typename Last>
int pass(const FunctionArguments& a, const Function& function, Last last,
         Parameters<void*, Count, MPI_Datatype, int, Last>) {
  return function(a.out, countOf<Count>(a), a.type, a.root, last);
}
// Blocks of one length.
template <typename Function, typename Count, typename Last>
int pass(const FunctionArguments& a, const Function& function, Last last,
         Parameters<const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, Last>) {
  const auto count = ownCount<Count>(a);
  return function(a.in, count, a.type, a.out, count, a.type, last);
}
template <typename Function, typename Count, typename Last>
int pass(const FunctionArguments& a, const Function& function, Last last,
         Parameters<const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, int, Last>) {
  const auto count = ownCount<Count>(a);
  return function(a.in, count, a.type, a.out, count, a.type, a.root, last);
}
// Lists: for the result, the result at a root, the contribution at a root, or both.
template <typename Function, typename Count, typename Last>
int pass(const FunctionArguments& a, const Function& function, Last last,
         Parameters<const void*, Count, MPI_Datatype, void*, const Count*, const Count*,
                    MPI_Datatype, Last>) {
  return function(a.in, ownCount<Count>(a), a.type, a.out, counts<Count>(a),
                  displacements<Count>(a), a.type, last);
}
template <typename Function, typename Count, typename Last>
int pass(const FunctionArguments& a, const Function& function, Last last,
         Parameters<const void*, Count, MPI_Datatype, void*, const Count*, const Count*,
                    MPI_Datatype, int, Last>) {
  return function(a.in, ownCount<Count>(a), a.type, a.out, counts<Count>(a),
                  displacements<Count>(a), a.type, a.root, last);
}
template <typename Function, typename Count, typename Last>
int pass(const FunctionArguments& a, const Function& function, Last last,
         Parameters<const void*, const Count*, const Count*, MPI_Datatype, void*, Count,
                    MPI_Datatype, int, Last>) {
  return function(a.in, counts<Count>(a), displacements<Count>(a), a.type, a.out,
                  ownCount<Count>(a), a.type, a.root, last);
}
template <typename Function, typename Count, typename Last>
int pass(const FunctionArguments& a, const Function& function, Last last,
         Parameters<const void*, const Count*, const Count*, MPI_Datatype, void*, const Count*,
                    const Count*, MPI_Datatype, Last>) {
  return function(a.in, counts<Count>(a), displacements<Count>(a), a.type, a.out, counts<Count>(a),
                  displacements<Count>(a), a.type, last);
}

template <typename... Types>
int passTorc(int (*function)(torc_schedule*, Types...), const FunctionArguments& arguments,
             torc_schedule* schedule, torc_collective** collective) {
  const auto call = [&](auto... values) { return function(schedule, values...); };
  return pass(arguments, call, collective, Parameters<Types...>());
}
template <typename... Types>
int passMpi(int (*function)(Types...), const FunctionArguments& arguments, MPI_Comm comm) {
  return pass(arguments, function, comm, Parameters<Types...>());
}

/// Functions for vectors or blocks of one length, and for blocks of different lengths.
struct Functions {
  using Torc = int (*)(const FunctionArguments&, torc_schedule*, torc_collective**);
  using Mpi = int (*)(const FunctionArguments&, MPI_Comm);
  Collective collective;
  Torc torc, torc_lists;
  Mpi mpi, mpi_lists;
};

template <auto kFunction>
int initBy(const FunctionArguments& arguments, torc_schedule* schedule,
           torc_collective** collective) {
  return passTorc(kFunction, arguments, schedule, collective);
}
template <auto kFunction>
int callBy(const FunctionArguments& arguments, MPI_Comm comm) {
  return passMpi(kFunction, arguments, comm);
}
template <auto kTorc, auto kMpi, auto kTorcLists = kTorc, auto kMpiLists = kMpi>
constexpr Functions functions(Collective collective) {
  return {collective, &initBy<kTorc>, &initBy<kTorcLists>, &callBy<kMpi>, &callBy<kMpiLists>};
}

constexpr Functions kFunctions[] = {
    functions<&torc_allreduce_init, &MPI_Allreduce>(Collective::kAllreduce),
    functions<&torc_reduce_scatter_block_init, &MPI_Reduce_scatter_block, &torc_reduce_scatter_init,
              &MPI_Reduce_scatter>(Collective::kReduceScatter),
    functions<&torc_allgather_init, &MPI_Allgather, &torc_allgatherv_init, &MPI_Allgatherv>(
        Collective::kAllgather),
    functions<&torc_broadcast_init, &MPI_Bcast>(Collective::kBroadcast),
    functions<&torc_alltoall_init, &MPI_Alltoall, &torc_alltoallv_init, &MPI_Alltoallv>(
        Collective::kAlltoall),
    functions<&torc_reduce_init, &MPI_Reduce>(Collective::kReduce),
    functions<&torc_scatter_init, &MPI_Scatter, &torc_scatterv_init, &MPI_Scatterv>(
        Collective::kScatter),
    functions<&torc_gather_init, &MPI_Gather, &torc_gatherv_init, &MPI_Gatherv>(
        Collective::kGather),
    functions<&torc_scan_init, &MPI_Scan>(Collective::kScan),
    functions<&torc_exscan_init, &MPI_Exscan>(Collective::kExscan),
    functions<&torc_neighbor_allgather_init, &MPI_Neighbor_allgather,
              &torc_neighbor_allgatherv_init, &MPI_Neighbor_allgatherv>(
        Collective::kNeighborAllgather),
    functions<&torc_neighbor_alltoall_init, &MPI_Neighbor_alltoall, &torc_neighbor_alltoallv_init,
              &MPI_Neighbor_alltoallv>(Collective::kNeighborAlltoall),
};
static_assert(std::size(kFunctions) == kCollectiveCount);

const Functions& functionsOf(Collective collective) {
  return *std::ranges::find(kFunctions, collective, &Functions::collective);
}

}  // namespace

int initTorc(const FunctionArguments& arguments, torc_schedule* schedule,
             torc_collective** collective) {
  const Functions& of = functionsOf(arguments.collective);
  return (arguments.has_lists ? of.torc_lists : of.torc)(arguments, schedule, collective);
}

int callMpi(const FunctionArguments& arguments, MPI_Comm comm) {
  const Functions& of = functionsOf(arguments.collective);
  return (arguments.has_lists ? of.mpi_lists : of.mpi)(arguments, comm);
}

}  // namespace torc::runtime
