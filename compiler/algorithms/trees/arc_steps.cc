#include "compiler/algorithms/trees/arc_steps.h"

#include <algorithm>

namespace torc::compiler {

Region ArcSteps::newFrame() {
  const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  const std::uint32_t frame = builder_.addFrame({{part_, 1, builder_.box({})}}, slot);
  return wholeFrame(builder_.schedule().frames[frame], frame);
}

Region ArcSteps::sum() {
  if (!sum_) sum_ = newFrame();
  return *sum_;
}

/// Where what comes by that sign is received: a node has one child there.
Region ArcSteps::staging(std::uint32_t axis, int sign) {
  const auto [entry, is_new] = staging_.try_emplace({axis, sign});
  if (is_new) entry->second = newFrame();
  return entry->second;
}

/// Those of `steps` that a node of `box` may execute.
ir::OperationIndices ArcSteps::meeting(const Steps& steps, const Box& box,
                                       const ArcNodes& nodes) const {
  ir::OperationIndices found;
  for (const auto& [other, step] : steps) {
    if (nodes.meet(other, box)) found.push_back(step);
  }
  return found;
}

void ArcSteps::broadcast(const Arcs& arcs, const ArcNodes& nodes) {
  stream_ = builder_.addStream({part_, 0});
  const Region in = data(Buffer::kIn), out = data(Buffer::kOut);
  ir::OperationIndices sent;
  for (const ArcBoxes& arc : arcs) {
    if (const std::optional<Box> root = nodes.rootAmong(arc))
      sent.push_back(builder_.send(place(*root), in, ir::hop(arc.axis, arc.sign), {}));
  }
  // The copy waits, so that those of all segments do not keep the root busy before it sends.
  const std::uint32_t copy = builder_.copy(place(nodes.root()), out, in, sent);
  Steps has_data;
  if (!nodes.isRootApart()) has_data.emplace_back(nodes.root(), copy);
  for (const ArcBoxes& arc : arcs) {
    has_data.emplace_back(
        arc.children, builder_.receive(place(arc.children), out, ir::hop(arc.axis, arc.sign), {}));
  }
  for (const ArcBoxes& arc : arcs) {
    for (const Box& box : nodes.withoutRoot(arc.parents)) {
      builder_.send(place(box), out, ir::hop(arc.axis, arc.sign), meeting(has_data, box, nodes));
    }
  }
}

void ArcSteps::reduce(const Arcs& arcs, const ArcNodes& nodes) {
  stream_ = builder_.addStream({part_, 0});
  const Region in = data(Buffer::kIn);
  Steps sums;  // whatever changes the sum of a node
  ArcNodes::Boxes parents;
  const bool in_place = nodes.subtract(nodes.everyone(), {}).has_value();
  if (!in_place) {
    for (const Box& box : nodes.withoutRoot(nodes.everyone()))
      sums.emplace_back(box, builder_.copy(place(box), sum(), in, {}));
  }
  Arcs turns = arcs;
  if (in_place && !arcs.empty()) {
    // What lies deepest below a node comes last, and the child that most nodes have first: so few
    // boxes have both first children and later ones.
    std::reverse(turns.begin(), turns.end());
    const auto most = std::ranges::max_element(
        turns, {}, [&](const ArcBoxes& arc) { return nodes.count(arc.parents); });
    std::rotate(turns.begin(), most, most + 1);
  }
  for (const ArcBoxes& arc : turns) {
    const Shift moves = ir::hop(arc.axis, -arc.sign);
    const ArcNodes::Boxes boxes = nodes.withoutRoot(arc.parents);
    ArcNodes::Boxes first, later;
    for (const Box& box : boxes) {
      const auto of_box = in_place ? *nodes.subtract(box, parents) : ArcNodes::Boxes{};
      later.append(in_place ? *nodes.subtract(box, of_box) : ArcNodes::Boxes{box});
      first.append(of_box);
    }
    Steps added;
    for (const Box& box : first) {
      added.emplace_back(box, builder_.receiveAndReduce(place(box), sum(), in,
                                                        staging(arc.axis, arc.sign), moves, {}));
    }
    for (const Box& box : later) {
      ir::OperationIndices after = meeting(sums, box, nodes);
      const Region arrived = staging(arc.axis, arc.sign);
      after.push_back(builder_.receive(place(box), arrived, moves, {}));
      added.emplace_back(box, builder_.reduce(place(box), sum(), sum(), arrived, after));
    }
    sums.append(added);
    parents.append(boxes);
  }
  for (const ArcBoxes& arc : arcs) {
    const Shift moves = ir::hop(arc.axis, -arc.sign);
    ArcNodes::Boxes leaves, inner{arc.children};
    if (in_place) {
      leaves = *nodes.subtract(arc.children, parents);
      inner = *nodes.subtract(arc.children, leaves);
    }
    for (const Box& box : leaves)
      builder_.send(place(box), in, moves, {});
    for (const Box& box : inner)
      builder_.send(place(box), sum(), moves, meeting(sums, box, nodes));
  }
  if (nodes.isRootApart()) {
    addAtRoot(turns, nodes);
  } else {
    builder_.copy(place(nodes.root()), data(Buffer::kOut), sum(),
                  meeting(sums, nodes.root(), nodes));
  }
}

/// The root adds into `out`: first to what it contributes, then to that sum.
void ArcSteps::addAtRoot(const Arcs& arcs, const ArcNodes& nodes) {
  const Region in = data(Buffer::kIn), out = data(Buffer::kOut);
  ir::OperationIndices before;
  for (const ArcBoxes& arc : arcs) {
    std::optional<Box> box = nodes.rootAmong(arc);
    if (!box) continue;
    const Shift moves = ir::hop(arc.axis, -arc.sign);
    const Region staging = newFrame();
    if (before.empty()) {
      before = {builder_.receiveAndReduce(place(*box), out, in, staging, moves, {})};
      continue;
    }
    if ((*box)[arc.axis].kind != IntervalKind::kRootWithin) {
      before.push_back(builder_.receive(place(*box), staging, moves, {}));
      before = {builder_.reduce(place(*box), out, out, staging, before)};
      continue;
    }
    // The second child is the other neighbour on a line; there is but one at the line's ends.
    const std::uint32_t size = builder_.schedule().topology.axes[arc.axis].size;
    const std::int32_t end = arc.sign > 0 ? 0 : static_cast<std::int32_t>(size) - 1;
    (*box)[arc.axis] = Interval::rootWithin(end, 1);
    builder_.receiveAndReduce(place(*box), out, in, staging, moves, {});
    if (size > 2) {
      (*box)[arc.axis] = Interval::rootWithin(1, size - 2);
      before.push_back(builder_.receive(place(*box), staging, moves, {}));
      builder_.reduce(place(*box), out, out, staging, before);
    }
  }
  if (before.empty()) builder_.copy(place(nodes.root()), out, in, {});
}

}  // namespace torc::compiler
