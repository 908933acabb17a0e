// One collective call of any form, with its buffers and with what must be in them afterwards.
#ifndef TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_CALL_H_
#define TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_CALL_H_

#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/communicators.h"
#include "tests/runtime/pmpi/conformance/element_types.h"
#include "tests/runtime/pmpi/conformance/reductions.h"

namespace conformance {

/// Divisible by the atoms of an element of every type that tests use.
constexpr int64_t kUnitAtoms = 12;

enum class Collective {
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kReduce,
  kScan,
  kExscan,
  kAllgather,
  kAllgatherv,
  kBcast,
  kGather,
  kScatter,
  kAlltoall,
  kAlltoallv,
};
enum class Form { kBlocking, kNonblocking, kPersistent };

constexpr Collective kCollectives[] = {
    Collective::kAllreduce, Collective::kReduceScatter, Collective::kReduceScatterBlock,
    Collective::kReduce,    Collective::kScan,          Collective::kExscan,
    Collective::kAllgather, Collective::kAllgatherv,    Collective::kBcast,
    Collective::kGather,    Collective::kScatter,       Collective::kAlltoall,
    Collective::kAlltoallv};
/// Those that reduce come first.
constexpr int kReductionCount = 6;
constexpr int kCollectiveCount = std::size(kCollectives);
constexpr Form kForms[] = {Form::kBlocking, Form::kNonblocking, Form::kPersistent};

bool isReduction(Collective collective);
/// Whether every rank's result is of those up to it, or before it.
bool isPrefix(Collective collective);
bool isRooted(Collective collective);
/// Whether every rank has a block for every rank.
bool isExchange(Collective collective);

/// A call as the program text has it, but for communicator and buffers.
struct Shape {
  Collective collective = Collective::kAllreduce;
  Form form = Form::kBlocking;
  bool wide = false;      // the function with MPI_Count arguments
  bool in_place = false;  // with a root, there alone; a broadcast knows no such thing
  /// Of the result; in a reduction of the contribution, too.
  const Type* type = nullptr;
  /// Of what an allgather, gather or scatter sends: the same signature, perhaps spelt otherwise.
  /// Null: `type`.
  const Type* send_type = nullptr;
  const Operation* operation = nullptr;  // reductions
  /// Elements of the vector (allreduce, reduce), of a block, or about so many of a block
  /// (reduce_scatter). In calls that only move data: units of kUnitAtoms atoms, whole elements of
  /// every type here.
  int64_t count = 0;
  /// Where there is one: any number, taken modulo the size of the root's group.
  int root = 0;
};

/// Counts and displacements of blocks, in elements: those of local ranks or of contributors. The
/// same as functions of MPI take them, which nonblocking and persistent calls read until they are
/// complete.
struct Lists {
  std::vector<int64_t> counts;
  std::vector<int64_t> displacements;
  std::vector<int> narrow_counts;
  std::vector<int> narrow_displacements;
  std::vector<MPI_Count> wide_counts;
  std::vector<MPI_Aint> wide_displacements;

  void set(std::vector<int64_t> counts_of_blocks, std::vector<int64_t> places);
};

/// "MPI_Iallreduce_c(MPI_INT x 13, MPI_SUM, in place)".
std::string describe(const Shape& shape);

/// A call on a communicator. Neither movable nor copyable: MPI holds addresses in it.
class Call {
 public:
  Call(const Shape& shape, const Communicator& communicator);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  /// Frees the persistent request, if any.
  ~Call();

  /// Fills the buffers for a round, and calls; a blocking call is then complete. A persistent call
  /// is initialised once and started each time.
  void start(int round);
  /// The same of a persistent call, without the start.
  void prepare(int round);
  bool isPersistent() const { return shape_.form == Form::kPersistent; }
  /// What to wait for: MPI_REQUEST_NULL after a blocking call.
  MPI_Request& request() { return request_; }
  /// After completion: every byte of both buffers.
  void verify();
  /// start, wait, verify.
  void run(int round);
  /// Gives the persistent request back, before the destructor does.
  void freeRequest();

  /// The bytes of the result, for comparison between ranks and rounds.
  const void* result() { return out_->address(); }

 private:
  void findContributors();
  void layOutReduction();
  void layOutGather();
  void findRoot();
  void layOutRooted();
  void layOutExchange();
  int64_t layOutBlocks(const Type& type, Lists& lists) const;
  void fillReduction(int round);
  void fillGather(int round);
  void fillRooted(int round);
  void fillExchange(int round);
  static void storeAll(Buffer& buffer, int world_rank, int round, int64_t at, int64_t count,
                       int64_t from);
  int invoke();
  int invokeRooted();
  int invokeExchange();
  bool isRoot() const { return world_rank_ == root_world_rank_; }
  /// Elements of `rank`'s block in the v-forms.
  int64_t unevenCount(int64_t rank) const;

  Shape shape_;
  const Communicator* communicator_;
  std::string name_;
  int rank_ = 0;
  int size_ = 1;
  /// World ranks of those whose data the result is made of, in the communicator's order: those of
  /// the remote group, if there is one.
  std::vector<int> contributors_;
  int world_rank_ = 0;
  /// Where there is a root: the argument, and its world rank.
  int root_ = 0;
  int root_world_rank_ = 0;
  bool is_in_place_here_ = false;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool initialised_ = false;

  // The arguments.
  int64_t send_count_ = 0;
  int64_t receive_count_ = 0;
  Lists lists_;
  Lists in_lists_;  // of what is sent, where that has blocks of its own

  std::unique_ptr<Buffer> in_, in_expected_;  // null: in place
  std::unique_ptr<Buffer> out_, out_expected_;
};

}  // namespace conformance

#endif  // TORC_TESTS_RUNTIME_PMPI_CONFORMANCE_CALL_H_
