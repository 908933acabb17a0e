// Finds conflicting operations: their accesses meet on some node, and one of them writes.
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/IntEqClasses.h>
#include <llvm/ADT/STLExtras.h>

#include "ir/verifier/box_algebra.h"
#include "ir/verifier/races/accesses.h"
#include "ir/verifier/races/races.h"

namespace torc::ir {
namespace {

/// Accesses grouped by the single coordinate on an axis that their guards admit, and accesses with
/// more: two single ones share a node only at the same coordinate.
struct AccessesByNode {
  std::map<std::uint32_t, AccessList> at;
  AccessList wide;
};

constexpr std::size_t kLongList = 64;  // of accesses: below this length all pairs are compared

class ConflictFinder : public RuleChecker {
 public:
  explicit ConflictFinder(RaceProof& proof)
      : RuleChecker(proof.context), proof_(proof), axes_(context_.axes) {}

  void run() {
    Storages storages = collectAccesses(proof_);
    for (Storage& part : storages.parts)
      findInParts(part);
    for (Storage& slot : storages.slots) {
      for (const AccessList& accesses : byNodes(slot)) {
        const std::vector<AccessList> of_nodes = ofSingleNodes(accesses);
        for (const AccessList& list : of_nodes)
          findConflictsInSlot(list, of_nodes.size() > 1);
      }
    }
    for (auto& [frame_part, together] : storages.frame_parts)
      findInParts(together);
  }

 private:
  void findInParts(Storage& storage) {
    for (const AccessList& accesses : byNodes(storage))
      findConflictsInPart(accesses);
  }

  /// The accesses of a storage, and those of two uses that meet, in lists that pairwise share no
  /// node: if every node has operations of its own, comparing all pairs would take too long.
  std::vector<AccessList> byNodes(Storage& storage) {
    bool guarded = storage.accesses.size() > kLongList;
    AccessList all;
    for (Access& access : storage.accesses) {
      access.meets_itself = access.writes && collide(context_, access, access);
      if (access.meets_itself) orderUses(access, access);
      guarded = guarded && access.guard != kNone;
      all.push_back(&access);
    }
    if (!guarded) return {all};
    // By guard: one that it meets, or itself.
    const auto guards = static_cast<unsigned>(schedule_.boxes.size());
    llvm::IntEqClasses meeting(guards);
    llvm::BitVector seen(guards);
    const std::uint32_t axis = guardedAxis(all);
    AccessesByNode before;
    for (const Access* access : all) {
      if (proof_.tooMuch()) return {};
      if (seen.test(access->guard)) continue;
      seen.set(access->guard);
      visit(before, *access, axis, [&](const Access& other) {
        proof_.steps += 8;
        if (meeting.findLeader(other.guard) != meeting.findLeader(access->guard) &&
            guardsMeet(schedule_, other.guard, access->guard)) {
          meeting.join(other.guard, access->guard);
        }
      });
      add(before, *access, axis);
    }
    std::map<std::uint32_t, AccessList> lists;
    for (const Access* access : all)
      lists[meeting.findLeader(access->guard)].push_back(access);
    std::vector<AccessList> list;
    for (auto& [guard, accesses] : lists)
      list.push_back(std::move(accesses));
    return list;
  }

  /// Splits accesses of all nodes plus those of single nodes, as on detours: a list for all nodes,
  /// and one for each node together with it.
  std::vector<AccessList> ofSingleNodes(const AccessList& accesses) const {
    AccessList everyones;
    std::map<std::uint32_t, AccessList> own;
    for (const Access* access : accesses) {
      if (access->guard == kNone) {
        everyones.push_back(access);
      } else {
        own[access->guard].push_back(access);
      }
    }
    const bool are_single = llvm::all_of(own, [&](const auto& entry) {
      return volume(schedule_.guardRanges(entry.first), context_.topology) == 1;
    });
    if (accesses.size() <= kLongList || everyones.empty() || !are_single) return {accesses};
    std::vector<AccessList> lists;
    for (auto& [guard, some] : own) {
      lists.push_back(everyones);
      llvm::append_range(lists.back(), some);
    }
    lists.push_back(std::move(everyones));
    return lists;
  }

  /// As findConflicts, for a slot. If frames use it in turn, each written and read by the same
  /// nodes, or by one after the other, it is enough that each comes after the one before: its first
  /// writes come after all uses of the previous frame, and all uses of the next frame follow its
  /// own.
  void findConflictsInSlot(const AccessList& accesses, bool of_one_node) {
    struct Turn {
      std::uint32_t frame = kNone;
      std::vector<const Use*> uses;
      bool writes = false;
    };
    std::vector<std::pair<const Use*, std::uint32_t>> uses;  // with their frames
    bool in_turn = true;
    for (const Access* access : accesses) {
      in_turn = in_turn && (of_one_node || access->guard == accesses.front()->guard);
      for (const Use& use : access->uses)
        uses.emplace_back(&use, access->frame);
    }
    llvm::stable_sort(
        uses, [](const auto& a, const auto& b) { return a.first->operation < b.first->operation; });
    proof_.steps += uses.size();
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
          ++proof_.steps;
          if (before->writes || use->writes) addConflict(*before, *use);
        }
      }
      if (proof_.tooMuch()) return;
    }
  }

  void findConflicts(const AccessList& accesses) {
    const std::uint32_t axis = guardedAxis(accesses);
    AccessesByNode before;
    for (const Access* access : accesses) {
      if (proof_.tooMuch()) return;
      findConflicts(before, *access, axis);
      add(before, *access, axis);
    }
  }

  void findConflicts(const AccessesByNode& before, const Access& access, std::uint32_t axis) {
    visit(before, access, axis, [&](const Access& other) { findConflict(other, access); });
  }

  /// Accesses of `before` that may share a node with `access`.
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

  /// The single coordinate on an axis that the guard of the access admits, if there is one.
  std::optional<std::uint32_t> onlyCoordinate(const Access& access, std::uint32_t axis) const {
    if (access.guard == kNone) return std::nullopt;
    const Range range = resolve(schedule_.boxes[access.guard][axis], 0, axes_.size(axis));
    return range.length == 1 ? std::optional(range.start) : std::nullopt;
  }

  /// The axis on which most of the guards admit a single coordinate.
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
    proof_.steps += 4;
    if (proof_.tooMuch() || !(a.writes || b.writes) || !collide(context_, a, b)) return;
    orderUses(a, b);
    orderUses(b, a);
  }

  /// Uses of `later` come after earlier-listed ones of `earlier`. If the order within each is
  /// checked too, it is enough to come after the last write. A write also comes after the reads
  /// since then and since the last write of `later`: the rest follows.
  void orderUses(const Access& earlier, const Access& later) {
    const bool rest_follows =
        (earlier.meets_itself || !earlier.writes) && (later.meets_itself || !later.writes);
    std::vector<const Use*> since;  // of `earlier`
    const Use* last_write = nullptr;
    std::size_t next = 0;
    for (const Use& use : later.uses) {
      for (; next < earlier.uses.size() && earlier.uses[next].operation < use.operation; ++next) {
        ++proof_.steps;
        if (rest_follows && earlier.uses[next].writes) {
          last_write = &earlier.uses[next];
          since.clear();
        } else {
          since.push_back(&earlier.uses[next]);
        }
      }
      ++proof_.steps;
      if (last_write != nullptr) addConflict(*last_write, use);
      if (rest_follows && !use.writes) continue;
      proof_.steps += since.size();
      if (proof_.tooMuch()) return;
      for (const Use* read : since) {
        if (read->writes || use.writes) addConflict(*read, use);
      }
      if (rest_follows) since.clear();
    }
  }

  void addConflict(const Use& first, const Use& second) {
    proof_.conflicts.push_back({first.operation, second.operation, first.region, second.region});
  }

  /// As findConflicts, for pieces. Pieces of one block on an axis, all absolute or all relative to
  /// the node, meet only at equal offsets: long lists are searched by offset.
  void findConflictsInPart(const AccessList& accesses) {
    if (accesses.size() <= kLongList) {
      findConflicts(accesses);
      return;
    }
    std::array<IntervalKind, kMaxBlockAxes> by_offset{};  // of most pieces; kAll: none
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
      if (proof_.tooMuch()) return;
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

  RaceProof& proof_;
  const BlockAxes& axes_;
};

}  // namespace

void findConflicts(RaceProof& proof) {
  ConflictFinder(proof).run();
}

}  // namespace torc::ir
