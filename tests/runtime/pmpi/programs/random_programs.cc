// Random legal MPI programs, without knowledge of torc: communicators made and freed, collectives
// of all kinds and forms on them with active operations, messages, windows and files in between.
// Every byte of every buffer and every status of a message is checked, and the results of all ranks
// are summed up in one number per program, which depends only on the seed, the program and the
// number of ranks and threads.
//
//   random_programs --seed S --programs N [--first P] [--threads T] [--calls M]
//                   [--only STEM,STEM...] [--without HABIT,HABIT...] [--verbose]
//
// Rank 0 prints a line when it has done a program, and the numbers at the end.
// --threads T: each program has T threads (MPI_THREAD_MULTIPLE) with communicators of their own.
// --first P: programs P .. P + N - 1 of the seed. --calls M: steps of a program (default 30).
// --only: these collectives: Bcast,Reduce_scatter. --without: to find out what matters, programs
// without in-place calls (place), MPI_Count functions (wide), lists overwritten after the call
// (lists), handles freed before it is complete (frees), MPI_BOTTOM (bottom), one address for both
// buffers (base), communicators that are being duplicated while other things happen (idup),
// windows, files, collectives between two groups (groups) and on grids (neighbors), persistent
// calls (persistent).
// --verbose: each call on each rank, before it begins.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>

#include "tests/runtime/pmpi/mpi_calls/checks.h"
#include "tests/runtime/pmpi/mpi_calls/mpi_faults.h"
#include "tests/runtime/pmpi/programs/activities/activity.h"
#include "tests/runtime/pmpi/programs/activities/communicators.h"
#include "tests/runtime/pmpi/programs/activities/mpis_own.h"
#include "tests/runtime/pmpi/programs/activities/pending.h"
#include "tests/runtime/pmpi/programs/activities/record.h"
#include "tests/runtime/pmpi/programs/draw.h"

namespace programs {
namespace {

constexpr size_t kMostPending = 12;
constexpr size_t kMostPersistent = 4;

/// What all programs of a run have in common.
struct Run {
  Options options;
  int steps = 30;
  bool verbose = false;
};

/// What a thread has for MPI_COMM_WORLD and MPI_COMM_SELF; the first has these.
struct World {
  MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
};

/// One thread of a program.
class Program {
 public:
  Program(const Run& run, World world)
      : run_(run),
        common_(mix(record().seed, record().program, record().thread)),
        communicators_(world.world, world.self) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    local_ = Random(mix(record().seed, record().program, record().thread, rank + 1));
  }

  /// Returns how many calls there were, on all ranks.
  int run() {
    for (number_ = 0; number_ < run_.steps; ++number_) {
      record().call = number_;
      const int way = common_.below(100);
      if (way < 59)
        collective();
      else if (way < 67)
        makeCommunicator();
      else if (way < 71)
        freeCommunicator();
      else if (way < 81)
        messages();
      else if (way < 90)
        startAgain();
      else if (way < 94)
        useRest(way - 90);
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
    std::shared_ptr<CollectiveActivity> call;
    int rounds_left = 0;
    int communicator = 0;
  };

  void makeCommunicator() {
    say("made " + communicators_.make(common_));
    if (!run_.options.has("idup")) communicators_.useLast();
  }

  void freeCommunicator() {
    if (!run_.options.has("frees")) pending_.settleAll(local_);
    say("freed " + communicators_.freeOne(common_));
  }

  void say(const std::string& text) const {
    if (!run_.verbose) return;
    std::printf("program %d, thread %d, call %d: %s\n", record().program, record().thread, number_,
                text.c_str());
    std::fflush(stdout);
  }

  void collective() {
    const int index = communicators_.drawIndex(common_);
    const Shape shape = drawShape(common_, run_.options, Among::kRanks);
    const Communicator& communicator = communicators_.use(index);
    const int identity = communicators_.identityOf(index);
    ++calls_;
    std::shared_ptr<CollectiveActivity> call;
    if (communicator.hasMe()) {
      call = std::make_shared<CollectiveActivity>(shape, communicator, number_);
      say(call->describe());
    }
    if (shape.form == Form::kPersistent) {
      if (persistent_.size() == kMostPersistent) drop(0);
      communicators_.countPersistent(identity, 1);
      persistent_.push_back({call, shape.rounds - 1, identity});
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
    const Communicator& communicator = drawCommunicator();
    say("messages on " + communicator.name);
    exchangeMessages(common_, communicator, number_, pending_);
  }

  const Communicator& drawCommunicator() {
    return communicators_.use(communicators_.drawIndex(common_));
  }

  /// What is MPI's own.
  void useRest(int way) {
    static const char* const kHabits[] = {"windows", "files", "groups", "neighbors"};
    const Communicator& communicator =
        way == 3 ? communicators_.use(communicators_.drawGrid(common_)) : drawCommunicator();
    if (!run_.options.has(kHabits[way])) return;
    say(std::string(kHabits[way]) + " on " + communicator.name);
    if (way == 0) useWindow(common_, communicator, number_);
    if (way == 1) useFile(common_, communicator, number_);
    if (way == 2) talkBetweenHalves(communicator);
    if (way == 3) {
      const Shape shape = drawShape(common_, run_.options, Among::kNeighbors);
      if (communicator.is_grid && communicator.hasMe()) begin(shape, communicator);
    }
  }

  /// Cuts a communicator in two, calls a few collectives between the halves, and frees what it
  /// made; calls may still be under way.
  void talkBetweenHalves(const Communicator& communicator) {
    const bool by_parity = common_.chance(50);
    std::vector<Shape> shapes;
    for (int left = common_.between(1, 3); left > 0; --left)
      shapes.push_back(drawShape(common_, run_.options, Among::kGroups));
    if (!communicator.hasMe() || communicator.size() < 2) return;
    Communicator between = makeInter(communicator, by_parity);
    for (const Shape& shape : shapes)
      begin(shape, between);
    check(MPI_Comm_free(&between.handle), number_, "MPI_Comm_free between two groups");
  }

  void begin(const Shape& shape, const Communicator& communicator) {
    auto call = std::make_shared<CollectiveActivity>(shape, communicator, number_);
    say(call->describe());
    call->start();
    if (shape.form != Form::kBlocking) pending_.add(call);
  }

  const Run& run_;
  Random common_;
  Random local_{0};
  int number_ = 0;
  int calls_ = 0;
  Communicators communicators_;
  std::vector<Kept> persistent_;
  Pending pending_;
};

std::vector<std::string> splitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part);
  return parts;
}

std::vector<World> makeWorlds(int threads) {
  std::vector<World> worlds(threads);
  for (int thread = 1; thread < threads; ++thread) {
    MPI_Comm_dup(MPI_COMM_WORLD, &worlds[thread].world);
    MPI_Comm_dup(MPI_COMM_SELF, &worlds[thread].self);
  }
  return worlds;
}

/// Runs a program, and returns its calls and the sum of its results.
std::pair<int64_t, uint64_t> runProgram(const Run& run, const std::vector<World>& worlds) {
  if (worlds.size() == 1) {
    record().hash = 0;
    const int calls = Program(run, worlds.front()).run();
    return {calls, record().hash};
  }
  std::vector<std::thread> threads;
  std::vector<std::pair<int64_t, uint64_t>> results(worlds.size());
  for (size_t thread = 0; thread < worlds.size(); ++thread) {
    threads.emplace_back([&, thread, of_program = record()] {
      record() = of_program;
      record().thread = static_cast<int>(thread);
      const int calls = Program(run, worlds[thread]).run();
      results[thread] = {calls, record().hash};
    });
  }
  std::pair<int64_t, uint64_t> sum{0, 0};
  for (size_t thread = 0; thread < worlds.size(); ++thread) {
    threads[thread].join();
    sum.first += results[thread].first;
    sum.second += results[thread].second;
  }
  return sum;
}

struct Arrangement {
  Run run;
  int programs = 100, first = 0, threads = 1;
};

Arrangement parse(int argc, char** argv) {
  Arrangement all;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--verbose") {
      all.run.verbose = true;
      continue;
    }
    ++i;
    Options& options = all.run.options;
    if (option == "--seed") record().seed = std::strtoull(value, nullptr, 10);
    if (option == "--programs") all.programs = std::atoi(value);
    if (option == "--first") all.first = std::atoi(value);
    if (option == "--threads") all.threads = std::atoi(value);
    if (option == "--calls") all.run.steps = std::atoi(value);
    if (option == "--without") options.without = splitAtCommas(value);
    if (option == "--only") options.only = splitAtCommas(value);
  }
  for (const std::string& habit : faultyHabits(all.threads))
    all.run.options.without.push_back(habit);
  return all;
}

void run(const Arrangement& all) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<World> worlds = makeWorlds(all.threads);
  int64_t calls = 0;
  std::vector<uint64_t> hashes;
  for (int program = all.first; program < all.first + all.programs; ++program) {
    record().program = program;
    const auto [own_calls, hash] = runProgram(all.run, worlds);
    calls += own_calls;
    hashes.push_back(hash);
    if (rank != 0) continue;
    std::printf("program %d: %lld calls\n", program, static_cast<long long>(own_calls));
    std::fflush(stdout);
  }
  sumOnRank0(hashes);
  if (rank != 0) return;
  for (int i = 0; i < all.programs; ++i)
    std::printf("program %d: hash %016llx\n", all.first + i,
                static_cast<unsigned long long>(hashes[i]));
  std::printf("random_programs: %d programs, %lld calls\n", all.programs,
              static_cast<long long>(calls));
}

}  // namespace
}  // namespace programs

int main(int argc, char** argv) {
  const programs::Arrangement all = programs::parse(argc, argv);
  const int wanted = all.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided = wanted;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  if (provided < wanted) {
    std::fprintf(stderr, "random_programs: MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  mpi_calls::on_failure = [](const std::string& text) {
    programs::fail(programs::record().call, text);
  };
  programs::run(all);
  MPI_Finalize();
  return 0;
}
