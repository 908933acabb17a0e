// An MPI program with one fault, chosen by a seed: some legal calls, one call in which a random
// rank differs from the others as MPI forbids, and a few legal calls after it.
//
//   illegal_programs --seed S
//
// The first line names the difference. A rank whose call fails, where errors are returned, prints
// "illegal_programs: rank R: error class K", goes on, and ends the job with status 3 at its end;
// others print "illegal_programs: rank R: finished".
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/collectives.h"
#include "tests/runtime/pmpi/mpi_calls/random.h"

namespace programs {

using namespace mpi_calls;

namespace {

enum class Difference {
  kCount,         // elements of the vector, or of all blocks
  kContribution,  // an allgather: elements of the rank's own block
  kExpectation,   // an allgather: elements that the rank expects of another
  kCollective,
  kSkipped,
  kSkippedToTheEnd,
  kOperation,
  kDatatypeNull,
  kOpNull,
  kAliased,
};

/// The operations: only whether they commute matters.
void add(void* in, void* inout, int* length, MPI_Datatype* /*datatype*/) {
  for (int i = 0; i < *length; ++i)
    static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

/// What a call is on the ranks that do as the others do.
struct Plan {
  const Collective* collective = nullptr;
  Form form = Form::kBlocking;
  bool wide = false;
  int count = 1;
};

class IllegalProgram {
 public:
  explicit IllegalProgram(uint64_t seed) : seed_(seed), random_(mix(seed)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size_);
    MPI_Op_create(add, 1, &commuting_);
    MPI_Op_create(add, 0, &other_);
  }

  int run() {
    draw();
    announce();
    makeCommunicator();
    for (int i = random_.below(7); i > 0; --i)
      call(drawPlan(), nullptr);
    const bool differs = world_rank_ == odd_rank_;
    if (!differs || !isSkipped()) call(plan_, differs ? &difference_ : nullptr);
    if (!differs || difference_ != Difference::kSkippedToTheEnd) {
      for (int i = random_.between(1, 4); i > 0; --i)
        call(drawPlan(), nullptr);
    }
    if (failed_) MPI_Abort(MPI_COMM_WORLD, 3);
    std::printf("illegal_programs: rank %d: finished\n", world_rank_);
    std::fflush(stdout);
    return 0;
  }

 private:
  bool isSkipped() const {
    return difference_ == Difference::kSkipped || difference_ == Difference::kSkippedToTheEnd;
  }

  /// Any of the collectives that this program knows how to call.
  Plan drawPlan() {
    static const std::vector<const char*> stems = {
        "Allreduce", "Allreduce",  "Reduce_scatter", "Reduce_scatter_block",
        "Allgather", "Allgatherv", "Bcast",          "Barrier"};
    static const std::vector<int> counts = {1, 2, 17, 300, 5000, 30000};
    Plan plan;
    plan.collective = &collectiveCalled(random_.pick(stems));
    plan.form = static_cast<Form>(random_.below(3));
    plan.wide = !plan.collective->isBarrier() && random_.chance(20);
    plan.count = random_.pick(counts);
    return plan;
  }

  void draw() {
    fatal_ = random_.chance(50);
    place_ = random_.below(3);
    odd_rank_ = random_.below(world_size_);
    more_ = random_.chance(50);
    do {
      plan_ = drawPlan();
    } while (plan_.collective->isBroadcast() || plan_.collective->isBarrier());
    const bool gathers = !plan_.collective->reduces();
    std::vector<Difference> all = {Difference::kCount,        Difference::kCount,
                                   Difference::kCollective,   Difference::kCollective,
                                   Difference::kSkipped,      Difference::kSkippedToTheEnd,
                                   Difference::kDatatypeNull, Difference::kAliased};
    if (gathers) {
      all.insert(all.end(), {Difference::kContribution, Difference::kExpectation});
    } else {
      all.insert(all.end(), {Difference::kOperation, Difference::kOpNull});
    }
    difference_ = random_.pick(all);
    // The other collective that the odd rank calls, with as much data.
    other_plan_ = plan_;
    while (other_plan_.collective == plan_.collective)
      other_plan_.collective = drawPlan().collective;
    other_plan_.wide = other_plan_.wide && !other_plan_.collective->isBarrier();
  }

  int otherCount() const { return more_ ? plan_.count + 1 + plan_.count / 3 : plan_.count / 2; }

  std::string whatDiffers() const {
    const std::string other =
        std::to_string(otherCount()) + " elements instead of " + std::to_string(plan_.count);
    // In the order of Difference.
    const std::string what[] = {
        "has " + other,
        "contributes " + other,
        "expects " + other + " of one rank or all",
        "calls " + other_plan_.collective->name(other_plan_.form, other_plan_.wide),
        "leaves the call out",
        "leaves this and all later calls out",
        "has an operation that does not commute",
        "has MPI_DATATYPE_NULL",
        "has MPI_OP_NULL",
        "has one buffer for both arguments"};
    return "rank " + std::to_string(odd_rank_) + " " + what[static_cast<int>(difference_)];
  }

  void announce() const {
    static const char* const places[] = {"MPI_COMM_WORLD", "a duplicate", "rows of two"};
    if (world_rank_ == 0) {
      std::printf("illegal_programs: seed %llu: %s, %s of %d elements on %s, errors %s\n",
                  static_cast<unsigned long long>(seed_), whatDiffers().c_str(),
                  plan_.collective->name(plan_.form, plan_.wide).c_str(), plan_.count,
                  places[place_], fatal_ ? "are fatal" : "return");
      std::fflush(stdout);
    }
  }

  void makeCommunicator() {
    comm_ = MPI_COMM_WORLD;
    if (place_ == 1) MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    if (place_ == 2) MPI_Comm_split(MPI_COMM_WORLD, world_rank_ / 2, world_rank_, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    if (!fatal_) {
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
      MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
  }

  /// What a call works on. All of it is kept to the end: who knows what a failed call still writes.
  struct Kept {
    std::vector<int> in, out;
    Arguments arguments;
  };

  const Arguments& keepArguments(const Plan& plan, const Difference* difference) {
    const auto has = [&](Difference one) { return difference != nullptr && *difference == one; };
    const bool reduces = plan.collective->reduces();
    const int count = has(Difference::kCount) ? otherCount() : plan.count;
    Kept& kept = kept_.emplace_back();
    // Room for whatever any rank sends here by mistake.
    const size_t most = static_cast<size_t>(std::max(plan.count, otherCount()));
    kept.in.assign(size_ * (2 * most + 2) + 64, 1 + rank_);
    kept.out.assign(kept.in.size(), 0);
    Arguments& arguments = kept.arguments;
    arguments.wide = plan.wide;
    arguments.comm = comm_;
    arguments.in = kept.in.data();
    arguments.out = kept.out.data();
    arguments.type = arguments.in_type = MPI_INT;
    arguments.op = has(Difference::kOperation)             ? other_
                   : difference_ == Difference::kOperation ? commuting_
                                                           : MPI_SUM;
    const auto fill = [&](auto& numbers) {
      numbers.count = numbers.in_count = count;
      if (has(Difference::kContribution)) numbers.in_count = otherCount();
      if (has(Difference::kExpectation)) numbers.count = otherCount();
      for (int block = 0; block < size_; ++block) {
        numbers.displacements.push_back(block * count);
        numbers.counts.push_back(count);
      }
      if (has(Difference::kExpectation)) numbers.counts[(rank_ + 1) % size_] = otherCount();
    };
    fill(arguments.narrow);
    fill(arguments.large);
    if (has(Difference::kDatatypeNull)) arguments.type = MPI_DATATYPE_NULL;
    if (has(Difference::kOpNull)) arguments.op = MPI_OP_NULL;
    if (has(Difference::kAliased))
      arguments.in = kept.out.data() + (reduces ? 0 : static_cast<size_t>(rank_) * count);
    return arguments;
  }

  void call(Plan plan, const Difference* difference) {
    if (difference != nullptr && *difference == Difference::kCollective) plan = other_plan_;
    const Arguments& arguments = keepArguments(plan, difference);
    MPI_Request request = MPI_REQUEST_NULL;
    bool good = succeeds(plan.collective->call(plan.form, arguments, &request));
    if (!good || plan.form == Form::kBlocking) return;
    if (plan.form == Form::kPersistent) good = succeeds(MPI_Start(&request));
    if (good) good = succeeds(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (good && plan.form == Form::kPersistent) MPI_Request_free(&request);
  }

  bool succeeds(int code) {
    if (code == MPI_SUCCESS) return true;
    int error_class = 0;
    MPI_Error_class(code, &error_class);
    std::printf("illegal_programs: rank %d: error class %d\n", world_rank_, error_class);
    std::fflush(stdout);
    failed_ = true;
    return false;
  }

  const uint64_t seed_;
  Random random_;
  int world_rank_ = 0, world_size_ = 1;
  MPI_Op commuting_ = MPI_OP_NULL, other_ = MPI_OP_NULL;

  bool fatal_ = true, more_ = true;
  int place_ = 0;
  int odd_rank_ = 0;  // in MPI_COMM_WORLD
  Difference difference_ = Difference::kCount;
  Plan plan_, other_plan_;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::deque<Kept> kept_;
  bool failed_ = false;
};

}  // namespace
}  // namespace programs

int main(int argc, char** argv) {
  uint64_t seed = 0;
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
  MPI_Init(&argc, &argv);
  const int status = programs::IllegalProgram(seed).run();
  MPI_Finalize();
  return status;
}
