// The verifier's driver: runs the rules in order, each only if those before it hold, and writes
// fault texts.
#include "ir/verifier/verifier.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>

#include "ir/node_classes.h"
#include "ir/peer_loops/peer_loops.h"
#include "ir/segments/segments.h"
#include "ir/text/text.h"
#include "ir/verifier/relays.h"
#include "ir/verifier/roots/roots.h"
#include "ir/verifier/rule_context.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/loops/unroll.h"
#include "schedules/root.h"
#include "schedules/validation/validate.h"
#include "support/work_queue.h"

namespace torc::ir {

llvm::StringRef name(Rule rule) {
  static constexpr llvm::StringLiteral kNames[] = {"matching", "progress", "races",
                                                   "meaning",  "bounds",   "links"};
  return kNames[static_cast<int>(rule)];
}

namespace {

/// Limit of ranks times operations for proofs with every rank as a cell of its own.
constexpr double kMaxRanksTimesOperations = 1e7;

/// Phase, axis, sign.
using LinkClass = std::tuple<std::uint32_t, std::uint32_t, int>;

void setLoads(const std::map<LinkClass, double>& loads, VerifyResult& result) {
  result.loads.clear();
  for (const auto& [link, share] : loads) {
    const auto& [phase, axis, sign] = link;
    result.loads.push_back({axis, sign, phase, share});
  }
}

/// Most operations, with the messages of loops over peers one by one, for proofs with different
/// nodes.
constexpr double kMostUnrolled = 100'000;

void verifyAt(const ScheduleView& schedule, const Coordinates& root, const VerifyOptions& options,
              VerifyResult& result, RelayedFacts* relayed = nullptr);

VerifyOptions withoutWrites(VerifyOptions options) {
  options.on_write = nullptr;
  return options;
}

/// The proof with the messages of loops over peers unrolled.
void verifyUnrolled(const ScheduleView& schedule, const Coordinates& root,
                    const VerifyOptions& options, VerifyResult& result) {
  const double operations = unrolledOperations(schedule);
  if (operations > kMostUnrolled) {
    result.faults.push_back(
        {Rule::kBounds, kNone,
         message("too large to prove: nodes differ along axes on which loops over peers go, of ",
                 static_cast<std::uint64_t>(operations), " messages (limit ",
                 static_cast<std::uint64_t>(kMostUnrolled), ")")});
    return;
  }
  const UnrolledSchedule unrolled = unrollPeerLoops(schedule);
  verifyAt(unrolled.schedule.view(), root, withoutWrites(options), result);
  for (Fault& fault : result.faults) {
    if (fault.operation == kNone) continue;
    fault.operation = unrolled.source[fault.operation];
    fault.message +=
        " (operations in this line are counted with every message of a loop over peers)";
  }
}

/// Proves the rules in order. Results beyond the work limit are meaningless.
void prove(VerifyContext& context) {
  const auto goesOn = [&] { return context.result.ok() && !context.work.tooMuch(); };
  checkLinks(context);
  if (context.work.tooMuch()) return;
  if (context.options.of_memory) return checkRaces(context);
  checkMatching(context);
  if (!goesOn()) return;
  const std::optional<std::vector<Step>> order = checkProgress(context);
  if (context.work.tooMuch()) return;
  checkRaces(context);
  if (order.has_value() && goesOn()) checkMeaning(context, *order);
}

/// The proof for one position of the root; with `relayed`, of ways or of all.
void verifyAt(const ScheduleView& schedule, const Coordinates& root, const VerifyOptions& options,
              VerifyResult& result, RelayedFacts* relayed) {
  const double nodes = static_cast<double>(schedule.topology.ranks());
  if (options.per_rank &&
      nodes * static_cast<double>(schedule.operations.size()) > kMaxRanksTimesOperations) {
    result.faults.push_back({Rule::kBounds, kNone,
                             message("too large to prove rank by rank: ", schedule.topology.ranks(),
                                     " ranks with ", schedule.operations.size(), " operations")});
    return;
  }
  const bool has_peer_loops = hasPeerLoops(schedule);
  if (has_peer_loops && differAlongPeerLoops(schedule, NodeClasses(schedule, options.per_rank))) {
    return verifyUnrolled(schedule, root, options, result);
  }
  const Schedule folded = has_peer_loops ? foldPeerLoops(schedule) : Schedule{};
  const ScheduleView seen = has_peer_loops ? folded.view() : schedule;
  VerifyContext context(schedule, seen, root, options, result);
  context.relayed = relayed;
  const std::uint64_t records =
      schedule.operations.size() + schedule.pieces.size() + schedule.frames.size();
  std::string too_large;
  if (context.listedPieces() > kMaxListedPieces + 32 * records) {
    too_large = message("regions and frames list ", context.listedPieces(),
                        " pieces of a table of ", schedule.pieces.size());
  } else {
    prove(context);
    result.work += context.work.done;
    if (context.work.tooMuch()) {
      const std::uint32_t kinds = NodeClasses(schedule, options.per_rank).count();
      too_large = message(schedule.operations.size(), " operations on ", kinds,
                          kinds == 1 ? " kind of node" : " kinds of nodes", " (limit ",
                          kMaxProofWork, " steps)");
    }
  }
  if (!too_large.empty())
    result.faults = {{Rule::kBounds, kNone, "too large to prove: " + too_large}};
}

/// The proof for one position of the root, of the operations that some node executes.
void verifyFor(const ScheduleView& schedule, const Coordinates& root, const VerifyOptions& options,
               VerifyResult& result, RelayedFacts* relayed) {
  const RootedSchedule rooted(schedule, schedule.topology.rankOf(root));
  const ScheduleView& all = rooted.view();
  std::vector<char> is_executed;
  for (const Operation& one : all.operations)
    is_executed.push_back(volume(all.guardRanges(one.guard), all.topology) > 0);
  Schedule tables;
  verifyAt(selectOperations(all, is_executed, tables), root, options, result, relayed);
}

/// Keeps the first of an operation's faults against one rule: the others are its copies in other
/// iterations or segments.
void keepFirstOfEach(std::vector<Fault>& faults) {
  std::set<std::pair<Rule, std::uint32_t>> seen;
  llvm::erase_if(faults, [&](const Fault& fault) {
    return fault.operation != kNone && !seen.emplace(fault.rule, fault.operation).second;
  });
}

/// The proof of a schedule without loops, with segments unrolled, for all roots.
VerifyResult verifySteps(const ScheduleView& schedule, const VerifyOptions& options,
                         std::uint32_t operations_per_segment) {
  const Relays relays(schedule, operations_per_segment);
  const bool has_relays = !options.per_rank && relays.areApart();
  const std::vector<Coordinates> roots =
      rootsToProve(has_relays ? relays.ways(/*with_all_boxes=*/false) : schedule, options.per_rank,
                   operations_per_segment);
  const ScheduleView ways = relays.ways(/*with_all_boxes=*/true);
  const bool is_scatter = rowOf(schedule.collective).describesOwnOut();
  std::vector<VerifyResult> results(roots.size());
  const auto prove = [&](std::size_t i, RelayedFacts& relayed) {
    VerifyResult& result = results[i];
    if (i == 0 || !has_relays) {
      verifyFor(schedule, roots[i], i == 0 ? options : withoutWrites(options), result,
                has_relays ? &relayed : nullptr);
    }
    if (!has_relays || !result.ok()) return;
    if (i == 0 && !is_scatter) relayed.known = relayed.left;
    relayed.is_of_ways = true;
    relayed.left.clear();
    VerifyResult of_ways;
    verifyFor(ways, roots[i], withoutWrites(options), of_ways, &relayed);
    result.work += of_ways.work;
    llvm::append_range(result.faults, of_ways.faults);
    if (i == 0 && is_scatter) relayed.known = relayed.left;
  };
  // Those after the first do not depend on each other.
  RelayedFacts of_first{relays, false, {}, {}};
  prove(0, of_first);
  std::atomic<std::size_t> next = 1, last = results[0].ok() ? roots.size() - 1 : 0;
  WorkQueue queue;
  const auto threads = static_cast<unsigned>(std::clamp<std::size_t>(
      roots.size() / 4, 1, std::max(std::thread::hardware_concurrency(), 1u)));
  for (unsigned i = 0; i < threads; ++i) {
    queue.add([&] {
      RelayedFacts relayed{relays, true, {}, of_first.known};
      for (std::size_t root = next++; root <= last; root = next++) {
        prove(root, relayed);
        for (std::size_t seen = last; !results[root].ok() && root < seen;) {
          if (last.compare_exchange_weak(seen, root)) break;
        }
      }
    });
  }
  queue.run(threads);

  VerifyResult result = results[has_relays ? 0 : last.load()];
  result.faults = std::move(results[last].faults);
  for (Fault& fault : result.faults) {
    if (roots.size() == 1) break;
    fault.message += "; the root is rank " + std::to_string(schedule.topology.rankOf(roots[last]));
  }
  result.work = 0;
  std::map<LinkClass, double> loads;  // for the root that loads them most
  for (std::size_t i = 0; i <= last; ++i) {
    result.work += results[i].work;
    for (const LinkLoad& load : results[i].loads) {
      double& most = loads[{load.phase, load.axis, load.sign}];
      most = std::max(most, load.share);
    }
  }
  setLoads(loads, result);
  return result;
}

/// The proof of a schedule in segments, by a number that stands for all. They share only memory, so
/// that the other rules hold if they do for the first; if not, or rank by rank, all are examined.
VerifyResult verifySegments(const ScheduleView& schedule, const VerifyOptions& options) {
  const std::uint32_t segments = segmentsToProve(schedule);
  const Schedule unrolled = unrollSegments(schedule, segments);
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  VerifyOptions of_all = withoutWrites(options);
  VerifyResult first;
  if (!options.per_rank) {
    first = verifySteps(unrollSegments(schedule, 1).view(), of_all, std::max(count, 1u));
    of_all.of_memory = first.ok();
  }
  VerifyResult result = verifySteps(unrolled.view(), of_all, std::max(count, 1u));
  result.cells = std::max(result.cells, first.cells);
  result.work += first.work;
  for (Fault& fault : result.faults) {
    if (fault.operation != kNone) fault.operation %= count;
    fault.message += " (in this line parts, frames and operations are counted through " +
                     std::to_string(segments) + " segments)";
  }
  keepFirstOfEach(result.faults);
  const std::uint32_t phases = count == 0 ? 1 : schedule.operations.back().phase + 1u;
  std::map<LinkClass, double> loads;
  for (const LinkLoad& load : result.loads)
    loads[{load.phase % phases, load.axis, load.sign}] += load.share;
  setLoads(loads, result);
  result.scratch_share *= static_cast<double>(segments) / schedule.segments;
  return result;
}

/// The proof of a schedule with its loops unrolled.
VerifyResult verifyUnrolledLoops(const ScheduleView& schedule, const VerifyOptions& options) {
  const UnrolledLoops unrolled = unrollLoops(schedule);
  VerifyResult result = verify(unrolled.schedule.view(), withoutWrites(options));
  const LoopNest nest(schedule);
  for (Fault& fault : result.faults) {
    std::string place;
    if (fault.operation != kNone) {
      const Counters& counters = unrolled.counters[fault.operation];
      fault.operation = unrolled.operations[fault.operation];
      place = iterationText(counters, nest.aroundOperation(fault.operation).depth());
    }
    if (!place.empty()) place += ": ";
    fault.message = place + fault.message +
                    " (in this line frames and operations are counted through all iterations)";
  }
  keepFirstOfEach(result.faults);
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
  const auto count = static_cast<std::uint32_t>(schedule.operations.size());
  return verifySteps(schedule, options, std::max(count, 1u));
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
