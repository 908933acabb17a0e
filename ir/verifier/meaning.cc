// Rule 4, meaning: every block of the output ends with exactly the contributions that the
// collective requires, each exactly once.
//
// The schedule is executed symbolically, for all nodes of a box at a time, on contents relative to
// the nodes (facts.h). Events follow an order that respects dependences and rendezvous. A send
// reads its data at its start, a receive writes at its completion; by the rule on races no order of
// unordered events changes the outcome. Writing out[b] makes in[b] unreadable if MPI_IN_PLACE makes
// them one memory, so that the proof holds in place and not in place.
#include <algorithm>
#include <map>

#include <llvm/ADT/STLExtras.h>

#include "ir/text/text.h"
#include "ir/verifier/fact_joins.h"
#include "ir/verifier/facts.h"
#include "ir/verifier/rank_order.h"
#include "ir/verifier/rule_context.h"
#include "schedules/neighbours.h"

namespace torc::ir {
namespace {

/// Contents of a piece of a region, for one part (group of parts).
struct PartFacts {
  std::uint32_t part = 0;
  FactList facts;
};
/// Contents of a region: in the order of its pieces, for each of its parts.
using RegionFacts = llvm::SmallVector<PartFacts, 1>;

/// One piece of storage of all nodes. If nodes are cells of their own, it has a store for each.
class Contents {
 public:
  FactStore& on(const Ranges& nodes, const FactSetting& setting) {
    std::uint64_t node = 0;
    for (std::uint32_t axis = 0; axis < setting.axes.nodeAxes() && setting.apart; ++axis)
      node = node * setting.axes.size(axis) + nodes[axis].start;
    return stores_[node];
  }

 private:
  std::map<std::uint64_t, FactStore> stores_;
};

/// Data sent and not yet received, by piece and part as above.
using Payload = std::vector<std::pair<std::uint32_t, Contents>>;

class MeaningChecker : public RuleChecker {
 public:
  explicit MeaningChecker(VerifyContext& context)
      : RuleChecker(context),
        row_(rowOf(context_.schedule.collective)),
        axes_(context_.axes),
        setting_{axes_, context.work, context.domains.apart()} {}

  void run(const std::vector<Step>& order) {
    initialise();
    const RelayedFacts* relayed = context_.relayed;
    if (relayed != nullptr && !isFromRoot()) {
      relayed->bring(context_.domains.live(), setting_, [&](std::uint32_t part, const Fact& fact) {
        slots_[slotOf(fact.frame)][part].on(fact.place.nodes, setting_).add(fact, setting_);
      });
    }
    perform(order, allNodes(topology_));
    if (!context_.result.ok()) return;
    if (relayed != nullptr && relayed->is_of_ways && isFromRoot()) {
      checkRelayed(*relayed);
    } else {
      finish();
    }
  }

 private:
  void initialise() {
    in_.resize(context_.parts.size());
    out_.resize(context_.parts.size());
    slots_.resize(schedule_.slot_count);
    payloads_.resize(schedule_.operations.size());
    if (row_.isOfNeighbours()) return initialiseNeighbours();
    for (const auto& [nodes, holds] :
         holdersOf(context_.domains.live(), row_.in, row_.in_elsewhere)) {
      const bool whole = holds == Holds::kWhole;
      // A whole `in` holds the node's contribution to every block; an own block holds itself.
      const Fact held{{nodes, whole ? allBlocks(axes_) : ownBlocks(nodes, 0)},
                      {whole ? themselves(nodes) : blockOwner()},
                      kNone};
      for (Contents& part : in_)
        part.on(nodes, setting_).add(held, setting_);
    }
    // Blocks owned by dead nodes have no elements: naming them is no fault.
    if (row_.layout != Layout::kBlockMajor || row_.inWhole()) return;
    for (const Coordinates& dead : topology_.deadNodes()) {
      for (std::uint32_t end = 0; end < axes_.ends(); ++end) {
        for (const Ranges& nodes : context_.domains.live()) {
          for (Contents& part : out_)
            part.on(nodes, setting_)
                .write({{nodes, blocksOf(dead, end)}, {blockOwner()}, kNone}, setting_);
        }
      }
    }
  }
  /// For each part, a node holds the block of its neighbour that way.
  void initialiseNeighbours() {
    for (std::uint32_t part = 0; part < in_.size(); ++part) {
      const Way way = wayOfPart(part);
      for (const Ranges& nodes : nodesWith(context_.domains.live(), way)) {
        Spans neighbour = themselves(nodes);
        neighbour[way.axis] =
            spanOf(Interval::relative(way.sign), nodes[way.axis], topology_.axes[way.axis].size);
        in_[part]
            .on(nodes, setting_)
            .add({{nodes, blocksAt(neighbour, 0)}, {blockOwner()}, kNone}, setting_);
      }
    }
  }
  /// The nodes of `live` with a neighbour that way.
  RangesList nodesWith(const RangesList& live, const Way& way) const {
    Interval along;
    if (!nodesWithNeighbour(topology_, way, along)) return {};
    Ranges with = allNodes(topology_);
    with[way.axis] = resolve(along, 0, topology_.axes[way.axis].size);
    return intersect(live, with, topology_);
  }
  /// The blocks with a dead node, all its cores, at one end.
  BlockSpans blocksOf(const Coordinates& dead, std::uint32_t end) const {
    BlockSpans blocks = allBlocks(axes_);
    for (int axis = 0; axis < topology_.dimensions(); ++axis)
      blocks[end * axes_.nodeAxes() + static_cast<std::uint32_t>(axis)] = {
          static_cast<std::uint32_t>(dead[axis]), 1, 0, 0};
    return blocks;
  }

  /// Checks that the ways of a scatter leave the root's data, where those of the first root do.
  void checkRelayed(const RelayedFacts& relayed) {
    const auto isRight = [&](std::uint32_t part, const Fact& fact) {
      return checkMoved(fact, "on the way p" + std::to_string(part) + " of ");
    };
    if (relayed.leaveOnly(isRight) && !relayed.coverKnown(setting_))
      context_.fault(Rule::kMeaning, kNone, "the root's data do not come to all hubs");
  }

  struct Holder {
    Ranges nodes{};
    Holds holds = Holds::kNothing;
  };
  /// Splits `live` by the content of one of their buffers: the root, and the others. Nodes with an
  /// empty buffer are left out.
  llvm::SmallVector<Holder, 4> holdersOf(const RangesList& live, Holds at_root,
                                         Holds elsewhere) const {
    llvm::SmallVector<Holder, 4> holders;
    const auto add = [&](const RangesList& boxes, Holds holds) {
      for (const Ranges& nodes : boxes) {
        if (holds != Holds::kNothing) holders.push_back({nodes, holds});
      }
    };
    if (!row_.isRooted()) {
      add(live, at_root);
      return holders;
    }
    const Ranges root = nodeAt(topology_, context_.root);
    add(intersect(live, root, topology_), at_root);
    add(subtract(live, root, topology_), elsewhere);
    return holders;
  }
  /// For every node, the node itself.
  Spans themselves(const Ranges& nodes) const {
    Spans own{};
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      own[axis] = spanOf(Interval::relative(0), nodes[axis], topology_.axes[axis].size);
    return own;
  }
  /// The blocks with the node itself at one end.
  BlockSpans ownBlocks(const Ranges& nodes, std::uint32_t end) const {
    return blocksAt(themselves(nodes), end);
  }
  BlockSpans blocksAt(const Spans& owners, std::uint32_t end) const {
    BlockSpans blocks = allBlocks(axes_);
    std::copy_n(owners.begin(), axes_.nodeAxes(), blocks.begin() + end * axes_.nodeAxes());
    return blocks;
  }
  static Spans blockOwner() { return {}; }  // follows the block on every axis
  /// Whether the result is the root's data.
  bool isFromRoot() const { return row_.isRooted() && !row_.reduces() && row_.inWhole(); }

  /// Executes steps on the nodes of `within`.
  void perform(const std::vector<Step>& steps, const Ranges& within) {
    for (const Step& step : steps) {
      // Faults after the first may be its consequences.
      if (!context_.result.ok() || context_.work.tooMuch()) return;
      for (std::uint32_t k = 0; k < step.chain.length; ++k) {
        Ranges here = within;
        const std::uint32_t ahead = step.sign > 0 ? k : step.chain.length - 1 - k;
        here[step.axis] = {wrap(std::int64_t{step.chain.start} + ahead, axes_.size(step.axis)), 1};
        perform(step.body, here);
      }
      if (step.chain.length > 0) continue;
      RangesList boxes, nodes;
      intersect(step.nodes, within, topology_, boxes);
      for (const Ranges& domain : context_.domains.of(schedule_.operations[step.operation])) {
        for (const Ranges& box : boxes)
          intersect(domain, box, topology_, nodes);
      }
      for (const Ranges& some : nodes)
        execute(step.operation, some);
    }
  }

  /// Executes `operation` on all `nodes`, which its guard admits.
  void execute(std::uint32_t index, const Ranges& nodes) {
    const Operation& operation = schedule_.operations[index];
    const OperationKind kind = operation.kind;
    if (isSignal(kind)) return;  // they bring nothing
    RegionFacts a, b, sum;       // b: the received or the second operand
    if (receives(kind)) takePayload(index, nodes, b);
    if (operation.a.present() && !read(index, operation.a, nodes, a)) return;
    if (sends(kind)) {
      if (!operation.hasPeerLoop()) keepPayload(index, std::move(a));
      return;
    }
    if (kind == OperationKind::kRecvReduce) write(operation.b, nodes, b);
    if (kind == OperationKind::kReduce && !read(index, operation.b, nodes, b)) return;
    if (operation.b.present() && !add(index, a, b, sum)) return;
    const RegionFacts& value = operation.b.present() ? sum : receives(kind) ? b : a;
    write(operation.dst, nodes, value);
    if (context_.options.on_write) {
      for (const PartFacts& part : value) {
        for (const Fact& fact : part.facts)
          context_.options.on_write({index, part.part, fact});
      }
    }
    const bool onto_itself = kind == OperationKind::kCopy && operation.a.buffer == Buffer::kIn;
    if (operation.dst.buffer == Buffer::kOut && row_.inPlaceAliases() && !onto_itself) {
      context_.forEachPart(operation.dst, [&](const Piece& piece, std::uint32_t part) {
        in_[part].on(nodes, setting_).erase(placeOf(piece, nodes), setting_);
      });
    }
  }

  void keepPayload(std::uint32_t index, RegionFacts value) {
    Payload& payload = payloads_[index];
    payload.resize(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
      payload[i].first = value[i].part;
      for (Fact& fact : value[i].facts) {
        fact.frame = kNone;
        FactStore& store = payload[i].second.on(fact.place.nodes, setting_);
        store.add(std::move(fact), setting_);
      }
    }
  }

  void takePayload(std::uint32_t index, const Ranges& nodes, RegionFacts& value) {
    const Operation& operation = schedule_.operations[index];
    if (operation.hasPeerLoop()) {
      // Data are moved, never changed: a block that arrives from one of the peers is its owner's.
      context_.forEachPart(operation.dst, [&](const Piece& piece, std::uint32_t part) {
        value.push_back({part, {{placeOf(piece, nodes), {blockOwner()}, kNone}}});
      });
      return;
    }
    for (std::uint32_t number : context_.matches_of[index]) {
      const Match& match = context_.matches[number];
      RangesList receivers;
      intersect(match.receivers, nodes, topology_, receivers);
      for (const Ranges& some : receivers) {
        const Ranges senders = moved(some, opposite(match.distance), topology_);
        Payload& payload = payloads_[match.send];
        value.resize(payload.size());
        for (std::size_t i = 0; i < payload.size(); ++i) {
          FactList taken;
          payload[i].second.on(senders, setting_).take(senders, setting_, taken);
          moveNodes(taken, match.distance, axes_);
          value[i].part = payload[i].first;
          for (Fact& fact : taken)
            value[i].facts.push_back(std::move(fact));
        }
      }
    }
  }

  FactStore& storage(const Region& region, std::uint32_t part, const Ranges& nodes) {
    Contents& storage = region.buffer == Buffer::kIn    ? in_[part]
                        : region.buffer == Buffer::kOut ? out_[part]
                                                        : slots_[slotOf(region.frame)][part];
    return storage.on(nodes, setting_);
  }
  std::uint32_t slotOf(std::uint32_t frame) const { return schedule_.frames[frame].slot; }
  static std::uint32_t frameOf(const Region& region) {
    return region.buffer == Buffer::kScratch ? region.frame : kNone;
  }
  Place placeOf(const Piece& piece, const Ranges& nodes) const {
    Place place{nodes, {}};
    for (std::uint32_t i = 0; i < axes_.count(); ++i) {
      place.blocks[i] =
          spanOf(schedule_.blockInterval(piece.box, i), nodes[axes_.nodeAxis(i)], axes_.size(i));
    }
    return place;
  }

  /// If messages are dropped, the blocks of dead nodes, which have no elements, never arrive:
  /// treats them as present. False if nothing changes.
  bool fillsDead(const Region& region, std::uint32_t part, const Ranges& nodes) {
    if ((schedule_.flags & kDropsBroken) == 0 || row_.layout != Layout::kBlockMajor ||
        row_.reduces()) {
      return false;
    }
    for (const Coordinates& dead : topology_.deadNodes()) {
      for (std::uint32_t end = 0; end < axes_.ends(); ++end) {
        storage(region, part, nodes)
            .write({{nodes, blocksOf(dead, end)}, {blockOwner()}, frameOf(region)}, setting_);
      }
    }
    return topology_.dead_node_count > 0;
  }

  bool read(std::uint32_t index, const Region& region, const Ranges& nodes, RegionFacts& value) {
    bool complete = true;
    context_.forEachPart(region, [&](const Piece& piece, std::uint32_t part) {
      Witness missing;
      value.push_back({part, {}});
      const auto isThere = [&] {
        return storage(region, part, nodes)
            .read(placeOf(piece, nodes), frameOf(region), setting_, value.back().facts, missing);
      };
      if (!complete || isThere()) return;
      if (fillsDead(region, part, nodes)) {
        value.back().facts.clear();
        if (isThere()) return;
      }
      complete = false;
      context_.fault(Rule::kMeaning, index, "on ", context_.rankText(missing.node), " reads ",
                     regionText(schedule_, region), ", where ", context_.blockText(missing.block),
                     " holds no value", region.pieces > 0 ? " of p" + std::to_string(part) : "");
    });
    return complete;
  }

  void write(const Region& region, const Ranges& nodes, const RegionFacts& value) {
    const std::uint32_t frame = frameOf(region);
    if (frame != kNone) {  // a slot holds one frame at a time
      for (auto& [part, store] : slots_[slotOf(frame)])
        store.on(nodes, setting_).eraseOtherFrames(nodes, frame, setting_);
    }
    for (const PartFacts& part : value) {
      FactStore& store = storage(region, part.part, nodes);
      for (Fact fact : part.facts) {
        fact.frame = frame;
        if (context_.relayed != nullptr) context_.relayed->note(part.part, fact, setting_);
        store.write(std::move(fact), setting_);
      }
    }
  }

  /// Adds two regions of an operation, which have equal pieces.
  bool add(std::uint32_t index, const RegionFacts& a, const RegionFacts& b, RegionFacts& sum) {
    if (a.size() != b.size()) return false;  // a faulty send, already reported
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum.push_back({a[i].part, {}});
      for (const Fact& left : a[i].facts) {
        for (const Fact& right : b[i].facts) {
          if (!add(index, left, right, sum.back().facts)) return false;
        }
      }
    }
    return true;
  }

  bool add(std::uint32_t index, const Fact& a, const Fact& b, FactList& sum) {
    FactList common;
    intersect(a, b.place, setting_, common);
    for (Fact& piece : common) {
      const FactValue added = valueOn(b, piece.place.nodes, axes_);
      if (!isInOrder(index, piece, added)) return false;
      Witness twice;
      if (!accumulate(piece, added, setting_, twice)) {
        context_.fault(Rule::kMeaning, index, "on ", context_.rankText(twice.node),
                       " adds the contribution of ", context_.rankText(twice.contributor), " to ",
                       context_.blockText(twice.block), " a second time");
        return false;
      }
      sum.push_back(std::move(piece));
    }
    return true;
  }

  /// Checks that sums are in the order of ranks, if that is promised.
  bool isInOrder(std::uint32_t index, const Fact& a, const FactValue& b) {
    if ((schedule_.flags & kOrderedSums) == 0) return true;
    for (const Spans& first : a.value) {
      for (const Spans& second : b) {
        context_.work.done += topology_.axis_count;
        if (comesBefore(first, second, a.place.nodes, topology_)) continue;
        const auto begins = [](const Spans& spans) {
          Coordinates at{};
          std::ranges::transform(spans, at.begin(), &Span::start);
          return at;
        };
        const Witness here = firstOf(a.place);
        context_.fault(Rule::kMeaning, index, "on ", context_.rankText(here.node),
                       " adds the contribution of ", context_.rankText(begins(second)), " to ",
                       context_.blockText(here.block), " behind that of ",
                       context_.rankText(begins(first)), ", although ordered sums are promised");
        return false;
      }
    }
    return true;
  }

  /// Checks that the first rank, which has no rank before it, keeps its output.
  void checkLeftAlone(const Ranges& first) {
    for (Contents& part : out_) {
      FactList written;
      part.on(first, setting_).take(first, setting_, written);
      if (written.empty()) continue;
      context_.fault(Rule::kMeaning, kNone, "out of ",
                     context_.rankText(topology_.coordinatesOf(0)),
                     " is written, but no rank is before it");
      return;
    }
  }

  RangesList nodesWithResults() {
    if (row_.includesOwn()) return context_.domains.live();
    const Ranges first = nodeAt(topology_, topology_.coordinatesOf(0));
    checkLeftAlone(first);
    return subtract(context_.domains.live(), first, topology_);
  }

  void finish() {
    const RangesList with_results = nodesWithResults();
    for (std::uint32_t part = 0; part < context_.parts.size() && !context_.full(); ++part) {
      if (!context_.isFirstOfGroup(part)) continue;
      const std::string place = "at the end out[p" + std::to_string(part) + "] of ";
      // Of neighbours, the nodes with a neighbour on the other side. The others' missing block is
      // never written.
      const Way way = wayOfPart(part);
      const RangesList with_part =
          row_.isOfNeighbours() ? nodesWith(with_results, {way.axis, -way.sign}) : with_results;
      for (const auto& [nodes, holds] : holdersOf(with_part, row_.out, row_.out_elsewhere)) {
        const BlockSpans blocks =
            holds == Holds::kWhole ? allBlocks(axes_) : ownBlocks(nodes, axes_.ends() - 1);
        FactList facts;
        Witness missing;
        if (!out_[part]
                 .on(nodes, setting_)
                 .read({nodes, blocks}, kNone, setting_, facts, missing)) {
          context_.fault(Rule::kMeaning, kNone, place, context_.rankText(missing.node), ": ",
                         context_.blockText(missing.block), " holds no value");
          break;
        }
        const auto isRight = [&](const Fact& fact) { return checkResult(fact, place); };
        if (!llvm::all_of(facts, isRight)) break;
      }
    }
  }

  /// Checks that a fact is the result that the collective requires.
  bool checkResult(const Fact& fact, const std::string& place) {
    return row_.reduces() ? checkSum(fact, place) : checkMoved(fact, place);
  }

  /// Checks that the blocks of a fact come from the root, or each from its owner.
  bool checkMoved(const Fact& fact, const std::string& place) {
    bool right = fact.value.size() == 1;
    for (std::uint32_t axis = 0; axis < topology_.axis_count && right; ++axis) {
      const Span& contributors = fact.value.front()[axis];
      const Span& blocks = fact.place.blocks[axis];
      const auto root = static_cast<std::uint32_t>(context_.root[axis]);
      right = isFromRoot()
                  ? contributors == Span{root, 1, 0, 0}
                  : followsBlock(contributors) ||
                        (blocks.length == 1 && blocks.length_slope == 0 && contributors == blocks);
    }
    if (right) return true;
    const Witness first = firstOf(fact.place);  // one node and block are enough
    return refuse(place, first, false, isFromRoot() ? context_.root : axes_.nodeOf(first.block));
  }

  /// Checks that a fact is the sum of the required contributions: of all live ranks, or of those up
  /// to the node. Contributions are compared like blocks, on all nodes at once.
  bool checkSum(const Fact& fact, const std::string& place) {
    const Ranges& nodes = fact.place.nodes;
    FactList contributions;
    unsigned __int128 count = 0;
    for (const Spans& contributors : fact.value) {
      Place one{nodes, {}};
      std::copy_n(contributors.begin(), axes_.nodeAxes(), one.blocks.begin());
      count += volumeOf(one, axes_);
      contributions.push_back({one, {}, kNone});
    }
    FactStore wanted;
    llvm::SmallVector<Place, 4> demanded{{nodes, allBlocks(axes_)}};
    if (row_.isPrefix()) demanded = ranksUpTo(nodes, row_.includesOwn(), topology_);
    for (const Place& ranks : demanded)
      wanted.add({ranks, {}, kNone}, setting_);
    for (const Coordinates& dead : topology_.deadNodes())
      wanted.erase({nodes, blocksOf(dead, 0)}, setting_);
    Witness witness;
    FactList found;
    const bool surplus = !llvm::all_of(contributions, [&](const Fact& one) {
      return wanted.read(one.place, kNone, setting_, found, witness);
    });
    if (!surplus) {
      if (count == wanted.volume(setting_)) return true;  // no contribution counts twice
      FactStore present;
      for (Fact& one : contributions)
        present.add(std::move(one), setting_);
      present.covers(wanted, setting_, witness);
    }
    Fact of_node = fact;
    for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis)
      ir::narrow(of_node, axis, Range{static_cast<std::uint32_t>(witness.node[axis]), 1}, axes_);
    return refuse(place, firstOf(of_node.place), surplus, axes_.nodeOf(witness.block));
  }

  /// Reports a fault; returns false.
  bool refuse(const std::string& place, const Witness& at, bool surplus,
              const Coordinates& contributor) {
    context_.fault(Rule::kMeaning, kNone, place, context_.rankText(at.node), ": ",
                   context_.blockText(at.block), surplus ? " has" : " lacks",
                   " the contribution of ", context_.rankText(contributor));
    return false;
  }

  const CollectiveRow& row_;
  const BlockAxes& axes_;
  const FactSetting setting_;
  std::vector<Contents> in_, out_;                        // by part
  std::vector<std::map<std::uint32_t, Contents>> slots_;  // by part
  std::vector<Payload> payloads_;                         // by send
};

}  // namespace

void checkMeaning(VerifyContext& context, const std::vector<Step>& order) {
  MeaningChecker(context).run(order);
}

}  // namespace torc::ir
