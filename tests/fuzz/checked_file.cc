// Reads, rewrites, expands, proves and runs bytes as a schedule file.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ir/json/json.h"
#include "ir/text/text.h"
#include "ir/verifier/verifier.h"
#include "model/bounds/link_loads.h"
#include "model/simulator/simulator.h"
#include "schedules/expansion/expand.h"
#include "schedules/format/file.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/loops/unroll.h"
#include "schedules/validation/validate.h"
#include "support/message.h"
#include "tests/fuzz/checked.h"
#include "tests/runtime/execution/checked_job.h"

namespace torc::fuzz {
namespace {

// Sizes up to which a mutant is expanded and run. Reading is bounded by the file; these are
// bounded by the number of nodes, parts and iterations that the schedule asks for.
constexpr std::uint64_t kMaxExpandedRanks = 4096;
constexpr std::uint32_t kMaxExpandedParts = 4096;
constexpr std::uint64_t kMaxRunRanks = 32;
constexpr std::uint64_t kMaxExpandedRuns = 4096;  // operations of all iterations
constexpr std::uint64_t kMaxRunRuns = 512;
constexpr std::uint32_t kMaxRunParts = 64;

bool isOneLine(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

/// What is wrong with an operation of `program`; empty if nothing.
std::string checkOperation(const ScheduleView& schedule, const FlatProgram& program,
                           const FlatOperation& operation, std::uint32_t index) {
  if (operation.source >= schedule.operations.size()) return "comes from no operation";
  if (sends(operation.kind) || receives(operation.kind)) {
    const auto ranks = static_cast<std::int64_t>(schedule.topology.ranks());
    if (operation.peer < 0 || operation.peer >= ranks) return "has no peer";
    if (operation.peer == program.rank) return "is its own peer";
    if (operation.tag >= program.tag_count) return "has too large a tag";
  }
  for (const std::uint32_t dependence : program.dependencesOf(operation)) {
    if (dependence >= index) return "depends on what is not above it";
  }
  const std::array<std::uint64_t, 4> sizes = {0, program.in_elements, program.out_elements,
                                              program.scratch_elements};
  std::uint64_t length = 0;
  for (const FlatRegion* region : {&operation.dst, &operation.a, &operation.b}) {
    if (region->buffer == Buffer::kNone) continue;
    const std::uint64_t size = sizes[static_cast<std::size_t>(region->buffer)];
    std::uint64_t elements = 0;
    for (const Extent& extent : program.extentsOf(*region)) {
      if (extent.offset > size || extent.length > size - extent.offset) {
        return message("has elements ", extent.offset, " to ", extent.offset + extent.length,
                       " of ", name(region->buffer), ", which has ", size);
      }
      elements += extent.length;
    }
    if (elements != region->elements || elements == 0) return "has the wrong number of elements";
    if (length != 0 && length != elements) return "has regions of different sizes";
    length = elements;
  }
  if (operation.dst.buffer == Buffer::kIn) return "writes in";
  return {};
}

std::string checkExpansion(const ScheduleView& schedule, std::int32_t rank, const Counts& counts,
                           bool in_place) {
  const StatusOr<FlatProgram> program = expand(schedule, rank, counts, in_place);
  if (!program.ok()) return "expand: " + program.status().message();
  for (std::uint32_t i = 0; i < program->operations.size(); ++i) {
    const std::string fault = checkOperation(schedule, *program, program->operations[i], i);
    if (!fault.empty()) return message("rank ", rank, ", operation ", i, " ", fault);
  }
  return {};
}

std::string checkExpansions(const ScheduleView& schedule) {
  const std::uint64_t ranks = schedule.topology.ranks();
  std::vector<std::uint64_t> per_rank(ranks);
  for (std::uint64_t rank = 0; rank < ranks; ++rank)
    per_rank[rank] = rank % 3 == 0 ? 0 : 5 * rank % 11;
  std::vector<Counts> calls;
  for (const std::uint64_t count : {0, 1, 13})
    calls.push_back({.count = count, .per_rank = {}, .displacements = {}});
  const CollectiveRow& row = rowOf(schedule.collective);
  if (row.layout == Layout::kBlockMajor && row.blocks == BlockSpace::kNode) {
    calls.push_back({.count = 0, .per_rank = per_rank, .displacements = {}});
  }
  for (const std::uint64_t rank : {std::uint64_t{0}, ranks / 2, ranks - 1}) {
    for (const Counts& counts : calls) {
      for (const bool in_place : {false, true}) {
        std::string fault =
            checkExpansion(schedule, static_cast<std::int32_t>(rank), counts, in_place);
        if (!fault.empty()) return fault;
      }
    }
  }
  return {};
}

std::string checkByJson(const ScheduleView& schedule, std::span<const std::byte> bytes) {
  llvm::Expected<Schedule> read = ir::readJson(ir::writeJson(schedule), "mutant.json");
  if (!read) return "JSON does not read back: " + llvm::toString(read.takeError());
  if (!std::ranges::equal(writeSchedule(read->view()), bytes)) return "JSON changes the schedule";
  return {};
}

std::string checkByText(const ScheduleView& schedule) {
  const ir::Program program{ir::canonicalize(schedule), {}};
  llvm::Expected<ir::Program> read = ir::parseProgram(printed(program), "mutant.tir");
  if (!read) return "text does not parse: " + llvm::toString(read.takeError());
  if (read->schedule.view() != program.schedule.view()) return "text changes the schedule";
  return {};
}

/// Loops written out are a schedule, too.
std::string checkUnrolled(const ScheduleView& schedule) {
  if (schedule.loops.empty()) return {};
  const UnrolledLoops unrolled = unrollLoops(schedule);
  if (unrolled.schedule.operations.size() != operationRuns(schedule)) {
    return "written out it has another number of operations";
  }
  const Status status = validate(unrolled.schedule.view());
  return status.ok() ? "" : "written out: " + status.message();
}

/// Proves, and runs what was proved.
std::string checkProof(const ScheduleView& schedule, bool& proved) {
  const ir::VerifyResult result = ir::verify(schedule);
  for (const ir::Fault& fault : result.faults) {
    if (fault.rule == ir::Rule::kBounds) return "verifier: bounds: " + fault.message;
  }
  proved = result.ok();
  if (!proved) return {};
  CheckedCall call;
  call.count = 29;
  std::string fault = runChecked(schedule, call);
  return fault.empty() ? "" : "proved, but " + fault;
}

/// Simulates: what is proved runs to its end, what is not may be refused in one line.
std::string checkSimulation(const ScheduleView& schedule, bool proved) {
  model::Machine machine;
  machine.name = "checked";
  machine.alpha = machine.overhead = machine.latency = 1e-6;
  machine.gamma = 1e-9;
  machine.memory_bandwidth = 1e9;
  machine.ports = 2;
  for (int i = 0; i < schedule.topology.dimensions(); ++i) {
    const Axis& axis = schedule.topology.axes[static_cast<std::size_t>(i)];
    model::MachineDimension dimension;
    dimension.size = axis.size;
    dimension.torus = axis.kind == AxisKind::kTorus;
    machine.dimensions.push_back(dimension);
  }
  // The time on a link of almost no bandwidth is infinite.
  const bool is_finite = std::ranges::all_of(
      schedule.links, [](const GraphLink& link) { return std::isfinite(1e9 / link.bandwidth); });
  for (const bool per_rank : {false, true}) {
    model::SimulateOptions options;
    options.bytes = 1000;
    options.per_rank = per_rank;
    options.critical_path = true;
    llvm::Expected<model::SimulateResult> result = model::simulate(schedule, machine, options);
    if (result) continue;
    const std::string error = llvm::toString(result.takeError());
    if (proved && is_finite) return "proved, but the simulator says: " + error;
    if (!isOneLine(error)) return "the simulator refuses with: " + error;
  }
  llvm::Expected<model::LinkLoads> loads = model::exactLinkLoads(schedule);
  if (loads) return {};
  const std::string error = llvm::toString(loads.takeError());  // weights may be beyond counting
  return isOneLine(error) ? "" : "exact loads are refused with: " + error;
}

}  // namespace

Outcome checkFile(std::span<const std::byte> bytes) {
  Outcome outcome;
  const StatusOr<LoadedSchedule> loaded = readSchedule(bytes, "mutant");
  if (!loaded.ok()) {
    outcome.refusal = loaded.status().message();
    if (!isOneLine(outcome.refusal) || !outcome.refusal.starts_with("mutant: ")) {
      outcome.violation = "refused with: " + outcome.refusal;
    }
    return outcome;
  }
  outcome.accepted = true;
  const ScheduleView& schedule = loaded->view();
  if (!std::ranges::equal(writeSchedule(schedule), bytes)) {
    outcome.violation = "does not write back as the same bytes";
    return outcome;
  }
  const std::uint64_t ranks = schedule.topology.ranks();
  const std::uint32_t parts = schedule.partCount();
  const std::uint64_t runs = operationRuns(schedule);
  if (ranks > kMaxExpandedRanks || parts > kMaxExpandedParts) return outcome;
  if (!schedule.loops.empty() && runs > kMaxExpandedRuns) return outcome;
  outcome.violation = checkUnrolled(schedule);
  if (outcome.violation.empty()) outcome.violation = checkExpansions(schedule);
  if (outcome.violation.empty()) outcome.violation = checkByJson(schedule, bytes);
  if (outcome.violation.empty()) outcome.violation = checkByText(schedule);
  const bool is_run = ranks <= kMaxRunRanks && parts <= kMaxRunParts &&
                      (schedule.loops.empty() || runs <= kMaxRunRuns);
  if (outcome.violation.empty() && is_run) {
    outcome.violation = checkProof(schedule, outcome.proved);
    if (outcome.violation.empty()) outcome.violation = checkSimulation(schedule, outcome.proved);
  }
  return outcome;
}

}  // namespace torc::fuzz
