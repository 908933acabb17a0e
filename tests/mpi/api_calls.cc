#include "tests/mpi/api_calls.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/mpi/job.h"
#include "tests/runtime/pmpi/mpi_calls/checks.h"

namespace torc::runtime {
namespace {

using mpi_calls::Kind;
using mpi_calls::Layout;
using mpi_calls::Meaning;

torc_schedule* g_schedule = nullptr;  // of the call that is made
torc_collective* g_collective = nullptr;

using List = std::vector<std::int64_t>;

/// MPI's numbers as those of the C API.
struct Numbers {
  /// `shares`: the C API has the counts of the root's blocks on all ranks.
  Numbers(const mpi_calls::Arguments& a, bool shares)
      : in_count(a.large.in_count),
        count(a.large.count),
        in_counts(a.large.in_counts.begin(), a.large.in_counts.end()),
        counts(a.large.counts.begin(), a.large.counts.end()),
        in_displacements(a.large.in_displacements.begin(), a.large.in_displacements.end()),
        displacements(a.large.displacements.begin(), a.large.displacements.end()) {
    if (!shares) return;
    int size = 0;
    MPI_Comm_size(a.comm, &size);
    for (List* list : {&in_counts, &counts, &in_displacements, &displacements}) {
      list->resize(static_cast<std::size_t>(size));
      MPI_Bcast(list->data(), size, MPI_INT64_T, a.root, a.comm);
    }
  }

  std::int64_t in_count, count;
  List in_counts, counts, in_displacements, displacements;
};

/// The datatype of the root's blocks, which is that of the own one.
MPI_Datatype either(MPI_Datatype one, MPI_Datatype other) {
  return one != MPI_DATATYPE_NULL ? one : other;
}

int started(int status) {
  EXPECT_TORC_OK(status);
  return MPI_SUCCESS;
}

#define CALL(name, shares, ...)                                                 \
  [](mpi_calls::Form, const mpi_calls::Arguments& a, MPI_Request*) {            \
    const Numbers n(a, shares);                                                 \
    return started(torc_##name##_init(g_schedule, __VA_ARGS__, &g_collective)); \
  }

#define ROW(name, kind, uneven, ...)                                            \
  {                                                                             \
#name, &rowOf(Collective::kind), uneven, false, 1,                          \
        CALL(name, (uneven) && rowOf(Collective::kind).isRooted(), __VA_ARGS__) \
  }

#define IN_COUNT a.in, n.in_count, a.in_type
#define OUT_COUNT a.out, n.count, a.type
#define IN_LISTS a.in, n.in_counts.data(), n.in_displacements.data(), either(a.in_type, a.type)
#define OUT_LISTS a.out, n.counts.data(), n.displacements.data(), either(a.type, a.in_type)

/// Operations that commute, on what has no gaps but padding.
const std::vector<mpi_calls::Reduction>& servedReductions() {
  static const std::vector<mpi_calls::Reduction> served = [] {
    std::vector<mpi_calls::Reduction> found;
    for (const mpi_calls::Reduction& one : mpi_calls::reductions()) {
      const bool is_dense = one.layout.is_predefined || one.layout.extent == 12;
      if (one.commutes() && is_dense) found.push_back(one);
    }
    return found;
  }();
  return served;
}

}  // namespace

const std::vector<mpi_calls::Collective>& apiFunctions() {
  static const std::vector<mpi_calls::Collective> rows = {
      ROW(allreduce, kAllreduce, false, a.in, OUT_COUNT, a.op),
      ROW(reduce_scatter, kReduceScatter, true, a.in, a.out, n.counts.data(), a.type, a.op),
      ROW(reduce_scatter_block, kReduceScatter, false, a.in, OUT_COUNT, a.op),
      ROW(reduce, kReduce, false, a.in, OUT_COUNT, a.op, a.root),
      ROW(allgather, kAllgather, false, IN_COUNT, OUT_COUNT),
      ROW(allgatherv, kAllgather, true, IN_COUNT, OUT_LISTS),
      ROW(broadcast, kBroadcast, false, OUT_COUNT, a.root),
      ROW(scatter, kScatter, false, IN_COUNT, OUT_COUNT, a.root),
      ROW(scatterv, kScatter, true, IN_LISTS, OUT_COUNT, a.root),
      ROW(gather, kGather, false, IN_COUNT, OUT_COUNT, a.root),
      ROW(gatherv, kGather, true, IN_COUNT, OUT_LISTS, a.root),
      ROW(alltoall, kAlltoall, false, IN_COUNT, OUT_COUNT),
      ROW(alltoallv, kAlltoall, true, IN_LISTS, OUT_LISTS),
  };
  return rows;
}

const mpi_calls::Collective& apiFunction(std::string_view stem) {
  for (const mpi_calls::Collective& row : apiFunctions())
    if (row.stem == stem) return row;
  std::abort();
}

mpi_calls::Shape shapeOf(const mpi_calls::Collective& function, std::int64_t count, int turn) {
  static const std::vector<Layout> layouts = {
      Layout::predefined(Kind::kInt32), Layout::contiguous(3, Kind::kInt32),
      Layout::predefined(Kind::kDouble), Layout::predefined(Kind::kByte)};
  mpi_calls::Shape shape{&function, mpi_calls::Form::kNonblocking};
  shape.root = turn;
  shape.key = static_cast<std::uint64_t>(turn);
  shape.units = count;
  shape.forget_lists = true;
  if (function.reduces()) {
    const auto& served = servedReductions();
    shape.reduction = served[static_cast<std::size_t>(turn) % served.size()];
  } else {
    shape.spellings = {layouts[static_cast<std::size_t>(turn) % layouts.size()]};
    shape.setAtoms(count);
    shape.free_early = true;
  }
  return shape;
}

void expectRight(torc_schedule* schedule, const mpi_calls::Communicator& on,
                 mpi_calls::Shape shape) {
  mpi_calls::on_failure = [](const std::string& text) { ADD_FAILURE() << text; };
  mpi_calls::Call call(shape, on);
  g_schedule = schedule;
  g_collective = nullptr;
  call.start();
  runAndFree(g_collective, shape.in_place ? 1 : 2);
  call.verify();
}

}  // namespace torc::runtime
