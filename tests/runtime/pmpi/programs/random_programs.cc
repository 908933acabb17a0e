// Random legal MPI programs, which know nothing of torc: communicators made and freed, collectives
// of all kinds and forms on them with operations under way, messages in between. Every byte of
// every buffer is checked, and the results of all ranks are summed up in one number, which depends
// on the seed and on the number of ranks only.
//
//   random_programs --seed S --programs N [--first P] [--calls M] [--forms blocking|all]
//                   [--only STEM,STEM...] [--without HABIT,HABIT...] [--trust STEM,STEM...]
//                   [--verbose]
//
// --first P: programs P .. P + N - 1 of the seed. --calls M: steps of a program (default 30).
// --only: these collectives: Bcast,Reduce_scatter. --without: to find out what matters, programs
// without in-place calls (place), MPI_Count functions (wide), lists overwritten after the call
// (lists), handles freed after it (frees), MPI_BOTTOM (bottom), one address for both buffers
// (base), communicators that are being duplicated while other things happen (idup).
// --trust: collectives that MPICH 4.0.2 gets wrong, on MPI_COMM_WORLD, but not what stands before
// it: Allgather. --verbose: each call on each rank, before it begins.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/programs/activities/communicators.h"
#include "tests/runtime/pmpi/programs/activities/messages.h"
#include "tests/runtime/pmpi/programs/activities/pending.h"
#include "tests/runtime/pmpi/programs/calls/call.h"
#include "tests/runtime/pmpi/programs/calls/shape.h"
#include "tests/runtime/pmpi/programs/record.h"

namespace programs {
namespace {

constexpr size_t kMostPending = 12;
constexpr size_t kMostPersistent = 4;

class Program {
 public:
  Program(const Options& options, int steps, bool verbose)
      : options_(options),
        verbose_(verbose),
        steps_(steps),
        common_(mix(record().seed, record().program)) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    local_ = Random(mix(record().seed, record().program, rank + 1));
  }

  /// Returns how many calls there were, on all ranks.
  int run() {
    for (number_ = 0; number_ < steps_; ++number_) {
      const int way = common_.below(100);
      if (way < 62)
        collective();
      else if (way < 70)
        makeCommunicator();
      else if (way < 74)
        say("freed " + communicators_.freeOne(common_, number_));
      else if (way < 82)
        messages();
      else if (way < 92)
        startAgain();
      else
        pending_.settleSome(local_);
      // Nothing but the end of the program makes a rank wait for everything.
      while (pending_.size() > kMostPending)
        pending_.settleSome(local_);
    }
    pending_.settleAll(local_);
    while (!persistent_.empty())
      drop(0);
    return calls_;
  }

 private:
  /// A persistent call, known on all ranks; null where the communicator is without the rank.
  struct Kept {
    std::shared_ptr<Call> call;
    int rounds_left = 0;
    int communicator = 0;
  };

  void makeCommunicator() {
    say("made " + communicators_.make(common_, number_));
    if (!options_.has("idup")) communicators_.useLast(number_);
  }

  void say(const std::string& text) const {
    if (!verbose_) return;
    std::printf("program %d, call %d: %s\n", record().program, number_, text.c_str());
    std::fflush(stdout);
  }

  void collective() {
    const int index = communicators_.drawIndex(common_);
    const bool entire = index == 0;
    const Shape shape = drawShape(common_, options_, entire);
    const Communicator& communicator = communicators_.use(index, number_);
    ++calls_;
    std::shared_ptr<Call> call;
    if (communicator.hasMe()) {
      call = std::make_shared<Call>(shape, communicator, number_);
      say(call->describe());
    }
    if (shape.form == Form::kPersistent) {
      if (persistent_.size() == kMostPersistent) drop(0);
      communicators_.countPersistent(communicator.identity, 1);
      persistent_.push_back({call, shape.rounds - 1, communicator.identity});
    }
    if (call == nullptr) return;
    call->start();
    if (shape.form != Form::kBlocking) pending_.add(call);
  }

  /// Starts the next round of each persistent call, or frees it when there is none left.
  void startAgain() {
    for (size_t i = 0; i < persistent_.size();) {
      Kept& kept = persistent_[i];
      if (kept.rounds_left == 0) {
        drop(i);
        continue;
      }
      --kept.rounds_left;
      ++calls_;
      ++i;
      if (kept.call == nullptr) continue;
      pending_.settle(kept.call.get());
      say("again, " + kept.call->describe());
      kept.call->start();
      pending_.add(kept.call);
    }
  }

  void drop(size_t i) {
    const Kept kept = persistent_[i];
    persistent_.erase(persistent_.begin() + static_cast<std::ptrdiff_t>(i));
    if (kept.call != nullptr) {
      pending_.settle(kept.call.get());
      kept.call->freeRequest();
    }
    communicators_.countPersistent(kept.communicator, -1);
  }

  void messages() {
    const Communicator& communicator =
        communicators_.use(communicators_.drawIndex(common_), number_);
    say("messages on " + communicator.name);
    exchangeMessages(common_, communicator, number_, pending_);
  }

  const Options& options_;
  const bool verbose_;
  const int steps_;
  Random common_;
  Random local_{0};
  int number_ = 0;
  int calls_ = 0;
  Communicators communicators_;
  std::vector<Kept> persistent_;
  Pending pending_;
};

/// Sum of all ranks' hashes, on rank 0; by messages, as collectives are what is on trial.
uint64_t totalHash() {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  constexpr int kTag = 32101;
  uint64_t total = record().hash;
  if (rank != 0) {
    MPI_Send(&total, 1, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD);
    return 0;
  }
  for (int other = 1; other < size; ++other) {
    uint64_t theirs = 0;
    MPI_Recv(&theirs, 1, MPI_UINT64_T, other, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    total += theirs;
  }
  return total;
}

std::vector<std::string> splitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part);
  return parts;
}

void run(int argc, char** argv) {
  Options options;
  int programs = 100, first = 0, steps = 30;
  bool verbose = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--verbose") {
      verbose = true;
      continue;
    }
    ++i;
    if (option == "--seed") record().seed = std::strtoull(value, nullptr, 10);
    if (option == "--programs") programs = std::atoi(value);
    if (option == "--first") first = std::atoi(value);
    if (option == "--calls") steps = std::atoi(value);
    if (option == "--forms") options.all_forms = std::strcmp(value, "all") == 0;
    if (option == "--trust") options.trusted = splitAtCommas(value);
    if (option == "--without") options.without = splitAtCommas(value);
    if (option == "--only") options.only = splitAtCommas(value);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int64_t calls = 0;
  for (int program = first; program < first + programs; ++program) {
    record().program = program;
    calls += Program(options, steps, verbose).run();
  }
  const uint64_t hash = totalHash();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf("random_programs: %d programs, %lld calls, hash %016llx\n", programs,
                static_cast<long long>(calls), static_cast<unsigned long long>(hash));
}

}  // namespace
}  // namespace programs

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  programs::run(argc, argv);
  MPI_Finalize();
  return 0;
}
