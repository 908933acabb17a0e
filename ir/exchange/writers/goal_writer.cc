// GOAL, the text format of LogGOPSim (T. Hoefler, T. Schneider, A. Lumsdaine: LogGOPSim -
// Simulating Large-Scale Applications in the LogGOPS Model, HPDC 2010). Its grammar is that of
// src/LogGOPSim/txt2bin.re in the simulator's sources.
//
// A message is a `send` or a `recv`; the sum after a receive is a `calc`, as are copies, in
// nanoseconds. An operation `requires` its dependences. A stream is a `cpu`: LogGOPSim lets a cpu
// receive one message at a time. The links of a node are its `nic`s: a message uses the one of its
// first hop, number 2 x axis, or one more if it goes down the axis.
#include <cmath>
#include <utility>

#include "ir/exchange/writers/call_writers.h"
#include "ir/peer_loops/peer_loops.h"

namespace torc::ir {
namespace {

constexpr std::uint32_t kMostCpus = 256;  // of the text: a byte

/// The link of a message's first hop: 2 x axis, one more down the axis.
std::uint32_t linkOf(const ExportedCall& call, std::int32_t rank, const FlatOperation& message) {
  const ScheduleView& schedule = call.schedule();
  const Topology& topology = schedule.topology;
  const Operation& operation = schedule.operations[message.source];
  Shift way{};
  if (operation.hasPeerLoop()) {
    Coordinates from = topology.coordinatesOf(rank), to = topology.coordinatesOf(message.peer);
    if (receives(message.kind)) std::swap(from, to);
    way = wayOf(topology, schedule.peer_loops[operation.peer], from, to);
  } else {
    way = schedule.shifts[operation.peer];
    if (receives(message.kind)) way = opposite(way);  // a message from below goes up
  }
  std::uint32_t axis = 0;
  while (axis + 1 < topology.axis_count && way[axis] == 0)
    ++axis;
  return 2 * axis + (topology.axes[axis].linkSign(way[axis]) < 0 ? 1 : 0);
}

}  // namespace

void writeGoalHeader(const ExportedCall& call, llvm::raw_ostream& out) {
  out << "num_ranks " << call.ranks() << '\n';
}

void writeGoalRank(const ExportedCall& call, const FlatProgram& program, llvm::raw_ostream& out) {
  out << "\nrank " << program.rank << " {\n";
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const FlatOperation& operation = program.operations[i];
    const std::uint32_t cpu = operation.stream % kMostCpus;
    const bool is_message = operation.peer >= 0;
    const bool computes = !is_message || operation.kind == OperationKind::kRecvReduce;
    const char first = is_message && computes ? 'r' : 'o';
    if (is_message) {
      out << first << i << ": " << (sends(operation.kind) ? "send " : "recv ")
          << call.bytesOf(operation) << (sends(operation.kind) ? "b to " : "b from ")
          << operation.peer << " tag " << operation.tag << " cpu " << cpu << " nic "
          << linkOf(call, program.rank, operation) << '\n';
    }
    if (computes) {
      out << 'o' << i << ": calc " << std::llround(call.secondsOf(operation) * 1e9) << " cpu "
          << cpu << '\n';
      if (is_message) out << 'o' << i << " requires r" << i << '\n';
    }
    for (const std::uint32_t before : program.dependencesOf(operation))
      out << first << i << " requires o" << before << '\n';
  }
  out << "}\n";
}

}  // namespace torc::ir
