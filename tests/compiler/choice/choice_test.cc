// The choice for a size, compared with the lower bound: simulated, so reproducible.
#include "compiler/choice/choice.h"

#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/target.h"
#include "model/bounds/bounds.h"
#include "schedules/format/file.h"

namespace torc::compiler {
namespace {

constexpr double kLarge = 1 << 30;

Target targetOf(llvm::StringRef shape, llvm::StringRef machine = "") {
  return cantFail(readTarget(shape, "", machine));
}

Choice chooseFor(Collective collective, const Target& target, double bytes,
                 const ChoiceLimits& limits = {}) {
  return cantFail(choose({collective, target.topology}, target.machine, bytes, limits));
}

/// Predicted time of the best candidate over what bounds a reduce_scatter followed by an allgather:
/// on tori that is the lower bound.
double ratioToBound(Collective collective, const Target& target) {
  model::BoundRequest request;
  request.collective = rowOf(collective);
  request.bytes = kLarge;
  const model::Bound bound = model::lowerBound(target.machine, request);
  const double least = std::max(bound.bound_s, bound.reduce_scatter_allgather_s.value_or(0));
  return chooseFor(collective, target, kLarge).best().predicted_s / least;
}

class LargeVectors : public testing::TestWithParam<const char*> {};

TEST_P(LargeVectors, ComeWithinThreePercentOfTheBound) {
  const Target target = targetOf(GetParam());
  for (int c = 0; c < kCollectiveCount; ++c) {
    const CollectiveRow& row = rowOf(static_cast<Collective>(c));
    if (row.isRooted() || row.isPrefix()) continue;
    const auto collective = static_cast<Collective>(c);
    EXPECT_LE(ratioToBound(collective, target), 1.03) << rowOf(collective).name;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LargeVectors,
                         testing::Values("8x8x8", "16x16x16", "16x8x8", "8x32x16", "40x32x16",
                                         "64x32x32", "4x4x2", "2x3x5", "8x2", "16x4", "12x10x3x2",
                                         "2x2x32", "4x4x64", "48x2", "2x48", "2x2x512", "4x4x4m",
                                         "8x4x2m", "16x2mx2m", "6mx4m"),
                         [](const auto& instance) { return std::string("On") + instance.param; });

TEST(Choice, NothingIsPredictedToBeatTheBound) {
  for (const char* shape : {"16x16x16", "8x32x16", "12x10x3x2", "512x2x2"}) {
    const Target target = targetOf(shape);
    for (const Collective collective :
         {Collective::kAllgather, Collective::kReduceScatter, Collective::kAllreduce}) {
      model::BoundRequest request;
      request.collective = rowOf(collective);
      request.bytes = 64 << 20;
      const double bound = model::lowerBound(target.machine, request).bound_s;
      for (const Candidate& candidate : chooseFor(collective, target, request.bytes).candidates) {
        if (!candidate.refusal.empty()) continue;
        EXPECT_GE(candidate.predicted_s, 0.99 * bound)
            << rowOf(collective).name << " on " << shape << ": " << candidate.description();
      }
    }
  }
}

TEST(Choice, LeavesOutChunksThatABusyLinkRulesOut) {
  const Choice choice = chooseFor(Collective::kReduce, targetOf("4x4x4"), 64 << 20);
  EXPECT_EQ(choice.best().algorithm->name, "rectangular");
  int left_out = 0;
  for (const Candidate& candidate : choice.candidates) {
    if (candidate.algorithm->name != "binomial" || candidate.options.chunks == 1) continue;
    EXPECT_FALSE(candidate.tried) << candidate.description();
    EXPECT_EQ(candidate.refusal, "its busiest link alone takes longer than another takes in all");
    ++left_out;
  }
  EXPECT_EQ(left_out, 1);
}

TEST(Choice, UnequalLinksToo) {
  Target target = targetOf("4x4x4");
  target.machine.dimensions[2].bandwidth /= 2;
  target.topology = cantFail(model::topologyOf(target.machine));
  for (int c = 0; c < kCollectiveCount; ++c) {
    const CollectiveRow& row = rowOf(static_cast<Collective>(c));
    if (row.isRooted() || row.isPrefix()) continue;
    EXPECT_LE(ratioToBound(static_cast<Collective>(c), target), 1.03);
  }
}

TEST(Choice, ADeadLinkCostsOnlyItsShare) {
  Target target = targetOf("4x4x3");
  ASSERT_FALSE(addDamage(target, {"0,0,1:Z"}, {}));
  for (int c = 0; c < kCollectiveCount; ++c) {
    const CollectiveSpec spec{static_cast<Collective>(c), target.topology};
    const CollectiveRow& row = rowOf(spec.collective);
    if (row.isRooted() || row.isPrefix() || !isServed(spec)) continue;
    // Blocks of an all-to-all take one way each.
    const double most = spec.collective == Collective::kAlltoall ? 1.06 : 1.03;
    EXPECT_LE(ratioToBound(spec.collective, target), most);
  }
}

// Not twice what a reduce-scatter takes: lines carry sums one way and results the other.
TEST(Choice, AnAllreduceFillsLines) {
  for (const char* shape : {"4x2x4m", "6x5m", "4mx4m"}) {
    const Target target = targetOf(shape);
    model::BoundRequest request;
    request.bytes = double{1 << 30};
    const double bound = model::lowerBound(target.machine, request).bound_s;
    const Candidate best = chooseFor(Collective::kAllreduce, target, request.bytes).best();
    EXPECT_LE(best.predicted_s / bound, 1.03) << shape;
    EXPECT_EQ(best.options.weights, passes::ColorWeights::kOverlapped) << shape;
  }
}

TEST(Choice, CutRingsGoRoundOrRunAsLines) {
  Target target = targetOf("8x8x8");
  const auto cut = [&](const char* link) {
    ASSERT_TRUE(target.topology.addDeadLink(*parseDeadLink(target.topology, link)).ok());
  };
  cut("2,2,2:X");
  const Candidate lines = chooseFor(Collective::kAllgather, target, 16 << 20).best();
  EXPECT_EQ(lines.options.cuts, CutRings::kLines);
  cut("5,5,5:Y");
  const Candidate round = chooseFor(Collective::kAllgather, target, 16 << 20).best();
  EXPECT_EQ(round.options.cuts, CutRings::kDetours);
  ChoiceLimits limits;
  limits.cuts = CutRings::kLines;
  const Candidate settled = chooseFor(Collective::kAllgather, target, 16 << 20, limits).best();
  EXPECT_GT(settled.predicted_s, 1.15 * round.predicted_s);
}

TEST(Choice, PhasesGoInTurnAlongLines) {
  const Target target = targetOf("12mx4mx2");
  ChoiceLimits limits;
  limits.algorithm = cantFail(findAlgorithm("bucket"));
  limits.weights = passes::ColorWeights::kBalanced;
  limits.directions = passes::DirectionModel::kBidirectional;
  const Candidate best = chooseFor(Collective::kAllgather, target, 1 << 30, limits).best();
  EXPECT_EQ(best.options.segment_order, passes::SegmentOrder::kPhases);
  EXPECT_LT(best.predicted_s, 1.04 * best.busy_s);
  limits.segment_order = passes::SegmentOrder::kChains;
  const Candidate chains = chooseFor(Collective::kAllgather, target, 1 << 30, limits).best();
  EXPECT_GT(chains.predicted_s, 1.2 * best.predicted_s);
}

TEST(Choice, SmallVectorsTakeFewStepsLargeOnesManySegments) {
  const Target target = targetOf("4x4x2");
  const Candidate small = chooseFor(Collective::kAllreduce, target, 8).best();
  const Candidate large = chooseFor(Collective::kAllreduce, target, kLarge).best();
  EXPECT_EQ(small.options.segments, 1u);
  EXPECT_GE(large.options.segments, 8u);
  EXPECT_EQ(large.options.weights, passes::ColorWeights::kBalanced);
  EXPECT_LT(small.steps, large.steps);
  EXPECT_LT(small.messages, large.messages);
}

// Of vectors in the middle a pipeline along trees is short: what fills it soonest is in more
// segments than hide start-ups.
TEST(Choice, NoOtherNumberOfStaggeredSegmentsIsMuchBetter) {
  for (const char* shape : {"4x4x4", "4x3x2", "16"}) {
    const Target target = targetOf(shape);
    constexpr double kBytes = 128e3;
    const double chosen = chooseFor(Collective::kReduce, target, kBytes).best().predicted_s;
    ChoiceLimits limits;
    limits.algorithm = cantFail(findAlgorithm("rectangular"));
    limits.in_flight = 2;
    for (const std::uint32_t chunks : {5, 7, 10, 14, 20, 28}) {
      limits.chunks = chunks;
      const Candidate other = chooseFor(Collective::kReduce, target, kBytes, limits).best();
      EXPECT_LT(chosen, 1.07 * other.predicted_s) << shape << ' ' << chunks;
    }
  }
}

TEST(Choice, CandidatesAreInOrderAndTheFirstIsNoSlowerThanOnePercent) {
  const Choice choice = chooseFor(Collective::kReduceScatter, targetOf("5x4"), 1 << 20);
  ASSERT_GE(choice.candidates.size(), 8u);
  double before = 0;
  for (std::size_t i = 1; i < choice.candidates.size(); ++i) {
    const Candidate& candidate = choice.candidates[i];
    if (!candidate.refusal.empty()) continue;
    // Two chunks in flight that are not simulated rank by rank rank 5 % lower.
    EXPECT_GE(1.05 * candidate.predicted_s, before);
    EXPECT_LE(choice.best().predicted_s, 1.01 * 1.05 * candidate.predicted_s);
    before = candidate.predicted_s;
  }
}

// Blocks of 68 elements for three links: messages of whole elements are unequal, and buffered ones
// share links, which by classes of nodes nobody sees (1.03 of the bound, 1.27 rank by rank).
TEST(Choice, TheFirstHasBeenSimulatedRankByRank) {
  for (const char* shape : {"5x3x4", "6x4x2m"}) {
    Target target = targetOf(shape);
    target.machine.eager = target.machine.buffered = 65535;
    const Candidate best = chooseFor(Collective::kAllreduce, target, 1 << 16).best();
    EXPECT_TRUE(best.per_rank) << shape << ": " << best.description();
  }
}

// What an algorithm loses there counts for its candidates that nobody looks at.
TEST(Choice, WhatIsKnownOfACandidateCountsForTheOthersOfItsAlgorithm) {
  Target target = targetOf("6x4x2m");
  target.machine.eager = target.machine.buffered = 65535;
  const Choice choice = chooseFor(Collective::kAllreduce, target, 1 << 16);
  int outdone = 0;
  for (const Candidate& other : choice.candidates) {
    if (other.refusal.empty() && kTie * other.predicted_s < choice.best().predicted_s) {
      EXPECT_GT(other.unseen, 1.0) << other.description();
      ++outdone;
    }
  }
  EXPECT_TRUE(choice.best().per_rank);
  EXPECT_GT(outdone, 0);
}

// Whatever the shape, what is compiled to choose is little, and what is chosen is small.
class Budget : public testing::TestWithParam<const char*> {};

TEST_P(Budget, IsKeptWhateverTheShape) {
  const Target target = targetOf(GetParam());
  passes::PassManagerOptions unproved;
  unproved.verify_each = false;
  for (const double bytes : {64.0, 1e6}) {
    const Choice choice = chooseFor(Collective::kAllreduce, target, bytes);
    EXPECT_LE(choice.built, 150000u) << bytes;
    const Candidate& best = choice.best();
    const ir::Program program =
        cantFail(compile({Collective::kAllreduce, target.topology}, *best.algorithm,
                         pipelineOf(*best.algorithm, best.options), unproved));
    EXPECT_EQ(best.operations, program.schedule.operations.size() * program.schedule.segments)
        << best.description();
    EXPECT_LE(writeSchedule(program.schedule.view()).size(), 1u << 20) << best.description();
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Budget, testing::Values("13x11x7", "16x16x16", "16mx16mx16m"),
                         [](const auto& instance) { return std::string("On") + instance.param; });

TEST(Choice, ListsOfBlocksAreNotTriedWhereTheirProofOrFileIsTooLarge) {
  const auto whyNot = [](llvm::StringRef shape) {
    const Choice choice = chooseFor(Collective::kAllreduce, targetOf(shape), 1 << 20);
    for (const Candidate& candidate : choice.candidates) {
      if (candidate.algorithm->name == "bfb" && !candidate.tried) return candidate.refusal;
    }
    return std::string("tried");
  };
  EXPECT_EQ(whyNot("16x16x16"), "its proof would take too long");
  EXPECT_EQ(whyNot("540x2x2"), "its file would have about 1.1 MiB, more than 1.0 MiB");
}

TEST(Choice, ASmallerMeshStandsInWhereTooManyNodesDiffer) {
  const Choice small = chooseFor(Collective::kAllreduce, targetOf("8mx8m"), 1 << 20);
  EXPECT_EQ(small.best().stand_in, "");
  const Choice large = chooseFor(Collective::kAllreduce, targetOf("32x32mx32m"), 1 << 20);
  EXPECT_EQ(large.best().stand_in, "32x8mx8m");
  // Scaled up: no less than what bounds the large one.
  model::BoundRequest request;
  request.collective = cantFail(model::parseBoundedCollective("allreduce"));
  request.bytes = 1 << 20;
  EXPECT_GE(large.best().predicted_s,
            model::lowerBound(targetOf("32x32mx32m").machine, request).bound_s);
}

TEST(StandIn, KeepsWhatIsOddOddAndDeadLinksOnTheirAxes) {
  Target target = targetOf("21mx16mx8");
  ASSERT_FALSE(addDamage(target, {"20,15,3:Z"}, {}));
  const auto smaller = standInFor(target.topology, target.machine, {true, true, false}, 100);
  ASSERT_TRUE(smaller);
  EXPECT_EQ(smaller->topology.shape(), "11mx8mx8");
  ASSERT_EQ(smaller->topology.deadLinks().size(), 1u);
  EXPECT_EQ(smaller->topology.deadLinks()[0].axis, 2u);
  EXPECT_EQ(smaller->topology.deadLinks()[0].from, (Coordinates{10, 7, 3}));
  // Nothing is left to halve.
  EXPECT_FALSE(standInFor(target.topology, target.machine, {true, true, false}, 8));
  const auto larger = standInFor(target.topology, target.machine, {true, true, false}, 200, 0.75);
  EXPECT_EQ(larger->topology.shape(), "15mx12mx8");
}

// 512 nodes differ, but execute 1,278 operations in all. There is less than a byte for each, so
// that nothing is simulated rank by rank.
TEST(StandIn, IsNotNeededWhereNodesExecuteLittle) {
  CompileCache programs({Collective::kScatter, *parseTopology("8x8x8")});
  const model::Machine machine = targetOf("8x8x8", "generic").machine;
  ChoiceLimits limits;
  limits.algorithm = cantFail(findAlgorithm("binomial"));
  const Choice choice = cantFail(choose(programs, machine, 64, limits));
  EXPECT_EQ(choice.best().stand_in, "");
  EXPECT_FALSE(choice.best().per_rank);
  EXPECT_NEAR(choice.best().predicted_s, 9 * machine.alpha, 0.1e-6);
}

// 4x4x4x4x4 still has more nodes that differ than are simulated where there is the choice.
TEST(StandIn, IsTheSmallestThereIs) {
  CompileCache programs({Collective::kGather, *parseTopology("8x8x8x8x8")});
  const model::Machine machine = targetOf("8x8x8x8x8", "generic").machine;
  ChoiceLimits limits;
  limits.algorithm = cantFail(findAlgorithm("scatter-trees"));
  limits.chunks = 1;
  EXPECT_EQ(cantFail(choose(programs, machine, 64, limits)).best().stand_in, "4x4x4x4x4");
}

// What "Scaling Alltoall Collective on Multi-core Systems" found of network interfaces: where they
// send few messages a second a leader is fastest; where it is cores that copy to them, all of them
// have to, and those of a node combine their messages.
TEST(Choice, WhichCoresExchangeDependsOnTheInterface) {
  CompileCache programs({Collective::kAlltoall, *parseTopology("8x8+8")});
  model::Machine machine =
      cantFail(model::partitionOf(cantFail(model::findMachine("generic")), "8x8+8"));
  const auto seconds = [&](llvm::StringRef algorithm, double bytes) {
    ChoiceLimits limits;
    limits.algorithm = cantFail(findAlgorithm(algorithm));
    return cantFail(choose(programs, machine, bytes, limits)).best().predicted_s;
  };
  machine.message_gap = 1e-6;
  EXPECT_LT(4 * seconds("leader", 4 << 10), seconds("aggregated", 4 << 10));
  EXPECT_LT(4 * seconds("aggregated", 4 << 10), seconds("direct", 4 << 10));
  machine.message_gap = 1e-8;
  machine.injection = 1e8;
  EXPECT_LT(2 * seconds("aggregated", 64 << 10), seconds("leader", 64 << 10));
}

/// What `--explain` says of a choice.
class Explained {
 public:
  Explained(Collective collective, const Target& target, const ChoiceLimits& limits = {})
      : spec_{collective, target.topology}, programs_(spec_) {
    choice_ = consider(programs_, target.machine, 64 << 10, limits);
    left_out_ = leftOut(choice_, spec_, target.machine, limits);
  }

  const std::vector<LeftOut>& leftOutThings() const { return left_out_; }

  template <typename Has>
  bool has(const Algorithm& algorithm, Has has_it) const {
    return llvm::any_of(choice_.candidates, [&](const Candidate& candidate) {
      return candidate.algorithm == &algorithm && has_it(candidate);
    });
  }
  /// Whether some line names an option of the algorithm, or of all.
  bool names(llvm::StringRef option, const Algorithm& algorithm) const {
    return llvm::any_of(left_out_, [&](const LeftOut& thing) {
      return llvm::StringRef(thing.what).contains(option) && !thing.reason.empty() &&
             (thing.of == nullptr || thing.of == &algorithm);
    });
  }
  bool isTried(const Algorithm& algorithm) const {
    return has(algorithm, [](const Candidate& candidate) {
      return candidate.refusal.empty() && candidate.options.led_cores == 0;
    });
  }

 private:
  CollectiveSpec spec_;
  CompileCache programs_;
  Choice choice_;
  std::vector<LeftOut> left_out_;
};

class Explain : public testing::TestWithParam<const char*> {};

/// Every algorithm that serves the collective, and every option, is tried, or it is said why not.
TEST_P(Explain, NothingIsLeftOutInSilence) {
  llvm::StringRef shape = GetParam();
  const bool has_dead_link = shape.consume_back(" dead link");
  const bool has_dead_node = shape.consume_back(" dead node");
  Target target = targetOf(shape);
  const std::vector<std::string> links(has_dead_link, "1,1,1:X"), nodes(has_dead_node, "1,1,1");
  ASSERT_FALSE(addDamage(target, links, nodes));
  for (const CollectiveRow& row : collectiveRows()) {
    // Of so many nodes most candidates are simulated in half a minute.
    if (shape == "300000" && (row.name == "alltoall" || row.isPrefix())) continue;
    const Explained explained(*collectiveNamed(row.name), target);
    for (const Algorithm& algorithm : algorithms()) {
      if (!algorithm.serves(row)) continue;
      SCOPED_TRACE(std::string(row.name) + ", " + algorithm.name.str());
      const auto isToldOf = [&](auto has, std::initializer_list<const char*> words) {
        return explained.has(algorithm, has) || llvm::any_of(words, [&](const char* word) {
                 return explained.names(word, algorithm);
               });
      };
      const auto isAny = [](const Candidate&) { return true; };
      EXPECT_TRUE(explained.has(algorithm, isAny) || explained.names(algorithm.name, algorithm));
      if (!explained.isTried(algorithm)) continue;
      const auto with = [](auto option, auto value) {
        return [=](const Candidate& candidate) { return candidate.options.*option == value; };
      };
      const auto above = [](auto option, std::uint32_t least) {
        return [=](const Candidate& candidate) { return candidate.options.*option > least; };
      };
      using Options = PipelineOptions;
      EXPECT_TRUE(isToldOf(with(&Options::weights, passes::ColorWeights::kBalanced), {"weights"}));
      EXPECT_TRUE(isToldOf(with(&Options::weights, passes::ColorWeights::kOverlapped),
                           {"overlapped weights", "weights"}));
      EXPECT_TRUE(isToldOf(with(&Options::directions, passes::DirectionModel::kHalfLatency),
                           {"half-latency", "directions"}));
      EXPECT_TRUE(isToldOf(with(&Options::directions, passes::DirectionModel::kUnidirectional),
                           {"unidirectional", "directions"}));
      EXPECT_TRUE(
          isToldOf(with(&Options::dependences, passes::DependenceKind::kPhase), {"dependences"}));
      EXPECT_TRUE(isToldOf(above(&Options::in_flight, 0), {"in flight"}));
      EXPECT_TRUE(isToldOf(above(&Options::chunks, 1), {"chunks"}));
      if (!algorithm.isSettled()) {
        EXPECT_TRUE(isToldOf(above(&Options::segments, 1), {"segments"}));
      }
      EXPECT_TRUE(isToldOf(above(&Options::led_cores, 0), {"leaders"}));
      EXPECT_TRUE(isToldOf(with(&Options::synchronous_sends, true), {"synchronous sends"}));
      if (algorithm.form == PlanForm::kExchanges) {
        EXPECT_TRUE(isToldOf(with(&Options::peers, PeerOrder::kFixed), {"peers in order"}));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Explain,
                         testing::Values("4x4x4", "70x2", "4x4m", "2x2x2+4", "3x3x3 dead link",
                                         "3x3x3 dead node", "300000", "3", "1"));

TEST(Choice, OptionsThatAreGivenAreNamed) {
  ChoiceLimits limits;
  limits.algorithm = cantFail(findAlgorithm("bucket"));
  limits.chunks = 2;
  const Explained explained(Collective::kAllreduce, targetOf("4x4"), limits);
  std::vector<std::string> given;
  for (const LeftOut& thing : explained.leftOutThings()) {
    if (thing.reason == "the command line settles that") given.push_back(thing.what);
  }
  EXPECT_EQ(given, (std::vector<std::string>{"other algorithms", "other chunks"}));
}

/// Weights that are given are those of rounds and exchanges too.
TEST(Choice, WeightsThatAreGivenStay) {
  ChoiceLimits limits;
  limits.weights = passes::ColorWeights::kBalanced;
  for (const Collective collective : {Collective::kAllreduce, Collective::kAlltoall}) {
    for (const Candidate& candidate :
         chooseFor(collective, targetOf("4x4x2"), 1 << 16, limits).candidates) {
      if (candidate.algorithm->multicolor) {
        EXPECT_EQ(candidate.options.weights, passes::ColorWeights::kBalanced)
            << candidate.description();
      }
    }
  }
}

/// Of trees, which take a number of segments or two messages on a link at a time by themselves.
TEST(Choice, WhatIsGivenOfTreesStays) {
  ChoiceLimits limits;
  limits.algorithm = cantFail(findAlgorithm("rectangular"));
  const auto triedOptions = [&] {
    std::set<std::pair<std::uint32_t, std::uint32_t>> given;
    for (const Candidate& candidate :
         chooseFor(Collective::kBroadcast, targetOf("8"), 1 << 20, limits).candidates)
      given.insert({candidate.options.in_flight, candidate.options.window});
    return given;
  };
  using Given = decltype(triedOptions());
  limits.in_flight = 2;
  EXPECT_EQ(triedOptions(), Given({{2, 0}}));
  limits.chunks = 105;
  EXPECT_EQ(triedOptions(), Given({{2, 0}}));
  limits.in_flight = limits.chunks = std::nullopt;
  limits.window = 9;
  EXPECT_EQ(triedOptions(), Given({{0, 9}, {2, 9}}));
  limits.chunks = 105;
  EXPECT_EQ(triedOptions(), Given({{0, 9}}));
}

/// Whatever options they have, no two candidates have one program.
TEST(Choice, CandidatesDiffer) {
  for (const Collective collective :
       {Collective::kAllreduce, Collective::kBroadcast, Collective::kAlltoall}) {
    const Target target = targetOf("4x4x4");
    CompileCache programs({collective, target.topology});
    const Choice choice = consider(programs, target.machine, 1 << 20, {});
    std::vector<SharedProgram> seen;
    for (const Candidate& candidate : choice.candidates) {
      if (!candidate.refusal.empty()) continue;
      SharedProgram program = programs.firstEqual(cantFail(programOf(programs, candidate)));
      EXPECT_FALSE(llvm::is_contained(seen, program)) << candidate.description();
      seen.push_back(std::move(program));
    }
    EXPECT_GT(seen.size(), 4u);
  }
}

/// Cells of the figures of the 2.5-D paper, where numbers of chunks that are nearly equal take a
/// tenth more or less rank by rank: the choice comes close to the best that was ever found.
TEST(Choice, ComesCloseToTheBestNumberOfChunks) {
  struct Cell {
    Collective collective;
    const char* shape;
    double bytes, best_us;
  };
  constexpr Cell kCells[] = {{Collective::kBroadcast, "8", 512 << 10, 772.7},
                             {Collective::kBroadcast, "8", 1 << 20, 1440.9},
                             {Collective::kBroadcast, "8", 2 << 20, 2796.2},
                             {Collective::kBroadcast, "8x8", 2 << 20, 1629.3},
                             {Collective::kReduce, "8", 4 << 20, 5665.0},
                             {Collective::kReduce, "8x8", 1 << 20, 965.4},
                             {Collective::kReduce, "8x8", 2 << 20, 1621.6},
                             {Collective::kReduce, "8x8", 4 << 20, 3015.1},
                             {Collective::kReduce, "8x8", 8 << 20, 5786.4}};
  for (const auto& [collective, shape, bytes, best_us] : kCells) {
    const Candidate best = chooseFor(collective, targetOf(shape, "bgp"), bytes).best();
    EXPECT_TRUE(best.per_rank) << best.description();
    EXPECT_LT(1e6 * best.predicted_s, 1.07 * best_us)
        << shape << ", " << bytes << ": " << best.description();
  }
}

TEST(Choice, WhatIsSettledStays) {
  ChoiceLimits limits;
  limits.algorithm = cantFail(findAlgorithm("bucket"));
  limits.weights = passes::ColorWeights::kEqual;
  limits.chunks = 3;
  limits.in_flight = 1;
  limits.dependences = passes::DependenceKind::kRegion;
  limits.directions = passes::DirectionModel::kUnidirectional;
  const Choice choice = chooseFor(Collective::kAllgather, targetOf("5x4"), 1 << 20, limits);
  ASSERT_EQ(choice.candidates.size(), 1u);
  EXPECT_EQ(choice.best().description(),
            "bucket, equal weights, unidirectional, 3 chunks, 1 in flight");
}

}  // namespace
}  // namespace torc::compiler
