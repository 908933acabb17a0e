// Measures candidates by the simulator.
#include "compiler/choice/candidate.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "ir/node_classes.h"
#include "ir/thrown.h"
#include "model/simulator/pipeline_cost.h"
#include "model/simulator/simulator.h"
#include "schedules/expansion/shares.h"

namespace torc::compiler {
namespace {

// Two chunks on a link fill each other's pauses as long as they do not fall into step. Unless that
// has been simulated rank by rank, this much is thought to be lost; not by segments that go round
// rings both ways at once, which lost nothing where they were simulated so.
constexpr double kFallIntoStep = 1.05;

// Cost of the check whether a node executes an operation, relative to simulating the operation.
constexpr double kSeenExecution = 0.1;

/// Work of the expansion of a rank: operations, listed parts, and, where blocks lie apart, the
/// blocks that are moved.
double workOfRank(const ScheduleView& schedule) {
  double work = 0;
  for (const Piece& piece : schedule.pieces)
    work += piece.parts;
  const bool lie_apart = rowOf(schedule.collective).layout == Layout::kBlockMajor;
  for (const Operation& operation : schedule.operations) {
    const Region& moved = sends(operation.kind) ? operation.a : operation.dst;
    double blocks = 1;
    if (lie_apart && moved.present() && moved.pieces == 0) {
      const BlockAxes axes = schedule.blockAxes();
      for (std::uint32_t i = 0; i < axes.count(); ++i) {
        const std::uint32_t length = schedule.blockInterval(moved.box, i).length;
        blocks *= length > 0 ? length : axes.size(i);
      }
    }
    if (operation.hasPeerLoop()) {
      blocks *= static_cast<double>(schedule.peer_loops[operation.peer].size());
    }
    work += blocks;
  }
  return work * schedule.segments;
}

/// The candidate as it is compiled for the smaller machine.
Candidate onSmaller(const Smaller& smaller, Candidate candidate) {
  if (candidate.options.led_cores > 0)
    candidate.options.led_cores = coresOf(smaller.stand_in.topology);
  return candidate;
}

/// Whether some message goes over more than one link of the network.
bool leavesNeighbours(const ScheduleView& schedule) {
  const int dimensions = schedule.topology.dimensions();
  return !schedule.peer_loops.empty() || llvm::any_of(schedule.shifts, [&](const Shift& shift) {
    int links = 0;
    for (int i = 0; i < dimensions; ++i)
      links += std::abs(shift[static_cast<std::size_t>(i)]);
    return links > 1;
  });
}

/// How long the busiest link takes for a byte of the vector, seconds. Along an axis link by link,
/// on the mean of the lines along it.
double busiestLinkSeconds(const ScheduleView& schedule, const model::Machine& machine) {
  const Topology& topology = schedule.topology;
  const VectorShares shares(schedule);
  const auto nodesOf = [&](const Operation& operation, std::size_t axis) -> Range {
    const std::uint32_t size = topology.axes[axis].size;
    if (operation.guard == kNone) return {0, size};
    return resolve(schedule.boxes[operation.guard][axis], 0, size);
  };
  double seconds = 0;
  for (int i = 0; i < topology.dimensions(); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    const std::uint32_t size = topology.axes[axis].size;
    std::array<std::vector<double>, 2> loads{std::vector<double>(size), std::vector<double>(size)};
    for (const Operation& operation : schedule.operations) {
      if (!sends(operation.kind)) continue;
      const std::int32_t hops = schedule.shifts[operation.peer][axis];
      if (hops == 0) continue;
      double carried = shares.of(operation.a, {});
      for (std::size_t other = 0; other < topology.axis_count; ++other) {
        if (other != axis)
          carried *=
              static_cast<double>(nodesOf(operation, other).length) / topology.axes[other].size;
      }
      const Range from = nodesOf(operation, axis);
      for (std::uint32_t k = 0; k < from.length; ++k) {
        for (std::int32_t hop = 0; hop < std::abs(hops); ++hop) {
          const std::int64_t at = std::int64_t{from.start} + k + (hops > 0 ? hop : -hop - 1);
          loads[hops > 0 ? 0 : 1][wrap(at, size)] += carried;
        }
      }
    }
    for (const std::vector<double>& way : loads)
      seconds = std::max(
          seconds, *llvm::max_element(way) / machine.linkBandwidth(static_cast<std::uint32_t>(i)));
  }
  return seconds;
}

}  // namespace

std::optional<double> elementBytesFor(const CollectiveSpec& spec, double bytes) {
  constexpr double kElement = 4;
  const auto blocks = static_cast<double>(
      rowOf(spec.collective).countedBlocks(spec.topology.ranks(), spec.topology.axis_count));
  if (bytes >= kElement * blocks) return kElement;
  if (bytes >= blocks) return 1;
  return std::nullopt;
}

bool Candidate::mayFallIntoStep() const {
  const bool halved = options.directions == passes::DirectionModel::kHalfLatency;
  return !per_rank && !by_packets && options.in_flight > 1 && !(halved && options.segments > 1);
}

double Candidate::cautiousSeconds() const {
  if (per_rank && !by_packets) return predicted_s;
  return predicted_s * (mayFallIntoStep() ? std::max(unseen, kFallIntoStep) : unseen);
}

llvm::Expected<SharedProgram> programOf(CompileCache& programs, const Candidate& candidate) {
  return programs.get(*candidate.algorithm, pipelineOf(*candidate.algorithm, candidate.options));
}

llvm::Expected<SharedProgram> uncutOf(CompileCache& programs, const Candidate& candidate) {
  return programs.get(*candidate.algorithm, uncutPipeline(*candidate.algorithm, candidate.options));
}

Smaller* CandidateSimulator::smallerFor(const Candidate& candidate) {
  if (programs_.spec().topology.isDamaged() && !candidate.algorithm->mayStandInDamaged())
    return nullptr;
  const SharedProgram uncut = orThrow(uncutOf(programs_, candidate));
  const Schedule& schedule = uncut->schedule;
  const ir::NodeClasses classes(schedule.view(), false);
  if (classes.count() <= kMostClasses) return nullptr;
  double executions = 0;
  for (const Operation& operation : schedule.operations)
    executions += classes.executions(operation);
  // That a node does not execute an operation has to be seen, too.
  const auto operations = static_cast<double>(schedule.operations.size());
  executions += kSeenExecution * operations * classes.count();
  const bool in_segments = candidate.algorithm->inSegments();
  const double segments = in_segments ? candidate.options.chunks : candidate.options.segments;
  if (executions <= kFewExecutions && (segments == 1 || executions * segments <= kFewOfAllSegments))
    return nullptr;
  std::array<bool, kMaxAxes> differ{};
  for (std::uint32_t i = 0; i < programs_.spec().topology.axis_count; ++i)
    differ[i] = !classes.collapsed(i);
  const auto [entry, is_new] = smaller_.try_emplace(differ);
  if (is_new) {
    // Many short axes cannot be halved that often: then the smallest there is.
    for (std::uint64_t most = kMostClasses; most < classes.count(); most *= 2) {
      auto stand_in = standInFor(programs_.spec().topology, machine_, differ, most);
      if (!stand_in) continue;
      entry->second.emplace(std::move(*stand_in), programs_.spec().collective);
      break;
    }
  }
  return entry->second ? &*entry->second : nullptr;
}

llvm::Expected<CandidateSimulator::Programs> CandidateSimulator::programsOf(
    const Candidate& candidate) {
  return caught([&] {
    Smaller* const smaller = smallerFor(candidate);
    if (smaller == nullptr) {
      return Programs{programs_.firstEqual(orThrow(programOf(programs_, candidate))), nullptr};
    }
    const SharedProgram program =
        orThrow(programOf(smaller->programs, onSmaller(*smaller, candidate)));
    return Programs{smaller->programs.firstEqual(program),
                    programs_.firstEqual(orThrow(uncutOf(programs_, candidate)))};
  });
}

llvm::Error CandidateSimulator::simulate(Candidate& candidate) {
  const auto simulated = [&] {
    simulateOrThrow(candidate);
    return true;
  };
  return caught(simulated).takeError();
}

void CandidateSimulator::simulateOrThrow(Candidate& candidate) {
  candidate.stand_in.clear();
  Smaller* const smaller = candidate.per_rank ? nullptr : smallerFor(candidate);
  if (smaller != nullptr) return simulateOnSmaller(*smaller, candidate);
  const SharedProgram program = orThrow(programOf(programs_, candidate));
  const Schedule& schedule = program->schedule;
  candidate.operations = schedule.operations.size() * schedule.segments;
  candidate.work = workOfRank(schedule.view());
  if (!candidate.per_rank) built_ += schedule.operations.size();
  return simulateProgram(schedule, machine_, programs_.graphs(), candidate);
}

void CandidateSimulator::simulateOnSmaller(Smaller& smaller, Candidate& candidate) {
  const auto& [machine, topology] = smaller.stand_in;
  const Candidate on_smaller = onSmaller(smaller, candidate);
  const SharedProgram program = orThrow(programOf(smaller.programs, on_smaller));
  built_ += program->schedule.operations.size();
  simulateProgram(program->schedule, machine, smaller.programs.graphs(), candidate);
  candidate.stand_in = topology.shape();
  const SharedProgram large = orThrow(uncutOf(programs_, candidate));
  const std::uint32_t chunks = candidate.options.chunks * candidate.options.segments;
  candidate.operations = large->schedule.operations.size() * chunks;
  candidate.work = static_cast<double>(candidate.operations);
  if (candidate.algorithm->inSegments()) {
    const bool reduces = rowOf(programs_.spec().collective).reduces();
    const auto of = [&](const CollectiveSpec& whole, const model::Machine& its) {
      const CollectiveSpec spec = candidate.options.led_cores > 0 ? networkOf(whole) : whole;
      return candidate.algorithm->pipeline(spec.topology)
          .seconds(its, bytes_, chunks, std::max(candidate.options.in_flight, 1u), reduces);
    };
    candidate.predicted_s *= of(programs_.spec(), machine_) / of(smaller.programs.spec(), machine);
    return;
  }
  const SharedProgram small = orThrow(uncutOf(smaller.programs, on_smaller));
  // The root of a scatter sends all but its own block, on each of the shapes. The larger shape
  // takes more rounds, which are phases.
  const CollectiveRow& row = rowOf(programs_.spec().collective);
  const auto rounds = [](const ir::Program& of) {
    return of.schedule.operations.back().phase + 1.0;
  };
  if (row.isRooted() && row.layout == Layout::kBlockMajor) {
    const auto leaving = [](const Topology& shape) { return 1 - 1.0 / shape.sites(); };
    const double more = leaving(programs_.spec().topology) / leaving(topology);
    candidate.predicted_s = candidate.predicted_s * more +
                            (rounds(*large) - rounds(*small)) *
                                (machine_.alpha + machine_.latency + 2 * machine_.overhead);
    candidate.busy_s *= more;
    candidate.load_bytes *= more;
    return;
  }
  // Rounds, whose messages go far: the load of links scales their busy time, and the number of
  // rounds the rest.
  if (candidate.algorithm->form == PlanForm::kRounds) {
    const double more = busiestLinkSeconds(large->schedule.view(), machine_) /
                        busiestLinkSeconds(small->schedule.view(), machine);
    const double idle = candidate.predicted_s - candidate.busy_s;
    candidate.busy_s *= more;
    candidate.load_bytes *= more;
    candidate.predicted_s = candidate.busy_s + idle * rounds(*large) / rounds(*small);
    return;
  }
  // Steps that are settled limit nothing: all chunks may be on a link.
  const std::uint32_t in_flight = candidate.algorithm->isSettled() ? chunks
                                  : candidate.options.segments > 1
                                      ? kCostedInFlight
                                      : std::max(candidate.options.in_flight, 1u);
  const model::PipelineCost small_cost(small->schedule.view(), machine, bytes_);
  const model::PipelineCost large_cost(large->schedule.view(), machine_, bytes_);
  const double scale =
      large_cost.seconds(chunks, in_flight) / small_cost.seconds(chunks, in_flight);
  const double busy = small_cost.busySeconds();
  const double busy_scale = busy > 0 ? large_cost.busySeconds() / busy : 1;
  candidate.busy_s *= busy_scale;
  candidate.load_bytes *= busy_scale;
  // Around damage the busiest link is busier than the chains of messages suggest.
  const bool goes_round = programs_.spec().topology.isDamaged() && candidate.algorithm->isSettled();
  candidate.predicted_s *= goes_round ? busy_scale : scale;
}

void CandidateSimulator::simulateProgram(const Schedule& schedule, const model::Machine& machine,
                                         model::GraphCache& graphs, Candidate& candidate) {
  model::SimulateOptions options;
  options.bytes = bytes_;
  options.per_rank = candidate.per_rank;
  options.element_bytes = elementBytesFor(programs_.spec(), bytes_).value_or(options.element_bytes);
  const model::SimulateResult result =
      orThrow(model::simulate(schedule.view(), machine, options, &graphs));
  simulated_ += static_cast<double>(result.operations);
  candidate.predicted_s = result.makespan_s;
  candidate.busy_s = candidate.load_bytes = 0;
  candidate.scratch_bytes = bytes_ * VectorShares(schedule.view()).scratch();
  candidate.leaves_neighbours = leavesNeighbours(schedule.view());
  for (const model::LinkUse& link : result.links) {
    candidate.busy_s = std::max(candidate.busy_s, link.busy_s);
    candidate.load_bytes = std::max(candidate.load_bytes, link.bytes);
  }
  candidate.buffers = result.buffers;
  candidate.steps = result.steps;
  candidate.messages = result.messages;
}

}  // namespace torc::compiler
