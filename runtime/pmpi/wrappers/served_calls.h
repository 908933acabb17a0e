// The table of intercepted collectives: what MPI calls them, their parameters, and how a call is
// brought into the form that torc serves. Everything that exists once per collective is expanded
// from here: the wrappers of its six MPI functions, its identifier, its name in statistics.
//
// To serve another collective, name an adapter (runtime/pmpi/calls/collective_call.h) in its row in
// place of NotServed.
#ifndef TORC_RUNTIME_PMPI_WRAPPERS_SERVED_CALLS_H_
#define TORC_RUNTIME_PMPI_WRAPPERS_SERVED_CALLS_H_

// X(MPI's name, the same after MPI_I, parameters, adapter). MPI has each of them as blocking,
// nonblocking and persistent function, with int and with MPI_Count.
#define TORC_COLLECTIVES(X)                                                    \
  X(Allreduce, allreduce, REDUCTION, Allreduce)                                \
  X(Reduce_scatter, reduce_scatter, REDUCTION_V, ReduceScatter)                \
  X(Reduce_scatter_block, reduce_scatter_block, REDUCTION, ReduceScatterBlock) \
  X(Allgather, allgather, EXCHANGE, Allgather)                                 \
  X(Allgatherv, allgatherv, GATHER_V, Allgatherv)                              \
  X(Bcast, bcast, BROADCAST, NotServed)                                        \
  X(Reduce, reduce, ROOTED_REDUCTION, NotServed)                               \
  X(Gather, gather, ROOTED_EXCHANGE, NotServed)                                \
  X(Gatherv, gatherv, ROOTED_GATHER_V, NotServed)                              \
  X(Scatter, scatter, ROOTED_EXCHANGE, NotServed)                              \
  X(Scatterv, scatterv, ROOTED_SCATTER_V, NotServed)                           \
  X(Alltoall, alltoall, EXCHANGE, NotServed)                                   \
  X(Alltoallv, alltoallv, EXCHANGE_V, NotServed)                               \
  X(Alltoallw, alltoallw, EXCHANGE_W, NotServedW)                              \
  X(Scan, scan, REDUCTION, NotServed)                                          \
  X(Exscan, exscan, REDUCTION, NotServed)                                      \
  X(Neighbor_allgather, neighbor_allgather, EXCHANGE, NotServed)               \
  X(Neighbor_allgatherv, neighbor_allgatherv, GATHER_V, NotServed)             \
  X(Neighbor_alltoall, neighbor_alltoall, EXCHANGE, NotServed)                 \
  X(Neighbor_alltoallv, neighbor_alltoallv, EXCHANGE_V, NotServed)             \
  X(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_EXCHANGE_W, NotServed)

// Collectives without counts, of which MPI has no MPI_Count form.
#define TORC_COLLECTIVES_WITHOUT_COUNTS(X) X(Barrier, barrier, NOTHING, NotServed)

#define TORC_ALL_COLLECTIVES(X) TORC_COLLECTIVES(X) TORC_COLLECTIVES_WITHOUT_COUNTS(X)

// Parameters, for a type of counts and one of displacements, and the same as arguments. LIST(list)
// stands around every list of the program's: a call that is made later passes a copy.
#define TORC_AS_GIVEN(list) list
#define TORC_PARAMETERS_NOTHING(Count, Offset) MPI_Comm comm
#define TORC_ARGUMENTS_NOTHING(LIST) comm

#define TORC_PARAMETERS_BROADCAST(Count, Offset) \
  void *out, Count count, MPI_Datatype type, int root, MPI_Comm comm
#define TORC_ARGUMENTS_BROADCAST(LIST) out, count, type, root, comm

#define TORC_PARAMETERS_REDUCTION(Count, Offset) \
  const void *in, void *out, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define TORC_ARGUMENTS_REDUCTION(LIST) in, out, count, type, op, comm

#define TORC_PARAMETERS_ROOTED_REDUCTION(Count, Offset) \
  const void *in, void *out, Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm
#define TORC_ARGUMENTS_ROOTED_REDUCTION(LIST) in, out, count, type, op, root, comm

#define TORC_PARAMETERS_REDUCTION_V(Count, Offset) \
  const void *in, void *out, const Count counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define TORC_ARGUMENTS_REDUCTION_V(LIST) in, out, LIST(counts), type, op, comm

#define TORC_PARAMETERS_EXCHANGE(Count, Offset)                                                    \
  const void *in, Count in_count, MPI_Datatype in_type, void *out, Count count, MPI_Datatype type, \
      MPI_Comm comm
#define TORC_ARGUMENTS_EXCHANGE(LIST) in, in_count, in_type, out, count, type, comm

#define TORC_PARAMETERS_ROOTED_EXCHANGE(Count, Offset)                                             \
  const void *in, Count in_count, MPI_Datatype in_type, void *out, Count count, MPI_Datatype type, \
      int root, MPI_Comm comm
#define TORC_ARGUMENTS_ROOTED_EXCHANGE(LIST) in, in_count, in_type, out, count, type, root, comm

#define TORC_PARAMETERS_GATHER_V(Count, Offset)                                          \
  const void *in, Count in_count, MPI_Datatype in_type, void *out, const Count counts[], \
      const Offset displacements[], MPI_Datatype type, MPI_Comm comm
#define TORC_ARGUMENTS_GATHER_V(LIST) \
  in, in_count, in_type, out, LIST(counts), LIST(displacements), type, comm

#define TORC_PARAMETERS_ROOTED_GATHER_V(Count, Offset)                                   \
  const void *in, Count in_count, MPI_Datatype in_type, void *out, const Count counts[], \
      const Offset displacements[], MPI_Datatype type, int root, MPI_Comm comm
#define TORC_ARGUMENTS_ROOTED_GATHER_V(LIST) \
  in, in_count, in_type, out, LIST(counts), LIST(displacements), type, root, comm

#define TORC_PARAMETERS_ROOTED_SCATTER_V(Count, Offset)                                           \
  const void *in, const Count in_counts[], const Offset in_displacements[], MPI_Datatype in_type, \
      void *out, Count count, MPI_Datatype type, int root, MPI_Comm comm
#define TORC_ARGUMENTS_ROOTED_SCATTER_V(LIST) \
  in, LIST(in_counts), LIST(in_displacements), in_type, out, count, type, root, comm

#define TORC_PARAMETERS_EXCHANGE_V(Count, Offset)                                                 \
  const void *in, const Count in_counts[], const Offset in_displacements[], MPI_Datatype in_type, \
      void *out, const Count counts[], const Offset displacements[], MPI_Datatype type,           \
      MPI_Comm comm
#define TORC_ARGUMENTS_EXCHANGE_V(LIST)                                                         \
  in, LIST(in_counts), LIST(in_displacements), in_type, out, LIST(counts), LIST(displacements), \
      type, comm

#define TORC_PARAMETERS_EXCHANGE_W(Count, Offset)                           \
  const void *in, const Count in_counts[], const Offset in_displacements[], \
      const MPI_Datatype in_types[], void *out, const Count counts[],       \
      const Offset displacements[], const MPI_Datatype types[], MPI_Comm comm
#define TORC_ARGUMENTS_EXCHANGE_W(LIST)                                           \
  in, LIST(in_counts), LIST(in_displacements), LIST(in_types), out, LIST(counts), \
      LIST(displacements), LIST(types), comm

// Displacements in bytes are MPI_Aint here even beside int counts.
#define TORC_PARAMETERS_NEIGHBOR_EXCHANGE_W(Count, Offset) \
  TORC_PARAMETERS_EXCHANGE_W(Count, MPI_Aint)
#define TORC_ARGUMENTS_NEIGHBOR_EXCHANGE_W(LIST) TORC_ARGUMENTS_EXCHANGE_W(LIST)

namespace torc::pmpi {

/// A row of the table.
enum class CallId {
#define TORC_IDENTIFIER(Name, name, parameters, adapter) k##Name,
  TORC_ALL_COLLECTIVES(TORC_IDENTIFIER)
#undef TORC_IDENTIFIER
};

/// The three functions that MPI has of each.
enum class Form { kBlocking, kNonblocking, kPersistent };

}  // namespace torc::pmpi

#endif  // TORC_RUNTIME_PMPI_WRAPPERS_SERVED_CALLS_H_
