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
bool OperationParser::parse(std::uint16_t phase, std::uint32_t stream) {
  const std::size_t place = cursor_.offset();
  const std::uint64_t expected = builder_.schedule().operations.size();
  std::uint64_t number = 0;
  if (cursor_.token().text.drop_front().getAsInteger(10, number) || number != expected) {
    return cursor_.failExpected("%" + llvm::Twine(expected) +
                                " (operations are numbered in order)");
  }
  cursor_.advance();
  Operation operation;
  operation.phase = phase;
  operation.stream = stream;
  if (!cursor_.expect("=", "after the operation's number") || !parseKind(operation.kind)) {
    return false;
  }
  const OperationKind kind = operation.kind;
  if (!isSignal(kind) && !parseRegions(operation)) return false;
  if ((sends(kind) || receives(kind)) && !parsePeer(operation)) return false;
  dependences_.clear();
  if (cursor_.take("after") && !parseDependences()) return false;
  if (cursor_.at("when") && !regions_.parseGuard(operation.guard)) return false;
  builder_.addOperation(operation, dependences_);
  places_.operations.push_back(place);
  return true;
}

/// Parses the regions of the operation's kind.
bool OperationParser::parseRegions(Operation& operation) {
  const OperationKind kind = operation.kind;
  if (!sends(kind) && !regions_.parse(operation.dst)) return false;
  if (kind != OperationKind::kRecv) {
    if (!sends(kind) && !cursor_.expect("=", "after the region written")) return false;
    if (!regions_.parse(operation.a)) return false;
  }
  if (kind == OperationKind::kRecvReduce || kind == OperationKind::kReduce) {
    if (!cursor_.expect("+", "and a second region") || !regions_.parse(operation.b)) return false;
  }
  return true;
}

bool OperationParser::parseKind(OperationKind& kind) {
  for (int i = 0; i < kOperationKindCount; ++i) {
    kind = static_cast<OperationKind>(i);
    if (cursor_.take(name(kind))) return true;
  }
  std::vector<llvm::StringRef> names;
  for (int i = 0; i < kOperationKindCount; ++i)
    names.push_back(name(static_cast<OperationKind>(i)));
  return cursor_.failName("an operation", names);
}

// to X+1 Y-2; to X+i Y+j for i in -1..2, j in 0..3 except 0 0 shuffled
bool OperationParser::parsePeer(Operation& operation) {
  const bool sent = sends(operation.kind);
  if (!cursor_.expect(sent ? "to" : "from", "and the peer")) return false;
  const std::size_t place = cursor_.offset();
  Shift shift{};
  std::uint32_t seen = 0, shifts = 0;
  do {
    const std::size_t axis_place = cursor_.offset();
    std::uint32_t axis = 0;
    if (!cursor_.axis(topology_, axis)) return false;
    if (seen >> axis & 1) {
      return cursor_.fail(axis_place, llvm::Twine(topology_.axes[axis].name) + " is given twice");
    }
    seen |= 1u << axis;
    const bool negative = cursor_.at("-");
    if (!negative && !cursor_.at("+")) return cursor_.failExpected("'+' or '-'");
    cursor_.advance();
    const char variable = shiftName(axis);
    if (cursor_.at(llvm::StringRef(&variable, 1))) {
      if (negative == sent) {
        return cursor_.fail(
            axis_place, sent ? "a loop over peers is sent to its shifts: +" + llvm::Twine(variable)
                             : "a loop over peers is received from as far the other way: -" +
                                   llvm::Twine(variable));
      }
      cursor_.advance();
      shifts |= 1u << axis;
    } else if (!cursor_.magnitude(negative, shift[axis], "a step")) {
      return false;
    }
  } while (cursor_.token().kind == TokenKind::kWord && llvm::isUpper(cursor_.token().text[0]));
  if (shifts == 0) {
    operation.peer = builder_.shift(shift);
    if (operation.peer == places_.shifts.size()) places_.shifts.push_back(place);
    return true;
  }
  if (shifts != seen) {
    return cursor_.fail(place,
                        "in a loop over peers every axis has a variable; a step of 1 is i in 1..1");
  }
  PeerLoop peers;
  if (!parsePeerLoop(shifts, peers)) return false;
  operation.peer_kind = PeerKind::kLoop;
  operation.peer = builder_.peerLoop(peers);
  if (operation.peer == places_.peer_loops.size()) places_.peer_loops.push_back(place);
  return true;
}

// for i in -1..2, j in 0..3 except 0 0 shuffled window 32
bool OperationParser::parsePeerLoop(std::uint32_t axes, PeerLoop& peers) {
  if (!cursor_.expect("for", "and the shifts of the loop over peers")) return false;
  bool first = true;
  for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
    peers.count[axis] = 1;
    if ((axes >> axis & 1) == 0) continue;
    const char variable = shiftName(axis);
    std::int32_t last = 0;
    if (!first && !cursor_.expect(",", "and the shifts along the next axis")) return false;
    first = false;
    if (!cursor_.expect(llvm::StringRef(&variable, 1), "the next axis's variable") ||
        !cursor_.expect("in") || !parseShift(axis, peers.first[axis]) ||
        !cursor_.expect("..", "and the last shift")) {
      return false;
    }
    const std::size_t last_place = cursor_.offset();
    if (!parseShift(axis, last)) return false;
    if (last < peers.first[axis]) return cursor_.fail(last_place, "ends before it begins");
    peers.count[axis] = static_cast<std::uint32_t>(last - peers.first[axis]) + 1;
  }
  if (peers.holdsOrigin()) {
    if (!cursor_.expect("except", "and the node itself, which a loop over peers leaves out"))
      return false;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      std::uint32_t zero = 0;
      if ((axes >> axis & 1) == 0) continue;
      if (!cursor_.integer(zero, "0, of the node itself", 0, 0)) return false;
    }
  }
  if (cursor_.take("shuffled")) peers.order = PeerOrder::kShuffled;
  if (!cursor_.take("window")) return true;
  return cursor_.integer(peers.window, "the messages that a node sends at a time", 1, kMaxWindow);
}

// -3, 4
bool OperationParser::parseShift(std::uint32_t axis, std::int32_t& shift) {
  const bool negative = cursor_.take("-");
  const std::string what = std::string("a shift on ") + topology_.axes[axis].name;
  if (!cursor_.integer(shift, what, 0, topology_.axes[axis].size - 1)) return false;
  if (negative) shift = -shift;
  return true;
}

// after %1, %7 of s-1; in a schedule with loops after %7 of i-1, %9 of (i, last), %11 of (s-1, i)
bool OperationParser::parseDependences() {
  const std::uint64_t current = builder_.schedule().operations.size();
  do {
    if (cursor_.token().kind != TokenKind::kOperation) {
      return cursor_.failExpected("an operation (%0, %1, ...)");
    }
    std::uint64_t number = 0;
    const Token operation = cursor_.token();
    const bool fits = !operation.text.drop_front().getAsInteger(10, number);
    cursor_.advance();
    const std::size_t place = cursor_.offset();
    Iterations iterations;
    if (cursor_.take("of") && !parseInstance(iterations)) return false;
    // An earlier iteration or segment may refer to an operation further down; validation checks it.
    const bool earlier = iterations.segments > 0 || iterations.depth > 0;
    if (!fits || number >= (earlier ? kMaxOperationRecords : current)) {
      return cursor_.fail(operation.offset,
                          operation.text.take_front(40) + " is not defined above");
    }
    const auto index = static_cast<std::uint32_t>(number);
    dependences_.push_back(earlier ? builder_.dependence(index, iterations) : index);
    if (builder_.schedule().iterations.size() > kMaxIterationRecords) {
      return cursor_.fail(place, "operations wait for iterations in more than " +
                                     llvm::Twine(kMaxIterationRecords) + " ways");
    }
  } while (cursor_.take(","));
  return true;
}

// i-1, last, (i, last-1), s-1, (s-1, i)
bool OperationParser::parseInstance(Iterations& instance) {
  if (!cursor_.take("(")) {
    return cursor_.at(kSegmentWord) ? parseSegmentBefore(instance) : parseIteration(instance);
  }
  if (cursor_.at(kSegmentWord)) {
    if (!parseSegmentBefore(instance)) return false;
    if (!cursor_.take(",")) return cursor_.expect(")", "after the segment");
  }
  do {
    if (instance.depth == kMaxLoopDepth) {
      return cursor_.fail(cursor_.offset(), "more than " + llvm::Twine(kMaxLoopDepth) + " loops");
    }
    if (!parseIteration(instance)) return false;
  } while (cursor_.take(","));
  return cursor_.expect(")", "after the iterations");
}

// s-1
bool OperationParser::parseSegmentBefore(Iterations& instance) {
  std::uint32_t segments = 0;
  if (!cursor_.expect(kSegmentWord) || !cursor_.expect("-", "and how many segments before") ||
      !cursor_.integer(segments, "a number of segments", 1, kMaxSegmentsBefore)) {
    return false;
  }
  instance.segments = static_cast<std::uint16_t>(segments);
  return true;
}

// j-1, first+2, last-1, last-j, all
bool OperationParser::parseIteration(Iterations& iterations) {
  const std::uint32_t level = iterations.depth++;
  const char counter = counterName(level);
  if (cursor_.take("all")) {
    iterations.origin[level] = IterationOrigin::kAll;
    return true;
  }
  if (cursor_.take("first")) {
    iterations.origin[level] = IterationOrigin::kFirst;
  } else if (cursor_.take("last")) {
    iterations.origin[level] = IterationOrigin::kLast;
    if (cursor_.at("-")) {
      cursor_.advance();
      if (!cursor_.take(llvm::StringRef(&counter, 1))) {
        return cursor_.magnitude(true, iterations.offset[level], "a number of iterations");
      }
      iterations.origin[level] = IterationOrigin::kBack;
    }
  } else if (!cursor_.take(llvm::StringRef(&counter, 1))) {
    return cursor_.failExpected("a segment (s-1), or an iteration of the loop at this depth (" +
                                llvm::Twine(counter) + "-1, first, last, all)");
  }
  if (!cursor_.at("+") && !cursor_.at("-")) return true;
  return cursor_.signedInteger(iterations.offset[level], "a number of iterations");
}

}  // namespace torc::ir
