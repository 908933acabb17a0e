// Rule 4, meaning, by cells: the schedule is executed symbolically as in ../meaning.cc, but for all
// nodes of a box at a time, on what nodes hold as seen from themselves.
#include <map>

#include <llvm/ADT/STLExtras.h>

#include "ir/text/text.h"
#include "ir/verifier/cells/facts.h"
#include "ir/verifier/cells/proof.h"
#include "ir/verifier/contents.h"
#include "ir/verifier/rank_order.h"

namespace torc::ir {
namespace {

/// What a piece of a region holds, of one part (group of parts).
struct PartFacts {
  std::uint32_t part = 0;
  FactList facts;
};
/// What a region holds: in the order of its pieces, in each of its parts.
using RegionFacts = llvm::SmallVector<PartFacts, 1>;

/// What has been sent and not yet received, by piece and part as above.
struct Payload {
  std::vector<std::pair<std::uint32_t, FactStore>> parts;
};

class CellMeaning {
 public:
  explicit CellMeaning(CellProof& proof)
      : proof_(proof),
        context_(proof.context),
        schedule_(context_.schedule),
        topology_(context_.topology),
        row_(rowOf(context_.schedule.collective)),
        setting_{topology_, proof.work} {}

  void run(const std::vector<CellStep>& order) {
    initialise();
    for (const CellStep& step : order) {
      // What is found after a fault may be its consequence.
      if (!context_.result.ok() || proof_.work.tooMuch()) return;
      const auto index = static_cast<std::uint32_t>(step.event / 2);
      const Operation& operation = schedule_.operations[index];
      // Sends act at their start, others at their completion.
      if ((step.event % 2 == 1) == sends(operation.kind)) continue;
      for (Ranges nodes : proof_.domains.of(operation)) {
        if (narrow(nodes, step.at)) execute(index, nodes);
      }
    }
    if (context_.result.ok()) finish();
  }

 private:
  void initialise() {
    const Ranges everybody = allNodes(topology_);
    in_.resize(context_.parts.size());
    out_.resize(context_.parts.size());
    slots_.resize(schedule_.slot_count);
    payloads_.resize(schedule_.operations.size());
    for (const auto& [nodes, holds] : holdersOf({everybody}, row_.in, row_.in_elsewhere)) {
      const bool whole = holds == Holds::kWhole;
      // A whole `in` holds the node's contribution to every block; an own block holds itself.
      const Fact held{{nodes, whole ? allBlocks(topology_) : ownBlocks(nodes)},
                      {whole ? ownBlocks(nodes) : Spans{}},
                      kNone};
      for (FactStore& part : in_)
        part.add(held, setting_);
    }
    // Where ranks own blocks, those of dead nodes have no elements: to name them is no fault.
    if (row_.layout != Layout::kBlockMajor || row_.inWhole()) return;
    for (const Coordinates& dead : topology_.deadNodes()) {
      Fact held{{everybody, Spans{}}, {Spans{}}, kNone};
      for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
        const bool cores = topology_.hasCores() && axis + 1 == topology_.axis_count;
        held.place.blocks[axis] = spanOf(cores ? Interval::all() : Interval::absolute(dead[axis]),
                                         everybody[axis], topology_.axes[axis].size);
      }
      for (FactStore& part : out_)
        part.write(held, setting_);
    }
  }

  struct Holder {
    Ranges nodes{};
    Holds holds = Holds::kNothing;
  };
  /// `live` by what a buffer of theirs holds: the root, and the others. Who holds nothing is left
  /// out.
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
    RangesList root, others;
    for (const Ranges& nodes : live) {
      intersect(nodes, rootRanges(), topology_, root);
      subtract(nodes, rootRanges(), topology_, others);
    }
    add(root, at_root);
    add(others, elsewhere);
    return holders;
  }
  Ranges rootRanges() const {
    Ranges root{};
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      root[axis] = {static_cast<std::uint32_t>(context_.root[axis]), 1};
    return root;
  }
  /// The node itself.
  Spans ownBlocks(const Ranges& nodes) const {
    Spans own{};
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      own[axis] = spanOf(Interval::relative(0), nodes[axis], topology_.axes[axis].size);
    return own;
  }
  /// Whether the result is what the root had.
  bool isFromRoot() const { return row_.isRooted() && !row_.reduces() && row_.inWhole(); }

  /// Cuts `nodes` down to those at `at`; false if there are none.
  bool narrow(Ranges& nodes, const Coordinates& at) const {
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      if (at[axis] == kEverywhere) continue;
      const auto coordinate = static_cast<std::uint32_t>(at[axis]);
      if (!contains(nodes[axis], coordinate, topology_.axes[axis].size)) return false;
      nodes[axis] = {coordinate, 1};
    }
    return true;
  }

  /// `operation` on all `nodes`, which execute it.
  void execute(std::uint32_t index, const Ranges& nodes) {
    const Operation& operation = schedule_.operations[index];
    RegionFacts value;
    switch (operation.kind) {
      case OperationKind::kSend:
        if (read(index, operation.a, nodes, value)) keepPayload(index, std::move(value));
        return;
      case OperationKind::kRecv:
        takePayload(index, nodes, value);
        break;
      case OperationKind::kRecvReduce: {
        RegionFacts received, own;
        takePayload(index, nodes, received);
        if (!read(index, operation.a, nodes, own)) return;
        write(operation.b, nodes, received);
        if (!add(index, own, received, value)) return;
        break;
      }
      case OperationKind::kReduce: {
        RegionFacts a, b;
        if (!read(index, operation.a, nodes, a) || !read(index, operation.b, nodes, b)) return;
        if (!add(index, a, b, value)) return;
        break;
      }
      case OperationKind::kCopy:
        if (!read(index, operation.a, nodes, value)) return;
        break;
      case OperationKind::kNotify:
      case OperationKind::kAwait:
        return;  // they bring nothing
    }
    write(operation.dst, nodes, value);
    const bool onto_itself =
        operation.kind == OperationKind::kCopy && operation.a.buffer == Buffer::kIn;
    if (operation.dst.buffer == Buffer::kOut && row_.inPlaceAliases() && !onto_itself) {
      context_.forEachPart(operation.dst, [&](const Piece& piece, std::uint32_t part) {
        in_[part].erase(placeOf(piece, nodes), setting_);
      });
    }
  }

  void keepPayload(std::uint32_t index, RegionFacts value) {
    Payload& payload = payloads_[index];
    payload.parts.resize(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
      payload.parts[i].first = value[i].part;
      for (Fact& fact : value[i].facts) {
        fact.frame = kNone;
        payload.parts[i].second.add(std::move(fact), setting_);
      }
    }
  }

  void takePayload(std::uint32_t index, const Ranges& nodes, RegionFacts& value) {
    for (std::uint32_t number : proof_.matches_of[index]) {
      const CellMatch& match = proof_.matches[number];
      RangesList receivers;
      intersect(match.receivers, nodes, topology_, receivers);
      for (const Ranges& some : receivers) {
        Coordinates back{};
        for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
          back[axis] = -match.distance[axis];
        Payload& payload = payloads_[match.send];
        value.resize(payload.parts.size());
        for (std::size_t i = 0; i < payload.parts.size(); ++i) {
          FactList taken;
          payload.parts[i].second.take(moved(some, back, topology_), setting_, taken);
          moveNodes(taken, match.distance, topology_);
          value[i].part = payload.parts[i].first;
          for (Fact& fact : taken)
            value[i].facts.push_back(std::move(fact));
        }
      }
    }
  }

  FactStore& storage(const Region& region, std::uint32_t part) {
    if (region.buffer == Buffer::kIn) return in_[part];
    if (region.buffer == Buffer::kOut) return out_[part];
    return slots_[schedule_.frames[region.frame].slot][part];
  }
  static std::uint32_t frameOf(const Region& region) {
    return region.buffer == Buffer::kScratch ? region.frame : kNone;
  }
  Place placeOf(const Piece& piece, const Ranges& nodes) const {
    return {nodes, blocksOf(schedule_.boxes[piece.box], nodes, topology_)};
  }

  bool read(std::uint32_t index, const Region& region, const Ranges& nodes, RegionFacts& value) {
    bool complete = true;
    context_.forEachPart(region, [&](const Piece& piece, std::uint32_t part) {
      CellWitness missing;
      value.push_back({part, {}});
      if (!complete || storage(region, part)
                           .read(placeOf(piece, nodes), frameOf(region), setting_,
                                 value.back().facts, missing)) {
        return;
      }
      complete = false;
      context_.fault(
          Rule::kMeaning, index,
          "on " + context_.rankText(missing.node) + " reads " + regionText(schedule_, region) +
              ", where " + context_.blockText(context_.axes.blockOf(missing.block)) +
              " holds no value" + (region.pieces > 0 ? " of p" + std::to_string(part) : ""));
    });
    return complete;
  }

  void write(const Region& region, const Ranges& nodes, const RegionFacts& value) {
    const std::uint32_t frame = frameOf(region);
    if (frame != kNone) {  // a slot holds one frame at a time
      for (auto& [part, store] : slots_[schedule_.frames[frame].slot])
        store.eraseOtherFrames(nodes, frame, setting_);
    }
    for (const PartFacts& part : value) {
      FactStore& store = storage(region, part.part);
      for (Fact fact : part.facts) {
        fact.frame = frame;
        store.write(std::move(fact), setting_);
      }
    }
  }

  /// Adds up two regions of an operation: their pieces are the same.
  bool add(std::uint32_t index, const RegionFacts& a, const RegionFacts& b, RegionFacts& sum) {
    if (a.size() != b.size()) return false;  // a send at fault, which has been reported
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
      const CellValue added = valueOn(b, piece.place.nodes, topology_);
      if (!isInOrder(index, piece, added)) return false;
      CellWitness twice;
      if (!accumulate(piece, added, setting_, twice)) {
        context_.fault(Rule::kMeaning, index,
                       "on " + context_.rankText(twice.node) + " adds the contribution of " +
                           context_.rankText(twice.contributor) + " to " +
                           context_.blockText(context_.axes.blockOf(twice.block)) +
                           " a second time");
        return false;
      }
      sum.push_back(std::move(piece));
    }
    return true;
  }

  /// Whether the sums are in the order of ranks, if that is promised.
  bool isInOrder(std::uint32_t index, const Fact& a, const CellValue& b) {
    if ((schedule_.flags & kOrderedSums) == 0) return true;
    for (const Spans& first : a.value) {
      for (const Spans& second : b) {
        proof_.work.done += topology_.axis_count;
        if (comesBefore(first, second, a.place.nodes, topology_)) continue;
        Coordinates node{}, block{}, ranks[2] = {};
        for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
          node[axis] = static_cast<std::int32_t>(a.place.nodes[axis].start);
          block[axis] = static_cast<std::int32_t>(a.place.blocks[axis].start);
          ranks[0][axis] = static_cast<std::int32_t>(first[axis].start);
          ranks[1][axis] = static_cast<std::int32_t>(second[axis].start);
        }
        context_.fault(Rule::kMeaning, index,
                       "on " + context_.rankText(node) + " adds the contribution of " +
                           context_.rankText(ranks[1]) + " to " +
                           context_.blockText(context_.axes.blockOf(block)) + " behind that of " +
                           context_.rankText(ranks[0]) + ", although ordered sums are promised");
        return false;
      }
    }
    return true;
  }

  /// The result of the first rank, before which there is none.
  void checkLeftAlone(const Ranges& first) {
    for (FactStore& part : out_) {
      FactList written;
      part.take(first, setting_, written);
      if (written.empty()) continue;
      context_.fault(Rule::kMeaning, kNone,
                     "out of " + context_.rankText(topology_.coordinatesOf(0)) +
                         " is written, but no rank is before it");
      return;
    }
  }

  /// Who has a result.
  RangesList nodesWithResults() {
    if (row_.includesOwn()) return proof_.domains.live();
    Ranges first{};
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      first[axis] = {static_cast<std::uint32_t>(topology_.coordinatesOf(0)[axis]), 1};
    checkLeftAlone(first);
    RangesList others;
    for (const Ranges& nodes : proof_.domains.live())
      subtract(nodes, first, topology_, others);
    return others;
  }

  void finish() {
    const RangesList with_results = nodesWithResults();
    for (std::uint32_t part = 0; part < context_.parts.size() && !context_.full(); ++part) {
      if (!context_.isFirstOfGroup(part)) continue;
      const std::string place = "at the end out[p" + std::to_string(part) + "] of ";
      for (const auto& [nodes, holds] : holdersOf(with_results, row_.out, row_.out_elsewhere)) {
        const Spans blocks = holds == Holds::kWhole ? allBlocks(topology_) : ownBlocks(nodes);
        FactList facts;
        CellWitness missing;
        if (!out_[part].read({nodes, blocks}, kNone, setting_, facts, missing)) {
          context_.fault(Rule::kMeaning, kNone,
                         place + context_.rankText(missing.node) + ": " +
                             context_.blockText(context_.axes.blockOf(missing.block)) +
                             " holds no value");
          break;
        }
        bool right = true;
        for (std::size_t i = 0; i < facts.size() && right; ++i)
          right = checkResult(facts[i], place);
        if (!right) break;
      }
    }
  }

  /// Whether a fact says what the collective demands; else a fault.
  bool checkResult(const Fact& fact, const std::string& place) {
    const bool reduces = row_.reduces();
    if (row_.isPrefix()) {
      if (isPrefix(fact)) return true;
    } else if (!reduces || topology_.dead_node_count == 0) {
      bool plain = fact.value.size() == 1;
      for (std::uint32_t axis = 0; axis < topology_.axis_count && plain; ++axis) {
        const Span& contributors = fact.value.front()[axis];
        const Span& blocks = fact.place.blocks[axis];
        const auto root = static_cast<std::uint32_t>(context_.root[axis]);
        plain = reduces        ? isFull(contributors, topology_.axes[axis].size)
                : isFromRoot() ? contributors == Span{root, 1, 0, 0}
                               : followsBlock(contributors) ||
                                     (blocks.length == 1 && blocks.length_slope == 0 &&
                                      contributors == blocks);
      }
      if (plain) return true;
    }
    // What is written otherwise is compared node by node, but along an axis on which nothing moves
    // with the node one stands for all.
    Fact compared = fact;
    std::uint64_t count = 1;
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      const auto stands = [&](const Span& span) {
        return span.start_slope == 0 && span.length_slope == 0;
      };
      bool all_stand = stands(fact.place.blocks[axis]);
      for (const Spans& contributors : fact.value)
        all_stand = all_stand && stands(contributors[axis]);
      if (all_stand) compared.place.nodes[axis].length = 1;
      count *= compared.place.nodes[axis].length;
    }
    for (std::uint64_t k = 0; k < count; ++k) {
      proof_.work.done += 8 * fact.value.size();
      if (proof_.work.tooMuch()) return false;
      if (!checkResultOn(k, compared, place)) return false;
    }
    return true;
  }

  /// Whether a fact is that of all ranks up to each of its nodes, and says so as ranksUpTo does.
  bool isPrefix(const Fact& fact) const {
    CellValue wanted;
    if (topology_.dead_node_count > 0 ||
        !ranksUpTo(fact.place.nodes, row_.includesOwn(), topology_, wanted)) {
      return false;
    }
    return fact.value.size() == wanted.size() && llvm::all_of(wanted, [&](const Spans& ranks) {
             return llvm::is_contained(fact.value, ranks);
           });
  }

  bool checkResultOn(std::uint64_t k, const Fact& fact, const std::string& place) {
    Coordinates at{}, witness{};
    BlockRanges blocks{};
    Value value(fact.value.size());
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis) {
      const Range& nodes = fact.place.nodes[axis];
      const std::uint32_t size = topology_.axes[axis].size;
      const auto offset = static_cast<std::uint32_t>(k % nodes.length);
      k /= nodes.length;
      at[axis] = static_cast<std::int32_t>(wrap(std::int64_t{nodes.start} + offset, size));
      blocks[axis] = rangeAt(fact.place.blocks[axis], offset, size);
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (!followsBlock(fact.value[i][axis]))
          value[i][axis] = rangeAt(fact.value[i][axis], offset, size);
      }
    }
    const Value wanted = wantedAt(at);
    bool surplus = false;
    if (equals(value, wanted, blocks, context_.axes, witness, surplus)) return true;
    BlockCoordinates block{};
    for (std::uint32_t axis = 0; axis < topology_.axis_count; ++axis)
      block[axis] = static_cast<std::int32_t>(blocks[axis].start);
    context_.fault(Rule::kMeaning, kNone,
                   place + context_.rankText(at) + ": " + context_.blockText(block) +
                       (surplus ? " has" : " lacks") + " the contribution of " +
                       context_.rankText(witness));
    return false;
  }

  Value wantedAt(const Coordinates& at) const {
    if (!row_.reduces()) return {isFromRoot() ? rootRanges() : Contribution{}};
    const RangesList& live = proof_.domains.live();
    if (!row_.isPrefix()) return Value(live.begin(), live.end());
    RangesList wanted;
    for (const Ranges& ranks : ranksUpTo(at, row_.includesOwn(), topology_)) {
      for (const Ranges& nodes : live)
        intersect(ranks, nodes, topology_, wanted);
    }
    return Value(wanted.begin(), wanted.end());
  }

  CellProof& proof_;
  VerifyContext& context_;
  const ScheduleView& schedule_;
  const Topology& topology_;
  const CollectiveRow& row_;
  const CellSetting setting_;
  std::vector<FactStore> in_, out_;                        // by part
  std::vector<std::map<std::uint32_t, FactStore>> slots_;  // by part
  std::vector<Payload> payloads_;                          // by send
};

}  // namespace

void checkMeaningOfCells(CellProof& proof, const std::vector<CellStep>& order) {
  CellMeaning(proof).run(order);
}

}  // namespace torc::ir
