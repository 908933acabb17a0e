#include "compiler/algorithms/trees/arc_steps.h"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>

#include "ir/verifier/box_algebra.h"

namespace torc::compiler {
namespace {

constexpr std::size_t kMostStaging = 8;  // receives in flight per node

}  // namespace

Region ArcSteps::newFrame(const Box& blocks) {
  const auto slot = static_cast<std::uint32_t>(builder_.schedule().frames.size());
  const std::uint32_t frame = builder_.addFrame({{part_, 1, builder_.box(blocks)}}, slot);
  return wholeFrame(builder_.schedule().frames[frame], frame);
}

Region ArcSteps::frameAt(std::uint32_t guard, const Box& blocks) {
  auto found = llvm::find_if(shared_, [&](const Shared& shared) {
    return shared.blocks == blocks && llvm::none_of(shared.guards, [&](std::uint32_t other) {
             return ir::guardsMeet(builder_.schedule().view(), guard, other);
           });
  });
  if (found == shared_.end()) found = shared_.insert(found, {blocks, newFrame(blocks)});
  found->guards.push_back(guard);
  return found->frame;
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

ArcSteps::Indices ArcSteps::after(const Steps& steps, const Box& box, const ArcNodes& nodes) {
  Indices found;
  for (const auto& [other, step] : llvm::reverse(steps)) {
    const std::optional<bool> meets = nodes.meet(other, box);
    if (!meets) return {step};
    if (*meets) found.push_back(step);
  }
  return found;
}

void ArcSteps::broadcast(const Arcs& arcs, const ArcNodes& nodes, const Detours& detours) {
  begin();
  const Region in = data(Buffer::kIn);
  Indices sent;
  for (const ArcBoxes& arc : arcs) {
    if (const std::optional<Box> root = nodes.rootAmong(arc))
      sent.push_back(builder_.send(place(*root), in, ir::hop(arc.axis, arc.hops), {}));
  }
  // The copy waits for the sends, so that the copies of all segments do not delay them.
  const std::uint32_t copy = builder_.copy(place(nodes.root()), data(Buffer::kOut), in, sent);
  down(arcs, nodes, {}, nodes.isRootApart() ? Steps{} : Steps{{nodes.root(), copy}}, detours);
}

ArcSteps::Indices ArcSteps::carry(llvm::ArrayRef<Detour> ways, const Indices& before, bool adds) {
  // Between two nodes, messages of a stream are sent in the order in which they are received.
  if (!detour_stream_) detour_stream_ = builder_.addStream({part_, 0});
  const auto place = [&](const Box& box) {
    return ir::StepPlace{*detour_stream_, builder_.box(box)};
  };
  Indices done;
  for (const Detour& way : ways) {
    const std::size_t hops = way.hops.size();
    const Piece share{part_, 1, builder_.box(way.blocks)};
    const Region own = adds ? builder_.region(Buffer::kScratch, {share}, sum().frame)
                            : builder_.region(Buffer::kOut, {share});
    Region held = own;
    Indices ready = before;
    std::uint32_t first = kNone;
    for (std::size_t k = 0; k < hops; ++k) {
      const auto [axis, sign] = way.hops[adds ? hops - 1 - k : k];
      const Shift moves = ir::hop(axis, adds ? -sign : sign);
      const std::uint32_t sent =
          builder_.send(place(way.nodes[adds ? hops - k : k]), held, moves, ready);
      const bool arrives = k + 1 == hops;
      const ir::StepPlace next = place(way.nodes[adds ? hops - 1 - k : k + 1]);
      held = arrives && !adds ? own : frameAt(next.guard, way.blocks);
      ready = {builder_.receive(next, held, moves, arrives && !adds ? before : Indices{})};
      if (k == 0) first = sent;
    }
    if (adds) {
      ready.append(before);
      ready.append(done);
      ready.push_back(first);  // so few operations are the last that use the sum's frame
      done = {builder_.reduce(place(way.nodes.front()), own, own, held, ready)};
    } else {
      done.append(ready);
    }
  }
  return done;
}

void ArcSteps::down(const Arcs& arcs, const ArcNodes& nodes, const Steps& before, Steps has_data,
                    const Detours& detours) {
  const Region out = data(Buffer::kOut);
  for (const ArcBoxes& arc : arcs) {
    for (const Box& box : arc.children) {
      Indices waits = after(before, box, nodes);
      waits.append(after(has_data, box, nodes));
      has_data.emplace_back(box,
                            builder_.receive(place(box), out, ir::hop(arc.axis, arc.hops), waits));
    }
  }
  Indices last;
  for (const auto& ways : detours)
    last = carry(ways, last.empty() ? after(has_data, {}, nodes) : last, /*adds=*/false);
  for (const ArcBoxes& arc : arcs) {
    for (const Box& box : nodes.withoutRoot(arc.parents)) {
      builder_.send(place(box), out, ir::hop(arc.axis, arc.hops),
                    last.empty() ? after(has_data, box, nodes) : last);
    }
  }
}

std::uint32_t ArcSteps::addChild(const ArcBoxes& arc, const ArcNodes& nodes, const Box& box,
                                 const Region& sum, bool is_first, Indices before) {
  const Shift moves = ir::hop(arc.axis, -arc.hops);
  Staging& staging = this->staging(arc);
  const Indices free = after(staging.free, box, nodes);
  std::uint32_t added = kNone;
  if (is_first || nodes.mayDrop()) {
    before.append(free);
    const Region own = is_first ? data(Buffer::kIn) : sum;
    added = builder_.receiveAndReduce(place(box), sum, own, staging.region, moves, before);
  } else {
    before.push_back(builder_.receive(place(box), staging.region, moves, free));
    added = builder_.reduce(place(box), sum, sum, staging.region, before);
  }
  staging.used.emplace_back(box, added);
  return added;
}

namespace {

/// Arcs in the order of additions, the deepest subtree last. But the child position that most nodes
/// have is first, so that few boxes have both first and later children.
Arcs turnsOf(const Arcs& arcs, const ArcNodes& nodes) {
  Arcs turns = arcs;
  if (arcs.empty() || !nodes.subtract({}, {})) return turns;
  std::reverse(turns.begin(), turns.end());
  const auto most = std::ranges::max_element(
      turns, {}, [&](const ArcBoxes& arc) { return nodes.count(arc.parents); });
  std::rotate(turns.begin(), most, most + 1);
  return turns;
}

}  // namespace

void ArcSteps::up(const Arcs& arcs, const Arcs& turns, const ArcNodes& nodes,
                  const Detours& detours) {
  begin();
  const Region in = data(Buffer::kIn);
  const bool in_place = nodes.subtract({}, {}).has_value();
  summed_.clear();
  NodeSet parents;
  if (!in_place) {
    for (const Box& box : nodes.withoutRoot({nodes.everyone()}))
      summed_.emplace_back(box, builder_.copy(place(box), sum(), in, after(summed_, box, nodes)));
  }
  for (const ArcBoxes& arc : turns) {
    const auto add = [&](const NodeSet& to, bool is_first) {
      for (const Box& box : to)
        summed_.emplace_back(
            box, addChild(arc, nodes, box, sum(), is_first, after(summed_, box, nodes)));
    };
    const NodeSet all = nodes.withoutRoot(arc.parents);
    const NodeSet first = in_place ? *nodes.subtract(all, parents) : NodeSet{};
    add(first, /*is_first=*/true);
    add(in_place ? *nodes.subtract(all, first) : all, /*is_first=*/false);
    parents.append(all);
  }
  for (const auto& ways : llvm::reverse(detours)) {
    const Indices added = carry(ways, after(summed_, {}, nodes), /*adds=*/true);
    summed_.emplace_back(Box{}, added.back());
  }
  sent_.clear();
  for (const ArcBoxes& arc : arcs) {
    const Shift moves = ir::hop(arc.axis, -arc.hops);
    const NodeSet leaves = in_place ? *nodes.subtract(arc.children, parents) : NodeSet{};
    for (const Box& box : leaves)
      sent_.emplace_back(box, builder_.send(place(box), in, moves, {}));
    for (const Box& box : in_place ? *nodes.subtract(arc.children, leaves) : arc.children) {
      const Indices ready = after(summed_, box, nodes);
      sent_.emplace_back(box, builder_.send(place(box), sum(), moves, ready));
    }
  }
}

void ArcSteps::reduce(const Arcs& arcs, const ArcNodes& nodes, const Detours& detours) {
  const Arcs turns = turnsOf(arcs, nodes);
  up(arcs, turns, nodes, detours);
  if (nodes.isRootApart()) {
    addAtRoot(turns, nodes);
  } else {
    builder_.copy(place(nodes.root()), data(Buffer::kOut), sum(),
                  after(summed_, nodes.root(), nodes));
  }
}

void ArcSteps::allreduceUp(const Arcs& arcs, const ArcNodes& nodes) {
  sum_ = data(Buffer::kOut);
  up(arcs, turnsOf(arcs, nodes), nodes);
}

void ArcSteps::allreduceDown(const Arcs& arcs, const ArcNodes& nodes) {
  Steps at_root;
  for (const std::uint32_t step : after(summed_, nodes.root(), nodes))
    at_root.emplace_back(nodes.root(), step);
  down(arcs, nodes, sent_, at_root);
}

/// The root adds into `out`: the first child to its contribution, the others to that sum.
void ArcSteps::addAtRoot(const Arcs& turns, const ArcNodes& nodes) {
  const Region in = data(Buffer::kIn), out = data(Buffer::kOut);
  Indices before;
  for (const ArcBoxes& arc : turns) {
    std::optional<Box> box = nodes.rootAmong(arc);
    if (!box) continue;
    if (before.empty() || (*box)[arc.axis].kind != IntervalKind::kRootWithin) {
      before = {addChild(arc, nodes, *box, out, before.empty(), before)};
      continue;
    }
    // On a line the second child is the other neighbour; at the ends of the line there is only one.
    const std::uint32_t size = builder_.schedule().topology.axes[arc.axis].size;
    const std::int32_t end = arc.hops > 0 ? 0 : static_cast<std::int32_t>(size) - 1;
    (*box)[arc.axis] = Interval::rootWithin(end, 1);
    addChild(arc, nodes, *box, out, /*is_first=*/true, {});
    if (size > 2) {
      (*box)[arc.axis] = Interval::rootWithin(1, size - 2);
      addChild(arc, nodes, *box, out, /*is_first=*/false, before);
    }
  }
  if (before.empty()) builder_.copy(place(nodes.root()), out, in, {});
}

ir::Program programOf(const CollectiveSpec& spec, llvm::ArrayRef<Arcs> trees,
                      const ArcNodes& nodes) {
  const auto colors = std::max(1u, static_cast<std::uint32_t>(trees.size()));
  ir::StepBuilder builder(ir::scheduleHeader(spec.collective, spec.topology, colors));
  for (std::uint32_t tree = 0; tree < colors; ++tree) {
    const Arcs arcs = trees.empty() ? Arcs{} : trees[tree];
    ArcSteps steps(builder, tree);
    if (rowOf(spec.collective).reduces()) {
      steps.reduce(arcs, nodes);
    } else {
      steps.broadcast(arcs, nodes);
    }
  }
  ir::Program program;
  program.schedule = builder.take();
  return program;
}

}  // namespace torc::compiler
