// Prints a program: header, colors, then either the plan or the streams, frames and phases of the
// step level. Comments explain the notation and the color, direction and chunk of each part, so
// that a dump needs no prior knowledge; the parser skips them. Grammar: docs/developers/ir.md.
#include <numeric>
#include <string>

#include <llvm/ADT/Twine.h>
#include <llvm/Support/FormatAdapters.h>

#include "ir/text/format.h"
#include "ir/text/text.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/root.h"
#include "schedules/topology/damage.h"

namespace torc::ir {
namespace {

class Printer {
 public:
  Printer(const Program& program, llvm::raw_ostream& out)
      : program_(program), schedule_(program.schedule.view()), out_(out) {}

  void print() {
    out_ << "// torc schedule, text form 1. The notation in full: docs/developers/ir.md\n";
    if (!schedule_.operations.empty()) printStepNotes();
    out_ << "schedule @" << schedule_.name << " {\n  collective "
         << rowOf(schedule_.collective).name << '\n';
    printTopology();
    printColors();
    if (!program_.plan.empty()) printPlan();
    printStreams();
    printFrames();
    printPhases();
    out_ << "}\n";
  }

 private:
  const Axis& axis(std::uint32_t index) const { return schedule_.topology.axes[index]; }

  /// The notation in a few lines, with the axes of this schedule.
  void printStepNotes() {
    std::string coordinates, rest;  // `x, y and z`; `, *, *` for every axis but the first
    const std::uint32_t axes = schedule_.topology.axis_count;
    for (std::uint32_t i = 0; i < axes; ++i) {
      if (i > 0) coordinates += i + 1 == axes ? " and " : ", ";
      coordinates += coordinateName(axis(i));
      if (i > 0) rest += ", *";
    }
    const char X = axis(0).name;
    const std::string x(1, coordinateName(axis(0)));
    out_ << "//\n// Every node runs this one program; " << coordinates
         << (axes > 1 ? " are its own coordinates" : " is its own coordinate") << originText()
         << ".\n"
         << "// Data is an array of blocks, one "
         << (schedule_.hasPairs() ? "from each node to each" : "per node")
         << "; each block is cut into parts.\n";
    if (schedule_.hasPairs()) {
      note("in[p0, (" + x + rest + ") -> (*" + rest + ")]",
           "part p0 of the blocks from this node to all, in the buffer `in`");
    } else {
      noteBlocks(x, rest);
    }
    if (!schedule_.pieces.empty()) {
      note("out[p0:2, A, B, p5, C]", "a list: the boxes A and B of p0 and p1, then C of p5");
      note("f2[*]", "all of frame f2");
    }
    note("*  3  " + x + "-1  " + x + "-1:2",
         "all; 3; one before the node's own; that and the next");
    note(llvm::Twine("send A to ") + llvm::Twine(X) + "+1",
         llvm::Twine("to the node one step up ") + llvm::Twine(X));
    if (!schedule_.peer_loops.empty()) {
      note(llvm::Twine("send A to ") + llvm::Twine(X) + "+i for i in 1..3",
           "three messages, each of A for its i");
    }
    if (rowOf(schedule_.collective).reduces()) {
      note(llvm::Twine("recv_reduce D = A + B from ") + llvm::Twine(X) + "-1",
           "receive into B, then combine: D = A + B");
    }
    if (schedule_.isOnGraph()) {
      note("links [0->3 ...]", "what messages go over; nodes from " +
                                   llvm::Twine(schedule_.topology.ranks()) +
                                   " on are switches, which send them on");
    }
    note("after %4, %7", "starts when these are complete; without it, at once");
    if (schedule_.flags & kOrderedSums) {
      note("promise ordered-sums", "every D = A + B is of ranks in order, those of A first");
    }
    if (schedule_.flags & kSynchronousSends) {
      note("sends synchronous", "what waits for a send waits until its message is being received");
    }
    if (schedule_.flags & kDropsBroken) {
      note("broken messages dropped", "what would go over something dead does not exist");
    }
    if (schedule_.segments > 1) {
      note("for s in 0..9 window 4 { }",
           "for ten segments of every part, with scratch for four at a time");
      note("after %7 of s-1", "when it is complete for the segment before, if there is one");
    }
    if (!schedule_.loops.empty()) {
      note("for i in 0..5 { }",
           "six times, i from 0 to 5; boxes may go with i: (" + x + "-i" + rest + ")");
      note("in slots 4..5", "iterations take the two copies of the frame in turn");
      note("after %7 of i-1", "of the iteration before, if there is one; of last: the last one's");
    }
    note("when " + x + " in 1..6", "only nodes with these coordinates execute it");
    if (hasRootRelativeGuard(schedule_)) {
      note("when " + x + " in r+1..6", "r is the root's coordinate");
    }
    out_ << "//\n// Messages of a stream between two nodes match in order.\n";
  }

  void noteBlocks(const std::string& x, const std::string& rest) {
    const char X = axis(0).name;
    note("out[p0, (" + x + "-1" + rest + ")]", llvm::Twine("part p0 of the blocks at ") +
                                                   llvm::Twine(X) + " = " + x +
                                                   "-1 (cyclic) in the buffer `out`");
    note("f2[(" + x + rest + ")]", "the same, in frame f2 of scratch memory");
  }

  /// The origin of coordinates if it is the root.
  llvm::StringRef originText() const {
    std::uint32_t counting = 0, moving = 0;
    for (std::uint32_t i = 0; i < schedule_.topology.axis_count; ++i) {
      if (axis(i).size == 1) continue;
      ++moving;
      counting += countsFromRoot(schedule_, i);
    }
    if (counting == 0) return "";
    return counting == moving ? ", counted from the root" : ", counted from the root but on lines";
  }

  void note(const llvm::Twine& notation, const llvm::Twine& meaning) {
    out_ << "//   " << llvm::left_justify(notation.str(), 31) << ' ' << meaning << '\n';
  }

  void printTopology() {
    const Topology& topology = schedule_.topology;
    out_ << "  topology " << (schedule_.isOnGraph() ? "graph [" : "torus [");
    for (std::uint32_t i = 0; i < topology.axis_count; ++i) {
      if (i > 0) out_ << ", ";
      out_ << axis(i).name << '=' << axis(i).size;
      if (axis(i).kind == AxisKind::kMesh) out_ << " mesh";
      if (axis(i).kind == AxisKind::kCore) out_ << " cores";
      if (axis(i).bandwidth != 1.0) {
        out_ << " bandwidth ";
        printDouble(axis(i).bandwidth, out_);
      }
      if (axis(i).latency != 0.0) {
        out_ << " latency ";
        printDouble(axis(i).latency, out_);
      }
    }
    out_ << "] order " << topology.orderString();
    printLinks();
    const auto printList = [&](llvm::StringRef begin, const auto& list, auto textOf) {
      for (const auto& one : list)
        out_ << (&one == list.data() ? begin : ", ") << textOf(topology, one);
      if (!list.empty()) out_ << ']';
    };
    printList(" dead-links [", topology.deadLinks(),
              [](const auto&... of) { return linkText(of...); });
    printList(" dead-nodes [", topology.deadNodes(), nodeText);
    if (topology.hasDetours()) out_ << " detours";
    out_ << '\n';
    if (!schedule_.producer.empty()) {
      out_ << "  producer ";
      printQuoted(schedule_.producer, out_);
      out_ << '\n';
    }
    for (const PromiseName& promise : kPromises) {
      if (schedule_.flags & promise.flag) out_ << "  promise " << promise.name << '\n';
    }
    if (schedule_.flags & kSynchronousSends) out_ << "  sends synchronous\n";
    if (schedule_.flags & kDropsBroken) out_ << "  broken messages dropped\n";
  }

  void printLinks() {
    llvm::StringRef separator = " links [\n    ";
    for (const GraphLink& link : schedule_.links) {
      out_ << separator << linkText(link) << " bandwidth ";
      printDouble(link.bandwidth, out_);
      out_ << " latency ";
      printDouble(link.latency, out_);
      separator = ",\n    ";
    }
    if (schedule_.isOnGraph()) out_ << ']';
  }

  void printColors() {
    std::uint64_t sum = 0;
    for (const Color& color : schedule_.colors)
      sum += color.weight;
    std::uint64_t part = 0;
    for (std::size_t i = 0; i < schedule_.colors.size(); ++i) {
      const Color& color = schedule_.colors[i];
      const std::uint64_t parts = std::uint64_t{color.directions} * color.chunks;
      out_ << "  color " << i << " weight " << color.weight << '/' << sum << " order ";
      for (std::uint32_t k = 0; k < color.axis_count; ++k)
        out_ << axis(color.order[k]).name;
      out_ << " directions " << color.directions << " chunks " << color.chunks << "  // ";
      printShare(color.weight, sum);
      out_ << " of every block: p" << part;
      if (parts > 1) out_ << "..p" << part + parts - 1;
      out_ << '\n';
      part += parts;
    }
  }

  /// `1/3` in lowest terms, or `all`.
  void printShare(std::uint64_t weight, std::uint64_t sum) {
    const std::uint64_t divisor = std::gcd(weight, sum);
    if (weight == sum || divisor == 0) {
      out_ << "all";
    } else {
      out_ << weight / divisor << '/' << sum / divisor;
    }
  }

  void printPlan() {
    std::uint32_t phase = 0;
    out_ << "  plan {  // phase 0\n";
    for (const PlanOperation& operation : program_.plan) {
      out_ << "    " << name(operation.kind);
      if (operation.kind == PlanKind::kPhaseBarrier) {
        out_ << "  // phase " << ++phase << '\n';
      } else {
        out_ << " color " << operation.color << " on ";
        for (std::uint32_t i = 0; i < schedule_.topology.axis_count; ++i) {
          if (operation.axisSet() >> i & 1) out_ << axis(i).name;
        }
        if (operation.stride > 0)
          out_ << " stride " << operation.stride << " on " << axis(operation.axis).name;
        out_ << (operation.half_latency ? " half-latency\n" : "\n");
      }
    }
    out_ << "  }\n";
  }

  /// `color 0, direction +, chunk 2` of a part.
  void printPart(std::uint32_t part) {
    if (part == kNone) {
      out_ << "any part";
      return;
    }
    const PartIndex index = schedule_.partIndex(part);
    out_ << "color " << index.color << ", direction " << (index.direction == 0 ? '+' : '-')
         << ", chunk " << index.chunk;
  }

  void printStreams() {
    for (std::size_t i = 0; i < schedule_.streams.size(); ++i) {
      const Stream& stream = schedule_.streams[i];
      out_ << "  stream " << i << " of ";
      if (stream.part == kNone) {
        out_ << '*';
      } else {
        out_ << 'p' << stream.part;
      }
      out_ << " core " << stream.core << "  // ";
      printPart(stream.part);
      out_ << '\n';
    }
  }

  void printFrames() {
    if (schedule_.slot_count > 0) {
      out_ << "  slots " << schedule_.slot_count
           << "  // of scratch; frames that share a slot take turns in it\n";
    }
    for (std::size_t i = 0; i < schedule_.frames.size(); ++i) {
      const Frame& frame = schedule_.frames[i];
      out_ << "  frame f" << i << " = ";
      printPieces(schedule_, schedule_.piecesOf(frame), false, out_);
      if (frame.copies > 1) {
        out_ << " in slots " << frame.group() << ".."
             << std::uint64_t{frame.group()} + frame.copies - 1;
        if (frame.slot != frame.group()) out_ << " from " << frame.slot;
        out_ << '\n';
      } else {
        out_ << " in slot " << frame.slot << '\n';
      }
    }
  }

  void printPhases() {
    const auto& operations = schedule_.operations;
    const bool in_segments = schedule_.segments > 1;
    if (in_segments) {
      out_ << "  for " << kSegmentCounter << " in 0.." << schedule_.segments - 1 << " window "
           << schedule_.window << " {  // for " << schedule_.segments
           << " segments of every part\n";
      margin_ += 2;
    }
    for (std::uint32_t begin = 0, end = 0; begin < operations.size(); begin = end) {
      const std::uint16_t phase = operations[begin].phase;
      while (end < operations.size() && operations[end].phase == phase)
        ++end;
      out_.indent(margin_) << "phase " << phase << " {\n";
      printStreamBlocks(begin, end, 0);
      out_.indent(margin_) << "}\n";
    }
    if (in_segments) out_ << "  }\n";
  }

  std::uint32_t streamOf(std::uint32_t index) const { return schedule_.operations[index].stream; }
  /// Whether the next loop begins at operation `index`.
  bool loopsAt(std::uint32_t index) const {
    return next_loop_ < schedule_.loops.size() && schedule_.loops[next_loop_].begin == index;
  }
  /// Whether a loop has one stream, and so is printed inside its block.
  bool isOfOneStream(const Loop& loop) const {
    for (std::uint32_t i = loop.begin + 1; i < loop.end; ++i) {
      if (streamOf(i) != streamOf(loop.begin)) return false;
    }
    return true;
  }
  llvm::raw_ostream& indent(std::uint32_t depth) { return out_.indent(margin_ + 2 + 2 * depth); }

  /// Operations [begin, end) of a phase in the blocks of their streams, inside `depth` loops.
  void printStreamBlocks(std::uint32_t begin, std::uint32_t end, std::uint32_t depth) {
    for (std::uint32_t i = begin; i < end;) {
      if (loopsAt(i) && !isOfOneStream(schedule_.loops[next_loop_])) {
        i = printLoop(depth, &Printer::printStreamBlocks);
        continue;
      }
      // Up to the next stream, or to a loop of several.
      std::uint32_t block_end = i + 1, loop = next_loop_;
      const auto isEnd = [&](std::uint32_t at) {
        while (loop < schedule_.loops.size() && schedule_.loops[loop].begin < at)
          ++loop;
        return streamOf(at) != streamOf(i) ||
               (loop < schedule_.loops.size() && schedule_.loops[loop].begin == at &&
                !isOfOneStream(schedule_.loops[loop]));
      };
      while (block_end < end && !isEnd(block_end))
        ++block_end;
      indent(depth) << "stream " << streamOf(i) << " {  // ";
      printPart(schedule_.streams[streamOf(i)].part);
      printAxes(i, block_end);
      out_ << '\n';
      printOperations(i, block_end, depth + 1);
      indent(depth) << "}\n";
      i = block_end;
    }
  }

  void printOperations(std::uint32_t begin, std::uint32_t end, std::uint32_t depth) {
    for (std::uint32_t i = begin; i < end;) {
      if (loopsAt(i)) {
        i = printLoop(depth, &Printer::printOperations);
      } else {
        indent(depth);
        printOperation(schedule_, i++, out_);
        out_ << '\n';
      }
    }
  }

  /// The next loop, its body by `printBody`; returns the operation behind it.
  std::uint32_t printLoop(std::uint32_t depth,
                          void (Printer::*printBody)(std::uint32_t, std::uint32_t, std::uint32_t)) {
    const Loop& loop = schedule_.loops[next_loop_++];
    indent(depth) << "for " << counterName(loop_depth_++) << " in 0.." << loop.count - 1;
    out_ << " {\n";
    (this->*printBody)(loop.begin, loop.end, depth + 1);
    indent(depth) << "}\n";
    --loop_depth_;
    return loop.end;
  }

  /// `, on X`: the axes along which operations [begin, end) exchange messages.
  void printAxes(std::size_t begin, std::size_t end) {
    std::uint32_t used = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Operation& operation = schedule_.operations[i];
      if (operation.peer == kNone) continue;
      for (std::uint32_t k = 0; k < schedule_.topology.axis_count; ++k) {
        const bool moves = operation.hasPeerLoop() ? schedule_.peer_loops[operation.peer].moves(k)
                                                   : schedule_.shifts[operation.peer][k] != 0;
        if (moves) used |= 1u << k;
      }
    }
    llvm::StringRef separator = ", on ";
    for (std::uint32_t k = 0; k < schedule_.topology.axis_count; ++k) {
      if ((used >> k & 1) == 0) continue;
      out_ << separator << axis(k).name;
      separator = ", ";
    }
  }

  const Program& program_;
  const ScheduleView schedule_;
  llvm::raw_ostream& out_;
  std::uint32_t margin_ = 2;      // of phases
  std::uint32_t next_loop_ = 0;   // of the table
  std::uint32_t loop_depth_ = 0;  // around the current operation
};

}  // namespace

std::string programText(const Program& program) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Printer(program, out).print();
  return text;
}

}  // namespace torc::ir
