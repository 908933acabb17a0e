// Parses operations: kind, regions, peer and dependences.
#include "ir/text/operation_parser.h"

#include <string>
#include <vector>

#include <llvm/ADT/StringExtras.h>

#include "ir/text/format.h"
#include "schedules/loops/loop_nest.h"
#include "schedules/validation/validate.h"

namespace torc::ir {

// %17 = recv_reduce out[p0, (x-2, *)] = in[p0, (x-2, *)] + f0[(x-2, *)] from X-1 after %3 when y =
// 0
void OperationParser::parse(std::uint16_t phase, std::uint32_t stream) {
  const std::size_t place = cursor_.offset();
  const std::uint64_t expected = builder_.schedule().operations.size();
  std::uint64_t number = 0;
  if (cursor_.token().text.drop_front().getAsInteger(10, number) || number != expected) {
    cursor_.failExpected("%" + llvm::Twine(expected) + " (operations are numbered in order)");
  }
  cursor_.advance();
  Operation operation;
  operation.phase = phase;
  operation.stream = stream;
  cursor_.expect("=", "after the operation's number");
  operation.kind = parseKind();
  const OperationKind kind = operation.kind;
  if (!isSignal(kind)) parseRegions(operation);
  if (sends(kind) || receives(kind)) parsePeer(operation);
  dependences_.clear();
  if (cursor_.take("after")) parseDependences();
  if (cursor_.at("when")) operation.guard = regions_.parseGuard();
  builder_.addOperation(operation, dependences_);
  places_.operations.push_back(place);
}

/// Parses the regions of the operation's kind.
void OperationParser::parseRegions(Operation& operation) {
  const OperationKind kind = operation.kind;
  if (!sends(kind)) operation.dst = regions_.parse();
  if (kind != OperationKind::kRecv) {
    if (!sends(kind)) cursor_.expect("=", "after the region written");
    operation.a = regions_.parse();
  }
  if (kind == OperationKind::kRecvReduce || kind == OperationKind::kReduce) {
    cursor_.expect("+", "and a second region");
    operation.b = regions_.parse();
  }
}

OperationKind OperationParser::parseKind() {
  static const std::vector<llvm::StringRef> names = namesOf<OperationKind>(kOperationKindCount);
  return static_cast<OperationKind>(cursor_.named("an operation", names));
}

// to X+1 Y-2; to X+i Y+j for i in -1..2, j in 0..3 except 0 0 shuffled
void OperationParser::parsePeer(Operation& operation) {
  const bool sent = sends(operation.kind);
  cursor_.expect(sent ? "to" : "from", "and the peer");
  const std::size_t place = cursor_.offset();
  Shift shift{};
  std::uint32_t seen = 0, shifts = 0;
  do {
    const std::size_t axis_place = cursor_.offset();
    const std::uint32_t axis = cursor_.axis(topology_);
    if (seen >> axis & 1) {
      cursor_.fail(axis_place, llvm::Twine(topology_.axes[axis].name) + " is given twice");
    }
    seen |= 1u << axis;
    const bool negative = cursor_.isMinus();
    const char variable = shiftName(axis);
    if (cursor_.take(llvm::StringRef(&variable, 1))) {
      if (negative == sent) {
        cursor_.fail(axis_place,
                     sent ? "a loop over peers is sent to its shifts: +" + llvm::Twine(variable)
                          : "a loop over peers is received from as far the other way: -" +
                                llvm::Twine(variable));
      }
      shifts |= 1u << axis;
    } else {
      shift[axis] = cursor_.magnitude(negative, "a step");
    }
  } while (cursor_.token().kind == TokenKind::kWord && llvm::isUpper(cursor_.token().text[0]));
  if (shifts == 0) {
    operation.peer = builder_.shift(shift);
    if (operation.peer == places_.shifts.size()) places_.shifts.push_back(place);
    return;
  }
  if (shifts != seen) {
    cursor_.fail(place, "in a loop over peers every axis has a variable; a step of 1 is i in 1..1");
  }
  operation.peer_kind = PeerKind::kLoop;
  operation.peer = builder_.peerLoop(parsePeerLoop(shifts));
  if (operation.peer == places_.peer_loops.size()) places_.peer_loops.push_back(place);
}

// for i in -1..2, j in 0..3 except 0 0 shuffled window 32
PeerLoop OperationParser::parsePeerLoop(std::uint32_t axes) {
  PeerLoop peers;
  cursor_.expect("for", "and the shifts of the loop over peers");
  bool first = true;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    peers.count[axis] = 1;
    if ((axes >> axis & 1) == 0) continue;
    const char variable = shiftName(axis);
    if (!first) cursor_.expect(",", "and the shifts along the next axis");
    first = false;
    cursor_.expect(llvm::StringRef(&variable, 1), "the next axis's variable");
    cursor_.expect("in");
    peers.first[axis] = parseShift(axis);
    cursor_.expect("..", "and the last shift");
    const std::size_t last_place = cursor_.offset();
    const std::int32_t last = parseShift(axis);
    if (last < peers.first[axis]) cursor_.fail(last_place, "ends before it begins");
    peers.count[axis] = static_cast<std::uint32_t>(last - peers.first[axis]) + 1;
  }
  if (peers.holdsOrigin()) {
    cursor_.expect("except", "and the node itself, which a loop over peers leaves out");
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (axes >> axis & 1) cursor_.integer("0, of the node itself", 0, 0);
    }
  }
  if (cursor_.take("shuffled")) peers.order = PeerOrder::kShuffled;
  if (cursor_.take("window"))
    peers.window = static_cast<std::uint16_t>(
        cursor_.integer("the messages that a node sends at a time", 1, kMaxWindow));
  return peers;
}

// -3, 4
std::int32_t OperationParser::parseShift(std::uint32_t axis) {
  const bool negative = cursor_.take("-");
  const std::string what = std::string("a shift on ") + topology_.axes[axis].name;
  const auto shift = cursor_.integer<std::int32_t>(what, 0, topology_.axes[axis].size - 1);
  return negative ? -shift : shift;
}

// after %1, %7 of s-1; in a schedule with loops after %7 of i-1, %9 of (i, last), %11 of (s-1, i)
void OperationParser::parseDependences() {
  const std::uint64_t current = builder_.schedule().operations.size();
  do {
    if (cursor_.token().kind != TokenKind::kOperation) {
      cursor_.failExpected("an operation (%0, %1, ...)");
    }
    std::uint64_t number = 0;
    const Token operation = cursor_.token();
    const bool fits = !operation.text.drop_front().getAsInteger(10, number);
    cursor_.advance();
    const std::size_t place = cursor_.offset();
    Iterations iterations;
    if (cursor_.take("of")) parseInstance(iterations);
    // An earlier iteration or segment may refer to an operation further down; validation checks it.
    const bool earlier = iterations.segments > 0 || iterations.depth > 0;
    if (!fits || number >= (earlier ? kMaxOperationRecords : current)) {
      cursor_.fail(operation.offset, operation.text.take_front(40) + " is not defined above");
    }
    const auto index = static_cast<std::uint32_t>(number);
    dependences_.push_back(earlier ? builder_.dependence(index, iterations) : index);
    if (builder_.schedule().iterations.size() > kMaxIterationRecords) {
      cursor_.fail(place, "operations wait for iterations in more than " +
                              llvm::Twine(kMaxIterationRecords) + " ways");
    }
  } while (cursor_.take(","));
}

// i-1, last, (i, last-1), s-1, (s-1, i)
void OperationParser::parseInstance(Iterations& instance) {
  if (!cursor_.take("(")) {
    return cursor_.at(kSegmentWord) ? parseSegmentBefore(instance) : parseIteration(instance);
  }
  if (cursor_.at(kSegmentWord)) {
    parseSegmentBefore(instance);
    if (!cursor_.take(",")) return cursor_.expect(")", "after the segment");
  }
  do {
    if (instance.depth == kMaxLoopDepth) {
      cursor_.fail(cursor_.offset(), "more than " + llvm::Twine(kMaxLoopDepth) + " loops");
    }
    parseIteration(instance);
  } while (cursor_.take(","));
  cursor_.expect(")", "after the iterations");
}

// s-1
void OperationParser::parseSegmentBefore(Iterations& instance) {
  cursor_.expect(kSegmentWord);
  cursor_.expect("-", "and how many segments before");
  instance.segments = cursor_.integer<std::uint16_t>("a number of segments", 1, kMaxSegmentsBefore);
}

// j-1, first+2, last-1, last-j, all
void OperationParser::parseIteration(Iterations& iterations) {
  const std::uint32_t level = iterations.depth++;
  const char counter = counterName(level);
  if (cursor_.take("all")) {
    iterations.origin[level] = IterationOrigin::kAll;
    return;
  }
  if (cursor_.take("first")) {
    iterations.origin[level] = IterationOrigin::kFirst;
  } else if (cursor_.take("last")) {
    iterations.origin[level] = IterationOrigin::kLast;
    if (cursor_.take("-")) {
      if (!cursor_.take(llvm::StringRef(&counter, 1))) {
        iterations.offset[level] = cursor_.magnitude(true, "a number of iterations");
        return;
      }
      iterations.origin[level] = IterationOrigin::kBack;
    }
  } else if (!cursor_.take(llvm::StringRef(&counter, 1))) {
    cursor_.failExpected("a segment (s-1), or an iteration of the loop at this depth (" +
                         llvm::Twine(counter) + "-1, first, last, all)");
  }
  if (cursor_.atSign()) iterations.offset[level] = cursor_.signedInteger("a number of iterations");
}

}  // namespace torc::ir
