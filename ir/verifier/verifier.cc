// The verifier's driver: rules in order, each only where those before it hold, and fault texts.
#include "ir/verifier/verifier.h"

#include <algorithm>
#include <map>
#include <utility>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>

#include "ir/families/families.h"
#include "ir/segments/segments.h"
#include "ir/text/text.h"
#include "ir/verifier/cells/proof.h"
#include "ir/verifier/context.h"
#include "ir/verifier/links.h"
#include "ir/verifier/roots.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/loops/unroll.h"
#include "schedules/root.h"
#include "schedules/validate.h"

namespace torc::ir {

llvm::StringRef name(Rule rule) {
  static constexpr llvm::StringLiteral kNames[] = {"matching", "progress", "races",
                                                   "meaning",  "bounds",   "links"};
  return kNames[static_cast<int>(rule)];
}

namespace {

/// Operations that a node does not execute, and that take as long to pass over as one to prove.
constexpr double kIdleOperations = 16;

/// As kMaxProofWork counts it. `longest` becomes the longest axis on which nodes differ: each step
/// of a line leaves pieces that later steps look through.
double workByNodes(const VerifyContext& context, std::uint64_t& longest) {
  for (std::uint32_t axis = 0; axis < context.topology.axis_count; ++axis) {
    if (context.collapsed(axis)) continue;
    longest = std::max<std::uint64_t>(longest, context.topology.axes[axis].size);
  }
  const ScheduleView& schedule = context.schedule;
  double steps = static_cast<double>(context.classCount()) *
                 static_cast<double>(schedule.operations.size()) / kIdleOperations;
  for (const Operation& operation : schedule.operations) {
    std::size_t pieces = 1;
    for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
      if (region->present()) pieces += schedule.piecesOf(*region).size();
    }
    steps += context.classes.executions(operation) * static_cast<double>(pieces);
  }
  return steps * static_cast<double>(longest);
}

/// Operations, with the messages of families one by one, that are proved where nodes differ.
constexpr double kMostUnrolled = 100'000;

void verifyAt(const ScheduleView& schedule, const Coordinates& root, std::size_t roots,
              const VerifyOptions& options, VerifyResult& result);

/// The proof with the messages of families one by one.
void verifyUnrolled(const ScheduleView& schedule, const Coordinates& root,
                    const VerifyOptions& options, VerifyResult& result) {
  const double operations = unrolledOperations(schedule);
  if (operations > kMostUnrolled) {
    result.faults.push_back(
        {Rule::kBounds, kNone,
         "too large to prove: nodes differ (mesh axes, guards, absolute boxes) along axes on which "
         "families go, of " +
             std::to_string(static_cast<std::uint64_t>(operations)) + " messages"});
    return;
  }
  const UnrolledSchedule unrolled = unrollFamilies(schedule);
  verifyAt(unrolled.schedule.view(), root, 1, options, result);
  for (Fault& fault : result.faults) {
    if (fault.operation == kNone) continue;
    fault.operation = unrolled.source[fault.operation];
    fault.message += " (operations in this line are counted with every message of a family)";
  }
}

/// The proof for one of `roots` places of the root.
void verifyAt(const ScheduleView& schedule, const Coordinates& root, std::size_t roots,
              const VerifyOptions& options, VerifyResult& result) {
  const bool has_families = hasFamilies(schedule);
  const Schedule folded = has_families ? foldFamilies(schedule) : Schedule{};
  const ScheduleView view = has_families ? folded.view() : schedule;
  VerifyContext context(schedule, view, root, options, result);
  if (has_families && (options.by_cells || differAlongFamilies(schedule, context.classes))) {
    return verifyUnrolled(schedule, root, options, result);
  }
  const std::uint64_t records =
      schedule.operations.size() + schedule.pieces.size() + schedule.frames.size();
  if (context.listedPieces() > kMaxListedPieces + 32 * records) {
    result.faults.push_back({Rule::kBounds, kNone,
                             "too large to prove: regions and frames list " +
                                 std::to_string(context.listedPieces()) + " pieces of a table of " +
                                 std::to_string(schedule.pieces.size())});
    return;
  }
  std::uint64_t longest = 1;
  const double work = workByNodes(context, longest);
  const bool few = context.classCount() == 1 || work <= kSmallProofWork;
  if (options.by_cells || (!options.per_rank && !few)) {
    if (verifyByCells(context)) return;
    if (options.by_cells) {
      result.faults.push_back({Rule::kBounds, kNone, "too large to prove by cells"});
      return;
    }
  }
  if (work * static_cast<double>(roots) > kMaxProofWork) {
    std::string text = "too large to prove: ";
    if (roots > 1) text += std::to_string(roots) + " places of the root, each with ";
    result.faults.push_back({Rule::kBounds, kNone,
                             text + std::to_string(context.classCount()) +
                                 " nodes that differ (mesh axes, guards, absolute boxes) with " +
                                 std::to_string(schedule.operations.size()) +
                                 " operations each, on axes of up to " + std::to_string(longest)});
    return;
  }
  checkLinks(context);
  checkMatching(context);
  if (!result.ok()) return;
  bool per_class_order = false;
  const std::vector<std::uint64_t> order = checkProgress(context, per_class_order);
  checkRaces(context);
  if (!result.ok()) return;
  checkMeaning(context, order, per_class_order);
}

/// The proof of a schedule in segments, by as many as stand for all.
VerifyResult verifySegments(const ScheduleView& schedule, const VerifyOptions& options) {
  const std::uint32_t segments = segmentsToProve(schedule);
  const Schedule unrolled = unrollSegments(schedule, segments);
  VerifyResult result = verify(unrolled.view(), options);
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  for (Fault& fault : result.faults) {
    if (fault.operation != kNone) fault.operation %= count;
    fault.message += " (in this line parts, frames and operations are counted through " +
                     std::to_string(segments) + " segments)";
  }
  const std::uint32_t phases = count == 0 ? 1 : schedule.operations.back().phase + 1u;
  std::map<PhaseLinks, double> loads;
  for (const LinkLoad& load : result.loads)
    loads[{load.phase % phases, load.axis, load.sign}] += load.share;
  result.loads.clear();
  for (const auto& [link, share] : loads)
    result.loads.push_back({link.axis, link.sign, link.phase, share});
  result.scratch_share *= static_cast<double>(segments) / schedule.segments;
  return result;
}

/// The proof of a schedule whose loops are written out.
VerifyResult verifyUnrolledLoops(const ScheduleView& schedule, const VerifyOptions& options) {
  const UnrolledLoops unrolled = unrollLoops(schedule);
  VerifyResult result = verify(unrolled.schedule.view(), options);
  const LoopNest nest(schedule);
  for (Fault& fault : result.faults) {
    std::string place;
    if (fault.operation != kNone) {
      const Counters& counters = unrolled.counters[fault.operation];
      fault.operation = unrolled.operations[fault.operation];
      const std::uint32_t depth = nest.aroundOperation(fault.operation).depth();
      for (std::uint32_t level = 0; level < depth; ++level) {
        place += place.empty() ? "where " : ", ";
        place += counterName(level);
        place += " = " + std::to_string(counters[level]);
      }
    }
    if (!place.empty()) place += ": ";
    fault.message = place + fault.message +
                    " (in this line frames and operations are counted through all iterations)";
  }
  return result;
}

}  // namespace

VerifyResult verify(const ScheduleView& as_written, const VerifyOptions& options) {
  VerifyResult result;
  if (Status status = validate(as_written); !status.ok()) {
    result.faults.push_back({Rule::kBounds, kNone, status.message()});
    return result;
  }
  const ScheduleView schedule = asCounted(as_written);
  if (!schedule.loops.empty()) return verifyUnrolledLoops(schedule, options);
  if (schedule.segments > 1) return verifySegments(schedule, options);
  const std::vector<Coordinates> roots = rootsToProve(schedule, options.per_rank);
  std::map<PhaseLinks, double> loads;  // for the root that loads them most
  for (const Coordinates& root : roots) {
    const std::uint64_t work = std::exchange(result, {}).work;
    const RootedSchedule rooted(schedule, schedule.topology.rankOf(root));
    verifyAt(rooted.view(), root, roots.size(), options, result);
    if (!result.ok()) {
      if (roots.size() == 1) break;
      for (Fault& fault : result.faults)
        fault.message += "; the root is rank " + std::to_string(rooted.root());
      break;
    }
    result.work += work;
    for (const LinkLoad& load : result.loads) {
      double& most = loads[{load.phase, load.axis, load.sign}];
      most = std::max(most, load.share);
    }
  }
  result.loads.clear();
  for (const auto& [link, share] : loads)
    result.loads.push_back({link.axis, link.sign, link.phase, share});
  return result;
}

void printFaults(const ScheduleView& schedule, const VerifyResult& result, llvm::raw_ostream& out) {
  for (const Fault& fault : result.faults) {
    out << "error: ";
    if (fault.operation != kNone) {
      const Operation& operation = schedule.operations[fault.operation];
      out << "op %" << fault.operation << " (stream " << operation.stream << ", phase "
          << operation.phase << "): ";
    }
    out << name(fault.rule) << ": " << fault.message << "\n";
    if (fault.operation != kNone) {
      out << "  " << operationText(schedule, fault.operation) << "\n";
    }
  }
}

}  // namespace torc::ir
