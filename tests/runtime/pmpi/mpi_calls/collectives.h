// The table of MPI's collectives: the row of schedules/collective.h has the data flow of each; the
// row here has its forms' functions.
#ifndef TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_COLLECTIVES_H_
#define TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_COLLECTIVES_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "schedules/collective.h"

namespace mpi_calls {

enum class Form { kBlocking, kNonblocking, kPersistent };

/// Arguments that exist with int and with MPI_Count.
template <typename Count, typename Offset>
struct Numbers {
  Count in_count = 0, count = 0;
  std::vector<Count> in_counts, counts;
  std::vector<Offset> in_displacements, displacements;

  /// Overwrites the lists as a program may after their last use.
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
  const char* stem;                // "Allreduce"
  const torc::CollectiveRow* row;  // null for a barrier
  bool uneven;                     // counts for each rank
  bool each_type;                  // a datatype for each rank
  /// Approximate frequency in 100 calls.
  int weight;
  int (*call)(Form, const Arguments&, MPI_Request*);

  bool isBarrier() const { return row == nullptr; }
  bool reduces() const { return row != nullptr && row->reduces(); }
  bool isPrefix() const { return row != nullptr && row->isPrefix(); }
  bool isRooted() const { return row != nullptr && row->isRooted(); }
  bool isOfNeighbours() const { return row != nullptr && row->isOfNeighbours(); }
  bool isBroadcast() const {
    return isRooted() && row->counts == torc::CountOf::kVector && !reduces();
  }
  bool isExchange() const { return row != nullptr && row->blocks == torc::BlockSpace::kPair; }
  bool scattersSums() const { return reduces() && row->out == torc::Holds::kOwn; }
  bool hasInPlace() const {
    return row != nullptr && !isBroadcast() && row->in_place != torc::InPlace::kNothing;
  }
  /// Whether a buffer has a block for each rank, or neighbour, with independent places.
  bool sendsEach() const { return hasEach(row->in); }
  bool receivesEach() const { return hasEach(row->out); }
  bool is(std::initializer_list<std::string_view> stems) const;
  /// "MPI_Iallreduce_c".
  std::string name(Form form, bool wide) const;

 private:
  bool hasEach(torc::Holds holds) const;
};

/// All; reductions come first, then other collectives of all ranks, and then of neighbours and the
/// barrier.
const std::vector<Collective>& collectives();
constexpr int kReductionCount = 6;
/// Of all ranks, with data.
constexpr int kCollectiveCount = 16;
constexpr Form kForms[] = {Form::kBlocking, Form::kNonblocking, Form::kPersistent};

/// The one with that stem.
const Collective& collectiveCalled(std::string_view stem);

}  // namespace mpi_calls

#endif  // TORC_TESTS_RUNTIME_PMPI_MPI_CALLS_COLLECTIVES_H_
