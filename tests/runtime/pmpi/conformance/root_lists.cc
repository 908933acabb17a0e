// MPI_Scatterv and MPI_Gatherv, whose counts the root alone knows: every form, on communicators of
// every make, from every root, short and long in turn, with blocks that are empty, apart, and in
// another order, in place, with other spellings of the datatype at the root. Every byte is checked.
//
//   root_lists GRID

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/conformance/call.h"
#include "tests/runtime/pmpi/conformance/call_parts.h"
#include "tests/runtime/pmpi/conformance/checks.h"
#include "tests/runtime/pmpi/conformance/communicators.h"
#include "tests/runtime/pmpi/mpi4_names.h"

namespace conformance {
namespace {

struct Case {
  bool scatters = false;
  Form form = Form::kBlocking;
  bool wide = false;      // MPI_Count arguments
  bool in_place = false;  // at the root
  int64_t units = 0;      // of a block, about
  int root = 0;
  const Type* whole = nullptr;  // of the root's buffer
  const Type* own = nullptr;    // of a block on its rank
};

/// One call, with the buffers of this rank.
class ListCall {
 public:
  ListCall(const Case& given, MPI_Comm comm) : case_(given), comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    is_root_ = rank_ == case_.root;
    std::vector<int64_t> counts(size_), places(size_);
    int64_t end = 0;
    for (int rank = size_ - 1; rank >= 0; --rank) {  // from back to front, apart
      counts[rank] = elementsOf(unitsOf(rank), *case_.whole);
      places[rank] = end + 2;
      end = places[rank] + counts[rank];
    }
    if (is_root_) {
      lists_.set(counts, places);
      whole_ = std::make_unique<Buffer>(*case_.whole, end);
      whole_expected_ = std::make_unique<Buffer>(*whole_);
    }
    own_ = std::make_unique<Buffer>(*case_.own, ownCount());
    own_expected_ = std::make_unique<Buffer>(*own_);
  }
  ListCall(const ListCall&) = delete;
  ListCall& operator=(const ListCall&) = delete;

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      fill(round);
      if (round == 0 || case_.form != Form::kPersistent) {
        checkCall(case_.scatters ? invokeScatter() : invokeGather(), name());
      }
      if (case_.form == Form::kPersistent) checkCall(MPI_Start(&request_), name());
      if (case_.form != Form::kBlocking) checkCall(MPI_Wait(&request_, MPI_STATUS_IGNORE), name());
      check(own_->matches(*own_expected_), name() + ": the own block");
      if (is_root_) check(whole_->matches(*whole_expected_), name() + ": the root's buffer");
    }
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }

 private:
  std::string name() const {
    const std::string form = case_.form == Form::kBlocking      ? ""
                             : case_.form == Form::kNonblocking ? "nonblocking "
                                                                : "persistent ";
    return form + (case_.scatters ? "scatterv of " : "gatherv of ") + std::to_string(case_.units) +
           " units, " + case_.whole->name() + " and " + case_.own->name() + ", root " +
           std::to_string(case_.root) + (case_.in_place ? ", in place" : "");
  }
  int64_t unitsOf(int rank) const {
    return (rank + case_.root) % 3 == 2 ? 0 : case_.units + rank % 2 * (case_.units / 3);
  }
  int64_t ownCount() const { return elementsOf(unitsOf(rank_), *case_.own); }
  bool isInPlaceHere() const { return is_root_ && case_.in_place; }

  /// Stores the atoms of a rank's block, from element `at` of a buffer on.
  void store(Buffer& buffer, int64_t at, int rank, int round) const {
    const auto atoms = static_cast<int64_t>(buffer.atomsOfElement());
    for (int64_t i = 0; i < unitsOf(rank) * kUnitAtoms; ++i) {
      buffer.store(at + i / atoms, static_cast<size_t>(i % atoms), movedValue(rank, round, i));
    }
  }
  void fill(int round) {
    own_->clear();
    own_expected_->clear();
    const bool has_own = !isInPlaceHere();
    if (has_own) store(*own_expected_, 0, rank_, round);
    if (has_own && !case_.scatters) store(*own_, 0, rank_, round);
    if (!is_root_) return;
    whole_->clear();
    whole_expected_->clear();
    for (int rank = 0; rank < size_; ++rank) {
      store(*whole_expected_, lists_.displacements[rank], rank, round);
      const bool is_there = case_.scatters || (case_.in_place && rank == rank_);
      if (is_there) store(*whole_, lists_.displacements[rank], rank, round);
    }
  }

  // What MPI ignores but at the root is nonsense elsewhere.
  int invokeScatter() {
    void* in = is_root_ ? whole_->address() : nullptr;
    void* out = isInPlaceHere() ? MPI_IN_PLACE : own_->address();
    const MPI_Datatype type = is_root_ ? case_.whole->handle() : MPI_DATATYPE_NULL;
    const MPI_Datatype own_type = isInPlaceHere() ? MPI_DATATYPE_NULL : case_.own->handle();
    const int64_t own = isInPlaceHere() ? -1 : ownCount();
    if (case_.wide) {
      return dispatch(case_.form, MPI_Scatterv_c, MPI_Iscatterv_c, MPI_Scatterv_init_c, &request_,
                      in, wideCounts(), widePlaces(), type, out, static_cast<MPI_Count>(own),
                      own_type, case_.root, comm_);
    }
    return dispatch(case_.form, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, &request_, in,
                    counts(), places(), type, out, static_cast<int>(own), own_type, case_.root,
                    comm_);
  }
  int invokeGather() {
    const void* in = isInPlaceHere() ? MPI_IN_PLACE : own_->address();
    void* out = is_root_ ? whole_->address() : nullptr;
    const MPI_Datatype type = is_root_ ? case_.whole->handle() : MPI_DATATYPE_NULL;
    const MPI_Datatype own_type = isInPlaceHere() ? MPI_DATATYPE_NULL : case_.own->handle();
    const int64_t own = isInPlaceHere() ? -1 : ownCount();
    if (case_.wide) {
      return dispatch(case_.form, MPI_Gatherv_c, MPI_Igatherv_c, MPI_Gatherv_init_c, &request_, in,
                      static_cast<MPI_Count>(own), own_type, out, wideCounts(), widePlaces(), type,
                      case_.root, comm_);
    }
    return dispatch(case_.form, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, &request_, in,
                    static_cast<int>(own), own_type, out, counts(), places(), type, case_.root,
                    comm_);
  }
  const int* counts() const { return is_root_ ? lists_.narrow_counts.data() : nullptr; }
  const int* places() const { return is_root_ ? lists_.narrow_displacements.data() : nullptr; }
  const MPI_Count* wideCounts() const { return is_root_ ? lists_.wide_counts.data() : nullptr; }
  const MPI_Aint* widePlaces() const {
    return is_root_ ? lists_.wide_displacements.data() : nullptr;
  }

  const Case case_;
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  bool is_root_ = false;
  Lists lists_;
  std::unique_ptr<Buffer> whole_, whole_expected_;  // at the root
  std::unique_ptr<Buffer> own_, own_expected_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class Program {
 public:
  Program() {
    for (auto make : {+[] { return Type::predefined(Kind::kInt32); },
                      +[] { return Type::contiguous(3, Kind::kInt32); },
                      +[] { return Type::vector(2, 2, 3, Kind::kInt32); },
                      +[] { return Type::aroundOrigin(Kind::kInt32); }}) {
      types_.push_back(make());
    }
  }

  /// Long ones first and last: torc serves those, and what comes behind them.
  void runAll(const Communicator& on) {
    constexpr int64_t kUnits[] = {1500, 1, 1400, 0, 40, 1600};
    int size = 0, turn = 0;
    MPI_Comm_size(on.handle, &size);
    for (const int64_t units : kUnits) {
      for (const Form form : kForms) {
        for (const bool scatters : {false, true}) {
          for (const bool in_place : {false, true}) {
            const int turns = ++turn;
            Case given{scatters, form,  kHasLargeCounts && turns % 2 == 1,
                       in_place, units, turns % size};
            given.whole = &types_[static_cast<size_t>(turns) % types_.size()];
            given.own = &types_[static_cast<size_t>(turns / 3 + rankOn(on)) % types_.size()];
            ListCall(given, on.handle).run(form == Form::kPersistent ? 3 : 1);
          }
        }
      }
    }
  }

  /// Several nonblocking calls under way, whose turns come one after the other.
  void overlap(const Communicator& on) {
    for (int turn = 0; turn < 40; ++turn) {
      const int64_t units = turn / 4 % 2 == 0 ? 2 : 1500;
      int rank = rankOn(on), size = 0;
      MPI_Comm_size(on.handle, &size);
      const int root = turn % size;
      std::vector<int> counts(size), places(size);
      int all = 0;
      for (int i = 0; i < size; ++i) {
        counts[i] = static_cast<int>(units * (1 + i % 2) * 12);
        places[i] = all;
        all += counts[i];
      }
      std::vector<int> whole(all, -1), own(counts[rank], -1), back(all, -1);
      if (rank == root) {
        for (int i = 0; i < all; ++i)
          whole[i] = i * 7 + turn;
      }
      MPI_Request requests[2];
      int before = rank, sum = 0;
      MPI_Iallreduce(&before, &sum, 1, MPI_INT, MPI_SUM, on.handle, &requests[0]);
      MPI_Iscatterv(whole.data(), counts.data(), places.data(), MPI_INT, own.data(), counts[rank],
                    MPI_INT, root, on.handle, &requests[1]);
      MPI_Gatherv(own.data(), 0, MPI_INT, back.data(), std::vector<int>(size).data(), places.data(),
                  MPI_INT, root, on.handle);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      MPI_Gatherv(own.data(), counts[rank], MPI_INT, back.data(), counts.data(), places.data(),
                  MPI_INT, root, on.handle);
      if (rank == root)
        check(whole == back, "scattered and gathered in turn " + std::to_string(turn));
      check(sum == size * (size - 1) / 2, "a sum beside them");
    }
  }

 private:
  static int rankOn(const Communicator& on) {
    int rank = 0;
    MPI_Comm_rank(on.handle, &rank);
    return rank;
  }

  std::deque<Type> types_;
};

int run(const char* grid) {
  std::vector<Communicator> communicators = makeCommunicators(parseGrid(grid));
  {
    Program program;
    for (const Communicator& on : communicators) {
      if (!on.hasMe() || on.is_inter) continue;
      program.runAll(on);
      program.overlap(on);
    }
  }
  freeCommunicators(communicators);
  return summarize("root_lists");
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  const int status = conformance::run(argv[1]);
  MPI_Finalize();
  return status;
}
