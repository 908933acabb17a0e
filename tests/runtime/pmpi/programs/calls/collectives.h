// The table of MPI's collectives: how data flows in each, and how each of its forms is called. A
// collective that is not here yet needs a row, and a Flow if it moves data in a new way.
#ifndef TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_COLLECTIVES_H_
#define TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_COLLECTIVES_H_

#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

namespace programs {

enum class Form { kBlocking, kNonblocking, kPersistent };

enum class Flow {
  kNothing,
  // Data move.
  kBroadcast,
  kGather,
  kScatter,
  kAllgather,
  kAlltoall,
  // Data are combined.
  kAllreduce,
  kReduce,
  kReduceScatter,
  kScan,
  kExscan,
};

/// Arguments that exist with int and with MPI_Count.
template <typename Count, typename Offset>
struct Numbers {
  Count in_count = 0, count = 0;
  std::vector<Count> in_counts, counts;
  std::vector<Offset> in_displacements, displacements;

  /// What a program may leave behind once the lists are not needed any more.
  void spoil() {
    for (std::vector<Count>* list : {&in_counts, &counts}) {
      list->assign(list->size(), Count{0x55555555});
      std::vector<Count>().swap(*list);
    }
    for (std::vector<Offset>* list : {&in_displacements, &displacements}) {
      list->assign(list->size(), Offset{0x55555555});
      std::vector<Offset>().swap(*list);
    }
  }
};

struct Arguments {
  bool wide = false;  // the function with MPI_Count arguments
  const void* in = nullptr;
  void* out = nullptr;
  MPI_Datatype in_type = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  std::vector<MPI_Datatype> in_types, types;  // MPI_Alltoallw
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  Numbers<int, int> narrow;
  Numbers<MPI_Count, MPI_Aint> large;

  /// Fills lists and types with garbage, and gives them back.
  void spoil();
};

struct Collective {
  const char* stem;  // "Allreduce"
  Flow flow;
  bool uneven;     // counts for each rank
  bool each_type;  // a datatype for each rank
  bool has_wide;
  /// How often in 100 calls, about.
  int weight;
  int (*call)(Form, const Arguments&, MPI_Request*);

  bool isReduction() const { return flow >= Flow::kAllreduce; }
  bool hasRoot() const;
  bool hasInPlace() const;
  /// "MPI_Iallreduce_c".
  std::string name(Form form, bool wide) const;
};

const std::vector<Collective>& collectives();

}  // namespace programs

#endif  // TORC_TESTS_RUNTIME_PMPI_PROGRAMS_CALLS_COLLECTIVES_H_
