// Rule 4, meaning: every block of the output ends with exactly the contributions that the
// collective demands, each exactly once.
//
// The schedule is executed symbolically on every class of nodes, event by event in an order that
// respects dependences and rendezvous. What a send reads is taken at its start, what a receive
// writes is written at its completion; that no order of unordered events changes the outcome is
// the rule on races. Writing out[b] makes in[b] unreadable where MPI_IN_PLACE would make them one
// memory, so that the proof holds in place and not in place.
#include <map>

#include "ir/text/text.h"
#include "ir/verifier/contents.h"
#include "ir/verifier/context.h"
#include "ir/verifier/rank_order.h"

namespace torc::ir {
namespace {

/// What a piece of a region holds, of one part (group of parts).
struct PartValue {
  std::uint32_t part = 0;
  Pieces pieces;
};
/// What a region holds: in the order of its pieces, in each of its parts.
using RegionValue = llvm::SmallVector<PartValue, 1>;

/// What one class of nodes holds.
struct NodeState {
  std::vector<Contents> in, out;                         // by part
  std::vector<std::map<std::uint32_t, Contents>> slots;  // by part
  std::vector<std::uint32_t> slot_frame;                 // frame that a slot holds, kNone at first
  std::map<std::uint32_t, RegionValue> payloads;         // by send: what it has started to send
};

class MeaningChecker {
 public:
  explicit MeaningChecker(VerifyContext& context)
      : context_(context),
        schedule_(context.schedule),
        topology_(context.topology),
        axes_(context.axes),
        row_(rowOf(context.schedule.collective)) {}

  void run(const std::vector<std::uint64_t>& order, bool per_class_order) {
    initialise();
    const std::uint64_t operations = schedule_.operations.size();
    for (std::uint64_t event : order) {
      if (context_.full()) return;
      if (context_.result.work > kMaxMeaningSteps || held_ > kMaxHeldContributions) {
        context_.fault(Rule::kBounds, kNone,
                       "too large to prove: nodes hold too many different things");
        return;
      }
      const bool completes = event % 2 == 1;
      const std::uint64_t index = event / 2;
      const auto operation = static_cast<std::uint32_t>(index % operations);
      if (per_class_order) {
        step(static_cast<std::uint32_t>(index / operations), operation, completes);
      } else {
        for (std::uint32_t c = 0; c < context_.classCount(); ++c)
          step(c, operation, completes);
      }
    }
    for (std::uint32_t c = 0; c < context_.classCount() && !context_.full(); ++c)
      finish(c);
  }

 private:
  void initialise() {
    nodes_.resize(context_.classCount());
    for (std::uint32_t c = 0; c < nodes_.size(); ++c) {
      NodeState& node = nodes_[c];
      node.in.resize(context_.parts.size());
      node.out.resize(context_.parts.size());
      node.slots.resize(schedule_.slot_count);
      node.slot_frame.assign(schedule_.slot_count, kNone);
      const Coordinates at = context_.coordinatesOf(c);
      const BlockRanges own = ownBlocks(at, 0);
      const Holds in = row_.inAt(at == context_.root);
      // A whole `in` holds this rank's contribution to every block; an own block holds itself.
      const Content piece{in == Holds::kWhole ? axes_.all() : own,
                          {in == Holds::kWhole ? axes_.nodesOf(own) : blockOwner()}};
      for (Contents& part : node.in) {
        if (in != Holds::kNothing) part.write(piece, axes_);
      }
      // Where ranks own blocks, those of dead nodes have no elements: to name them is no fault.
      if (row_.layout != Layout::kBlockMajor || row_.inWhole()) continue;
      for (const Coordinates& dead : topology_.deadNodes()) {
        for (Contents& part : node.out) {
          for (std::uint32_t end = 0; end < axes_.ends(); ++end)
            part.write({blocksWith(siteOf(dead), end), {blockOwner()}}, axes_);
        }
      }
      for (const Contents& part : node.out)
        held_ += part.contributions();
    }
  }

  void step(std::uint32_t node_class, std::uint32_t index, bool completes) {
    const Operation& operation = schedule_.operations[index];
    if (completes == sends(operation.kind)) return;  // sends act at their start, others at the end
    if (!context_.executes(node_class, operation)) return;
    const Coordinates at = context_.coordinatesOf(node_class);
    RegionValue value;
    switch (operation.kind) {
      case OperationKind::kSend:
        if (read(node_class, index, operation.a, at, value)) {
          nodes_[node_class].payloads[index] = std::move(value);
        }
        return;
      case OperationKind::kRecv:
        if (!takePayload(node_class, index, value)) return;
        break;
      case OperationKind::kRecvReduce: {
        RegionValue received, own;
        if (!takePayload(node_class, index, received)) return;
        if (!read(node_class, index, operation.a, at, own)) return;
        write(node_class, operation.b, received);
        if (!add(index, own, received, at, value)) return;
        break;
      }
      case OperationKind::kReduce: {
        RegionValue a, b;
        if (!read(node_class, index, operation.a, at, a)) return;
        if (!read(node_class, index, operation.b, at, b)) return;
        if (!add(index, a, b, at, value)) return;
        break;
      }
      case OperationKind::kCopy:
        if (!read(node_class, index, operation.a, at, value)) return;
        break;
      case OperationKind::kNotify:
      case OperationKind::kAwait:
        return;  // they bring nothing
    }
    write(node_class, operation.dst, value);
    const bool onto_itself =
        operation.kind == OperationKind::kCopy && operation.a.buffer == Buffer::kIn;
    if (operation.dst.buffer == Buffer::kOut && row_.inPlaceAliases() && !onto_itself) {
      context_.forEachPart(operation.dst, [&](const Piece& piece, std::uint32_t part) {
        Contents& in = nodes_[node_class].in[part];
        context_.result.work += 1 + in.size();
        in.erase(context_.rangesOf(piece, at), axes_);
      });
    }
  }

  bool takePayload(std::uint32_t node_class, std::uint32_t index, RegionValue& value) {
    const Match& match = context_.match(node_class, index);
    auto& payloads = nodes_[match.node_class].payloads;
    auto entry = payloads.find(match.operation);
    if (entry == payloads.end()) return false;  // its send was at fault, and has been reported
    value = std::move(entry->second);
    payloads.erase(entry);
    const Operation& operation = schedule_.operations[index];
    if (operation.hasFamily()) {
      receiveFamily(operation, context_.coordinatesOf(node_class), value);
      return true;
    }
    // From the sender's view to this node's: along collapsed axes both stand at the origin.
    Coordinates distance{};
    const Shift& from = schedule_.shifts[schedule_.operations[index].peer];
    context_.classes.neighbour(node_class, from, distance);
    for (PartValue& part : value)
      shift(part.pieces, distance, axes_);
    return true;
  }

  /// What all peers of a family have sent: data are moved, never changed, so that a block that
  /// arrives is its owner's.
  void receiveFamily(const Operation& operation, const Coordinates& at, RegionValue& value) const {
    value.clear();
    context_.forEachPart(operation.dst, [&](const Piece& piece, std::uint32_t part) {
      value.push_back({part, {{context_.rangesOf(piece, at), {blockOwner()}}}});
    });
  }

  /// Its caller looks through what is there.
  Contents& storage(std::uint32_t node_class, const Region& region, std::uint32_t part) {
    NodeState& node = nodes_[node_class];
    Contents& contents = region.buffer == Buffer::kIn    ? node.in[part]
                         : region.buffer == Buffer::kOut ? node.out[part]
                                                         : node.slots[slotOf(region)][part];
    context_.result.work += 1 + contents.size();
    return contents;
  }
  std::uint32_t slotOf(const Region& region) const { return schedule_.frames[region.frame].slot; }

  bool read(std::uint32_t node_class, std::uint32_t index, const Region& region,
            const Coordinates& at, RegionValue& value) {
    if (region.buffer == Buffer::kScratch) {
      const std::uint32_t held = nodes_[node_class].slot_frame[schedule_.frames[region.frame].slot];
      if (held != region.frame) {
        context_.fault(Rule::kMeaning, index,
                       "on " + context_.rankText(at) + " reads " + regionText(schedule_, region) +
                           ", but its slot holds " +
                           (held == kNone ? std::string("nothing") : "f" + std::to_string(held)));
        return false;
      }
    }
    bool complete = true;
    context_.forEachPart(region, [&](const Piece& piece, std::uint32_t part) {
      BlockCoordinates missing{};
      value.push_back({part, {}});
      if (!complete ||
          storage(node_class, region, part)
              .read(context_.rangesOf(piece, at), axes_, value.back().pieces, missing)) {
        return;
      }
      complete = false;
      context_.fault(Rule::kMeaning, index,
                     "on " + context_.rankText(at) + " reads " + regionText(schedule_, region) +
                         ", where " + context_.blockText(missing) + " holds no value" +
                         (region.pieces > 0 ? " of p" + std::to_string(part) : ""));
    });
    return complete;
  }

  void write(std::uint32_t node_class, const Region& region, const RegionValue& value) {
    if (region.buffer == Buffer::kScratch) {
      std::uint32_t& held = nodes_[node_class].slot_frame[schedule_.frames[region.frame].slot];
      if (held != region.frame) {
        for (auto& [part, contents] :
             nodes_[node_class].slots[schedule_.frames[region.frame].slot]) {
          held_ -= contents.contributions();
          contents.clear();
        }
      }
      held = region.frame;
    }
    for (const PartValue& part : value) {
      Contents& contents = storage(node_class, region, part.part);
      context_.result.work += part.pieces.size() * contents.size();
      held_ -= contents.contributions();
      for (const Content& content : part.pieces)
        contents.write(content, axes_);
      held_ += contents.contributions();
    }
  }

  /// Adds up two regions of an operation: their pieces are the same.
  bool add(std::uint32_t index, const RegionValue& a, const RegionValue& b, const Coordinates& at,
           RegionValue& sum) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum.push_back({a[i].part, {}});
      if (!add(index, a[i].pieces, b[i].pieces, at, sum.back().pieces)) return false;
    }
    return true;
  }

  bool add(std::uint32_t index, const Pieces& a, const Pieces& b, const Coordinates& at,
           Pieces& sum) {
    BlockRangesList common;
    context_.result.work += a.size() * b.size();
    for (const Content& left : a) {
      for (const Content& right : b) {
        common.clear();
        intersect(left.blocks, right.blocks, axes_, common);
        for (const BlockRanges& blocks : common) {
          if (!isInOrder(index, left.value, right.value, at, blocks)) return false;
          sum.push_back({blocks, left.value});
          Coordinates twice{};
          if (accumulate(sum.back().value, right.value, blocks, axes_, twice)) continue;
          context_.fault(Rule::kMeaning, index,
                         "on " + context_.rankText(at) + " adds the contribution of " +
                             context_.rankText(twice) + " to " +
                             context_.blockText(firstOf(blocks)) + " a second time");
          return false;
        }
      }
    }
    return true;
  }

  /// Whether the sums are in the order of ranks, if that is promised.
  bool isInOrder(std::uint32_t index, const Value& left, const Value& right, const Coordinates& at,
                 const BlockRanges& blocks) {
    if ((schedule_.flags & kOrderedSums) == 0) return true;
    for (const Contribution& first : left) {
      for (const Contribution& second : right) {
        ++context_.result.work;
        if (comesBefore(first, second, topology_)) continue;
        context_.fault(Rule::kMeaning, index,
                       "on " + context_.rankText(at) + " adds the contribution of " +
                           context_.rankText(firstOf(second)) + " to " +
                           context_.blockText(firstOf(blocks)) + " behind that of " +
                           context_.rankText(firstOf(first)) +
                           ", although ordered sums are promised");
        return false;
      }
    }
    return true;
  }
  static Coordinates firstOf(const Ranges& ranks) {
    Coordinates rank{};
    for (std::uint32_t axis = 0; axis < kMaxAxes; ++axis)
      rank[axis] = static_cast<std::int32_t>(ranks[axis].start);
    return rank;
  }

  void finish(std::uint32_t node_class) {
    const Coordinates at = context_.coordinatesOf(node_class);
    if (topology_.isDead(at)) return;
    const Holds out = row_.outAt(at == context_.root);
    if (out == Holds::kNothing) return;
    if (!row_.includesOwn() && at == topology_.coordinatesOf(0)) {
      return checkLeftAlone(node_class, at);
    }
    const BlockRanges blocks = out == Holds::kWhole ? axes_.all() : ownBlocks(at, axes_.ends() - 1);
    const Value wanted = wantedOf(at);
    for (std::uint32_t part = 0; part < context_.parts.size() && !context_.full(); ++part) {
      if (!context_.isFirstOfGroup(part)) continue;
      const std::string place =
          "at the end out[p" + std::to_string(part) + "] of " + context_.rankText(at);
      Pieces value;
      BlockCoordinates missing{};
      if (!nodes_[node_class].out[part].read(blocks, axes_, value, missing)) {
        context_.fault(Rule::kMeaning, kNone,
                       place + ": " + context_.blockText(missing) + " holds no value");
        continue;
      }
      for (const Content& piece : value) {
        bool surplus = false;
        Coordinates witness{};
        if (equals(piece.value, wanted, piece.blocks, axes_, witness, surplus)) continue;
        context_.fault(Rule::kMeaning, kNone,
                       place + ": " + context_.blockText(firstOf(piece.blocks)) +
                           (surplus ? " has" : " lacks") + " the contribution of " +
                           context_.rankText(witness));
        break;
      }
    }
  }

  /// The result of the first rank, before which there is none.
  void checkLeftAlone(std::uint32_t node_class, const Coordinates& at) {
    for (const Contents& part : nodes_[node_class].out) {
      if (part.size() == 0) continue;
      context_.fault(Rule::kMeaning, kNone,
                     "out of " + context_.rankText(at) + " is written, but no rank is before it");
      return;
    }
  }

  /// Whose contributions make up every block of the result.
  Value wantedOf(const Coordinates& at) const {
    if (row_.isPrefix()) return liveAmong(ranksUpTo(at, row_.includesOwn(), topology_));
    if (row_.reduces()) return liveAmong({axes_.nodesOf(axes_.all())});
    const bool from_root = row_.isRooted() && row_.inWhole();
    return {from_root ? nodeAt(context_.root) : blockOwner()};
  }
  static Ranges nodeAt(const Coordinates& at) {
    Ranges ranges{};
    for (int axis = 0; axis < kMaxAxes; ++axis)
      ranges[axis] = {static_cast<std::uint32_t>(at[axis]), 1};
    return ranges;
  }
  /// The blocks one end of which is among `nodes`.
  BlockRanges blocksWith(const Ranges& nodes, std::uint32_t end) const {
    BlockRanges blocks = axes_.all();
    axes_.setNodes(nodes, end, blocks);
    return blocks;
  }
  BlockRanges ownBlocks(const Coordinates& at, std::uint32_t end) const {
    return blocksWith(nodeAt(at), end);
  }
  static BlockCoordinates firstOf(const BlockRanges& blocks) {
    BlockCoordinates block{};
    for (std::uint32_t axis = 0; axis < kMaxBlockAxes; ++axis)
      block[axis] = static_cast<std::int32_t>(blocks[axis].start);
    return block;
  }
  /// The site of a dead node: all its cores.
  Ranges siteOf(const Coordinates& node) const {
    Ranges ranges = nodeAt(node);
    if (topology_.hasCores()) {
      const std::uint32_t cores = topology_.axis_count - 1;
      ranges[cores] = {0, topology_.axes[cores].size};
    }
    return ranges;
  }
  /// Whose contributions of some nodes' a reduction demands.
  Value liveAmong(RangesList live) const {
    for (const Coordinates& dead : topology_.deadNodes()) {
      RangesList rest;
      for (const Ranges& box : live)
        subtract(box, siteOf(dead), topology_, rest);
      live = std::move(rest);
    }
    return Value(live.begin(), live.end());
  }
  static Contribution blockOwner() { return {}; }  // follows the block on every axis

  VerifyContext& context_;
  const ScheduleView& schedule_;
  const Topology& topology_;
  const BlockAxes& axes_;
  const CollectiveRow& row_;
  std::vector<NodeState> nodes_;
  std::uint64_t held_ = 0;  // contributions outside `in`
};

}  // namespace

void checkMeaning(VerifyContext& context, const std::vector<std::uint64_t>& order,
                  bool per_class_order) {
  MeaningChecker(context).run(order, per_class_order);
}

}  // namespace torc::ir
