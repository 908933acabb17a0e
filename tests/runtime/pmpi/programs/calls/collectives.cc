#include "tests/runtime/pmpi/programs/calls/collectives.h"

#include <cctype>

#include "tests/runtime/pmpi/mpi4_names.h"

namespace programs {
namespace {

/// Calls one of the three functions; their arguments differ at the end only.
template <typename Blocking, typename Nonblocking, typename Init, typename... Rest>
int dispatch(Form form, MPI_Request* request, Blocking blocking, Nonblocking nonblocking, Init init,
             Rest... arguments) {
  if (form == Form::kBlocking) return blocking(arguments...);
  if (form == Form::kNonblocking) return nonblocking(arguments..., request);
  return init(arguments..., MPI_INFO_NULL, request);
}

// A row's functions: `n` stands for the numbers of `a`, narrow or large.
#define NARROW(Name, name, ...)                                                              \
  [](Form form, const Arguments& a, MPI_Request* request) {                                  \
    return dispatch(form, request, MPI_##Name, MPI_I##name, MPI_##Name##_init, __VA_ARGS__); \
  }
#define BOTH(Name, name, ...)                                                                \
  [](Form form, const Arguments& a, MPI_Request* request) {                                  \
    if (a.wide) {                                                                            \
      const auto& n = a.large;                                                               \
      return dispatch(form, request, MPI_##Name##_c, MPI_I##name##_c, MPI_##Name##_init_c,   \
                      __VA_ARGS__);                                                          \
    }                                                                                        \
    const auto& n = a.narrow;                                                                \
    return dispatch(form, request, MPI_##Name, MPI_I##name, MPI_##Name##_init, __VA_ARGS__); \
  }

const std::vector<Collective> kTable = {
    {"Allreduce", Flow::kAllreduce, false, false, true, 14,
     BOTH(Allreduce, allreduce, a.in, a.out, n.count, a.type, a.op, a.comm)},
    {"Reduce_scatter", Flow::kReduceScatter, true, false, true, 10,
     BOTH(Reduce_scatter, reduce_scatter, a.in, a.out, n.counts.data(), a.type, a.op, a.comm)},
    {"Reduce_scatter_block", Flow::kReduceScatter, false, false, true, 10,
     BOTH(Reduce_scatter_block, reduce_scatter_block, a.in, a.out, n.count, a.type, a.op, a.comm)},
    {"Allgather", Flow::kAllgather, false, false, true, 12,
     BOTH(Allgather, allgather, a.in, n.in_count, a.in_type, a.out, n.count, a.type, a.comm)},
    {"Allgatherv", Flow::kAllgather, true, false, true, 12,
     BOTH(Allgatherv, allgatherv, a.in, n.in_count, a.in_type, a.out, n.counts.data(),
          n.displacements.data(), a.type, a.comm)},
    {"Bcast", Flow::kBroadcast, false, false, true, 6,
     BOTH(Bcast, bcast, a.out, n.count, a.type, a.root, a.comm)},
    {"Reduce", Flow::kReduce, false, false, true, 6,
     BOTH(Reduce, reduce, a.in, a.out, n.count, a.type, a.op, a.root, a.comm)},
    {"Gather", Flow::kGather, false, false, true, 3,
     BOTH(Gather, gather, a.in, n.in_count, a.in_type, a.out, n.count, a.type, a.root, a.comm)},
    {"Gatherv", Flow::kGather, true, false, true, 3,
     BOTH(Gatherv, gatherv, a.in, n.in_count, a.in_type, a.out, n.counts.data(),
          n.displacements.data(), a.type, a.root, a.comm)},
    {"Scatter", Flow::kScatter, false, false, true, 3,
     BOTH(Scatter, scatter, a.in, n.in_count, a.in_type, a.out, n.count, a.type, a.root, a.comm)},
    {"Scatterv", Flow::kScatter, true, false, true, 3,
     BOTH(Scatterv, scatterv, a.in, n.in_counts.data(), n.in_displacements.data(), a.in_type, a.out,
          n.count, a.type, a.root, a.comm)},
    {"Alltoall", Flow::kAlltoall, false, false, true, 4,
     BOTH(Alltoall, alltoall, a.in, n.in_count, a.in_type, a.out, n.count, a.type, a.comm)},
    {"Alltoallv", Flow::kAlltoall, true, false, true, 3,
     BOTH(Alltoallv, alltoallv, a.in, n.in_counts.data(), n.in_displacements.data(), a.in_type,
          a.out, n.counts.data(), n.displacements.data(), a.type, a.comm)},
    {"Alltoallw", Flow::kAlltoall, true, true, true, 3,
     BOTH(Alltoallw, alltoallw, a.in, n.in_counts.data(), n.in_displacements.data(),
          a.in_types.data(), a.out, n.counts.data(), n.displacements.data(), a.types.data(),
          a.comm)},
    {"Scan", Flow::kScan, false, false, true, 3,
     BOTH(Scan, scan, a.in, a.out, n.count, a.type, a.op, a.comm)},
    {"Exscan", Flow::kExscan, false, false, true, 3,
     BOTH(Exscan, exscan, a.in, a.out, n.count, a.type, a.op, a.comm)},
    {"Barrier", Flow::kNothing, false, false, false, 2, NARROW(Barrier, barrier, a.comm)},
};

#undef NARROW
#undef BOTH

}  // namespace

void Arguments::spoil() {
  narrow.spoil();
  large.spoil();
  for (std::vector<MPI_Datatype>* list : {&in_types, &types}) {
    list->assign(list->size(), MPI_DATATYPE_NULL);
    std::vector<MPI_Datatype>().swap(*list);
  }
}

bool Collective::hasRoot() const {
  return flow == Flow::kBroadcast || flow == Flow::kGather || flow == Flow::kScatter ||
         flow == Flow::kReduce;
}

bool Collective::hasInPlace() const {
  return flow != Flow::kNothing && flow != Flow::kBroadcast;
}

std::string Collective::name(Form form, bool wide) const {
  std::string name = stem;
  if (form == Form::kNonblocking) {
    name[0] = static_cast<char>(std::tolower(name[0]));
    name = "I" + name;
  }
  if (form == Form::kPersistent) name += "_init";
  return "MPI_" + name + (wide ? "_c" : "");
}

const std::vector<Collective>& collectives() {
  return kTable;
}

}  // namespace programs
