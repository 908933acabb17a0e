// Slots of puts are overwritten only after they have been read: random schedules, round after
// round, with each rank as far ahead of the others as its messages allow, and an adversary that
// delays some ranks for long. A slot that is overwritten too early gives a wrong result, or a
// deadlock. An injected fault, a rank that reports the end of a round too early, is found.
#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "runtime/execution/executor.h"
#include "runtime/execution/inprocess_job.h"
#include "runtime/reductions/reduction.h"
#include "runtime/transport/put/put_transport.h"
#include "support/hash.h"
#include "tests/properties/random_case.h"

namespace torc {
namespace {

using runtime::HostSegment;
using Vector = std::vector<std::int64_t>;

constexpr int kLooksOfASleep = 500;

const runtime::Reducer kSums{
    runtime::reductionKernel(runtime::ElementKind::kInt64, runtime::ReduceOp::kSum), nullptr};

void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const std::uint64_t number = random();
    std::copy_n(reinterpret_cast<const std::byte*>(&number), 8, bytes.begin() + i);
  }
}

std::uint64_t seedOf(std::int32_t rank, std::uint64_t round) {
  return hashNumbers(static_cast<std::uint64_t>(rank), round);
}

/// A job whose ranks put, in this thread, each in a round of its own.
class PutJob {
 public:
  PutJob(const ScheduleView& schedule, const Counts& counts, std::int32_t root, bool copies,
         bool ends_early)
      : ends_early_(ends_early),
        beyond_(static_cast<std::int32_t>(schedule.topology.ranks()), runtime::Delivery::kEager) {
    const auto ranks = static_cast<int>(schedule.topology.ranks());
    ranks_.reserve(static_cast<std::size_t>(ranks));  // transports count into them
    StatusOr<runtime::SegmentFile> file = runtime::SegmentFile::make();
    std::vector<std::int32_t> members(static_cast<std::size_t>(ranks));
    std::iota(members.begin(), members.end(), 0);
    for (std::int32_t r = 0; r < ranks; ++r) {
      const FlatProgram program = *expand(schedule, r, counts, false, root);
      takes_puts_ = takes_puts_ && !program.synchronous_sends;
      Rank& rank = ranks_.emplace_back();
      rank.segment =
          std::move(*HostSegment::over(*file, ranks, r, std::make_shared<runtime::MemoryShare>()));
      rank.segment->setMembers(members, std::vector<int>(members.size(), getpid()));
      rank.segment->setCopies(copies);
      rank.in.resize(program.in_elements);
      rank.out.resize(program.out_elements);
      rank.scratch.resize(program.scratch_elements);
      auto transport = std::make_unique<runtime::PutTransport>(
          rank.segment, HostSegment::kOneShotTrack, beyond_.transport(r), &rank.sent);
      rank.transport = transport.get();
      rank.executor = std::move(*runtime::Executor::create(
          program,
          {reinterpret_cast<std::byte*>(rank.in.data()),
           reinterpret_cast<std::byte*>(rank.out.data()),
           reinterpret_cast<std::byte*>(rank.scratch.data()), sizeof(std::int64_t)},
          kSums, std::move(transport)));
    }
  }

  /// Schedules with synchronous sends go by MPI.
  bool takesPuts() const { return takes_puts_; }

  /// Rounds on all ranks; empty: each has `expected[round][rank]`.
  std::string run(const std::vector<std::vector<Vector>>& expected, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> weights(ranks_.size());
    std::discrete_distribution<std::size_t> next;
    std::size_t over = 0;
    for (int looks = 0, idle = 0; over < ranks_.size(); ++looks) {
      // Now and then others sleep; once nobody has got on for long, nobody does.
      if (looks % kLooksOfASleep == 0) {
        for (std::uint32_t& weight : weights)
          weight = random() % 2 == 0 || idle > 10 * kLooksOfASleep ? 200 : random() % 2;
        weights[random() % weights.size()] = 200;
        next = {weights.begin(), weights.end()};
      }
      const std::size_t r = next(random);
      Rank& rank = ranks_[r];
      if (rank.round == expected.size()) continue;
      if (!rank.running) {
        begin(r);
        continue;  // it may sleep with all before it
      }
      const std::size_t before = rank.executor->remaining();
      const runtime::Progress progress = rank.executor->advance();
      if (progress == runtime::Progress::kFailed) return rank.executor->status().message();
      idle = rank.executor->remaining() < before ? 0 : idle + 1;
      if (idle > 200 * kLooksOfASleep)
        return "rank " + std::to_string(r) + " and others stand still";
      if (progress != runtime::Progress::kDone) continue;
      idle = 0;
      if (rank.out != expected[rank.round][r]) {
        return "round " + std::to_string(rank.round) + " of rank " + std::to_string(r) +
               " is wrong";
      }
      rank.running = false;
      over += ++rank.round == expected.size() ? 1 : 0;
    }
    return {};
  }

  std::uint64_t bytesPut() const {
    std::uint64_t bytes = 0;
    for (const Rank& rank : ranks_)
      bytes += rank.sent.put;
    return bytes;
  }

 private:
  struct Rank {
    std::shared_ptr<HostSegment> segment;
    runtime::SentBytes sent;
    Vector in, out, scratch;
    std::unique_ptr<runtime::Executor> executor;
    runtime::PutTransport* transport = nullptr;
    std::uint64_t round = 0;
    bool running = false;
  };

  void begin(std::size_t r) {
    Rank& rank = ranks_[r];
    fill(std::as_writable_bytes(std::span(rank.in)), seedOf(static_cast<int>(r), rank.round));
    std::ranges::fill(rank.out, 0);
    const std::uint64_t call = runtime::TagSpace::hashOf(1, rank.round);
    rank.transport->bindTags({0, 1, call});
    rank.executor->start();
    rank.running = true;
    if (!ends_early_) return;
    const int lanes = HostSegment::kOneShotTrack.lanes;
    rank.segment->ended(static_cast<int>(r), static_cast<int>(rank.round) % lanes) = call;
  }

  bool ends_early_, takes_puts_ = true;
  runtime::InProcessNetwork beyond_;  // for what has no room
  std::vector<Rank> ranks_;
};

/// What each rank has after each round, by messages in process.
std::vector<std::vector<Vector>> expectedRounds(const ScheduleView& schedule, const Counts& counts,
                                                std::int32_t root, std::uint64_t rounds) {
  runtime::JobOptions options;
  options.root = root;
  options.element_bytes = sizeof(std::int64_t);
  options.reducer = kSums;
  options.delivery = runtime::Delivery::kEager;
  auto made = runtime::InProcessJob::create(schedule, counts, options);
  runtime::InProcessJob* job = made->get();
  std::vector<std::vector<Vector>> results(rounds);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::int32_t r = 0; r < job->ranks(); ++r) {
      fill(job->in(r), seedOf(r, round));
      std::ranges::fill(job->out(r), std::byte{0});
    }
    EXPECT_TRUE(job->run().ok());
    for (std::int32_t r = 0; r < job->ranks(); ++r) {
      const auto* out = reinterpret_cast<const std::int64_t*>(job->out(r).data());
      results[round].emplace_back(out, out + job->out(r).size() / sizeof(std::int64_t));
    }
  }
  return results;
}

RC_GTEST_PROP(PutRounds, NoSlotIsWrittenBeforeItHasBeenRead, ()) {
  const CompileCase test_case = drawCase(10);
  const Schedule schedule = drawLoops(compileCase(test_case));
  const CheckedCall call = drawCall(schedule);
  const std::uint64_t seed = *rc::gen::inRange<std::uint64_t>(0, 1u << 30);
  const Counts counts{seed % 4 == 1 ? 4000 : call.count, {}, {}};
  RC_LOG() << test_case.text() << ", count " << counts.count << ", root " << call.root << "\n";
  RC_TAG(test_case.collective);
  PutJob job(schedule.view(), counts, call.root, seed % 2 == 0, false);
  if (schedule.topology.ranks() < 2 || !job.takesPuts()) return;
  const std::string wrong = job.run(expectedRounds(schedule.view(), counts, call.root, 20), seed);
  RC_CLASSIFY(job.bytesPut() > 0, "puts");
  if (counts.count > 0 && counts.count <= 100) RC_ASSERT(job.bytesPut() > 0);
  if (!wrong.empty()) RC_FAIL(wrong);
}

// A broadcast's root is ahead of all others: nothing but what they state keeps it from their slots.
TEST(PutRounds, ARankThatStatesTooEarlyThatItHasEndedIsFound) {
  for (const char* shape : {"2", "4", "3x2"}) {
    CompileCase test_case;
    test_case.collective = "broadcast";
    test_case.shape = shape;
    test_case.algorithm = "dimension-tree";
    const Schedule schedule = compileCase(test_case);
    for (const std::uint64_t count : {1u, 500u, 5000u}) {
      const Counts counts{count, {}, {}};
      const auto expected = expectedRounds(schedule.view(), counts, 0, 60);
      for (const bool ends_early : {false, true}) {
        std::string wrong;  // under some adversary
        for (std::uint64_t seed = 0; seed < 10 && wrong.empty(); ++seed) {
          PutJob job(schedule.view(), counts, 0, false, ends_early);
          wrong = job.run(expected, seed);
          EXPECT_GT(job.bytesPut(), 0u);
        }
        EXPECT_EQ(wrong.empty(), !ends_early) << shape << ", " << count << ": " << wrong;
      }
    }
  }
}

}  // namespace
}  // namespace torc
