#include "tests/runtime/pmpi/mpi_calls/collectives.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "tests/runtime/pmpi/mpi4_names.h"

namespace mpi_calls {
namespace {

/// Calls one of the three functions; their arguments differ at the end only.
template <typename Blocking, typename Nonblocking, typename Init, typename... Rest>
int dispatch(Form form, MPI_Request* request, Blocking blocking, Nonblocking nonblocking, Init init,
             Rest... arguments) {
  if (form == Form::kBlocking) return blocking(arguments...);
  if (form == Form::kNonblocking) return nonblocking(arguments..., request);
  return init(arguments..., MPI_INFO_NULL, request);
}

#ifdef BLOCKING_ALONE  // the program's code has no others, by which torc goes
constexpr auto kNone = [](auto...) { return MPI_ERR_OTHER; };
#define FORMS(Name, name, large) MPI_##Name##large, kNone, kNone
#else
#define FORMS(Name, name, large) MPI_##Name##large, MPI_I##name##large, MPI_##Name##_init##large
#endif

// A row's functions: `n` stands for the numbers of `a`, narrow or large.
#define BOTH(Name, name, ...)                                                      \
  [](Form form, const Arguments& a, MPI_Request* request) {                        \
    const auto& n = a.narrow;                                                      \
    if (!a.wide) return dispatch(form, request, FORMS(Name, name, ), __VA_ARGS__); \
    return [&](const auto& n) {                                                    \
      return dispatch(form, request, FORMS(Name, name, _c), __VA_ARGS__);          \
    }(a.large);                                                                    \
  }

// The arguments of a buffer with one count, and with lists.
#define IN_COUNT a.in, n.in_count, a.in_type
#define OUT_COUNT a.out, n.count, a.type
#define IN_LISTS a.in, n.in_counts.data(), n.in_displacements.data()
#define OUT_LISTS a.out, n.counts.data(), n.displacements.data()

int barrier(Form form, const Arguments& a, MPI_Request* request) {
  return dispatch(form, request, FORMS(Barrier, barrier, ), a.comm);
}

const std::vector<Collective>& table() {
  using C = torc::Collective;
  const auto of = [](C collective) { return &torc::rowOf(collective); };
  static const std::vector<Collective> rows = {
      {"Allreduce", of(C::kAllreduce), false, false, 14,
       BOTH(Allreduce, allreduce, a.in, OUT_COUNT, a.op, a.comm)},
      {"Reduce_scatter", of(C::kReduceScatter), true, false, 10,
       BOTH(Reduce_scatter, reduce_scatter, a.in, a.out, n.counts.data(), a.type, a.op, a.comm)},
      {"Reduce_scatter_block", of(C::kReduceScatter), false, false, 10,
       BOTH(Reduce_scatter_block, reduce_scatter_block, a.in, OUT_COUNT, a.op, a.comm)},
      {"Reduce", of(C::kReduce), false, false, 6,
       BOTH(Reduce, reduce, a.in, OUT_COUNT, a.op, a.root, a.comm)},
      {"Scan", of(C::kScan), false, false, 3, BOTH(Scan, scan, a.in, OUT_COUNT, a.op, a.comm)},
      {"Exscan", of(C::kExscan), false, false, 3,
       BOTH(Exscan, exscan, a.in, OUT_COUNT, a.op, a.comm)},
      {"Allgather", of(C::kAllgather), false, false, 12,
       BOTH(Allgather, allgather, IN_COUNT, OUT_COUNT, a.comm)},
      {"Allgatherv", of(C::kAllgather), true, false, 12,
       BOTH(Allgatherv, allgatherv, IN_COUNT, OUT_LISTS, a.type, a.comm)},
      {"Bcast", of(C::kBroadcast), false, false, 6, BOTH(Bcast, bcast, OUT_COUNT, a.root, a.comm)},
      {"Gather", of(C::kGather), false, false, 3,
       BOTH(Gather, gather, IN_COUNT, OUT_COUNT, a.root, a.comm)},
      {"Gatherv", of(C::kGather), true, false, 3,
       BOTH(Gatherv, gatherv, IN_COUNT, OUT_LISTS, a.type, a.root, a.comm)},
      {"Scatter", of(C::kScatter), false, false, 3,
       BOTH(Scatter, scatter, IN_COUNT, OUT_COUNT, a.root, a.comm)},
      {"Scatterv", of(C::kScatter), true, false, 3,
       BOTH(Scatterv, scatterv, IN_LISTS, a.in_type, OUT_COUNT, a.root, a.comm)},
      {"Alltoall", of(C::kAlltoall), false, false, 4,
       BOTH(Alltoall, alltoall, IN_COUNT, OUT_COUNT, a.comm)},
      {"Alltoallv", of(C::kAlltoall), true, false, 3,
       BOTH(Alltoallv, alltoallv, IN_LISTS, a.in_type, OUT_LISTS, a.type, a.comm)},
      {"Alltoallw", of(C::kAlltoall), true, true, 3,
       BOTH(Alltoallw, alltoallw, IN_LISTS, a.in_types.data(), OUT_LISTS, a.types.data(), a.comm)},
      {"Neighbor_allgather", of(C::kNeighborAllgather), false, false, 0,
       BOTH(Neighbor_allgather, neighbor_allgather, IN_COUNT, OUT_COUNT, a.comm)},
      {"Neighbor_allgatherv", of(C::kNeighborAllgather), true, false, 0,
       BOTH(Neighbor_allgatherv, neighbor_allgatherv, IN_COUNT, OUT_LISTS, a.type, a.comm)},
      {"Neighbor_alltoall", of(C::kNeighborAlltoall), false, false, 0,
       BOTH(Neighbor_alltoall, neighbor_alltoall, IN_COUNT, OUT_COUNT, a.comm)},
      {"Neighbor_alltoallv", of(C::kNeighborAlltoall), true, false, 0,
       BOTH(Neighbor_alltoallv, neighbor_alltoallv, IN_LISTS, a.in_type, OUT_LISTS, a.type,
            a.comm)},
      // Whose displacements are addresses in either.
      {"Neighbor_alltoallw", of(C::kNeighborAlltoall), true, true, 0,
       BOTH(Neighbor_alltoallw, neighbor_alltoallw, a.in, n.in_counts.data(),
            a.large.in_displacements.data(), a.in_types.data(), a.out, n.counts.data(),
            a.large.displacements.data(), a.types.data(), a.comm)},
      {"Barrier", nullptr, false, false, 2, barrier},
  };
  return rows;
}

#undef OUT_LISTS
#undef IN_LISTS
#undef OUT_COUNT
#undef IN_COUNT
#undef BOTH
#undef FORMS

}  // namespace

void Arguments::spoil() {
  narrow.spoil();
  large.spoil();
  for (std::vector<MPI_Datatype>* list : {&in_types, &types}) {
    list->assign(list->size(), MPI_DATATYPE_NULL);
    std::vector<MPI_Datatype>().swap(*list);
  }
}

bool Collective::hasEach(torc::Holds holds) const {
  using torc::Holds;
  if (reduces() || isBroadcast()) return false;
  return holds == Holds::kWhole || holds == Holds::kEachNeighbour ||
         (holds == Holds::kOwn && isExchange());
}

bool Collective::is(std::initializer_list<std::string_view> stems) const {
  return std::ranges::find(stems, stem) != stems.end();
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
  return table();
}

const Collective& collectiveCalled(std::string_view stem) {
  for (const Collective& row : table())
    if (row.stem == stem) return row;
  std::abort();
}

}  // namespace mpi_calls
