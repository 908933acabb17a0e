// Rule 3, races: of two operations that touch the same memory of a rank, one of them writing, one
// depends on the other, directly or through others.
//
// Proved once for all nodes: two accesses meet on some node exactly if on every axis there is a
// coordinate which both guards admit and where both intervals hold a common block, because guards
// are boxes. Order is looked up for 64 operations at a time, one bit each.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/EquivalenceClasses.h>

#include "ir/text/text.h"
#include "ir/verifier/context.h"
#include "ir/verifier/islands.h"
#include "ir/verifier/ranges.h"

namespace torc::ir {
namespace {

/// An operation that touches a region.
struct Use {
  std::uint32_t operation = 0;
  bool writes = false;
  const Region* region = nullptr;
};

/// Operations that touch the same blocks under the same guard: what meets one of them meets all.
struct Access {
  std::vector<Use> uses;  // by operation, each once
  Buffer buffer = Buffer::kNone;
  std::uint32_t frame = kNone;
  std::uint32_t guard = kNone;
  std::uint32_t box = kNone;  // the piece's; kNone: the whole frame
  BlockRanges at_origin{};    // its blocks as the node at the origin sees them
  bool writes = false;        // some of them
  bool onto_itself = false;   // copies in[b] to out[b]: nothing happens where they are one memory
  bool meets_itself = false;  // two of these uses touch the same memory
};
using AccessList = std::vector<const Access*>;

/// One memory: its accesses, each found by what makes it one.
struct Storage {
  std::vector<Access> accesses;
  std::map<std::array<std::uint32_t, 4>, std::size_t> number_of;
};

/// Accesses by the one coordinate on an axis that their guards admit, and those that admit more:
/// two of one coordinate each have no node in common unless it is the same.
struct AccessesByNode {
  std::map<std::uint32_t, AccessList> at;
  AccessList wide;
};

struct Conflict {
  std::uint32_t first = 0, second = 0;  // operations, first < second
  const Region* first_region = nullptr;
  const Region* second_region = nullptr;
};

/// Whether two intervals share a block on every coordinate, or on none.
bool sameView(const Interval& a, const Interval& b) {
  return a.kind == b.kind || a.kind == IntervalKind::kAll || b.kind == IntervalKind::kAll;
}

constexpr std::size_t kLongList = 64;      // of accesses: not worth looking at pair by pair
constexpr std::size_t kMostSources = 256;  // operations whose followers are looked for at a time

// Beyond this many steps, of a few nanoseconds, and conflicts, of 24 bytes, the proof is refused.
constexpr std::uint64_t kMaxSteps = 1'000'000'000;
constexpr std::uint64_t kMaxConflicts = 8'000'000;

class RaceChecker {
 public:
  explicit RaceChecker(VerifyContext& context)
      : context_(context),
        written_(context.written),
        schedule_(context.schedule),
        axes_(context.axes) {}

  void run() {
    checkLists();
    collect();
    for (std::size_t i = 0; i < storages_.size(); ++i) {
      const bool is_slot = i >= context_.parts.size();
      for (const AccessList& accesses : byNodes(storages_[i]))
        is_slot ? findConflictsInSlot(accesses) : findConflictsInPart(accesses);
    }
    for (auto& [frame_part, together] : frame_parts_) {
      for (const AccessList& accesses : byNodes(together))
        findConflictsInPart(accesses);
    }
    if (!tooMuch()) checkOrder();
    context_.result.work += steps_;
    if (!tooMuch()) return;
    context_.fault(Rule::kBounds, kNone,
                   "too large to prove: operations meet in the same memory in too many ways");
  }

 private:
  bool tooMuch() const { return steps_ > kMaxSteps || conflicts_.size() > kMaxConflicts; }

  /// No list names a block of a part twice: its pieces would be written in any order, and a frame's
  /// would lie in two places.
  void checkLists() {
    std::set<std::pair<std::uint32_t, std::uint32_t>> done;  // first piece, number of pieces
    const auto check = [&](const auto& blocks, std::uint32_t operation, const auto& what) {
      if (blocks.pieces == 0 || !done.insert({blocks.box, blocks.pieces}).second) return;
      if (context_.full() || tooMuch()) return;
      const PieceList pieces = written_.piecesOf(blocks);
      const std::size_t twice = findRepeated(pieces);
      if (twice == pieces.size()) return;
      context_.fault(Rule::kRaces, operation,
                     what() + ": piece " + std::to_string(twice) + " has blocks of one before it");
    };
    for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
      const Operation& operation = written_.operations[i];
      for (const Region* region : {&operation.dst, &operation.a, &operation.b}) {
        if (region->present()) check(*region, i, [&] { return regionText(written_, *region); });
      }
      if (operation.hasPeerLoop() && operation.dst.present() && !writesApart(operation)) {
        context_.fault(Rule::kRaces, i,
                       "writes " + regionText(written_, operation.dst) +
                           ": two messages of its loop over peers touch the same blocks");
      }
    }
    for (std::size_t i = 0; i < written_.frames.size(); ++i)
      check(written_.frames[i], kNone, [&] { return "frame f" + std::to_string(i); });
  }

  /// Whether no two messages of a loop over peers write a block in common: along every axis on
  /// which shifts differ, the blocks of a message are at its peer's coordinate.
  bool writesApart(const Operation& operation) const {
    const PeerLoop& peers = written_.peer_loops[operation.peer];
    if (peers.size() == 1) return true;
    for (const Piece& piece : written_.piecesOf(operation.dst)) {
      for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis) {
        bool apart = peers.count[axis] < 2;
        for (std::uint32_t end = 0; end < axes_.ends() && !apart; ++end) {
          const Interval& interval =
              written_.blockInterval(piece.box, end * axes_.nodeAxes() + axis);
          apart = isPeerRelative(interval.kind) && interval.length == 1;
        }
        if (!apart) return false;
      }
    }
    return true;
  }

  /// The first piece that on some node overlaps one before it; pieces.size() if there is none.
  /// Intervals that stand still and such that go with the node meet on some node.
  std::size_t findRepeated(const PieceList& pieces) {
    std::vector<BlockRanges> ranges;
    std::uint64_t blocks = 0;
    bool same_view = true;  // of all pieces, on every axis
    std::array<const Interval*, kMaxBlockAxes> view{};
    for (const Piece& piece : pieces) {
      ranges.push_back(written_.blocksOf(piece.box, Coordinates{}));
      blocks += volume(ranges.back(), axes_) * piece.parts;
      for (std::uint32_t axis = 0; axis < axes_.count(); ++axis) {
        const Interval& interval = written_.blockInterval(piece.box, axis);
        if (interval.kind == IntervalKind::kAll) continue;
        if (view[axis] == nullptr) view[axis] = &interval;
        same_view = same_view && view[axis]->kind == interval.kind;
      }
    }
    // Pair by pair, or for many small pieces block by block.
    const std::uint64_t pairs = pieces.size() * pieces.size() / 2;
    const bool by_blocks = same_view && blocks < pairs;
    steps_ += pieces.size() + (by_blocks ? 16 * blocks : 4 * pairs);
    if (tooMuch()) return pieces.size();
    if (by_blocks) return findRepeatedBlock(pieces, ranges);
    const auto meet = [&](std::size_t i, std::size_t k) {
      for (std::uint32_t axis = 0; axis < axes_.count(); ++axis) {
        if (sameView(written_.blockInterval(pieces[i].box, axis),
                     written_.blockInterval(pieces[k].box, axis)) &&
            !overlaps(ranges[i][axis], ranges[k][axis], axes_.size(axis))) {
          return false;
        }
      }
      return true;
    };
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (pieces[k].part < pieces[i].part + pieces[i].parts &&
            pieces[i].part < pieces[k].part + pieces[k].parts && meet(i, k)) {
          return i;
        }
      }
    }
    return pieces.size();
  }

  std::size_t findRepeatedBlock(const PieceList& pieces,
                                const std::vector<BlockRanges>& ranges) const {
    llvm::DenseSet<std::pair<std::uint32_t, std::uint64_t>> seen;  // part, block
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::uint64_t volume_of_piece = volume(ranges[i], axes_);
      for (std::uint64_t block = 0; block < volume_of_piece; ++block) {
        std::uint64_t rest = block, number = 0;
        for (std::uint32_t axis = 0; axis < axes_.count(); ++axis) {
          const Range& range = ranges[i][axis];
          const std::uint32_t size = axes_.size(axis);
          number = number * size +
                   wrap(std::int64_t{range.start} + static_cast<std::int64_t>(rest % range.length),
                        size);
          rest /= range.length;
        }
        for (std::uint32_t part = 0; part < pieces[i].parts; ++part) {
          if (!context_.isFirstOfGroup(pieces[i].part + part)) continue;
          if (!seen.insert({pieces[i].part + part, number}).second) return i;
        }
      }
    }
    return pieces.size();
  }

  /// Storages: in and out of each part together (they may be one memory); then each slot, whose
  /// frames exclude each other whole; then the parts of each frame.
  void collect() {
    storages_.resize(context_.parts.size() + schedule_.slot_count);
    for (std::uint32_t i = 0; i < schedule_.operations.size(); ++i) {
      const Operation& operation = schedule_.operations[i];
      const bool onto_itself = operation.kind == OperationKind::kCopy &&
                               operation.a.buffer == Buffer::kIn &&
                               operation.dst.buffer == Buffer::kOut;
      add({i, true, &operation.dst}, onto_itself);
      add({i, false, &operation.a}, onto_itself);
      // recv_reduce fills b with what arrives; reduce only reads it.
      add({i, operation.kind == OperationKind::kRecvReduce, &operation.b}, false);
    }
  }

  void add(const Use& use, bool onto_itself) {
    const Region& region = *use.region;
    if (!region.present()) return;
    const bool scratch = region.buffer == Buffer::kScratch;
    if (scratch) {
      const std::uint32_t slot = schedule_.frames[region.frame].slot;
      add(use, kNone, onto_itself, storages_[context_.parts.size() + slot]);
    }
    context_.forEachPart(region, [&](const Piece& piece, std::uint32_t part) {
      add(use, piece.box, onto_itself,
          scratch ? frame_parts_[{region.frame, part}] : storages_[part]);
    });
  }

  void add(const Use& use, std::uint32_t box, bool onto_itself, Storage& storage) {
    ++steps_;
    const Region& region = *use.region;
    const std::uint32_t guard = schedule_.operations[use.operation].guard;
    const auto kind =
        static_cast<std::uint32_t>(region.buffer) << 1 | static_cast<std::uint32_t>(onto_itself);
    const auto [entry, is_new] =
        storage.number_of.try_emplace({kind, region.frame, guard, box}, storage.accesses.size());
    if (is_new) {
      Access access;
      access.buffer = region.buffer;
      access.frame = region.frame;
      access.guard = guard;
      access.box = box;
      access.onto_itself = onto_itself;
      if (box != kNone) access.at_origin = schedule_.blocksOf(box, Coordinates{});
      storage.accesses.push_back(std::move(access));
    }
    Access& access = storage.accesses[entry->second];
    access.writes |= use.writes;
    if (!access.uses.empty() && access.uses.back().operation == use.operation) {
      access.uses.back().writes |= use.writes;
    } else {
      access.uses.push_back(use);
    }
  }

  /// The accesses of a storage, and those of two uses that meet, in lists of which no two have a
  /// node in common: where every node has operations of its own, looking at all pairs would take
  /// too long.
  std::vector<AccessList> byNodes(Storage& storage) {
    bool guarded = storage.accesses.size() > kLongList;
    AccessList all;
    for (Access& access : storage.accesses) {
      access.meets_itself = access.writes && collide(access, access);
      if (access.meets_itself) orderUses(access, access);
      guarded = guarded && access.guard != kNone;
      all.push_back(&access);
    }
    if (!guarded) return {all};
    // By guard: one that it meets, or itself.
    llvm::EquivalenceClasses<std::uint32_t> meeting;
    const std::uint32_t axis = guardedAxis(all);
    AccessesByNode before;
    for (const Access* access : all) {
      if (tooMuch()) return {};
      if (meeting.findValue(access->guard) != meeting.end()) continue;
      meeting.insert(access->guard);
      visit(before, *access, axis, [&](const Access& other) {
        steps_ += 8;
        if (guardsMeet(other.guard, access->guard)) meeting.unionSets(other.guard, access->guard);
      });
      add(before, *access, axis);
    }
    std::map<std::uint32_t, AccessList> lists;
    for (const Access* access : all)
      lists[meeting.getLeaderValue(access->guard)].push_back(access);
    std::vector<AccessList> list;
    for (auto& [guard, accesses] : lists)
      list.push_back(std::move(accesses));
    return list;
  }

  /// As findConflicts, for a slot. Where its frames take it in turn, one written and read by the
  /// same nodes after the other, and each is written, it is enough that each comes after the one
  /// before: what has written last comes after all that the frame before did, and before all of the
  /// next.
  void findConflictsInSlot(const AccessList& accesses) {
    struct Turn {
      std::uint32_t frame = kNone;
      std::vector<const Use*> uses;
      bool writes = false;
    };
    std::vector<std::pair<const Use*, std::uint32_t>> uses;  // with their frames
    bool in_turn = true;
    for (const Access* access : accesses) {
      in_turn = in_turn && access->guard == accesses.front()->guard;
      for (const Use& use : access->uses)
        uses.emplace_back(&use, access->frame);
    }
    llvm::stable_sort(
        uses, [](const auto& a, const auto& b) { return a.first->operation < b.first->operation; });
    steps_ += uses.size();
    std::vector<Turn> turns;
    for (const auto& [use, frame] : uses) {
      if (turns.empty() || turns.back().frame != frame) {
        const bool at_once =
            !turns.empty() && turns.back().uses.back()->operation == use->operation;
        in_turn = in_turn && !at_once && (turns.empty() || turns.back().writes);
        turns.push_back({frame, {}, false});
      }
      turns.back().uses.push_back(use);
      turns.back().writes |= use->writes;
    }
    if (!in_turn || (!turns.empty() && !turns.back().writes)) return findConflicts(accesses);
    for (std::size_t i = 1; i < turns.size(); ++i) {
      for (const Use* before : turns[i - 1].uses) {
        for (const Use* use : turns[i].uses) {
          ++steps_;
          if (before->writes || use->writes) addConflict(*before, *use);
        }
      }
      if (tooMuch()) return;
    }
  }

  void findConflicts(const AccessList& accesses) {
    const std::uint32_t axis = guardedAxis(accesses);
    AccessesByNode before;
    for (const Access* access : accesses) {
      if (tooMuch()) return;
      findConflicts(before, *access, axis);
      add(before, *access, axis);
    }
  }

  void findConflicts(const AccessesByNode& before, const Access& access, std::uint32_t axis) {
    visit(before, access, axis, [&](const Access& other) { findConflict(other, access); });
  }

  /// Those of `before` that may have a node in common with `access`.
  template <typename Visitor>
  void visit(const AccessesByNode& before, const Access& access, std::uint32_t axis,
             const Visitor& visitor) const {
    const auto with = [&](const AccessList& list) {
      for (const Access* other : list)
        visitor(*other);
    };
    with(before.wide);
    if (const std::optional<std::uint32_t> at = onlyCoordinate(access, axis)) {
      if (const auto found = before.at.find(*at); found != before.at.end()) with(found->second);
      return;
    }
    for (const auto& [at, list] : before.at)
      with(list);
  }

  void add(AccessesByNode& to, const Access& access, std::uint32_t axis) const {
    const std::optional<std::uint32_t> at = onlyCoordinate(access, axis);
    (at ? to.at[*at] : to.wide).push_back(&access);
  }

  /// The coordinate on an axis that the guard of the access admits, if it is but one.
  std::optional<std::uint32_t> onlyCoordinate(const Access& access, std::uint32_t axis) const {
    if (access.guard == kNone) return std::nullopt;
    const Range range = resolve(schedule_.boxes[access.guard][axis], 0, axes_.size(axis));
    return range.length == 1 ? std::optional(range.start) : std::nullopt;
  }

  /// The axis on which most of the guards admit but one coordinate.
  std::uint32_t guardedAxis(const AccessList& accesses) const {
    std::uint32_t best = 0;
    std::int64_t most = -1;
    for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis) {
      std::set<std::uint32_t> coordinates;
      for (const Access* access : accesses) {
        if (const auto at = onlyCoordinate(*access, axis)) coordinates.insert(*at);
      }
      if (std::cmp_less_equal(coordinates.size(), most)) continue;
      most = static_cast<std::int64_t>(coordinates.size());
      best = axis;
    }
    return best;
  }

  void findConflict(const Access& a, const Access& b) {
    steps_ += 4;
    if (tooMuch() || !(a.writes || b.writes) || !collide(a, b)) return;
    orderUses(a, b);
    orderUses(b, a);
  }

  /// Uses of `later` come after those of `earlier` that are further up. Where order among the uses
  /// of either is checked too, it is enough to come after the last write, and for a write after
  /// what has read since then and since the last write of `later`: the rest follows.
  void orderUses(const Access& earlier, const Access& later) {
    const bool rest_follows =
        (earlier.meets_itself || !earlier.writes) && (later.meets_itself || !later.writes);
    std::vector<const Use*> since;  // of `earlier`
    const Use* last_write = nullptr;
    std::size_t next = 0;
    for (const Use& use : later.uses) {
      for (; next < earlier.uses.size() && earlier.uses[next].operation < use.operation; ++next) {
        ++steps_;
        if (rest_follows && earlier.uses[next].writes) {
          last_write = &earlier.uses[next];
          since.clear();
        } else {
          since.push_back(&earlier.uses[next]);
        }
      }
      ++steps_;
      if (last_write != nullptr) addConflict(*last_write, use);
      if (rest_follows && !use.writes) continue;
      steps_ += since.size();
      if (tooMuch()) return;
      for (const Use* read : since) {
        if (read->writes || use.writes) addConflict(*read, use);
      }
      if (rest_follows) since.clear();
    }
  }

  void addConflict(const Use& first, const Use& second) {
    conflicts_.push_back({first.operation, second.operation, first.region, second.region});
  }

  /// As findConflicts, for pieces. Those of one block on an axis, all absolute or all relative to
  /// the node, meet there only if they are at the same offset: long lists are looked through by
  /// their offsets.
  void findConflictsInPart(const AccessList& accesses) {
    if (accesses.size() <= kLongList) {
      findConflicts(accesses);
      return;
    }
    std::array<IntervalKind, kMaxBlockAxes> by_offset{};  // of most pieces; kAll: of none
    for (std::uint32_t axis = 0; axis < axes_.count(); ++axis) {
      for (const IntervalKind kind : {IntervalKind::kRelative, IntervalKind::kAbsolute}) {
        std::size_t single = 0;
        for (const Access* access : accesses)
          single += isSingle(*access, axis, kind);
        if (single > accesses.size() / 2) by_offset[axis] = kind;
      }
    }
    const std::uint32_t guarded = guardedAxis(accesses);
    std::map<std::array<std::uint32_t, kMaxBlockAxes>, AccessesByNode> groups;
    AccessesByNode others;
    for (const Access* access : accesses) {
      if (tooMuch()) return;
      std::array<std::uint32_t, kMaxBlockAxes> offsets{};
      bool all = true;
      for (std::uint32_t axis = 0; axis < axes_.count(); ++axis) {
        if (by_offset[axis] == IntervalKind::kAll) continue;
        all = all && isSingle(*access, axis, by_offset[axis]);
        offsets[axis] = access->at_origin[axis].start;
      }
      findConflicts(others, *access, guarded);
      if (all) {
        AccessesByNode& group = groups[offsets];
        findConflicts(group, *access, guarded);
        add(group, *access, guarded);
      } else {
        for (const auto& [key, group] : groups)
          findConflicts(group, *access, guarded);
        add(others, *access, guarded);
      }
    }
  }

  bool isSingle(const Access& access, std::uint32_t axis, IntervalKind kind) const {
    return schedule_.blockInterval(access.box, axis).kind == kind &&
           access.at_origin[axis].length == 1;
  }

  bool collide(const Access& a, const Access& b) const {
    const bool whole_slot = a.box == kNone;
    if (whole_slot && a.frame == b.frame) return false;  // part by part
    if (a.buffer != b.buffer) {
      if (!rowOf(schedule_.collective).inPlaceAliases() || a.onto_itself || b.onto_itself) {
        return false;
      }
    }
    const std::uint32_t guard_a = a.guard;
    const std::uint32_t guard_b = b.guard;
    if (whole_slot) return guardsMeet(guard_a, guard_b);
    bool anywhere = guard_a == kNone && guard_b == kNone;  // what holds at the origin holds
    for (std::uint32_t axis = 0; axis < axes_.count(); ++axis) {
      if (!sameView(schedule_.blockInterval(a.box, axis), schedule_.blockInterval(b.box, axis))) {
        anywhere = false;
      } else if (!overlaps(a.at_origin[axis], b.at_origin[axis], axes_.size(axis))) {
        return false;
      }
    }
    if (anywhere) return true;
    for (std::uint32_t axis = 0; axis < axes_.nodeAxes(); ++axis) {
      if (!meetOnAxis(a, b, axis)) return false;
    }
    return true;
  }

  /// Whether on some coordinate of one axis of the torus that both guards admit the boxes share
  /// blocks, as far as their axes that belong to it go.
  bool meetOnAxis(const Access& a, const Access& b, std::uint32_t axis) const {
    const std::uint32_t size = axes_.size(axis);
    Range nodes = resolve(guardOnAxis(a.guard, axis), 0, size);
    Range others = resolve(guardOnAxis(b.guard, axis), 0, size);
    if (others.length < nodes.length) std::swap(nodes, others);
    for (std::uint32_t i = 0; i < nodes.length; ++i) {
      const std::uint32_t x = wrap(std::int64_t{nodes.start} + i, size);
      const auto at = static_cast<std::int32_t>(x);
      bool meet = contains(others, x, size);
      for (std::uint32_t end = 0; end < axes_.ends() && meet; ++end) {
        const std::uint32_t block_axis = end * axes_.nodeAxes() + axis;
        meet = overlaps(resolve(schedule_.blockInterval(a.box, block_axis), at, size),
                        resolve(schedule_.blockInterval(b.box, block_axis), at, size), size);
      }
      if (meet) return true;
    }
    return false;
  }

  Interval guardOnAxis(std::uint32_t guard, std::uint32_t axis) const {
    return guard == kNone ? Interval::all() : schedule_.boxes[guard][axis];
  }

  /// Whether some node executes both.
  bool guardsMeet(std::uint32_t guard_a, std::uint32_t guard_b) const {
    if (guard_a == kNone || guard_b == kNone) return true;
    return overlaps(resolve(schedule_.boxes[guard_a], context_.topology, {}),
                    resolve(schedule_.boxes[guard_b], context_.topology, {}), context_.topology);
  }

  void checkOrder() {
    const DependenceIslands islands(schedule_);
    std::sort(conflicts_.begin(), conflicts_.end(), [&](const Conflict& a, const Conflict& b) {
      // Of several regions in which two meet, the first of the records.
      return std::tuple(islands.of(a.first), a.first, a.second, a.first_region, a.second_region) <
             std::tuple(islands.of(b.first), b.first, b.second, b.first_region, b.second_region);
    });
    // Lists may meet in many pieces.
    conflicts_.erase(std::unique(conflicts_.begin(), conflicts_.end(),
                                 [](const Conflict& a, const Conflict& b) {
                                   return a.first == b.first && a.second == b.second;
                                 }),
                     conflicts_.end());
    // By operation: which sources it comes after.
    std::vector<std::array<std::uint64_t, kMostSources / 64>> after(schedule_.operations.size());
    for (std::size_t begin = 0; begin < conflicts_.size() && !context_.full();) {
      // The next first operations of an island, and those of it that matter.
      std::vector<std::uint32_t> sources;
      std::uint32_t last = 0;
      std::size_t end = begin;
      for (; end < conflicts_.size(); ++end) {
        const Conflict& conflict = conflicts_[end];
        if (sources.empty() || sources.back() != conflict.first) {
          const bool same = sources.empty() || islands.of(conflict.first) == islands.of(sources[0]);
          if (!same || sources.size() == kMostSources) break;
          sources.push_back(conflict.first);
        }
        last = std::max(last, conflict.second);
      }
      std::size_t next_source = 0;
      for (const std::uint32_t i : islands.between(sources.front(), last)) {
        const auto dependences = schedule_.dependencesOf(schedule_.operations[i]);
        steps_ += 1 + dependences.size();
        if (tooMuch()) return;
        auto& mask = after[i];
        mask = {};
        for (const std::uint32_t d : dependences) {
          if (d < sources.front()) continue;
          for (std::size_t word = 0; word < mask.size(); ++word)
            mask[word] |= after[d][word];
        }
        if (next_source < sources.size() && sources[next_source] == i) {
          mask[next_source / 64] |= std::uint64_t{1} << next_source % 64;
          ++next_source;
        }
      }
      std::size_t source = 0;
      for (; begin < end; ++begin) {
        const Conflict& conflict = conflicts_[begin];
        while (sources[source] != conflict.first)
          ++source;
        const bool reached = islands.of(conflict.second) == islands.of(conflict.first);
        if (reached && (after[conflict.second][source / 64] >> source % 64 & 1) != 0) continue;
        context_.fault(Rule::kRaces, conflict.second,
                       "touches " + regionText(schedule_, *conflict.second_region) + " while %" +
                           std::to_string(conflict.first) +
                           ", on which it does not "
                           "depend, may still touch " +
                           regionText(schedule_, *conflict.first_region));
      }
    }
  }

  VerifyContext& context_;
  const ScheduleView& written_;  // with the regions of single messages
  const ScheduleView& schedule_;
  const BlockAxes& axes_;
  std::vector<Storage> storages_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Storage> frame_parts_;
  std::vector<Conflict> conflicts_;
  std::uint64_t steps_ = 0;
};

}  // namespace

void checkRaces(VerifyContext& context) {
  RaceChecker(context).run();
}

}  // namespace torc::ir
