#include "compiler/algorithms/trees/arc_steps.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>

namespace torc::compiler {
namespace {

constexpr std::size_t kMostStaging = 8;  // receives of a node that can be under way

}  // namespace

Region ArcSteps::newFrame() {
  const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  const std::uint32_t frame = builder_.addFrame({{part_, 1, builder_.box({})}}, slot);
  return wholeFrame(builder_.schedule().frames[frame], frame);
}

Region ArcSteps::sum() {
  if (!sum_) sum_ = newFrame();
  return *sum_;
}

ArcSteps::Staging& ArcSteps::staging(const ArcBoxes& arc) {
  for (Staging& staging : staging_) {
    if (staging.axis == arc.axis && staging.hops == arc.hops) return staging;
  }
  if (staging_.size() < kMostStaging) {
    return staging_.emplace_back(Staging{arc.axis, arc.hops, newFrame(), {}, {}});
  }
  Staging& other = staging_[reused_++ % kMostStaging];
  other.axis = arc.axis;
  other.hops = arc.hops;
  other.free = other.used;
  return other;
}

void ArcSteps::broadcast(const Arcs& arcs, const ArcNodes& nodes) {
  const Region in = data(Buffer::kIn), out = data(Buffer::kOut);
  ir::OperationIndices sent, received;
  for (const ArcBoxes& arc : arcs) {
    if (const std::optional<Box> root = nodes.rootAmong(arc))
      sent.push_back(builder_.send(place(*root), in, ir::hop(arc.axis, arc.hops), {}));
  }
  // The copy waits, so that those of all segments do not keep the root busy before it sends.
  const std::uint32_t copy = builder_.copy(place(nodes.root()), out, in, sent);
  if (!nodes.isRootApart()) received = {copy};
  for (const ArcBoxes& arc : arcs) {
    received = {builder_.receive(place(arc.children), out, ir::hop(arc.axis, arc.hops), received)};
  }
  for (const ArcBoxes& arc : arcs) {
    for (const Box& box : nodes.withoutRoot(arc.parents))
      builder_.send(place(box), out, ir::hop(arc.axis, arc.hops), received);
  }
}

ir::OperationIndices ArcSteps::addChild(const ArcBoxes& arc, const Box& box, const Region& sum,
                                        bool is_first, ir::OperationIndices after) {
  const Shift moves = ir::hop(arc.axis, -arc.hops);
  Staging& staging = this->staging(arc);
  if (is_first) {
    after.append(staging.free);
    staging.used = {builder_.receiveAndReduce(place(box), sum, data(Buffer::kIn), staging.region,
                                              moves, after)};
  } else {
    after.push_back(builder_.receive(place(box), staging.region, moves, staging.free));
    staging.used = {builder_.reduce(place(box), sum, sum, staging.region, after)};
  }
  return staging.used;
}

void ArcSteps::reduce(const Arcs& arcs, const ArcNodes& nodes) {
  const Region in = data(Buffer::kIn);
  ir::OperationIndices summed;  // whatever changed a sum last
  ArcNodes::Boxes parents;
  const bool in_place = nodes.subtract(nodes.everyone(), {}).has_value();
  if (!in_place) {
    for (const Box& box : nodes.withoutRoot(nodes.everyone()))
      summed = {builder_.copy(place(box), sum(), in, summed)};
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
    const ArcNodes::Boxes boxes = nodes.withoutRoot(arc.parents);
    ArcNodes::Boxes later;
    for (const Box& box : boxes) {
      const auto first = in_place ? *nodes.subtract(box, parents) : ArcNodes::Boxes{};
      later.append(in_place ? *nodes.subtract(box, first) : ArcNodes::Boxes{box});
      for (const Box& nodes_of : first)
        summed = addChild(arc, nodes_of, sum(), /*is_first=*/true, summed);
    }
    for (const Box& box : later)
      summed = addChild(arc, box, sum(), /*is_first=*/false, summed);
    parents.append(boxes);
  }
  for (const ArcBoxes& arc : arcs) {
    const Shift moves = ir::hop(arc.axis, -arc.hops);
    ArcNodes::Boxes leaves, inner{arc.children};
    if (in_place) {
      leaves = *nodes.subtract(arc.children, parents);
      inner = *nodes.subtract(arc.children, leaves);
    }
    for (const Box& box : leaves)
      builder_.send(place(box), in, moves, {});
    for (const Box& box : inner)
      builder_.send(place(box), sum(), moves, summed);
  }
  if (nodes.isRootApart()) {
    addAtRoot(turns, nodes);
  } else {
    builder_.copy(place(nodes.root()), data(Buffer::kOut), sum(), summed);
  }
}

/// The root adds into `out`: first to what it contributes, then to that sum.
void ArcSteps::addAtRoot(const Arcs& arcs, const ArcNodes& nodes) {
  const Region in = data(Buffer::kIn), out = data(Buffer::kOut);
  ir::OperationIndices before;
  for (const ArcBoxes& arc : arcs) {
    std::optional<Box> box = nodes.rootAmong(arc);
    if (!box) continue;
    if (before.empty() || (*box)[arc.axis].kind != IntervalKind::kRootWithin) {
      before = addChild(arc, *box, out, before.empty(), before);
      continue;
    }
    // The second child is the other neighbour on a line; there is but one at the line's ends.
    const std::uint32_t size = builder_.schedule().topology.axes[arc.axis].size;
    const std::int32_t end = arc.hops > 0 ? 0 : static_cast<std::int32_t>(size) - 1;
    (*box)[arc.axis] = Interval::rootWithin(end, 1);
    addChild(arc, *box, out, /*is_first=*/true, {});
    if (size > 2) {
      (*box)[arc.axis] = Interval::rootWithin(1, size - 2);
      addChild(arc, *box, out, /*is_first=*/false, before);
    }
  }
  if (before.empty()) builder_.copy(place(nodes.root()), out, in, {});
}

ir::Program programOf(const CollectiveSpec& spec, llvm::ArrayRef<Arcs> trees,
                      const ArcNodes& nodes) {
  const auto colors = std::max(1u, static_cast<std::uint32_t>(trees.size()));
  ir::StepBuilder builder(ir::scheduleHeader(spec.collective, spec.topology, colors));
  for (std::uint32_t tree = 0; tree < colors; ++tree) {
    ArcSteps(builder, tree)
        .add(trees.empty() ? Arcs{} : trees[tree], nodes, rowOf(spec.collective).reduces());
  }
  ir::Program program;
  program.schedule = builder.take();
  return program;
}

}  // namespace torc::compiler
