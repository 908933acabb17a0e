// torc dump FILE: a schedule in text form, or one rank's expansion as a table.
#include <algorithm>

#include <llvm/Support/Format.h>

#include "compiler/commands/commands.h"
#include "compiler/view/page_data.h"
#include "ir/json/json.h"
#include "ir/make_error.h"
#include "ir/text/text.h"
#include "schedules/expansion/expand.h"
#include "support/message.h"

namespace torc::compiler {
namespace dump_command {

using namespace options;

int run();
Command command("dump", "print a schedule, or the program of one rank", run,
                "torc dump a.torc --rank 0 --count 1000");
Text input{command, kFileRow};
Integer rank{command, {kWhat, "rank", "R", "The flat program of this rank"}, 0, kHighestRank};
Integer count{command, kCountRow, 0, kHighestCount};
Flag json{command, kJsonRow};

constexpr std::size_t kShownRuns = 4;

/// ` x64 by 1000`: repeats a run 64 times, each 1000 elements further; ` x8 by 10 back 80 at 3`:
/// from iteration 3 on 80 elements less far.
std::string loopText(const RunLoop& loop) {
  std::string text = message(" x", loop.repeat, " by ", loop.stride);
  if (loop.turns()) text += message(" back ", loop.back, " at ", loop.turn);
  return text;
}

/// `out[100:25, 200:25 x8 by 50]`: runs of elements as start:length, and their repetitions, the
/// slowest first.
std::string regionRuns(const FlatProgram& program, const FlatRegion& region) {
  std::string text(name(region.buffer));
  text += '[';
  const auto extents = program.stridedExtentsOf(region);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i > 0) text += ", ";
    if (i == kShownRuns && extents.size() > kShownRuns + 1) {
      text += "... " + std::to_string(extents.size() - i) + " more";
      break;
    }
    text += std::to_string(extents[i].offset) + ":" + std::to_string(extents[i].length);
    for (const RunLoop& loop : program.loopsOf(extents[i]))
      text += loopText(loop);
  }
  return text + ']';
}

/// The regions of an operation, in the text form of its kind.
std::string regionsText(const FlatProgram& program, const FlatOperation& operation) {
  const auto text = [&](const FlatRegion& region) { return regionRuns(program, region); };
  switch (operation.kind) {
    case OperationKind::kSend:
      return text(operation.a);
    case OperationKind::kRecv:
      return text(operation.dst);
    case OperationKind::kCopy:
      if (operation.isJoin()) return "-";
      return text(operation.dst) + " = " + text(operation.a);
    case OperationKind::kNotify:
    case OperationKind::kAwait:
      return "-";
    case OperationKind::kReduce:
    case OperationKind::kRecvReduce:
      return text(operation.dst) + " = " + text(operation.a) + " + " + text(operation.b);
  }
  return {};
}

void printFlat(const ScheduleView& schedule, const FlatProgram& program, std::uint64_t elements,
               llvm::raw_ostream& out) {
  const Topology& topology = schedule.topology;
  const Coordinates at = topology.coordinatesOf(program.rank);
  out << rowOf(schedule.collective).name << " on " << topology.shape() << ", rank " << program.rank
      << " at (";
  for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
    out << (i > 0 ? ", " : "") << topology.axes[i].name << '=' << at[i];
  }
  out << "), count " << elements << ": " << program.operations.size() << " operations; in "
      << program.in_elements << ", out " << program.out_elements << ", scratch "
      << program.scratch_elements << " elements\n"
      << "regions are runs of elements, start:length, with `xN by D` N times D apart; `after` "
         "names "
         "operations that must be complete\n"
      << "    #  phase stream  operation      peer    tag  after         regions\n";
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const FlatOperation& operation = program.operations[i];
    std::string peer = "-", tag = "-", after;
    if (operation.peer >= 0) {
      peer = (operation.kind == OperationKind::kSend ? "to " : "from ") +
             std::to_string(operation.peer);
      tag = std::to_string(operation.tag);
    }
    for (const std::uint32_t d : program.dependencesOf(operation)) {
      after += (after.empty() ? "" : ",") + std::to_string(d);
    }
    if (after.empty()) after = "-";
    out << llvm::format("%5zu  %5u %6u  ", i, unsigned{operation.phase}, operation.stream)
        << llvm::left_justify(llvm::StringRef(name(operation.kind)), 12)
        << llvm::right_justify(peer, 8) << llvm::right_justify(tag, 7) << "  "
        << llvm::left_justify(after, 12) << "  " << regionsText(program, operation) << '\n';
  }
}

int run() {
  if (input.empty()) wrongUsage("dump: which file? - is stdin");
  const bool flat = rank.isGiven();
  if (count.isGiven() && !flat) wrongUsage("dump: --count is for --rank");
  const auto rank_number = static_cast<std::int32_t>(rank);
  Input read = orInputFault(readInput(input));
  if (read.isPlan() && (flat || json)) {
    return inputFault(makeError(input + ": is a plan, which has a text form only"));
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  const ScheduleView schedule = read.view();
  if (flat) {
    StatusOr<FlatProgram> program = expand(schedule, rank_number, {count, {}, {}});
    if (!program.ok()) wrongUsage(program.status().message());
    if (json) {
      out << rankData(*program).dump(2) << '\n';
    } else {
      printFlat(schedule, *program, count, out);
    }
  } else if (json) {
    out << ir::writeJson(schedule) << '\n';
  } else {
    out << ir::programText(read.takeProgram());
  }
  return printOutput(text);
}

}  // namespace dump_command

options::Command& kDumpCommand = dump_command::command;

}  // namespace torc::compiler
